//! The additional cost of packets at a device that is watched: the time that a processor takes to send data through the
//! queue of a device, and to receive an ACK for each.

use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::SetBool;
use nix::{libc, setsockopt_impl};
use programs::LoadError;
use programs::observer::{DeviceObserver, ObserverOptions};
use rustix::net::addr::{SocketAddrArg, SocketAddrLen, SocketAddrOpaque};
use rustix::net::{AddressFamily, SendFlags, SocketType, bind, send, socket};

use crate::bed::{Bed, RECEIVER, SWITCH};
use crate::frame::Frame;

/// Nanoseconds for a packet, on average of data and ACKs.
pub(crate) struct Costs {
    /// In addition to the cost without an observer.
    pub(crate) watched: i64,
    /// The additional cost of programs at the same places that do nothing.
    pub(crate) empty: i64,
}

/// `None` where this machine cannot create networks, which is said aloud.
pub(crate) fn costs() -> Result<Option<Costs>, LoadError> {
    let Some(bed) = Bed::new() else {
        return Ok(None);
    };
    // No packet waits. The programs are called as often as if packets waited, and the clock sees no wait.
    bed.queue("replace", "tbf rate 20gbit burst 1000000 limit 10000000");
    let (out, back) = (bed.device(), bed.device_of(RECEIVER, "r0"));
    let mut line = Line {
        out: bed
            .inside(SWITCH, || packets(out))
            .expect("a packet socket"),
        back: bed
            .inside(RECEIVER, || packets(back))
            .expect("a packet socket"),
        frames: (0..FLOWS).map(frames).collect(),
        number: 0,
    };
    let mut least = [u64::MAX; 3];
    for _ in 0..ROUNDS {
        least[0] = least[0].min(line.least());
        for (least, object) in least[1..].iter_mut().zip([EMPTY, OBSERVE]) {
            let mut observer = DeviceObserver::load_as(WATCH, object)?;
            bed.inside(SWITCH, || observer.attach_hooks(out))?;
            *least = line.least().min(*least);
            let seen = observer.totals()?.packets;
            assert!(
                object == EMPTY || seen[0].min(seen[1]) >= u64::from(PAIRS),
                "{seen:?}"
            );
        }
    }
    let [plain, empty, watched] = least.map(|least| i64::try_from(least).unwrap_or(i64::MAX));
    Ok(Some(Costs {
        watched: watched - plain,
        empty: empty - plain,
    }))
}

/// Two sockets and the frames that they send.
struct Line {
    out: OwnedFd,
    back: OwnedFd,
    /// Data and their ACK, of each flow.
    frames: Vec<[Vec<u8>; 2]>,
    /// The sequence number of the first byte that is sent next.
    number: u32,
}

impl Line {
    /// The minimum of some averages for a packet, in nanoseconds.
    fn least(&mut self) -> u64 {
        let batches = (0..BATCHES).map(|_| self.pass());
        let least = batches.min().unwrap_or_default();
        u64::try_from((least / (2 * PAIRS)).as_nanos()).unwrap_or(u64::MAX)
    }

    #[expect(clippy::disallowed_methods, reason = "the time that passing takes")]
    fn pass(&mut self) -> Duration {
        let begin = Instant::now();
        for _ in 0..PAIRS / FLOWS {
            let from = self.number;
            self.number = from.wrapping_add(PAYLOAD);
            for [data, ack] in &mut self.frames {
                data[SEQ..SEQ + 4].copy_from_slice(&from.to_be_bytes());
                ack[SEQ + 4..SEQ + 8].copy_from_slice(&self.number.to_be_bytes());
                for (socket, frame) in [(&self.out, data), (&self.back, ack)] {
                    send(socket, frame, SendFlags::empty()).expect("it is sent");
                }
            }
        }
        begin.elapsed()
    }
}

/// Data of a flow, and an ACK.
fn frames(flow: u32) -> [Vec<u8>; 2] {
    let ack = Frame {
        options: vec![1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2],
        ..Frame::ack(60_000)
    };
    let data = Frame {
        back: false,
        payload: PAYLOAD as usize,
        ..ack.clone()
    };
    // The lower bytes of the sender's port; nobody checks sums.
    let virtio = [0, 0, HEADERS, 0, 0, 0, 0, 0, 0, 0];
    let [mut data, mut ack] = [data, ack].map(|frame| [&virtio[..], &frame.bytes()].concat());
    let port = u8::try_from(flow).expect("few flows");
    (data[SEQ - 3], ack[SEQ - 1]) = (port, port);
    [data, ack]
}

/// A socket for whole frames of a device of the network namespace of this thread.
fn packets(device: u32) -> io::Result<OwnedFd> {
    let socket = socket(AddressFamily::PACKET, SocketType::RAW, None)?;
    // Headers are then where a host's TCP has them.
    setsockopt(&socket, VirtioHeader, &true)?;
    bind(&socket, &Device::new(device))?;
    Ok(socket)
}

/// Frames begin with `struct virtio_net_hdr` of `linux/virtio_net.h`.
#[derive(Clone, Copy, Debug)]
struct VirtioHeader;

setsockopt_impl!(
    VirtioHeader,
    libc::SOL_PACKET,
    libc::PACKET_VNET_HDR,
    bool,
    SetBool
);

/// A device as an address: `struct sockaddr_ll` of `linux/if_packet.h`, whose protocol of zero asks for no packets.
#[repr(C)]
struct Device {
    family: u16,
    protocol: u16,
    number: u32,
    rest: [u32; 3],
}

impl Device {
    fn new(number: u32) -> Self {
        Self {
            family: AddressFamily::PACKET.as_raw(),
            protocol: 0,
            number,
            rest: [0; 3],
        }
    }
}

#[expect(unsafe_code, reason = "rustix has no address of a device")]
// SAFETY: the pointer is that of a whole `struct sockaddr_ll`, which lives as long as the call.
unsafe impl SocketAddrArg for Device {
    unsafe fn with_sockaddr<R>(
        &self,
        f: impl FnOnce(*const SocketAddrOpaque, SocketAddrLen) -> R,
    ) -> R {
        let length = SocketAddrLen::try_from(size_of::<Self>()).expect("20 bytes");
        f((&raw const *self).cast(), length)
    }
}

/// The settings of a machine that looks for incast, so that all features are on.
const WATCH: ObserverOptions = ObserverOptions {
    queue_shift: 10,
    degree: 8,
    burst_bytes: 1_250,
    burst: Duration::from_micros(100),
    packets_per_second: u32::MAX as u64,
    has_queue: true,
    queue_bps: 20_000_000_000,
};
/// At 100,000 packets a second, each of this many flows has several packets in a millisecond.
const FLOWS: u32 = 20;
const PAYLOAD: u32 = 1_400;
const PAIRS: u32 = 200;
/// The minimum counts, because other work on the machine only adds to it.
const BATCHES: u32 = 400;
const ROUNDS: u32 = 5;
/// The offset of a segment's sequence number, after ten bytes of virtio, Ethernet and IPv4.
const SEQ: usize = 48;
/// Bytes of all headers.
const HEADERS: u8 = 66;
const OBSERVE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/observe.o"));
const EMPTY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/observe_empty.o"));
