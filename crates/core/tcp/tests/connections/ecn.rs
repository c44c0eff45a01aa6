//! Explicit congestion notification: RFC 3168 §6.1 and RFC 8257 §3.2.

use base::{Ecn, Packet, TcpFlags};
use tcp::{Config, EcnMode, LossDetection, ReceiveWindow};

use crate::script::{MSS, Timeline, config, ms, willing};

const ECN_SETUP: TcpFlags = TcpFlags::ECE.with(TcpFlags::CWR);

fn with_ecn(ecn: EcnMode) -> Config {
    Config { ecn, ..config() }
}

/// An ACK of `segments` that echoes a mark.
fn echo(t: &mut Timeline, segments: u64) -> &mut Timeline {
    let mut packet = t.peer_segment(TcpFlags::ACK.with(TcpFlags::ECE));
    packet.ack = t.endpoint.identity().initial_seq.at(1 + segments * MSS);
    t.deliver(packet)
}

/// An ACK of `segments` that reports `block`, as segments, and echoes a mark or not.
fn report(t: &mut Timeline, segments: u64, block: (u64, u64), marked: bool) -> &mut Timeline {
    let mut packet = t.peer_segment(TcpFlags::ACK.with(TcpFlags::ECE.when(marked)));
    let initial = t.endpoint.identity().initial_seq;
    let at = |segment| initial.at(1 + segment * MSS);
    packet.ack = at(segments);
    let mut list = base::SackBlocks::new();
    list.push(at(block.0), at(block.1));
    packet.options = base::Options::Sack(list);
    t.deliver(packet)
}

// RFC 3168 §6.1.1: asked with ECE and CWR, agreed with ECE; neither segment is ECN-capable (§6.1.1).
// Clauses: RFC3168-6.1.1-ask, RFC3168-6.1.1-agree, RFC3168-6.1.1-syn
#[test]
fn both_sides_agree_in_the_handshake() {
    let mut t = Timeline::connecting(with_ecn(EcnMode::Classic));
    let syn = t.take();
    assert_eq!(
        (syn.flags, syn.ecn),
        (TcpFlags::SYN.with(ECN_SETUP), Ecn::NotCapable)
    );

    let mut t = Timeline::listening(with_ecn(EcnMode::Classic));
    let mut syn = t.syn(willing());
    syn.flags = syn.flags.with(ECN_SETUP);
    t.deliver(syn);
    let answer = t.take();
    let expected = TcpFlags::SYN.with(TcpFlags::ACK).with(TcpFlags::ECE);
    assert_eq!((answer.flags, answer.ecn), (expected, Ecn::NotCapable));
}

// RFC 3168 §6.1.1: a SYN-ACK without ECE, or with both flags as a broken peer reflects them.
// Clauses: RFC3168-6.1.1-refused
#[test]
fn a_refusing_peer_gets_no_capable_data() {
    for flags in [TcpFlags::NONE, ECN_SETUP] {
        let mut t = Timeline::connecting(with_ecn(EcnMode::Classic));
        t.take();
        let mut syn_ack = t.syn_ack(willing());
        syn_ack.flags = syn_ack.flags.with(flags);
        t.deliver(syn_ack).expect_ack(0);
        t.write(MSS);
        assert_eq!(t.take().ecn, Ecn::NotCapable);
    }
}

// RFC 3168 §6.1.1: one who does not use ECN does not agree to it.
// Clauses: RFC3168-6.1.1-refuse
#[test]
fn without_ecn_a_request_is_refused() {
    let mut t = Timeline::listening(config());
    let mut syn = t.syn(willing());
    syn.flags = syn.flags.with(ECN_SETUP);
    t.deliver(syn);
    assert_eq!(t.take().flags, TcpFlags::SYN.with(TcpFlags::ACK));
}

// RFC 3168 §6.1.4 and §6.1.5: new data is capable; pure ACKs and retransmissions are not.
// Clauses: RFC3168-6.1.4-ack, RFC3168-6.1.5-again
#[test]
fn only_new_data_is_capable() {
    let mut t = Timeline::established(with_ecn(EcnMode::Classic));
    t.write(MSS);
    assert_eq!(t.take().ecn, Ecn::Capable);
    t.receive(0..1);
    assert_eq!(t.take().ecn, Ecn::NotCapable);
    t.at(ms(300));
    assert_eq!(t.take().ecn, Ecn::NotCapable);
}

