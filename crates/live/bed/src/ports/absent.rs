//! A build without programs.

use std::io;

use super::{PortReport, Sites};
use crate::lan::Lan;
use crate::stack::Law;

/// No law can be loaded.
pub(crate) fn loadable(_law: &Law) -> Result<(), String> {
    Err("needs kernel programs, which this build lacks: cargo build --release -p tailwater-live --features kernel"
        .to_owned())
}

/// Does `act`; there are no laws.
pub(crate) fn during<T>(
    _lan: &Lan,
    laws: &[Law],
    _sites: &Sites,
    act: impl FnOnce() -> io::Result<T>,
) -> io::Result<(T, PortReport)> {
    assert!(laws.is_empty(), "none can be loaded");
    Ok((act()?, PortReport::default()))
}
