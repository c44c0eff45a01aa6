//! RC3's second loop beside the ordinary one, on a path of one packet per millisecond: RC3 §2.

use std::collections::VecDeque;

use base::{FlowId, HostId, Options, Packet, SackBlocks, Seq, Span, TcpFlags, Time};
use proptest::prelude::*;
use tcp::{
    Ack, Config, EcnMode, Endpoint, Identity, LowPriority, NewReno, ReceiveWindow, SenderCc,
};

use crate::script::{self, Timeline, ms};

const MSS: u64 = 1460;
/// Round trip: 50 packets.
const RTT: u64 = 50;

/// A data segment as it leaves: in which millisecond since the handshake, at which priority, and which it is,
/// counted from 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Sent {
    at: u64,
    priority: u8,
    segment: u64,
}

/// Two endpoints; the network card of the first serves priorities strictly, and a packet of data takes a
/// millisecond. The network holds nothing up.
struct Path<L> {
    ends: [Endpoint<NewReno>; 2],
    card: [VecDeque<Packet>; 5],
    wires: [VecDeque<(Time, Packet)>; 2],
    now: u64,
    is_lost: L,
    sent: Vec<Sent>,
    /// When the receiver had everything in order.
    complete: Option<u64>,
}

fn config(low_priority: Option<LowPriority>) -> Config {
    Config {
        initial_window: 4,
        receive_buffer: 1 << 30,
        window_scale: Some(14),
        low_priority,
        ..Config::default()
    }
}

const LOW: LowPriority = LowPriority {
    first: 40,
    growth: 10,
    levels: 3,
    added_up: true,
    withdraw: false,
    burst: 1,
};

impl<L: FnMut(Sent) -> bool> Path<L> {
    fn new(config: Config, is_lost: L) -> Self {
        let end = |local, remote, seq| {
            let identity = Identity {
                flow: FlowId(0),
                local: HostId(local),
                remote: HostId(remote),
                initial_seq: Seq(seq),
            };
            Endpoint::new(identity, config, NewReno::new(&config))
        };
        let mut ends = [end(0, 1, 1_000), end(1, 0, 500_000)];
        ends[0].connect();
        ends[1].listen();
        Self {
            ends,
            card: Default::default(),
            wires: Default::default(),
            now: 0,
            is_lost,
            sent: Vec::new(),
            complete: None,
        }
    }

    /// Sends this many segments, and runs until the receiver has them or for this many round trips.
    fn transfer(mut self, segments: u64, round_trips: u64) -> Self {
        self.ends[0].write(segments * MSS);
        self.ends[0].close();
        while self.now < round_trips * RTT {
            self.step();
            if self.ends[1].received() == segments * MSS {
                self.complete.get_or_insert(self.now);
            }
            self.now += 1;
        }
        self
    }

    fn step(&mut self) {
        let now = Time::ZERO + ms(self.now);
        for end in 0..2 {
            while let Some((_, packet)) = self.wires[end].pop_front_if(|(at, _)| *at <= now) {
                self.ends[end].on_segment(&packet, now);
                self.drain(end, now);
            }
            if self.ends[end].deadline() <= now {
                self.ends[end].on_deadline(now);
            }
            self.drain(end, now);
        }
        let Some(packet) = self.card.iter_mut().find_map(VecDeque::pop_front) else {
            return;
        };
        let sent = Sent {
            at: self.now - RTT,
            priority: packet.dscp,
            segment: (Seq(1_000).near(packet.seq, 1) - 1) / MSS + 1,
        };
        self.sent.push(sent);
        if !(self.is_lost)(sent) {
            self.wires[1].push_back((now + half_round_trip(), packet));
        }
    }

    fn drain(&mut self, end: usize, now: Time) {
        while let Some(packet) = self.ends[end]
            .poll(now)
            .or_else(|| self.ends[end].due_ack(now))
        {
            if packet.payload > 0 {
                self.card[usize::from(packet.dscp)].push_back(packet);
            } else {
                self.wires[1 - end].push_back((now + half_round_trip(), packet));
            }
        }
    }

    /// The segments that left at low priority, or ordinarily, in a round trip, the first being 1.
    fn round(&self, round: u64, low: bool) -> Vec<u64> {
        let during = (round - 1) * RTT..round * RTT;
        let sent = self.sent.iter();
        sent.filter(|sent| during.contains(&sent.at) && (sent.priority > 0) == low)
            .map(|sent| sent.segment)
            .collect()
    }
}

const fn half_round_trip() -> Span {
    Span::from_millis(RTT / 2)
}

