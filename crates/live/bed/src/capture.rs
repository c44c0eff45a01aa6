//! Captures everything that passes a switch, in a file that Wireshark reads.
//!
//! A packet is captured where it comes in and where it leaves, so that both sides of a queue and of a program are
//! visible. Data is seen before the queue at the sender's port and after it at the watched port. ACKs are seen before
//! they are rewritten at the watched port and afterwards at the sender's port.

use std::fs::File;
use std::io::{self, BufWriter, IoSliceMut, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fabric::PortId;
use machine::priority::Priority;
use nix::cmsg_space;
use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, ControlMessageOwned, LinkAddr, MsgFlags, SockFlag, SockProtocol, SockType,
    recvmsg, setsockopt, socket, sockopt,
};
use nix::sys::time::{TimeSpec, TimeVal};
use wire::pcapng::{CaptureDirection, CaptureInterface, CapturedPacket, LinkType, PcapngWriter};

use crate::lan::Lan;
use crate::testbed::Testbed;

/// A running capture.
pub(crate) struct Tap {
    socket: OwnedFd,
    writer: PcapngWriter<BufWriter<File>>,
    /// Numbers of interfaces in the kernel, in the order of the file.
    interfaces: Vec<u32>,
    captured: Captured,
    bytes: usize,
}

/// The packets of a capture.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Captured {
    pub(crate) packets: u64,
    /// Packets that the kernel dropped before they were read.
    pub(crate) lost: u32,
    /// Packets after the file was full.
    pub(crate) left_out: u64,
}

impl Tap {
    /// Begins to capture before and after the watched port.
    pub(crate) fn open(bed: &Testbed, lan: &Lan, file: &Path) -> io::Result<Self> {
        let socket = lan.owner(bed.watched).within(listen)?;
        let file = BufWriter::with_capacity(1 << 20, File::create(file)?);
        let mut writer = PcapngWriter::new(file, "")?;
        let (node, _) = bed.topology.ends(bed.watched);
        let ports: Vec<PortId> = lan.ports_of(node).collect();
        for port in &ports {
            writer.interface(&CaptureInterface {
                name: &format!("p{}", port.0),
                description: &described(bed, *port),
                link: LinkType::Ethernet,
                snap: u32::try_from(SNAP).unwrap_or(0),
            })?;
        }
        let interfaces = ports.iter().map(|port| lan.interfaces[port.0 as usize]);
        Ok(Self {
            socket,
            writer,
            interfaces: interfaces.collect(),
            captured: Captured::default(),
            bytes: 0,
        })
    }

    /// Writes packets until `stop`, and then the waiting ones.
    pub(crate) fn run(mut self, stop: &AtomicBool) -> io::Result<Captured> {
        // The capture has a buffer, so the network goes first.
        let _last = Priority::lowered();
        loop {
            let last = stop.load(Ordering::Relaxed);
            if !self.next()? && last {
                break;
            }
        }
        self.writer.into_inner().flush()?;
        Ok(self.captured)
    }

    /// Writes the next packet. Returns whether there was one.
    fn next(&mut self) -> io::Result<bool> {
        let mut frame = [0; SNAP];
        let Some(seen) = next(&self.socket, &mut frame)? else {
            return Ok(false);
        };
        self.captured.lost = seen.lost.unwrap_or(self.captured.lost);
        if let Some(from) = seen.from {
            let kept = &frame[..seen.length.min(SNAP)];
            self.write(kept, seen.length, from, seen.at)?;
        }
        Ok(true)
    }

    fn write(&mut self, frame: &[u8], length: usize, from: Place, at: Duration) -> io::Result<()> {
        let is_from = |index: &u32| from.is_at(*index);
        let Some(place) = self.interfaces.iter().position(is_from) else {
            // The loopback device.
            return Ok(());
        };
        if self.bytes > MOST {
            self.captured.left_out += 1;
            return Ok(());
        }
        self.captured.packets += 1;
        self.bytes += self.writer.packet(&CapturedPacket {
            interface: u32::try_from(place).map_err(io::Error::other)?,
            at,
            direction: if from.leaves {
                CaptureDirection::Out
            } else {
                CaptureDirection::In
            },
            comment: None,
            bytes: frame,
            length: u32::try_from(length).unwrap_or(u32::MAX),
        })?;
        Ok(())
    }
}

