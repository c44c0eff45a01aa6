//! Senders and a receiving host under RCC over a channel that loses and marks, in random order.
//!
//! After every operation the budget holds; when the losses stop no ACK stays in the buffer queue, all
//! data arrives and the count of data in flight returns to zero.

use std::collections::VecDeque;

use base::{Ecn, FlowId, HostId, Packet, Rate, Seq, Span, Time};
use proptest::prelude::*;
use schemes::{Bundle, FlowInfo, HostInfo, Receiver, Roles, Sender, rcc};
use tcp::{Config, EcnMode, Endpoint, Host, Identity, Slot, Wire};

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_budget_holds_and_no_ack_is_held_for_ever(
        options in options(),
        flows in prop::collection::vec(flow(), 1..30),
        operations in prop::collection::vec(operation(), 0..150),
    ) {
        Model::new(options, &flows).run(&operations);
    }
}

// rcc §6: a grant that is lost, with its ACK or with its data, does not use up the budget for ever.
#[test]
fn a_lost_grant_is_granted_again() {
    let choice = Choice {
        max_queue: 1,
        priority: "remaining",
        merge_dupacks: "push",
        delayed_ack: 1,
    };
    let flow = FlowChoice {
        size: 10_000,
        known: true,
    };
    let syn_ack = [
        Operation::Open(0),
        Operation::Data(1),
        Operation::BlackoutAcks,
    ];
    let ack = [
        Operation::Open(0),
        Operation::Data(1),
        Operation::Acks(1),
        Operation::Data(1),
        Operation::BlackoutAcks,
    ];
    let data = [
        Operation::Open(0),
        Operation::Data(1),
        Operation::Acks(1),
        Operation::BlackoutData,
    ];
    for lost in [&syn_ack[..], &ack[..], &data[..]] {
        Model::new(choice, &[flow; 3]).run(lost);
    }
}

/// What a user may set.
#[derive(Clone, Copy, Debug)]
struct Choice {
    max_queue: u64,
    priority: &'static str,
    merge_dupacks: &'static str,
    delayed_ack: u32,
}

/// Bytes a flow sends, and whether its SYN tells.
#[derive(Clone, Copy, Debug)]
struct FlowChoice {
    size: u64,
    known: bool,
}

/// What happens next. Packets are chosen by their place in the channel.
#[derive(Clone, Copy, Debug)]
enum Operation {
    Open(usize),
    Data(usize),
    Acks(usize),
    DropData(usize),
    DropAck(usize),
    BlackoutData,
    BlackoutAcks,
    Mark(usize),
    Advance(Span),
}

fn options() -> impl Strategy<Value = Choice> {
    let priority = prop_oneof![3 => Just("remaining"), 1 => Just("fixed"), 1 => Just("off")];
    let merge = prop_oneof![Just("push"), Just("literal")];
    (1..41_u64, priority, merge, 1..4_u32).prop_map(
        |(max_queue, priority, merge_dupacks, delayed_ack)| Choice {
            max_queue,
            priority,
            merge_dupacks,
            delayed_ack,
        },
    )
}

fn flow() -> impl Strategy<Value = FlowChoice> {
    let size = prop_oneof![1..5_000_u64, 5_000..100_000_u64];
    (size, prop::bool::weighted(0.9)).prop_map(|(size, known)| FlowChoice { size, known })
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        4 => (0..30_usize).prop_map(Operation::Open),
        10 => (1..20_usize).prop_map(Operation::Data),
        10 => (1..20_usize).prop_map(Operation::Acks),
        2 => (0..20_usize).prop_map(Operation::DropData),
        2 => (0..20_usize).prop_map(Operation::DropAck),
        1 => Just(Operation::BlackoutData),
        1 => Just(Operation::BlackoutAcks),
        2 => (0..20_usize).prop_map(Operation::Mark),
        4 => (1..200_u64).prop_map(|us| Operation::Advance(Span::from_micros(us))),
        2 => (1..40_u64).prop_map(|ms| Operation::Advance(Span::from_millis(ms))),
    ]
}

const MSS: u16 = 1446;
const RECEIVER: HostId = HostId(0);

/// The senders, the receiving host, and what is on its way between them.
struct Model {
    senders: Vec<Peer>,
    host: Host<Sender, Receiver>,
    data: VecDeque<Packet>,
    acks: Outbox,
    now: Time,
}

struct Peer {
    endpoint: Endpoint<Sender>,
    size: u64,
    opened: bool,
    /// One past the highest offset that an ACK has ever allowed it.
    upper: u64,
}

