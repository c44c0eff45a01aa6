//! RWNDQ's law against the paper's formulas in exact fractions.

use std::time::Duration;

use base::TcpFlags;
use laws::{Case, Idle, Rwndq, RwndqSettings};
use proptest::prelude::*;

/// The paper's: 83 packets of 1500 bytes, a target of 20 %, ten samples.
const PAPER: RwndqSettings = RwndqSettings {
    buffer_bytes: 83 * 1500,
    alpha_millionths: 200_000,
    samples: 10,
    mss_bytes: 1460,
    scale: 14,
    paths: 1,
};
/// 20 % of 83 packets: 16.6.
const TARGET: u64 = 24_900;

fn port(settings: &RwndqSettings, flows: u32) -> Rwndq {
    let mut port = Rwndq::new(settings);
    port.on_packet(1500);
    for _ in 0..flows {
        port.on_open();
    }
    port
}

fn update(port: &mut Rwndq, qlen: u64) {
    for _ in 0..PAPER.samples {
        port.on_sample(qlen);
    }
}

fn bytes(port: &Rwndq) -> u64 {
    port.window_q16_bytes() >> 16
}

/// Out of slow start, with the window it had at the end.
fn started(settings: &RwndqSettings, flows: u32) -> Rwndq {
    let mut port = port(settings, flows);
    for _ in 0..settings.samples.max(1) {
        port.on_sample(settings.buffer_bytes);
    }
    assert!(!port.is_starting());
    port
}

// Clauses: RWNDQ-alg1-24, RWNDQ-alg1-26
#[test]
fn slow_start_fills_the_pipe_with_42_updates() {
    // RWNDQ sheet: from the target of 16.6 packets, two more per update, until the pipe of 83 packets
    // and the target fit: (83 + 16.6 - 16.6) / 2 = 41.5 updates.
    let mut port = port(&PAPER, 1);
    assert_eq!(bytes(&port), TARGET);
    for _ in 0..42 {
        update(&mut port, 0);
    }
    assert_eq!(bytes(&port), TARGET + 42 * 2 * 1500);
    assert!(port.is_starting());
    // The update that finds the target reached adds its two packets still.
    update(&mut port, TARGET);
    assert!(!port.is_starting());
    assert_eq!(bytes(&port), TARGET + 43 * 2 * 1500);
}

// Clauses: RWNDQ-alg1-24
#[test]
fn flows_may_share_the_two_packets_of_slow_start() {
    // Ten flows have a tenth of the target each. Literally each window grows by two packets, 20 in
    // all; shared, by a tenth of that.
    for (shared, growth) in [(false, 2 * 1500), (true, 2 * 1500 / 10)] {
        let mut port = port(&PAPER, 10).with_shared_start(shared);
        let before = bytes(&port);
        update(&mut port, 0);
        // The window is at least a segment.
        assert_eq!(bytes(&port), (before + growth).max(1460));
        update(&mut port, 0);
        assert_eq!(bytes(&port), (before + 2 * growth).max(1460 + growth));
        let again = Rwndq::from_memory(&port.to_memory()).expect("whole");
        assert_eq!(again.to_memory(), port.to_memory());
    }
}

// Clauses: RWNDQ-alg1-21, RWNDQ-alg1-28
#[test]
fn an_update_moves_the_total_by_at_most_one_packet_up_and_four_down() {
    let mut port = started(&PAPER, 1);
    let before = bytes(&port);
    // ratio = 1 - 0 = 1, ten times 1500/10.
    update(&mut port, 0);
    assert_eq!(bytes(&port), before + 1500);
    // ratio = 1 - 1/alpha = -4 in a full buffer.
    update(&mut port, PAPER.buffer_bytes);
    assert_eq!(bytes(&port), before - 3 * 1500);
    // At the target nothing moves.
    update(&mut port, TARGET);
    assert_eq!(bytes(&port), before - 3 * 1500);
}

// Clauses: RWNDQ-alg1-join
#[test]
fn many_flows_begin_with_a_share_of_the_target_and_are_granted_a_segment() {
    // RWNDQ sheet: 24 900 / 50 = 498 and 24 900 / 100 = 249 bytes; written is never less than a segment.
    for (flows, share) in [(50, 498), (100, 249)] {
        let mut port = port(&PAPER, flows);
        assert!(bytes(&port).abs_diff(share) <= 1, "{flows} flows");
        assert_eq!(port.window(65535, 0), 1460);
        // The first update: two packets more.
        update(&mut port, 0);
        assert!(bytes(&port).abs_diff(share + 3000) <= 1);
    }
}

