//! The programs for ports, by name.

use std::hash::{DefaultHasher, Hash, Hasher};

use laws::Loadable;

use crate::error::LoadError;

/// Measures the queue without a law: [`Port::mean_queue`](crate::Port::mean_queue) returns the result.
pub fn queue() -> Loadable {
    Loadable::of_settings("queue", vec![0; 32])
}

/// User space assigns the windows of a receiver's connections; until then a window has this many bytes: see
/// [`Receiver`](crate::Receiver).
pub(crate) fn assigned(first_bytes: u32) -> Loadable {
    let memory = [first_bytes, 0].map(u32::to_ne_bytes).concat();
    Loadable::of_settings("assigned", memory)
}

/// A hash of a law's program text; another build may have another one.
pub fn build(law: &Loadable) -> u64 {
    let mut hasher = DefaultHasher::new();
    named(law.object).ok().hash(&mut hasher);
    hasher.finish()
}

/// The compiled program of a law; `None` if it does not exist.
pub fn object(law: &Loadable) -> Option<&'static [u8]> {
    named(law.object).ok()
}

/// The compiler of the programs, in its own words.
pub const COMPILER: &str = env!("TAILWATER_CLANG");

/// The program with this name.
pub(crate) fn named(name: &str) -> Result<&'static [u8], LoadError> {
    let found = AT_PORTS.iter().find(|(own, _)| *own == name);
    let (_, object) = found.ok_or(LoadError::Lacks("program of this name"))?;
    Ok(object)
}

// Each file of `bpf` that includes `port.h`, compiled.
include!(concat!(env!("OUT_DIR"), "/at_ports.rs"));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_program_at_a_port_is_found_by_its_name_and_has_a_build_of_its_own() {
        let names = ["hscc", "rwndq", "mark", "grants", "assigned", "queue"];
        let law = |name| Loadable::of_settings(name, Vec::new());
        let builds: std::collections::BTreeSet<u64> =
            names.into_iter().map(|name| build(&law(name))).collect();
        assert_eq!(builds.len(), names.len());
        assert!(names.iter().all(|name| named(name).is_ok()));
        assert!(named("observe").is_err(), "it stands beside laws");
    }
}
