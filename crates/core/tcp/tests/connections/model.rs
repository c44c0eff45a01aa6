//! Two endpoints over a channel that loses, repeats, delays and marks, in random order.
//!
//! After every operation the invariants hold; when the losses stop everything written arrives exactly
//! once and both sides end. A failure prints the shortest list of operations that proptest finds; put
//! it into `Model::run` to repeat it.

use std::collections::VecDeque;

use base::{Ecn, FlowId, HostId, Packet, Seq, Span, TcpFlags, Time};
use proptest::prelude::*;
use tcp::{
    Ack, AfterSynLoss, Config, EcnMode, Endpoint, Established, Growth, Identity, IdleWindow, Loss,
    LossDetection, NewReno, Recovery, Restart, RtoEstimator, SegmentCc, SendBufferSize, SenderCc,
    SsthreshOf, State, TailLossProbe,
};

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2500,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn everything_written_arrives_once_whatever_the_channel_does(
        settings in [settings(), settings()],
        intervals in [interval(), interval()],
        operations in prop::collection::vec(operation(), 0..150),
    ) {
        Model::run(Opening::Client, &(settings, intervals), &operations);
    }

    #[test]
    fn everything_written_arrives_once_if_both_sides_open_at_once(
        settings in [settings(), settings()],
        intervals in [interval(), interval()],
        operations in prop::collection::vec(operation(), 0..150),
    ) {
        Model::run(Opening::Simultaneous, &(settings, intervals), &operations);
    }
}

/// NewReno, as it is or with a time between any two segments with data.
struct Paced {
    reno: NewReno,
    interval: Option<Span>,
    /// When the next segment with data may leave.
    next: Time,
}

impl SenderCc for Paced {
    fn window(&self) -> u64 {
        self.reno.window()
    }

    fn on_established(&mut self, handshake: &Established) {
        self.reno.on_established(handshake);
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.reno.on_ack(ack);
    }

    fn on_loss(&mut self, loss: Loss, in_flight: u64, now: Time) {
        self.reno.on_loss(loss, in_flight, now);
    }

    fn on_recovered(&mut self, limit: Option<u64>) {
        self.reno.on_recovered(limit);
    }

    fn on_undo(&mut self) {
        self.reno.on_undo();
    }

    fn on_idle(&mut self, restart: Restart) {
        self.reno.on_idle(restart);
    }

    fn as_segment_cc(&mut self) -> Option<&mut dyn SegmentCc> {
        Some(self)
    }
}

impl SegmentCc for Paced {
    fn on_send(&mut self, packet: &mut Packet, now: Time) {
        if let Some(interval) = self.interval
            && packet.payload > 0
        {
            // A probe of a closed window has one byte and does not wait.
            assert!(
                now >= self.next || packet.payload == 1,
                "{packet:?} left early"
            );
            self.next = now + interval;
        }
    }

    fn pacing(&self) -> Option<Time> {
        self.interval.map(|_| self.next)
    }
}

/// Half of the senders pace.
fn interval() -> impl Strategy<Value = Option<Span>> {
    prop::option::of((1..1000_u64).prop_map(Span::from_micros))
}

/// Who sends a SYN.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Opening {
    Client,
    Simultaneous,
}

/// One of the two endpoints.
type Side = usize;

/// What happens next. Packets are chosen by their place in the channel.
#[derive(Clone, Copy, Debug)]
enum Operation {
    Write(Side, u64),
    /// Arrivals, oldest first.
    Deliver(Side, usize),
    /// A younger packet overtakes.
    Overtake(Side, usize),
    Drop(Side, usize),
    /// Everything on its way is lost.
    Blackout(Side),
    Duplicate(Side, usize),
    Mark(Side, usize),
    Advance(Span),
    /// The application of a side stops or resumes reading.
    Reading(Side, bool),
    Read(Side, u64),
    Close(Side),
}

