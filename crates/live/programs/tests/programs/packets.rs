//! Packets that a program changes according to its law, and packets that it lets pass: golden ones by test runs.

use std::thread;
use std::time::Duration;

use base::TcpFlags;
use laws::{Hscc, HsccSettings, Idle, Loadable, Rwndq, RwndqSettings};
use programs::{Direction, LoadOptions, Port, Reason};

use crate::frame::{ACK, ECE, FIN, Frame, PSH, RST, SYN, URG, flags as named};
use crate::{count, loaded};

/// HSCC that is on and stays on.
fn on(window_bytes: u32, rewrites_syn_ack: bool) -> Hscc {
    let mut law = Hscc::new(&HsccSettings {
        buffer_units: 64_000,
        alpha1_millionths: 0,
        alpha2_millionths: 500_000,
        window_bytes,
        rewrites_syn_ack,
    });
    law.on_level(64_000);
    law
}

/// RWNDQ without flows, for windows that are not scaled.
fn unscaled_rwndq() -> Rwndq {
    Rwndq::new(&RwndqSettings {
        buffer_bytes: 64_000,
        alpha_millionths: 200_000,
        samples: 10,
        mss_bytes: 1_460,
        scale: 0,
        paths: 1,
    })
}

fn port(law: &Loadable) -> Option<Port> {
    let port = loaded(Port::load(law))?;
    port.renew(Duration::from_hours(1)).expect("a lease");
    Some(port)
}

fn ingress(port: &Port, frame: &Frame) -> Vec<u8> {
    let run = port.run(Direction::Ingress, &frame.bytes());
    run.expect("a frame is run")
}

/// Both SYNs go by.
fn open(port: &Port, like: &Frame, shifts: [Option<u8>; 2]) {
    let with = |frame: Frame| Frame {
        v6: like.v6,
        vlan: like.vlan,
        ..frame
    };
    let syn = with(Frame::syn(shifts[0])).bytes();
    assert_eq!(port.run(Direction::Egress, &syn).expect("a SYN"), syn);
    drop(ingress(port, &with(Frame::syn_ack(shifts[1]))));
}

const HSCC: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/hscc.o"));
const WRAPPED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/hscc_wrapped.o"));
const TIMESTAMPS: [u8; 12] = [1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2];
const SACK: [u8; 12] = [1, 1, 5, 10, 0, 0, 0, 9, 0, 0, 0, 20];

#[test]
fn acks_get_the_window_of_the_law_and_a_right_checksum() {
    let (mut seen, law) = (0, on(1_460, false));
    for v6 in [false, true] {
        for vlan in [false, true] {
            for shift in [None, Some(0), Some(2), Some(7), Some(14)] {
                let Some(port) = port(&law.loadable()) else {
                    return;
                };
                let plain = Frame {
                    v6,
                    vlan,
                    ..Frame::ack(60_000)
                };
                open(&port, &plain, [Some(3), shift]);
                let scale = shift.unwrap_or(0);
                let layouts: [&[u8]; 4] = [&[], &TIMESTAMPS, &SACK, &[1, 1, 1, 1]];
                for options in layouts {
                    for flags in [ACK, ACK | PSH, ACK | ECE] {
                        for window in [1, 12, 1_000, 65_535] {
                            let frame = Frame {
                                options: options.to_vec(),
                                flags,
                                window,
                                payload: usize::from(window % 3),
                                ..plain.clone()
                            };
                            let expected = Frame {
                                window: law.window(named(flags), window, scale),
                                ..frame.clone()
                            };
                            let got = ingress(&port, &frame);
                            assert_eq!(got, expected.bytes(), "{frame:?} at scale {scale}");
                            seen += 1;
                        }
                    }
                }
            }
        }
    }
    assert_eq!(seen, 960);
}

/// Scales as RFC 7323 allows them, and one beyond.
#[test]
fn every_scale_gets_the_window_of_the_law() {
    let law = on(1_460, false);
    for v6 in [false, true] {
        for shift in 0..=15 {
            let Some(port) = port(&law.loadable()) else {
                return;
            };
            let plain = Frame {
                v6,
                ..Frame::ack(60_000)
            };
            open(&port, &plain, [Some(3), Some(shift)]);
            let window = law.window(TcpFlags::ACK, 60_000, shift.min(14));
            let expected = Frame {
                window,
                ..plain.clone()
            };
            assert_eq!(ingress(&port, &plain), expected.bytes(), "scale {shift}");
        }
    }
}

