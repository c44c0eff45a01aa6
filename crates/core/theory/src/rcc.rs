//! What the RCC paper predicts in closed form, to be drawn over what is measured.
//!
//! Lengths are in packets of full size, times in seconds, rates in packets per second: `C` is the
//! rate of the bottleneck, `RTT` the round trip without queueing, `K` the marking threshold, `N` the
//! number of flows. The queue includes the packet in service.
//!
//! | function | source |
//! |---|---|
//! | [`steady_queue`] | §5.1, eq. 4 |
//! | [`pending_acks`] | §5.1, eq. 6 |
//! | [`spurious_limit`] | §5.1, eq. 7 |
//! | [`EcnSawtooth`], [`least_threshold`] | §5.2, eqs. 8 to 18 |
//! | [`ideal_completion`] | §5.3, eqs. 19 to 23 |
//! | [`prioritised_completion`] | Alg. 1 and 2 for equal flows |
//!
//! The numbers of the equations of §5.2 are not repeated here: the functions were derived anew, as each
//! one's documentation shows, and agree with the paper's results.

use base::setting::Settings;
use base::{Count, DataSize, Rate, Span, WireSize};

use crate::answer::{Answer, AnswerTable, Chart, ChartAxis, Curve, Model, NoAnswer, columns};
use base::cast::real;

base::settings! {
    /// Settings of the model.
    pub struct Parameters in "rcc" {
        /// Rate of the bottleneck.
        pub rate: Rate = "1Gbps",
        /// Round trip without queueing: four links of 40 us.
        pub rtt: Span = "160us",
        /// Packets that may be in flight towards the receiver.
        pub max_queue: WireSize = "40pkt",
        /// Marking threshold of the bottleneck.
        pub ecn_threshold: WireSize = "40pkt",
        /// Number of flows.
        pub senders: Count = "90",
        /// Bytes of each flow.
        pub size: DataSize = "32KiB",
        /// Payload of a full packet.
        pub mss: Count = "1446",
        /// Bytes of a full packet on the wire.
        pub packet: Count = "1500",
        /// Least retransmission timeout.
        pub rto: Span = "10ms",
    }
}

/// The registry entry.
pub const MODEL: Model = Model {
    name: "rcc",
    summary: "RCC's closed forms: steady queue, waiting ACKs, sawtooth, completion times",
    source: "RCC section 5",
    keys: Parameters::KEYS,
    answer: |text| answer(&Parameters::read(text)?),
};

/// Queue that the buffer queue of ACKs keeps once more flows are active than fit in the budget: what
/// is in flight, less what the path itself holds (RCC §5.1, eq. 4). Never below zero.
///
/// ```
/// // §6.1: 40 packets in flight, 83,333 packets/s, 160 us: 26.7 packets, the 40 KB of Fig. 5(c).
/// let queue = theory::rcc::steady_queue(40.0, 1e9 / 12_000.0, 160e-6);
/// assert!((queue - 26.67).abs() < 0.01);
/// ```
#[must_use]
pub fn steady_queue(max_queue: f64, rate: f64, rtt: f64) -> f64 {
    (max_queue - rate * rtt).max(0.0)
}

/// ACKs that wait in the buffer queue when `flows` have data to send and each may have one segment in
/// flight (RCC §5.1, eq. 6).
#[must_use]
pub fn pending_acks(flows: f64, max_queue: f64) -> f64 {
    (flows - max_queue).max(0.0)
}

/// ACKs that may wait before senders or the receiver take them for lost: the last of them leaves after
/// that many packet times, and the timeout `rto` has then passed (RCC §5.1, eq. 7).
#[must_use]
pub fn spurious_limit(rto: f64, rate: f64) -> f64 {
    rto * rate
}

