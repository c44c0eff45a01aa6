//! Who goes first where cores are few: flows start at their times, and whatever only looks at them waits.

use rustix::process::{getpriority_process, setpriority_process};
use rustix::thread::gettid;

/// This thread is raised or lowered as long as the value lives, and so is what it starts meanwhile.
#[derive(Debug)]
pub struct Priority {
    before: Option<i32>,
}

impl Priority {
    /// Before everything else.
    pub fn raised() -> Self {
        Self::with(FIRST)
    }

    /// Behind everything else.
    pub fn lowered() -> Self {
        Self::with(LAST)
    }

    /// Where the system refuses, everything stays as it is: what comes of that is measured.
    fn with(priority: i32) -> Self {
        let before = getpriority_process(Some(gettid())).ok();
        setpriority_process(Some(gettid()), priority).ok();
        Self { before }
    }
}

impl Drop for Priority {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            setpriority_process(Some(gettid()), before).ok();
        }
    }
}

// `sched(7)`: the ends of the scale of nice values.
const FIRST: i32 = -20;
const LAST: i32 = 19;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_was_lowered_is_as_it_was_where_it_may_be() {
        let own = || getpriority_process(Some(gettid())).expect("a priority");
        let before = own();
        let lowered = Priority::lowered();
        assert_eq!(own(), LAST);
        drop(lowered);
        // Raising it again takes a privilege.
        assert!([before, LAST].contains(&own()));
    }
}
