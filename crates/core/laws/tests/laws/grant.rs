//! The law of grants: worked examples, and a receiver of random flows whose ACKs and updates are lost at random.

use std::collections::VecDeque;

use laws::{Granted, Grants};
use proptest::prelude::*;

const MSS: u32 = 1_000;
const MS: u64 = 1_000_000;
/// What a receiver without a bound of its own allows.
const MOST: u32 = 1 << 20;

fn grants(segments: u64) -> Grants {
    let mut grants = Grants::new(segments * u64::from(MSS), MSS, 10 * MS);
    grants.pass(5 * MS);
    grants
}

fn open(grants: &mut Grants, scale: u8) -> Granted {
    let mut flow = Granted::of_scale(scale);
    grants.on_open(&mut flow, 1, 65_535);
    flow
}

#[test]
fn the_first_connections_share_the_budget_and_later_ones_begin_with_a_segment() {
    let mut all = grants(20);
    let mut flow = Granted::default();
    // A window of ten segments is the largest one to begin with.
    assert_eq!(all.on_open(&mut flow, 1, 65_535), 10 * MSS);
    let mut other = Granted::default();
    assert_eq!(all.on_open(&mut other, 1, 65_535), 10 * MSS);
    // Nothing is left.
    assert_eq!(all.on_open(&mut Granted::default(), 1, 65_535), MSS);
    assert_eq!((all.in_flight(), all.connections()), (21_000, (3, 0)));
    // A SYN-ACK that is sent again, and one whose receiver has little room.
    assert_eq!(all.on_open(&mut other, 1, 65_535), 10 * MSS);
    assert_eq!(all.on_open(&mut Granted::default(), 1, 300), 300);
    assert_eq!(all.in_flight(), 21_300);
}

#[test]
fn a_window_is_held_back_until_what_is_in_flight_falls() {
    let mut all = grants(2);
    let mut flows: Vec<_> = (0..4).map(|_| open(&mut all, 0)).collect();
    // The first one has both segments, and the others one each.
    assert_eq!(all.in_flight(), 5_000);
    let [first, second, ..] = flows.as_mut_slice() else {
        unreachable!("four flows");
    };
    // 3,000 are in flight without this segment, and its share is one that it has not yet.
    all.on_ack(second, 1_001, MOST);
    assert!(!all.ask(second, false) && second.waits());
    assert_eq!((second.window(), all.connections()), (0, (3, 1)));
    // An ACK leaves all the same, and a window of zero would stop its sender until a probe.
    assert_eq!(all.tell(second, 65_535), 1);
    all.on_ack(first, 2_001, MOST);
    assert!(!all.ask(first, false), "others come first");
    assert!(!all.ask(second, true), "2,001 are in flight");
    all.on_ack(&mut flows[2], 1_001, MOST);
    assert!(all.ask(&mut flows[1], true));
    // With the byte that it had.
    assert_eq!((flows[1].window(), all.in_flight()), (1_000, 2_000));
}

#[test]
fn windows_are_as_many_segments_as_receivers_answer_at_once() {
    let mut all = Grants::of_least(4_000, MSS, 10 * MS, 2);
    all.pass(5 * MS);
    let mut flows: Vec<_> = (0..3).map(|_| open(&mut all, 0)).collect();
    all.on_ack(&mut flows[0], 4_001, MOST);
    // 1,000 of each of the others are in flight: there is room for two segments and no more.
    assert!(all.ask(&mut flows[0], false));
    assert_eq!((flows[0].window(), all.in_flight()), (2_000, 4_000));
    all.on_ack(&mut flows[1], 1_001, MOST);
    assert!(!all.ask(&mut flows[1], false), "a single segment is left");
    all.on_ack(&mut flows[2], 1_001, MOST);
    assert!(all.ask(&mut flows[1], true));
    assert_eq!(flows[1].window(), 2_000);
    // No budget is less than the fewest.
    assert_eq!(Grants::of_least(1, MSS, MS, 2).budget(), 2_000);
}

