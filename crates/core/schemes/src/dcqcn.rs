//! DCQCN: senders of RDMA that pace at a rate, which notices of receivers about marks reduce.
//!
//! Switches mark packets at random by the length of their queue. A receiver that gets a marked packet sends a
//! small notice to the sender (CNP), at most one per flow in 50 us (`receiver`). The sender sends its segments one
//! by one at its current rate, reduces it at a notice, and takes it back to a target and beyond by a timer and a
//! counter of bytes (`law`). There is no window. A receiver keeps nothing beyond a gap (`tcp.go_back_n`).
//!
//! | symbol | field | default | source |
//! |---|---|---|---|
//! | `R_C`, `R_T` at the start | none | rate of the host's link | §3.1 |
//! | alpha at the start | none | 1 | §3.1 |
//! | g | `dcqcn.g` | 1/256 | §6, Table of parameters |
//! | N | `dcqcn.cnp_interval` | 50 us | §3.1 |
//! | K | `dcqcn.alpha_timer` | 55 us | §5.2; HPCC's simulator |
//! | timer | `dcqcn.timer` | 55 us; HPCC's simulator 1500 us | §5.2 |
//! | B | `dcqcn.byte_counter` | 10 MB; HPCC's simulator has none | §5.2 |
//! | F | `dcqcn.fast_recovery` | 5 | §3.1 |
//! | `R_AI` | `dcqcn.additive_increase` | 40 Mbit/s | §3.1 |
//! | `R_HAI` | `dcqcn.hyper_increase` | 200 Mbit/s | the authors' ns-3 code |
//! | least rate | `dcqcn.min_rate` | 1 Mbit/s; HPCC's simulator 100 Mbit/s | network cards; rdma-hw.cc |
//! | cuts at most every | `dcqcn.cut_interval` | 4 us, HPCC's simulator alone | rdma-hw.cc |
//! | Kmin, Kmax, Pmax | `switch.ecn_threshold`, `ecn_max`, `ecn_probability` | the scenario; paper: 5 KB, 200 KB, 1 % | §5.2 |
//!
//! With `dcqcn.variant = "hpcc"` it is the sender of HPCC's public simulator: every ACK of a marked packet carries the
//! notice; the sender looks for notices every 4 us, and takes the target to the current rate only where the timer
//! has expired since the last cut; alpha moves every K, up if a notice has come; the timer alone raises the rate: with one
//! `R_AI` after F expiries, and `R_HAI` from then on.
//!
//! Deviations: timers cost no event; what they did is made up for before a segment leaves or a notice is read, at their own
//! times. The connection is TCP's, with its handshake, its close and its retransmission timer.
//!
//! Open in the paper: `R_HAI` (§3.1 names none), the least rate, and the response to losses (none).
//!
//! Cost: O(1) per segment and expired timer; an event per segment at senders.

mod law;
mod params;
mod receiver;

use base::cast::real;
use base::setting::Settings;
use base::{Extension, Packet, Rate, Span, Time};
use tcp::{Ack, EcnMode, Gauge, SegmentCc, SenderCc};

use crate::registry::{FlowInfo, Role, Roles, Scheme};

use law::{Constants, RateLaw};
pub use params::{Params, Variant};
use receiver::CNP;
pub use receiver::Receiver;

/// The registry entry.
pub const SCHEME: Scheme = Scheme {
    name: "dcqcn",
    summary: "Congestion control of RDMA: senders pace at a rate, which notices about marks reduce",
    how: "Senders pace their segments at a rate, from line rate on, and have no window. Switches mark packets at \
          random, with a probability that grows with the queue. A receiver that gets a marked packet sends \
          its sender a small notice, at most one in 50 us. The sender then cuts its rate, the more so the more \
          of its recent time had notices. Without notices a timer and a counter of bytes take the rate back \
          to a target, and then raise the target. Switches pause hosts instead of dropping (switch.pfc), and \
          a receiver keeps nothing beyond a gap.",
    reference: "Zhu et al., Congestion Control for Large-Scale RDMA Deployments, SIGCOMM 2015",
    roles: &[Role::Sender, Role::Receiver, Role::Marks],
    needs_marking: true,
    keys: Params::KEYS,
    gauges: &[RATE, TARGET, ALPHA],
    tcp: &[("tcp.go_back_n", "true"), ("tcp.delayed_ack", "1")],
    build: &|text| {
        let params = Params::read(text)?;
        let (variant, interval) = (params.variant, params.cnp_interval);
        Ok(Roles {
            receiver: Some(Box::new(move |_| Receiver::new(variant, interval).into())),
            ecn: Some(EcnMode::Unechoed),
            ..Roles::of_sender(params, Sender::new)
        })
    },
    ..Scheme::PLAIN
};

