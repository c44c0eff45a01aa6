//! Senders that keep a record of every segment: RFC 8985, 5682, 2883, 3708 and 4015.

use base::{Options, TcpFlags, Time};
use tcp::{Config, CongestionState, Growth, LossDetection, Recovery, TailLossProbe};

use crate::script::{HANDSHAKE, MSS, PEER_SCALE, PEER_SEQ, Timeline, config, ms};

fn rack() -> Config {
    Config {
        sack: true,
        loss_detection: LossDetection::Rack,
        ..config()
    }
}

/// A connection with `segments` in its first window and more to send.
fn in_flight(segments: u32, config: Config) -> Timeline {
    let mut t = Timeline::established(Config {
        initial_window: segments,
        ..config
    });
    let segments = u64::from(segments);
    t.write((segments + 40) * MSS).expect_data(0..segments);
    t
}

// RFC 8985 §6.2 step 5: the copy of segment 0 left together with segment 10, which is reported.
// Clauses: RFC8985-6.2-lost
#[test]
fn a_lost_retransmission_is_sent_again_after_a_round_trip() {
    let mut t = in_flight(10, rack());
    t.at(ms(100)).sack(0, &[(1, 4)]).expect_retransmission(0);
    t.expect_cwnd(5 * MSS)
        .sack(0, &[(1, 7)])
        .expect_data(10..11);
    t.at(ms(200)).sack(0, &[(1, 11)]).expect_retransmission(0);
    t.expect_data(11..15);
    assert_eq!(t.endpoint.counters().timeouts, 0);
}

// RFC 8985 §6.2 step 4: min_RTT / 4 beyond the round trip, then the reordering timer.
// Clauses: RFC8985-6.3-timer
#[test]
fn a_single_report_waits_for_a_quarter_of_a_round_trip() {
    let mut t = in_flight(10, rack());
    t.at(ms(100)).sack(0, &[(1, 2)]).expect_data(10..11);
    t.quiet_until(ms(125)).at(ms(125)).expect_retransmission(0);
    assert_eq!(t.endpoint.counters().fast_recoveries, 1);
}

// The last segment carries the FIN. A receiver that reports its data has the FIN, too, whether the block counts the FIN or
// not (RFC 2018 §3 speaks of data).
#[test]
fn a_report_of_the_last_data_covers_the_fin_that_left_with_it() {
    let mut t = Timeline::established(Config {
        initial_window: 10,
        ..rack()
    });
    t.act(|endpoint| {
        endpoint.write(4 * MSS);
        endpoint.close();
    });
    t.expect_data(0..4);
    t.at(ms(100)).sack(0, &[(1, 4)]).expect_retransmission(0);
    assert_eq!(t.endpoint.counters().fast_recoveries, 1);
    t.ack_offset(1 + 4 * MSS + 1);
}

// Linux 6.12, tcp_rack_reo_timeout: on a path that reorders the copy of segment 3, sent again after a timeout, is lost as
// well, as the report of 4 and a quarter of a round trip show.
#[test]
fn a_copy_that_the_reordering_timer_finds_lost_begins_a_recovery() {
    let mut t = Timeline::established(Config {
        initial_window: 6,
        ..rack()
    });
    t.write(6 * MSS).expect_data(0..6);
    t.at(ms(100)).sack(0, &[(2, 3)]).sack(0, &[(1, 3)]);
    t.at(ms(125)).expect_retransmission(0);
    // SRTT 100 ms and RTTVAR 50 * 3/4 * 3/4 ms: a timeout of 212.5 ms.
    let timeout = base::Span::from_micros(337_500);
    t.at(timeout).expect_retransmission(0);
    t.at(timeout + ms(100)).ack(3);
    t.expect_retransmission(3).expect_retransmission(4);
    let report = timeout + ms(200);
    t.at(report).sack(3, &[(4, 5)]).expect_retransmission(5);
    assert_eq!(t.endpoint.counters().fast_recoveries, 1);
    t.at(report + ms(25)).expect_retransmission(3);
    assert_eq!(t.endpoint.counters().fast_recoveries, 2);
}

