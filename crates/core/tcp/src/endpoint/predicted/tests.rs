//! The short way and the general way, beside each other.

use std::collections::VecDeque;

use base::{Ecn, FlowId, HostId, Seq, Span};
use proptest::prelude::*;

use super::*;
use crate::cc::{Ack, Delivery, DeliveryCc, Established, Loss, NewReno, SenderCc};
use crate::config::{
    Config, EcnMode, Growth, LossDetection, ReceiveWindow, Recovery, RtoEstimator, SendBufferSize,
    SsthreshOf, TailLossProbe,
};
use crate::endpoint::Identity;
use crate::restart::Restart;

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// The same happens to two connections, one of which takes the general way alone.
    #[test]
    fn what_is_expected_is_processed_as_any_other_segment(
        config in config(),
        operations in prop::collection::vec(operation(), 0..200),
    ) {
        compare(&config, Prediction::Plain, &operations)?;
    }

    /// The same with timestamps, a record, or both.
    #[test]
    fn with_timestamps_or_a_record_too(
        config in config_with_more(),
        operations in prop::collection::vec(operation(), 0..200),
    ) {
        compare(&config, Prediction::Full, &operations)?;
    }
}

fn compare(
    config: &Config,
    prediction: Prediction,
    operations: &[Operation],
) -> Result<(), TestCaseError> {
    let mut pairs = [true, false].map(|predicts| {
        let mut pair = Pair::established(config);
        for end in &mut pair.ends {
            assert_eq!(
                (end.state, end.prediction),
                (State::Established, prediction)
            );
            if !predicts {
                end.prediction = Prediction::Off;
            }
        }
        pair
    });
    for operation in operations {
        let [short, general] = pairs.each_mut().map(|pair| pair.apply(*operation));
        prop_assert_eq!(short, general, "after {:?}", operation);
    }
    Ok(())
}

/// NewReno, which remembers what it was told last.
#[derive(Debug)]
struct Listening {
    reno: NewReno,
    acks: u64,
    last: Option<Ack>,
    deliveries: u64,
    delivery: Option<Delivery>,
}

impl SenderCc for Listening {
    fn window(&self) -> u64 {
        self.reno.window()
    }

    fn on_established(&mut self, handshake: &Established) {
        self.reno.on_established(handshake);
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.acks += 1;
        self.last = Some(*ack);
        self.reno.on_ack(ack);
    }

    fn as_delivery_cc(&mut self) -> Option<&mut dyn DeliveryCc> {
        Some(self)
    }

    fn on_loss(&mut self, loss: Loss, in_flight: u64, now: Time) {
        self.reno.on_loss(loss, in_flight, now);
    }

    fn on_recovered(&mut self, limit: Option<u64>) {
        self.reno.on_recovered(limit);
    }

    fn on_idle(&mut self, restart: Restart) {
        self.reno.on_idle(restart);
    }
}

impl DeliveryCc for Listening {
    fn on_delivery(&mut self, delivery: &Delivery) {
        self.deliveries += 1;
        self.delivery = Some(*delivery);
    }
}

/// Two endpoints, and the packets on their way to each.
struct Pair {
    ends: [Endpoint<Listening>; 2],
    arriving: [VecDeque<Packet>; 2],
    /// Whether a side has closed, and writes nothing more.
    closed: [bool; 2],
    now: Time,
}

/// What happens next, to a side. Packets are chosen by their place on the way.
#[derive(Clone, Copy, Debug)]
enum Operation {
    Write(usize, u64),
    Deliver(usize, usize),
    Drop(usize, usize),
    Repeat(usize, usize),
    /// A mark of congestion, or of a scheme.
    Mark(usize, usize),
    Extend(usize, usize),
    Advance(Span),
    Read(usize, bool),
    Close(usize),
}

fn config() -> impl Strategy<Value = Config> {
    let ecn = prop_oneof![
        Just(EcnMode::Off),
        Just(EcnMode::Classic),
        Just(EcnMode::Accurate)
    ];
    (any::<bool>(), ecn, 1..=2_u32, any::<bool>(), any::<bool>()).prop_map(
        |(sack, ecn, delayed_ack, window_validation, narrow)| {
            let config = Config::default();
            let receive_buffer = if narrow { 9_000 } else { config.receive_buffer };
            Config {
                sack,
                window_validation,
                delayed_ack,
                receive_buffer,
                ecn,
                ..config
            }
        },
    )
}

/// Settings that need timestamps or a record, each of them or not.
fn config_with_more() -> impl Strategy<Value = Config> {
    let record = (
        prop_oneof![Just(LossDetection::Rack), Just(LossDetection::RackLinux)],
        prop_oneof![
            Just(TailLossProbe::Off),
            Just(TailLossProbe::Rfc8985),
            Just(TailLossProbe::Linux)
        ],
        prop_oneof![Just(Recovery::Rfc6675), Just(Recovery::Prr)],
        prop_oneof![
            Just(SsthreshOf::Flight),
            Just(SsthreshOf::Window),
            Just(SsthreshOf::Pipe)
        ],
        prop_oneof![
            Just(Growth::Acks),
            Just(Growth::Segments),
            Just(Growth::Delivery)
        ],
        any::<[bool; 4]>(),
    );
    let without_record = any::<[bool; 6]>();
    (config(), prop::option::of(record), without_record).prop_map(|(config, record, more)| {
        let [timestamps, grows, quick, delays, linux_rto, fast_retransmit] = more;
        let mut config = Config {
            timestamps: timestamps || record.is_none(),
            fast_retransmit,
            quick_acks: if quick { 16 } else { 0 },
            ..config
        };
        if grows {
            config.receive_window = ReceiveWindow::Grows;
        }
        if linux_rto {
            config.rto_estimator = RtoEstimator::Linux;
        }
        if let Some((detection, probe, recovery, ssthresh_of, growth, flags)) = record {
            let [keep_scoreboard, frto, undo, dsack] = flags;
            config = Config {
                sack: true,
                loss_detection: detection,
                tail_loss_probe: probe,
                recovery,
                ssthresh_of,
                growth,
                keep_scoreboard,
                frto,
                undo,
                dsack,
                send_buffer: (frto != undo).then_some(SendBufferSize {
                    least: 4_000,
                    most: 16_000,
                }),
                ..config
            };
            if delays {
                config.sack_delay = Span::from_millis(1);
            }
        }
        config
    })
}

