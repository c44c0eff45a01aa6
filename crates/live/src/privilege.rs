//! What the process may do.

use std::fs;

/// What it lacks to make networks, in words; `None` if nothing.
pub fn lacks() -> Option<&'static str> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    let needed = 1 << NET_ADMIN | 1 << SYS_ADMIN;
    match mask {
        Some(mask) if mask & needed == needed => None,
        _ => Some("the capabilities NET_ADMIN and SYS_ADMIN, which root has"),
    }
}

// `linux/capability.h`
const NET_ADMIN: u64 = 12;
const SYS_ADMIN: u64 = 21;
