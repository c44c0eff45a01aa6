//! What an endpoint tells of its connection.

use base::{TcpFlags, Time};
use tcp::{Config, Endpoint, State};

use crate::script::{MSS, RTO, Timeline, config, ms};

/// A connection whose peer offers five segments, of which two leave at first.
fn of_two() -> Timeline {
    controlled(false)
}

/// The same, which the role of its host may control.
fn controlled(receiver_control: bool) -> Timeline {
    let mut t = Timeline::established(Config {
        initial_window: 2,
        receiver_control,
        ..config()
    });
    t.window = 5 * 1024;
    t
}

#[test]
fn what_was_written_and_not_sent_is_told() {
    let mut t = of_two();
    assert_eq!((t.endpoint.unsent(), t.endpoint.paces()), (0, false));
    t.write(6 * MSS).expect_data(0..2);
    assert_eq!(t.endpoint.unsent(), 4 * MSS);
    assert_eq!(t.endpoint.highest_sent(), 1 + 2 * MSS);
    // A timeout sends the first segment again: what was sent stays sent.
    t.at(RTO).expect_retransmission(0);
    assert_eq!(t.endpoint.unsent(), 4 * MSS);
    assert_eq!(t.endpoint.highest_sent(), 1 + 2 * MSS);
}

#[test]
fn what_the_peer_allows_ends_where_its_window_does() {
    let mut t = of_two();
    t.write(6 * MSS).expect_data(0..2);
    t.ack(1).expect_data(2..4);
    assert_eq!(t.endpoint.peer_window(), 5 * 1024);
    assert_eq!(t.endpoint.acknowledged(), MSS);
    t.window = 0;
    t.ack(4);
    assert_eq!(t.endpoint.peer_window(), 0);
}

#[test]
fn recovery_is_told_from_the_third_duplicate_to_the_end() {
    let mut t = of_two();
    t.write(6 * MSS).expect_data(0..2);
    t.ack(1).expect_data(2..4);
    t.ack(2).expect_data(4..6);
    t.duplicates(2);
    assert!(!t.endpoint.is_recovering());
    t.duplicates(1).expect_retransmission(2);
    assert!(t.endpoint.is_recovering());
    t.ack(6);
    assert!(!t.endpoint.is_recovering());
}

#[test]
fn a_connection_is_settled_when_it_is_over_and_has_no_timers() {
    let mut t = of_two();
    t.write(MSS).expect_data(0..1);
    t.close().take();
    assert!(!t.endpoint.is_acknowledged(), "neither data nor the FIN is");
    t.ack(1);
    assert!(!t.endpoint.is_acknowledged(), "the FIN is not");
    t.ack_offset(1 + MSS + 1);
    assert!(t.endpoint.is_acknowledged());
    assert!(!t.endpoint.is_settled(), "the peer may send");
    t.receive_fin().take();
    assert_eq!(t.endpoint.state(), State::TimeWait);
    assert!(t.endpoint.is_settled());
}

// RFC 9293 §3.10.7.1: behind TIME-WAIT there is no connection, and a segment is answered by a reset.
#[test]
fn a_connection_that_is_not_woken_for_the_end_of_time_wait_is_closed_when_a_segment_comes() {
    for (late, state) in [(false, State::TimeWait), (true, State::Closed)] {
        let mut t = of_two();
        t.close().take();
        t.ack_offset(2);
        let fin = t.peer_segment(TcpFlags::FIN.with(TcpFlags::ACK));
        t.receive_fin().take();
        assert!(t.endpoint.is_settled());
        let end = t.endpoint.deadline();
        assert!(end < Time::NEVER && t.endpoint.wakes_at() == Time::NEVER);
        let at = if late { end } else { Time::ZERO };
        let progress = t.endpoint.on_segment(&fin, at);
        assert_eq!((t.endpoint.state(), progress.state_changed), (state, late));
    }
}

#[test]
fn a_reset_that_has_not_left_keeps_a_connection_from_being_settled() {
    let mut t = of_two();
    t.endpoint.abort();
    assert!(t.endpoint.is_ended() && !t.endpoint.is_settled());
    t.act(|_| {}).take();
    assert!(t.endpoint.is_settled());
}

#[test]
fn a_connection_that_a_role_controls_is_never_settled() {
    let mut t = controlled(true);
    t.act(Endpoint::abort).take();
    assert!(t.endpoint.is_ended() && !t.endpoint.is_settled());
}

// What was written and has not been sent is taken back, and the FIN follows what was sent.
#[test]
fn an_application_that_stops_in_the_middle_takes_back_what_was_not_sent() {
    let mut t = of_two();
    t.write(6 * MSS).expect_data(0..2);
    t.act(Endpoint::close_early);
    let fin = t.take();
    assert!(fin.flags.has(TcpFlags::FIN));
    assert_eq!((t.offset(&fin), fin.payload), (1 + 2 * MSS, 0));
    assert_eq!(t.endpoint.unsent(), 0);
    t.at(ms(100)).ack_offset(1 + 2 * MSS + 1).expect_nothing();
    assert_eq!(t.endpoint.acknowledged(), 2 * MSS);
    assert_eq!(t.endpoint.state(), State::FinWait2);
}
