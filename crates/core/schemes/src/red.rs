//! RED: random early detection, a queue that answers before it is full.
//!
//! The queue keeps a moving average of its length. Between two thresholds it drops or marks arriving
//! packets with a probability that grows with the average, spread evenly by a count of the packets
//! let through since the last one; above them, every packet. Senders are whatever they are: plain, they
//! see drops; with ECN (`red-ecn`, or `red.ecn` under a scheme that uses marks) they see marks, and
//! packets that are not ECN-capable are dropped in their place: SYNs, pure ACKs, retransmissions.
//!
//! | symbol | field | default | source |
//! |---|---|---|---|
//! | `min_th` | `red.min` | 0.2 of the buffer | harness of the ns-2 runs of HSCC's author |
//! | `max_th` | `red.max` | 0.4 of the buffer | the same |
//! | `w_q` | `red.weight` | 0.25 | the same |
//! | `max_p` | `red.max_probability` | 1 | the same |
//! | gentle | `red.gentle` | off | the same |
//! | ECN | `red.ecn` | off | on in `red-ecn` |
//! | drops above `max_th` | `red.drop_above_max` | off | RFC 3168 §7 |
//!
//! With `weight = 1` and `min = max` it is the step of DCTCP. That harness has RED's ramp under DCTCP,
//! too: `red+dctcp` with `ecn = true`.
//!
//! Deviations: above the upper threshold ECN-capable packets are marked, where RFC 3168 §7 has them
//! dropped; only a full queue drops them (`red.drop_above_max` follows the RFC). A marking threshold of the scenario does not
//! apply: the average decides alone.
//!
//! Open in the paper: the packet whose time measures idleness (a full one), and what an arrival counts
//! for that finds nothing waiting before that time is over (a sample of an empty queue, as in ns-2).
//!
//! Cost: O(1) per packet.

use base::cast::real;
use base::setting::Settings;
use base::{Ecn, Fraction, Packet, Quantity, QuantityError, SizeUnit, Span, Time, WireSize};
use engine::random::Stream;
use fabric::{Backlog, Discipline, Limit, QueueDisc, Verdict};

use crate::registry::{MakeQueue, Misfit, PortInfo, Role, Roles, Scheme};

/// The registry entry.
pub const SCHEME: Scheme = Scheme {
    name: "red",
    summary: "Random early detection: queues drop by their average length before they are full",
    how: "A queue keeps a moving average of its length. Below a lower threshold nothing happens. Between \
          the thresholds the queue drops each arriving packet with a probability that grows with the \
          average. Above the upper threshold it drops every packet. So some senders slow down before the \
          buffer is full.",
    reference: "Floyd and Jacobson, IEEE/ACM ToN 1993; RFC 2309",
    roles: &[Role::Queue],
    keys: Params::KEYS,
    gauges: &[tcp::SSTHRESH],
    build: &|text| Ok(Params::read(text)?.roles("red")),
    ..Scheme::PLAIN
};

/// A place in the queue: a share of the buffer, or a size.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum QueueLevel {
    /// Of what the port may hold.
    Share(f64),
    /// As it is.
    Size(WireSize),
}

impl Quantity for QueueLevel {
    fn expected() -> String {
        format!(
            "a share of the buffer, as in \"0.2\", or {}",
            WireSize::expected()
        )
    }

    fn parse(text: &str) -> Result<Self, QuantityError> {
        let share = Fraction::parse(text).map(|share| Self::Share(share.0));
        share
            .or_else(|_| WireSize::parse(text).map(Self::Size))
            .map_err(|_| QuantityError::expected(&Self::expected(), text))
    }
}

impl QueueLevel {
    /// In the unit that the queue counts: packets where its limit is in packets, else bytes.
    fn of(self, limit: Limit, packet_bytes: u64) -> f64 {
        match (self, limit) {
            // The scenario refuses a share of a buffer without bound.
            (Self::Share(_), Limit::Unlimited) => f64::INFINITY,
            (Self::Share(share), Limit::Bytes(all) | Limit::Packets(all)) => share * real(all),
            (Self::Size(size), Limit::Packets(_)) => match size.unit {
                SizeUnit::Packet => real(size.amount),
                SizeUnit::Byte => real(size.amount) / real(packet_bytes),
            },
            (Self::Size(size), _) => real(size.in_bytes(packet_bytes)),
        }
    }
}

base::settings! {
    /// Parameters of RED.
    pub struct Params in "red" {
        /// Average queue at which early drops or marks begin (min_th): a share of the buffer, or a size.
        pub min: QueueLevel = "0.2",
        /// Average queue from which on every packet is dropped or marked (max_th): a share of the buffer, or a size.
        pub max: QueueLevel = "0.4",
        /// Weight of an arrival's sample in the average queue (w_q).
        pub weight: Fraction = "0.25",
        /// Probability that the two thresholds lead up to, before packets since the last one are counted (max_p).
        pub max_probability: Fraction = "1",
        /// Whether the probability goes on to grow, up to 1 at twice the upper threshold.
        pub gentle: bool = "false",
        /// Whether ECN-capable packets are marked instead of dropped; red-ecn always does.
        pub ecn: bool = "false",
        /// Whether ECN-capable packets are dropped too where every packet is answered: above red.max, or twice that with red.gentle (RFC 3168).
        pub drop_above_max: bool = "false",
    }
}

impl Params {
    /// The parts of switches under the scheme called `name`.
    pub(crate) fn roles(self, name: &'static str) -> Roles {
        let shares = [self.min, self.max].map(|level| matches!(level, QueueLevel::Share(_)));
        Roles {
            shares_buffer: shares.contains(&true).then_some(name),
            misfits: self.misfits(),
            // A single threshold leaves nothing to chance.
            random: self.min != self.max || self.gentle,
            queue: Some(queue(self)),
            ..Roles::default()
        }
    }