// Clauses: RWNDQ-alg1-3
#[test]
fn the_last_end_and_the_first_begin_start_anew() {
    let mut port = started(&PAPER, 2);
    update(&mut port, 0);
    port.on_close();
    port.on_close();
    assert!(port.is_starting());
    assert_eq!((port.flows(), bytes(&port)), (0, TARGET));
    // Without flows nothing moves, and an end too many counts as none.
    update(&mut port, 0);
    port.on_close();
    assert_eq!((port.flows(), bytes(&port)), (0, TARGET));
    // Samples from before the first flow do not count: nine of the ten are missing after one.
    port.on_sample(0);
    port.on_open();
    for _ in 0..9 {
        port.on_sample(0);
    }
    assert_eq!(bytes(&port), TARGET);
    port.on_sample(0);
    assert_eq!(bytes(&port), TARGET + 3000);
}

// Clauses: RWNDQ-alg1-chain
#[test]
fn cases_are_a_chain() {
    let ack = TcpFlags::ACK;
    let cases = [
        (ack.with(TcpFlags::SYN), Case::Opens),
        (ack.with(TcpFlags::FIN), Case::Closes),
        (TcpFlags::RST, Case::Closes),
        (ack.with(TcpFlags::PSH), Case::Acknowledges),
        (TcpFlags::SYN, Case::Nothing),
        (TcpFlags::NONE, Case::Nothing),
    ];
    for (flags, case) in cases {
        assert_eq!(Rwndq::case(flags), case, "{flags:?}");
    }
}

#[test]
fn the_share_is_divided_among_paths() {
    let settings = RwndqSettings { paths: 4, ..PAPER };
    // 24 900 / 4 = 6225 bytes, and with 8 flows a segment.
    assert_eq!(port(&settings, 1).window(65535, 0), 6225);
    assert_eq!(port(&settings, 8).window(65535, 0), 1460);
}

/// Settings of the range for which the header promises a byte: alpha of at least 1 % and a target of
/// at least a packet.
fn settings() -> impl Strategy<Value = RwndqSettings> {
    let alpha = prop_oneof![10_000..=1_000_000_u32, Just(10_000), Just(200_000)];
    let samples = prop_oneof![1..=64_u16, Just(10), Just(4096)];
    let buffer = (any::<u32>(), 0..32_u32).prop_map(|(number, shift)| u64::from(number >> shift));
    (alpha, samples, buffer, 1..=9000_u16, 0..=14_u8).prop_map(
        |(alpha_millionths, samples, buffer, mss_bytes, scale)| {
            let packet = u64::from(mss_bytes.max(1500));
            let least = (packet * 1_000_000).div_ceil(u64::from(alpha_millionths));
            RwndqSettings {
                buffer_bytes: (least + buffer).min(1 << 30),
                alpha_millionths,
                samples,
                mss_bytes,
                scale,
                paths: 1,
            }
        },
    )
}