// RFC 8257 §3.4, and dctcp §2: where marks are exact all data is capable.
#[test]
fn retransmissions_are_capable_in_accurate_mode() {
    let mut t = Timeline::established(with_ecn(EcnMode::Accurate));
    t.write(MSS).take();
    t.at(ms(300));
    assert_eq!(t.take().ecn, Ecn::Capable);
}

// Against RFC 3168 §6.1.5, where asked for: classic ECN with capable retransmissions, as ns-2 has it.
#[test]
fn retransmissions_are_capable_where_asked_for() {
    let mut t = Timeline::established(Config {
        ecn_retransmissions: true,
        ..with_ecn(EcnMode::Classic)
    });
    t.write(MSS).take();
    t.receive(0..1);
    assert_eq!(t.take().ecn, Ecn::NotCapable, "a pure ACK is not");
    t.at(ms(300));
    assert_eq!(t.take().ecn, Ecn::Capable);
}

// As in ns-2: SYN, SYN-ACK, pure ACK, data and FIN.
// Clauses: RFC8257-3.6-syn
#[test]
fn every_segment_is_capable_everywhere() {
    let mut t = Timeline::connecting(with_ecn(EcnMode::Everywhere));
    assert_eq!(t.take().ecn, Ecn::Capable, "the SYN");
    let mut t = Timeline::listening(with_ecn(EcnMode::Everywhere));
    let mut syn = t.syn(willing());
    syn.flags = syn.flags.with(ECN_SETUP);
    t.deliver(syn);
    assert_eq!(t.take().ecn, Ecn::Capable, "the SYN-ACK");
    let mut t = Timeline::established(with_ecn(EcnMode::Everywhere));
    t.receive_marked(0..1);
    let ack = t.take();
    assert_eq!(ack.ecn, Ecn::Capable);
    assert!(ack.flags.has(TcpFlags::ECE), "the echo is exact");
    t.write(MSS);
    assert_eq!(t.take().ecn, Ecn::Capable, "data");
}

// RFC 3168 §6.1.3: ECE on every ACK from the mark until CWR.
// Clauses: RFC3168-6.1.3-echo
#[test]
fn a_mark_is_echoed_until_the_window_was_reduced() {
    let mut t = Timeline::established(with_ecn(EcnMode::Classic));
    t.receive(0..1);
    assert!(!t.take().flags.has(TcpFlags::ECE));
    t.receive_marked(1..2).receive(2..3);
    for _ in 0..2 {
        assert!(t.take().flags.has(TcpFlags::ECE));
    }
    let mut reduced = t.peer_data(3);
    reduced.flags = reduced.flags.with(TcpFlags::CWR);
    t.deliver(reduced);
    assert!(!t.take().flags.has(TcpFlags::ECE));
}

// RFC 3168 §6.1.3: a segment with both CWR and a mark starts the next echo.
// Clauses: RFC3168-6.1.3-again
#[test]
fn a_mark_on_the_segment_with_cwr_is_echoed() {
    let mut t = Timeline::established(with_ecn(EcnMode::Classic));
    t.receive_marked(0..1).take();
    let mut reduced = t.peer_data(1);
    reduced.flags = reduced.flags.with(TcpFlags::CWR);
    reduced.ecn = Ecn::Marked;
    t.deliver(reduced);
    assert!(t.take().flags.has(TcpFlags::ECE));
}

// RFC 3168 §6.1.2: the window halves once per window of data, and does not grow on an echo.
// Clauses: RFC3168-6.1.2-once
#[test]
fn echoes_reduce_the_window_once_per_window() {
    reduces_once_per_window(with_ecn(EcnMode::Classic));
    // The ACK that ends a reduction begins the next one.
    reduces_once_per_window(Config {
        sack: true,
        loss_detection: LossDetection::Rack,
        ..with_ecn(EcnMode::Classic)
    });
}

fn reduces_once_per_window(config: Config) {
    let mut t = Timeline::established(config);
    t.write(60 * MSS).expect_data(0..10);
    echo(&mut t, 1)
        .expect_cwnd(5 * MSS)
        .expect_ssthresh(5 * MSS);
    for segment in 2..=10 {
        echo(&mut t, segment).expect_cwnd(5 * MSS);
    }
    // Segments 10 to 14 left after the reduction; an echo that covers them is a new one.
    t.expect_data(10..15);
    echo(&mut t, 11).expect_cwnd(2500).expect_nothing();
}

