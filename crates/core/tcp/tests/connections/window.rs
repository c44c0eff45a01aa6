//! The peer's window: zero windows, probes, silly windows (RFC 9293 §3.8.6, RFC 1122 §4.2.3.4).

use base::TcpFlags;
use tcp::{Config, EcnMode, LossDetection, ReceiveWindow, RtoEstimator};

use crate::script::{MSS, Timeline, config, ms};

/// Two of `written` segments filled the peer's window; they are acknowledged with a closed window
/// after 100 ms, so that the RTO is 250 ms.
fn closed_after_two(written: u64) -> Timeline {
    let mut t = Timeline::established(config());
    t.window = 2 * 1024;
    t.ack(0).write(written * MSS).expect_data(0..2);
    t.window = 0;
    t.at(ms(100)).ack(2).expect_nothing();
    t
}

// RFC 9293 §3.8.6: only up to SND.UNA + SND.WND.
#[test]
fn no_more_than_the_window_leaves() {
    let mut t = Timeline::established(config());
    t.window = 4 * 1024;
    t.ack(0).write(10 * MSS).expect_data(0..4);
    t.ack(1).expect_data(4..5);
    t.ack(3).expect_data(5..7);
}

// RFC 9293 §3.8.6.1: first after an RTO, then doubled; the connection lives while the peer answers.
// Clauses: RFC9293-3.8.6.1-probe, RFC9293-3.8.6.1-interval
#[test]
fn a_closed_window_is_probed_with_growing_intervals() {
    let mut t = closed_after_two(7);
    let mut due = 100;
    for interval in [250, 500, 1000, 2000, 4000] {
        due += interval;
        t.quiet_until(ms(due)).at(ms(due));
        let probe = t.take();
        assert_eq!((t.offset(&probe), probe.payload), (1 + 2 * MSS, 1));
        t.ack(2).expect_nothing();
    }
    assert_eq!(t.endpoint.counters().probes, 5);
    assert_eq!(t.endpoint.counters().timeouts, 0);
}

// RFC 9293 §3.8.6.1: the interval doubles up to the bound of the timeout.
// Clauses: RFC9293-3.8.6.1-interval
#[test]
fn intervals_of_probes_have_the_bound_of_the_timeout() {
    let mut t = Timeline::established(Config {
        max_rto: ms(1000),
        ..config()
    });
    t.window = 2 * 1024;
    t.ack(0).write(7 * MSS).expect_data(0..2);
    t.window = 0;
    t.at(ms(100)).ack(2).expect_nothing();
    for due in [350, 850, 1850, 2850, 3850] {
        t.quiet_until(ms(due)).at(ms(due));
        assert_eq!(t.take().payload, 1);
        t.ack(2).expect_nothing();
    }
}

// RFC 9293 §3.8.6.1: also if the data came after the window had closed ...
// Clauses: RFC9293-3.8.6.1-probe
#[test]
fn data_written_to_a_closed_window_is_probed_for() {
    let mut t = closed_after_two(2);
    t.at(ms(1000)).write(MSS).expect_nothing();
    t.quiet_until(ms(1250)).at(ms(1250));
    assert_eq!(t.take().payload, 1);
}

// ... or the window was closed from the start.
#[test]
fn a_window_closed_in_the_handshake_is_probed() {
    let mut t = Timeline::connecting(config());
    t.take();
    t.write(MSS);
    let mut syn_ack = t.syn_ack(crate::script::willing());
    syn_ack.window = 0;
    t.at(ms(100)).deliver(syn_ack).expect_ack(0);
    t.quiet_until(ms(400)).at(ms(400));
    assert_eq!(t.take().payload, 1);
}

// RFC 9293 §3.8.6.1: the update ends the probing.
#[test]
fn a_window_update_lets_data_flow_again() {
    let mut t = closed_after_two(7);
    t.at(ms(350)).take();
    t.window = 64_000;
    t.at(ms(360)).ack(2).expect_data(2..7);
    t.at(ms(460)).ack(7);
    t.at(ms(10_000)).expect_nothing();
}