fn operation() -> impl Strategy<Value = Operation> {
    let side = || 0..2_usize;
    prop_oneof![
        4 => (side(), 1..30_000_u64).prop_map(|(s, bytes)| Operation::Write(s, bytes)),
        12 => (side(), 1..12_usize).prop_map(|(s, n)| Operation::Deliver(s, n)),
        3 => (side(), 1..6_usize).prop_map(|(s, n)| Operation::Overtake(s, n)),
        4 => (side(), 0..8_usize).prop_map(|(s, n)| Operation::Drop(s, n)),
        1 => side().prop_map(Operation::Blackout),
        2 => (side(), 0..8_usize).prop_map(|(s, n)| Operation::Duplicate(s, n)),
        2 => (side(), 0..8_usize).prop_map(|(s, n)| Operation::Mark(s, n)),
        6 => (1..400_u64).prop_map(|ms| Operation::Advance(Span::from_millis(ms))),
        1 => (1..5_000_u64).prop_map(|ms| Operation::Advance(Span::from_millis(ms))),
        2 => (side(), any::<bool>()).prop_map(|(s, reading)| Operation::Reading(s, reading)),
        2 => (side(), 1..5_000_u64).prop_map(|(s, bytes)| Operation::Read(s, bytes)),
        1 => side().prop_map(Operation::Close),
    ]
}

/// Settings of one side and the number of its SYN.
fn settings() -> impl Strategy<Value = (Config, Seq)> {
    let options = (any::<bool>(), any::<bool>(), prop::option::of(0..3_u8));
    let ecn = prop_oneof![
        Just(EcnMode::Off),
        Just(EcnMode::Classic),
        Just(EcnMode::Accurate)
    ];
    let numbers = (536..1461_u16, 1..11_u32, 1..3_u32, 1..4_u32);
    let buffer = prop_oneof![1_500..10_000_u64, 10_000..100_000_u64];
    let config = (options, ecn, numbers, buffer, mechanisms()).prop_map(
        |((sack, limited_transmit, window_scale), ecn, numbers, receive_buffer, mechanisms)| {
            let (mss, initial_window, byte_counting_limit, delayed_ack) = numbers;
            Config {
                mss,
                initial_window,
                byte_counting_limit,
                sack,
                limited_transmit,
                delayed_ack,
                receive_buffer,
                window_scale,
                ecn,
                // Patience: every loss is survived, and nothing is forgotten before the end.
                max_rto: Span::from_secs(2),
                syn_retries: u32::MAX,
                syn_ack_retries: u32::MAX,
                retries: u32::MAX,
                time_wait: Span::from_secs(1_000_000),
                ..mechanisms
            }
        },
    );
    // Half of the connections cross the wrap.
    (config, (any::<bool>(), any::<u16>())).prop_map(|(config, (wraps, offset))| {
        let base = if wraps { u32::MAX - 60_000 } else { 1 };
        (config, Seq(base.wrapping_add(u32::from(offset))))
    })
}

