//! Roles with foreign code: the lock that a thread holds to run it, and how it fails.

use std::any::Any;
use std::error::Error;
use std::panic::resume_unwind;
use std::sync::Arc;

/// The lock that a thread has to hold while it simulates with a role, such as that of an
/// interpreter.
pub trait Hold: Sync {
    /// Calls `simulate` once, on this thread, which holds it meanwhile.
    fn hold(&self, simulate: &mut dyn FnMut());

    /// Called every some thousand events of such a simulation: others may have it for a moment.
    fn pause(&self);
}

/// Why a role cannot go on.
pub type Cause = Arc<dyn Error + Send + Sync>;

/// Ends the simulation whose role calls this, and no other: for code that can fail within methods that
/// cannot. It unwinds to the caller of the simulation, past half-done work of the role.
pub fn give_up(cause: Cause) -> ! {
    resume_unwind(Box::new(GivenUp(cause)))
}

/// Why a role has given up, if that is what `panic` says; any other panic goes on.
pub fn given_up(panic: Box<dyn Any + Send>) -> Cause {
    match panic.downcast::<GivenUp>() {
        Ok(given_up) => given_up.0,
        Err(panic) => resume_unwind(panic),
    }
}

/// What unwinds.
struct GivenUp(Cause);

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use super::*;

    #[test]
    fn who_gives_up_says_why_and_other_panics_go_on() {
        let cause = || Arc::new(std::fmt::Error) as Cause;
        let panic = catch_unwind(|| give_up(cause())).expect_err("it ends");
        assert_eq!(given_up(panic).to_string(), cause().to_string());
        let panic = catch_unwind(|| drop(given_up(Box::new("a mistake")))).expect_err("it ends");
        assert_eq!(panic.downcast_ref(), Some(&"a mistake"));
    }
}
