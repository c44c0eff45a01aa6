//! HSCC's law against the paper's formulas in exact arithmetic.

use base::TcpFlags;
use laws::{Hscc, HsccSettings};
use proptest::prelude::*;

const SETTINGS: HsccSettings = HsccSettings {
    buffer_units: 84,
    alpha1_millionths: 250_000,
    alpha2_millionths: 500_000,
    window_bytes: 1460,
    rewrites_syn_ack: false,
};

// Clauses: HSCC-4-on, HSCC-4-off
#[test]
fn only_alpha2_switches_on_and_only_alpha1_off() {
    // alpha1 * 84 = 21 packets, alpha2 * 84 = 42; both comparisons are strict.
    let mut port = Hscc::new(&SETTINGS);
    let crossings = [
        (20, false),
        (22, false), // up through alpha1
        (42, false), // alpha2 itself
        (43, true),  // up through alpha2
        (41, true),  // down through alpha2
        (84, true),
        (21, true),  // alpha1 itself
        (20, false), // down through alpha1
        (42, false),
    ];
    for (qlen, is_on) in crossings {
        port.on_level(qlen);
        assert_eq!(port.is_on(), is_on, "at {qlen} packets");
    }
}

#[test]
fn exactly_the_lengths_said_to_leave_a_port_as_it_is_do_so() {
    for start in [0, 84] {
        let mut port = Hscc::new(&SETTINGS);
        port.on_level(start);
        let (least, most) = port.unmoved_units();
        for qlen in 0..=84 {
            let mut moved = port.clone();
            moved.on_level(qlen);
            let stays = moved.is_on() == port.is_on();
            assert_eq!(
                stays,
                (least..=most).contains(&qlen),
                "from {start} to {qlen}"
            );
        }
    }
}

// Clauses: HSCC-4-scale
#[test]
fn a_segment_is_rounded_up_at_every_scale() {
    let mut port = Hscc::new(&SETTINGS);
    port.on_level(84);
    // ceil(1460 / 2^s): 1460/2 = 730, ..., 1460/128 = 11.4, ..., 1460/2048 < 1.
    let units = [1460, 730, 365, 183, 92, 46, 23, 12, 6, 3, 2, 1, 1, 1, 1];
    for (scale, expected) in (0..).zip(units) {
        assert_eq!(
            port.window(TcpFlags::ACK, 65535, scale),
            expected,
            "scale {scale}"
        );
    }
}

// Clauses: HSCC-4-rewrite
#[test]
fn only_acks_are_rewritten_and_syn_acks_if_asked_for() {
    let mut port = Hscc::new(&SETTINGS);
    let mut strict = Hscc::new(&HsccSettings {
        rewrites_syn_ack: true,
        ..SETTINGS
    });
    port.on_level(84);
    strict.on_level(84);
    let ack = TcpFlags::ACK;
    let syn_ack = ack.with(TcpFlags::SYN);
    assert_eq!(port.window(ack.with(TcpFlags::PSH), 30_000, 0), 1460);
    for other in [
        TcpFlags::NONE,
        TcpFlags::SYN,
        ack.with(TcpFlags::RST),
        ack.with(TcpFlags::FIN),
    ] {
        assert_eq!(port.window(other, 30_000, 0), 30_000);
        assert_eq!(strict.window(other, 30_000, 0), 30_000);
    }
    assert_eq!(port.window(syn_ack, 30_000, 7), 30_000);
    // The window of a SYN-ACK is not scaled, whatever the connection will do: RFC 7323 §2.2.
    assert_eq!(strict.window(syn_ack, 30_000, 7), 1460);
}

proptest! {
    // Clauses: HSCC-4-thresholds
    #[test]
    fn thresholds_are_those_of_exact_fractions(
        buffer_units: u64,
        alpha1_millionths in 0..=1_000_000_u32,
        alpha2_millionths in 0..=1_000_000_u32,
        levels in prop::collection::vec((any::<u64>(), -2..3_i64), 1..30),
    ) {
        let mut port = Hscc::new(&HsccSettings {
            buffer_units, alpha1_millionths, alpha2_millionths, ..SETTINGS
        });
        let mut is_on = false;
        for (random, near) in levels {
            // Every other level is next to a threshold, where rounding would show.
            let alpha = [alpha1_millionths, alpha2_millionths][(random % 2) as usize];
            let threshold = u128::from(buffer_units) * u128::from(alpha) / 1_000_000;
            let close = u64::try_from(threshold).unwrap().saturating_add_signed(near);
            let qlen = if random % 4 < 2 { close } else { random };
            let scaled = u128::from(qlen) * 1_000_000;
            let of = |alpha| u128::from(buffer_units) * u128::from(alpha);
            is_on = if is_on { scaled >= of(alpha1_millionths) } else { scaled > of(alpha2_millionths) };
            port.on_level(qlen);
            prop_assert_eq!(port.is_on(), is_on);
        }
    }

    // Clauses: HSCC-4-scale
    #[test]
    fn a_window_is_the_fewest_units_that_hold_it_and_never_more_than_granted(
        window_bytes: u32,
        advertised: u16,
        scale: u8,
        flags in (0..=255_u8).prop_map(flags_of),
        rewrites_syn_ack: bool,
    ) {
        let mut port = Hscc::new(&HsccSettings { window_bytes, rewrites_syn_ack, ..SETTINGS });
        prop_assert_eq!(port.window(flags, advertised, scale), advertised);
        port.on_level(u64::MAX);
        let written = port.window(flags, advertised, scale);
        prop_assert!(written <= advertised);
        if written < advertised {
            prop_assert!(written >= 1 && flags.has(TcpFlags::ACK));
            let shift = if flags.has(TcpFlags::SYN) { 0 } else { scale.min(14) };
            let bytes = |units: u16| u64::from(units) << shift;
            prop_assert!(bytes(written) >= u64::from(window_bytes));
            prop_assert!(written == 1 || bytes(written - 1) < u64::from(window_bytes));
        }
    }
}

/// The flags of a byte of the header, those without a name left out.
fn flags_of(byte: u8) -> TcpFlags {
    let all = [
        TcpFlags::FIN,
        TcpFlags::SYN,
        TcpFlags::RST,
        TcpFlags::PSH,
        TcpFlags::ACK,
    ];
    let set = all.into_iter().filter(|flag| byte & flag.bits() != 0);
    set.fold(TcpFlags::NONE, TcpFlags::with)
}

#[test]
fn a_port_goes_on_from_memory_and_takes_other_settings() {
    let mut port = Hscc::new(&SETTINGS);
    port.on_level(84);
    let memory = port.to_memory();
    let recalled = Hscc::from_memory(&memory).expect("all of it is there");
    assert_eq!(format!("{recalled:?}"), format!("{port:?}"));
    let other = Hscc::new(&HsccSettings {
        window_bytes: 2920,
        ..SETTINGS
    });
    let revised = other.loadable().revised(&port.loadable().memory);
    let recalled = Hscc::of_map(&revised.expect("the same law")).expect("all of it is there");
    assert!(recalled.is_on());
    assert_eq!(recalled.window(TcpFlags::ACK, 60_000, 0), 2920);
    assert!(Hscc::from_memory(&memory[..27]).is_none());
}
