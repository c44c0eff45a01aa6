//! Version and congestion controls of this machine's kernel.

use std::fs;

/// The kernel's version.
pub fn version() -> String {
    let version = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    version.trim().to_owned()
}

/// The congestion controls that are available without loading a module, by their kernel names.
pub fn congestion_controls() -> Vec<String> {
    let file = "/proc/sys/net/ipv4/tcp_available_congestion_control";
    let all = fs::read_to_string(file).unwrap_or_default();
    all.split_whitespace().map(str::to_owned).collect()
}