// RFC 9293 §3.8.6.1: the byte of a probe that was accepted is not sent again.
#[test]
fn an_accepted_probe_counts() {
    let mut t = closed_after_two(7);
    t.at(ms(350)).take();
    t.window = 64_000;
    t.ack_offset(1 + 2 * MSS + 1);
    for _ in 0..4 {
        assert_eq!(u64::from(t.take().payload), MSS);
    }
    let last = t.take();
    assert_eq!(u64::from(last.payload), MSS - 1);
    assert_eq!(t.endpoint.highest_sent(), 1 + 7 * MSS);
}

// RFC 1122 §4.2.3.4: a part of a segment waits while something is outstanding ...
// Clauses: RFC9293-3.8.6.2.1-sender
#[test]
fn no_small_segment_leaves_while_data_is_outstanding() {
    let mut t = Timeline::established(config());
    t.window = 20 * 128;
    t.ack(0).write(10 * MSS).expect_data(0..2);
    // 2560 - 2000 = 560 bytes of room.
    t.expect_nothing();
    t.ack(1).expect_data(2..3);
}

// ... and leaves when nothing is, because nothing would bring an update.
#[test]
fn a_small_segment_leaves_when_nothing_is_outstanding() {
    let mut t = Timeline::established(config());
    t.window = 4 * 128;
    t.ack(0).write(10 * MSS).expect_bytes(512).expect_nothing();
    t.ack_offset(513).expect_bytes(512);
}

// RFC 9293 §3.8.6: a shrunken window does not take back what was sent; nothing new leaves until it
// is acknowledged.
#[test]
fn a_window_below_the_flight_stops_new_data_only() {
    let mut t = Timeline::established(config());
    t.write(20 * MSS).expect_data(0..10);
    t.window = 2 * 1024;
    t.at(ms(100)).ack(1).expect_nothing();
    t.ack(8).expect_nothing();
    t.ack(9).expect_data(10..11);
    t.ack(11).expect_data(11..13);
}

// RFC 9293 §3.8.6: and it is still retransmitted.
#[test]
fn data_beyond_a_shrunken_window_is_retransmitted() {
    let mut t = Timeline::established(config());
    t.write(3 * MSS).expect_data(0..3);
    t.window = 0;
    t.at(ms(100)).ack(1);
    t.quiet_until(ms(350)).at(ms(350)).expect_retransmission(1);
    t.at(ms(400)).ack(2).expect_nothing();
    t.at(ms(900)).expect_retransmission(2);
}

// RFC 9293 §3.8.6.1: probes are no retries; once the window is open, the count starts again.
// Clauses: RFC9293-3.8.6.1-alive
#[test]
fn probes_do_not_use_up_the_retries() {
    let mut t = Timeline::established(Config {
        retries: 2,
        ..config()
    });
    t.window = 1024;
    t.ack(0).write(2 * MSS).expect_data(0..1);
    t.window = 0;
    t.at(ms(100)).ack(1);
    for due in [350, 850, 1850, 3850] {
        t.at(ms(due)).take();
        t.ack(1);
    }
    t.window = 64_000;
    t.ack(1).expect_data(1..2);
    t.at(ms(4100)).expect_retransmission(1);
    t.at(ms(4600)).expect_retransmission(1);
    assert_eq!(t.endpoint.state(), tcp::State::Established);
}

// RFC 7323 §2.3 rounds windows down to a unit of the scale, which would cut or close the window of a
// role that asks for one segment; Linux rounds the window it wants up.
#[test]
fn a_window_set_by_a_role_is_rounded_up_to_a_unit_of_the_scale() {
    for (scale, units) in [(0, MSS), (7, MSS.div_ceil(128)), (14, 1)] {
        let mut t = Timeline::established(Config {
            window_scale: Some(scale),
            ..config()
        });
        t.act(|endpoint| endpoint.limit_window(MSS));
        t.deliver(t.peer_data(0));
        assert_eq!(u64::from(t.take().window), units, "a shift of {scale}");
    }
}

// RFC 9293 §3.10.7.4, fifth check: SND.WL1. The ACK that was overtaken by newer data of the peer has an
// older window.
// Clauses: RFC9293-3.10.7.4-send-window
#[test]
fn the_window_of_an_overtaken_segment_does_not_count() {
    let mut t = Timeline::established(config());
    t.window = 2 * 1024;
    let overtaken = t.peer_segment(TcpFlags::ACK);
    t.window = 6 * 1024;
    t.receive(0..2).expect_ack(1).expect_ack(2);
    t.deliver(overtaken);
    t.write(10 * MSS).expect_data(0..6);
}