// The same with the slack of Linux, on a wheel of a millisecond: 27 ms after arming, and the next tick.
#[test]
fn the_reordering_timer_of_linux_fires_later() {
    let mut t = in_flight(
        10,
        Config {
            timer_slack: ms(2),
            tick: ms(1),
            ..rack()
        },
    );
    t.at(ms(100)).sack(0, &[(1, 2)]).expect_data(10..11);
    t.quiet_until(ms(128)).at(ms(128)).expect_retransmission(0);
}

#[test]
fn a_hole_that_closes_in_time_is_no_loss() {
    let mut t = in_flight(10, rack());
    t.at(ms(100)).sack(0, &[(1, 2)]).expect_data(10..11);
    t.at(ms(110))
        .ack(2)
        .expect_cwnd(11 * MSS)
        .expect_data(11..13);
    assert_eq!(t.endpoint.counters().fast_recoveries, 0);
}

// RFC 6675 §4: with a record and without RACK, three duplicates or more than two segments above.
// Clauses: RFC6675-5-enter
#[test]
fn a_record_alone_finds_losses_by_reports() {
    let mut t = in_flight(
        10,
        Config {
            keep_scoreboard: true,
            loss_detection: LossDetection::DupAcks,
            ..rack()
        },
    );
    t.at(ms(100)).sack(0, &[(1, 3)]).expect_data(10..12);
    t.sack(0, &[(1, 4)]).expect_retransmission(0);
}

/// Nine of ten segments are reported, the first is sent again, and its ACK ends the recovery at ssthresh, half of ten.
fn recovered(growth: Growth) -> Timeline {
    let mut t = in_flight(10, Config { growth, ..rack() });
    t.at(ms(100)).sack(0, &[(1, 10)]).expect_retransmission(0);
    t.expect_data(10..14).expect_cwnd(5 * MSS);
    t.at(ms(200)).ack(10);
    t
}

// Linux 6.12, tcp_cong_avoid: one segment is news, of which eq. 3 of RFC 5681 makes a fifth of a segment.
#[test]
fn growth_by_delivery_counts_nothing_twice() {
    let mut t = recovered(Growth::Delivery);
    t.expect_data(14..15).expect_cwnd(5 * MSS);
    // The other four fifths.
    t.at(ms(201)).ack(14).expect_data(15..20);
    t.expect_cwnd(6 * MSS);
}

// RFC 5681 §3.1, eq. 3 by bytes: ten segments are acknowledged, twice the window.
#[test]
fn growth_by_segments_counts_what_is_acknowledged() {
    let mut t = recovered(Growth::Segments);
    t.expect_cwnd(7 * MSS).expect_data(14..17);
}

// Linux 6.12, tcp_may_raise_cwnd: a report alone lets nothing grow, unless segments are known to change their order.
#[test]
fn reports_alone_let_windows_grow_on_paths_that_reorder() {
    let delivery = || {
        in_flight(
            10,
            Config {
                growth: Growth::Delivery,
                ..rack()
            },
        )
    };
    let mut t = delivery();
    t.at(ms(100)).sack(0, &[(1, 2)]).expect_data(10..11);
    t.expect_cwnd(10 * MSS);
    // Segment 1 comes behind five others. Then a report of two segments makes the window two larger.
    let mut t = delivery();
    t.at(ms(100)).sack(0, &[(5, 6)]).expect_data(10..11);
    t.at(ms(101)).ack(2).expect_data(11..15);
    t.expect_cwnd(12 * MSS);
    t.at(ms(102)).sack(2, &[(5, 8)]).expect_data(15..19);
    t.expect_cwnd(14 * MSS);
}