/// Mechanisms of current stacks, each present or not: nothing else of these settings counts.
fn mechanisms() -> impl Strategy<Value = Config> {
    let probe = prop_oneof![
        Just(TailLossProbe::Off),
        Just(TailLossProbe::Rfc8985),
        Just(TailLossProbe::Linux)
    ];
    let share = prop_oneof![
        Just(SsthreshOf::Flight),
        Just(SsthreshOf::Window),
        Just(SsthreshOf::Pipe)
    ];
    let flags = (0..1024_u32, any::<bool>());
    (probe, share, flags, 0..20_u32).prop_map(|(probe, share, (bits, none), quick_acks)| {
        let bits = if none { 0 } else { bits };
        let has = |bit: u32| bits >> bit & 1 == 1;
        Config {
            loss_detection: if has(0) {
                LossDetection::Rack
            } else {
                LossDetection::DupAcks
            },
            recovery: if has(1) {
                Recovery::Prr
            } else {
                Recovery::Rfc6675
            },
            rto_estimator: if has(2) {
                RtoEstimator::Linux
            } else {
                RtoEstimator::Rfc6298
            },
            tail_loss_probe: if none { TailLossProbe::Off } else { probe },
            ssthresh_of: share,
            timer_slack: Span::from_millis(2 * u64::from(has(3))),
            timestamps: has(4),
            keep_scoreboard: has(5),
            frto: has(6),
            undo: has(7),
            dsack: has(8),
            tick: Span::from_millis(u64::from(has(9))),
            after_syn_loss: if has(2) {
                AfterSynLoss::Linux
            } else {
                AfterSynLoss::Rfc5681
            },
            idle_window: if has(7) {
                IdleWindow::Halves
            } else {
                IdleWindow::Initial
            },
            growth: if has(3) {
                Growth::Delivery
            } else {
                Growth::Acks
            },
            quick_acks,
            send_buffer: (!none && quick_acks % 3 == 1).then_some(SendBufferSize {
                least: 4_000,
                most: 16_000,
            }),
            go_back_n: quick_acks % 5 == 4,
            ..Config::default()
        }
    })
}

/// Of both sides: settings with the number of the SYN, and the time between segments.
type Settings = ([(Config, Seq); 2], [Option<Span>; 2]);

/// Both sides, and what is on its way to each of them.
struct Model {
    sides: [Peer; 2],
    now: Time,
}

struct Peer {
    endpoint: Endpoint<Paced>,
    /// Packets on their way to this side.
    incoming: VecDeque<Packet>,
    written: u64,
    closed: bool,
    /// One past the last offset it has ever allowed the other side.
    allowed: u64,
    /// What had been received, acknowledged and sent when the invariants were last checked.
    seen: (u64, u64, u64),
}

impl Model {
    fn run(opening: Opening, settings: &Settings, operations: &[Operation]) {
        let mut model = Self::new(opening, settings);
        for operation in operations {
            model.apply(*operation);
            model.invariants();
        }
        model.settle();
    }

    fn new(opening: Opening, (settings, intervals): &Settings) -> Self {
        let peer = |side: u32| {
            let (config, initial_seq) = settings[side as usize];
            let identity = Identity {
                flow: FlowId(0),
                local: HostId(side),
                remote: HostId(1 - side),
                initial_seq,
            };
            let cc = Paced {
                reno: NewReno::new(&config),
                interval: intervals[side as usize],
                next: Time::ZERO,
            };
            Peer {
                endpoint: Endpoint::new(identity, config, cc),
                incoming: VecDeque::new(),
                written: 0,
                closed: false,
                allowed: 1,
                seen: (0, 0, 0),
            }
        };
        let mut model = Self {
            sides: [peer(0), peer(1)],
            now: Time::ZERO,
        };
        model.sides[0].endpoint.connect();
        match opening {
            Opening::Client => model.sides[1].endpoint.listen(),
            Opening::Simultaneous => model.sides[1].endpoint.connect(),
        }
        model.flush(0);
        model.flush(1);
        model
    }

    fn apply(&mut self, operation: Operation) {
        match operation {
            Operation::Write(side, bytes) if !self.sides[side].closed => {
                self.sides[side].written += bytes;
                self.sides[side].endpoint.write(bytes);
                self.flush(side);
            }
            Operation::Deliver(side, count) => {
                for _ in 0..count {
                    self.deliver(side, 0);
                }
            }
            Operation::Overtake(side, place) => self.deliver(side, place),
            Operation::Drop(side, place) => {
                self.sides[side].incoming.remove(place);
            }
            Operation::Blackout(side) => self.sides[side].incoming.clear(),
            Operation::Duplicate(side, place) => {
                let incoming = &mut self.sides[side].incoming;
                incoming.extend(incoming.get(place).copied());
            }
            Operation::Mark(side, place) => {
                if let Some(packet) = self.sides[side].incoming.get_mut(place)
                    && packet.ecn == Ecn::Capable
                {
                    packet.ecn = Ecn::Marked;
                }
            }
            Operation::Advance(span) => self.advance_to(self.now + span),
            Operation::Reading(side, reading) => {
                self.sides[side].endpoint.set_reading(reading);
                self.flush(side);
            }
            Operation::Read(side, bytes) => {
                self.sides[side].endpoint.read(bytes);
                self.flush(side);
            }
            // A listener that closes is gone; that is another story.
            Operation::Close(side) if self.sides[side].endpoint.state() != State::Listen => {
                self.close(side);
            }
            Operation::Write(..) | Operation::Close(_) => {}
        }
    }

