//! The command `tailwater`: the library's, with no schemes besides the built-in ones.

use std::process::ExitCode;

fn main() -> ExitCode {
    tailwater::main_with(&[])
}
