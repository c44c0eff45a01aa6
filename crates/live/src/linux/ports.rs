//! Programs at the ports of switches, if this build has them.

use std::collections::BTreeMap;
use std::io;

use crate::bed::Bed;
use crate::linux::lan::Lan;
use crate::linux::paths;
use crate::linux::traffic::Work;

#[cfg_attr(feature = "kernel", path = "ports/loaded.rs")]
#[cfg_attr(not(feature = "kernel"), path = "ports/absent.rs")]
mod build;

pub(crate) use build::loadable;

/// How many packets met each fate at all ports, by the names of `programs::Reason`.
pub(crate) type Counts = BTreeMap<&'static str, u64>;

/// Does `act` while every port that data pass follows the laws, all of which begin anew. Nothing waits at other
/// ports but ACKs, so that no law would act there. Returns what the programs counted.
pub(crate) fn during<T>(
    (bed, lan): (&Bed, &Lan),
    work: &Work<'_>,
    act: impl FnOnce() -> io::Result<T>,
) -> io::Result<(T, Counts)> {
    let pairs = work.connections.iter();
    let pairs = pairs.map(|connection| (connection.sender, connection.receiver));
    let places = paths::on_the_way(bed, &pairs.collect());
    build::during(lan, (work.laws, &places), act)
}