/// The way back to the senders.
#[derive(Default)]
struct Outbox {
    packets: VecDeque<Packet>,
    /// Packets sent by the current event.
    fresh: Vec<Packet>,
}

impl Wire for Outbox {
    fn send(&mut self, packet: Packet) {
        self.packets.push_back(packet);
        self.fresh.push(packet);
    }

    fn arm(&mut self, _slot: Slot, _deadline: Time) {}
}

impl Model {
    fn new(choice: Choice, flows: &[FlowChoice]) -> Self {
        let roles = roles(choice);
        let config = Config {
            mss: MSS,
            initial_window: 1,
            sack: false,
            limited_transmit: false,
            delayed_ack: choice.delayed_ack,
            delayed_ack_timeout: Span::from_millis(1),
            min_rto: Span::from_millis(10),
            max_rto: Span::from_millis(500),
            initial_rto: Span::from_millis(10),
            syn_rto: Span::from_millis(10),
            syn_retries: u32::MAX,
            retries: u32::MAX,
            window_scale: None,
            ecn: EcnMode::Unechoed,
            time_wait: Span::from_secs(1_000_000),
            ..Config::default()
        };
        let receiver = roles.make_receiver(&HostInfo {
            rate: Rate::from_bps(1_000_000_000),
            mss: MSS,
            packet_bytes: 1500,
        });
        let mut model = Self {
            senders: Vec::new(),
            host: Host::new(receiver),
            data: VecDeque::new(),
            acks: Outbox::default(),
            now: Time::ZERO,
        };
        for (number, flow) in (0..).zip(flows) {
            let known = FlowInfo {
                size: flow.known.then_some(flow.size),
                config,
            };
            let identity = |local, remote| Identity {
                flow: FlowId(number),
                local,
                remote,
                initial_seq: Seq(number * 1000),
            };
            let name = HostId(1 + number);
            let cc = roles.make_sender(&known);
            model.senders.push(Peer {
                endpoint: Endpoint::new(identity(name, RECEIVER), config, cc),
                size: flow.size,
                opened: false,
                upper: 1,
            });
            let cc = roles.make_sender(&FlowInfo { size: None, config });
            let slot = model
                .host
                .add(Endpoint::new(identity(RECEIVER, name), config, cc));
            let Self {
                host, acks, now, ..
            } = &mut model;
            host.act(slot, Endpoint::listen, *now, acks);
        }
        model
    }

    fn run(mut self, operations: &[Operation]) {
        for operation in operations {
            self.apply(*operation);
        }
        self.settle();
    }

    fn apply(&mut self, operation: Operation) {
        match operation {
            Operation::Open(flow) => self.open(flow),
            Operation::Data(count) => {
                for _ in 0..count {
                    self.deliver_data();
                }
            }
            Operation::Acks(count) => {
                for _ in 0..count {
                    self.deliver_ack();
                }
            }
            Operation::DropData(place) => {
                self.data.remove(place);
            }
            Operation::DropAck(place) => {
                self.acks.packets.remove(place);
            }
            Operation::BlackoutData => self.data.clear(),
            Operation::BlackoutAcks => self.acks.packets.clear(),
            Operation::Mark(place) => {
                if let Some(packet) = self.data.get_mut(place)
                    && packet.ecn == Ecn::Capable
                {
                    packet.ecn = Ecn::Marked;
                }
            }
            Operation::Advance(span) => self.advance_to(self.now + span),
        }
    }

    fn open(&mut self, flow: usize) {
        if let Some(peer) = self.senders.get_mut(flow)
            && !peer.opened
        {
            peer.opened = true;
            peer.endpoint.write(peer.size);
            peer.endpoint.close();
            peer.endpoint.connect();
            self.flush(flow);
        }
    }

    fn deliver_data(&mut self) {
        if let Some(packet) = self.data.pop_front() {
            let slot = Slot(packet.flow.0);
            let progress = self.host.on_packet(slot, &packet, self.now, &mut self.acks);
            if progress.peer_finished {
                self.host
                    .act(slot, Endpoint::close, self.now, &mut self.acks);
            }
            self.invariants();
        }
    }

    fn deliver_ack(&mut self) {
        if let Some(packet) = self.acks.packets.pop_front() {
            let flow = packet.flow.0 as usize;
            let progress = self.senders[flow].endpoint.on_segment(&packet, self.now);
            assert!(!progress.aborted, "{packet:?} reset flow {flow}");
            self.flush(flow);
        }
    }

    fn flush(&mut self, flow: usize) {
        let endpoint = &mut self.senders[flow].endpoint;
        while let Some(packet) = endpoint
            .poll(self.now)
            .or_else(|| endpoint.due_ack(self.now))
        {
            self.data.push_back(packet);
        }
    }