    /// What makes a queue that can never answer.
    fn misfits(&self) -> Vec<Misfit> {
        let mut misfits = Vec::new();
        if self.weight.0 <= 0.0 {
            misfits.push(Misfit {
                keys: &["red.weight"],
                message: "with red.weight = 0 the average queue never moves".into(),
                remedy: "give a share above 0, as in \"0.25\"".into(),
            });
        }
        let inverted = match (self.min, self.max) {
            (QueueLevel::Share(min), QueueLevel::Share(max)) => min > max,
            (QueueLevel::Size(min), QueueLevel::Size(max)) => {
                min.unit == max.unit && min.amount > max.amount
            }
            _ => false,
        };
        if inverted {
            misfits.push(Misfit {
                keys: &["red.min", "red.max"],
                message: "red.min lies above red.max".into(),
                remedy: "lower red.min, or raise red.max: equal ones make a step".into(),
            });
        }
        misfits
    }
}

/// Makes the queues of switches.
fn queue(params: Params) -> MakeQueue {
    Box::new(move |port, given| {
        // RED alone decides which packets are marked; packets lost by a given law stay lost.
        let before = match given {
            Discipline::EcnThreshold(_) => Discipline::DropTail,
            other => other,
        };
        Discipline::Custom(Box::new(Red::new(&params, port, before)))
    })
}

/// RED at one port.
struct Red {
    /// The discipline that packets meet before RED.
    before: Discipline,
    /// Thresholds, in `in_packets`'s unit.
    min: f64,
    max: f64,
    weight: f64,
    max_probability: f64,
    gentle: bool,
    /// Average queue below which ECN-capable packets are marked instead of dropped.
    marks_below: f64,
    /// Whether the queue is counted in packets, because its limit is.
    in_packets: bool,
    /// Time of a full packet at the port's rate.
    slot: Span,
    /// Average queue (avg).
    average: f64,
    /// Since when nothing waits, or when the average was last brought up to date since then; of no
    /// meaning while packets wait.
    idle_since: Time,
    /// Packets since the last drop or mark (count); `None` after the average was below `min`.
    since_last: Option<u32>,
    stream: Stream,
}

impl Red {
    fn new(params: &Params, port: &PortInfo, before: Discipline) -> Self {
        let max = params.max.of(port.limit, port.packet_bytes);
        Self {
            before,
            min: params.min.of(port.limit, port.packet_bytes),
            max,
            weight: params.weight.0,
            max_probability: params.max_probability.0,
            gentle: params.gentle,
            marks_below: match (params.ecn, params.drop_above_max) {
                (false, _) => 0.0,
                (true, false) => f64::INFINITY,
                (true, true) if params.gentle => 2.0 * max,
                (true, true) => max,
            },
            in_packets: matches!(port.limit, Limit::Packets(_)),
            slot: port.rate.serialisation(port.packet_bytes),
            average: 0.0,
            idle_since: Time::ZERO,
            since_last: None,
            stream: Stream::new(port.seed, "red", u64::from(port.port.0)),
        }
    }

    /// RED fig. 2: the average at an arrival.
    fn sample(&mut self, backlog: Backlog, now: Time) {
        let queue = self.measure(backlog);
        if queue > 0.0 {
            self.average += self.weight * (queue - self.average);
            return;
        }
        // As if packets had arrived all the while and found nothing; this one at least does.
        let idle = real(now.since(self.idle_since).as_ps()) / real(self.slot.as_ps());
        self.average *= libm::pow(1.0 - self.weight, idle.max(1.0));
        self.idle_since = now;
    }

    /// RED fig. 2: whether the arriving packet is dropped or marked.
    fn decide(&mut self) -> bool {
        let probability = self.probability();
        if self.average < self.min {
            self.since_last = None;
            return false;
        }
        let count = self.since_last.map_or(0, |count| count.saturating_add(1));
        self.since_last = Some(count);
        // p_a = p_b / (1 - count * p_b), 1 once count * p_b has reached 1.
        let left = 1.0 - f64::from(count) * probability;
        let due = left <= 0.0 || probability / left >= 1.0 || {
            probability > 0.0 && self.stream.unit() < probability / left
        };
        if due {
            self.since_last = Some(0);
        }
        due
    }

    /// The probability that the average stands for (`p_b`).
    fn probability(&self) -> f64 {
        let (average, min, max) = (self.average, self.min, self.max);
        if average < min {
            0.0
        } else if average < max {
            self.max_probability * (average - min) / (max - min)
        } else if self.gentle && average < 2.0 * max {
            self.max_probability + (1.0 - self.max_probability) * (average - max) / max
        } else {
            1.0
        }
    }

    fn measure(&self, backlog: Backlog) -> f64 {
        if self.in_packets {
            real(backlog.packets)
        } else {
            real(backlog.bytes)
        }
    }
}

impl QueueDisc for Red {
    fn on_arrival(&mut self, backlog: Backlog, packet: &mut Packet, now: Time) -> Verdict {
        if self.before.on_arrival(backlog, packet, now) == Verdict::Drop {
            return Verdict::Drop;
        }
        self.sample(backlog, now);
        if !self.decide() {
            return Verdict::Accept;
        }
        if packet.ecn != Ecn::NotCapable && self.average < self.marks_below {
            packet.ecn = Ecn::Marked;
            return Verdict::Accept;
        }
        Verdict::Drop
    }

    fn is_congested(&self, backlog: Backlog) -> bool {
        self.measure(backlog) >= self.min
    }

    fn on_empty(&mut self, at: Time) {
        self.before.on_empty(at);
        self.idle_since = at;
    }
}

#[cfg(test)]
mod tests;
