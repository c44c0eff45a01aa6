//! The header space of a scheme, both ways: what data carries reaches the receiver role, what the role
//! writes into an ACK reaches the sender's congestion control.

use base::{Extension, Packet, Seq, Span, TcpFlags, Time};
use tcp::{Ack, Arrival, Endpoint, Established, Host, NewReno, ReceiverCc, SenderCc, Slot, Wire};

use crate::script::{MSS, Timeline, config, identity, ms, willing};

/// Adds up the numbers that data carries and returns the sum with the next ACK.
#[derive(Default)]
struct Sums(u64);

impl ReceiverCc for Sums {
    fn on_data(&mut self, _slot: Slot, arrival: &Arrival, _now: Time) {
        self.0 += arrival.extension.as_u64();
    }

    fn stamp(&mut self, _slot: Slot, packet: &mut Packet) {
        packet.extension = Extension::from_u64(self.0);
        self.0 = 0;
    }
}

/// What left the host last.
struct Last(Option<Packet>);

impl Wire for Last {
    fn send(&mut self, _slot: Slot, packet: &mut Packet) {
        self.0 = Some(*packet);
    }

    fn arm(&mut self, _slot: Slot, _deadline: Time) {}
}

#[test]
fn a_role_reads_what_data_carries_and_answers_in_the_ack() {
    let config = config();
    let mut host = Host::new(Sums::default());
    let mut wire = Last(None);
    let slot = host.add(Endpoint::new(
        identity(Seq(1000)),
        config,
        NewReno::new(&config),
    ));
    host.act(slot, Endpoint::listen, Time::ZERO, &mut wire);
    let mut peer: Timeline = Timeline::closed(config);
    let mut syn = peer.syn(willing());
    host.on_packet(slot, &mut syn, Time::ZERO, &mut wire);
    // One in order, one beyond a gap, and one that was received before.
    for (segment, carried) in [(0, 7), (2, 8), (0, 9)] {
        let mut packet = peer.peer_data(segment);
        packet.extension = Extension::from_u64(carried);
        host.on_packet(slot, &mut packet, Time::ZERO, &mut wire);
        let answered = wire.0.take().expect("an ACK per segment");
        assert_eq!(answered.extension.as_u64(), carried);
    }
}

/// Notes the numbers that ACKs carry, and the bytes that came with them.
struct Listener {
    reno: NewReno,
    heard: Vec<(u64, u64)>,
    /// The round trip of the handshake, and the number that its last segment carried.
    handshake: Option<(Option<Span>, u64)>,
}

impl SenderCc for Listener {
    fn window(&self) -> u64 {
        self.reno.window()
    }

    fn on_established(&mut self, handshake: &Established) {
        self.handshake = Some((handshake.rtt, handshake.extension.as_u64()));
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.heard.push((ack.extension.as_u64(), ack.bytes));
    }
}

fn listener() -> Listener {
    Listener {
        reno: NewReno::new(&config()),
        heard: Vec::new(),
        handshake: None,
    }
}

#[test]
fn the_congestion_control_hears_what_completes_the_handshake() {
    // A SYN that was sent again after a second gives no round trip (Karn).
    for (at, rtt) in [(ms(30), Some(ms(30))), (ms(1030), None)] {
        let mut t = Timeline::with(config(), Seq(1000), listener());
        t.act(Endpoint::connect);
        t.take();
        if rtt.is_none() {
            t.at(ms(1000)).take();
        }
        t.at(at);
        let mut syn_ack = t.syn_ack(willing());
        syn_ack.extension = Extension::from_u64(77);
        t.deliver(syn_ack).expect_ack(0);
        assert_eq!(t.endpoint.cc().handshake, Some((rtt, 77)));
    }
}

#[test]
fn duplicates_that_carry_something_reach_the_congestion_control() {
    let mut t = Timeline::established_with(config(), Seq(1000), listener());
    t.write(10 * MSS).expect_data(0..10);
    for (segments, carried) in [(1, 5), (1, 6), (1, 0), (2, 0)] {
        let mut packet = t.peer_segment(TcpFlags::ACK);
        packet.ack = t.endpoint.identity().initial_seq.at(1 + segments * MSS);
        packet.extension = Extension::from_u64(carried);
        t.deliver(packet);
    }
    // The third is a duplicate that says nothing.
    assert_eq!(t.endpoint.cc().heard, [(5, MSS), (6, 0), (0, MSS)]);
}