// RFC 9293 §3.4: a segment without data is numbered with SND.NXT. After a timeout that is still behind all
// that was sent, or the peer would take the window for an old one.
#[test]
fn an_ack_during_a_timeout_is_numbered_behind_all_that_was_sent() {
    let mut t = Timeline::established(config());
    t.write(3 * MSS).expect_data(0..3);
    t.at(ms(300)).expect_retransmission(0);
    t.receive(0..1);
    let ack = t.take();
    assert_eq!((t.offset(&ack), ack.payload), (1 + 3 * MSS, 0));
}

// RFC 9293 §3.10.7.4: a peer drops and answers what lies beyond its window. The FIN left with the last data that fits,
// so that an ACK behind it would.
#[test]
fn an_ack_is_numbered_within_the_window_of_the_peer() {
    let mut t = Timeline::established(config());
    t.window = 2048;
    t.ack(0)
        .act(|endpoint| {
            endpoint.write(2048);
            endpoint.close();
        })
        .expect_data(0..2);
    let last = t.take();
    assert_eq!((last.payload, last.flags.has(TcpFlags::FIN)), (48, true));
    t.receive(0..1);
    let ack = t.take();
    assert_eq!((t.offset(&ack), ack.payload), (1 + 2048, 0));
    assert_eq!(t.endpoint.highest_sent(), 2 + 2048);
}

// RFC 9293 §3.10.7.4, first check: a segment beyond the window is answered and dropped with its
// acknowledgement.
// Clauses: RFC9293-3.10.7.4-window
#[test]
fn the_acknowledgement_of_a_segment_beyond_the_window_does_not_count() {
    let mut t = Timeline::established(Config {
        receive_buffer: 4 * MSS,
        ..config()
    });
    t.write(MSS).expect_data(0..1);
    let mut beyond = t.peer_data(4);
    beyond.ack = t.endpoint.identity().initial_seq.at(1 + MSS);
    t.deliver(beyond).expect_ack(0);
    assert_eq!(t.endpoint.acknowledged(), 0);
    t.ack(1);
    assert_eq!(t.endpoint.acknowledged(), MSS);
}

// RFC 9293 §3.10.7.4: a closed window accepts no segment, but valid acknowledgements.
#[test]
fn a_probe_of_a_closed_window_still_acknowledges() {
    let mut t = Timeline::established(Config {
        receive_buffer: 2 * MSS,
        ..config()
    });
    t.act(|endpoint| endpoint.set_reading(false));
    t.receive(0..2).expect_ack(1).expect_ack(2);
    t.write(MSS).expect_data(0..1);
    let mut probe = t.peer_data(2);
    probe.payload = 1;
    probe.ack = t.endpoint.identity().initial_seq.at(1 + MSS);
    t.deliver(probe).expect_ack(2);
    assert_eq!(t.endpoint.acknowledged(), MSS);
}

/// A receiver of four segments, whose windows count units of eight bytes and whose ACKs wait for `delayed_ack` segments.
fn scaled(delayed_ack: u32, ecn: EcnMode) -> Timeline {
    Timeline::established(Config {
        receive_buffer: 4 * MSS,
        window_scale: Some(3),
        delayed_ack,
        ecn,
        ..config()
    })
}

// RFC 7323 §2.3, RFC 9293 §3.8.6: what any segment allows is accepted when it comes.
#[test]
fn the_window_that_data_carries_is_accepted() {
    let mut t = scaled(2, EcnMode::Off);
    // Its ACK waits, and leaves with data.
    t.receive(0..1).expect_nothing();
    t.act(|endpoint| endpoint.write(MSS));
    let data = t.take();
    assert_eq!((data.ack, data.window), (t.peer_seq.at(1 + MSS), 500));
    let allowed = t.endpoint.acknowledgement_in(&data);
    assert_eq!(allowed.map(|sent| sent.window), Some(4 * MSS));
    // The fourth from there on is beyond what the handshake allowed.
    t.receive(4..5).expect_ack(1);
    assert_eq!(t.endpoint.held(), MSS);
}

