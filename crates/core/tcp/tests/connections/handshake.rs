//! Opening a connection: RFC 9293 §3.5, options, lost and repeated SYNs.

use base::{Options, Seq, SynOptions, TcpFlags};
use tcp::{Abort, Config, State};

use crate::script::{MSS, PEER_SCALE, Timeline, config, ms, willing};

// RFC 9293 §3.7.1, RFC 7323 §2.2, RFC 2018 §2.
// Clauses: RFC2018-2-permitted, RFC7323-2.2-syn
#[test]
fn syn_offers_segment_size_window_scale_and_sack() {
    let mut t = Timeline::connecting(Config {
        window_scale: Some(5),
        sack: true,
        ..config()
    });
    let syn = t.take();
    assert_eq!(syn.flags, TcpFlags::SYN);
    assert_eq!(syn.seq, Seq(1000));
    assert_eq!(
        syn.options,
        Options::Syn(SynOptions {
            mss: 1000,
            window_scale: Some(5),
            sack_permitted: true
        })
    );
}

// RFC 9293 §3.7.1: the smaller of both sides' sizes.
// Clauses: RFC9293-3.7.1-smaller
#[test]
fn the_smaller_segment_size_counts() {
    let mut t = Timeline::connecting(config());
    t.take();
    let syn_ack = t.syn_ack(SynOptions {
        mss: 700,
        ..willing()
    });
    t.deliver(syn_ack).expect_ack(0);
    assert_eq!(t.endpoint.mss(), 700);
    t.write(1000).expect_bytes(700).expect_bytes(300);
}

// RFC 9293 §3.7.1: 536 bytes without the option; RFC 7323 §2.2: then no scaling either.
// Clauses: RFC9293-3.7.1-default, RFC7323-2.2-syn
#[test]
fn a_syn_ack_without_options_means_defaults() {
    let mut t = Timeline::connecting(config());
    t.take();
    let mut syn_ack = t.syn_ack(willing());
    (syn_ack.options, syn_ack.window) = (Options::None, 600);
    t.deliver(syn_ack).expect_ack(0);
    t.write(2000).expect_bytes(536);
    // 100 << 7 bytes if the shift were used: all of the rest would fit.
    t.window = 600 << PEER_SCALE;
    t.ack_offset(537).expect_bytes(536);
    t.ack_offset(1073).expect_bytes(536);
    t.ack_offset(1609).expect_bytes(392);
}

// RFC 2018 §2: blocks are sent only to a peer that permitted them.
// Clauses: RFC2018-2-permitted
#[test]
fn a_peer_without_sack_gets_no_blocks() {
    let mut t = Timeline::connecting(Config {
        sack: true,
        ..config()
    });
    t.take();
    let syn_ack = t.syn_ack(SynOptions {
        sack_permitted: false,
        ..willing()
    });
    t.deliver(syn_ack).expect_ack(0);
    t.receive(1..2);
    assert_eq!(t.take().options, Options::None);
}

// RFC 7323 §2.2: the shift applies to the windows of segments without SYN only.
// Clauses: RFC7323-2.2-unscaled
#[test]
fn the_window_of_a_syn_ack_is_not_scaled() {
    let mut t = Timeline::connecting(config());
    t.take();
    let mut syn_ack = t.syn_ack(willing());
    syn_ack.window = 2000;
    t.deliver(syn_ack).expect_ack(0);
    t.write(10 * MSS).expect_data(0..2);
    t.ack(1).expect_data(2..10);
}

// As in simulators whose windows have no field to fit into: both ends scale the window of a SYN-ACK.
#[test]
fn the_window_of_a_syn_ack_can_be_scaled() {
    let config = Config {
        scale_syn_ack: true,
        receive_buffer: 1_000_000,
        window_scale: Some(4),
        ..config()
    };
    let mut t = Timeline::connecting(config);
    t.take();
    let mut syn_ack = t.syn_ack(willing());
    // 5,120 bytes.
    syn_ack.window = 5 << (10 - PEER_SCALE);
    t.deliver(syn_ack).expect_ack(0);
    t.write(10 * MSS).expect_data(0..5);

    let mut t = Timeline::listening(config);
    let syn = t.syn(willing());
    t.deliver(syn);
    assert_eq!(t.take().window, 62_500);
}

// RFC 9293 §3.5 and RFC 6298 §2: the handshake is a round-trip sample, 100 ms: RTO = 300 ms.
// Clauses: RFC6298-2.2-first, RFC6298-5.1-start
#[test]
fn the_handshake_gives_the_first_sample() {
    let mut t = Timeline::established(config());
    assert_eq!(t.endpoint.srtt(), ms(100));
    t.write(MSS).expect_data(0..1);
    t.quiet_until(ms(300));
    t.at(ms(300)).expect_retransmission(0);
}