const RATE: Gauge = Gauge {
    name: "dcqcn_rate_bps",
    unit: "bit/s",
    help: "Rate at which the sender paces (R_C).",
};

const TARGET: Gauge = Gauge {
    name: "dcqcn_target_bps",
    unit: "bit/s",
    help: "Rate to which the sender returns after a cut (R_T).",
};

const ALPHA: Gauge = Gauge {
    name: "dcqcn_alpha",
    unit: "share",
    help: "By twice how much a notice cuts the rate: a moving average of the time with notices.",
};

/// A sender of one connection.
#[derive(Debug)]
pub struct Sender {
    law: RateLaw,
    /// Bytes of the headers of a segment.
    header_bytes: u32,
    /// When the last segment with data left, and its bytes on the wire.
    last: Option<(Time, u64)>,
    /// When the next one may leave.
    next: Time,
}

impl Sender {
    fn new(params: &Params, flow: &FlowInfo) -> Self {
        let config = &flow.config;
        let packet = u64::from(config.mss) + u64::from(config.header_bytes);
        let line = bytes_per_second(config.link_rate);
        Self {
            law: RateLaw::new(constants(params, line, packet)),
            header_bytes: config.header_bytes,
            last: None,
            next: Time::ZERO,
        }
    }

    /// Header space of the scheme has come, of a notice or of an ACK.
    fn read(&mut self, extension: Extension, now: Time) {
        if extension == CNP {
            self.law.on_notice(now);
            self.schedule();
        }
    }

    /// The next segment leaves when the last one, at the rates of the time since, has been sent.
    fn schedule(&mut self) {
        if let Some((at, bytes)) = self.last {
            self.next = self.law.departure(at, bytes);
        }
    }
}

impl SenderCc for Sender {
    #[inline]
    fn window(&self) -> u64 {
        u64::MAX
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.read(ack.extension, ack.now);
    }

    fn on_notice(&mut self, notice: Extension, now: Time) {
        self.read(notice, now);
    }

    fn as_segment_cc(&mut self) -> Option<&mut dyn SegmentCc> {
        Some(self)
    }

    fn gauges(&self, sink: &mut dyn FnMut(&'static str, f64)) {
        sink(RATE.name, 8.0 * self.law.current());
        sink(TARGET.name, 8.0 * self.law.target());
        sink(ALPHA.name, self.law.alpha());
    }
}

impl SegmentCc for Sender {
    fn on_send(&mut self, packet: &mut Packet, now: Time) {
        if packet.payload == 0 {
            return;
        }
        let bytes = u64::from(packet.payload) + u64::from(self.header_bytes);
        self.law.on_sent(bytes, now);
        self.last = Some((now, bytes));
        self.schedule();
    }

    fn pacing(&self) -> Option<Time> {
        Some(self.next)
    }
}

/// The constants of a sender whose host has this rate in bytes per second, and these full packets.
fn constants(params: &Params, line: f64, packet_bytes: u64) -> Constants {
    let (timer, min_rate) = match params.variant {
        Variant::Paper => (Span::from_micros(55), Rate::from_bps(1_000_000)),
        Variant::Hpcc => (Span::from_micros(1500), Rate::from_bps(100_000_000)),
    };
    let counter = (params.byte_counter.0)
        .map_or(10_000_000, |size| size.in_bytes(packet_bytes))
        .max(1);
    Constants {
        variant: params.variant,
        g: params.g.0,
        alpha_timer: at_least_a_nanosecond(params.alpha_timer),
        timer: at_least_a_nanosecond(params.timer.0.unwrap_or(timer)),
        byte_counter: match params.variant {
            Variant::Paper => counter,
            Variant::Hpcc => u64::MAX,
        },
        fast_recovery: params.fast_recovery.0,
        additive: bytes_per_second(params.additive_increase),
        hyper: bytes_per_second(params.hyper_increase),
        line,
        least: bytes_per_second(params.min_rate.0.unwrap_or(min_rate)).min(line),
        cut_interval: at_least_a_nanosecond(params.cut_interval),
    }
}
fn bytes_per_second(rate: Rate) -> f64 {
    real(rate.as_bps()) / 8.0
}

/// A timer that expires again and again needs time in between.
fn at_least_a_nanosecond(span: Span) -> Span {
    span.max(Span::from_nanos(1))
}

#[cfg(test)]
mod tests;
