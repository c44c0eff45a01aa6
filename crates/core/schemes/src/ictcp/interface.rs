//! The link of a receiving host: slots, the quota, fairness of ICTCP.

use base::cast::{low_64, real};
use base::{Packet, Span, Time};
use tcp::{AckSent, Arrival, Gauge, ReceiverCc, SSTHRESH, Slot};

use super::Params;
use super::connection::{Connection, Pace, Quota};
use crate::registry::HostInfo;
use crate::roster::Roster;

/// See the module documentation of [`super`].
#[derive(Debug)]
pub struct Interface {
    params: Params,
    /// C, bit/s.
    capacity: f64,
    /// Bytes of a packet beside its payload.
    header_bytes: u64,
    /// Time of a full packet on the link.
    packet_time: Span,
    /// By slot; `None` for connections that were not opened from outside or have ended.
    connections: Vec<Option<Connection>>,
    /// Connections in order of their opening.
    active: Roster,
    /// The least round trip seen at this host.
    least_rtt: Option<Span>,
    part: SubSlot,
    quota: Quota,
}

/// One of the two parts of a slot, each of length T.
#[derive(Clone, Copy, Debug)]
struct SubSlot {
    /// `None` while no data comes.
    start: Option<Time>,
    /// T.
    length: Span,
    /// Bytes on the wire since.
    bytes: u64,
}

impl Interface {
    pub(super) fn new(params: &Params, host: &HostInfo) -> Self {
        Self {
            params: params.clone(),
            capacity: rate(host.rate.as_bps()),
            header_bytes: host.packet_bytes - u64::from(host.mss),
            packet_time: host.rate.serialisation(host.packet_bytes),
            connections: Vec::new(),
            active: Roster::default(),
            least_rtt: None,
            part: SubSlot {
                start: None,
                length: Span::ZERO,
                bytes: 0,
            },
            quota: Quota::closed(rate(host.packet_bytes) / rate(u64::from(host.mss))),
        }
    }

    /// Bandwidth that windows may still grow by in this slot, bit/s (`BW_A`).
    pub fn available(&self) -> f64 {
        self.quota.available
    }

    fn connection(&mut self, slot: Slot) -> Option<&mut Connection> {
        self.connections.get_mut(slot.0 as usize)?.as_mut()
    }

    /// The connections that are open.
    fn open(&self) -> impl Iterator<Item = &Connection> {
        let by_slot = |slot: Slot| self.connections[slot.0 as usize].as_ref();
        self.active.iter().filter_map(by_slot)
    }

    /// The least round trip that is believed; `None` before one is known.
    fn base_rtt(&self) -> Option<Span> {
        let base = self.params.base_rtt.0.or(self.least_rtt)?;
        Some(base.max(self.packet_time))
    }

    /// Ends the part of the slot whose time is over.
    fn advance(&mut self, now: Time) {
        let Some(start) = self.part.start else {
            self.part.start = Some(now);
            return;
        };
        let Some(base) = self.base_rtt() else { return };
        let elapsed = now.since(start) + self.packet_time / 2;
        let length = self.part.length.max(base).max(self.params.least_part());
        if elapsed < length {
            return;
        }
        // UNSPECIFIED(ICTCP): after a silence as long as a part a slot begins anew, so that what a
        // burst finds was not measured while nobody sent.
        if self.quota.open || elapsed >= length * 2 {
            self.quota.open = false;
            self.part.length = self.mean_rtt(base);
        } else {
            // BW_A = max(0, alpha * C - BW_T).
            let load = rate(self.part.bytes * 8) / now.since(start).as_secs();
            let free = self.params.alpha.0 * self.capacity - load;
            (self.quota.available, self.quota.open) = (free.max(0.0), true);
            self.share_fairly();
        }
        (self.part.start, self.part.bytes) = (Some(now), 0);
    }

    /// T = sum of `w_i * RTT_i`, with `w_i` the connection's share of the traffic of the slot that ends.
    fn mean_rtt(&mut self, base: Span) -> Span {
        let (mut weighted, mut bytes) = (0_u128, 0_u128);
        for slot in self.active.iter() {
            if let Some(connection) = &mut self.connections[slot.0 as usize] {
                let share = u128::from(std::mem::take(&mut connection.slot_bytes));
                let rtt = connection.rtt.smoothed().unwrap_or(base).max(base);
                weighted += share * u128::from(rtt.as_ps());
                bytes += share;
            }
        }
        Span::from_ps(low_64(weighted.checked_div(bytes).unwrap_or(0))).max(base)
    }

