//! What a congestion control is told of a connection with a record of its segments.

use base::{Packet, Seq, Span, TcpFlags, Time, Timestamps};
use tcp::{
    Ack, Config, Delivery, DeliveryCc, EcnMode, Loss, LossDetection, SenderCc, SsthreshOf,
    TailLossProbe,
};

use crate::script::{HANDSHAKE, MSS, Timeline, config, ms, willing};

/// A window of segments, one after a timeout, and what it was told.
#[derive(Default)]
struct Told {
    window: u64,
    /// Segments of deliveries.
    deliveries: Vec<u64>,
    /// Bytes of acknowledgements.
    acks: Vec<u64>,
    losses: Vec<(Loss, u64)>,
    starts: Vec<Time>,
    /// Round trips of acknowledgements.
    samples: Vec<Option<Span>>,
}

impl SenderCc for Told {
    fn window(&self) -> u64 {
        self.window * MSS
    }

    fn as_delivery_cc(&mut self) -> Option<&mut dyn DeliveryCc> {
        Some(self)
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.acks.push(ack.bytes);
        self.samples.push(ack.rtt);
    }

    fn on_loss(&mut self, loss: Loss, in_flight: u64, _now: Time) {
        self.losses.push((loss, in_flight / MSS));
        if loss != Loss::FastRetransmit {
            self.window = 1;
        }
    }
}

impl DeliveryCc for Told {
    fn on_delivery(&mut self, delivery: &Delivery) {
        self.deliveries.push(delivery.segments);
    }

    fn on_start(&mut self, last: Time, _now: Time) {
        self.starts.push(last);
    }
}

fn recorded() -> Config {
    Config {
        sack: true,
        loss_detection: LossDetection::Rack,
        ..config()
    }
}

/// An open connection with this window.
fn open(window: u64, config: Config) -> Timeline<Told> {
    let cc = Told {
        window,
        ..Told::default()
    };
    Timeline::established_with(config, Seq(1000), cc)
}

// Linux 6.12, tcp_rcv_established: header prediction takes data only into memory that the socket has, and one with nothing
// outstanding has none. So each request for another answer ends DCTCP's window of data once more, and alpha decays.
#[test]
fn a_request_is_told_once_everything_is_acknowledged() {
    let mut t = open(4, recorded());
    t.receive(0..1).expect_ack(1);
    assert_eq!(t.endpoint.cc().deliveries, [0], "before the first answer");
    t.write(2 * MSS).expect_data(0..2);
    t.ack(2).receive(1..2).expect_ack(2);
    assert_eq!(t.endpoint.cc().deliveries, [0, 2, 0]);
}

// Linux 6.12, tcp_rcv_established: an acknowledgement that comes with data and says nothing while something is outstanding
// is taken by header prediction, before anything is counted.
#[test]
fn deliveries_are_told_but_with_data_that_says_nothing() {
    for hole in [false, true] {
        let mut t = open(4, recorded());
        t.write(8 * MSS).expect_data(0..4);
        t.at(ms(50)).ack(0);
        let mut expected = vec![0];
        if hole {
            t.sack(0, &[(1, 2)]).expect_data(4..5);
            expected.push(1);
        }
        t.receive(0..1).expect_ack(1);
        assert_eq!(t.endpoint.cc().deliveries, expected, "nothing is said");
        t.window = 1 << 19;
        t.receive(1..2).expect_ack(2);
        t.duplicates(1);
        expected.extend([0, 0]);
        assert_eq!(
            t.endpoint.cc().deliveries,
            expected,
            "of another window, and without data"
        );
        t.ack(2);
        expected.push(if hole { 1 } else { 2 });
        assert_eq!(t.endpoint.cc().deliveries, expected);
        let sent = if hole { 5 } else { 4 };
        t.expect_data(sent..6);
    }
}

// The ACK that ends the handshake delivers nothing but a SYN (`tcp_rcv_state_process`).
#[test]
fn the_end_of_a_handshake_is_no_delivery() {
    let cc = Told {
        window: 4,
        ..Told::default()
    };
    let mut t = Timeline::with(recorded(), Seq(1000), cc);
    t.act(tcp::Endpoint::listen);
    let syn = t.syn(willing());
    t.deliver(syn).take();
    t.ack_offset(1);
    assert!(t.endpoint.cc().deliveries.is_empty());
    t.write(2 * MSS).expect_data(0..2);
    t.ack(1);
    assert_eq!(t.endpoint.cc().deliveries, [1]);
}

// What may let the window grow, or change it, is told; a duplicate ACK is neither.
#[test]
fn acks_are_told_that_acknowledge_or_echo() {
    let mut t = open(
        4,
        Config {
            ecn: EcnMode::Classic,
            ..recorded()
        },
    );
    t.write(4 * MSS).expect_data(0..4);
    t.duplicates(1);
    assert!(t.endpoint.cc().acks.is_empty());
    t.ack(1);
    t.sack(1, &[(2, 3)]).expect_retransmission(1);
    assert_eq!(t.endpoint.cc().acks, [MSS], "a report acknowledges nothing");
    let mut echo = t.peer_segment(TcpFlags::ACK.with(TcpFlags::ECE));
    echo.options = base::Options::None;
    t.deliver(echo);
    assert_eq!(t.endpoint.cc().acks, [MSS, 0]);
}

