//! Chromium without a window.

use std::path::Path;
use std::process::Command;

use crate::repository::Failure;

/// Options that also work for root: it draws in software and uses no network.
pub(crate) const CHROMIUM: [&str; 5] = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--hide-scrollbars",
    "--host-resolver-rules=MAP * ~NOTFOUND",
];

/// The scripts of a page have this many milliseconds to draw it, on a virtual clock.
pub(super) const PATIENCE: &str = "--virtual-time-budget=10000";

/// The option `name` whose value is a path.
pub(super) fn option(name: &str, path: &Path) -> String {
    format!("{name}={}", path.display())
}

/// Chromium by its name on this machine.
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
