//! A host with a receiver role that holds ACKs back, and a sender that obeys orders.

use base::{Extension, Options, Packet, Seq, Span, TcpFlags, Time};
use tcp::{
    AckKind, AckSent, AckVerdict, Config, EcnMode, Endpoint, Host, NewReno, Orders, ReceiverCc,
    Release, Released, SenderCc, SenderHelper, Slot, Wire,
};

use crate::script::{MSS, RTO, Timeline, config, identity, ms, willing};

/// What the gate lets every connection advertise.
const WINDOW: u64 = 5 * MSS;

/// Holds every ACK until the script lets it go, and limits windows to five segments.
#[derive(Default)]
struct Gate {
    held: Vec<(Slot, AckKind)>,
    open: Vec<Slot>,
    log: Vec<String>,
    sent: Vec<AckSent>,
}

impl ReceiverCc for Gate {
    fn on_open(&mut self, slot: Slot, _syn: &Packet, mss: u16, _now: Time) {
        self.log.push(format!("open {} {mss}", slot.0));
    }

    fn on_close(&mut self, slot: Slot, _now: Time) {
        self.held.retain(|(held, _)| *held != slot);
        self.log.push(format!("close {}", slot.0));
    }

    fn window(&self, _slot: Slot, buffer: u64) -> u64 {
        buffer.min(WINDOW)
    }

    fn on_ack_ready(&mut self, slot: Slot, kind: AckKind, _now: Time) -> AckVerdict {
        if kind == AckKind::Fin {
            return AckVerdict::Send;
        }
        self.held.retain(|(held, _)| *held != slot);
        self.held.push((slot, kind));
        AckVerdict::Hold
    }

    fn on_ack_sent(&mut self, _slot: Slot, sent: &AckSent, _now: Time) {
        self.sent.push(*sent);
    }

    fn next_release(&mut self, _now: Time) -> Option<Release> {
        let slot = self.open.pop()?;
        Some(Release {
            slot,
            what: Released::Order,
        })
    }

    fn deadline(&self) -> Time {
        if self.open.is_empty() {
            Time::NEVER
        } else {
            Time::ZERO
        }
    }
}

#[derive(Default)]
struct Outbox {
    packets: Vec<Packet>,
    armed: Time,
}

impl Wire for Outbox {
    fn send(&mut self, _slot: Slot, packet: &mut Packet) {
        self.packets.push(*packet);
    }

    fn arm(&mut self, _slot: Slot, deadline: Time) {
        self.armed = deadline;
    }
}

/// A listening host under a gate, and the peer's half of a timeline that makes its segments.
struct Fixture {
    host: Host<NewReno, Gate>,
    wire: Outbox,
    slot: Slot,
    peer: Timeline,
    now: Time,
}

impl Fixture {
    fn new() -> Self {
        let config = config();
        let mut host = Host::new(Gate::default());
        let endpoint = Endpoint::new(identity(Seq(1000)), config, NewReno::new(&config));
        let mut wire = Outbox::default();
        let slot = host.add(endpoint);
        host.act(slot, Endpoint::listen, Time::ZERO, &mut wire);
        let peer = Timeline::closed(config);
        Self {
            host,
            wire,
            slot,
            peer,
            now: Time::ZERO,
        }
    }

    /// The SYN has been answered and the answer released.
    fn opened() -> Self {
        let mut fixture = Self::new();
        let syn = fixture.peer.syn(willing());
        fixture.deliver(syn);
        fixture.release();
        assert_eq!(
            fixture.take().flags,
            TcpFlags::SYN.with(TcpFlags::ACK).with(TcpFlags::PSH)
        );
        fixture
    }

    fn deliver(&mut self, mut packet: Packet) {
        self.now += Span::from_micros(10);
        self.host
            .on_packet(self.slot, &mut packet, self.now, &mut self.wire);
    }

    /// The peer's data segment `segment` arrives.
    fn receive(&mut self, segment: u64) {
        let packet = self.peer.peer_data(segment);
        self.deliver(packet);
    }