#[test]
fn the_window_that_an_early_ack_carries_is_accepted() {
    let mut t = scaled(8, EcnMode::Accurate);
    t.receive(0..3).receive_marked(3..4);
    assert_eq!(t.take().window, 500);
    t.receive_marked(4..7);
    assert_eq!(t.endpoint.received(), 7 * MSS);
}

/// A receiver whose window grows, with segments of `MSS` bytes.
fn growing() -> Config {
    Config {
        receive_window: ReceiveWindow::Grows,
        receive_buffer: 1 << 20,
        window_scale: Some(5),
        ..config()
    }
}

// Linux 6.12: 64 KiB less a segment at first, two segments more with each that comes, as far as there is room.
#[test]
fn a_window_that_grows_is_offered_as_it_grows() {
    let mut t = Timeline::established(growing());
    for segment in 0..4 {
        t.receive(segment..segment + 1);
        let window = 65_536 - MSS + 2 * MSS * (segment + 1);
        let offered = u64::from(t.take().window);
        assert_eq!(offered, window / 32, "segment {segment}");
    }
    // An application that reads nothing lets it grow all the same, and takes of it what waits.
    t.act(|endpoint| endpoint.set_reading(false));
    t.receive(4..5);
    let window = 65_536 - MSS + 2 * MSS * 5 - MSS;
    assert_eq!(u64::from(t.take().window), window / 32);
}

// Without SACK a duplicate ACK must not change its window (RFC 5681 §2); with it what lies beyond a hole lets it grow, too.
#[test]
fn beyond_a_hole_a_window_grows_with_sack_alone() {
    for sack in [false, true] {
        let mut t = Timeline::established(Config { sack, ..growing() });
        t.receive(0..1);
        let before = t.take().window;
        t.receive(2..3);
        let after = t.take();
        assert_eq!(after.window > before, sack, "{before} and then {after:?}");
    }
}

// Linux 6.12, tcp_may_update_window: of ACKs with the same numbers the larger window counts, and a closed one. RFC 9293
// §3.10.7.4 takes the latest.
#[test]
fn a_smaller_window_on_a_duplicate_does_not_count_where_a_record_is_kept() {
    for (loss_detection, smaller) in [(LossDetection::Rack, 8), (LossDetection::DupAcks, 4)] {
        let mut t = Timeline::established(Config {
            sack: true,
            loss_detection,
            ..config()
        });
        t.write(2 * MSS).expect_data(0..2);
        let mut offer = |kib: u64, segments: u64| {
            t.window = kib * 1024;
            t.ack(segments);
            t.endpoint.peer_window() / 1024
        };
        offer(6, 1);
        assert_eq!(offer(8, 1), 8);
        assert_eq!(offer(4, 1), smaller);
        assert_eq!(offer(0, 1), 0);
        assert_eq!(offer(4, 2), 4);
    }
}

// Linux 6.12, tcp_probe0_base and tcp_ack_probe: round trips of 10 ms and a least timeout of 10 ms make timeouts far below
// 200 ms. Each wait begins with the answer to the probe before.
#[test]
fn probes_of_a_closed_window_wait_for_200_ms_where_timeouts_are_those_of_linux() {
    let mut t = Timeline::established(Config {
        sack: true,
        loss_detection: LossDetection::Rack,
        rto_estimator: RtoEstimator::Linux,
        min_rto: ms(10),
        max_rto: ms(1000),
        ..config()
    });
    for segment in 0..40 {
        t.at(ms(10 * segment)).write(MSS);
        t.expect_data(segment..segment + 1);
        t.at(ms(10 * segment + 10)).ack(segment + 1);
    }
    assert!(t.endpoint.info().rto < ms(100));
    t.window = 0;
    t.ack(40).write(MSS).expect_nothing();
    let mut due = 400;
    for interval in [200, 400, 800, 1000] {
        due += interval;
        t.quiet_until(ms(due)).at(ms(due));
        assert_eq!(t.take().payload, 1);
        due += 50;
        t.at(ms(due)).ack(40).expect_nothing();
    }
}