proptest! {
    // Clauses: RWNDQ-alg1-21
    #[test]
    fn an_update_is_within_a_byte_of_the_exact_one(
        settings in settings(),
        flows in prop_oneof![1..=200_u32, Just(65_535)],
        shares in prop::collection::vec(prop_oneof![0..=1000_u64, Just(0), Just(1000)], 1..16),
    ) {
        let mut port = started(&settings, flows);
        let size = u64::from(settings.mss_bytes.max(1500));
        let before = i128::from(port.window_q16_bytes());
        // All in units of 1/(B * alpha * M * f) byte: W_incr = sum of (1 - qlen/(alpha B)) * Max / M.
        let target = i128::from(settings.buffer_bytes) * i128::from(settings.alpha_millionths);
        let unit = target * i128::from(settings.samples) * i128::from(flows);
        let mut change = 0;
        for sample in 0..usize::from(settings.samples) {
            let qlen = settings.buffer_bytes * shares[sample % shares.len()] / 1000;
            change += (target - i128::from(qlen) * 1_000_000) * i128::from(size);
            port.on_sample(qlen);
        }
        let least = i128::from(settings.mss_bytes) << 16;
        let most = 65_535_i128 << (16 + settings.scale);
        // In 1/65536 byte, as the window: the clamp is monotone, so it may come before the division.
        let exact = (before * unit + (change << 16)).clamp(least * unit, most * unit);
        let error = (i128::from(port.window_q16_bytes()) * unit - exact).abs();
        prop_assert!(error <= unit << 16, "off by {} / 65536 byte", error / unit);
    }

    // Clauses: RWNDQ-alg1-join, RWNDQ-alg1-leave
    #[test]
    fn joins_and_leaves_multiply_to_one(
        settings in settings(),
        flows in 1..=500_u32,
        joining in 1..=200_u32,
    ) {
        let mut port = started(&settings, flows);
        let before = u128::from(port.window_q16_bytes());
        for _ in 0..joining {
            port.on_open();
        }
        // Q * f/(f+1) * (f+1)/(f+2) ... = Q * f/(f+n).
        let share = before * u128::from(flows) / u128::from(flows + joining);
        let joined = u128::from(port.window_q16_bytes());
        prop_assert!(joined.abs_diff(share) <= 1 << 16);
        for _ in 0..joining {
            port.on_close();
        }
        let back = u128::from(port.window_q16_bytes());
        prop_assert!(back.abs_diff(before) <= 1 << 16, "{back} after {before}");
    }

    // Clauses: RWNDQ-alg1-ack
    #[test]
    fn a_window_is_the_fewest_units_that_hold_it_and_never_more_than_granted(
        settings in settings(),
        flows in 1..=200_u32,
        advertised: u16,
        scale: u8,
    ) {
        let port = started(&settings, flows);
        let written = port.window(advertised, scale);
        let share = port.window_q16_bytes().max(u64::from(settings.mss_bytes) << 16);
        let q16 = |units: u16| u64::from(units) << (16 + scale.min(14));
        prop_assert!(written <= advertised);
        prop_assert!(written == advertised || q16(written) >= share);
        prop_assert!(written <= 1 || q16(written - 1) < share);
    }

    /// Every value of every field: nothing may be undefined, and no window be closed that was open.
    #[test]
    fn any_settings_and_any_events_are_defined(
        buffer_bytes: u64,
        alpha_millionths: u32,
        counts: (u16, u16, u16),
        scale: u8,
        events in prop::collection::vec((0..6_u8, any::<u64>()), 1..200),
    ) {
        let (samples, mss_bytes, paths) = counts;
        let mut port = Rwndq::new(&RwndqSettings {
            buffer_bytes, alpha_millionths, samples, mss_bytes, scale, paths,
        });
        for (event, number) in events {
            #[expect(clippy::cast_possible_truncation, reason = "any value will do")]
            let (size, units) = (number as u32, number as u16);
            match event {
                0 => port.on_packet(size),
                1 => port.on_open(),
                2 => port.on_close(),
                3 => port.on_sample(number),
                4 => (0..samples).for_each(|_| port.on_sample(u64::from(size))),
                _ => (0..size % 70_000).for_each(|_| port.on_open()),
            }
            let window = port.window(units, scale);
            prop_assert!(window <= units && (window > 0 || units == 0));
            prop_assert!(port.flows() <= 65_535);
        }
    }
}

#[test]
fn a_port_goes_on_from_memory_and_takes_other_settings() {
    let mut port = started(&PAPER, 3);
    port.on_sample(7_000);
    let memory = port.to_memory();
    let recalled = Rwndq::from_memory(&memory).expect("all of it is there");
    assert_eq!(format!("{recalled:?}"), format!("{port:?}"));
    let (interval, idle) = (Duration::from_micros(50), Idle::new(0));
    let other = Rwndq::new(&RwndqSettings { paths: 2, ..PAPER }).loadable(interval, &idle, false);
    let revised = other.revised(&port.loadable(interval, &idle, false).memory);
    let (recalled, _) = Rwndq::of_map(&revised.expect("the same law")).expect("all of it is there");
    assert_eq!(recalled.flows(), 3);
    assert_eq!(recalled.window_q16_bytes(), port.window_q16_bytes());
    assert!(recalled.window(u16::MAX, 0) < port.window(u16::MAX, 0));
    assert!(Rwndq::from_memory(&memory[..63]).is_none());
}