// RFC 6937 §3: ssthresh 5 of 10 segments; every second segment delivered lets one go.
// Clauses: RFC6937-3-delivered, RFC6937-3-proportion
#[test]
fn a_reduction_in_proportion_sends_one_segment_for_two() {
    let mut t = in_flight(
        10,
        Config {
            recovery: Recovery::Prr,
            ..rack()
        },
    );
    // 3 delivered make 2 due, 4 no more, 5 make 3, 6 no more.
    t.at(ms(100)).sack(0, &[(1, 4)]).expect_retransmission(0);
    t.expect_data(10..11).sack(0, &[(1, 5)]).expect_nothing();
    t.sack(0, &[(1, 6)]).expect_data(11..12);
    // With 7 the pipe of 5 is what it is to be.
    t.sack(0, &[(1, 7)]).sack(0, &[(1, 8)]).expect_nothing();
    // The end, and the growth by the ACK that brings it: 1000^2/5000.
    t.ack(10).expect_cwnd(5200).expect_data(12..15);
}

// RFC 8985 §7.2 and §7.3: two round trips of 100 ms after the last data, the last segment leaves again,
// and the timer runs from there.
// Clauses: RFC8985-7.2-timeout, RFC8985-7.3-segment
#[test]
fn the_tail_is_probed_before_the_timer_expires() {
    let mut t = Timeline::established(Config {
        tail_loss_probe: TailLossProbe::Rfc8985,
        ..rack()
    });
    t.write(2 * MSS).expect_data(0..2);
    t.quiet_until(ms(200)).at(ms(200)).expect_retransmission(1);
    t.quiet_until(ms(500)).at(ms(500)).expect_retransmission(0);
    let counters = t.endpoint.counters();
    assert_eq!((counters.tail_probes, counters.timeouts), (1, 1));
}

// RFC 8985 §7.2: a single segment's ACK may be delayed, 40 ms here.
// Clauses: RFC8985-7.2-delayed, RFC8985-7.4.2-loss
#[test]
fn a_probe_of_a_single_segment_waits_for_a_delayed_ack() {
    let mut t = Timeline::established(Config {
        tail_loss_probe: TailLossProbe::Rfc8985,
        ..rack()
    });
    t.write(MSS).expect_data(0..1);
    t.quiet_until(ms(240)).at(ms(240)).expect_retransmission(0);
    // RFC 8985 §7.4.2: the ACK of the copy alone; the loss it repaired is known with what comes behind.
    t.at(ms(340)).ack(1).write(MSS).expect_data(1..2);
    t.at(ms(440)).ack(2).expect_ssthresh(2 * MSS);
}

// Linux 6.12, tcp_init_undo: a copy that has left as a probe may be reported as a duplicate, too. The reports of both
// copies, and not of one, show that the recovery was needless.
#[test]
fn the_copy_of_a_probe_is_awaited_before_a_recovery_is_taken_back() {
    let mut t = Timeline::established(Config {
        tail_loss_probe: TailLossProbe::Rfc8985,
        undo: true,
        dsack: true,
        ..rack()
    });
    t.write(4 * MSS).expect_data(0..4);
    t.at(ms(200)).expect_retransmission(3);
    assert_eq!(t.endpoint.info().retransmitted, Some(0));
    t.at(ms(300)).sack(0, &[(1, 4)]).expect_retransmission(0);
    t.at(ms(400)).sack(4, &[(3, 4)]);
    assert_eq!(t.endpoint.counters().undone, 0);
    t.sack(4, &[(0, 1)]);
    assert_eq!(t.endpoint.counters().undone, 1);
}

// Linux 6.12, tcp_check_dsack: of two segments and a copy three are delivered. Where no copy was sent, the network made it.
#[test]
fn what_came_twice_counts_as_delivered_as_far_as_copies_were_sent() {
    for (probes, window) in [(TailLossProbe::Rfc8985, 13), (TailLossProbe::Off, 12)] {
        let mut t = Timeline::established(Config {
            initial_window: 10,
            tail_loss_probe: probes,
            growth: Growth::Delivery,
            window_validation: false,
            ..rack()
        });
        t.write(2 * MSS).expect_data(0..2);
        t.at(ms(200));
        if probes != TailLossProbe::Off {
            t.expect_retransmission(1);
        }
        t.at(ms(210)).sack(2, &[(1, 2)]).expect_cwnd(window * MSS);
    }
}

