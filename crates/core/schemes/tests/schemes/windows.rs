//! What rewriting does to connections: scaled windows, data both ways, silence, several switches.

use base::Span;
use tcp::{Config, Plays as _};

use crate::pair::{BUFFER, MSS, Pair, roles};

/// So many bytes that neither side runs out of them.
const PLENTY: u64 = 1 << 40;
/// A few round trips of 100 us.
const A_WHILE: Span = Span::from_millis(1);

/// A window of a segment in units of a shift, as the sender understands it.
fn segment_at(shift: u8) -> u64 {
    MSS.div_ceil(1 << shift) << shift
}

#[test]
fn both_sides_see_a_segment_rounded_up_to_a_unit_of_the_others_shift() {
    for encoding in ["reserved", "option"] {
        for shift in 0..=14_u8 {
            let other = 14 - shift;
            let hscc = roles("hscc", &[("hscc.encoding", encoding)]);
            let mut pair = Pair::new(&[hscc], [Some(shift), Some(other)], Config::default());
            pair.open();
            // Data both ways: every ACK but the first rides on a data segment.
            pair.ends[0].write(PLENTY);
            pair.ends[1].write(PLENTY);
            pair.run_for(A_WHILE);
            let free = [0, 1].map(|side: usize| pair.ends[side].peer_window());
            pair.queue(0, BUFFER);
            pair.queue(1, BUFFER);
            pair.run_for(A_WHILE);
            assert_eq!(
                pair.ends[0].peer_window(),
                segment_at(other),
                "{encoding} {other}"
            );
            assert_eq!(
                pair.ends[1].peer_window(),
                segment_at(shift),
                "{encoding} {shift}"
            );
            // It sends at least a segment and no more than the window.
            for (end, window) in pair.ends.iter().zip([segment_at(other), segment_at(shift)]) {
                assert!((MSS..=window).contains(&end.in_flight()));
            }
            // One direction alone is let go: below a quarter of the buffer its port is off.
            pair.queue(1, BUFFER / 4 - 1);
            pair.run_for(A_WHILE);
            assert_eq!(pair.ends[0].peer_window(), free[0]);
            assert_eq!(pair.ends[1].peer_window(), segment_at(shift));
            for end in &pair.ends {
                let counters = end.counters();
                assert_eq!((counters.timeouts, counters.retransmissions), (0, 0));
            }
        }
    }
}

#[test]
fn senders_may_send_as_many_segments_whatever_the_encoding() {
    for shift in 0..=14_u8 {
        for window in ["1", "2", "5"] {
            let segments = ["reserved", "window12", "option"].map(|encoding| {
                let changed = [("hscc.encoding", encoding), ("hscc.window", window)];
                let hscc = roles("hscc", &changed);
                let mut pair = Pair::new(&[hscc], [Some(shift); 2], Config::default());
                pair.open();
                pair.queue(1, BUFFER);
                pair.ends[0].write(PLENTY);
                pair.run_for(A_WHILE);
                assert!(pair.ends[0].in_flight() >= MSS);
                pair.ends[0].peer_window() / MSS
            });
            assert!(segments[0] >= window.parse().unwrap());
            assert_eq!(segments, [segments[0]; 3], "shift {shift}");
        }
    }
}

#[test]
fn a_connection_without_scaling_has_windows_of_bytes() {
    for (shifts, encoding) in [
        ([None, Some(7)], "reserved"),
        ([Some(7), None], "window12"),
        ([None, None], "option"),
    ] {
        let hscc = roles("hscc", &[("hscc.encoding", encoding)]);
        let mut pair = Pair::new(&[hscc], shifts, Config::default());
        pair.open();
        pair.queue(1, BUFFER);
        pair.ends[0].write(PLENTY);
        pair.run_for(A_WHILE);
        let window = pair.ends[0].peer_window();
        // Twelve bits of a window of 65 535 bytes leave units of 16.
        let most = if encoding == "window12" {
            MSS.next_multiple_of(16)
        } else {
            MSS
        };
        assert_eq!(window, most, "{encoding}");
    }
}

#[test]
fn a_rewritten_window_outlasts_silence_for_one_round_trip() {
    // The last ACK before the silence was rewritten, and nobody tells the sender when the port is off.
    let mut pair = Pair::new(&[roles("hscc", &[])], [Some(7); 2], Config::default());
    pair.open();
    pair.queue(1, BUFFER);
    pair.ends[0].write(10 * MSS);
    pair.run_for(Span::from_millis(5));
    assert_eq!(pair.ends[0].acknowledged(), 10 * MSS);
    pair.queue(1, 0);
    pair.run_for(Span::from_secs(1));
    assert_eq!(pair.ends[0].peer_window(), segment_at(7));
    pair.ends[0].write(10 * MSS);
    pair.run_for(Span::ZERO);
    assert_eq!(pair.ends[0].in_flight(), MSS, "a segment of the ten");
    pair.run_for(Span::from_micros(100));
    assert!(pair.ends[0].peer_window() > 100 * MSS);
    pair.run_for(A_WHILE);
    assert_eq!(pair.ends[0].acknowledged(), 20 * MSS);
    assert_eq!(pair.ends[0].counters().timeouts, 0);
}