// RC3 §2.2, the example: 66 segments, of which the network holds 50; 21 and 22 are lost.
// Clauses: RC3-2.2-first, RC3-4.2.2-ack, RC3-4.2.2-skip
#[test]
fn the_walk_through_of_the_paper() {
    let lost = |sent: Sent| sent.priority > 0 && [21, 22].contains(&sent.segment);
    let path = Path::new(config(Some(LOW)), lost).transfer(66, 8);
    assert_eq!(path.round(1, false), [1, 2, 3, 4]);
    assert!(path.round(1, true).into_iter().eq((21..=66).rev()));
    let priorities = path.sent.iter().filter(|sent| sent.priority > 0);
    for sent in priorities {
        assert_eq!(sent.priority, if sent.segment > 26 { 1 } else { 2 });
    }
    assert!(path.round(2, false).into_iter().eq(5..=12));
    // All that was handed over at the start leaves, also what TCP has sent meanwhile.
    assert!(path.round(2, true).into_iter().eq((5..=20).rev()));
    // The acknowledgements of 5 to 12 come a few packets before those of the low 13 to 20, which are sent
    // once more; of all the others only what was lost is.
    assert!(path.round(3, false).into_iter().eq(13..=22));
    assert_eq!(path.round(3, true), []);
    assert_eq!(path.round(4, false), []);
    // The handshake, two round trips, the tenth packet of the third, and its way.
    assert_eq!(path.complete, Some(RTT + 2 * RTT + 9 + RTT / 2));
    assert_eq!(path.ends[0].counters().timeouts, 0);
}

// RC3 §2.2: without losses all data arrives as fast as the path carries it.
// Clauses: RC3-4.2.2-skip
#[test]
fn a_flow_takes_a_handshake_and_its_transmission() {
    for segments in [1, 4, 5, 66, 500] {
        let path = Path::new(config(Some(LOW)), |_| false).transfer(segments, 80);
        // The last packet leaves at RTT + N - 1 and takes half a round trip.
        let ideal = RTT + segments - 1 + RTT / 2;
        let complete = path.complete.expect("a complete flow");
        // What TCP sends of what is on its way at low priority delays the rest.
        let again = path
            .sent
            .iter()
            .take_while(|sent| sent.at + RTT / 2 + RTT <= complete);
        let again = again.count() as u64 - segments.min(complete - RTT);
        assert!(complete >= ideal, "{segments}: {complete}");
        assert!(
            complete <= ideal + again,
            "{segments}: {complete} {ideal} {again}"
        );
        assert!(again * 50 <= segments, "{segments}: {again} sent twice");
    }
}

/// The settings of scripts with a second loop: segments of 1000 bytes, without SACK.
fn scripted() -> Config {
    Config {
        low_priority: Some(LOW),
        ..script::config()
    }
}

/// Copies of these segments leave at priority 1, the last one first.
#[track_caller]
fn expect_low<C: SenderCc + 'static>(t: &mut Timeline<C>, segments: std::ops::Range<u64>) {
    for segment in segments.rev() {
        let packet = t.take();
        let offset = 1 + segment * script::MSS;
        assert_eq!((t.offset(&packet), packet.dscp), (offset, 1), "{packet:?}");
    }
}

// rc3 §9, receive window: it bounds what TCP sends, and no copy at low priority.
#[test]
fn copies_leave_beyond_the_advertised_window() {
    let mut t = Timeline::established(scripted());
    t.window = 2 * 1024;
    t.ack(0).write(10 * script::MSS).expect_data(0..2);
    expect_low(&mut t, 2..10);
    t.expect_nothing();
    t.ack(1).expect_data(2..3).expect_nothing();
}

// RC3 §4.2.2: what the ordinary loop has passed need not leave a second time. A copy on the way is withdrawn where that is set,
// and never data of the ordinary loop, an ACK, or what is not passed as a whole.
#[test]
fn copies_that_tcp_has_passed_are_withdrawn_where_that_is_set() {
    for withdraw in [true, false] {
        let mut t = Timeline::established(Config {
            low_priority: Some(LowPriority { withdraw, ..LOW }),
            initial_window: 1,
            ..script::config()
        });
        t.write(6 * script::MSS).expect_data(0..1);
        let copies: Vec<_> = (1..6).map(|_| t.take()).collect();
        let withdrawn = |t: &Timeline| {
            let copies = copies.iter().rev();
            copies
                .map(|copy| t.endpoint.withdraws(copy))
                .collect::<Vec<_>>()
        };
        assert_eq!(withdrawn(&t), [false; 5]);
        // Slow start sends segments 1 and 2, and then 3 and 4 with the copy of 5 left.
        t.ack(1).expect_data(1..3);
        let two = [withdraw, withdraw, false, false, false];
        assert_eq!(withdrawn(&t), two);
        let mut ack = t.peer_segment(TcpFlags::ACK);
        ack.seq = t.endpoint.identity().initial_seq.at(1);
        assert!(!t.endpoint.withdraws(&ack), "it carries nothing");
    }
}