/// Options of an ACK: where the law looks at them, and whether it may change the window.
#[test]
fn options_decide_in_any_order_whether_the_law_may_act() {
    let [md5, ao, mptcp] = [
        [&[19, 18][..], &[7; 16]].concat(),
        [&[29, 16][..], &[7; 14]].concat(),
        vec![30, 8, 0x20, 0, 0, 0, 0, 5],
    ];
    let (timestamps, sack) = (&TIMESTAMPS[2..], &SACK[2..]);
    let own: [(&[&[u8]], Option<Reason>); 22] = [
        (&[timestamps], None),
        (&[timestamps, &[1, 1]], None),
        (&[&[1], timestamps, &[1]], None),
        (&[sack], None),
        (&[sack, timestamps], None),
        (&[timestamps, sack], None),
        (&[&[1, 1], sack, &[1, 1], timestamps], None),
        (&[&[253, 4, 1, 2], timestamps], None),
        (&[&[0], &[19, 18]], None),
        (&[&[1; 40]], None),
        (&[&[8, 10, 0, 0], &[19, 18, 0, 0], &[1, 1]], None),
        (&[&md5], Some(Reason::Options)),
        (&[timestamps, &md5], Some(Reason::Options)),
        (&[&[1, 1], &md5, timestamps], Some(Reason::Options)),
        (&[&ao], Some(Reason::Options)),
        (&[sack, &ao, timestamps], Some(Reason::Options)),
        (&[&mptcp], Some(Reason::Options)),
        (&[timestamps, &mptcp, sack], Some(Reason::Options)),
        (&[&[8]], Some(Reason::Short)),
        (&[&[1, 1, 8, 10, 0, 0, 0, 0]], Some(Reason::Short)),
        (&[timestamps, &[5, 1]], Some(Reason::Short)),
        (&[&[253, 0], timestamps], Some(Reason::Short)),
    ];
    for v6 in [false, true] {
        for (options, passes) in &own {
            // An option that is cut off after its kind must not be filled up with zeros, which end the options.
            let mut options = options.concat();
            while passes == &Some(Reason::Short) && options.len() % 4 > 0 {
                options.insert(0, 1);
            }
            if check_options(v6, &options, *passes).is_none() {
                return;
            }
        }
    }
}

/// An ACK with such options passes for this reason, or its window is lowered. `None` where programs cannot be loaded.
fn check_options(v6: bool, options: &[u8], passes: Option<Reason>) -> Option<()> {
    let law = on(1_460, false);
    let port = port(&law.loadable())?;
    let frame = Frame {
        v6,
        options: options.to_vec(),
        ..Frame::ack(60_000)
    };
    open(&port, &frame, [Some(7), Some(7)]);
    let window = match passes {
        Some(_) => frame.window,
        None => law.window(TcpFlags::ACK, frame.window, 7),
    };
    let reason = passes.unwrap_or(Reason::Rewritten);
    let expected = Frame {
        window,
        ..frame.clone()
    };
    let before = count(&port, reason);
    assert_eq!(ingress(&port, &frame), expected.bytes(), "{frame:?}");
    assert_eq!(count(&port, reason) - before, 1, "{reason:?} {frame:?}");
    Some(())
}

#[test]
fn a_connection_whose_syns_sign_or_speak_mptcp_passes_as_it_is() {
    for option in [
        [&[19, 18][..], &[7; 16]].concat(),
        [&[29, 16][..], &[7; 14]].concat(),
        vec![30, 4, 0x01, 0],
    ] {
        for way in [Direction::Egress, Direction::Ingress] {
            let Some(port) = port(&on(1_460, false).loadable()) else {
                return;
            };
            let mut syns = [Frame::syn(Some(7)), Frame::syn_ack(Some(7))];
            let signs = usize::from(way == Direction::Ingress);
            syns[signs].options.extend(&option);
            let [syn, syn_ack] = syns.map(|frame| frame.bytes());
            drop(port.run(Direction::Egress, &syn).expect("a SYN"));
            drop(port.run(Direction::Ingress, &syn_ack).expect("a SYN-ACK"));
            let before = count(&port, Reason::Options);
            let ack = Frame::ack(60_000);
            assert_eq!(ingress(&port, &ack), ack.bytes(), "{option:?} {way:?}");
            let passed = count(&port, Reason::Options) - before;
            assert_eq!(passed, 1, "{option:?} {way:?}");
        }
    }
}

