//! The router's part, at one output port: one rate for all its flows.

use base::cast::real;
use base::{Packet, Rate, Span, Time};
use fabric::{Backlog, Calls, SwitchHook};

use super::header::Header;
use super::{Averaging, Params, RATE};
use crate::registry::{PortInfo, Ticker, TickerOf};

/// RCP's controller at one output port.
#[derive(Debug)]
pub struct Router {
    params: Params,
    link: Rate,
    header_bytes: u64,
    /// Rate of the link, bytes per second (C).
    capacity: f64,
    /// Rate granted to every flow, bytes per second (R).
    rate: f64,
    /// Bytes that have arrived in this interval, and of those that arrived at its end what the link
    /// would carry in the next.
    input: f64,
    spill: f64,
    /// Over packets of this interval that tell a round trip, the sums of bytes and of bytes times
    /// round trip.
    timed_bytes: f64,
    timed_rtt: f64,
    /// The mean of the last interval that had such packets, seconds; 0 before the first.
    sample: f64,
    /// Moving average of the samples, seconds (d).
    mean_rtt: f64,
    /// The length of this interval (T), and when it ends.
    interval: Span,
    due: Time,
}

impl Router {
    /// The controller of a port that has seen nothing.
    pub fn new(params: &Params, port: &PortInfo) -> Self {
        let capacity = real(port.rate.as_bps()) / 8.0;
        let mean_rtt = params.initial_rtt.max(LEAST_INTERVAL);
        let interval = mean_rtt.min(params.max_interval).max(LEAST_INTERVAL);
        let mut router = Self {
            params: params.clone(),
            link: port.rate,
            header_bytes: u64::from(port.header_bytes),
            capacity,
            rate: 0.0,
            input: 0.0,
            spill: 0.0,
            timed_bytes: 0.0,
            timed_rtt: 0.0,
            sample: 0.0,
            mean_rtt: mean_rtt.as_secs(),
            interval,
            due: Time::ZERO + interval,
        };
        router.set_rate(params.initial_rate.0 * capacity);
        router
    }

    /// An interval ends with `queue` bytes waiting.
    fn decide(&mut self, queue: u64) {
        let Params {
            alpha, beta, gamma, ..
        } = self.params;
        let interval = self.interval.as_secs();
        let arriving = self.input / interval;
        self.average(interval);
        // Spare bandwidth, and the queue over the mean round trip, each with its gain, as a share of the
        // bandwidth to fill; per mean round trip, of which the interval is a part.
        let target = gamma.0 * self.capacity;
        let wanted = alpha.0 * (target - arriving) - beta.0 * real(queue) / self.mean_rtt;
        self.set_rate(self.rate * (1.0 + interval / self.mean_rtt * wanted / target));
        self.interval = Span::from_secs_f64(self.mean_rtt)
            .min(self.params.max_interval)
            .max(LEAST_INTERVAL);
        self.input = std::mem::take(&mut self.spill);
    }

    /// The mean round trip moves towards that of this interval.
    fn average(&mut self, interval: f64) {
        if self.timed_bytes > 0.0 {
            self.sample = self.timed_rtt / self.timed_bytes;
        }
        (self.timed_bytes, self.timed_rtt) = (0.0, 0.0);
        if self.sample <= 0.0 {
            return;
        }
        let gain = (interval / self.mean_rtt).min(1.0);
        let gain = match self.params.averaging {
            Averaging::Cautious if self.sample < self.mean_rtt => {
                gain * (self.rate / self.capacity) * (self.sample / self.mean_rtt)
            }
            Averaging::Cautious | Averaging::Even => gain,
        };
        let mean = self.mean_rtt + gain * (self.sample - self.mean_rtt);
        self.mean_rtt = mean.max(LEAST_INTERVAL.as_secs());
    }

    /// Never below the least rate, never above that of the link.
    fn set_rate(&mut self, rate: f64) {
        let least = match self.params.min_rate.0 {
            Some(least) => real(least.as_bps()) / 8.0,
            None => NS2_LEAST_BYTES / self.mean_rtt,
        };
        self.rate = rate.max(least).min(self.capacity);
    }

    fn size(&self, packet: &Packet) -> u64 {
        self.header_bytes + u64::from(packet.payload)
    }
}

impl SwitchHook for Router {
    fn calls(&self) -> Calls {
        Calls::ARRIVAL.with(Calls::DEPARTURE).with(Calls::TIMER)
    }

    fn on_arrival(&mut self, _queue: Backlog, packet: &mut Packet, now: Time) {
        let size = self.size(packet);
        let bytes = real(size);
        let takes = self.link.serialisation(size);
        // Of a packet that the link would carry across the end of the interval, a part is for the next.
        let late = (now + takes).since(self.due.min(now + takes));
        let share = if late > Span::ZERO {
            late.as_secs() / takes.as_secs()
        } else {
            0.0
        };
        self.input += bytes * (1.0 - share);
        self.spill += bytes * share;
        let header = Header::of(packet.extension);
        if header.rtt > 0.0 {
            self.timed_bytes += bytes;
            self.timed_rtt += bytes * header.rtt;
        }
    }

    fn on_departure(&mut self, _queue: Backlog, packet: &mut Packet, _at: Time) {
        let mut header = Header::of(packet.extension);
        if header.rate > self.rate {
            header.rate = self.rate;
            packet.extension = header.write();
        }
    }

    fn deadline(&self) -> Time {
        self.due
    }

    fn on_deadline(&mut self, queue: Backlog, _at: Time) {
        self.decide(queue.bytes);
        self.due += self.interval;
    }

    fn gauges(&self, sink: &mut dyn FnMut(&'static str, f64)) {
        sink(RATE.name, self.rate * 8.0);
    }
}

/// The timer of every port, as often as it fires where round trips are short.
pub(super) fn timer(params: &Params) -> Ticker {
    Ticker {
        key: "rcp.max_interval",
        every: params.max_interval.min(SHORT_RTT).max(LEAST_INTERVAL),
        each: TickerOf::Port,
    }
}

/// A round trip within a data centre.
const SHORT_RTT: Span = Span::from_micros(100);
/// No interval is shorter.
const LEAST_INTERVAL: Span = Span::from_micros(1);
/// The ns-2 patch grants at least a hundredth of a packet of 1000 bytes per round trip.
const NS2_LEAST_BYTES: f64 = 10.0;

#[cfg(test)]
mod tests;
