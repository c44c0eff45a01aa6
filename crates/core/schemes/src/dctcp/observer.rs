//! A receiver that estimates the share of marked packets, as the sender does, and controls nothing.
//!
//! The RCC paper (§3, Fig. 3) compares the two estimates to show what delayed ACKs hide from a sender:
//! the receiver sees every packet with its own mark, the sender bytes that an ACK covers.

use base::{Packet, Span, Time};
use tcp::{Arrival, Gauge, ReceiverCc, Slot};

/// Estimates of one host's connections.
#[derive(Debug)]
pub struct Observer {
    /// Weight of the newest period (g of DCTCP).
    gain: f64,
    /// How long a period lasts.
    interval: Span,
    /// By slot; `None` for connections that were not opened from outside or have ended.
    flows: Vec<Option<Estimate>>,
}

/// The estimate of one connection.
#[derive(Clone, Copy, Debug)]
struct Estimate {
    alpha: f64,
    /// Packets of this period, and those of them that were marked.
    seen: u32,
    marked: u32,
    period_start: Time,
}

impl Observer {
    pub(super) const fn new(gain: f64, interval: Span) -> Self {
        Self {
            gain,
            interval,
            flows: Vec::new(),
        }
    }
}

impl ReceiverCc for Observer {
    fn on_open(&mut self, slot: Slot, _syn: &Packet, _mss: u16, now: Time) {
        let index = slot.0 as usize;
        if self.flows.len() <= index {
            self.flows.resize(index + 1, None);
        }
        self.flows[index] = Some(Estimate {
            alpha: 0.0,
            seen: 0,
            marked: 0,
            period_start: now,
        });
    }

    fn on_close(&mut self, slot: Slot, _now: Time) {
        if let Some(flow) = self.flows.get_mut(slot.0 as usize) {
            *flow = None;
        }
    }

    /// Alpha follows the share of each period in which packets came, as DCTCP's does (§3.3, eq. 1).
    fn on_data(&mut self, slot: Slot, arrival: &Arrival, now: Time) {
        let Some(Some(flow)) = self.flows.get_mut(slot.0 as usize) else {
            return;
        };
        if arrival.payload == 0 {
            return;
        }
        flow.seen += 1;
        flow.marked += u32::from(arrival.marked);
        if now.since(flow.period_start) >= self.interval {
            let share = f64::from(flow.marked) / f64::from(flow.seen);
            flow.alpha += self.gain * (share - flow.alpha);
            (flow.seen, flow.marked, flow.period_start) = (0, 0, now);
        }
    }

    fn gauges(&self, sink: &mut dyn FnMut(Option<Slot>, &'static str, f64)) {
        for (slot, flow) in (0..).zip(&self.flows) {
            if let Some(flow) = flow {
                sink(Some(Slot(slot)), RECEIVER_ALPHA.name, flow.alpha);
            }
        }
    }
}

/// What [`Observer`] reports to traces.
pub(super) const RECEIVER_ALPHA: Gauge = Gauge {
    name: "receiver_alpha",
    unit: "share",
    help: "Share of marked packets as a receiver estimates it that only looks on, 0 to 1.",
};

#[cfg(test)]
mod tests {
    use base::{FlowId, HostId};

    use super::*;

    #[test]
    fn alpha_follows_the_share_of_each_period() {
        let mut observer = Observer::new(0.5, Span::from_micros(200));
        let syn = Packet::new(FlowId(0), HostId(0));
        observer.on_open(Slot(0), &syn, 1446, Time::ZERO);
        let alpha = |observer: &Observer| {
            let mut found = f64::NAN;
            observer.gauges(&mut |_, _, value| found = value);
            found
        };
        let mut data = |micros, marked| {
            let arrival = Arrival {
                payload: 1446,
                marked,
                ..Arrival::default()
            };
            let now = Time::ZERO + Span::from_micros(micros);
            observer.on_data(Slot(0), &arrival, now);
            alpha(&observer)
        };
        let unmarked = data(100, false);
        assert!(unmarked.abs() < 1e-12, "the first period lasts");
        // One of two packets, half of it by the gain; then none.
        assert!((data(200, true) - 0.25).abs() < 1e-12);
        assert!((data(400, false) - 0.125).abs() < 1e-12);
    }
}
