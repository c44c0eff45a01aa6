//! Sequence numbers that pass 2^32 (RFC 9293 §3.4).

use base::{Options, Seq, TcpFlags};
use tcp::{Config, NewReno, State};

use crate::script::{MSS, Timeline, config};

/// A connection whose SYN has number 2^32 - 2500: the third segment crosses the wrap.
fn near_the_wrap(config: Config) -> Timeline {
    let initial = Seq(u32::MAX - 2499);
    Timeline::established_with(config, initial, NewReno::new(&config))
}

#[test]
fn data_and_acknowledgements_cross_the_wrap() {
    let mut t = near_the_wrap(config());
    t.write(20 * MSS).expect_data(0..10);
    for segment in 1..=10 {
        t.ack(segment);
    }
    t.expect_data(10..20);
    t.ack(20).expect_nothing();
    assert_eq!(t.endpoint.acknowledged(), 20 * MSS);
}

#[test]
fn blocks_and_retransmissions_cross_the_wrap() {
    let mut t = near_the_wrap(Config {
        sack: true,
        ..config()
    });
    t.write(10 * MSS).expect_data(0..10);
    t.ack(2).sack(2, &[(3, 4)]).sack(2, &[(3, 5)]);
    t.sack(2, &[(3, 6)]).expect_retransmission(2);
    t.ack(10).expect_nothing();
}

#[test]
fn fin_crosses_the_wrap() {
    let mut t = near_the_wrap(config());
    t.write(2499);
    t.expect_data(0..2).expect_bytes(499);
    t.close();
    let fin = t.take();
    assert_eq!(fin.seq, Seq(0));
    t.ack_offset(2501);
    assert_eq!(t.endpoint.state(), State::FinWait2);
}

#[test]
fn received_data_crosses_the_wrap_out_of_order() {
    let mut t = Timeline::connecting(Config {
        sack: true,
        ..config()
    });
    t.peer_seq = Seq(u32::MAX - 2499);
    t.open(tcp::EcnMode::Off);
    t.receive(0..2).expect_ack(1).expect_ack(2);
    t.receive(3..4);
    let ack = t.take();
    let Options::Sack(blocks) = ack.options else {
        panic!("a block for the segment beyond the gap: {ack:?}");
    };
    assert_eq!(blocks.as_slice(), [(Seq(501), Seq(1501))]);
    t.receive(2..3).expect_ack(4);
    t.receive_fin();
    assert_eq!(t.take().flags, TcpFlags::ACK);
    assert_eq!(t.endpoint.received(), 4 * MSS);
}