    /// The gate lets the held ACK go.
    fn release(&mut self) {
        let gate = self.host.role_mut();
        gate.open.extend(gate.held.drain(..).map(|(slot, _)| slot));
        self.host.on_role_deadline(self.now, &mut self.wire);
    }

    #[track_caller]
    fn take(&mut self) -> Packet {
        assert_eq!(self.wire.packets.len(), 1, "{:?}", self.wire.packets);
        self.wire.packets.remove(0)
    }
}

// rcc §5: the SYN-ACK waits like any other; its timer starts when it leaves.
#[test]
fn a_syn_ack_can_be_held() {
    let mut fixture = Fixture::new();
    let syn = fixture.peer.syn(willing());
    fixture.deliver(syn);
    assert_eq!(fixture.host.role().log, ["open 0 1000"]);
    assert_eq!(fixture.host.role().held, [(Slot(0), AckKind::Syn)]);
    assert!(fixture.wire.packets.is_empty());
    assert_eq!(fixture.wire.armed, Time::NEVER);
    // A repeated SYN changes nothing.
    fixture.deliver(syn);
    assert_eq!(fixture.host.role().held.len(), 1);
    fixture.release();
    let answer = fixture.take();
    assert_eq!(u64::from(answer.window), WINDOW);
    assert_eq!(fixture.wire.armed, fixture.now + ms(1000));
    let allowed = AckSent {
        ack: 1,
        window: WINDOW,
        syn: true,
    };
    assert_eq!(fixture.host.role().sent, [allowed]);
}

// rcc §5: numbers and window are those of the moment the ACK leaves.
#[test]
fn a_held_ack_leaves_with_the_numbers_of_its_release() {
    let mut fixture = Fixture::opened();
    fixture.receive(0);
    fixture.receive(1);
    assert!(fixture.wire.packets.is_empty());
    assert_eq!(fixture.host.role().held, [(Slot(0), AckKind::Data)]);
    fixture.release();
    let ack = fixture.take();
    assert_eq!(ack.ack, fixture.peer.peer_seq.at(1 + 2 * MSS));
    assert_eq!(u64::from(ack.window), WINDOW);
    assert_eq!(ack.flags, TcpFlags::ACK.with(TcpFlags::PSH));
}

// RFC 2018 §4: the blocks too.
#[test]
fn a_held_ack_reports_what_arrived_while_it_waited() {
    let mut fixture = Fixture::new();
    let agreed = Config {
        sack: true,
        ..config()
    };
    let endpoint = Endpoint::new(identity(Seq(1000)), agreed, NewReno::new(&agreed));
    fixture.slot = fixture.host.add(endpoint);
    fixture.host.act(
        fixture.slot,
        Endpoint::listen,
        Time::ZERO,
        &mut fixture.wire,
    );
    let syn = fixture.peer.syn(willing());
    fixture.deliver(syn);
    fixture.release();
    fixture.take();
    fixture.receive(1);
    fixture.receive(3);
    fixture.release();
    let Options::Sack(blocks) = fixture.take().options else {
        panic!("blocks for what is beyond the gap");
    };
    assert_eq!(blocks.as_slice().len(), 2);
}

// design: the role's window is in every segment that carries an acknowledgement, data included.
#[test]
fn the_role_bounds_the_window_of_data_segments() {
    let mut fixture = Fixture::opened();
    fixture.receive(0);
    let Fixture {
        host,
        wire,
        slot,
        now,
        ..
    } = &mut fixture;
    host.act(*slot, |endpoint| endpoint.write(MSS), *now, wire);
    let data = fixture.take();
    assert_eq!(
        (u64::from(data.payload), u64::from(data.window)),
        (MSS, WINDOW)
    );
    assert_eq!(data.ack, fixture.peer.peer_seq.at(1 + MSS));
    let allowed = AckSent {
        ack: 1 + MSS,
        window: WINDOW,
        syn: false,
    };
    assert_eq!(fixture.host.role().sent.last(), Some(&allowed));
}