#[test]
fn what_idle_connections_may_send_does_not_count() {
    let mut all = grants(2);
    let mut idle: Vec<_> = (0..3).map(|_| open(&mut all, 0)).collect();
    let mut flow = open(&mut all, 0);
    all.on_ack(&mut flow, 1_001, MOST);
    assert!(!all.ask(&mut flow, false), "the others have the budget");
    all.pass(5 * MS + 9 * MS);
    assert!(!all.ask(&mut flow, true));
    all.pass(5 * MS + 12 * MS);
    assert_eq!(all.in_flight(), 0);
    assert!(all.ask(&mut flow, true));
    assert_eq!(all.in_flight(), 2_000, "alone it has all of it");
    // One of them goes on: what it may send counts again.
    all.on_ack(&mut idle[0], 1_001, MOST);
    assert_eq!(all.in_flight(), 3_000);
    for flow in idle.iter_mut().chain([&mut flow]) {
        all.on_close(flow);
    }
    assert_eq!((all.in_flight(), all.connections()), (0, (0, 0)));
}

#[test]
fn a_window_is_whole_units_never_above_what_the_receiver_allows_and_never_moves_back() {
    let mut all = grants(40);
    let mut flow = open(&mut all, 7);
    let before = flow.edge();
    all.on_ack(&mut flow, 1_449, MOST);
    assert!(all.ask(&mut flow, false));
    let units = all.tell(&mut flow, 65_535);
    // 40 segments in units of 128, rounded up.
    assert_eq!(u32::from(units) * 128, 40_064);
    assert_eq!(flow.edge(), 1_449 + 40_064);
    assert!(flow.edge() > before);
    assert_eq!(all.tell(&mut flow, 100), 100);
    assert_eq!(all.tell(&mut flow, 0), 0);
    // The receiver allows less than the share.
    let mut all = grants(40);
    let mut small = open(&mut all, 0);
    all.on_ack(&mut small, 10_001, 500);
    assert!(all.ask(&mut small, false));
    assert_eq!(small.window(), 500);
}

#[test]
fn what_a_syn_tells_counts_before_it_is_answered() {
    let mut all = grants(20);
    let mut flows = [(); 4].map(|()| Granted::of_scale(7));
    let told = flows.each_mut().map(|flow| all.on_syn(flow, 65_535));
    assert_eq!(told, [10 * MSS, 10 * MSS, MSS, MSS]);
    assert_eq!((all.in_flight(), all.connections()), (22_000, (4, 0)));
    for (flow, told) in flows.iter_mut().zip(told) {
        all.on_join(flow, 77, told);
        assert_eq!((flow.window(), flow.edge()), (told, 77 + told));
    }
    assert_eq!((all.in_flight(), all.connections()), (22_000, (4, 0)));
    // The same ends once more, and one whose receiver has little room.
    all.on_close(&mut flows[1]);
    assert_eq!(all.on_syn(&mut flows[0], 65_535), 6 * MSS);
    assert_eq!(all.on_syn(&mut flows[1], 300), 300);
    assert_eq!((all.in_flight(), all.connections()), (8_300, (4, 0)));
    // What is not answered is idle like all else.
    all.pass(30 * MS);
    assert_eq!((all.in_flight(), all.connections()), (0, (0, 0)));
}

#[test]
fn what_a_syn_told_counts_from_the_first_acknowledgement_on() {
    let mut all = grants(20);
    let mut flow = Granted::of_scale(7);
    all.on_join(&mut flow, u32::MAX - 99, 10_000);
    assert_eq!((flow.window(), all.in_flight()), (10_000, 10_000));
    // The SYN-ACK once more.
    all.on_join(&mut flow, u32::MAX - 99, 10_000);
    assert_eq!((all.in_flight(), all.connections()), (10_000, (1, 0)));
    all.on_ack(&mut flow, 900, MOST);
    assert!(all.ask(&mut flow, false));
    // Its share, in whole units beyond what it had.
    assert_eq!(flow.window(), 9_000 + 86 * 128);
    // The same ends on another connection.
    all.on_join(&mut flow, 5, 300);
    assert_eq!((all.in_flight(), all.connections()), (300, (1, 0)));
}

