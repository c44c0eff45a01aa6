//! The command `tailwater` with one scheme more.

fn main() -> std::process::ExitCode {
    tailwater::main_with(&[fixed::SCHEME])
}