// design: the end of a flow is told once, whichever way it comes.
#[test]
fn the_role_is_told_of_the_end_by_fin_and_by_reset() {
    let closed = ["open 0 1000".to_owned(), "close 0".to_owned()];

    let mut fixture = Fixture::opened();
    let fin = fixture.peer.peer_segment(TcpFlags::FIN.with(TcpFlags::ACK));
    fixture.deliver(fin);
    assert_eq!(fixture.host.role().log, closed);
    assert_eq!(fixture.take().ack, fixture.peer.peer_seq.at(2));
    // A reset after the FIN is not a second end.
    let mut reset = fixture.peer.peer_segment(TcpFlags::RST);
    reset.seq = fixture.peer.peer_seq.at(2);
    fixture.deliver(reset);
    assert_eq!(fixture.host.role().log, closed);

    let mut fixture = Fixture::opened();
    fixture.receive(0);
    let mut reset = fixture.peer.peer_segment(TcpFlags::RST);
    reset.seq = fixture.peer.peer_seq.at(1 + MSS);
    fixture.deliver(reset);
    assert_eq!(fixture.host.role().log, closed);
    assert!(fixture.host.role().held.is_empty());
}

// design: a role that still releases for an ended connection sends nothing.
#[test]
fn nothing_is_released_for_a_connection_that_is_gone() {
    let mut fixture = Fixture::opened();
    let reset = fixture.peer.peer_segment(TcpFlags::RST);
    fixture.deliver(reset);
    fixture.host.role_mut().open.push(Slot(0));
    fixture
        .host
        .on_role_deadline(fixture.now, &mut fixture.wire);
    assert!(fixture.wire.packets.is_empty());
}

/// NewReno that obeys an ACK with PSH, as RCC's sender does.
struct Obedient {
    cc: NewReno,
    /// The effect of an order.
    orders: Orders,
}

impl SenderCc for Obedient {
    fn window(&self) -> u64 {
        self.cc.window()
    }

    fn orders(&self) -> Orders {
        self.orders
    }
}

fn obedient(orders: Orders) -> Timeline<Obedient> {
    let config = Config {
        ecn: EcnMode::Off,
        ..config()
    };
    let cc = NewReno::new(&config);
    Timeline::established_with(config, Seq(1000), Obedient { cc, orders })
}

/// A bare ACK of the first `segments` with PSH.
fn order<C: SenderCc + 'static>(t: &mut Timeline<C>, segments: u64) {
    let mut packet = t.peer_segment(TcpFlags::ACK.with(TcpFlags::PSH));
    packet.ack = t.endpoint.identity().initial_seq.at(1 + segments * MSS);
    t.deliver(packet);
}

// rcc §10: first an ACK like any other, then the segment at its number is sent again, once.
#[test]
fn a_pushed_ack_orders_the_segment_at_its_number() {
    let mut t = obedient(Orders::Obeyed);
    t.write(12 * MSS).expect_data(0..10);
    order(&mut t, 0);
    t.expect_retransmission(0).expect_nothing();
    order(&mut t, 2);
    t.expect_retransmission(2).expect_data(10..12);
    // Nothing beyond this number was sent.
    order(&mut t, 12);
    t.expect_nothing();
    // An old number.
    order(&mut t, 5);
    t.expect_nothing();
}

#[test]
fn a_helper_makes_any_sender_obey_and_announces_in_its_syn() {
    let mut t = Timeline::closed(config());
    let announcement = Some(Extension::from_u64(32_768));
    let orders = Orders::Obeyed;
    let helper = SenderHelper {
        announcement,
        orders,
    };
    t.endpoint =
        Endpoint::new(identity(Seq(1000)), config(), NewReno::new(&config())).with_helper(helper);
    t.act(Endpoint::connect);
    assert_eq!(t.take().extension.as_u64(), 32_768);
    t.at(ms(1000));
    assert_eq!(t.take().extension.as_u64(), 32_768, "again");
    let syn_ack = t.syn_ack(willing());
    t.deliver(syn_ack).expect_ack(0);
    t.write(2 * MSS).expect_data(0..1);
    order(&mut t, 0);
    t.expect_retransmission(0).expect_nothing();
}

