//! How much memory simulations need, before they run.

use std::num::NonZeroUsize;

use schemes::Sender;
use sysinfo::System;
use tcp::Endpoint;

use crate::keys::TopologyKind;
use crate::metrics::{FlowRecord, PortRecord};
use crate::scenario::{PointSpec, Problem, Problems};

/// The memory that simulating `point` needs, in bytes: an upper estimate. O(1).
///
/// Endpoints, ports and routes are counted. Packets on the way are bounded by the window of each
/// flow, and the state of what is sent and received grows with them. A test compares the estimate
/// with what simulations really take.
pub fn estimate(point: &PointSpec) -> u64 {
    let keys = &point.keys;
    let mss = u64::from(keys.tcp.mss.0);
    let flows = u64::from(keys.workload.senders.0);
    let sides = match keys.topology.kind {
        TopologyKind::Star => 1,
        TopologyKind::Dumbbell => 2,
    };
    let hosts = keys
        .topology
        .hosts
        .0
        .map_or(keys.hosts_needed(), |hosts| hosts.0.into())
        * sides;
    let ports = 2 * (hosts + sides);
    let size = keys
        .workload
        .size
        .0
        .map_or(u64::MAX, |size| size.in_bytes(mss));
    let window = keys
        .tcp
        .receive_buffer
        .in_bytes(mss)
        .min(size)
        .div_ceil(mss);
    let endpoints = 2 * flows * (size_of::<Endpoint<Sender>>() as u64 + ENDPOINT);
    let packets = flows * window * PACKET;
    let records = flows * size_of::<FlowRecord>() as u64
        + ports * (size_of::<PortRecord>() as u64 + PORT_NAMES);
    // What is measured is handed over in a compact copy before it is dropped.
    let records = records * 2;
    BASE + endpoints + packets + ports * PORT + hosts * sides * ROUTE + hosts * HOST + records
}

/// How many simulations may run at a time, of at most `jobs`, so that the largest of `points` fit into
/// `limit` bytes together, or why not even one does.
pub fn fit(
    points: &[&PointSpec],
    jobs: NonZeroUsize,
    limit: u64,
) -> Result<NonZeroUsize, Problems> {
    let mut sizes: Vec<(u64, usize)> = points
        .iter()
        .enumerate()
        .map(|(index, point)| (estimate(point), index))
        .collect();
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    let Some((largest, index)) = sizes.first().copied() else {
        return Ok(jobs);
    };
    if largest > limit {
        let point = points[index];
        let problem = Problem::new(format!(
            "a simulation of {} senders needs about {} of memory, and {} are there",
            point.keys.workload.senders.0,
            bytes(largest),
            bytes(limit)
        ));
        return Err(problem.help(
            "simulate fewer senders or smaller windows (tcp.receive_buffer), use a larger machine, or \
             insist with --memory SIZE",
        ).into());
    }
    let mut sum = 0_u64;
    let fits = sizes.iter().take(jobs.get()).take_while(|(size, _)| {
        sum = sum.saturating_add(*size);
        sum <= limit
    });
    // With fewer points than jobs the other threads have nothing to hold.
    let count = fits.count();
    Ok(if count == sizes.len().min(jobs.get()) {
        jobs
    } else {
        // The largest alone fits.
        NonZeroUsize::new(count).unwrap_or(NonZeroUsize::MIN)
    })
}

/// Bytes of memory that a process of this machine, or of its container, may still take.
pub fn available() -> u64 {
    let mut system = System::new();
    system.refresh_memory();
    let container = system.cgroup_limits().map(|limits| limits.free_memory);
    container.map_or(system.available_memory(), |free| {
        free.min(system.available_memory())
    })
}

/// For people: `1.5 GB`.
#[expect(clippy::cast_precision_loss, reason = "rounded for people")]
pub fn bytes(count: u64) -> String {
    match count as f64 {
        bytes if bytes >= 1e9 => format!("{:.1} GB", bytes / 1e9),
        bytes if bytes >= 1e6 => format!("{:.1} MB", bytes / 1e6),
        bytes => format!("{:.1} KB", bytes / 1e3),
    }
}

/// The program, its tables and its threads.
const BASE: u64 = 8 << 20;
/// Beside its struct, what an endpoint keeps on the heap and in tables of the world.
const ENDPOINT: u64 = 256;
/// A packet on the way and its place in the scoreboard and the assembler.
const PACKET: u64 = 160;
/// A port with its ring, its histogram and its event, and its copy while rings grow.
const PORT: u64 = 2048;
/// The names of the nodes at both ends of a port.
const PORT_NAMES: u64 = 48;
/// A route, twice while the network is built.
const ROUTE: u64 = 16;
/// A host, its lists and its neighbours while routes are computed.
const HOST: u64 = 1024;