#[test]
fn a_receiver_is_read_as_it_was_written() {
    let mut all = grants(2);
    let mut flow = open(&mut all, 0);
    all.on_ack(&mut flow, 1_001, MOST);
    let again = Grants::from_memory(&all.to_memory()).expect("whole");
    assert_eq!(again.to_memory(), all.to_memory());
    assert_eq!(again.in_flight(), all.in_flight());
    assert!(Grants::from_memory(&all.to_memory()[1..]).is_none());
}

/// A sender that repairs by its timer alone, and its receiver, which keeps nothing out of order. Bytes are counted from
/// 1 on, as sequence numbers behind a SYN.
struct Flow {
    law: Granted,
    size: u32,
    /// The receiver's next byte.
    next: u32,
    /// What the sender knows: acknowledged, sent, and its right edge.
    acked: u32,
    sent: u32,
    edge: u32,
    /// When its timer fires.
    timer: u64,
}

enum Packet {
    /// A segment from this byte on.
    Data(usize, u32, u32),
    /// The receiver's next byte and the right edge.
    Ack(usize, u32, u32),
}

struct Network {
    grants: Grants,
    flows: Vec<Flow>,
    line: VecDeque<usize>,
    /// In the order of arrival.
    wire: VecDeque<(u64, Packet)>,
    now: u64,
    /// Of 256 packets this many are lost, each way.
    loss: [u8; 2],
    dice: u64,
}

const SCALE: u8 = 7;
const DELAY: u64 = 200_000;
const TIMER: u64 = 200 * MS;

impl Network {
    fn new([segments, least]: [u32; 2], sizes: &[u32], loss: [u8; 2], seed: u64) -> Self {
        let budget = u64::from(segments) * u64::from(MSS);
        let mut grants = Grants::of_least(budget, MSS, 10 * MS, least);
        grants.pass(5 * MS);
        let mut network = Self {
            grants,
            flows: Vec::new(),
            line: VecDeque::new(),
            wire: VecDeque::new(),
            now: 5 * MS,
            loss,
            dice: seed | 1,
        };
        for (at, size) in sizes.iter().enumerate() {
            let mut law = Granted::of_scale(SCALE);
            // Every other connection is opened by the receiver.
            let window = if at % 2 == 0 {
                network.grants.on_open(&mut law, 1, 65_535)
            } else {
                let told = network.grants.on_syn(&mut law, 65_535);
                network.grants.on_join(&mut law, 1, told);
                told
            };
            network.flows.push(Flow {
                law,
                size: *size,
                next: 1,
                acked: 1,
                sent: 1,
                edge: 1 + window,
                timer: 0,
            });
        }
        network
    }

    fn roll(&mut self) -> u8 {
        // Marsaglia's xorshift64.
        self.dice ^= self.dice << 13;
        self.dice ^= self.dice >> 7;
        self.dice ^= self.dice << 17;
        self.dice.to_be_bytes()[3]
    }

    fn put(&mut self, packet: Packet) {
        let way = usize::from(matches!(packet, Packet::Ack(..)));
        if self.roll() >= self.loss[way] {
            self.wire.push_back((self.now + DELAY, packet));
        }
    }

    fn send(&mut self, at: usize) {
        loop {
            let flow = &mut self.flows[at];
            let left = flow.size + 1 - flow.sent;
            let room = flow.edge.saturating_sub(flow.sent);
            let bytes = left.min(MSS);
            if bytes == 0 || bytes > room {
                return;
            }
            let from = flow.sent;
            flow.sent += bytes;
            flow.timer = self.now + TIMER;
            self.put(Packet::Data(at, from, bytes));
        }
    }

    /// Moves edges as far as the budget allows, and tells what every one of these calls must keep.
    fn ask(&mut self, at: usize, is_its_turn: bool) -> bool {
        let flow = &mut self.flows[at];
        let before = (flow.law.edge(), flow.law.waits());
        let others: u64 = self.grants.in_flight();
        let done = self.grants.ask(&mut flow.law, is_its_turn);
        let moved = flow.law.edge() - before.0;
        let flight = self.grants.in_flight();
        // What rounding to units tells is less than one of them for each.
        let most = self.grants.budget() + self.flows.len() as u64 * 128;
        let alone = others <= u64::from(self.flows[at].law.window());
        assert!(moved == 0 || flight <= most || alone, "{flight} of {most}");
        done
    }

