//! Programs and Python packages that some tests need and not every machine has.
//!
//! A test asks for such a program and returns if it is missing. The skip is printed to the real standard error, because
//! the harness hides the output of passing tests. In CI, where nothing may be skipped, the environment variable
//! `TAILWATER_NO_SKIP` turns a skip into a failure.
//!
//! ```
//! fn a_capture_is_read_by_tshark() {
//!     let Some(mut tshark) = testing::tool("tshark") else {
//!         return;
//!     };
//!     tshark.args(["-r", "capture.pcapng"]);
//! }
//! ```
//!
//! Only tests use this crate: it is a development dependency, and `cargo xtask check` fails for any
//! other use.

use std::env;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;

/// The program `name`, if the search path has it.
///
/// # Panics
///
/// If it is missing and `TAILWATER_NO_SKIP` is set.
pub fn tool(name: &str) -> Option<Command> {
    found(search(name).map(Command::new), name)
}

/// Headless Chromium, by any of the names under which it is installed.
///
/// It resolves no host names, so everything that it shows comes from the machine itself. It writes nothing into the
/// user's profile if the caller passes a `--user-data-dir`.
///
/// # Panics
///
/// If it is missing and `TAILWATER_NO_SKIP` is set.
pub fn chromium() -> Option<Command> {
    let names = ["chromium", "chromium-browser", "google-chrome", "chrome"];
    let command = names.into_iter().find_map(search).map(|path| {
        let mut command = Command::new(path);
        command.args(CHROMIUM);
        command
    });
    found(command, "chromium")
}

/// Headless Firefox, by any of the names under which it is installed. CI does not install it, so a test without it is
/// skipped everywhere.
pub fn firefox() -> Option<Command> {
    let mut names = ["firefox-esr", "firefox"].into_iter();
    let Some(path) = names.find_map(search) else {
        skipped("firefox is not installed");
        return None;
    };
    let mut command = Command::new(path);
    command.arg("--headless");
    Some(command)
}

/// The Python that has all of `packages`: the program named by the environment variable
/// `TAILWATER_PYTHON`, or `python3`.
///
/// # Panics
///
/// If it or a package is missing and `TAILWATER_NO_SKIP` is set.
pub fn python(packages: &[&str]) -> Option<Command> {
    let program = env::var_os("TAILWATER_PYTHON").unwrap_or_else(|| OsString::from("python3"));
    let imports = |imported: &[&str]| {
        let mut command = Command::new(&program);
        command.args(["-c", &format!("import {}", imported.join(", "))]);
        let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    };
    if !imports(&["sys"]) {
        return found(None, &program.to_string_lossy());
    }
    let lacks = packages.iter().filter(|package| !imports(&[package]));
    let lacks: Vec<&str> = lacks.copied().collect();
    let command = lacks.is_empty().then(|| Command::new(&program));
    found(command, &format!("Python package {}", lacks.join(", ")))
}

/// Switches of a Chromium without a screen and without network access. Processes of root cannot use its sandbox.
const CHROMIUM: [&str; 6] = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--host-resolver-rules=MAP * ~NOTFOUND",
];

/// The first file called `name` in the folders of the search path.
fn search(name: &str) -> Option<PathBuf> {
    let folders = env::var_os("PATH")?;
    let file = format!("{name}{}", env::consts::EXE_SUFFIX);
    let paths = env::split_paths(&folders).map(|folder| folder.join(&file));
    paths.into_iter().find(|path| path.is_file())
}

/// `command`; if it is missing, prints that or fails if nothing may be skipped.
fn found(command: Option<Command>, what: &str) -> Option<Command> {
    if command.is_none() {
        let refused = env::var_os("TAILWATER_NO_SKIP").is_some();
        skip(
            &format!("{what} is not installed"),
            refused,
            &mut io::stderr(),
        );
    }
    command
}

/// Reports that the test of this thread is skipped `because` of something that cannot be installed, such as a right
/// that the kernel of this machine does not give. It is skipped everywhere, also in CI.
pub fn skipped(because: &str) {
    skip(because, false, &mut io::stderr());
}

/// Reports that the test of this thread is skipped and why, or fails it.
fn skip(because: &str, refused: bool, aloud: &mut dyn Write) {
    let thread = thread::current();
    let test = thread.name().unwrap_or("a test");
    let why = format!("{test}: {because}");
    assert!(!refused, "{why}, and TAILWATER_NO_SKIP is set");
    // If standard error is closed, the message is lost.
    drop(writeln!(aloud, "skipped: {why}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_by_their_name() {
        // Cargo runs the tests, so it is installed.
        assert!(search("cargo").is_some());
        assert!(search("a-program-that-nobody-has").is_none());
    }

    #[test]
    fn a_skip_names_the_test_and_what_it_lacks() {
        let mut said = Vec::new();
        skip("tshark is not installed", false, &mut said);
        let said = String::from_utf8(said).unwrap();
        let expected = "skipped: tests::a_skip_names_the_test_and_what_it_lacks: \
                        tshark is not installed\n";
        assert_eq!(said, expected);
    }

    #[test]
    #[should_panic(expected = "tshark is not installed, and TAILWATER_NO_SKIP")]
    fn a_refused_skip_fails_the_test() {
        skip("tshark is not installed", true, &mut io::sink());
    }
}