// Linux 6.12, tcp_rearm_rto: segment 1 left at 0. When the probe that was to come is given up, as 2 is reported and may only
// have overtaken it, the timeout counts from there and not from the ACK.
#[test]
fn the_timeout_behind_a_probe_counts_from_the_first_segment() {
    let mut t = Timeline::established(Config {
        tail_loss_probe: TailLossProbe::Rfc8985,
        ..in_reports()
    });
    t.write(3 * MSS).expect_data(0..3);
    t.at(ms(100)).sack(1, &[(2, 3)]);
    // SRTT 100 ms and RTTVAR 50 * 3/4 ms.
    t.quiet_until(ms(250)).at(ms(250)).expect_retransmission(1);
    assert_eq!(t.endpoint.counters().timeouts, 1);
}

/// Losses are found by reports alone.
fn in_reports() -> Config {
    Config {
        sack: true,
        keep_scoreboard: true,
        ..config()
    }
}

// RFC 8985 §7.3: new data is the probe if there is any, whatever the congestion window.
// Clauses: RFC8985-7.3-segment
#[test]
fn new_data_probes_first() {
    let mut t = in_flight(
        2,
        Config {
            tail_loss_probe: TailLossProbe::Rfc8985,
            ..rack()
        },
    );
    t.quiet_until(ms(200)).at(ms(200)).expect_data(2..3);
    t.at(ms(300)).sack(0, &[(2, 3)]).expect_retransmission(0);
    t.expect_retransmission(1);
}

// Linux 6.12, tcp_send_loss_probe: the probe is no retransmission that the network is thought to have beside the first
// copy. Two segments are in flight behind the ACK, and the window of three has grown to four.
#[test]
fn a_probe_leaves_the_window_to_new_data() {
    let mut t = Timeline::established(Config {
        initial_window: 3,
        tail_loss_probe: TailLossProbe::Rfc8985,
        ..rack()
    });
    t.write(3 * MSS).expect_data(0..3);
    t.at(ms(200)).expect_retransmission(2);
    assert_eq!(t.endpoint.info().retransmitted, Some(0));
    t.at(ms(210)).ack(1).expect_cwnd(4 * MSS);
    t.write(9 * MSS).expect_data(3..5).quiet_until(ms(220));
}

// RFC 9293 §3.9.1.2: the last segment of what is written is pushed, also when it is sent again.
#[test]
fn the_last_segment_of_a_write_carries_psh() {
    let mut t = Timeline::established(Config {
        initial_window: 4,
        ..rack()
    });
    let pushed = |t: &mut Timeline| t.take().flags.has(TcpFlags::PSH);
    t.write(2 * MSS);
    assert_eq!([pushed(&mut t), pushed(&mut t)], [false, true]);
    t.at(ms(100)).ack(1);
    t.at(ms(350));
    assert!(pushed(&mut t));
}

fn frto() -> Config {
    Config {
        sack: true,
        frto: true,
        ..config()
    }
}

// RFC 5682 §3.1 step 3b and RFC 4015 §3.2: segment 1 was delivered and sent once.
// Clauses: RFC5682-3.1-spurious, RFC4015-3.2-window
#[test]
fn a_timeout_that_an_original_answers_is_taken_back() {
    let mut t = in_flight(4, frto());
    t.at(ms(300)).expect_retransmission(0);
    t.expect_cwnd(MSS).at(ms(310)).ack(2);
    t.expect_ssthresh(u64::MAX)
        .expect_cwnd(5 * MSS)
        .expect_data(4..7);
    assert_eq!(t.endpoint.counters().undone, 1);
}