// RFC 9293 §3.10.7.3: data may leave as soon as the SYN-ACK is there; the ACK goes ahead of it.
// Clauses: RFC9293-3.10.7.3-syn-ack
#[test]
fn the_acknowledgement_of_the_handshake_leaves_before_data() {
    let mut t = Timeline::connecting(config());
    t.take();
    t.write(2 * MSS);
    let syn_ack = t.syn_ack(willing());
    t.deliver(syn_ack);
    t.expect_ack(0).expect_data(0..2).expect_nothing();
}

// The ACK of the handshake ends the timer of the SYN-ACK, whatever becomes of the data behind it.
#[test]
fn a_lost_first_flight_costs_no_timeout_of_the_syn_ack() {
    let mut t = Timeline::listening(config());
    let syn = t.syn(willing());
    t.deliver(syn).take();
    t.ack(0);
    assert_eq!(t.endpoint.state(), State::Established);
    t.at(ms(5000)).expect_nothing();
    assert_eq!(t.endpoint.counters().syn_timeouts, 0);
}

// RFC 6298 §5.5 to §5.7: 1, 2, 4 s; with two retries the third expiry gives up.
// Clauses: RFC9293-3.8.3-syn
#[test]
fn a_lost_syn_is_repeated_with_doubled_timeout_until_it_gives_up() {
    let mut t = Timeline::connecting(Config {
        syn_retries: 2,
        ..config()
    });
    assert!(t.take().flags.has(TcpFlags::SYN));
    for seconds in [1, 3] {
        t.quiet_until(ms(1000 * seconds)).at(ms(1000 * seconds));
        assert!(t.take().flags.has(TcpFlags::SYN));
    }
    t.quiet_until(ms(7000));
    assert_eq!(t.endpoint.state(), State::SynSent);
    t.at(ms(7000)).expect_nothing();
    assert_eq!(t.progress.aborted, Some(Abort::Handshake));
    assert_eq!(t.endpoint.state(), State::Closed);
}

// RFC 5681 §3.1: one segment after a lost SYN. RFC 6298 §3: no sample from a SYN sent twice.
// Clauses: RFC5681-3.1-lost-syn
#[test]
fn after_a_lost_syn_the_first_window_is_one_segment() {
    let mut t = Timeline::connecting(config());
    t.take();
    t.at(ms(1000)).take();
    let syn_ack = t.syn_ack(willing());
    t.deliver(syn_ack).expect_ack(0);
    t.write(10 * MSS).expect_data(0..1).expect_cwnd(MSS);
    t.at(ms(4000)).expect_retransmission(0);
}

// Timers of the handshake are counted apart from those of data.
#[test]
fn expired_timers_of_syns_are_counted_by_themselves() {
    let mut t = Timeline::connecting(config());
    t.take();
    t.at(ms(1000)).take();
    let syn_ack = t.syn_ack(willing());
    t.deliver(syn_ack).expect_ack(0);
    t.write(MSS).expect_data(0..1);
    t.at(ms(4000)).expect_retransmission(0);
    let counters = t.endpoint.counters();
    assert_eq!((counters.syn_timeouts, counters.timeouts), (1, 1));
}

// RFC 9293 §3.10.7.2 and RFC 6298 §5.5.
// Clauses: RFC9293-3.10.7.2-syn
#[test]
fn a_lost_syn_ack_is_repeated_with_doubled_timeout() {
    let mut t = Timeline::listening(config());
    let syn = t.syn(willing());
    t.deliver(syn);
    assert!(t.progress.opened);
    assert_eq!(t.take().flags, TcpFlags::SYN.with(TcpFlags::ACK));
    for seconds in [1, 3, 7] {
        t.quiet_until(ms(1000 * seconds)).at(ms(1000 * seconds));
        assert_eq!(t.take().flags, TcpFlags::SYN.with(TcpFlags::ACK));
    }
    t.ack(0);
    assert_eq!(t.endpoint.state(), State::Established);
    assert_eq!(t.endpoint.counters().syn_timeouts, 3);
}

// RFC 9293 §3.10.7.4: the SYN is a duplicate, what answered it was lost.
// Clauses: RFC9293-3.10.7.4-repeated-syn
#[test]
fn a_repeated_syn_is_answered_again_without_a_second_opening() {
    let mut t = Timeline::listening(config());
    let syn = t.syn(willing());
    t.deliver(syn).take();
    t.deliver(syn);
    assert!(!t.progress.opened);
    assert_eq!(t.take().flags, TcpFlags::SYN.with(TcpFlags::ACK));
}

// RFC 9293 §3.10.7.4: a repeated SYN-ACK means that our ACK was lost.
#[test]
fn a_repeated_syn_ack_is_acknowledged_again() {
    let mut t = Timeline::established(config());
    let syn_ack = t.syn_ack(willing());
    t.deliver(syn_ack).expect_ack(0);
    assert_eq!(t.endpoint.state(), State::Established);
}

