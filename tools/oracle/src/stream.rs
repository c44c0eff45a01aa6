//! The segments that one end of a kernel's connection received and sent. An endpoint here that receives the same
//! segments must send the same.
//!
//! A scenario compares two networks, in which one difference hides others. A stream compares two ends alone: segments
//! reach our end at the times at which they reached the kernel's. [`sender`] compares the data of senders, segment by
//! segment, and [`receiver`] the acknowledgements of receivers.

pub mod receiver;
pub mod sender;

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use base::cast::low_32;
use base::{
    Beside, Ecn, FlowId, HostId, Options, Packet, SackBlocks, Seq, SynOptions, TcpFlags, Time,
    Timestamps,
};
use schemes::{FlowInfo, Sender};
use tcp::{Endpoint, Identity};

use crate::list::OracleScenario;
use crate::simulate::{lead, scheme, settings};

/// One side of a connection, as `guest/capture.py` writes it.
#[derive(Clone, Debug)]
pub struct ConnectionSide {
    is_server: bool,
    /// When the SYN of this end left, in ns.
    begins: u64,
    initial: Seq,
    /// The first timestamp less the time of its segment, in ms.
    clock: u32,
    events: Vec<Event>,
}

#[derive(Clone, Debug)]
enum Event {
    In(u64, Box<Packet>),
    Out(Sent),
    Ack(Acked),
}

/// A segment with data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sent {
    /// When it left, in ns; for the kernel's, the latest possible time.
    pub ns: u64,
    /// Offset of its first byte in the stream; the first byte of all has 1.
    pub offset: u64,
    /// Bytes.
    pub payload: u64,
}

/// A segment without data that a receiver has sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Acked {
    /// When it left, in ns; for the kernel's, the latest possible time.
    pub ns: u64,
    /// What it acknowledges.
    pub ack: u32,
    /// Whether it echoes a mark.
    pub echo: bool,
    /// Its SACK blocks.
    pub sack: Vec<(u32, u32)>,
}

impl Event {
    fn ns(&self) -> u64 {
        match self {
            Self::In(ns, _) => *ns,
            Self::Out(sent) => sent.ns,
            Self::Ack(ack) => ack.ns,
        }
    }
}