    fn acknowledge(&mut self, at: usize) {
        let next = self.flows[at].next;
        self.grants.on_ack(&mut self.flows[at].law, next, MOST);
        let waited = self.flows[at].law.waits();
        if !waited && !self.ask(at, false) {
            self.line.push_back(at);
        }
        self.tell(at);
        self.release();
    }

    fn tell(&mut self, at: usize) {
        let flow = &mut self.flows[at];
        let before = flow.law.edge();
        self.grants.tell(&mut flow.law, 65_535);
        assert!(flow.law.edge() >= before, "an edge moved back");
        let (next, edge) = (flow.next, flow.law.edge());
        self.put(Packet::Ack(at, next, edge));
    }

    fn release(&mut self) {
        for _ in 0..4 {
            let Some(at) = self.line.front().copied() else {
                return;
            };
            if !self.ask(at, true) {
                return;
            }
            self.line.pop_front();
            self.tell(at);
        }
    }

    /// Until all have arrived, or for so long. Returns how many have not.
    fn run(&mut self, until: u64) -> usize {
        (0..self.flows.len()).for_each(|at| self.send(at));
        let is_done = |flow: &Flow| flow.acked > flow.size;
        while self.now < until && !self.flows.iter().all(is_done) {
            self.now += 50_000;
            self.grants.pass(self.now);
            while let Some((_, packet)) = self.wire.pop_front_if(|(at, _)| *at <= self.now) {
                match packet {
                    Packet::Data(at, from, bytes) => {
                        let flow = &mut self.flows[at];
                        if from <= flow.next && from + bytes > flow.next {
                            flow.next = from + bytes;
                        }
                        self.acknowledge(at);
                    }
                    Packet::Ack(at, ack, edge) => {
                        let flow = &mut self.flows[at];
                        flow.acked = flow.acked.max(ack);
                        flow.sent = flow.sent.max(ack);
                        flow.edge = flow.edge.max(edge);
                        self.send(at);
                    }
                }
            }
            for at in 0..self.flows.len() {
                let now = self.now;
                let flow = &mut self.flows[at];
                if flow.acked <= flow.size && flow.timer < now {
                    // Everything again; where no segment fits, a byte asks for the window.
                    flow.sent = flow.acked;
                    flow.timer = now + TIMER;
                    let (acked, edge) = (flow.acked, flow.edge);
                    if edge < acked + MSS {
                        self.put(Packet::Data(at, acked, 1));
                    }
                    self.send(at);
                }
            }
        }
        self.flows.iter().filter(|flow| !is_done(flow)).count()
    }
}

proptest! {
    #[test]
    fn every_flow_ends_within_the_budget_whatever_is_lost(
        segments in 1..60_u32,
        least in 1..4_u32,
        sizes in prop::collection::vec(1..60_000_u32, 1..30),
        loss in [0..60_u8, 0..60_u8],
        seed in any::<u64>(),
    ) {
        let mut network = Network::new([segments, least], &sizes, loss, seed);
        // A timer a segment, each lost a few times, is far more than any needs.
        let left = network.run(600_000 * MS);
        prop_assert_eq!(left, 0);
    }
}

#[test]
fn without_losses_no_flow_waits_for_a_timer() {
    let mut network = Network::new([27, 1], &[262_144; 20], [0, 0], 1);
    // 5,243 segments in round trips of 0.4 ms, of 27 segments each, and steps of the model.
    assert_eq!(network.run(TIMER), 0, "within the first timer");
}

#[test]
fn senders_that_probe_at_the_same_time_do_not_use_up_the_budget() {
    // What rounding left to those that wait is told and not sent: together it is more than the budget.
    let sizes = [
        12_418, 18_807, 15_451, 36_997, 41_379, 40_518, 37_037, 11_398, 41_683,
    ];
    let mut network = Network::new([1, 1], &sizes, [32, 3], 16_041_327_697_171_594_184);
    assert_eq!(network.run(60_000 * MS), 0);
}