/// A network card removes the tag and stores it beside the frame.
#[test]
fn a_tag_beside_the_frame_hides_nothing() {
    let law = on(1_460, false);
    let loaded = loaded(Port::load_as(&law.loadable(), WRAPPED, 16));
    let Some(port) = loaded else {
        return;
    };
    port.renew(Duration::from_hours(1)).expect("a lease");
    open(&port, &Frame::ack(0), [Some(7), Some(7)]);
    let mut programs = port.object().progs_mut();
    let tagged = programs.find(|program| program.name() == "tagged");
    let frame = Frame::ack(60_000).bytes();
    let mut out = vec![0; frame.len()];
    let input = libbpf_rs::ProgramInput {
        data_in: Some(&frame),
        data_out: Some(&mut out),
        ..libbpf_rs::ProgramInput::default()
    };
    let ran = tagged.expect("a program").test_run(input);
    ran.expect("a frame is run");
    let expected = Frame::ack(law.window(TcpFlags::ACK, 60_000, 7)).bytes();
    assert_eq!(out, expected);
}

/// A hundred connections, and room for sixteen directions: known connections get the window of the law at their own
/// scale, and the others pass.
#[test]
fn a_law_that_forgets_connections_lets_them_pass() {
    let law = on(1_460, false);
    let Some(port) = loaded(Port::load_as(&law.loadable(), HSCC, 16)) else {
        return;
    };
    port.renew(Duration::from_hours(1)).expect("a lease");
    let scale = |flow: u8| flow % 15;
    let run = |way, frame: Frame, flow: u8| {
        let run = port.run(way, &frame.of_host(flow).bytes());
        run.expect("a frame is run")
    };
    let mut known = 0;
    for flow in 3..103 {
        let shift = Some(scale(flow));
        drop(run(Direction::Egress, Frame::syn(shift), flow));
        drop(run(Direction::Ingress, Frame::syn_ack(shift), flow));
    }
    for flow in 3..103 {
        let got = run(Direction::Ingress, Frame::ack(60_000), flow);
        let window = law.window(TcpFlags::ACK, 60_000, scale(flow));
        let [passed, lowered] = [60_000, window].map(|window| Frame::ack(window).of_host(flow));
        assert!(got == passed.bytes() || got == lowered.bytes(), "{flow}");
        known += u64::from(got == lowered.bytes());
    }
    assert!((1..=16).contains(&known), "{known} known ones");
    assert_eq!(count(&port, Reason::Rewritten), known);
    assert_eq!(count(&port, Reason::Unknown), 100 - known);
}

/// As in `concerns` of `bpf/port.h`.
#[test]
fn what_no_law_may_touch_passes_as_it_is_and_is_counted() {
    let md5 = [&[19, 18][..], &[7; 16]].concat();
    let cases: [(&str, Reason, Frame); 7] = [
        (
            "reset",
            Reason::Flags,
            Frame {
                flags: ACK | RST,
                ..Frame::ack(60_000)
            },
        ),
        (
            "end",
            Reason::Flags,
            Frame {
                flags: ACK | FIN,
                ..Frame::ack(60_000)
            },
        ),
        (
            "no ACK",
            Reason::Flags,
            Frame {
                flags: URG,
                ..Frame::ack(60_000)
            },
        ),
        ("closed", Reason::Closed, Frame::ack(0)),
        ("smaller", Reason::Law, Frame::ack(3)),
        (
            "IPv6 of another",
            Reason::Unknown,
            Frame {
                v6: true,
                ..Frame::ack(60_000)
            },
        ),
        (
            "signed",
            Reason::Options,
            Frame {
                options: md5,
                ..Frame::ack(60_000)
            },
        ),
    ];
    for (what, reason, frame) in cases {
        let Some(port) = port(&on(1_460, false).loadable()) else {
            return;
        };
        open(&port, &Frame::ack(0), [Some(7), Some(7)]);
        let before = count(&port, reason);
        assert_eq!(ingress(&port, &frame), frame.bytes(), "{what}");
        assert_eq!(count(&port, reason) - before, 1, "{what}");
    }
}

