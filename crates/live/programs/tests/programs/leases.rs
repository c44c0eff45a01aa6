//! A program acts only as long as its lease is renewed.

use std::thread;
use std::time::Duration;

use laws::{Hscc, HsccSettings};
use programs::{Direction, Port, Reason};

use crate::frame::Frame;
use crate::loaded;

#[test]
fn without_a_lease_and_after_it_everything_passes() {
    let mut law = Hscc::new(&HsccSettings {
        buffer_units: 64_000,
        alpha1_millionths: 0,
        alpha2_millionths: 500_000,
        window_bytes: 1_460,
        rewrites_syn_ack: false,
    });
    law.on_level(64_000);
    let Some(port) = loaded(Port::load(&law.loadable())) else {
        return;
    };
    let run = |frame: &Frame| {
        let run = port.run(Direction::Ingress, &frame.bytes());
        run.expect("a frame is run")
    };
    let ack = Frame::ack(60_000);
    assert_eq!(run(&ack), ack.bytes(), "nobody has given a lease");
    port.renew(Duration::from_mins(1)).expect("a lease");
    drop(run(&Frame::syn_ack(Some(7))));
    assert_ne!(run(&ack), ack.bytes(), "the law acts");
    port.renew(Duration::from_millis(1)).expect("a lease");
    thread::sleep(Duration::from_millis(50));
    assert_eq!(run(&ack), ack.bytes(), "the lease is over");
    let counts = port.counts().expect("counters");
    assert!(counts.contains(&(Reason::NoLease, 2)), "{counts:?}");
}
