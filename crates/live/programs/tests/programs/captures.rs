//! The changes that a law makes to packets, seen from both sides of its port.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use base::cast::real;
use laws::{Idle, Loadable};
use programs::Port;
use rustix::net::sockopt::{Timeout, set_socket_recv_buffer_size_force, set_socket_timeout};
use rustix::net::{AddressFamily, Protocol, RecvFlags, SocketFlags, SocketType, recv, socket_with};

use crate::bed::{Bed, Flows, RECEIVER, SENDER, TCP_PORT};
use crate::frame::checksum;
use crate::live::{INTERVAL, SENDERS, SIZE, attached, hscc, rwndq};
use crate::steady::measured;
use crate::{are_there, loaded, program_ids};

#[test]
fn hscc_changes_windows_alone_and_only_downwards_on_the_wire() {
    compare_sides(&hscc().loadable());
}

#[test]
fn rwndq_changes_windows_alone_and_only_downwards_on_the_wire() {
    compare_sides(&rwndq().loadable(INTERVAL, &Idle::new(0), false));
}

fn compare_sides(law: &Loadable) {
    let Some(bed) = Bed::new() else {
        return;
    };
    let Some(port) = loaded(Port::load(law)) else {
        return;
    };
    let attached = attached(&bed, &port);
    let [before, after] = captured(&bed, || {
        bed.incast(SENDERS, SIZE);
    });
    drop(attached);
    let sent: BTreeMap<_, _> = before.iter().map(|ack| (ack.name(), ack)).collect();
    assert_eq!(sent.len(), before.len(), "every ACK has a name of its own");
    assert_eq!(after.len(), before.len(), "no ACK is lost");
    let mut lowered = 0;
    for got in &after {
        let sent = sent.get(&got.name()).expect("somebody sent it");
        assert!(got.window() <= sent.window(), "{sent:?} became {got:?}");
        assert_eq!(got.window() == 0, sent.window() == 0, "{got:?}");
        assert_eq!(got.without_window(), sent.without_window());
        assert!(sent.is_whole() && got.is_whole(), "{sent:?} became {got:?}");
        lowered += usize::from(got.window() < sent.window());
    }
    assert!(lowered > 100, "{lowered} windows of {}", after.len());
    for host in [SENDER, RECEIVER] {
        assert_eq!(bed.tcp_counter(host, "InCsumErrors"), 0, "{host}");
    }
}

#[test]
fn after_a_law_is_detached_the_rate_is_as_before_and_nothing_is_left() {
    let Some(bed) = Bed::new() else {
        return;
    };
    let rate = |flows: &Flows| {
        thread::sleep(Duration::from_millis(500));
        flows.bytes_in(Duration::from_secs(1)).iter().sum::<u64>()
    };
    // The best of three: other work on this machine only lowers a rate.
    let flows = bed.flows(4);
    let before = (0..3).map(|_| rate(&flows)).max().unwrap_or_default();
    drop(flows);
    let Some(port) = loaded(Port::load(&hscc().loadable())) else {
        return;
    };
    let programs = program_ids(&port);
    let attached = attached(&bed, &port);
    bed.incast(SENDERS, SIZE);
    assert!(are_there(&programs), "{programs:?}");
    drop((attached, port));
    // The kernel removes programs once no packet can be in them.
    let mut looks = (0..1_000).map(|_| thread::sleep(Duration::from_millis(10)));
    assert!(looks.any(|()| !are_there(&programs)), "{programs:?}");
    let flows = bed.flows(4);
    let is_as_before = |after: &u64| (real(*after) / real(before) - 1.0).abs() < 0.05;
    let after = measured(|| rate(&flows), is_as_before);
    if let Some(after) = after {
        assert!(is_as_before(&after), "{before} bytes, then {after}");
    }
}