    fn close(&mut self, side: Side) {
        if !self.sides[side].closed {
            self.sides[side].closed = true;
            self.sides[side].endpoint.close();
            self.flush(side);
        }
    }

    fn deliver(&mut self, side: Side, place: usize) {
        if let Some(packet) = self.sides[side].incoming.remove(place) {
            let progress = self.sides[side].endpoint.on_segment(&packet, self.now);
            assert!(progress.aborted.is_none(), "{packet:?} reset side {side}");
            self.flush(side);
        }
    }

    /// Whatever a side has to send is on its way.
    fn flush(&mut self, side: Side) {
        let endpoint = &mut self.sides[side].endpoint;
        let mut sent = Vec::new();
        let mut allowed = 1;
        while let Some(packet) = endpoint
            .poll(self.now)
            .or_else(|| endpoint.due_ack(self.now))
        {
            if let Some(ack) = endpoint.acknowledgement_in(&packet) {
                allowed = allowed.max(ack.ack + ack.window);
            } else if packet.flags.has(TcpFlags::SYN) {
                allowed = allowed.max(1 + u64::from(packet.window));
            }
            sent.push(packet);
            assert!(sent.len() < 1000, "side {side} does not stop sending");
        }
        self.sides[side].allowed = self.sides[side].allowed.max(allowed);
        self.sides[1 - side].incoming.extend(sent);
    }

    fn deadline(&self) -> Time {
        let deadlines = self.sides.iter().map(|side| side.endpoint.deadline());
        deadlines.min().expect("two sides")
    }

    fn advance_to(&mut self, target: Time) {
        while self.deadline() <= target {
            self.now = self.now.max(self.deadline());
            for side in 0..2 {
                if self.sides[side].endpoint.deadline() <= self.now {
                    let progress = self.sides[side].endpoint.on_deadline(self.now);
                    assert!(progress.aborted.is_none(), "side {side} gave up");
                    self.flush(side);
                }
            }
        }
        self.now = target;
    }

    fn invariants(&mut self) {
        for side in 0..2 {
            let (this, other) = (&self.sides[side], &self.sides[1 - side]);
            let endpoint = &this.endpoint;
            // Conservation: nothing arrives that was not written, nothing is acknowledged that has not
            // arrived, and nothing of it is taken back.
            assert!(endpoint.received() <= other.written, "side {side}");
            assert!(
                endpoint.acknowledged() <= other.endpoint.received(),
                "side {side}"
            );
            let seen = (
                endpoint.received(),
                endpoint.acknowledged(),
                endpoint.highest_sent(),
            );
            assert!(
                seen.0 >= this.seen.0 && seen.1 >= this.seen.1 && seen.2 >= this.seen.2,
                "side {side}: {:?} became {seen:?}",
                this.seen
            );
            // SND.UNA <= SND.NXT <= SND.MAX, and no data beyond what the peer has ever allowed; the FIN
            // needs no room.
            assert!(endpoint.acknowledged() + endpoint.in_flight() <= endpoint.highest_sent());
            let data_sent = endpoint.highest_sent().min(1 + this.written);
            assert!(
                data_sent <= other.allowed.max(1),
                "side {side}: {data_sent}"
            );
            assert!(endpoint.cc().window() >= endpoint.mss(), "side {side}");
            // Whatever is outstanding is watched over.
            if endpoint.in_flight() > 0 && !endpoint.is_ended() {
                assert!(
                    endpoint.deadline() < Time::NEVER,
                    "side {side} would wait for ever"
                );
            }
            self.sides[side].seen = seen;
        }
    }

