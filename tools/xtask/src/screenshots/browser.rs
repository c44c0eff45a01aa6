//! Chromium without a window.

use std::path::Path;
use std::process::Command;

use crate::repository::Failure;

/// Options for root too, with which it draws by the processor and asks nobody for anything.
pub(crate) const CHROMIUM: [&str; 5] = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--hide-scrollbars",
    "--host-resolver-rules=MAP * ~NOTFOUND",
];

/// The scripts of a page have this many milliseconds to draw it, on a clock that waits for them.
pub(super) const PATIENCE: &str = "--virtual-time-budget=10000";

/// The option `name` whose value is a path.
pub(super) fn option(name: &str, path: &Path) -> String {
    format!("{name}={}", path.display())
}

/// Chromium by the name it has here.
pub(crate) fn chromium() -> Result<&'static str, Failure> {
    let names = ["chromium", "chromium-browser", "google-chrome", "chrome"];
    let is_there = |name: &&&str| {
        let mut command = Command::new(name);
        let output = command.arg("--version").output();
        output.is_ok_and(|output| output.status.success())
    };
    let found = names.iter().find(is_there);
    found
        .copied()
        .ok_or_else(|| Failure("chromium is not installed".to_owned()))
}