/// A packet that a socket of [`listen`] has seen.
pub(crate) struct SeenPacket {
    /// When, since 1970.
    pub(crate) at: Duration,
    /// Its bytes, those included that were not kept.
    pub(crate) length: usize,
    pub(crate) from: Option<Place>,
    /// All packets that the kernel has dropped before they were read, if it says so.
    lost: Option<u32>,
}

/// Where a packet was seen.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    interface: usize,
    leaves: bool,
}

impl Place {
    /// Whether it passes the interface with this number.
    fn is_at(self, interface: u32) -> bool {
        usize::try_from(interface) == Ok(self.interface)
    }

    /// Whether it leaves through the interface with this number.
    pub(crate) fn leaves(self, interface: u32) -> bool {
        self.leaves && self.is_at(interface)
    }
}

/// The next packet of a socket of [`listen`], with its beginning in `frame`; `None` if there is none for a moment.
pub(crate) fn next(socket: &OwnedFd, frame: &mut [u8]) -> io::Result<Option<SeenPacket>> {
    let mut control = cmsg_space!(TimeSpec, u32);
    let mut parts = [IoSliceMut::new(frame)];
    // The returned length is the packet's length, even if only a part is kept.
    let received = recvmsg::<LinkAddr>(
        socket.as_raw_fd(),
        &mut parts,
        Some(&mut control),
        MsgFlags::MSG_TRUNC,
    );
    let received = match received {
        Err(Errno::EAGAIN | Errno::EINTR) => return Ok(None),
        received => received?,
    };
    let mut seen = SeenPacket {
        at: Duration::ZERO,
        length: received.bytes,
        from: received.address.map(|from| Place {
            interface: from.ifindex(),
            leaves: from.pkttype() == OUTGOING,
        }),
        lost: None,
    };
    for message in received.cmsgs()? {
        match message {
            ControlMessageOwned::ScmTimestampns(time) => seen.at = Duration::from(time),
            ControlMessageOwned::RxqOvfl(lost) => seen.lost = Some(lost),
            _ => {}
        }
    }
    Ok(Some(seen))
}

/// A socket that sees every packet of its namespace.
pub(crate) fn listen() -> io::Result<OwnedFd> {
    let socket = socket(
        AddressFamily::Packet,
        SockType::Raw,
        SockFlag::SOCK_CLOEXEC,
        SockProtocol::EthAll,
    )?;
    setsockopt(&socket, sockopt::RcvBufForce, &ROOM)?;
    setsockopt(&socket, sockopt::RxqOvfl, &1)?;
    setsockopt(&socket, sockopt::ReceiveTimestampns, &true)?;
    setsockopt(&socket, sockopt::ReceiveTimeout, &PATIENCE)?;
    Ok(socket)
}

/// The ends and the role of a port, in words.
fn described(bed: &Testbed, port: PortId) -> String {
    let names = bed.topology.names();
    let (from, to) = bed.topology.ends(port);
    let role = if port == bed.bottleneck {
        ", the bottleneck"
    } else if port == bed.watched {
        ", which most flows pass"
    } else {
        ""
    };
    format!(
        "{} to {}{role}",
        names[from.0 as usize], names[to.0 as usize]
    )
}

/// Bytes of a packet that are kept: all headers.
const SNAP: usize = 128;

/// The most bytes of a file, some 400,000 packets.
const MOST: usize = 64 << 20;

/// Bytes that may wait to be read: a quarter of a second of full packets at 200 Mbit/s. The kernel counts each with its
/// bookkeeping, on each side of the switch.
const ROOM: usize = 64 << 20;

/// The longest wait for the end of the capture at the end of a run.
const PATIENCE: TimeVal = TimeVal::new(0, 20_000);

/// `PACKET_OUTGOING` of `linux/if_packet.h`.
const OUTGOING: u8 = 4;
