//! How much memory simulations need, before they run.

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
/// Endpoints, ports and routes are counted. Packets on the way are bounded by the window of each
/// flow, and where windows are large by the buffer they fill: beyond it, flows have a burst on the way
/// and few at a time a whole window. A test compares the estimate with what simulations really take.
pub fn estimate(point: &PointSpec) -> u64 {
    let layout = Layout::of(&point.keys, &point.groups);
    let (hosts, ports) = (layout.all_hosts(), layout.ports());
    let groups = point.groups.iter();
    let flows: u64 = groups
        .map(|group| of_flows(group, layout.expected_flows(group)))
        .sum();
    // What is measured is handed over in a compact copy before it is dropped.
    let records = 2 * ports * (size_of::<PortRecord>() as u64 + PORT_NAMES);
    BASE + flows
        + ports * PORT
        + layout.racks() * layout.switches() * ROUTE
        + hosts * HOST
        + records
}

/// What this many flows of a group need: their endpoints, packets and records.
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
    // What is handed over at low priority waits in the ports of hosts: that of all flows, if they start
    // together.
    let random = [WorkloadKind::Poisson, WorkloadKind::Trace];
    let together = !random.contains(&keys.workload.kind);
    let low = match group.roles().low_priority {
        Some(_) if together && size < u64::MAX => flows.saturating_mul(size.div_ceil(mss)) * PACKET,
        _ => 0,
    };
    endpoints + packets + low + rows * (2 * size_of::<FlowRecord>() as u64 + ROW)
}

/// Of this many connections of a group, how many have endpoints at a time. These are made when a connection
/// opens and go when it is over, unless a receiver role may still hold something of it.
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
pub struct TooLarge {
    /// Its place among the points.
    pub index: usize,
    /// Bytes that it needs.
    pub needed: u64,
    /// Bytes that it may have.
    pub available: u64,
}

/// How many simulations may run at a time, of at most `jobs`, so that the largest of `points` fit into
/// `limit` bytes together; or the largest, if not even that one fits.
pub fn fit(
    points: &[&PointSpec],
    jobs: NonZeroUsize,
    limit: u64,
) -> Result<NonZeroUsize, TooLarge> {
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
        return Err(TooLarge {
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
    // With fewer points than jobs the other threads have nothing to hold.
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
/// Beside its struct, what an endpoint keeps on the heap and in tables of the world.
const ENDPOINT: u64 = 256;
/// What plan and world keep of a flow, and of a connection when it has no endpoints any more.
const ROW: u64 = 256;
/// Of random flows that leave a tenth of the links free, at most about a quarter are open together: those that
/// start while the longest of them last, or while lost SYNs wait for their timers.
const FULL: f64 = 0.9;
const OPEN_SHARE: u64 = 4;
/// Where there are no more, all may be.
const FEW_OPEN: u64 = 4096;
/// The largest window without the option that scales it (RFC 7323, section 2).
const UNSCALED: u64 = 65_535;
/// A packet in a ring that doubles: twice its size, and the old half while it is copied.
const SLOT: u64 = 3 * fabric::PLACE_BYTES;
/// A packet of a burst in the rings of its host, and its places in the scoreboard and the assembler.
const PACKET: u64 = SLOT + 64;
/// Packets that a flow has on the way beside those in the queue of the switch.
const BURST: u64 = 38;
/// Flows that have a whole window on the way beside the queue of the switch.
const WHOLE_WINDOWS: u64 = 16;
/// A port with its ring, its histogram and its event, and its copy while rings grow.
const PORT: u64 = 1536;
/// The names of the nodes at both ends of a port.
const PORT_NAMES: u64 = 48;
/// A way from a switch to a rack, and as much again while there are ever more of them.
const ROUTE: u64 = 16;
/// A host, and its part of the lists of ports for flows between racks.
const HOST: u64 = 1024;