    fn deadline(&self) -> Time {
        let senders = self.senders.iter().map(|peer| peer.endpoint.deadline());
        let receivers = self.host.endpoints().iter().map(Endpoint::deadline);
        let first = senders.chain(receivers).min().expect("at least one flow");
        first.min(self.host.role_deadline())
    }

    fn advance_to(&mut self, target: Time) {
        while self.deadline() <= target {
            self.now = self.now.max(self.deadline());
            for flow in 0..self.senders.len() {
                if self.senders[flow].endpoint.deadline() <= self.now {
                    self.senders[flow].endpoint.on_deadline(self.now);
                    self.flush(flow);
                }
            }
            for slot in 0..u32::try_from(self.senders.len()).expect("a few flows") {
                self.host.on_deadline(Slot(slot), self.now, &mut self.acks);
                self.invariants();
            }
            self.host.on_role_deadline(self.now, &mut self.acks);
            self.invariants();
        }
        self.now = target;
    }

    fn scheduler(&self) -> &rcc::Receiver {
        match self.host.role() {
            Receiver::rcc(scheduler) => scheduler,
            _ => panic!("the bundle is rcc"),
        }
    }

    /// Holds after each event of the host.
    fn invariants(&mut self) {
        // What the event has granted: an ACK is released strictly below the budget.
        let mut grant = 0;
        for packet in std::mem::take(&mut self.acks.fresh) {
            let endpoint = self.host.endpoint(Slot(packet.flow.0));
            let Some(sent) = endpoint.acknowledgement_in(&packet) else {
                continue;
            };
            let peer = &mut self.senders[packet.flow.0 as usize];
            let upper = peer.upper.max(sent.ack + sent.window);
            grant = grant.max(upper - sent.ack);
            peer.upper = upper;
        }
        let scheduler = self.scheduler();
        let (flight, budget) = (scheduler.flight(), scheduler.budget());
        if grant > 0 {
            assert!(
                flight < budget + grant,
                "{flight} of {budget}, last grant {grant}"
            );
        }
        let windows: Vec<u64> = scheduler.windows().collect();
        let sum: u64 = windows.iter().sum();
        let most = (budget / u64::from(MSS)).max(windows.len() as u64);
        assert!(windows.iter().all(|window| *window >= 1), "{windows:?}");
        assert!(sum <= most, "{windows:?} exceed {most}");
        // An ACK waits only while the budget is used up.
        assert!(
            scheduler.waiting() == 0 || flight >= budget,
            "{flight} of {budget}"
        );
    }

    /// From now on nothing is lost, and every packet takes 80 us.
    fn settle(&mut self) {
        for flow in 0..self.senders.len() {
            self.open(flow);
        }
        for _ in 0..20_000 {
            for _ in 0..self.data.len() {
                self.deliver_data();
            }
            for _ in 0..self.acks.packets.len() {
                self.deliver_ack();
            }
            if self.data.is_empty() && self.acks.packets.is_empty() {
                if self.host.endpoints().iter().all(Endpoint::is_ended) {
                    return self.expect_everything_delivered();
                }
                let deadline = self.deadline();
                assert!(deadline < Time::NEVER, "nothing will ever happen again");
                self.advance_to(deadline);
            } else {
                self.advance_to(self.now + Span::from_micros(80));
            }
        }
        let (scheduler, now) = (self.scheduler(), self.now);
        panic!("no end in sight at {now}: {scheduler:#?}");
    }

    fn expect_everything_delivered(&self) {
        for (endpoint, peer) in self.host.endpoints().iter().zip(&self.senders) {
            assert_eq!(endpoint.received(), peer.size);
            assert_eq!(peer.endpoint.acknowledged(), peer.size);
        }
        assert_eq!(
            (self.scheduler().flight(), self.scheduler().waiting()),
            (0, 0)
        );
    }
}

fn roles(choice: Choice) -> Roles {
    let keys = schemes::all().iter().flat_map(|scheme| scheme.keys);
    let defaults: Vec<(&str, &str)> = keys.map(|key| (key.name, key.default)).collect();
    let text = |key: &str| match key {
        "rcc.max_queue" => format!("{}pkt", choice.max_queue),
        "rcc.priority" => choice.priority.to_owned(),
        "rcc.merge_dupacks" => choice.merge_dupacks.to_owned(),
        other => {
            let default = defaults.iter().find(|(name, _)| *name == other);
            default.expect("a key of some scheme").1.to_owned()
        }
    };
    let bundle = Bundle::parse("rcc").expect("a registered scheme");
    bundle.build(&text).expect("correct texts")
}
