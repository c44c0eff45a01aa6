use base::{Extension, FlowId, HostId, Packet, Time};
use tcp::{Ack, Arrival, Config, Echo, Established, Loss, ReceiverCc, SegmentCc, SenderCc, Slot};

use super::*;
use crate::registry::FlowInfo;

/// A connection behind two switches whose round trip is 10 us.
fn sender(changed: &[(&str, &str)], segments: u32) -> Sender {
    on_a_way(changed, segments, Span::from_micros(10))
}

fn on_a_way(changed: &[(&str, &str)], segments: u32, base_rtt: Span) -> Sender {
    let text = |key: &str| {
        let changed = changed.iter().find(|(name, _)| *name == key);
        changed.map_or_else(
            || Params::default_text(key).to_owned(),
            |(_, text)| (*text).to_owned(),
        )
    };
    let config = Config {
        mss: 1000,
        hops: 2,
        base_rtt,
        ..Config::default()
    };
    let params = Params::read(&text).expect("correct texts");
    let mut sender = Sender::new(&params, &FlowInfo { size: None, config });
    sender.on_established(&Established {
        mss: 1000,
        segments,
        rtt: None,
        extension: Extension::NONE,
    });
    sender
}

fn us(us: u64) -> Time {
    Time::ZERO + Span::from_micros(us)
}

/// An ACK for a packet that left at one time and is acknowledged at another, in microseconds.
fn acknowledge(sender: &mut Sender, left: u64, now: u64) {
    let mut packet = Packet::new(FlowId(0), HostId(0));
    packet.payload = 1000;
    sender.on_send(&mut packet, us(left));
    let mut receiver = Receiver::default();
    let arrival = Arrival {
        extension: packet.extension,
        ..Arrival::default()
    };
    receiver.on_data(Slot(0), &arrival, us(now));
    let mut ack = Packet::new(FlowId(0), HostId(1));
    receiver.stamp(Slot(0), &mut ack);
    sender.on_ack(&Ack {
        bytes: 1000,
        acknowledged: 1,
        next: 1,
        echo: Echo::None,
        recovering: false,
        limited_by_window: true,
        rtt: None,
        extension: ack.extension,
        now: us(now),
    });
}

fn window(sender: &Sender) -> u64 {
    sender.window()
}

// §3.5: base + 2 h + a/sqrt(w) - b with a = 125/(1/sqrt(0.1) - 1/sqrt(100)) = 40.82 us and b = 4.08 us.
#[test]
fn the_target_grows_with_hops_and_with_the_inverse_root_of_the_window() {
    let hops = 2.0 * 25.0 / 6.55;
    for (segments, scaled) in [(1, 36.74), (4, 16.33), (25, 4.08), (100, 0.0), (200, 0.0)] {
        let target = 1e6 * sender(&[], segments).target();
        assert!((target - 25.0 - hops - scaled).abs() < 0.01, "{target}");
    }
    // A path that is longer than 25 us has a base a quarter above its round trip.
    let far = on_a_way(&[("swift.hop_target", "1us")], 200, Span::from_micros(40));
    assert!(
        (1e6 * far.target() - 52.0).abs() < 0.001,
        "{}",
        far.target()
    );
}

// Alg. 1 l. 6-12.
#[test]
fn a_window_grows_below_the_target_and_shrinks_once_a_round_trip_above_it() {
    let mut sender = sender(&[("swift.base_target", "25us")], 100);
    // 100 ACKs below the target of 32.6 us: nearly a packet.
    for _ in 0..100 {
        acknowledge(&mut sender, 0, 20);
    }
    assert!(
        (100_990..=101_000).contains(&window(&sender)),
        "{}",
        window(&sender)
    );
    // 65.27 us are twice the target: 0.8 of a half, of 101.
    acknowledge(&mut sender, 0, 65);
    let cut = window(&sender);
    assert!((60_500..61_000).contains(&cut), "{cut}");
    // A second one, earlier than a round trip later, changes nothing.
    acknowledge(&mut sender, 1, 66);
    assert_eq!(window(&sender), cut);
    // The largest cut is a half.
    acknowledge(&mut sender, 100, 1000);
    assert!(window(&sender).abs_diff(cut / 2) <= 1);
}

#[test]
fn a_window_below_a_packet_sends_one_in_so_many_round_trips() {
    for (variant, from_ack) in [("paper", 0.0), ("htsim", 300.0)] {
        let mut sender = sender(&[("swift.variant", variant)], 1);
        assert_eq!(sender.pacing(), Some(Time::ZERO));
        for _ in 0..3 {
            sender.on_loss(Loss::RepeatedTimeout, 0, us(0));
        }
        // The first halves the window, others come too early, and the fourth makes it as small as it gets.
        sender.on_loss(Loss::RepeatedTimeout, 0, us(0));
        assert_eq!(window(&sender), 1000, "one packet may be outstanding");
        acknowledge_slow(&mut sender);
        let next = sender.pacing().expect("a time");
        let gap = next.since(us(1_000_000)).as_micros();
        // The mean of 10 us and 300 us is 46.25 us: 46.25 ms for a thousandth of a packet.
        assert!((gap - 46_250.0 - from_ack).abs() < 1.0, "{variant} {gap}");
    }
}

/// An ACK far above any target.
fn acknowledge_slow(sender: &mut Sender) {
    acknowledge(sender, 1_000_000, 1_000_300);
}

#[test]
fn a_loss_cuts_by_half_when_it_is_found_or_as_in_htsim_when_it_is_repaired() {
    for (variant, found, repaired) in [("paper", 50_000, 50_000), ("htsim", 100_000, 50_000)] {
        let mut sender = sender(&[("swift.variant", variant)], 100);
        sender.on_loss(Loss::FastRetransmit, 90_000, us(5));
        assert_eq!(window(&sender), found, "{variant}");
        sender.on_recovered(None);
        assert_eq!(window(&sender), repaired, "{variant}");
    }
}

#[test]
fn header_space_of_other_schemes_is_left_alone() {
    let mut receiver = Receiver::default();
    let other = Arrival {
        extension: Extension([1, 2, 3]),
        ..Arrival::default()
    };
    receiver.on_data(Slot(0), &other, us(1));
    let mut packet = Packet::new(FlowId(0), HostId(0));
    receiver.stamp(Slot(0), &mut packet);
    assert_eq!(packet.extension, Extension::NONE);
    // A departure of its own and one that is returned stand in one packet.
    let mut data = Packet::new(FlowId(0), HostId(0));
    data.payload = 1000;
    let mut sender = sender(&[], 10);
    sender.on_send(&mut data, us(7));
    let coming = Arrival {
        extension: data.extension,
        ..Arrival::default()
    };
    receiver.on_data(Slot(0), &coming, us(8));
    packet.payload = 1000;
    sender.on_send(&mut packet, us(9));
    receiver.stamp(Slot(0), &mut packet);
    assert_eq!(
        echo::age(packet.extension, us(27)),
        Some(Span::from_micros(20))
    );
}