/// The sawtooth of N synchronised flows that only answer marks: the receiver's response to ECN without
/// the scheduler (RCC §5.2, after Alizadeh et al., SIGCOMM 2010, §3.3).
///
/// The queue reaches K when each window is `W* = (C*RTT + K) / N`. The mark needs half a round trip to
/// the receiver, which decides; a sender that decides needs a whole one. Until then each window grows
/// by half a packet, so that a period marks `((W* + 1/2)^2 - W*^2) / 2` packets of the
/// `((W* + 1/2)^2 - (W* + 1/2)^2 (1 - alpha/2)^2) / 2` it sends. Their ratio is alpha itself, which
/// gives `alpha^2 (1 - alpha/4) = (W* + 1/4) / (W* + 1/2)^2`, nearly `1 / W*`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EcnSawtooth {
    /// Rate of the bottleneck, packets/s.
    pub rate: f64,
    /// Round trip without queueing, s.
    pub rtt: f64,
    /// Marking threshold, packets.
    pub threshold: f64,
    /// Number of flows.
    pub flows: f64,
}

impl EcnSawtooth {
    /// Window of each flow when the queue reaches the threshold, in packets.
    #[must_use]
    pub fn window(&self) -> f64 {
        self.held() / self.flows
    }

    /// Share of packets marked, to first order in `1 / W*`.
    #[must_use]
    pub fn alpha(&self) -> f64 {
        (1.0 / self.window()).sqrt().min(1.0)
    }

    /// Height of the sawtooth of the queue in packets: `alpha/2` of the windows of all flows together.
    #[must_use]
    pub fn amplitude(&self) -> f64 {
        0.5 * (self.flows * self.held()).sqrt()
    }

    /// Period of the sawtooth in round trips: windows regain a packet in each.
    #[must_use]
    pub fn period(&self) -> f64 {
        0.5 * (self.held() / self.flows).sqrt()
    }

    /// Longest queue in packets: what N windows grow in half a round trip comes on top of K.
    #[must_use]
    pub fn max_queue(&self) -> f64 {
        self.threshold + self.flows / 2.0
    }

    /// Shortest queue in packets; below zero the link falls idle.
    #[must_use]
    pub fn min_queue(&self) -> f64 {
        self.max_queue() - self.amplitude()
    }

    /// Packets in the path and the queue when the queue reaches the threshold.
    fn held(&self) -> f64 {
        self.rate * self.rtt + self.threshold
    }
}

/// Least marking threshold in packets at which the link stays busy whatever the number of flows.
///
/// The shortest queue is least for `N = (C*RTT + K) / 4`, where it is `K - (C*RTT + K) / 8`: above zero
/// if `K > C*RTT / 7` (RCC §5.2; DCTCP's analysis ends in the same bound).
#[must_use]
pub fn least_threshold(rate: f64, rtt: f64) -> f64 {
    rate * rtt / 7.0
}

/// Time from the common start until the last of `flows` equal flows of `size` bytes completes on a link
/// that never falls idle: their bytes in segments of `mss`, and one flow's more for the time the first
/// window takes to open (RCC §5.3).
#[must_use]
pub fn ideal_completion(flows: f64, size: f64, mss: f64, rate: f64) -> f64 {
    (flows * size + size) / (mss * rate)
}

/// When the `rank`-th of equal flows completes if those before it are served first, in rounds of
/// `max_queue` flows that share the link: the groups of RCC Fig. 7(c).
///
/// With priority by remaining size, flows that have begun come before flows that have not, and no more
/// than `max_queue` of them fit into the budget at one segment each. A group ends together, when the
/// segments of its flows and of all earlier groups have passed the bottleneck.
#[must_use]
pub fn prioritised_completion(
    rank: f64,
    flows: f64,
    segments: f64,
    max_queue: f64,
    rate: f64,
) -> f64 {
    let served = ((rank / max_queue).ceil() * max_queue).min(flows);
    served * segments / rate
}