// RFC 3168 §6.1.2: CWR on the first new data after a reduction, on no other segment.
// Clauses: RFC3168-6.1.2-cwr
#[test]
fn the_next_new_data_tells_of_the_reduction() {
    let mut t = Timeline::established(with_ecn(EcnMode::Classic));
    t.write(60 * MSS).expect_data(0..10);
    echo(&mut t, 1);
    t.ack(7);
    let told: Vec<bool> = (0..2).map(|_| t.take().flags.has(TcpFlags::CWR)).collect();
    assert_eq!(told, [true, false]);
}

// RFC 3168 §6.1.2: also after a loss; the retransmission itself does not tell.
// Clauses: RFC3168-6.1.2-cwr
#[test]
fn a_loss_is_told_too() {
    let mut t = Timeline::established(with_ecn(EcnMode::Classic));
    t.write(60 * MSS).expect_data(0..10);
    t.duplicates(6);
    let told: Vec<bool> = (0..2).map(|_| t.take().flags.has(TcpFlags::CWR)).collect();
    assert_eq!(told, [false, true]);
}

// RFC 3168 §6.1.2: no second reduction for a loss of the same window.
// Clauses: RFC3168-6.1.2-loss
#[test]
fn an_echo_during_recovery_changes_nothing() {
    let mut t = Timeline::established(with_ecn(EcnMode::Classic));
    t.write(10 * MSS).expect_data(0..10);
    t.duplicates(3).expect_retransmission(0);
    echo(&mut t, 5).expect_retransmission(5);
    t.expect_cwnd(5 * MSS).expect_ssthresh(5 * MSS);
}

// RFC 8257 §3.2: with an ACK per packet the echo is the packet's own mark.
// Clauses: RFC8257-3.2-exact
#[test]
fn with_an_ack_per_packet_the_echo_is_exact() {
    let mut t = Timeline::established(with_ecn(EcnMode::Accurate));
    t.receive(0..1).receive_marked(1..3).receive(3..4);
    let echoes: Vec<bool> = (0..4).map(|_| t.take().flags.has(TcpFlags::ECE)).collect();
    assert_eq!(echoes, [false, true, true, false]);
}

// RFC 8257 §3.2, figure 1: a change of marks sends the waiting ACK with the old mark.
// Clauses: RFC8257-3.2-change
#[test]
fn a_change_of_marks_sends_the_delayed_ack_with_the_old_mark() {
    let mut t = Timeline::established(Config {
        delayed_ack: 3,
        ..with_ecn(EcnMode::Accurate)
    });
    t.receive(0..2).expect_nothing();
    t.receive_marked(2..3);
    let early = t.take();
    assert_eq!(early.ack, t.peer_seq.at(1 + 2 * MSS));
    assert!(!early.flags.has(TcpFlags::ECE));
    t.expect_nothing().receive_marked(3..5);
    let full = t.take();
    assert_eq!(full.ack, t.peer_seq.at(1 + 5 * MSS));
    assert!(full.flags.has(TcpFlags::ECE));
}

// RFC 9293 §3.8.6: what an ACK allows is accepted when it comes, the early one's window too.
#[test]
fn the_window_of_an_early_ack_is_kept() {
    let mut t = Timeline::established(Config {
        delayed_ack: 8,
        receive_buffer: 4 * MSS,
        ..with_ecn(EcnMode::Accurate)
    });
    t.receive(0..3).receive_marked(3..4);
    let early = t.take();
    assert_eq!(early.ack, t.peer_seq.at(1 + 3 * MSS));
    // Segments 3 to 6: three of them beyond what the handshake allowed.
    assert_eq!(u64::from(early.window), 4 * MSS);
    t.receive_marked(4..7);
    assert_eq!(t.endpoint.received(), 7 * MSS);
}

// RFC 8257 §3.2: CWR means nothing to this receiver.
// Clauses: RFC8257-3.2-cwr
#[test]
fn accurate_echoes_ignore_cwr() {
    let mut t = Timeline::established(with_ecn(EcnMode::Accurate));
    let mut packet = t.peer_data(0);
    packet.flags = packet.flags.with(TcpFlags::CWR);
    packet.ecn = Ecn::Marked;
    t.deliver(packet);
    assert!(t.take().flags.has(TcpFlags::ECE));
}

// rcc §9: marks are used at the receiver.
#[test]
fn unechoed_marks_reach_the_role_only() {
    let mut t = Timeline::established(with_ecn(EcnMode::Unechoed));
    t.receive_marked(0..1);
    assert!(t.progress.stored && t.endpoint.arrival().marked);
    assert!(!t.take().flags.has(TcpFlags::ECE));
}