/// A frame that is damaged at a byte, and the reason why it then passes.
#[test]
fn what_is_not_plain_tcp_passes_as_it_is_and_is_counted() {
    let v4 = Frame::ack(60_000);
    let v6 = Frame {
        v6: true,
        ..v4.clone()
    };
    let tagged = Frame {
        vlan: true,
        ..v4.clone()
    };
    let damage: [(&Frame, usize, &[u8], Reason); 14] = [
        (&v4, 12, &[0x08, 0x06], Reason::OtherLink),
        (&v4, 12, &[0x88, 0x47], Reason::OtherLink),
        (&tagged, 16, &[0x81, 0x00], Reason::OtherLink),
        (&v4, 14, &[0x46], Reason::Extension),
        (&v4, 14, &[0x65], Reason::Extension),
        (&v4, 20, &[0x20, 0x00], Reason::Fragment),
        (&v4, 20, &[0x00, 0x08], Reason::Fragment),
        (&v4, 23, &[17], Reason::Other),
        (&v4, 23, &[1], Reason::Other),
        (&v6, 20, &[0], Reason::Extension),
        (&v6, 20, &[44], Reason::Extension),
        (&v6, 20, &[43], Reason::Extension),
        (&v6, 20, &[17], Reason::Other),
        (&v4, 46, &[0x10], Reason::Short),
    ];
    for (frame, at, bytes, reason) in damage {
        let Some(port) = port(&on(1_460, false).loadable()) else {
            return;
        };
        open(&port, frame, [Some(7), Some(7)]);
        let mut damaged = frame.bytes();
        damaged[at..at + bytes.len()].copy_from_slice(bytes);
        let before = count(&port, reason);
        let got = port
            .run(Direction::Ingress, &damaged)
            .expect("a frame is run");
        assert_eq!(got, damaged, "{reason:?} at {at}");
        assert_eq!(count(&port, reason) - before, 1, "{reason:?} at {at}");
    }
}

#[test]
fn a_frame_that_ends_anywhere_passes_as_it_is() {
    let Some(port) = port(&on(1_460, false).loadable()) else {
        return;
    };
    for v6 in [false, true] {
        let frame = Frame {
            v6,
            options: TIMESTAMPS.to_vec(),
            ..Frame::ack(60_000)
        };
        open(&port, &frame, [Some(7), Some(7)]);
        let whole = frame.bytes();
        // The kernel accepts a frame only if there is a byte after its network header.
        let least = 14 + if v6 { 40 } else { 20 } + 1;
        for length in least..whole.len() {
            let cut = &whole[..length];
            let got = port.run(Direction::Ingress, cut);
            assert_eq!(got.expect("a frame is run"), cut, "{length}");
        }
    }
}

#[test]
fn scales_count_only_if_both_syns_offer_them() {
    let law = on(1_460, false);
    for (shifts, scale) in [
        ([Some(3), Some(7)], 7),
        ([None, Some(7)], 0),
        ([Some(3), None], 0),
        ([None, None], 0),
        ([Some(3), Some(200)], 14),
    ] {
        let Some(port) = port(&law.loadable()) else {
            return;
        };
        open(&port, &Frame::ack(0), shifts);
        let window = law.window(TcpFlags::ACK, 60_000, scale);
        let expected = Frame::ack(window).bytes();
        assert_eq!(ingress(&port, &Frame::ack(60_000)), expected, "{shifts:?}");
    }
}

#[test]
fn the_receiver_may_open_the_connection() {
    let law = on(1_460, false);
    let Some(port) = port(&law.loadable()) else {
        return;
    };
    let syn = Frame {
        back: true,
        ..Frame::syn(Some(5))
    };
    assert_eq!(ingress(&port, &syn), syn.bytes());
    let syn_ack = Frame {
        back: false,
        ..Frame::syn_ack(Some(9))
    }
    .bytes();
    assert_eq!(
        port.run(Direction::Egress, &syn_ack).expect("a SYN-ACK"),
        syn_ack
    );
    let expected = Frame::ack(law.window(TcpFlags::ACK, 60_000, 5)).bytes();
    assert_eq!(ingress(&port, &Frame::ack(60_000)), expected);
}

#[test]
fn windows_of_syn_acks_change_only_where_the_law_says_so() {
    for rewrites in [false, true] {
        let law = on(1_460, rewrites);
        let Some(port) = port(&law.loadable()) else {
            return;
        };
        let syn_ack = Frame::syn_ack(Some(7));
        let flags = named(SYN | ACK);
        let window = law.window(flags, syn_ack.window, 7);
        assert_eq!(window, if rewrites { 1_460 } else { syn_ack.window });
        let expected = Frame {
            window,
            ..syn_ack.clone()
        }
        .bytes();
        assert_eq!(ingress(&port, &syn_ack), expected);
    }
}