fn answer(parameters: &Parameters) -> Result<Answer, NoAnswer> {
    check(parameters)?;
    let packet = u64::from(parameters.packet.0);
    let packets = |size: WireSize| real(size.in_bytes(packet)) / real(packet);
    let mss = u64::from(parameters.mss.0);
    let size = real(parameters.size.in_bytes(mss));
    let incast = Incast {
        ecn: EcnSawtooth {
            rate: crate::number::bits(parameters.rate) / 8.0 / real(packet),
            rtt: parameters.rtt.as_secs(),
            threshold: packets(parameters.ecn_threshold),
            flows: f64::from(parameters.senders.0),
        },
        budget: packets(parameters.max_queue),
        rto: parameters.rto.as_secs(),
        size,
        mss: real(mss),
        segments: libm::ceil(size / real(mss)),
    };
    let rows = incast.rows().map(|(what, value, unit, source)| {
        let cells = vec![value.into(), unit.into(), source.into()];
        (what.to_owned(), cells)
    });
    Ok(Answer {
        tables: vec![AnswerTable {
            name: "closed forms",
            case: "quantity",
            columns: columns([("value", ""), ("unit", ""), ("source", "")]),
            rows: rows.to_vec(),
        }],
        notes: vec![
            "The window to the shortest queue are those of flows that answer marks without the scheduler; \
             groups are those of equal flows with priorities."
                .into(),
        ],
        charts: vec![sawtooth_chart(incast.ecn), groups_chart(&incast)],
    })
}

/// Equal flows to one receiver.
struct Incast {
    ecn: EcnSawtooth,
    /// Packets that may be in flight.
    budget: f64,
    /// Least timeout in s.
    rto: f64,
    /// Bytes of a flow.
    size: f64,
    mss: f64,
    /// Packets of a flow.
    segments: f64,
}

impl Incast {
    /// Every closed form: what, how much, of what unit, from where.
    fn rows(&self) -> [(&'static str, f64, &'static str, &'static str); 13] {
        let ecn = &self.ecn;
        let EcnSawtooth {
            rate, rtt, flows, ..
        } = *ecn;
        let (budget, section) = (self.budget, "section 5.2");
        let ideal = ideal_completion(flows, self.size, self.mss, rate) * 1e3;
        let waiting = pending_acks(flows, budget);
        let least = least_threshold(rate, rtt);
        let may_wait = spurious_limit(self.rto, rate);
        let (first, last) = (self.completion(1.0), self.completion(flows));
        [
            (
                "steady queue",
                steady_queue(budget, rate, rtt),
                "packets",
                "eq. 4",
            ),
            ("ACKs that wait", waiting, "ACKs", "eq. 6"),
            (
                "ACKs that may wait before a timeout",
                may_wait,
                "ACKs",
                "eq. 7",
            ),
            ("window at the threshold", ecn.window(), "packets", section),
            ("share of packets marked", ecn.alpha() * 100.0, "%", section),
            (
                "height of the sawtooth",
                ecn.amplitude(),
                "packets",
                section,
            ),
            (
                "period of the sawtooth",
                ecn.period(),
                "round trips",
                section,
            ),
            ("longest queue", ecn.max_queue(), "packets", section),
            (
                "shortest queue",
                ecn.min_queue().max(0.0),
                "packets",
                section,
            ),
            ("least threshold for a busy link", least, "packets", section),
            (
                "first group of flows completes",
                first,
                "ms",
                "Alg. 1 and 2",
            ),
            ("last group of flows completes", last, "ms", "Alg. 1 and 2"),
            ("ideal completion", ideal, "ms", "section 5.3"),
        ]
    }

    /// When the flow of this rank completes, in ms.
    fn completion(&self, rank: f64) -> f64 {
        let EcnSawtooth { rate, flows, .. } = self.ecn;
        1e3 * prioritised_completion(rank, flows, self.segments, self.budget, rate)
    }
}

/// The sawtooth against the number of flows.
fn sawtooth_chart(ecn: EcnSawtooth) -> Chart {
    let most = (2.0 * ecn.flows).max(40.0);
    let curve = |label: &str, of: fn(&EcnSawtooth) -> f64| {
        let flows = (0_u32..=200).map(|place| 1.0 + f64::from(place) / 200.0 * (most - 1.0));
        let points = flows.map(|flows| (flows, of(&EcnSawtooth { flows, ..ecn }).max(0.0)));
        Curve::line(label, points.collect())
    };
    Chart {
        name: "sawtooth",
        title: "Queue of synchronised flows that answer marks",
        caption: "Without the scheduler (section 5.2); where the shortest queue is 0 the link falls idle."
            .into(),
        x: ChartAxis::new("Flows", ""),
        y: ChartAxis::new("Queue", "packets"),
        curves: vec![
            curve("longest", EcnSawtooth::max_queue),
            curve("shortest", EcnSawtooth::min_queue),
        ],
    }
}

/// When each flow completes if short rests go first.
fn groups_chart(incast: &Incast) -> Chart {
    let flows = incast.ecn.flows;
    let ranks = (1_u32..).map(f64::from).take_while(|rank| *rank <= flows);
    let mut points = vec![(0.0, 0.0)];
    for rank in ranks {
        let at = incast.completion(rank);
        let before = points[points.len() - 1].1;
        points.push((at, before));
        points.push((at, rank / flows * 100.0));
    }
    Chart {
        name: "groups",
        title: "Completion of equal flows under RCC",
        caption:
            "With priorities by remaining size, as the groups of Fig. 7(c); time from the start."
                .into(),
        x: ChartAxis::new("Completion time", "ms"),
        y: ChartAxis::new("Flows completed", "%"),
        curves: vec![Curve::line("flows", points)],
    }
}

/// Settings for which the equations mean something.
fn check(parameters: &Parameters) -> Result<(), NoAnswer> {
    let (packet, mss) = (parameters.packet.0.into(), parameters.mss.0.into());
    for (key, size) in [
        ("rcc.max_queue", parameters.max_queue.in_bytes(packet)),
        ("rcc.size", parameters.size.in_bytes(mss)),
    ] {
        if size == 0 {
            let message = "nothing of it is no setting to compute with";
            return Err(NoAnswer::new(key, message, "choose a size above 0"));
        }
    }
    if parameters.senders.0 > MOST_FLOWS {
        let message = format!("more than {MOST_FLOWS} flows cannot be drawn");
        return Err(NoAnswer::new("rcc.senders", message, "choose fewer"));
    }
    Ok(())
}

/// Points of a figure.
const MOST_FLOWS: u32 = 100_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::AnswerCell;