// RFC 9293 §3.10.7.4: any segment with the right acknowledgement completes the handshake.
// Clauses: RFC9293-3.10.7.4-handshake-ack
#[test]
fn data_completes_the_handshake_when_the_ack_was_lost() {
    let mut t = Timeline::listening(config());
    let syn = t.syn(willing());
    t.deliver(syn).take();
    t.receive(0..1).expect_ack(1);
    assert_eq!(t.endpoint.state(), State::Established);
}

// RFC 9293 §3.5, figure 8. The SYN-ACK's window is not scaled (RFC 7323 §2.2).
// Clauses: RFC9293-3.5-simultaneous
#[test]
fn simultaneous_open_ends_established() {
    let mut t = Timeline::connecting(config());
    t.take();
    t.write(10 * MSS);
    let syn = t.syn(willing());
    t.deliver(syn);
    assert_eq!(t.endpoint.state(), State::SynReceived);
    let answer = t.take();
    assert_eq!(answer.flags, TcpFlags::SYN.with(TcpFlags::ACK));
    assert_eq!(answer.seq, Seq(1000));
    let mut syn_ack = t.syn_ack(willing());
    syn_ack.window = 500;
    t.deliver(syn_ack);
    assert_eq!(t.endpoint.state(), State::Established);
    t.expect_bytes(500).expect_nothing();
}

// RFC 9293 §3.10.7.3: a reset that acknowledges the SYN refuses the connection; another is damage.
// Clauses: RFC9293-3.10.7.3-refused
#[test]
fn only_a_reset_that_acknowledges_the_syn_refuses() {
    let mut t = Timeline::connecting(config());
    t.take();
    t.deliver(t.peer_segment(TcpFlags::RST));
    assert_eq!(t.endpoint.state(), State::SynSent);
    t.deliver(t.peer_segment(TcpFlags::RST.with(TcpFlags::ACK)));
    assert_eq!(t.progress.aborted, Some(Abort::Reset));
    assert_eq!(t.endpoint.state(), State::Closed);
}

// RFC 9293 §3.10.7.3, first check: half-open connections are reset.
// Clauses: RFC9293-3.10.7.3-wrong-ack
#[test]
fn a_wrong_acknowledgement_of_the_syn_is_reset() {
    let mut t = Timeline::connecting(config());
    let syn = t.take();
    let mut stale = t.syn_ack(willing());
    stale.ack = Seq(77);
    t.deliver(stale);
    let reset = t.take();
    assert_eq!((reset.flags, reset.seq), (TcpFlags::RST, Seq(77)));
    assert_eq!((syn.seq, t.endpoint.state()), (Seq(1000), State::SynSent));
}

// RFC 7323 §2.2 and RFC 2018 §2: a SYN-ACK carries no option that the SYN did not.
// Clauses: RFC7323-2.2-syn
#[test]
fn a_syn_ack_offers_only_what_was_asked_for() {
    let mut t = Timeline::listening(Config {
        sack: true,
        ..config()
    });
    let syn = t.syn(SynOptions {
        mss: 1460,
        window_scale: None,
        sack_permitted: false,
    });
    t.deliver(syn);
    let refused = SynOptions {
        mss: 1000,
        window_scale: None,
        sack_permitted: false,
    };
    assert_eq!(t.take().options, Options::Syn(refused));
}

// RFC 9293 §3.10.7.4, fifth check: the peer takes us for another connection.
// Clauses: RFC9293-3.10.7.4-handshake-ack
#[test]
fn a_wrong_acknowledgement_of_the_syn_ack_is_reset() {
    let mut t = Timeline::listening(config());
    let syn = t.syn(willing());
    t.deliver(syn).take();
    let mut stale = t.peer_segment(TcpFlags::ACK);
    stale.ack = Seq(77);
    t.deliver(stale);
    let reset = t.take();
    assert_eq!((reset.flags, reset.seq), (TcpFlags::RST, Seq(77)));
    assert_eq!(t.endpoint.state(), State::SynReceived);
}

// RFC 7323 §2.3: the peer means 14, so that a window of 1 is 16 KiB and not 32.
// Clauses: RFC7323-2.3-fourteen
#[test]
fn a_shift_beyond_fourteen_counts_as_fourteen() {
    let mut t = Timeline::connecting(Config {
        initial_window: 40,
        ..config()
    });
    t.take();
    let mut syn_ack = t.syn_ack(SynOptions {
        window_scale: Some(15),
        ..willing()
    });
    syn_ack.window = 0;
    t.deliver(syn_ack).expect_ack(0);
    t.write(40 * MSS).expect_nothing();
    let mut update = t.peer_segment(TcpFlags::ACK);
    update.window = 1;
    t.deliver(update).expect_data(0..16).expect_nothing();
}
