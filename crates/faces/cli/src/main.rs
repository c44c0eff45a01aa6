//! The command `tailwater`: the library's command, without additional schemes.

use std::process::ExitCode;

fn main() -> ExitCode {
    tailwater::main_with(&[])
}
