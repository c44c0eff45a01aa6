//! A receiver whose windows are assigned from outside.

use std::time::Duration;

use programs::{Direction, Reason, Receiver, SegmentKind};

use crate::frame::{FIN, Frame};
use crate::{count, loaded};

#[test]
fn acks_carry_the_window_that_was_assigned_and_segments_are_told() {
    for v6 in [false, true] {
        let Some(receiver) = loaded(Receiver::load(2_920)) else {
            return;
        };
        let port = receiver.port();
        port.renew(Duration::from_hours(1)).expect("a lease");
        let ring = receiver.listen().expect("a ring");
        let run = |way, frame: Frame| {
            let bytes = Frame { v6, ..frame }.bytes();
            let out = port.run(way, &bytes).expect("a frame is run");
            let at = if v6 { 14 + 40 + 14 } else { 14 + 20 + 14 };
            u16::from_be_bytes([out[at], out[at + 1]])
        };
        let [into, out] = [Direction::Ingress, Direction::Egress];
        let syn = Frame {
            seq: 99,
            ..Frame::syn(Some(7))
        };
        run(into, syn);
        let answer = Frame {
            number: 100,
            ..Frame::syn_ack(Some(7))
        };
        assert_eq!(run(out, answer), 2_920, "not scaled");
        let data = |flags, payload| Frame {
            back: false,
            flags,
            payload,
            seq: 100,
            ..Frame::ack(9)
        };
        let ack = |window| Frame {
            number: 100,
            ..Frame::ack(window)
        };
        run(into, data(Frame::ack(9).flags, 1_000));
        assert_eq!(
            run(out, ack(500)),
            23,
            "2920 bytes in units of 128, rounded up"
        );
        assert_eq!(run(out, ack(22)), 22, "never more than TCP's own");
        let told = ring.heard().expect("a ring");
        let way = told[0].way;
        receiver.assign(&way, 5_000).expect("a map");
        assert_eq!(run(out, ack(500)), 40);
        run(into, data(Frame::ack(9).flags | FIN, 1));
        receiver.forget(&way).expect("a map");
        assert_eq!(run(out, ack(500)), 500);
        receiver.assign(&way, 5_000).expect("nobody is there");
        assert_eq!(run(out, ack(500)), 500);
        let more = ring.heard().expect("a ring");
        let all: Vec<_> = told.into_iter().chain(more).collect();
        assert!(all.iter().all(|told| told.way == way), "{all:?}");
        assert_eq!((way.from.port(), way.to.port()), (80, 4_000));
        assert_eq!(way.from.is_ipv6(), v6);
        assert!(all.is_sorted_by_key(|told| told.at));
        let carries = SegmentKind::Carries {
            number: 100,
            bytes: 1_000,
            each: 0,
        };
        let kinds: Vec<_> = all.iter().map(|told| told.kind).collect();
        let expected = [
            SegmentKind::Opens(99),
            SegmentKind::Accepts(100, 2_920),
            carries,
            SegmentKind::Acknowledges(100, 23 * 128),
            SegmentKind::Acknowledges(100, 22 * 128),
            SegmentKind::Acknowledges(100, 40 * 128),
            SegmentKind::Ends(100, 1),
        ];
        assert_eq!(kinds, expected);
        assert_eq!(receiver.untold().expect("a map"), 0);
        assert_eq!(count(port, Reason::Rewritten), 3);
        assert_eq!(count(port, Reason::Unknown), 2);
    }
}

#[test]
fn connections_that_this_host_opens_and_times_without_a_lease_are_left_alone() {
    let Some(receiver) = loaded(Receiver::load(2_920)) else {
        return;
    };
    let port = receiver.port();
    let ring = receiver.listen().expect("a ring");
    let pass = |way, frame: Frame| {
        let bytes = frame.bytes();
        assert_eq!(port.run(way, &bytes).expect("a frame is run"), bytes);
    };
    let [into, out] = [Direction::Ingress, Direction::Egress];
    let ack = || Frame {
        back: false,
        ..Frame::ack(500)
    };
    // Its SYN leaves, and the answer comes.
    port.renew(Duration::from_hours(1)).expect("a lease");
    pass(out, Frame::syn(Some(7)));
    pass(into, Frame::syn_ack(Some(7)));
    pass(out, ack());
    assert!(ring.heard().expect("a ring").is_empty());
    pass(into, Frame::syn(Some(7)));
    port.renew(Duration::ZERO).expect("a lease");
    pass(out, Frame::syn_ack(Some(7)));
    assert_eq!(count(port, Reason::NoLease), 1);
    assert_eq!(ring.heard().expect("a ring").len(), 1, "the SYN");
}
