//! The starts of flows, and the ends on which they depend.

use std::collections::BTreeMap;

use crate::{ImportedFlow, Wait};

/// Flows that must have ended, or the beginning of the file's clock, each with the delay in picoseconds after it.
pub(crate) type Moments = BTreeMap<u32, u128>;

/// Stands for the beginning of the file's clock among flows.
pub(crate) const BEGINNING: u32 = u32::MAX;

/// Joins the ends on which two operations depend.
pub(crate) fn join(begin: &mut Moments, other: &Moments) {
    for (flow, since) in other {
        let known = begin.entry(*flow).or_default();
        *known = (*known).max(*since);
    }
}

/// A flow that starts at these moments.
pub(crate) fn behind(begin: &mut Moments, flow: ImportedFlow, line: u64) -> ImportedFlow {
    let start = begin.remove(&BEGINNING).unwrap_or(0);
    if begin.is_empty() {
        return ImportedFlow { start, ..flow };
    }
    let wait = Wait {
        needs: u32::try_from(begin.len()).expect("fewer than flows"),
        on: begin.iter().map(|(flow, since)| (*flow, *since)).collect(),
        line,
    };
    ImportedFlow {
        wait: Some(Box::new(wait)),
        ..flow
    }
}
