use base::{FlowId, HostId};
use tcp::{Arrival, Config, ReceiverCc, Released, Slot};

use super::*;

/// Segments of 960 bytes, 1000 on the wire, at a link of 5 GB/s: 200 ns each.
fn sender(changed: &[(&str, &str)]) -> Sender {
    let text = |key: &str| {
        let changed = changed.iter().find(|(name, _)| *name == key);
        changed.map_or_else(
            || Params::default_text(key).to_owned(),
            |(_, text)| (*text).to_owned(),
        )
    };
    let config = Config {
        mss: 960,
        link_rate: Rate::from_bps(40_000_000_000),
        ..Config::default()
    };
    let params = Params::read(&text).expect("correct texts");
    Sender::new(&params, &FlowInfo { size: None, config })
}

fn us(us: u64) -> Time {
    Time::ZERO + Span::from_micros(us)
}

fn send(sender: &mut Sender, at: Time) {
    let mut packet = Packet::new(FlowId(0), HostId(0));
    packet.payload = 960;
    sender.on_send(&mut packet, at);
}

/// Rate and target in Gbit/s after all timers up to this time, which a segment makes up for.
fn rates(sender: &mut Sender, at: u64) -> (f64, f64) {
    send(sender, us(at));
    (sender.law.current() * 8e-9, sender.law.target() * 8e-9)
}

fn assert_near((rate, target): (f64, f64), expected: (f64, f64)) {
    let near = |left: f64, right: f64| (left - right).abs() < 1e-9;
    assert!(
        near(rate, expected.0) && near(target, expected.1),
        "{rate} {target}, not {expected:?}"
    );
}

// §3.1 eq. 1: from line rate, with alpha 1.
#[test]
fn a_notice_halves_the_rate_and_five_expiries_take_it_back() {
    let mut sender = sender(&[]);
    assert_near(rates(&mut sender, 0), (40.0, 40.0));
    sender.on_notice(CNP, us(100));
    assert_near(rates(&mut sender, 154), (20.0, 40.0));
    for (at, rate) in [
        (155, 30.0),
        (210, 35.0),
        (265, 37.5),
        (320, 38.75),
        (375, 39.375),
    ] {
        assert_near(rates(&mut sender, at), (rate, 40.0));
    }
    // alpha was 1 after the notice, and has decayed five times.
    let expected = libm::pow(255.0 / 256.0, 5.0);
    assert!((sender.law.alpha() - expected).abs() < 1e-12);
}

#[test]
fn after_fast_recovery_the_target_grows_by_steps_and_then_by_large_ones() {
    // With a counter of 5 segments: both stages move.
    let mut sender = sender(&[("dcqcn.byte_counter", "5KB"), ("dcqcn.fast_recovery", "2")]);
    sender.on_notice(CNP, us(0));
    sender.on_notice(CNP, us(0));
    // 20 is the target, 10 and a little the rate; two expiries of the timer approach it.
    let (rate, _) = rates(&mut sender, 111);
    assert!(rate > 17.4 && rate < 17.6, "{rate}");
    // The third raises the target by 40 Mbit/s.
    assert_near((0.0, rates(&mut sender, 165).1), (0.0, 20.04));
    // Three expiries of the counter: the timer's three are more than F, and the counter's are not yet.
    for _ in 0..13 {
        send(&mut sender, us(165));
    }
    assert_near((0.0, rates(&mut sender, 219).1), (0.0, 20.16));
    // Now both are.
    assert_near((0.0, rates(&mut sender, 220).1), (0.0, 20.36));
}

#[test]
fn a_segment_leaves_when_the_rates_since_the_last_one_have_sent_that() {
    let mut sender = sender(&[("dcqcn.min_rate", "80Mbps")]);
    send(&mut sender, us(0));
    assert_eq!(sender.pacing(), Some(Time::ZERO + Span::from_nanos(200)));
    // Cuts by half, as alpha is near 1: to the least rate, of 100 us for a segment.
    for _ in 0..10 {
        sender.on_notice(CNP, us(1));
    }
    // The timer of 55 us takes the rate half of the way to a target that is as low, and then the next segment is late.
    let rate = sender.law.current() * 8e-6;
    assert!(rate < 81.0, "{rate}");
    assert_eq!(sender.pacing(), Some(us(100)));
    // A target far above: at 56 us the timer raises the rate to more than half of the line's, and the segment leaves then.
    let mut sender = self::sender(&[("dcqcn.variant", "hpcc"), ("dcqcn.timer", "55us")]);
    send(&mut sender, us(0));
    sender.on_notice(CNP, us(1));
    for at in 1..12 {
        sender.on_notice(CNP, us(1 + 4 * at));
    }
    send(&mut sender, us(49));
    assert_eq!(sender.law.current().to_bits(), 1.25e7_f64.to_bits());
    // 80 us at 100 Mbit/s; the last cut was at 49 us.
    assert_eq!(sender.pacing(), Some(us(104)));
}