#[test]
fn pushed_data_orders_nothing() {
    let mut t = obedient(Orders::Obeyed);
    t.write(4 * MSS).expect_data(0..4);
    let mut data = t.peer_data(0);
    data.flags = TcpFlags::ACK.with(TcpFlags::PSH);
    t.deliver(data).expect_ack(1);
    let counters = t.endpoint.counters();
    assert_eq!((counters.segments, counters.retransmissions), (4, 0));
}

// RCC footnote 7: neither duplicates nor the timer, only orders; a FIN alone is repaired all the same.
#[test]
fn a_sender_that_leaves_repairs_to_the_receiver_waits_for_orders() {
    let mut t = obedient(Orders::Awaited);
    t.write(10 * MSS).expect_data(0..10);
    t.duplicates(5).expect_nothing();
    let later = t.clock() + RTO * 20;
    t.quiet_until(later);
    order(&mut t, 0);
    t.expect_retransmission(0).expect_nothing();
    t.ack(10).close();
    assert!(t.take().flags.has(TcpFlags::FIN));
    let later = t.clock() + RTO;
    t.at(later);
    assert!(t.take().flags.has(TcpFlags::FIN));
    assert_eq!(t.endpoint.counters().fast_recoveries, 0);
}

/// Sends a notice about every segment.
#[derive(Default)]
struct Noticing {
    due: bool,
}

impl ReceiverCc for Noticing {
    fn on_data(&mut self, _slot: Slot, _arrival: &tcp::Arrival, _now: Time) {
        self.due = true;
    }

    fn next_release(&mut self, _now: Time) -> Option<Release> {
        std::mem::take(&mut self.due).then_some(Release {
            slot: Slot(0),
            what: Released::Notice,
        })
    }

    fn stamp(&mut self, _slot: Slot, packet: &mut Packet) {
        if packet.flags == TcpFlags::NONE {
            packet.extension = Extension([1, 2, 3]);
        }
    }
}

/// Counts the notices that it gets.
#[derive(Default)]
struct Noticed(Vec<Extension>);

impl SenderCc for Noticed {
    fn window(&self) -> u64 {
        20 * MSS
    }

    fn on_notice(&mut self, notice: Extension, _now: Time) {
        self.0.push(notice);
    }
}

// As the congestion notification packets of RoCE.
#[test]
fn a_notice_follows_the_ack_and_reaches_the_senders_control_as_nothing_else() {
    let config = Config {
        timestamps: true,
        ..config()
    };
    let mut host = Host::new(Noticing::default());
    let mut wire = Outbox::default();
    let slot = host.add(Endpoint::new(
        identity(Seq(1000)),
        config,
        NewReno::new(&config),
    ));
    host.act(slot, Endpoint::listen, Time::ZERO, &mut wire);
    let mut peer = Timeline::closed(config);
    let mut syn = peer.syn(willing());
    host.on_packet(slot, &mut syn, Time::ZERO, &mut wire);
    wire.packets.clear();
    host.on_packet(slot, &mut peer.peer_data(0), Time::ZERO, &mut wire);
    let [ack, notice] = wire.packets[..] else {
        panic!("{:?}", wire.packets);
    };
    assert_eq!((ack.flags, ack.payload), (TcpFlags::ACK, 0));
    assert_eq!(notice.flags, TcpFlags::NONE);
    assert_eq!(notice.extension, Extension([1, 2, 3]));

    // It is no duplicate, and needs no timestamp.
    let mut t = Timeline::established_with(config, Seq(1000), Noticed::default());
    t.write(8 * MSS).expect_data(0..8);
    for _ in 0..5 {
        let mut notice = t.peer_segment(TcpFlags::NONE);
        notice.extension = Extension([1, 2, 3]);
        t.deliver(notice).expect_nothing();
    }
    assert_eq!(t.endpoint.cc().0, [Extension([1, 2, 3]); 5]);
    assert_eq!(t.endpoint.counters().fast_recoveries, 0);
}
