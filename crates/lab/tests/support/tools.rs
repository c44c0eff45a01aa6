//! Programs that tests need and machines may lack.

use std::process::{Command, Stdio};

/// Whether `tool` can be run. If not, says aloud that `test` is skipped, or fails where skipping is
/// forbidden.
pub(crate) fn installed(test: &str, tool: &str) -> bool {
    let mut command = Command::new(tool);
    command
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    if command.status().is_ok_and(|status| status.success()) {
        return true;
    }
    let message = format!("skipped: {test}: {tool} is not installed");
    assert!(std::env::var_os("TAILWATER_NO_SKIP").is_none(), "{message}");
    eprintln!("{message}");
    false
}