// RFC 7323 §4.1; Linux 6.12, tcp_ack_update_rtt: what was sent again has a round trip by its echo, and the congestion
// control learns it, too.
#[test]
fn the_round_trip_of_a_copy_is_told_by_its_echo() {
    let cc = Told {
        window: 4,
        ..Told::default()
    };
    let config = Config {
        timestamps: true,
        ..recorded()
    };
    let mut t = Timeline::with(config, Seq(1000), cc);
    t.act(tcp::Endpoint::connect).take();
    let with_echo = |mut packet: Packet, echo| {
        packet.options = packet.options.stamped(Timestamps { value: 700, echo });
        packet
    };
    let syn_ack = t.syn_ack(willing());
    t.deliver(with_echo(syn_ack, 1)).take();
    t.write(MSS).take();
    let timer = t.endpoint.deadline().since(Time::ZERO);
    t.at(timer);
    let copy = t.take().options.timestamps().expect("timestamps");
    t.at(timer + ms(30));
    let mut ack = t.peer_segment(TcpFlags::ACK);
    ack.ack = Seq(1000).at(1 + MSS);
    t.deliver(with_echo(ack, copy.value));
    assert_eq!(t.endpoint.cc().samples, [Some(ms(30))]);
}

// A window begins anew where nothing is in the network.
#[test]
fn a_start_is_told_where_nothing_is_in_the_network() {
    let mut t = open(4, recorded());
    t.write(2 * MSS).expect_data(0..2);
    assert!(t.endpoint.cc().starts.is_empty(), "nothing left before");
    t.at(ms(10)).ack(1);
    t.write(MSS).expect_data(2..3);
    assert!(t.endpoint.cc().starts.is_empty(), "something is under way");
    t.at(ms(20)).ack(3);
    t.at(ms(30)).write(MSS).expect_data(3..4);
    assert_eq!(t.endpoint.cc().starts.len(), 1);
    // What is sent again by a timer has nothing beside it in the network, either.
    let timer = t.endpoint.deadline().since(Time::ZERO) - HANDSHAKE;
    t.at(timer).expect_retransmission(3);
    assert_eq!(t.endpoint.cc().starts.len(), 2);
}

// RFC 5681 §3.1 and §4.3: a second timeout without progress is no new loss; one after progress is.
#[test]
fn timeouts_are_told_with_what_was_in_the_network() {
    for (ssthresh_of, first) in [(SsthreshOf::Flight, 6), (SsthreshOf::Pipe, 2)] {
        let mut t = open(
            6,
            Config {
                ssthresh_of,
                ..recorded()
            },
        );
        t.write(6 * MSS).expect_data(0..6);
        t.at(ms(100)).sack(0, &[(3, 4)]);
        t.at(ms(125)).expect_retransmission(0);
        t.expect_retransmission(1).expect_retransmission(2);
        let told = |t: &Timeline<Told>| t.endpoint.cc().losses.clone();
        assert_eq!(told(&t), [(Loss::FastRetransmit, first)]);
        let again = |t: &mut Timeline<Told>| {
            let until = t.endpoint.deadline().since(Time::ZERO) - HANDSHAKE;
            t.at(until).expect_retransmission(0);
        };
        again(&mut t);
        again(&mut t);
        let losses: Vec<_> = told(&t).into_iter().map(|(loss, _)| loss).collect();
        let expected = [
            Loss::FastRetransmit,
            Loss::RepeatedTimeout,
            Loss::RepeatedTimeout,
        ];
        assert_eq!(losses, expected, "{ssthresh_of:?}");
    }
}

// Linux 6.12, tcp_process_tlp_ack: the probe has repaired the loss of segment 1, as the ACK of what was sent behind it shows.
// No recovery begins, and the congestion control answers as to a mark.
#[test]
fn a_tail_that_a_probe_repairs_reduces_the_window_as_a_mark_does() {
    for (tail_loss_probe, loss) in [
        (TailLossProbe::Linux, Loss::Tail),
        (TailLossProbe::Rfc8985, Loss::FastRetransmit),
    ] {
        let mut t = open(
            6,
            Config {
                tail_loss_probe,
                ssthresh_of: SsthreshOf::Window,
                ..recorded()
            },
        );
        t.write(2 * MSS).expect_data(0..2);
        t.at(ms(200)).expect_retransmission(1);
        t.at(ms(300)).ack(2).write(2 * MSS).expect_data(2..4);
        t.at(ms(400)).ack(4);
        assert_eq!(t.endpoint.cc().losses, [(loss, 6)]);
        assert_eq!(t.endpoint.counters().fast_recoveries, 0);
    }
}

// Linux 6.12, tcp_ack_update_rtt: an ACK of two segments, which left 20 ms apart, and one that reports a third beside them.
// The estimator of the timeout hears the first one's round trip.
#[test]
fn the_congestion_control_hears_the_round_trip_of_the_last_segment() {
    let mut t = open(6, recorded());
    t.write(MSS).expect_data(0..1);
    t.at(ms(20)).write(MSS).expect_data(1..2);
    t.at(ms(120)).ack(2).write(MSS).expect_data(2..3);
    t.at(ms(130)).write(MSS).expect_data(3..4);
    t.at(ms(140)).write(MSS).expect_data(4..5);
    t.at(ms(240)).sack(3, &[(4, 5)]);
    let told = &t.endpoint.cc().samples;
    assert_eq!(*told, [Some(ms(100)), Some(ms(100))]);
    t.ack(5);
}