/// The ACKs that leave the receiver, and those that reach the sender, while `act` runs.
pub(crate) fn captured(bed: &Bed, act: impl FnOnce()) -> [Vec<Ack>; 2] {
    let over = AtomicBool::new(false);
    let begun = [const { AtomicBool::new(false) }; 2];
    thread::scope(|scope| {
        let sides = [(RECEIVER, &begun[0]), (SENDER, &begun[1])];
        let captures = sides.map(|(host, begun)| {
            let over = &over;
            scope.spawn(move || bed.inside(host, || capture(begun, over)))
        });
        while !begun.iter().all(|begun| begun.load(Relaxed)) {
            thread::sleep(Duration::from_millis(1));
        }
        act();
        over.store(true, Relaxed);
        captures.map(|capture| capture.join().expect("a capture"))
    })
}

/// Segments from the receiver's port that the devices of this thread's namespace carry.
fn capture(begun: &AtomicBool, over: &AtomicBool) -> Vec<Ack> {
    let everything = Protocol::from_raw(u32::from(3_u16.to_be()).try_into().expect("not zero"));
    let socket = socket_with(
        AddressFamily::PACKET,
        SocketType::RAW,
        SocketFlags::empty(),
        Some(everything),
    );
    let socket = socket.expect("a socket for packets");
    set_socket_recv_buffer_size_force(&socket, 64 << 20).expect("a large buffer");
    // The last ACKs are under way until none comes for this long.
    let patience = Some(Duration::from_millis(500));
    set_socket_timeout(&socket, Timeout::Recv, patience).expect("a timeout");
    begun.store(true, Relaxed);
    let mut acks = Vec::new();
    let mut buffer = [0; 2_048];
    loop {
        match recv(&socket, &mut buffer, RecvFlags::empty()) {
            Ok((length, _)) => acks.extend(Ack::new(&buffer[..length])),
            Err(_) if over.load(Relaxed) => return acks,
            Err(_) => {}
        }
    }
}

/// A segment of IPv4 from the receiver's port: addresses and TCP, without what routers change.
#[derive(Clone, Debug)]
pub(crate) struct Ack {
    identification: [u8; 2],
    pseudo_header: Vec<u8>,
    segment: Vec<u8>,
}

impl Ack {
    fn new(frame: &[u8]) -> Option<Self> {
        let packet = frame.strip_prefix(&frame[..12])?.strip_prefix(&[8, 0])?;
        let length = usize::from(u16::from_be_bytes([packet[2], packet[3]]));
        let segment = packet[20..length].to_vec();
        let is_ack = packet[9] == 6 && segment[..2] == TCP_PORT.to_be_bytes();
        let size = u16::try_from(segment.len()).ok()?.to_be_bytes();
        is_ack.then(|| Self {
            identification: [packet[4], packet[5]],
            pseudo_header: [&packet[12..20], &[0, 6], &size].concat(),
            segment,
        })
    }

    /// The name of a packet: its connection, the number that its sender gave it, and its sequence and acknowledgement
    /// numbers.
    fn name(&self) -> ([u8; 2], [u8; 2], [u8; 8]) {
        let places = self.segment[4..12].try_into().expect("eight bytes");
        (
            [self.segment[2], self.segment[3]],
            self.identification,
            places,
        )
    }

    pub(crate) fn window(&self) -> u16 {
        u16::from_be_bytes([self.segment[14], self.segment[15]])
    }

    /// The port of the other side of its connection.
    pub(crate) fn connection(&self) -> [u8; 2] {
        [self.segment[2], self.segment[3]]
    }

    /// Its acknowledgement number.
    pub(crate) fn number(&self) -> u32 {
        let number = self.segment[8..12].try_into();
        u32::from_be_bytes(number.expect("four bytes"))
    }

    /// The shift in the last option of a SYN-ACK, where Linux places it.
    pub(crate) fn shift(&self) -> Option<u8> {
        let is_syn = self.segment[13] & 2 > 0;
        is_syn.then(|| self.segment.last().copied()).flatten()
    }

    /// Everything except the window and the checksum.
    fn without_window(&self) -> [&[u8]; 3] {
        let segment = &self.segment;
        [&self.pseudo_header, &segment[..14], &segment[18..]]
    }

    /// Whether the checksum is that of the segment.
    pub(crate) fn is_whole(&self) -> bool {
        checksum(&[&self.pseudo_header[..], &self.segment].concat()) == 0
    }
}