    /// From now on nothing is lost, everybody reads, and both sides close.
    fn settle(&mut self) {
        // The one who answers has to be open before it can close.
        for _ in 0..20_000 {
            for side in 0..2 {
                if self.sides[side].endpoint.state() != State::Listen {
                    self.sides[side].endpoint.set_reading(true);
                    self.sides[side].endpoint.read(u64::MAX);
                    self.close(side);
                    self.flush(side);
                }
                for _ in 0..self.sides[side].incoming.len() {
                    self.deliver(side, 0);
                    self.invariants();
                }
            }
            if self.sides.iter().all(|side| side.incoming.is_empty()) {
                if self.sides.iter().all(|side| side.endpoint.is_ended()) {
                    return self.expect_everything_delivered();
                }
                let deadline = self.deadline();
                assert!(deadline < Time::NEVER, "nothing will ever happen again");
                self.advance_to(deadline);
            } else {
                self.advance_to(self.now + Span::from_millis(1));
            }
        }
        let states = [0, 1].map(|side| self.sides[side].endpoint.state());
        panic!("no end in sight: {states:?}");
    }

    fn expect_everything_delivered(&self) {
        for side in 0..2 {
            let (this, other) = (&self.sides[side], &self.sides[1 - side]);
            assert_eq!(
                this.endpoint.received(),
                other.written,
                "side {side} received"
            );
            assert_eq!(
                this.endpoint.acknowledged(),
                this.written,
                "side {side} acknowledged"
            );
        }
    }
}

/// Marks that are echoed while a timeout is repaired reduce nothing; the first one afterwards came with the
/// update of a window that had closed, when nothing was outstanding. Proportional reduction then allowed what
/// was in the network: nothing, for ever.
#[test]
fn a_mark_echoed_by_a_window_update_does_not_stop_a_connection() {
    use Operation::{Advance, Blackout, Deliver, Drop, Overtake, Reading, Write};
    let config = Config {
        mss: 1155,
        sack: true,
        limited_transmit: false,
        ecn: EcnMode::Classic,
        byte_counting_limit: 1,
        window_scale: None,
        max_rto: Span::from_secs(2),
        ..Config::default()
    };
    let sender = Config {
        initial_window: 4,
        delayed_ack: 2,
        receive_buffer: 2310,
        tail_loss_probe: TailLossProbe::Rfc8985,
        timer_slack: Span::from_millis(2),
        recovery: Recovery::Prr,
        ssthresh_of: SsthreshOf::Pipe,
        keep_scoreboard: true,
        frto: true,
        quick_acks: 1,
        rto_estimator: RtoEstimator::Linux,
        growth: Growth::Segments,
        ..config
    };
    let receiver = Config {
        initial_window: 1,
        delayed_ack: 1,
        receive_buffer: 6930,
        ..config
    };
    let settings = [(sender, Seq(1)), (receiver, Seq(1))];
    let operations = [
        Deliver(1, 1),
        Deliver(0, 1),
        Write(0, 11_551),
        Overtake(1, 4),
        Deliver(0, 2),
        Drop(0, 0),
        Blackout(1),
        Write(1, 1_156),
        Advance(Span::from_secs(3)),
        Deliver(1, 4),
        Deliver(0, 6),
        Deliver(1, 2),
        Operation::Mark(1, 3),
        Deliver(1, 4),
        Reading(1, false),
        Deliver(0, 5),
        Deliver(1, 3),
        Deliver(0, 2),
        Deliver(1, 2),
    ];
    Model::run(Opening::Client, &(settings, [None, None]), &operations);
}
