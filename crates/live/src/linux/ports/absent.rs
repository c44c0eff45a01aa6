//! A build without programs.

use std::collections::BTreeSet;
use std::io;

use fabric::PortId;

use super::Counts;
use crate::linux::lan::Lan;
use crate::linux::stack::Law;

/// No law can be loaded.
pub(crate) fn loadable(_law: &Law) -> Result<(), String> {
    Err("needs programs at switch ports, which this build lacks: \
         cargo build --release -p tailwater-live --features kernel"
        .to_owned())
}

/// Does `act`; there are no laws.
pub(crate) fn during<T>(
    _lan: &Lan,
    (laws, _places): (&[Law], &BTreeSet<PortId>),
    act: impl FnOnce() -> io::Result<T>,
) -> io::Result<(T, Counts)> {
    assert!(laws.is_empty(), "none can be loaded");
    Ok((act()?, Counts::new()))
}