fn operation() -> impl Strategy<Value = Operation> {
    let side = 0..2_usize;
    let place = 0..6_usize;
    prop_oneof![
        3 => (side.clone(), 1..20_000_u64).prop_map(|(side, bytes)| Operation::Write(side, bytes)),
        12 => side.clone().prop_map(|side| Operation::Deliver(side, 0)),
        2 => (side.clone(), place.clone()).prop_map(|(side, place)| Operation::Deliver(side, place)),
        1 => (side.clone(), place.clone()).prop_map(|(side, place)| Operation::Drop(side, place)),
        1 => (side.clone(), place.clone()).prop_map(|(side, place)| Operation::Repeat(side, place)),
        1 => (side.clone(), place.clone()).prop_map(|(side, place)| Operation::Mark(side, place)),
        1 => (side.clone(), place).prop_map(|(side, place)| Operation::Extend(side, place)),
        4 => (1..400_000_u64).prop_map(|us| Operation::Advance(Span::from_micros(us))),
        1 => (side.clone(), any::<bool>()).prop_map(|(side, reads)| Operation::Read(side, reads)),
        1 => side.prop_map(Operation::Close),
    ]
}

impl Pair {
    /// A connection.
    fn established(config: &Config) -> Self {
        let end = |local: u32, remote: u32| {
            let identity = Identity {
                flow: FlowId(7),
                local: HostId(local),
                remote: HostId(remote),
                // The sequence numbers of one side begin again soon.
                initial_seq: Seq(0_u32.wrapping_sub(local * 30_000)),
            };
            let cc = Listening {
                reno: NewReno::new(config),
                acks: 0,
                last: None,
                deliveries: 0,
                delivery: None,
            };
            Endpoint::new(identity, *config, cc)
        };
        let mut pair = Self {
            ends: [end(0, 1), end(1, 0)],
            arriving: [VecDeque::new(), VecDeque::new()],
            closed: [false; 2],
            now: Time::ZERO,
        };
        pair.ends[1].listen();
        pair.ends[0].connect();
        for side in [0, 1, 0] {
            pair.apply(Operation::Advance(Span::from_micros(50)));
            pair.apply(Operation::Deliver(1 - side, 0));
        }
        pair
    }

    /// What the operation has come to: everything there is, in words.
    fn apply(&mut self, operation: Operation) -> String {
        let mut progress = None;
        let chosen = |place: usize, packets: &VecDeque<Packet>| {
            packets.len().checked_sub(1).map(|last| place.min(last))
        };
        match operation {
            Operation::Write(side, bytes) if !self.closed[side] => {
                self.ends[side].write(bytes);
            }
            Operation::Deliver(side, place) => {
                if let Some(place) = chosen(place, &self.arriving[side])
                    && let Some(packet) = self.arriving[side].remove(place)
                {
                    progress = Some(self.ends[side].on_segment(&packet, self.now));
                }
            }
            Operation::Drop(side, place) => {
                self.arriving[side].remove(place);
            }
            Operation::Repeat(side, place) => {
                if let Some(packet) = self.arriving[side].get(place).copied() {
                    self.arriving[side].push_back(packet);
                }
            }
            Operation::Mark(side, place) => {
                if let Some(packet) = self.arriving[side].get_mut(place) {
                    packet.ecn = Ecn::Marked;
                }
            }
            Operation::Extend(side, place) => {
                if let Some(packet) = self.arriving[side].get_mut(place) {
                    packet.extension = Extension([1, 0, 0]);
                }
            }
            Operation::Advance(span) => self.now += span,
            Operation::Read(side, reads) => {
                self.ends[side].set_reading(reads);
                self.ends[side].read(if reads { u64::MAX } else { 0 });
            }
            Operation::Close(side) => {
                self.ends[side].close();
                self.closed[side] = true;
            }
            Operation::Write(..) => {}
        }
        for side in 0..2 {
            self.send(side);
        }
        let ends = ["Plain", "Full"]
            .iter()
            .fold(format!("{:?}", self.ends), |ends, prediction| {
                ends.replace(&format!("prediction: {prediction}"), "prediction: Off")
            });
        format!("{progress:?} {ends} {:?}", self.arriving)
    }

    /// Handles what is due, and sends what there is to send.
    fn send(&mut self, side: usize) {
        let (end, peer) = (&mut self.ends[side], &mut self.arriving[1 - side]);
        if end.deadline() <= self.now {
            end.on_deadline(self.now);
        }
        peer.extend(std::iter::from_fn(|| end.poll(self.now)));
        peer.extend(end.due_ack(self.now));
    }
}