#[test]
fn a_window_that_the_receiver_closed_stays_closed() {
    let config = Config {
        receive_buffer: 20 * MSS,
        ..Config::default()
    };
    for scheme in ["hscc", "rwndq"] {
        let mut pair = Pair::new(&[roles(scheme, &[])], [Some(0); 2], config);
        pair.open();
        pair.ends[1].set_reading(false);
        pair.ends[0].write(PLENTY);
        pair.run_for(A_WHILE);
        pair.queue(1, BUFFER);
        pair.run_for(A_WHILE);
        assert!(pair.ends[0].peer_window() < MSS, "{scheme}");
        assert!(pair.ends[1].held() <= 20 * MSS, "{scheme}");
    }
}

#[test]
fn the_strictest_of_several_switches_decides() {
    let switch = |window| roles("hscc", &[("hscc.window", window)]);
    for windows in [["4", "2", "3"], ["2", "3", "4"], ["3", "4", "2"]] {
        let mut pair = Pair::new(&windows.map(switch), [Some(0); 2], Config::default());
        pair.open();
        pair.queue(1, BUFFER);
        pair.ends[0].write(PLENTY);
        pair.run_for(A_WHILE);
        assert_eq!(pair.ends[0].peer_window(), 2 * MSS, "{windows:?}");
    }
}

#[test]
fn any_sender_obeys_and_keeps_its_own_window() {
    for bundle in ["hscc", "hscc+newreno", "hscc+cubic", "hscc+dctcp"] {
        let mut pair = Pair::new(&[roles(bundle, &[])], [Some(0); 2], Config::default());
        pair.open();
        pair.ends[0].write(PLENTY);
        pair.run_for(A_WHILE);
        let before = pair.ends[0].cc().as_role().window();
        pair.queue(1, BUFFER);
        pair.run_for(A_WHILE);
        assert_eq!(pair.ends[0].in_flight(), MSS, "{bundle}");
        // The congestion window is still there, and is used at once.
        let after = pair.ends[0].cc().as_role().window();
        assert!(after >= before, "{bundle}: {after} after {before}");
        pair.queue(1, 0);
        pair.run_for(Span::from_micros(250));
        assert!(pair.ends[0].in_flight() > 5 * MSS, "{bundle}");
    }
}

#[test]
fn rwndq_grants_its_share_at_every_shift_if_the_shift_is_carried_or_converted() {
    // A port with a target of 0.2 * 84 packets grants a first flow 25 200 bytes.
    let share = 25_200_u64;
    for scale in ["carried", "shim"] {
        for shift in 0..=14_u8 {
            let rwndq = roles("rwndq", &[("rwndq.scale", scale), ("rwndq.interval", "1s")]);
            let mut pair = Pair::new(&[rwndq], [Some(14 - shift), Some(shift)], Config::default());
            pair.open();
            pair.ends[0].write(PLENTY);
            pair.run_for(A_WHILE);
            // The shim's network has one shift, 7.
            let unit = 1_u64 << if scale == "shim" { 7 } else { shift };
            let window = pair.ends[0].peer_window();
            assert_eq!(window, share.next_multiple_of(unit), "{scale} {shift}");
            assert!((share - MSS..=window).contains(&pair.ends[0].in_flight()));
        }
    }
}

#[test]
fn one_shift_written_into_syns_is_misread_by_hosts_that_have_another() {
    // The receiver writes windows in units of 2^ours; the sender reads units of 2^7, as the SYN said.
    let granted = |ours: u8| {
        let changed = [("rwndq.scale", "unified"), ("rwndq.target", "1")];
        let rwndq = roles(
            "rwndq",
            &[&changed[..], &[("rwndq.interval", "1s")]].concat(),
        );
        let config = Config {
            receive_buffer: 40_000,
            ..Config::default()
        };
        let mut pair = Pair::new(&[rwndq], [Some(ours); 2], config);
        pair.open();
        pair.ends[0].write(PLENTY);
        pair.run_for(A_WHILE);
        pair.ends[0].peer_window()
    };
    // 312 units of 128 are the 40 000 bytes that the receiver has room for.
    assert_eq!(granted(7), 40_000 / 128 * 128);
    // 5000 units of 8 are read as units of 128: the port's 126 000 bytes decide, three times the room.
    assert_eq!(granted(3), 126_000_u64.next_multiple_of(128));
    // 39 units of 1024 are read as 39 of 128: an eighth of the room.
    assert_eq!(granted(10), 39 * 128);
}