#[test]
fn rwndq_shares_its_window_among_the_flows_that_opened_and_did_not_close() {
    let mut law = unscaled_rwndq();
    // A year between samples, so only flows move the window.
    let year = Duration::from_hours(365 * 24);
    let Some(port) = port(&law.loadable(year, &Idle::new(0), false)) else {
        return;
    };
    let way = |flow: u8, frame: Frame| frame.of_host(flow + 10).bytes();
    let run = |bytes: &[u8]| port.run(Direction::Ingress, bytes).expect("a frame is run");
    let window = |bytes: &[u8]| u16::from_be_bytes([bytes[48], bytes[49]]);
    for flow in 1..=4 {
        let syn_ack = way(flow, Frame::syn_ack(None));
        law.on_open();
        for _ in 0..2 {
            assert_eq!(run(&syn_ack), syn_ack, "a SYN-ACK counts once, and passes");
        }
        let ack = run(&way(flow, Frame::ack(60_000)));
        assert_eq!(window(&ack), law.window(60_000, 0), "with {flow} flows");
    }
    for flow in 1..=3 {
        let fin = way(
            flow,
            Frame {
                flags: FIN | ACK,
                ..Frame::ack(60_000)
            },
        );
        law.on_close();
        for _ in 0..2 {
            assert_eq!(run(&fin), fin, "a FIN counts once, and passes");
        }
        let ack = run(&way(4, Frame::ack(60_000)));
        assert_eq!(window(&ack), law.window(60_000, 0), "without {flow} flows");
    }
}

#[test]
fn rwndq_counts_connections_that_the_receiver_opens_if_it_counts_both() {
    for both in [false, true] {
        let law = unscaled_rwndq();
        let year = Duration::from_hours(365 * 24);
        let law = law.loadable(year, &Idle::new(0), both);
        let Some(port) = port(&law) else { return };
        let flows = || {
            let memory = port.maps().law(&law).expect("a map");
            let (law, _) = Rwndq::of_map(&memory.expect("this law")).expect("whole");
            law.flows()
        };
        let passes = |direction, frame: Frame| {
            let bytes = frame.bytes();
            assert_eq!(port.run(direction, &bytes).expect("a frame is run"), bytes);
        };
        let receiver = Frame {
            back: true,
            ..Frame::syn(None)
        };
        passes(Direction::Ingress, receiver);
        assert_eq!(flows(), 0, "a SYN alone opens nothing");
        for _ in 0..2 {
            let answer = Frame {
                back: false,
                ..Frame::syn_ack(None)
            };
            passes(Direction::Egress, answer);
            assert_eq!(flows(), u32::from(both));
        }
        let fin = Frame {
            flags: FIN | ACK,
            ..Frame::ack(60_000)
        };
        passes(Direction::Ingress, fin);
        assert_eq!(flows(), 0);
    }
}

#[test]
fn rwndq_shares_among_connections_that_are_not_idle() {
    let mut law = unscaled_rwndq();
    let year = Duration::from_hours(365 * 24);
    let after = Duration::from_millis(200);
    let idle = Idle::new(200_000_000);
    let Some(port) = port(&law.loadable(year, &idle, false)) else {
        return;
    };
    let like = law.loadable(year, &idle, false);
    let counted = || {
        let memory = port.maps().law(&like).expect("a map");
        let (law, idle) = Rwndq::of_map(&memory.expect("this law")).expect("whole");
        (law.flows(), idle.active())
    };
    let run = |flow: u8, frame: Frame| {
        let frame = frame.of_host(flow + 10).bytes();
        let got = port.run(Direction::Ingress, &frame);
        let got = got.expect("a frame is run");
        u16::from_be_bytes([got[48], got[49]])
    };
    let acknowledge = |flow, number| {
        run(
            flow,
            Frame {
                number,
                ..Frame::ack(60_000)
            },
        )
    };
    for flow in 1..=4 {
        run(flow, Frame::syn_ack(None));
        law.on_open();
    }
    assert_eq!(counted(), (4, 4));
    // Only data that is acknowledged is a sign of life; the same number again is not.
    for number in 6..86 {
        acknowledge(1, number);
        acknowledge(2, 5);
        thread::sleep(after / 40);
    }
    assert_eq!(counted(), (1, 1));
    law.on_idle(3);
    assert_eq!(acknowledge(1, 86), law.window(60_000, 0));
    // One flow comes back, and an idle one closes.
    law.on_open();
    assert_eq!(acknowledge(2, 6), law.window(60_000, 0));
    run(
        3,
        Frame {
            flags: FIN | ACK,
            ..Frame::ack(60_000)
        },
    );
    assert_eq!(counted(), (2, 2));
    run(
        2,
        Frame {
            flags: FIN | ACK,
            ..Frame::ack(60_000)
        },
    );
    assert_eq!(counted(), (1, 1));
    // If no packet came for longer than all epochs together, the next one makes everything idle.
    thread::sleep(2 * after);
    acknowledge(4, 5);
    assert_eq!(counted(), (0, 0));
}