// RFC 5682 §3.1 steps 2b and 3a: new data after the first ACK; what it brings shows that the hole is real.
// Clauses: RFC5682-3.1-first, RFC5682-3.1-new, RFC5682-3.1-real
#[test]
fn a_timeout_that_was_due_is_repaired_after_new_data() {
    let mut t = in_flight(4, frto());
    t.at(ms(300)).expect_retransmission(0);
    t.at(ms(400)).ack(1).expect_data(4..6);
    t.at(ms(500)).sack(1, &[(4, 5)]).expect_retransmission(1);
    assert_eq!(t.endpoint.counters().undone, 0);
}

// Linux 6.12, tcp_xmit_recovery: the peer's window has room for half a segment, which does not leave while others are out.
#[test]
fn new_data_that_finds_no_room_after_a_timeout_leaves_repairs_go() {
    let mut t = in_flight(4, frto());
    t.at(ms(300)).expect_retransmission(0);
    let mut ack = t.peer_segment(TcpFlags::ACK);
    ack.ack = t.endpoint.identity().initial_seq.at(1 + MSS);
    ack.window = u16::try_from((3 * MSS + MSS / 2) >> PEER_SCALE).unwrap();
    t.at(ms(400)).deliver(ack);
    t.expect_retransmission(1).expect_retransmission(2);
}

// Linux 6.12, tcp_enter_loss: three segments are reported and no recovery has begun when the timer expires.
#[test]
fn a_timeout_with_three_reports_ends_what_is_known_of_reordering() {
    for (reported, known) in [(7, 5 * MSS), (8, 0)] {
        let mut t = Timeline::established(Config {
            initial_window: 10,
            fast_retransmit: false,
            ..rack()
        });
        t.write(10 * MSS).expect_data(0..10);
        t.at(ms(100)).sack(0, &[(4, 5)]);
        t.at(ms(101)).ack(1).sack(1, &[(4, reported - 1)]);
        assert_eq!(t.endpoint.info().overtaken, Some(5 * MSS));
        t.act(|endpoint| {
            while endpoint.counters().timeouts == 0 {
                let due = endpoint.deadline();
                endpoint.on_deadline(due);
                while endpoint.poll(due).is_some() {}
            }
        });
        assert_eq!(t.endpoint.info().overtaken, Some(known));
    }
}

// RFC 6675 §5.1: what was reported before a timeout is not sent again after it.
#[test]
fn a_kept_scoreboard_spares_what_has_arrived() {
    let mut t = in_flight(
        4,
        Config {
            sack: true,
            keep_scoreboard: true,
            ..config()
        },
    );
    t.at(ms(100)).sack(0, &[(1, 2), (3, 4)]).expect_data(4..6);
    t.at(ms(300)).expect_retransmission(0);
    t.at(ms(400)).sack(2, &[(3, 4)]).expect_retransmission(2);
    t.expect_retransmission(4);
}

// RFC 2883 §4.1: the first block reports the duplicate, once.
// Clauses: RFC2883-4-first, RFC2883-4.1-below, RFC2883-4.2-above
#[test]
fn a_duplicate_is_reported_once() {
    let mut t = Timeline::established(Config {
        dsack: true,
        ..rack()
    });
    let report = |t: &mut Timeline| match t.take().options {
        Options::Sack(list) => {
            let number = |seq: base::Seq| (PEER_SEQ.near(seq, 1) - 1) / MSS;
            let blocks = list.as_slice().iter();
            blocks.map(|(a, b)| (number(*a), number(*b))).collect()
        }
        _ => Vec::new(),
    };
    t.receive(0..2).expect_ack(1).expect_ack(2);
    t.receive(1..2);
    assert_eq!(report(&mut t), [(1, 2)]);
    t.receive(3..4);
    assert_eq!(report(&mut t), [(3, 4)]);
    // RFC 2883 §4.2: a duplicate above the acknowledgement comes before the block that holds it.
    t.receive(3..4);
    assert_eq!(report(&mut t), [(3, 4), (3, 4)]);
}