// A report that waits begins to do so once, whatever comes at low priority meanwhile.
#[test]
fn copies_begin_no_wait_of_reports() {
    let mut t = Timeline::established(Config {
        sack: true,
        sack_delay: ms(10),
        ..scripted()
    });
    t.write(script::MSS).expect_data(0..1);
    t.at(ms(4)).ack(1).expect_nothing();
    t.receive(1..4).expect_ack(0).expect_ack(0).expect_ack(0);
    t.receive(4..5).expect_nothing();
    assert!(t.progress.report_waits);
    let mut copy = t.peer_data(7);
    copy.dscp = 2;
    t.deliver(copy).take();
    assert!(t.progress.stored && !t.progress.report_waits);
}

// rc3 §9, receive window: whatever a role lets the receiver advertise, what the buffer has room for is
// kept, and no byte beyond. Copies are answered at their own priority alone: TCP's ACKs tell nothing of them.
// Clauses: RC3-4.2.2-ack
#[test]
fn copies_are_kept_as_far_as_the_buffer_has_room() {
    let mut t = Timeline::closed(Config {
        receive_buffer: 8 * script::MSS,
        ..scripted()
    });
    t.act(|endpoint| {
        endpoint.limit_window(script::MSS);
        endpoint.connect();
    });
    t.open(EcnMode::Off);
    for (segment, held) in [(5, 1), (7, 2), (8, 2), (6, 3)] {
        let mut copy = t.peer_data(segment);
        copy.dscp = 2;
        t.deliver(copy);
        let answer = t.take();
        assert_eq!((answer.dscp, answer.ack), (2, t.peer_seq.at(1)));
        t.expect_nothing();
        assert_eq!(t.endpoint.held(), held * script::MSS, "segment {segment}");
    }
    // The other segments bring everything up to the end of the buffer into order.
    t.act(|endpoint| endpoint.limit_window(u64::MAX));
    t.receive(0..5);
    for segments in [1, 2, 3, 4, 8] {
        t.expect_ack(segments);
    }
}

// A window that grows offers little at first. Copies have the room that it may grow to.
#[test]
fn copies_are_kept_beyond_a_window_that_has_yet_to_grow() {
    let mut t = Timeline::established(Config {
        receive_window: ReceiveWindow::Grows,
        receive_buffer: 200 * script::MSS,
        window_scale: Some(5),
        ..scripted()
    });
    for (segment, held) in [(199, 1), (200, 1)] {
        let mut copy = t.peer_data(segment);
        copy.dscp = 2;
        t.deliver(copy).take();
        assert_eq!(t.endpoint.held(), held * script::MSS, "segment {segment}");
    }
}

/// An acknowledgement of this many segments at low priority, which tells of some copies.
#[track_caller]
fn low_ack<C: SenderCc + 'static>(
    t: &mut Timeline<C>,
    segments: u64,
    copies: std::ops::Range<u64>,
) {
    let initial = t.endpoint.identity().initial_seq;
    let mut packet = t.peer_segment(TcpFlags::ACK);
    packet.ack = initial.at(1 + segments * script::MSS);
    packet.dscp = 1;
    let mut blocks = SackBlocks::new();
    let [start, end] = [copies.start, copies.end].map(|n| initial.at(1 + n * script::MSS));
    blocks.push(start, end);
    packet.options = Options::Sack(blocks);
    t.deliver(packet).expect_nothing();
}

// RFC 2018 §8, rc3 §5: at a timeout the sender forgets which copies have arrived, and what it passed
// without sending it was never in flight.
// Clauses: RC3-4.2.2-timeout
#[test]
fn a_timeout_forgets_the_copies_that_were_passed() {
    let mut t = Timeline::established(Config {
        initial_window: 4,
        sack: true,
        ..scripted()
    });
    t.write(40 * script::MSS).expect_data(0..4);
    expect_low(&mut t, 4..40);
    t.at(ms(100));
    low_ack(&mut t, 0, 4..30);
    t.ack(1).expect_data(30..32);
    // Segments 1, 2, 3, 30 and 31 are in flight.
    assert_eq!(t.endpoint.in_flight(), 5 * script::MSS);
    t.at(ms(350)).expect_retransmission(1);
    t.expect_ssthresh(5 * script::MSS / 2);
    assert_eq!(t.endpoint.in_flight(), script::MSS);
    t.ack(2).expect_retransmission(2).expect_retransmission(3);
    t.ack(4).expect_retransmission(4).expect_retransmission(5);
    t.expect_retransmission(6);
}

