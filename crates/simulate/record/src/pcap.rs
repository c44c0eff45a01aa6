//! Captures that Wireshark and tshark read: real Ethernet, IPv4 and TCP in pcapng files.
//!
//! A [`Capture`] is a probe at some [`CapturePoints`] of the network. At each point it sees both directions of one link
//! from the side of one port, like a tap in front of that port's queue. It sees every packet when it is offered to the
//! queue; a packet that the queue drops or marks gets a comment. On the way back it sees every packet when it arrives.
//! A file is a pure function of point and place.
//!
//! In the simulation, packets on the wire count `net.header_bytes` and no Ethernet header. Packets in a capture have
//! the real headers of the same segment. The payload is zeros.

mod frame;
mod places;

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::Duration;

use base::{Ecn, HostId, Packet, Time};
use fabric::{DropReason, PortId};
use plan::PointSpec;
use plan::workload::Plan;
use sim::probe::Probe;
use wire::pcapng::{CaptureDirection, CaptureInterface, CapturedPacket, LinkType, PcapngWriter};

use frame::Frames;
pub use places::{CapturePoint, CapturePoints};

/// Captures of one simulation.
pub struct Capture {
    taps: Vec<Tap>,
    /// For each port, the taps in front of its queue, and the taps that see the packets coming out of it.
    queues: Vec<Vec<usize>>,
    arrivals: Vec<Vec<usize>>,
    /// Sending and receiving host of each connection.
    flows: Vec<(HostId, HostId)>,
    /// Whether the port has marked the packet that it accepts next.
    marked: bool,
    /// Whether, in this event, a switch has marked the packet whose arrival is reported next.
    marked_on_arrival: bool,
    failure: Option<io::Error>,
}

/// One file.
struct Tap {
    writer: PcapngWriter<BufWriter<File>>,
    frames: Frames,
    /// The most bytes of a packet that are kept.
    snap: usize,
}

impl Capture {
    /// Begins a file for each of `places` in `folder`, which is created if needed: for example
    /// `point-000012-bottleneck.pcapng` for the place `bottleneck` of point 12.
    ///
    /// # Panics
    /// If the network of the point lacks a place: see [`CapturePoints::check`].
    pub fn new(places: &CapturePoints, point: &PointSpec, folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let plan = Plan::of(point);
        let topology = &plan.topology;
        let ports = topology.links().len() * 2;
        let mut capture = Self {
            taps: Vec::new(),
            queues: vec![Vec::new(); ports],
            arrivals: vec![Vec::new(); ports],
            flows: plan
                .connections
                .iter()
                .map(|connection| (connection.sender, connection.receiver))
                .collect(),
            marked: false,
            marked_on_arrival: false,
            failure: None,
        };
        let names = topology.names();
        for place in places.list() {
            let port = place.port(&plan).expect("the place was checked");
            let (from, to) = topology.ends(port);
            let ends = format!("{} to {}", names[from.0 as usize], names[to.0 as usize]);
            let path = folder.join(format!("point-{:06}-{}.pcapng", point.index, place.name()));
            let tap = Tap::new(File::create(path)?, port, &ends, places.snap());
            capture.queues[port.0 as usize].push(capture.taps.len());
            // The numbers of a link's two ports differ in the last bit.
            capture.arrivals[port.0 as usize ^ 1].push(capture.taps.len());
            capture.taps.push(tap?);
        }
        Ok(capture)
    }

    /// Ends the files. Fails if writing failed now or before.
    pub fn finish(self) -> io::Result<()> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        for tap in self.taps {
            tap.writer.into_inner().flush()?;
        }
        Ok(())
    }

    fn offered(&mut self, port: PortId, packet: &Packet, comment: Option<&str>, now: Time) {
        for tap in &self.queues[port.0 as usize] {
            let ends = self.flows[packet.flow.0 as usize];
            let written =
                self.taps[*tap].write(packet, ends, (CaptureDirection::Out, comment), now);
            self.failure = self.failure.take().or(written.err());
        }
    }
}

impl Tap {
    fn new(file: File, port: PortId, ends: &str, snap: usize) -> io::Result<Self> {
        let application = concat!("tailwater ", env!("CARGO_PKG_VERSION"));
        let mut writer = PcapngWriter::new(BufWriter::new(file), application)?;
        writer.interface(&CaptureInterface {
            name: &format!("port{}", port.0),
            description: &format!("{ends}, in front of the queue, and what comes back"),
            link: LinkType::Ethernet,
            snap: u32::try_from(snap).unwrap_or(0),
        })?;
        Ok(Self {
            writer,
            frames: Frames::default(),
            snap,
        })
    }

    fn write(
        &mut self,
        packet: &Packet,
        ends: (HostId, HostId),
        (direction, comment): (CaptureDirection, Option<&str>),
        now: Time,
    ) -> io::Result<()> {
        let frame = self.frames.of(packet, ends);
        self.writer.packet(&CapturedPacket {
            interface: 0,
            at: Duration::from_nanos(now.as_ps() / 1000),
            direction,
            comment,
            bytes: &frame[..frame.len().min(self.snap)],
            length: u32::try_from(frame.len()).unwrap_or(u32::MAX),
        })?;
        Ok(())
    }
}

impl Probe for Capture {
    fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    fn keeps_ends(&self) -> bool {
        false
    }

    fn on_hop(&mut self, port: PortId, packet: &Packet, now: Time) {
        let mut packet = *packet;
        if std::mem::take(&mut self.marked_on_arrival) {
            // The next port set the mark; on the wire the packet had none.
            packet.ecn = Ecn::Capable;
        }
        for tap in &self.arrivals[port.0 as usize] {
            let ends = self.flows[packet.flow.0 as usize];
            let written = self.taps[*tap].write(&packet, ends, (CaptureDirection::In, None), now);
            self.failure = self.failure.take().or(written.err());
        }
    }

    fn on_mark(&mut self, _port: PortId, _packet: &Packet, _now: Time) {
        (self.marked, self.marked_on_arrival) = (true, true);
    }

    fn on_accept(&mut self, port: PortId, packet: &Packet, now: Time) {
        let comment = std::mem::take(&mut self.marked).then_some(MARKED);
        self.offered(port, packet, comment, now);
    }

    fn on_drop(&mut self, port: PortId, packet: &Packet, reason: DropReason, now: Time) {
        self.marked = false;
        let comment = match reason {
            DropReason::Full => FULL,
            DropReason::Pool => "dropped: shared buffer full (switch.pool)",
            DropReason::Threshold => {
                "dropped: the queue's share of the buffer full (switch.pool_alpha)"
            }
            DropReason::Headroom => {
                "dropped: headroom of a paused class full (switch.pfc_headroom)"
            }
            DropReason::Discipline => LOST,
            DropReason::LinkDown => "lost: the link was down (topology.faults)",
            DropReason::Restart => "lost: the switch restarted (topology.faults)",
            DropReason::HostGone => "lost: the host had disappeared (topology.faults)",
            DropReason::Lossy => "lost: at random on the link (topology.faults)",
            DropReason::Corrupt => "lost: damaged on the link (topology.faults)",
        };
        self.offered(port, packet, Some(comment), now);
    }

    fn on_lost(&mut self, _port: PortId, _packet: &Packet, _reason: DropReason, _now: Time) {
        // The tap saw this packet when the port accepted it.
    }
}

/// Comments of packets.
const MARKED: &str = "marked: queue at or above switch.ecn_threshold";
const FULL: &str = "dropped: queue full";
const LOST: &str = "lost: bottleneck.loss, switch.loss or the discipline of the queue";