// RFC 3168 §6.1.2: nor for an echo on the ACK that ends the recovery; flight 2, and one more.
// Clauses: RFC3168-6.1.2-loss
#[test]
fn an_echo_on_the_ack_that_ends_recovery_changes_nothing() {
    let mut t = Timeline::established(with_ecn(EcnMode::Classic));
    t.write(60 * MSS).expect_data(0..10);
    t.duplicates(9).expect_retransmission(0).expect_data(10..14);
    echo(&mut t, 12)
        .expect_ssthresh(5 * MSS)
        .expect_cwnd(3 * MSS);
    t.expect_data(14..15);
}

// RFC 3168 §6.1.5, as in Linux: what has come before is not in the window. A receiver without quick ACKs reads it, whatever
// else it does.
#[test]
fn marks_of_data_that_has_come_before_say_nothing() {
    let grows = ReceiveWindow::Grows;
    let all = ReceiveWindow::Buffer;
    for (quick_acks, receive_window, echoed) in [(0, all, true), (0, grows, true), (16, all, false)]
    {
        for ecn in [EcnMode::Classic, EcnMode::Accurate] {
            let mut t = Timeline::established(Config {
                quick_acks,
                receive_window,
                ..with_ecn(ecn)
            });
            t.receive(0..1).expect_ack(1);
            t.receive_marked(0..1);
            assert_eq!(t.take().flags.has(TcpFlags::ECE), echoed, "{ecn:?}");
        }
    }
}

// Its answer to a mark counts all the same.
#[test]
fn data_that_has_come_before_may_say_that_the_window_was_reduced() {
    let mut t = Timeline::established(Config {
        quick_acks: 16,
        ..with_ecn(EcnMode::Classic)
    });
    t.receive_marked(0..1);
    assert!(t.take().flags.has(TcpFlags::ECE));
    let mut again = t.peer_data(0);
    again.flags = again.flags.with(TcpFlags::CWR);
    t.deliver(again);
    assert!(!t.take().flags.has(TcpFlags::ECE));
}

// Linux drops what an ACK has told of before it looks for an answer.
#[test]
fn an_answer_that_comes_again_does_not_end_the_echo_of_a_newer_mark() {
    let mut t = Timeline::established(Config {
        quick_acks: 16,
        ..with_ecn(EcnMode::Classic)
    });
    let mut answer = t.peer_data(1);
    answer.flags = answer.flags.with(TcpFlags::CWR);
    t.receive_marked(0..1);
    assert!(t.take().flags.has(TcpFlags::ECE));
    t.deliver(answer);
    assert!(!t.take().flags.has(TcpFlags::ECE));
    t.receive_marked(2..3);
    assert!(t.take().flags.has(TcpFlags::ECE));
    t.deliver(answer);
    assert!(t.take().flags.has(TcpFlags::ECE));
}

/// A segment of data of a peer that is capable of ECN, with or without a mark.
fn capable(t: &Timeline, segment: u64, ecn: Ecn) -> Packet {
    let mut packet = t.peer_data(segment);
    packet.ecn = ecn;
    packet
}

// Linux 6.12, __tcp_ecn_check_ce and tcp_ecn_accept_cwr: ACKs of two segments do not wait when a mark may have made the
// window of the sender small, and none of data that says so.
#[test]
fn quick_acks_begin_again_when_marks_may_have_made_the_window_small() {
    let mut t = Timeline::established(Config {
        quick_acks: 2,
        delayed_ack: 2,
        ..with_ecn(EcnMode::Classic)
    });
    let plain = |t: &mut Timeline, segment| {
        let packet = capable(t, segment, Ecn::Capable);
        t.deliver(packet);
    };
    // The first two, and then every second one.
    plain(&mut t, 0);
    t.expect_ack(1);
    plain(&mut t, 1);
    t.expect_ack(2);
    plain(&mut t, 2);
    t.expect_nothing();
    plain(&mut t, 3);
    t.expect_ack(4);
    // The first mark: this one and the next.
    let mark = capable(&t, 4, Ecn::Marked);
    t.deliver(mark).expect_ack(5);
    plain(&mut t, 5);
    t.expect_ack(6);
    plain(&mut t, 6);
    t.expect_nothing();
    plain(&mut t, 7);
    t.expect_ack(8);
    // Another one while it is echoed says nothing new.
    let mark = capable(&t, 8, Ecn::Marked);
    t.deliver(mark).expect_nothing();
    plain(&mut t, 9);
    t.expect_ack(10);
    // What says that the window was reduced is acknowledged at once, by itself.
    for (segment, acked) in [(10, 11), (11, 12)] {
        let mut answer = capable(&t, segment, Ecn::Capable);
        answer.flags = answer.flags.with(TcpFlags::CWR);
        t.deliver(answer).expect_ack(acked);
    }
    plain(&mut t, 12);
    t.expect_nothing();
    plain(&mut t, 13);
    t.expect_ack(14);
    // What is not capable among others was sent again.
    t.receive(14..15).expect_ack(15);
    plain(&mut t, 15);
    t.expect_ack(16);
    plain(&mut t, 16);
    t.expect_nothing();
    plain(&mut t, 17);
    t.expect_ack(18);
}