#[test]
fn capable_packets_are_marked_from_the_threshold_on() {
    for (from_bytes, ecn, marked) in [(0, 2, true), (0, 1, true), (0, 0, false), (1, 2, false)] {
        let Some(port) = port(&Loadable::mark(from_bytes)) else {
            return;
        };
        let mut frame = Frame {
            back: false,
            payload: 100,
            ..Frame::ack(60_000)
        }
        .bytes();
        frame[15] = ecn;
        let got = port.run(Direction::Egress, &frame).expect("a frame is run");
        assert_eq!(
            got[15],
            if marked { 3 } else { ecn },
            "ECN {ecn} from {from_bytes} bytes on"
        );
        assert_eq!(count(&port, Reason::Marked), u64::from(marked));
    }
}

/// Loads a law twice: the first acts, the second only looks on.
fn acting_and_in_the_shadow(law: &Loadable) -> Option<[Port; 2]> {
    let setup = LoadOptions {
        shadow: true,
        ..LoadOptions::default()
    };
    let shadow = loaded(Port::load_with(law, setup))?;
    shadow.renew(Duration::from_hours(1)).expect("a lease");
    Some([port(law)?, shadow])
}

#[test]
fn a_law_in_the_shadow_changes_no_frame_and_counts_each_that_it_would_change() {
    let law = on(1_460, false).loadable();
    let Some([acting, shadow]) = acting_and_in_the_shadow(&law) else {
        return;
    };
    for port in [&acting, &shadow] {
        open(port, &Frame::ack(0), [Some(3), Some(7)]);
    }
    let mut changed = 0;
    for window in (1..65_535).step_by(499).chain(0..30) {
        for flags in [ACK, ACK | PSH, ACK | FIN] {
            let frame = Frame {
                flags,
                window,
                ..Frame::ack(60_000)
            };
            changed += u64::from(ingress(&acting, &frame) != frame.bytes());
            assert_eq!(ingress(&shadow, &frame), frame.bytes(), "{frame:?}");
        }
    }
    assert!(changed > 100, "{changed}");
    assert_eq!(count(&shadow, Reason::Shadowed), changed);
    assert_eq!(count(&shadow, Reason::Rewritten), 0);
    for reason in [Reason::Law, Reason::Flags, Reason::Closed] {
        assert_eq!(count(&shadow, reason), count(&acting, reason), "{reason:?}");
    }
}

#[test]
fn marks_in_the_shadow_are_counted_for_packets_that_may_carry_them() {
    let Some([acting, shadow]) = acting_and_in_the_shadow(&Loadable::mark(0)) else {
        return;
    };
    for v6 in [false, true] {
        for ecn in 0..4_u8 {
            let frame = Frame {
                back: false,
                payload: 100,
                v6,
                ..Frame::ack(60_000)
            };
            let mut frame = frame.bytes();
            // The two lowest bits of the class of traffic, which in IPv6 ends within the second byte.
            frame[15] = if v6 { frame[15] & 0x0f | ecn << 4 } else { ecn };
            let run = |port: &Port| port.run(Direction::Egress, &frame).expect("a frame is run");
            drop(run(&acting));
            assert_eq!(run(&shadow), frame, "ECN {ecn}");
        }
    }
    let marked = count(&acting, Reason::Marked);
    assert_eq!(marked, 6);
    assert_eq!(
        (
            count(&shadow, Reason::Shadowed),
            count(&shadow, Reason::Marked)
        ),
        (marked, 0)
    );
}
