//! The privileges of the process.

use std::fs;

/// The missing privileges for making networks, in words; `None` if there are all.
pub fn lacks() -> Option<String> {
    lacks_of(&[Capability::NetAdmin, Capability::SysAdmin])
}

/// The missing privileges for loading programs into the kernel, in words; `None` if there are all.
pub fn lacks_for_programs() -> Option<String> {
    lacks_of(&[
        Capability::NetAdmin,
        Capability::SysAdmin,
        Capability::Perfmon,
        Capability::Bpf,
    ])
}

/// Gives up all capabilities of this thread for good.
///
/// # Errors
/// If the kernel refuses.
pub fn drop_all() -> std::io::Result<()> {
    use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};
    let none = CapabilitySet::empty();
    let sets = CapabilitySets {
        effective: none,
        permitted: none,
        inheritable: none,
    };
    Ok(set_capabilities(None, sets)?)
}

/// The capabilities that this program may need, by their numbers (`linux/capability.h`).
#[derive(Clone, Copy)]
enum Capability {
    NetAdmin = 12,
    SysAdmin = 21,
    Perfmon = 38,
    Bpf = 39,
}

impl Capability {
    const fn name(self) -> &'static str {
        match self {
            Self::NetAdmin => "NET_ADMIN",
            Self::SysAdmin => "SYS_ADMIN",
            Self::Perfmon => "PERFMON",
            Self::Bpf => "BPF",
        }
    }
}

fn lacks_of(needed: &[Capability]) -> Option<String> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    let mask = mask.unwrap_or(0);
    let lacking = needed.iter().filter(|one| mask >> **one as u64 & 1 == 0);
    let names: Vec<_> = lacking.map(|one| one.name()).collect();
    let (last, first) = names.split_last()?;
    Some(match first {
        [] => format!("the capability {last}, which root has"),
        _ => format!(
            "the capabilities {} and {last}, which root has",
            first.join(", ")
        ),
    })
}