// After a timeout an ACK of what the acknowledgement jumped to says nothing new: windows do not grow.
// Clauses: RC3-4.2.2-timeout
#[test]
fn a_timeout_ends_what_a_jump_of_the_acknowledgement_began() {
    let mut t = Timeline::established(Config {
        initial_window: 4,
        ..scripted()
    });
    t.write(40 * script::MSS).expect_data(0..4);
    expect_low(&mut t, 4..40);
    t.at(ms(100)).ack(20).expect_data(20..25);
    t.at(ms(350)).expect_retransmission(20);
    t.duplicates(2).expect_nothing().expect_cwnd(script::MSS);
}

/// A window of four segments that notes for how many bytes acknowledgements would make it grow.
struct Noting(Vec<u64>);

impl SenderCc for Noting {
    fn window(&self) -> u64 {
        4 * script::MSS
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.0.push(ack.bytes);
    }
}

// RC3 §2.2, rc3 §5: what arrived at low priority counts like one ordinary ACK when TCP's jumps over it,
// not with all its bytes.
// Clauses: RC3-4.2.2-window
#[test]
fn an_acknowledgement_of_copies_grows_windows_as_one_ordinary_one() {
    for limit in [1, 2] {
        let config = Config {
            byte_counting_limit: limit,
            sack: true,
            ..scripted()
        };
        let mut t = Timeline::established_with(config, Seq(1000), Noting(Vec::new()));
        t.write(40 * script::MSS).expect_data(0..4);
        expect_low(&mut t, 4..40);
        // An ordinary one; then one of all TCP has sent, five segments, and fifteen copies.
        t.ack(1).expect_data(4..5);
        t.ack(20).expect_data(20..24);
        // ACKs of what was sent before the jump are ordinary, too, and so is one of data alone.
        t.duplicates(2).expect_nothing();
        t.ack(23).expect_data(24..27);
        // TCP passes 27 to 36, of which an ACK at low priority tells, and does not send them.
        low_ack(&mut t, 23, 27..37);
        t.ack(25).expect_data(37..39);
        // Two sent segments and ten that were passed.
        t.ack(37).expect_data(39..40);
        let one = script::MSS;
        let most = u64::from(limit) * one;
        let expected = [one, most, one, one, 3 * one, 2 * one, most];
        assert_eq!(t.endpoint.cc().0, expected);
    }
}

proptest! {
    /// Whatever TCP loses, a second loop of which nothing arrives changes nothing.
    // Clauses: RC3-4.2.2-window
    #[test]
    fn without_low_packets_it_is_tcp(
        lost in prop::collection::btree_set(0_usize..150, 0..12),
        segments in 1_u64..120,
        sack: bool,
    ) {
        let run = |low: Option<LowPriority>| {
            let mut ordinary = 0;
            let is_lost = |sent: Sent| {
                if sent.priority > 0 {
                    return true;
                }
                ordinary += 1;
                lost.contains(&(ordinary - 1))
            };
            let config = Config { sack, ..config(low) };
            let path = Path::new(config, is_lost).transfer(segments, 200);
            let sent = path.sent.iter().filter(|sent| sent.priority == 0);
            (sent.copied().collect::<Vec<_>>(), path.complete, path.ends[0].counters().timeouts)
        };
        prop_assert_eq!(run(Some(LOW)), run(None));
    }

    /// Whatever is lost at any priority, everything arrives.
    #[test]
    fn everything_arrives(
        lost in prop::collection::btree_set(0_usize..400, 0..60),
        segments in 1_u64..200,
        sack: bool,
        burst in prop::sample::select(vec![1_u16, 7, 43]),
    ) {
        let mut number = 0;
        let is_lost = |_: Sent| {
            number += 1;
            lost.contains(&(number - 1))
        };
        let low = LowPriority { burst, ..LOW };
        let config = Config { sack, ..config(Some(low)) };
        let path = Path::new(config, is_lost).transfer(segments, 4_000);
        prop_assert!(path.complete.is_some());
        prop_assert_eq!(path.ends[0].acknowledged(), segments * MSS);
    }
}