    /// Fairness, once per slot: while little is available, windows above the mean lose a segment.
    fn share_fairly(&mut self) {
        if self.quota.available >= self.params.fair_below.0 * self.capacity {
            return;
        }
        let total: u64 = self.open().map(|connection| connection.rwnd).sum();
        let count = self.active.len() as u64;
        for slot in self.active.iter() {
            if let Some(connection) = &mut self.connections[slot.0 as usize]
                && connection.rwnd * count > total
            {
                connection.yield_segment(&self.params);
            }
        }
    }
}

impl ReceiverCc for Interface {
    fn on_open(&mut self, slot: Slot, _syn: &Packet, mss: u16, now: Time) {
        let index = slot.0 as usize;
        if self.connections.len() <= index {
            self.connections.resize_with(index + 1, || None);
        }
        self.connections[index] = Some(Connection::new(u64::from(mss), &self.params, now));
        self.active.add(slot);
    }

    fn on_close(&mut self, slot: Slot, _now: Time) {
        let connection = self.connections.get_mut(slot.0 as usize);
        if connection.and_then(Option::take).is_some() {
            self.active.remove(slot);
        }
        if self.active.len() == 0 {
            // The next slot begins with the next data.
            (self.part.start, self.part.bytes, self.quota.open) = (None, 0, false);
        }
    }

    fn on_data(&mut self, slot: Slot, arrival: &Arrival, now: Time) {
        self.advance(now);
        let size = arrival.payload + self.header_bytes;
        self.part.bytes += size;
        let max = self.params.max_rtt;
        let Some(connection) = self.connection(slot) else {
            return;
        };
        connection.slot_bytes += size;
        let sample = connection.rtt.on_data(arrival, max, now);
        let smoothed = connection.rtt.smoothed();
        self.least_rtt = self.least_rtt.into_iter().chain(sample).min();
        let (Some(smoothed), Some(base)) = (smoothed, self.base_rtt()) else {
            return;
        };
        let rtt = smoothed.max(base);
        let pace = Pace {
            rtt,
            interval: rtt.max(self.params.least_part()),
            slack: self.packet_time / 2,
        };
        let Self {
            connections,
            quota,
            params,
            ..
        } = self;
        if let Some(connection) = &mut connections[slot.0 as usize] {
            connection.on_data(arrival.payload, pace, quota, params, now);
        }
    }

    #[inline]
    fn window(&self, slot: Slot, buffer: u64) -> u64 {
        match self.connections.get(slot.0 as usize) {
            Some(Some(connection)) => connection.rwnd.min(buffer),
            _ => buffer,
        }
    }

    fn on_ack_sent(&mut self, slot: Slot, sent: &AckSent, now: Time) {
        if let Some(connection) = self.connection(slot) {
            connection.rtt.on_ack_sent(sent, now);
        }
    }

    /// O(connections).
    fn gauges(&self, sink: &mut dyn FnMut(Option<Slot>, &'static str, f64)) {
        sink(None, AVAILABLE.name, self.quota.available);
        for slot in self.active.iter() {
            if let Some(connection) = &self.connections[slot.0 as usize] {
                sink(Some(slot), ASSIGNED.name, real(connection.rwnd));
                sink(Some(slot), DIFFERENCE.name, connection.difference);
            }
        }
    }
}

const fn rate(bits: u64) -> f64 {
    real(bits)
}

/// Everything that [`Interface`] and the plain sender report to traces.
pub(super) const GAUGES: &[Gauge] = &[SSTHRESH, AVAILABLE, ASSIGNED, DIFFERENCE];
const AVAILABLE: Gauge = Gauge {
    name: "available_bps",
    unit: "bit/s",
    help: "Bandwidth of a host's link that windows may still grow by in this slot.",
};
const ASSIGNED: Gauge = Gauge {
    name: "assigned_bytes",
    unit: "bytes",
    help: "Window that the receiving host has assigned to a flow.",
};
const DIFFERENCE: Gauge = Gauge {
    name: "difference",
    unit: "share",
    help: "Share by which a flow's throughput misses what its window promises, 0 to 1.",
};

#[cfg(test)]
mod tests;