// As long as no segment was capable, one that is not says nothing.
#[test]
fn a_peer_that_marks_nothing_capable_begins_no_quick_acks() {
    let mut t = Timeline::established(Config {
        quick_acks: 2,
        delayed_ack: 2,
        ..with_ecn(EcnMode::Classic)
    });
    t.receive(0..1).expect_ack(1);
    t.receive(1..2).expect_ack(2);
    t.receive(2..3).expect_nothing();
    t.receive(3..4).expect_ack(4);
}

// Linux 6.12, dctcp_ece_ack_update: when marks begin or end, the segment that shows it is acknowledged at once, after what
// waited (RFC 8257 §3.2 step 2).
// Clauses: RFC8257-3.2-change
#[test]
fn a_change_of_marks_is_acknowledged_at_once_where_some_acks_are_quick() {
    for (quick_acks, at_once) in [(0, false), (2, true)] {
        let mut t = Timeline::established(Config {
            quick_acks,
            delayed_ack: 2,
            ..with_ecn(EcnMode::Accurate)
        });
        // Two by themselves if any are quick, and two that are acknowledged together.
        let acked = if at_once { &[1, 2, 4][..] } else { &[2, 4] };
        t.receive(0..4);
        for segments in acked {
            t.expect_ack(*segments);
        }
        t.receive(4..5).expect_nothing();
        t.receive_marked(5..6);
        let early = t.take();
        assert_eq!(early.ack, t.peer_seq.at(1 + 5 * MSS));
        assert!(!early.flags.has(TcpFlags::ECE));
        if at_once {
            let now = t.take();
            assert_eq!(now.ack, t.peer_seq.at(1 + 6 * MSS));
            assert!(now.flags.has(TcpFlags::ECE));
        }
        t.expect_nothing();
    }
}

fn undoing() -> Config {
    Config {
        sack: true,
        undo: true,
        loss_detection: LossDetection::Rack,
        ..with_ecn(EcnMode::Classic)
    }
}

// Linux 6.12, tcp_fastretrans_alert: congestion that a mark proves is not taken back, although the receiver reports that
// the copy was a duplicate. What is thought to be lost is forgotten all the same.
#[test]
fn a_recovery_that_began_with_a_mark_is_not_taken_back() {
    for (marked, window) in [(false, 10), (true, 5)] {
        let mut t = Timeline::established(undoing());
        t.write(10 * MSS).expect_data(0..10);
        report(t.at(ms(100)), 0, (1, 4), marked).expect_retransmission(0);
        t.at(ms(110)).ack(4).expect_cwnd(5 * MSS);
        report(t.at(ms(200)), 4, (0, 1), false).expect_cwnd(window * MSS);
        assert_eq!(t.endpoint.counters().undone, u64::from(!marked));
    }
}

// Linux 6.12, tcp_enter_cwr: the reduction that follows a mark ends what could be taken back before.
#[test]
fn after_a_mark_an_earlier_reduction_is_not_taken_back() {
    let mut t = Timeline::established(undoing());
    t.write(15 * MSS).expect_data(0..10);
    report(t.at(ms(100)), 0, (1, 4), false).expect_retransmission(0);
    // Five segments, and a fifth of one for the ACK that ends the recovery.
    t.at(ms(110)).ack(10).expect_cwnd(5200);
    t.expect_data(10..15);
    echo(t.at(ms(200)), 11).expect_cwnd(2600);
    report(t.at(ms(201)), 11, (0, 1), false).expect_cwnd(2600);
    assert_eq!(t.endpoint.counters().undone, 0);
}
