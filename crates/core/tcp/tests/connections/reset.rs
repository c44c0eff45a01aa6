//! Resets: RFC 9293 §3.5.2 and §3.5.3, RFC 5961.

use base::{Seq, TcpFlags};
use tcp::{Abort, Config, State};

use crate::script::{MSS, PEER_SEQ, Timeline, config, ms, willing};

// RFC 5961 §3.2 case 1.
// Clauses: RFC9293-3.10.7.4-reset
#[test]
fn a_reset_at_the_next_number_ends_the_connection() {
    let mut t = Timeline::established(config());
    t.write(MSS).expect_data(0..1);
    t.deliver(t.peer_segment(TcpFlags::RST));
    assert_eq!(t.progress.aborted, Some(Abort::Reset));
    assert_eq!(t.endpoint.state(), State::Closed);
    t.at(ms(10_000)).expect_nothing();
}

// RFC 5961 §3.2 case 2: in the window but not exact.
// Clauses: RFC5961-3.2-reset
#[test]
fn a_reset_elsewhere_in_the_window_is_challenged() {
    let mut t = Timeline::established(config());
    let mut reset = t.peer_segment(TcpFlags::RST);
    reset.seq = PEER_SEQ.at(2);
    t.deliver(reset).expect_ack(0);
    assert_eq!(t.endpoint.state(), State::Established);
}

// RFC 5961 §3.2 case 3: outside the window, on either side.
// Clauses: RFC5961-3.2-reset
#[test]
fn a_reset_outside_the_window_is_ignored() {
    let mut t = Timeline::established(config());
    t.receive(0..2).expect_ack(1).expect_ack(2);
    for offset in [1 + MSS, 1_000_000] {
        let mut reset = t.peer_segment(TcpFlags::RST);
        reset.seq = PEER_SEQ.at(offset);
        t.deliver(reset).expect_nothing();
    }
    assert_eq!(t.endpoint.state(), State::Established);
}

// RFC 5961 §4.2: whatever its number.
// Clauses: RFC5961-4.2-syn
#[test]
fn a_syn_on_an_open_connection_is_challenged() {
    let mut t = Timeline::established(config());
    let mut syn = t.peer_segment(TcpFlags::SYN);
    syn.seq = Seq(99);
    t.deliver(syn).expect_ack(0);
    assert_eq!(t.endpoint.state(), State::Established);
}

// RFC 9293 §3.10.5.
// Clauses: RFC9293-3.10.5-abort
#[test]
fn an_abort_resets_the_peer() {
    let mut t = Timeline::established(config());
    t.write(MSS).expect_data(0..1);
    t.act(tcp::Endpoint::abort);
    let reset = t.take();
    assert!(reset.flags.has(TcpFlags::RST));
    assert_eq!(t.offset(&reset), 1 + MSS);
    assert_eq!(t.endpoint.state(), State::Closed);
    t.at(ms(10_000)).expect_nothing();
}

// RFC 9293 §3.10.5: SND.NXT is behind our SYN, which the peer has seen.
// Clauses: RFC9293-3.10.5-abort
#[test]
fn an_abort_of_a_half_open_connection_is_believed_by_the_peer() {
    let mut t = Timeline::listening(config());
    let syn = t.syn(willing());
    t.deliver(syn).take();
    t.act(tcp::Endpoint::abort);
    assert_eq!(t.take().seq, Seq(1001));
}

// RFC 9293 §3.10.7.1.
// Clauses: RFC9293-3.10.7.1-closed
#[test]
fn a_closed_port_answers_with_a_reset() {
    let mut t = Timeline::closed(config());
    let syn = t.syn(willing());
    t.deliver(syn);
    let reset = t.take();
    assert_eq!(reset.flags, TcpFlags::RST.with(TcpFlags::ACK));
    assert_eq!((reset.seq, reset.ack), (Seq(0), PEER_SEQ.at(1)));
    t.deliver(t.peer_segment(TcpFlags::ACK));
    let reset = t.take();
    assert_eq!((reset.flags, reset.seq), (TcpFlags::RST, Seq(1001)));
    t.deliver(t.peer_segment(TcpFlags::RST)).expect_nothing();
}

// RFC 9293 §3.10.7.2: only a SYN opens.
// Clauses: RFC9293-3.10.7.2-ack
#[test]
fn a_listener_resets_a_stray_acknowledgement() {
    let mut t = Timeline::listening(config());
    t.deliver(t.peer_segment(TcpFlags::ACK));
    assert!(t.take().flags.has(TcpFlags::RST));
    assert_eq!(t.endpoint.state(), State::Listen);
}

// RFC 9293 §3.8.3 (R2): 300 ms, 600 ms, 1200 ms; the third expiry is one more than two retries.
// Clauses: RFC9293-3.8.3-r2
#[test]
fn exhausted_retries_abort_the_connection() {
    let mut t = Timeline::established(Config {
        retries: 2,
        ..config()
    });
    t.write(MSS).expect_data(0..1);
    t.at(ms(300)).expect_retransmission(0);
    t.at(ms(900)).expect_retransmission(0);
    t.quiet_until(ms(2100)).at(ms(2100));
    assert_eq!(t.progress.aborted, Some(Abort::Retries));
    assert!(t.take().flags.has(TcpFlags::RST));
    assert_eq!(t.endpoint.state(), State::Closed);
}

#[test]
fn a_connection_whose_host_has_disappeared_says_and_does_nothing_more() {
    let mut t = Timeline::established(config());
    t.write(MSS).expect_data(0..1);
    t.act(tcp::Endpoint::vanish).expect_nothing();
    assert_eq!(t.endpoint.state(), State::Closed);
    t.at(ms(10_000)).expect_nothing();
}

// Linux 6.12, retransmits_timed_out: the timeouts at 300 and 900 ms are within a second after the first, and the one at 2100 ms
// is not, however many retries that are.
#[test]
fn patience_counts_from_the_first_timeout_in_a_row() {
    let mut t = Timeline::established(Config {
        retries: 1,
        patience: Some(ms(1000)),
        ..config()
    });
    t.write(MSS).expect_data(0..1);
    t.at(ms(300)).expect_retransmission(0);
    t.at(ms(900)).expect_retransmission(0);
    t.quiet_until(ms(2100)).at(ms(2100));
    assert_eq!(t.progress.aborted, Some(Abort::Retries));
    assert!(t.take().flags.has(TcpFlags::RST));
}

// RFC 9293 §3.8.3: retries count from the last new acknowledgement.
#[test]
fn an_acknowledgement_of_new_data_starts_the_retries_again() {
    let mut t = Timeline::established(Config {
        retries: 2,
        ..config()
    });
    t.write(2 * MSS).expect_data(0..2);
    t.at(ms(300)).expect_retransmission(0);
    t.at(ms(900)).expect_retransmission(0);
    t.at(ms(1000)).ack(1).expect_retransmission(1);
    // The RTO stays at 1200 ms: nothing was sampled.
    t.at(ms(2200)).expect_retransmission(1);
    assert_eq!(t.endpoint.state(), State::Established);
}

// RFC 9293 §3.10.7.2: resets mean nothing to a listener, with an acknowledgement or without.
// Clauses: RFC9293-3.10.7.2-reset
#[test]
fn a_listener_ignores_a_reset() {
    let mut t = Timeline::listening(config());
    for flags in [TcpFlags::RST, TcpFlags::RST.with(TcpFlags::ACK)] {
        t.deliver(t.peer_segment(flags)).expect_nothing();
        assert_eq!(t.endpoint.state(), State::Listen);
    }
}
