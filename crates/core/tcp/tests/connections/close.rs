//! Closing: RFC 9293 §3.6.

use base::TcpFlags;
use tcp::State;

use crate::script::{MSS, Timeline, config, ms};

const FIN: TcpFlags = TcpFlags::FIN.with(TcpFlags::ACK);

// RFC 9293 §3.10.4: the FIN may travel with the last data.
// Clauses: RFC9293-3.6-active
#[test]
fn fin_travels_with_the_last_data() {
    let mut t = Timeline::established(config());
    t.act(|endpoint| {
        endpoint.write(2 * MSS);
        endpoint.close();
    });
    t.expect_data(0..1);
    let last = t.take();
    assert_eq!((u64::from(last.payload), last.flags), (MSS, FIN));
    assert_eq!(t.endpoint.state(), State::FinWait1);
    t.ack_offset(1 + 2 * MSS + 1).expect_nothing();
    assert_eq!(t.endpoint.state(), State::FinWait2);
    assert_eq!(t.endpoint.acknowledged(), 2 * MSS);
}

// RFC 9293 §3.6: after the data has left, the FIN is a segment of its own.
#[test]
fn fin_after_the_data_is_a_segment_of_its_own() {
    let mut t = Timeline::established(config());
    t.write(MSS).expect_data(0..1);
    t.close();
    let fin = t.take();
    assert_eq!((fin.payload, fin.flags), (0, FIN));
    assert_eq!(t.offset(&fin), 1 + MSS);
}

// RFC 9293 §3.6 case 1: closing one direction leaves the other open.
// Clauses: RFC9293-3.6-active
#[test]
fn a_half_closed_connection_still_receives() {
    let mut t = Timeline::established(config());
    t.close().take();
    t.ack_offset(2);
    assert_eq!(t.endpoint.state(), State::FinWait2);
    t.receive(0..2).expect_ack(1).expect_ack(2);
    t.receive_fin().take();
    assert!(t.progress.peer_finished);
    assert_eq!(t.endpoint.state(), State::TimeWait);
    assert_eq!(t.endpoint.received(), 2 * MSS);
}

// RFC 9293 §3.6 case 2: the peer closes first; data still flows towards it.
// Clauses: RFC9293-3.6-passive
#[test]
fn a_passive_close_passes_close_wait_and_last_ack() {
    let mut t = Timeline::established(config());
    t.receive_fin();
    assert_eq!(t.endpoint.state(), State::CloseWait);
    assert_eq!(t.take().ack, t.peer_seq.at(2));
    t.write(MSS).expect_data(0..1);
    t.close().take();
    assert_eq!(t.endpoint.state(), State::LastAck);
    t.ack_offset(2 + MSS);
    assert_eq!(t.endpoint.state(), State::Closed);
}

// RFC 9293 §3.6 case 3, figure 13.
// Clauses: RFC9293-3.6-simultaneous
#[test]
fn a_simultaneous_close_passes_closing() {
    let mut t = Timeline::established(config());
    t.close().take();
    t.receive_fin();
    assert_eq!(t.endpoint.state(), State::Closing);
    assert_eq!(t.take().ack, t.peer_seq.at(2));
    t.ack_offset(2);
    assert_eq!(t.endpoint.state(), State::TimeWait);
}

// RFC 9293 §3.10.7.4, seventh check: both in one segment skip FIN-WAIT-2.
#[test]
fn a_fin_that_acknowledges_ours_ends_in_time_wait() {
    let mut t = Timeline::established(config());
    t.close().take();
    let mut fin = t.peer_segment(FIN);
    fin.ack = t.endpoint.identity().initial_seq.at(2);
    t.deliver(fin).take();
    assert_eq!(t.endpoint.state(), State::TimeWait);
}

// RFC 9293 §3.10.7.4, eighth check: the FIN is acknowledged again and the wait starts again.
// Clauses: RFC9293-3.6.1-time-wait
#[test]
fn time_wait_answers_a_repeated_fin_and_then_ends() {
    let mut t = Timeline::established(config());
    t.close().take();
    t.ack_offset(2);
    let fin = t.peer_segment(FIN);
    t.deliver(fin).take();
    t.at(ms(30_000)).deliver(fin);
    assert_eq!(t.take().ack, t.peer_seq.at(2));
    t.quiet_until(ms(90_000));
    assert_eq!(t.endpoint.state(), State::TimeWait);
    t.at(ms(90_000));
    assert_eq!(t.endpoint.state(), State::Closed);
}

// RFC 6298 §5.4: the FIN occupies a sequence number and is retransmitted like data.
// Clauses: RFC6298-5.4-earliest
#[test]
fn a_lost_fin_is_sent_again() {
    let mut t = Timeline::established(config());
    t.write(MSS).expect_data(0..1);
    t.close().take();
    t.at(ms(100)).ack(1);
    // RTO 250 ms after two samples of 100 ms.
    t.quiet_until(ms(350)).at(ms(350));
    let fin = t.take();
    assert_eq!((fin.payload, fin.flags), (0, FIN));
    assert_eq!(t.offset(&fin), 1 + MSS);
}

// RFC 9293 §3.10.7.4: the FIN counts once everything before it is there.
// Clauses: RFC9293-3.10.7.4-fin
#[test]
fn a_fin_beyond_a_gap_waits_for_the_gap() {
    let mut t = Timeline::established(config());
    let mut last = t.peer_data(1);
    last.flags = FIN;
    t.deliver(last).expect_ack(0);
    assert_eq!(t.endpoint.state(), State::Established);
    t.receive(0..1);
    assert!(t.progress.peer_finished);
    assert_eq!(t.endpoint.state(), State::CloseWait);
    assert_eq!(t.take().ack, t.peer_seq.at(2 + 2 * MSS));
}
