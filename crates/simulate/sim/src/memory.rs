//! Estimates the memory of simulations before they run.

use base::Sort as _;
use base::cast::whole;
use std::num::NonZeroUsize;

use plan::keys::{ConnectionKind, WindowScale, WorkloadKind};
use plan::workload::{Layout, expected_connections};
use plan::{Group, PointSpec};
use schemes::Sender;
use tcp::Endpoint;

use crate::metrics::{FlowRecord, PortRecord};

/// The memory that simulating `point` needs, in bytes: an upper estimate. O(groups).
///
/// Endpoints, ports and routes are counted. The packets on the way are bounded by the window of each flow or, for large
/// windows, by the buffer that they fill: beyond the buffer, flows have a burst on the way, and a few flows a whole
/// window. A test compares the estimate with the memory that simulations really take.
pub fn estimate(point: &PointSpec) -> u64 {
    let layout = Layout::of(&point.keys, &point.groups);
    let (hosts, ports) = (layout.all_hosts(), layout.ports());
    let groups = point.groups.iter();
    let flows: u64 = groups
        .map(|group| of_flows(group, layout.expected_flows(group)))
        .sum();
    // Records are handed over in a compact copy before they are dropped.
    let records = 2 * ports * (size_of::<PortRecord>() as u64 + PORT_NAMES);
    BASE + flows
        + ports * PORT
        + layout.racks() * layout.switches() * ROUTE
        + hosts * HOST
        + records
}

/// The memory for this many flows of a group: their endpoints, packets and records.
fn of_flows(group: &Group, expected: f64) -> u64 {
    let keys = &*group.keys;
    let mss = u64::from(keys.tcp.mss.0);
    let (rows, flows) = (expected, expected_connections(keys, expected));
    let (rows, flows) = (whole(rows.ceil()), whole(flows.ceil()));
    let size = match keys.workload.kind {
        WorkloadKind::Trace => keys
            .workload
            .trace
            .content()
            .flows()
            .iter()
            .map(|flow| flow.size)
            .max(),
        _ => keys.workload.size.most(mss),
    };
    let size = size.unwrap_or(u64::MAX);
    let window = keys
        .tcp
        .receive_buffer
        .in_bytes(mss)
        .min(size)
        .min(match keys.tcp.window_scale {
            WindowScale::Off => UNSCALED,
            WindowScale::Auto | WindowScale::Shift(_) => u64::MAX,
        })
        .div_ceil(mss);
    let buffer = keys.switch.buffer.0;
    let packet = keys.packet_bytes();
    let queued = buffer.map_or(u64::MAX, |buffer| buffer.in_bytes(packet).div_ceil(mss));
    let queued = queued.min(flows.saturating_mul(window));
    let endpoints = 2 * open(group, flows) * (size_of::<Endpoint<Sender>>() as u64 + ENDPOINT);
    let packets =
        (queued + flows.min(WHOLE_WINDOWS) * window) * SLOT + flows * window.min(BURST) * PACKET;
    // Data that senders send at low priority waits in the ports of hosts: the data of all flows, if they start
    // together.
    let random = [WorkloadKind::Poisson, WorkloadKind::Trace];
    let together = !random.contains(&keys.workload.kind);
    let low = match group.roles().low_priority {
        Some(_) if together && size < u64::MAX => flows.saturating_mul(size.div_ceil(mss)) * PACKET,
        _ => 0,
    };
    endpoints + packets + low + rows * (2 * size_of::<FlowRecord>() as u64 + ROW)
}

/// How many of this many connections of a group have endpoints at a time. Endpoints are made when a connection opens
/// and dropped when it is over, unless a receiver role may still hold one of its packets.
fn open(group: &Group, connections: u64) -> u64 {
    let workload = &group.keys.workload;
    let come_and_go = workload.kind == WorkloadKind::Poisson
        && workload.connection == ConnectionKind::New
        && workload.arrivals.0.is_none()
        && workload.load.0 < FULL
        && group.roles().receiver.is_none();
    if come_and_go {
        connections.min(FEW_OPEN + connections / OPEN_SHARE)
    } else {
        connections
    }
}

/// A simulation that does not fit into memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemoryShortage {
    /// Its index among the points.
    pub index: usize,
    /// Bytes that it needs.
    pub needed: u64,
    /// Bytes that it may have.
    pub available: u64,
}

/// How many simulations, at most `jobs`, may run at a time so that the largest of `points` fit into `limit` bytes
/// together; an error with the largest point if not even that one fits.
pub fn fit(
    points: &[&PointSpec],
    jobs: NonZeroUsize,
    limit: u64,
) -> Result<NonZeroUsize, MemoryShortage> {
    let mut sizes: Vec<(u64, usize)> = points
        .iter()
        .enumerate()
        .map(|(index, point)| (estimate(point), index))
        .collect();
    sizes.order_by(|a, b| b.cmp(a));
    let Some((largest, index)) = sizes.first().copied() else {
        return Ok(jobs);
    };
    if largest > limit {
        return Err(MemoryShortage {
            index,
            needed: largest,
            available: limit,
        });
    }
    let mut sum = 0_u64;
    let fits = sizes.iter().take(jobs.get()).take_while(|(size, _)| {
        sum = sum.saturating_add(*size);
        sum <= limit
    });
    // With fewer points than jobs the other threads hold nothing.
    let count = fits.count();
    Ok(if count == sizes.len().min(jobs.get()) {
        jobs
    } else {
        // The largest alone fits.
        NonZeroUsize::new(count).unwrap_or(NonZeroUsize::MIN)
    })
}

/// The program, its tables and its threads.
const BASE: u64 = 8 << 20;
/// Bytes of an endpoint on the heap and in tables of the world, beside its struct.
const ENDPOINT: u64 = 256;
/// Bytes that plan and world keep for a flow, and for a connection without endpoints.
const ROW: u64 = 256;
/// Up to this load, at most about a quarter of random flows are open together: those that start while the longest flows
/// last, or while lost SYNs wait for their timers.
const FULL: f64 = 0.9;
const OPEN_SHARE: u64 = 4;
/// Up to this many connections, all may be open at a time.
const FEW_OPEN: u64 = 4096;
/// The largest window without the option that scales it (RFC 7323, section 2).
const UNSCALED: u64 = 65_535;
/// A packet in a ring that doubles: twice its size, and the old half while it is copied.
const SLOT: u64 = 3 * fabric::PLACE_BYTES;
/// A packet of a burst in the rings of its host, and its places in the scoreboard and the assembler.
const PACKET: u64 = SLOT + 64;
/// Packets that a flow has on the way, without those in the queue of the switch.
const BURST: u64 = 38;
/// Flows that have a whole window on the way, without the packets in the queue of the switch.
const WHOLE_WINDOWS: u64 = 16;
/// A port with its ring, its histogram and its event, and its copy while rings grow.
const PORT: u64 = 1536;
/// The names of the nodes at both ends of a port.
const PORT_NAMES: u64 = 48;
/// A way from a switch to a rack, and the same again because a growing vector keeps spare room.
const ROUTE: u64 = 16;
/// A host, and its share of the lists of ports for flows between racks.
const HOST: u64 = 1024;