    /// §6.1: 1 Gbit/s, 1,500-byte packets, four links of 40 us, K = 40.
    const RATE: f64 = 1e9 / 12_000.0;
    const RTT: f64 = 160e-6;

    fn ecn(flows: f64) -> EcnSawtooth {
        EcnSawtooth {
            rate: RATE,
            rtt: RTT,
            threshold: 40.0,
            flows,
        }
    }

    #[test]
    fn the_answer_holds_the_numbers_of_the_paper() {
        let answer = (MODEL.answer)(&|key| Parameters::default_text(key).to_owned()).unwrap();
        let value = |what: &str| {
            let row = answer.tables[0].rows.iter().find(|(case, _)| case == what);
            match row.unwrap().1[0] {
                AnswerCell::Number(value) => value,
                AnswerCell::Text(_) => panic!("{what} is no number"),
            }
        };
        assert_close(value("steady queue"), 40.0 - 40.0 / 3.0);
        assert_close(value("ACKs that wait"), 50.0);
        // 40 and 90 flows of 23 packets of 12 us.
        assert_close(value("first group of flows completes"), 11.04);
        assert_close(value("last group of flows completes"), 24.84);
        let refused = |key: &str, text: &str| {
            let set = |name: &str| {
                let text = if name == key {
                    text
                } else {
                    Parameters::default_text(name)
                };
                text.to_owned()
            };
            (MODEL.answer)(&set).unwrap_err().key
        };
        assert_eq!(refused("rcc.max_queue", "0pkt"), "rcc.max_queue");
        assert_eq!(refused("rcc.size", "0B"), "rcc.size");
        assert_eq!(refused("rcc.senders", "1000000"), "rcc.senders");
    }

    fn assert_close(left: f64, right: f64) {
        assert!((left - right).abs() < 1e-9 * right.abs(), "{left} {right}");
    }

    // Clauses: RCC-eq4
    #[test]
    fn steady_queue_is_the_budget_less_the_path() {
        // 83,333 packets/s for 160 us are 13.3 packets.
        assert_close(steady_queue(40.0, RATE, RTT), 40.0 - 40.0 / 3.0);
        assert_close(1.0 + steady_queue(10.0, RATE, RTT), 1.0);
    }

