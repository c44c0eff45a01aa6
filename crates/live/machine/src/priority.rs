//! Priorities for machines with few cores: flows must start on time, and observers can wait.

use rustix::process::{getpriority_process, setpriority_process};
use rustix::thread::gettid;

/// Raises or lowers the priority of this thread, and of the threads that it starts, until it is dropped.
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

    /// If the system refuses, the priority stays unchanged; the effect is measured.
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
        // Raising it again needs a privilege.
        assert!([before, LAST].contains(&own()));
    }
}