// RFC 3708 §3 and RFC 4015 §3.2: the only copy was a duplicate.
#[test]
fn a_recovery_whose_copies_were_duplicates_is_taken_back() {
    let mut t = in_flight(
        10,
        Config {
            undo: true,
            ..rack()
        },
    );
    t.at(ms(100)).sack(0, &[(1, 4)]).expect_retransmission(0);
    t.expect_cwnd(5 * MSS)
        .at(ms(110))
        .ack(4)
        .expect_cwnd(5 * MSS);
    t.at(ms(200)).sack(4, &[(0, 1)]).expect_cwnd(10 * MSS);
    t.expect_data(10..14);
    assert_eq!(t.endpoint.counters().undone, 1);
}

// RFC 8985 §6.2 step 2: the handshake is the first sample of the least round trip, so that the copy which the
// probe was does not count as answered too soon.
#[test]
fn the_answer_to_the_probe_of_a_first_flight_reveals_its_losses() {
    let mut t = Timeline::established(Config {
        tail_loss_probe: TailLossProbe::Rfc8985,
        ..rack()
    });
    t.write(3 * MSS).expect_data(0..3);
    t.at(ms(200)).expect_retransmission(2);
    t.at(ms(300)).sack(0, &[(2, 3)]);
    t.expect_retransmission(0).expect_retransmission(1);
    assert_eq!(t.endpoint.counters().timeouts, 0);
}

// RFC 8985 §6.2 step 3: neither what an ACK acknowledges nor its older block was overtaken by its newest one.
#[test]
fn one_ack_alone_shows_no_reordering() {
    let mut t = in_flight(10, rack());
    t.at(ms(100)).sack(1, &[(5, 9), (2, 3)]);
    t.expect_retransmission(1)
        .expect_retransmission(3)
        .expect_retransmission(4);
    assert_eq!(t.endpoint.info().overtaken, Some(0));
}

#[test]
fn a_sender_with_a_record_tells_what_became_of_its_segments() {
    let mut t = in_flight(10, rack());
    t.at(ms(100)).sack(0, &[(1, 2)]).expect_data(10..11);
    let info = t.endpoint.info();
    assert_eq!(
        (info.state, info.unacked, info.sacked, info.lost),
        (CongestionState::Disorder, 11, 1, Some(0))
    );
    t.at(ms(125)).expect_retransmission(0);
    let info = t.endpoint.info();
    assert_eq!(
        (info.state, info.lost, info.retransmitted),
        (CongestionState::Recovery, Some(1), Some(1))
    );
    assert_eq!((info.cwnd, info.rto), (5, ms(250)));
}

#[test]
fn a_sender_without_a_record_tells_its_state() {
    let mut t = in_flight(10, config());
    let state = |t: &Timeline| t.endpoint.info().state;
    assert_eq!(state(&t), CongestionState::Open);
    t.duplicates(1);
    assert_eq!(state(&t), CongestionState::Disorder);
    t.duplicates(2).expect_retransmission(0);
    assert_eq!(state(&t), CongestionState::Recovery);
    t.at(ms(300)).expect_retransmission(0);
    let info = t.endpoint.info();
    assert_eq!(
        (info.state, info.cwnd, info.unacked, info.lost),
        (CongestionState::Loss, 1, 10, None)
    );
}

// Linux 6.12, tcp_timeout_mark_lost: what left less than a round trip before the timer expired may still arrive.
#[test]
fn a_timeout_spares_what_was_sent_within_a_round_trip() {
    for (before, is_lost) in [(ms(50), false), (ms(100), true)] {
        let mut t = Timeline::established(rack());
        t.write(MSS).expect_data(0..1);
        t.at(ms(100)).ack(1);
        t.write(MSS).expect_data(1..2);
        let timer = t.endpoint.deadline().since(Time::ZERO) - HANDSHAKE;
        t.at(timer - before).write(MSS).expect_data(2..3);
        t.at(timer).expect_retransmission(1);
        t.at(timer + ms(10)).ack(2);
        if is_lost {
            t.expect_retransmission(2);
        }
        t.expect_nothing();
    }
}
