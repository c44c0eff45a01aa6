//! Programs in the kernel of this machine: laws, packets, leases.

mod assigned;
mod bed;
mod captures;
mod edges;
mod faults;
mod frame;
mod grant_vectors;
mod grants;
mod laws_agree;
mod leases;
mod live;
mod observer;
mod packets;
mod queue;
mod replay;
mod steady;

use std::os::fd::AsFd;

use libbpf_rs::Program;
use libbpf_rs::query::ProgInfoIter;
use programs::{LoadError, Port, Reason};

use bed::is_privileged;

/// The loaded object, or `None` where this machine does not allow programs in its kernel, which is said aloud.
fn loaded<T>(loaded: Result<T, LoadError>) -> Option<T> {
    match loaded {
        Ok(loaded) => Some(loaded),
        Err(error) if is_privileged() => panic!("{error}"),
        Err(error) => {
            testing::skipped(&format!("without privileges {error}"));
            None
        }
    }
}

fn count(port: &Port, of: Reason) -> u64 {
    let counts = port.counts().expect("counters");
    let found = counts.into_iter().find(|(reason, _)| *reason == of);
    found.expect("every reason is counted").1
}

/// The numbers that the kernel gave to the programs of a port.
fn program_ids(port: &Port) -> [u32; 2] {
    let mut programs = port.object().progs_mut();
    [(); 2].map(|()| {
        let program = programs.next().expect("a program for each way");
        Program::id_from_fd(program.as_fd()).expect("a number")
    })
}

/// Whether the kernel has one of these programs.
fn are_there(programs: &[u32]) -> bool {
    let mut all = ProgInfoIter::default();
    all.any(|program| programs.contains(&program.id))
}