// rdma-hw.cc: cnp_received_mlx, CheckRateDecreaseMlx, UpdateAlphaMlx.
#[test]
fn the_public_simulator_looks_for_notices_every_4_us_and_keeps_a_target_that_nothing_approached() {
    let mut sender = sender(&[("dcqcn.variant", "hpcc")]);
    let notice = |sender: &mut Sender, at: u64| sender.on_notice(CNP, us(at));
    notice(&mut sender, 10);
    assert_near(rates(&mut sender, 13), (40.0, 40.0));
    assert_near(rates(&mut sender, 14), (20.0, 40.0));
    // Two notices between two looks are one cut.
    notice(&mut sender, 15);
    notice(&mut sender, 16);
    assert_near(rates(&mut sender, 17), (20.0, 40.0));
    assert_near(rates(&mut sender, 18), (10.0, 40.0));
    assert_near(rates(&mut sender, 64), (10.0, 40.0));
    // After 55 us alpha moves up once, as a notice has come, and then down.
    rates(&mut sender, 65);
    assert!((sender.law.alpha() - 1.0).abs() < 1e-12);
    rates(&mut sender, 120);
    assert!((sender.law.alpha() - 255.0 / 256.0).abs() < 1e-12);
    // The timer counts from the last cut.
    assert_near(rates(&mut sender, 1517), (10.0, 40.0));
    assert_near(rates(&mut sender, 1518), (25.0, 40.0));
    // A target that was approached falls to the rate; 100 Mbit/s are left at least.
    notice(&mut sender, 1600);
    let (rate, target) = rates(&mut sender, 1604);
    assert!(
        rate < 14.0 && (target - 25.0).abs() < 1e-9,
        "{rate} {target}"
    );
    for at in 0..60 {
        notice(&mut sender, 1700 + 4 * at);
    }
    assert_near((rates(&mut sender, 2000).0, 0.0), (0.1, 0.0));
}

fn marked(receiver: &mut Receiver, marked: bool, at: u64) -> bool {
    let arrival = Arrival {
        payload: 960,
        marked,
        ..Arrival::default()
    };
    receiver.on_data(Slot(3), &arrival, us(at));
    let release = receiver.next_release(us(at));
    let Some(release) = release else {
        return false;
    };
    assert_eq!((release.slot, release.what), (Slot(3), Released::Notice));
    let mut notice = Packet::new(FlowId(0), HostId(0));
    receiver.stamp(Slot(3), &mut notice);
    notice.extension == CNP
}

// §3.1, Fig. 6.
#[test]
fn a_receiver_sends_one_notice_in_50_us_about_the_marks_that_came_in_them() {
    let mut receiver = Receiver::new(Variant::Paper, Span::from_micros(50));
    let mut at_once = |mark, at| marked(&mut receiver, mark, at);
    assert_eq!([at_once(false, 0), at_once(true, 10)], [false, true]);
    assert_eq!([at_once(true, 11), at_once(true, 59)], [false; 2]);
    assert_eq!(receiver.deadline(), us(60));
    receiver.on_deadline(us(60));
    let notice = receiver.next_release(us(60));
    assert_eq!(notice.map(|release| release.slot), Some(Slot(3)));
    // The next 50 us bring none.
    assert_eq!(
        (receiver.next_release(us(60)), receiver.deadline()),
        (None, Time::NEVER)
    );
    assert!(!marked(&mut receiver, false, 100) && marked(&mut receiver, true, 111));
    // A notice that waits for one connection does not go to the next one in its slot.
    assert!(!marked(&mut receiver, true, 112));
    receiver.on_open(Slot(3), &Packet::new(FlowId(1), HostId(0)), 960, us(120));
    receiver.on_deadline(us(161));
    assert_eq!(receiver.next_release(us(161)), None);
}

#[test]
fn the_public_simulators_receiver_puts_the_notice_into_the_ack_of_each_marked_packet() {
    let mut receiver = Receiver::new(Variant::Hpcc, Span::from_micros(50));
    for mark in [true, true, false] {
        assert!(!marked(&mut receiver, mark, 0), "no notice of its own");
        let mut ack = Packet::new(FlowId(0), HostId(0));
        ack.flags = base::TcpFlags::ACK;
        receiver.stamp(Slot(3), &mut ack);
        assert_eq!(ack.extension == CNP, mark);
    }
}
