//! The program that may change the network of the machine. It prints JSON lines, which `tailwater`
//! draws.
//!
//! Exit status 0: done, 1: failed, 2: the input was wrong, 3: the machine lacks something; 128 + the
//! number of a signal that ended it.

use std::process::ExitCode;

#[cfg(target_os = "linux")]
mod program;

fn main() -> ExitCode {
    #[cfg(target_os = "linux")]
    return program::main();
    #[cfg(not(target_os = "linux"))]
    return ExitCode::from(3);
}