    // Clauses: RCC-eq6, RCC-eq7
    #[test]
    fn acks_wait_beyond_the_budget_and_are_repeated_beyond_a_timeout() {
        assert_close(pending_acks(90.0, 40.0), 50.0);
        assert_close(1.0 + pending_acks(40.0, 40.0), 1.0);
        // 10 ms of packets of 12 us: with a budget of 40 packets up to 873 senders.
        assert_close(spurious_limit(10e-3, RATE), 10e-3 / 12e-6);
        assert!(pending_acks(873.0, 40.0) < spurious_limit(10e-3, RATE));
        assert!(pending_acks(874.0, 40.0) > spurious_limit(10e-3, RATE));
    }

    // Clauses: RCC-5.2-amplitude
    #[test]
    fn sawtooth_of_the_paper_is_above_4_packets_and_about_one_round_trip() {
        // C*RTT + K = 160/3 packets. §5.2: A_r above 4 packets from two flows on, T_c about 1 RTT:
        // exactly one for a quarter of 160/3 flows.
        for flows in [2.0, 10.0, 40.0] {
            assert!(ecn(flows).amplitude() > 4.0);
        }
        assert_close(ecn(40.0 / 3.0).period(), 1.0);
        assert_close(ecn(40.0 / 3.0).amplitude(), 40.0 / 3.0);
        assert_close(ecn(10.0).max_queue(), 45.0);
    }

    // Clauses: RCC-5.2-alpha
    #[test]
    fn alpha_solves_the_ratio_of_marked_packets() {
        // The equation in the documentation of `EcnSawtooth`, by bisection, against its first-order solution:
        // the relative difference vanishes with 1/sqrt(W*).
        for flows in [0.01, 0.1, 1.0] {
            let model = ecn(flows);
            let window = model.window();
            let target = (window + 0.25) / ((window + 0.5) * (window + 0.5));
            let (mut low, mut high) = (0.0_f64, 1.0_f64);
            for _ in 0..60 {
                let middle = f64::midpoint(low, high);
                if middle * middle * (1.0 - middle / 4.0) < target {
                    low = middle;
                } else {
                    high = middle;
                }
            }
            let error = (low / model.alpha() - 1.0).abs();
            assert!(error < 0.25 * model.alpha(), "{flows}: {error}");
            // Height and period follow from it: N flows lose alpha/2 of W*, and regain 1 per RTT.
            assert_close(model.amplitude(), flows * window * model.alpha() / 2.0);
            assert_close(model.period(), window * model.alpha() / 2.0);
        }
    }

    // Clauses: RCC-5.2-threshold
    #[test]
    fn least_threshold_keeps_the_shortest_queue_at_zero() {
        let threshold = least_threshold(RATE, RTT);
        let held = RATE * RTT + threshold;
        let shortest = |flows: f64| {
            EcnSawtooth {
                rate: RATE,
                rtt: RTT,
                threshold,
                flows,
            }
            .min_queue()
        };
        assert!(shortest(held / 4.0).abs() < 1e-9);
        assert!(shortest(held / 3.0) > 0.0);
        assert!(shortest(held / 5.0) > 0.0);
    }

    #[test]
    fn ninety_flows_end_in_the_two_groups_of_figure_7c() {
        // 32 KiB are 23 segments: 40 * 23 * 12 us = 11.04 ms, 90 * 23 * 12 us = 24.84 ms; with the start
        // at 10 ms near the 20 and 33 ms of the figure.
        assert_close(
            prioritised_completion(1.0, 90.0, 23.0, 40.0, RATE),
            11.04e-3,
        );
        assert_close(
            prioritised_completion(40.0, 90.0, 23.0, 40.0, RATE),
            11.04e-3,
        );
        assert_close(
            prioritised_completion(90.0, 90.0, 23.0, 40.0, RATE),
            24.84e-3,
        );
        // 91 flows of 32,768 bytes at 1,446 bytes per 12 us.
        assert_close(
            ideal_completion(90.0, 32_768.0, 1446.0, RATE),
            91.0 * 32_768.0 / 1446.0 * 12e-6,
        );
    }
}
