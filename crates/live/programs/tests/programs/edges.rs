//! With `no_retract` a law lowers what is granted only as data arrives.

use std::time::Duration;

use laws::{Hscc, HsccSettings, Loadable};
use programs::{Direction, LoadOptions, Port, Reason};

use crate::frame::{ACK, FIN, Frame};
use crate::loaded;

/// HSCC that is on and stays on, with this window.
fn on(window_bytes: u32) -> Loadable {
    let mut law = Hscc::new(&HsccSettings {
        buffer_units: 64_000,
        alpha1_millionths: 0,
        alpha2_millionths: 500_000,
        window_bytes,
        rewrites_syn_ack: false,
    });
    law.on_level(64_000);
    law.loadable()
}

/// A port whose connection shifts windows by this much, or not at all.
fn port(law: &Loadable, scale: Option<u8>, no_retract: bool) -> Option<Port> {
    let setup = LoadOptions {
        no_retract,
        ..LoadOptions::default()
    };
    let port = loaded(Port::load_with(law, setup))?;
    port.renew(Duration::from_hours(1)).expect("a lease");
    let syn = Frame::syn(scale).bytes();
    port.run(Direction::Egress, &syn).expect("a SYN");
    // Its own window, which is never shifted, is an edge, too.
    let answer = Frame {
        window: 1,
        ..Frame::syn_ack(scale)
    };
    port.run(Direction::Ingress, &answer.bytes())
        .expect("a SYN-ACK");
    Some(port)
}

/// Sends an ACK of `number` with `window`, which must leave with `expected` and a right checksum.
#[track_caller]
fn leaves(port: &Port, (number, window): (u32, u16), expected: u16) {
    let frame = |window| Frame {
        number,
        ..Frame::ack(window)
    };
    let got = port.run(Direction::Ingress, &frame(window).bytes());
    let window_of = |bytes: &[u8]| u16::from_be_bytes([bytes[48], bytes[49]]);
    let got = got.expect("a frame is run");
    assert_eq!(window_of(&got), expected, "ACK of {number}");
    assert_eq!(got, frame(expected).bytes());
}

#[test]
fn an_edge_that_was_granted_stays_until_data_reach_it() {
    let Some(port) = port(&on(1_000), Some(0), true) else {
        return;
    };
    // A window that the law leaves unchanged grants an edge, too.
    leaves(&port, (1_000, 900), 900);
    leaves(&port, (1_000, 60_000), 1_000);
    assert!(port.maps().revise(&on(300)).expect("a map"));
    // The edge is 2000.
    leaves(&port, (1_000, 60_000), 1_000);
    leaves(&port, (1_400, 60_000), 600);
    leaves(&port, (1_700, 60_000), 300);
    leaves(&port, (1_900, 60_000), 300);
    // The edge is 2200. A late ACK gets the same edge, and no more than it carries.
    leaves(&port, (1_000, 60_000), 1_200);
    leaves(&port, (1_000, 700), 700);
}

#[test]
fn without_being_asked_the_papers_law_moves_the_edge_back() {
    let Some(port) = port(&on(1_000), Some(0), false) else {
        return;
    };
    leaves(&port, (1_000, 60_000), 1_000);
    assert!(port.maps().revise(&on(300)).expect("a map"));
    leaves(&port, (1_000, 60_000), 300);
}

#[test]
fn an_edge_is_rounded_up_to_whole_units_and_wraps() {
    let Some(port) = port(&on(1_280), Some(7), true) else {
        return;
    };
    let first = u32::MAX - 99;
    leaves(&port, (first, 500), 10);
    assert!(port.maps().revise(&on(128)).expect("a map"));
    // 1280 bytes beyond the first one; 1180 of them are above 0, which are 9.2 units.
    leaves(&port, (0, 500), 10);
    // That is 1280 behind 0.
    leaves(&port, (1_000, 500), 3);
    leaves(&port, (2_000, 500), 1);
}

#[test]
fn what_passes_as_it_is_grants_an_edge_too() {
    let Some(port) = port(&on(300), Some(0), true) else {
        return;
    };
    let end = Frame {
        number: 1_000,
        flags: ACK | FIN,
        ..Frame::ack(5_000)
    };
    let got = port.run(Direction::Ingress, &end.bytes());
    assert_eq!(got.expect("a frame is run"), end.bytes());
    leaves(&port, (1_000, 60_000), 5_000);
    let counts = port.counts().expect("counters");
    assert!(counts.contains(&(Reason::Flags, 1)), "{counts:?}");
}
