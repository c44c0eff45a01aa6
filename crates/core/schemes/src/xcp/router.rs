//! The router's part, at one output port: how much all traffic is to change, and whose.

use base::cast::real;
use base::{Packet, Rate, Span, Time};
use fabric::{Backlog, SwitchHook};

use super::Params;
use super::header::Header;
use crate::registry::{PortInfo, Ticker, TickerOf};

/// XCP's controllers at one output port.
#[derive(Debug)]
pub struct Router {
    params: Params,
    rate: Rate,
    header_bytes: u64,
    /// Input since the last decision: bytes, and over packets that tell a round trip the sums of
    /// their spacing and of spacing times round trip.
    input: Input,
    /// The throughput to give and to take until the next decision.
    budget: Budget,
    /// Mean round trip at the last decision, seconds.
    mean_rtt: f64,
    /// Shortest queue over the last queue interval, bytes (Q).
    standing: u64,
    /// Shortest queue in this queue interval so far, bytes.
    shortest: u64,
    /// The length of this control interval, and when it ends.
    interval: Span,
    control_at: Time,
    /// When this queue interval ends.
    queue_at: Time,
    /// When the transmitter will have sent the packet in transmission.
    busy_until: Time,
}

#[derive(Clone, Copy, Debug, Default)]
struct Input {
    bytes: u64,
    spacing: f64,
    spacing_rtt: f64,
}

/// Throughput to be shared out, bytes per second, and the shares.
#[derive(Clone, Copy, Debug, Default)]
struct Budget {
    increase: f64,
    decrease: f64,
    /// Increase per second of spacing (`C_p`).
    per_spacing: f64,
    /// Decrease per byte (`C_n`).
    per_byte: f64,
}

impl Router {
    /// The controllers of a port that has seen nothing.
    pub fn new(params: &Params, port: &PortInfo) -> Self {
        let first = Time::ZERO + params.initial_interval.max(LEAST_INTERVAL);
        Self {
            params: params.clone(),
            rate: port.rate,
            header_bytes: u64::from(port.header_bytes),
            input: Input::default(),
            budget: Budget::default(),
            mean_rtt: params.initial_interval.as_secs(),
            standing: 0,
            shortest: 0,
            interval: params.initial_interval.max(LEAST_INTERVAL),
            control_at: first,
            queue_at: first,
            busy_until: Time::ZERO,
        }
    }

    /// XCP §3.5: the efficiency controller decides by how much, the fairness controller whose.
    fn decide(&mut self) {
        let Input {
            bytes,
            spacing,
            spacing_rtt,
        } = std::mem::take(&mut self.input);
        self.mean_rtt = if spacing > 0.0 {
            spacing_rtt / spacing
        } else {
            self.params.initial_interval.as_secs()
        };
        self.budget = Budget::default();
        if bytes > 0 {
            let Params {
                alpha, beta, gamma, ..
            } = self.params;
            let arriving = real(bytes) / self.interval.as_secs();
            let spare = self.capacity() - arriving;
            let change = alpha.0 * spare - beta.0 * real(self.standing) / self.mean_rtt;
            let shuffled = (gamma.0 * arriving - change.abs()).max(0.0);
            let increase = change.max(0.0) + shuffled;
            let decrease = (-change).max(0.0) + shuffled;
            self.budget = Budget {
                increase,
                decrease,
                per_spacing: increase
                    / if spacing > 0.0 {
                        spacing
                    } else {
                        self.params.unknown_spacing.as_secs()
                    },
                per_byte: decrease / real(bytes),
            };
        }
        self.interval = Span::from_secs_f64(self.mean_rtt)
            .max(self.params.min_interval)
            .max(LEAST_INTERVAL);
    }

    fn measure_queue(&mut self, queue: u64) {
        self.standing = std::mem::replace(&mut self.shortest, queue);
        let drained = self.mean_rtt - real(queue) / self.capacity();
        let interval = Span::from_secs_f64(drained / 2.0)
            .max(self.params.min_queue_interval)
            .max(LEAST_INTERVAL);
        self.queue_at += interval;
    }

    /// This router's answer to a request; the budget shrinks by the throughput given and taken.
    fn grant(&mut self, header: &Header, size: u64) -> f64 {
        let budget = &mut self.budget;
        let mut given = budget.increase.min(budget.per_spacing * header.spacing);
        let mut taken = budget.decrease.min(budget.per_byte * real(size));
        let mut delta = given - taken;
        if header.delta < delta {
            // An earlier router grants less: the excess that it takes counts as taken here, too.
            taken = budget.decrease.min(taken + delta - header.delta);
            given = (header.delta + taken).max(0.0);
            delta = header.delta;
        }
        budget.increase = (budget.increase - given).max(0.0);
        budget.decrease = (budget.decrease - taken).max(0.0);
        delta
    }

    fn capacity(&self) -> f64 {
        real(self.rate.as_bps()) / 8.0
    }

    fn size(&self, packet: &Packet) -> u64 {
        self.header_bytes + u64::from(packet.payload)
    }
}

impl SwitchHook for Router {
    fn on_arrival(&mut self, _queue: Backlog, packet: &mut Packet, _now: Time) {
        self.input.bytes += self.size(packet);
        let header = Header::of(packet.extension);
        if packet.payload > 0 && header.rtt > 0.0 {
            self.input.spacing += header.spacing;
            self.input.spacing_rtt +=
                header.spacing * header.rtt.min(self.params.max_rtt.as_secs());
        }
    }

    fn on_departure(&mut self, queue: Backlog, packet: &mut Packet, at: Time) {
        let size = self.size(packet);
        if at > self.busy_until {
            self.shortest = 0;
        }
        self.shortest = self.shortest.min(queue.bytes + size);
        self.busy_until = at + self.rate.serialisation(size);
        if packet.payload == 0 {
            return;
        }
        let mut header = Header::of(packet.extension);
        header.delta = if header.rtt > 0.0 {
            self.grant(&header, size)
        } else {
            0.0
        };
        packet.extension = header.write();
    }

    fn deadline(&self) -> Time {
        self.control_at.min(self.queue_at)
    }

    fn on_deadline(&mut self, queue: Backlog, at: Time) {
        if self.queue_at <= at {
            self.measure_queue(queue.bytes);
        }
        if self.control_at <= at {
            self.decide();
            self.control_at += self.interval;
        }
    }
}

/// The two timers of every port, as often as they fire at most.
pub(super) fn timers(params: &Params) -> [Ticker; 2] {
    let timer = |key, every: Span| Ticker {
        key,
        every: every.max(LEAST_INTERVAL),
        each: TickerOf::Port,
    };
    [
        timer("xcp.min_interval", params.min_interval),
        timer("xcp.min_queue_interval", params.min_queue_interval),
    ]
}

/// Granularity of the clocks: no timer runs for less.
const LEAST_INTERVAL: Span = Span::from_micros(1);

#[cfg(test)]
mod tests;
