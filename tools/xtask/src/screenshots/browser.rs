//! Options of Chromium.

use std::path::Path;

/// Chromium without a window, for root too, that asks nobody for anything, and waits until the
/// scripts of a page had this many milliseconds to draw it.
pub(super) const CHROMIUM: [&str; 6] = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--hide-scrollbars",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--virtual-time-budget=10000",
];

/// The option `name` whose value is a path.
pub(super) fn option(name: &str, path: &Path) -> String {
    format!("{name}={}", path.display())
}