impl ConnectionSide {
    /// Reads a file of `guest/capture.py`.
    ///
    /// # Errors
    /// If it is none.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        let mut lines = text.lines().zip(1..);
        let (first, _) = lines.next().context("an empty file")?;
        let mut stream = Self::begin(first)
            .with_context(|| format!("{}:1 begins no stream: {first:?}", path.display()))?;
        for (line, number) in lines {
            stream
                .note(line)
                .with_context(|| format!("{}:{number} is no event: {line:?}", path.display()))?;
        }
        Ok(stream)
    }

    fn begin(line: &str) -> Option<Self> {
        let mut words = line.strip_prefix("STREAM ")?.split(' ');
        Some(Self {
            is_server: words.next()? == "server",
            begins: words.next()?.parse().ok()?,
            initial: Seq(words.next()?.parse().ok()?),
            clock: wrapped(words.next()?.parse().ok()?),
            events: Vec::new(),
        })
    }

    fn note(&mut self, line: &str) -> Option<()> {
        let mut words = line.split(' ');
        let kind = words.next()?;
        let numbers: Option<Vec<u64>> = words.map(|word| word.parse().ok()).collect();
        let numbers = numbers?;
        let event = match (kind, &*numbers) {
            ("out", &[ns, seq, payload]) => {
                let reference = self.highest();
                let offset = self
                    .initial
                    .near(Seq(wrapped(i64::try_from(seq).ok()?)), reference);
                Event::Out(Sent {
                    ns,
                    offset,
                    payload,
                })
            }
            ("in", [ns, rest @ ..]) => Event::In(*ns, Box::new(self.packet(rest)?)),
            ("ack", [ns, flags, ack, sack @ ..]) => Event::Ack(Acked {
                ns: *ns,
                ack: u32::try_from(*ack).ok()?,
                echo: flags & 64 != 0,
                sack: blocks(sack)?,
            }),
            _ => return None,
        };
        self.events.push(event);
        Some(())
    }

    fn highest(&self) -> u64 {
        let sent = self.sent().map(|sent| sent.offset + sent.payload);
        sent.max().unwrap_or(1)
    }

    fn sent(&self) -> impl Iterator<Item = Sent> {
        self.events.iter().filter_map(|event| match event {
            Event::Out(sent) => Some(*sent),
            Event::In(..) | Event::Ack(_) => None,
        })
    }

    /// FLAGS SEQ ACK PAYLOAD WINDOW TSVAL TSECR MSS SCALE [START END]...
    fn packet(&self, numbers: &[u64]) -> Option<Packet> {
        let (&[flags, seq, ack, payload, window, value, echo, mss, scale], sack) =
            numbers.split_first_chunk::<9>()?;
        let seq_of = |number: u64| u32::try_from(number).ok().map(Seq);
        let mut packet = Packet::new(FlowId(0), HostId(0));
        packet.flags = [
            (1, TcpFlags::FIN),
            (2, TcpFlags::SYN),
            (8, TcpFlags::PSH),
            (16, TcpFlags::ACK),
            (64, TcpFlags::ECE),
            (128, TcpFlags::CWR),
        ]
        .into_iter()
        .fold(TcpFlags::NONE, |all, (bit, flag)| {
            all.with(flag.when(flags & bit != 0))
        });
        packet.ecn = match flags >> 8 & 3 {
            3 => Ecn::Marked,
            0 => Ecn::NotCapable,
            _ => Ecn::Capable,
        };
        (packet.seq, packet.ack) = (seq_of(seq)?, seq_of(ack)?);
        packet.payload = u16::try_from(payload).ok()?;
        packet.window = u16::try_from(window).ok()?;
        let mut told = SackBlocks::new();
        for (start, end) in blocks(sack)? {
            told.push(Seq(start), Seq(end));
        }
        let beside = if packet.flags.has(TcpFlags::SYN) {
            Beside::Syn(SynOptions {
                mss: u16::try_from(mss).ok()?,
                window_scale: u8::try_from(scale).ok(),
                sack_permitted: true,
            })
        } else if sack.is_empty() {
            Beside::None
        } else {
            Beside::Sack(told)
        };
        let stamps = Timestamps {
            value: u32::try_from(value).ok()?,
            // Our endpoint has its own clock, which is one tick ahead.
            echo: u32::try_from(echo).ok()?.wrapping_sub(self.clock) + 1,
        };
        packet.options = Options::Stamped(stamps, beside);
        Some(packet)
    }

    fn endpoint(&self, scenario: &OracleScenario, sets: &[String]) -> Result<Endpoint<Sender>> {
        let settings = settings(scenario, lead(scenario), None);
        let mut all: Vec<(&str, &str)> = Vec::new();
        let pairs = sets.iter().map(|set| set.split_once('='));
        let pairs: Option<Vec<_>> = pairs.collect();
        let Some(pairs) = pairs else {
            bail!("expected KEY=VALUE in {sets:?}");
        };
        all.extend(settings.iter().map(|(key, text)| (*key, &**text)));
        all.retain(|(key, _)| pairs.iter().all(|(own, _)| own != key));
        all.extend(pairs);
        let point = scenario::point(scheme(scenario), 1, &all)
            .map_err(|problems| anyhow::anyhow!("{}: {problems}", scenario.name))?;
        let group = &point.groups[0];
        let roles = group.roles();
        let config = sim::endpoint_config(&group.keys, &roles);
        let identity = Identity {
            flow: FlowId(0),
            local: HostId(0),
            remote: HostId(1),
            initial_seq: self.initial,
        };
        let info = FlowInfo { size: None, config };
        let sender = roles.make_sender(&info);
        let mut endpoint = roles.make_endpoint(identity, Arc::new(config), &info, sender);
        if self.is_server {
            endpoint.listen();
        }
        Ok(endpoint)
    }
}

/// START END of each block.
fn blocks(numbers: &[u64]) -> Option<Vec<(u32, u32)>> {
    let seq = |number: u64| u32::try_from(number).ok();
    let pairs = numbers.chunks_exact(2);
    pairs
        .map(|pair| Some((seq(pair[0])?, seq(pair[1])?)))
        .collect()
}

fn at(ns: u64) -> Time {
    Time::from_ps(ns * 1000)
}

/// A number modulo 2^32.
const fn wrapped(number: i64) -> u32 {
    low_32(number.cast_unsigned())
}
