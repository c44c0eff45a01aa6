//! The role behind a link that a test plays: senders obey windows at once, packets queue for the link.

use std::collections::BTreeMap;

use base::setting::Settings;
use base::{FlowId, HostId, Rate};

use super::*;

const MSS: u64 = 1446;
const HOST: HostInfo = HostInfo {
    rate: Rate::from_bps(1_000_000_000),
    mss: 1446,
    packet_bytes: 1500,
};

/// Endless flows to one host, whose only limit is the advertised window.
struct Link {
    role: Interface,
    now: Time,
    /// From a sender to the queue of the link, and back for an ACK.
    delay: Span,
    /// When the link has sent all packets that wait for it.
    free: Time,
    /// Segments on their way, by arrival and order of sending: flow and offset.
    coming: BTreeMap<(Time, u64), (u32, u64)>,
    sent: u64,
    flows: Vec<Sender>,
}

/// Offsets of one sender: next to send, and next expected at the receiver.
struct Sender {
    next: u64,
    expected: u64,
}

impl Link {
    fn new(delay: Span) -> Self {
        Self::with(&Params::defaults(), delay)
    }

    fn with(params: &Params, delay: Span) -> Self {
        Self {
            role: Interface::new(params, &HOST),
            now: Time::ZERO,
            delay,
            free: Time::ZERO,
            coming: BTreeMap::new(),
            sent: 0,
            flows: Vec::new(),
        }
    }

    /// Opens a flow: its first window is on its way.
    fn open(&mut self) {
        let flow = u32::try_from(self.flows.len()).unwrap();
        let syn = Packet::new(FlowId(flow), HostId(0));
        self.role.on_open(Slot(flow), &syn, HOST.mss, self.now);
        self.flows.push(Sender {
            next: 1,
            expected: 1,
        });
        self.acknowledge(flow);
    }

    fn window(&self, flow: u32) -> u64 {
        self.role.window(Slot(flow), u64::MAX)
    }

    /// Lets time pass, and returns the share of the link that was used.
    fn run(&mut self, span: Span) -> f64 {
        let (start, end) = (self.now, self.now + span);
        let mut packets = 0_u32;
        while let Some((&(at, number), &(flow, offset))) = self.coming.first_key_value()
            && at <= end
        {
            self.coming.remove(&(at, number));
            self.now = at;
            packets += 1;
            let sender = &mut self.flows[flow as usize];
            let arrival = Arrival {
                offset,
                expected: sender.expected,
                payload: MSS,
                new_bytes: MSS,
                in_order: MSS,
                ..Arrival::default()
            };
            sender.expected += MSS;
            self.role.on_data(Slot(flow), &arrival, at);
            self.acknowledge(flow);
        }
        self.now = end;
        let busy = self.role.packet_time.as_secs() * f64::from(packets);
        busy / end.since(start).as_secs()
    }

    fn acknowledge(&mut self, flow: u32) {
        let (now, window) = (self.now, self.window(flow));
        let sender = &mut self.flows[flow as usize];
        let sent = AckSent {
            ack: sender.expected,
            window,
            syn: false,
        };
        self.role.on_ack_sent(Slot(flow), &sent, now);
        while sender.next + MSS <= sent.ack + window {
            self.free = self.free.max(now + self.delay) + self.role.packet_time;
            self.coming
                .insert((self.free, self.sent), (flow, sender.next));
            sender.next += MSS;
            self.sent += 1;
        }
    }
}

#[test]
fn a_lone_flow_grows_until_nine_tenths_of_the_link_are_used_and_stays() {
    // A round trip of 172 us carries 12.9 packets at 0.9 C: the thirteenth does not fit.
    let mut link = Link::new(Span::from_micros(160));
    link.open();
    link.run(Span::from_millis(20));
    assert_eq!(link.window(0), 12 * MSS);
    let used = link.run(Span::from_millis(100));
    assert_eq!(link.window(0), 12 * MSS);
    assert!((0.83..=0.9).contains(&used), "{used}");
}

#[test]
fn windows_grow_only_in_the_second_part_of_a_slot() {
    let mut link = Link::new(Span::from_micros(160));
    link.open();
    let mut window = link.window(0);
    for _ in 0..2000 {
        link.run(Span::from_micros(1));
        assert!(link.window(0) == window || link.role.quota.open);
        window = link.window(0);
    }
    assert!(window > 2 * MSS);
}

#[test]
fn windows_of_2_and_20_at_full_load_converge() {
    let mut link = Link::new(Span::from_micros(290));
    link.open();
    link.run(Span::from_millis(50));
    assert!((20 * MSS..24 * MSS).contains(&link.window(0)));
    link.open();
    assert_eq!(link.window(1), 2 * MSS);
    link.run(Span::from_millis(100));
    let apart = link.window(0).abs_diff(link.window(1));
    assert!(apart <= MSS, "{} and {}", link.window(0), link.window(1));
    let used = link.run(Span::from_millis(100));
    assert!((0.8..=0.95).contains(&used), "{used}");
}

#[test]
fn many_flows_keep_their_least_windows_when_those_fill_the_link() {
    let mut link = Link::new(Span::from_micros(160));
    for _ in 0..41 {
        link.open();
    }
    link.run(Span::from_millis(50));
    for flow in 0..41 {
        assert_eq!(link.window(flow), 2 * MSS);
    }
    assert!(link.role.available() <= 0.0);
}

#[test]
fn without_a_round_trip_nothing_changes_and_an_ended_connection_leaves_the_buffer_alone() {
    let mut link = Link::new(Span::from_millis(40));
    link.open();
    link.run(Span::from_secs(1));
    assert_eq!(link.role.base_rtt(), None);
    assert_eq!(link.window(0), 2 * MSS);
    link.role.on_close(Slot(0), link.now);
    assert_eq!(link.window(0), u64::MAX);
}

#[test]
fn windows_change_once_in_a_slot_of_the_least_length() {
    let changes = |min_slot: Option<Span>| {
        let params = Params {
            min_slot: base::OrOff(min_slot),
            ..Params::defaults()
        };
        let mut link = Link::with(&params, Span::from_micros(160));
        link.open();
        let (mut changes, mut window) = (Vec::new(), link.window(0));
        for _ in 0..12_000 {
            link.run(Span::from_micros(1));
            if link.window(0) != window {
                window = link.window(0);
                changes.push(link.now);
            }
        }
        // Twelve segments are what the paper's slots let grow, and these reach the same.
        assert_eq!(link.window(0), 12 * MSS, "{min_slot:?}");
        changes
    };
    let apart = |changes: &[Time]| {
        let gaps = changes.windows(2).map(|pair| pair[1].since(pair[0]));
        gaps.min().expect("several changes")
    };
    let (paper, slow) = (changes(None), changes(Some(Span::from_millis(1))));
    assert!(apart(&paper) < Span::from_micros(400), "{paper:?}");
    // A slot ends with the arrival that is nearest to its end.
    assert!(apart(&slow) > Span::from_micros(950), "{slow:?}");
}
