//! What a sender of the kernel's received, and what it sent: an endpoint here that receives the same has to send the
//! same segments.
//!
//! A scenario compares two networks, in which one difference hides others. A stream compares two senders alone: segments
//! come to ours when they came to the kernel's, and the first one that it sends otherwise names the place where the two
//! differ.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use base::{
    Beside, FlowId, HostId, Options, Packet, SackBlocks, Seq, SynOptions, TcpFlags, Time,
    Timestamps,
};
use scenario::PointSpec;
use schemes::{FlowInfo, Sender};
use tcp::{Endpoint, Identity};

use crate::list::{Kind, Scenario};
use crate::simulate::{LEAD, scheme, settings};

/// A sender's side of one connection, as `guest/capture.py` writes it.
#[derive(Clone, Debug)]
pub struct Stream {
    is_server: bool,
    /// When its SYN left, in ns.
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
}

/// A segment with data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sent {
    /// When it left, in ns; of the kernel's at the latest.
    pub ns: u64,
    /// Offset of its first byte in the stream; the first byte of all has 1.
    pub offset: u64,
    /// Bytes.
    pub payload: u64,
}

/// How an endpoint has answered a stream.
#[derive(Clone, Copy, Debug)]
pub struct Replayed {
    /// Segments that the kernel sent.
    pub segments: usize,
    /// Segments of ours that nothing of the kernel's answers to, because its link has lost them.
    pub lost: usize,
    /// The first segments that are not the same: the kernel's and ours.
    pub differs: Option<(Option<Sent>, Option<Sent>)>,
}

impl Stream {
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
            Event::In(..) => None,
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
            (16, TcpFlags::ACK),
            (64, TcpFlags::ECE),
            (128, TcpFlags::CWR),
        ]
        .into_iter()
        .fold(TcpFlags::NONE, |all, (bit, flag)| {
            all.with(flag.when(flags & bit != 0))
        });
        (packet.seq, packet.ack) = (seq_of(seq)?, seq_of(ack)?);
        packet.payload = u16::try_from(payload).ok()?;
        packet.window = u16::try_from(window).ok()?;
        let mut blocks = SackBlocks::new();
        for block in sack.chunks_exact(2) {
            blocks.push(seq_of(block[0])?, seq_of(block[1])?);
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
            Beside::Sack(blocks)
        };
        let stamps = Timestamps {
            value: u32::try_from(value).ok()?,
            // Ours has a clock of its own, which is one ahead.
            echo: u32::try_from(echo).ok()?.wrapping_sub(self.clock) + 1,
        };
        packet.options = Options::Stamped(stamps, beside);
        Some(packet)
    }

    /// An endpoint receives what the kernel's sender of `scenario` received.
    ///
    /// # Errors
    /// If a setting of `sets`, as `KEY=VALUE`, is wrong.
    pub fn replay(&self, scenario: &Scenario, sets: &[String]) -> Result<Replayed> {
        let mut endpoint = self.endpoint(scenario, sets)?;
        let mut ours = Vec::new();
        if !self.is_server {
            endpoint.connect();
            endpoint.write(WITHOUT_END);
            self.flush(&mut endpoint, at(self.begins), &mut ours);
        }
        for event in &self.events {
            if let Event::In(ns, packet) = event {
                self.pass(&mut endpoint, at(*ns), &mut ours);
                let before = endpoint.received();
                endpoint.on_segment(packet, at(*ns));
                // A request may come twice.
                if let Kind::Incast { size, .. } = &scenario.kind {
                    endpoint.write(size * (endpoint.received() - before));
                }
                self.flush(&mut endpoint, at(*ns), &mut ours);
            }
        }
        // What only a timer sends comes behind the last segment that was received.
        let last = self.sent().map(|sent| sent.ns).max().unwrap_or(0);
        self.pass(&mut endpoint, at(last), &mut ours);
        let lossy = matches!(&scenario.kind, Kind::Stream(stream) if stream.loss > 0.0);
        Ok(compared(&self.sent().collect::<Vec<_>>(), &ours, lossy))
    }

    fn endpoint(&self, scenario: &Scenario, sets: &[String]) -> Result<Endpoint<Sender>> {
        let settings = settings(scenario, LEAD, None);
        let mut all: Vec<(&str, &str)> = Vec::new();
        let pairs = sets.iter().map(|set| set.split_once('='));
        let pairs: Option<Vec<_>> = pairs.collect();
        let Some(pairs) = pairs else {
            bail!("expected KEY=VALUE in {sets:?}");
        };
        all.extend(settings.iter().map(|(key, text)| (*key, &**text)));
        all.retain(|(key, _)| pairs.iter().all(|(own, _)| own != key));
        all.extend(pairs);
        let point = PointSpec::of(scheme(scenario), 1, &all)
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
        let mut endpoint = Endpoint::new(identity, Arc::new(config), roles.make_sender(&info));
        if self.is_server {
            endpoint.listen();
        }
        Ok(endpoint)
    }

    /// Timers expire until `now`.
    fn pass(&self, endpoint: &mut Endpoint<Sender>, now: Time, ours: &mut Vec<Sent>) {
        while endpoint.deadline() < now {
            let due = endpoint.deadline();
            endpoint.on_deadline(due);
            self.flush(endpoint, due, ours);
        }
    }

    fn flush(&self, endpoint: &mut Endpoint<Sender>, now: Time, ours: &mut Vec<Sent>) {
        while let Some(packet) = endpoint.poll(now) {
            if packet.payload > 0 {
                let reference = ours.last().map_or(1, |sent| sent.offset);
                ours.push(Sent {
                    ns: now.as_ps() / 1000,
                    offset: self.initial.near(packet.seq, reference),
                    payload: packet.payload.into(),
                });
            }
        }
        while endpoint.due_ack(now).is_some() {}
    }
}

/// Compares in the order of sending. What a link has lost only ours has sent.
fn compared(theirs: &[Sent], ours: &[Sent], lossy: bool) -> Replayed {
    let same = |a: &Sent, b: &Sent| (a.offset, a.payload) == (b.offset, b.payload);
    let mut replayed = Replayed {
        segments: theirs.len(),
        lost: 0,
        differs: None,
    };
    let mut rest = ours;
    for their in theirs {
        let most = if lossy { MOST_LOST } else { 1 }.min(rest.len());
        let found = rest[..most]
            .iter()
            .position(|own| same(own, their) && (!lossy || own.ns.abs_diff(their.ns) < NEAR));
        let Some(skipped) = found else {
            replayed.differs = Some((Some(*their), rest.first().copied()));
            return replayed;
        };
        replayed.lost += skipped;
        rest = &rest[skipped + 1..];
    }
    let last = theirs.last().map_or(0, |sent| sent.ns);
    let more = rest.iter().find(|own| !lossy && own.ns < last);
    replayed.differs = more.map(|own| (None, Some(*own)));
    replayed
}

fn at(ns: u64) -> Time {
    Time::from_ps(ns * 1000)
}

/// A number modulo 2^32.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "numbers of TCP wrap"
)]
const fn wrapped(number: i64) -> u32 {
    number as u32
}

/// More than any scenario sends.
const WITHOUT_END: u64 = 1 << 40;
/// Segments lost one behind the other, at most.
const MOST_LOST: usize = 9;
/// A segment that is the same has left so near, in ns: the kernel's time is that of its link.
const NEAR: u64 = 30_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(offset: u64) -> Sent {
        Sent {
            ns: 0,
            offset,
            payload: 1000,
        }
    }

    #[test]
    fn the_first_segment_that_differs_is_found_and_lost_ones_are_passed_over() {
        let ours = [1, 1001, 2001, 1].map(sent);
        let told = |theirs: &[u64], lossy| {
            let theirs: Vec<Sent> = theirs.iter().copied().map(sent).collect();
            let replayed = compared(&theirs, &ours, lossy);
            (replayed.lost, replayed.differs)
        };
        assert_eq!(told(&[1, 1001, 2001, 1], false), (0, None));
        assert_eq!(told(&[1, 2001, 1], true), (1, None));
        let differs = Some((Some(sent(2001)), Some(sent(1001))));
        assert_eq!(told(&[1, 2001, 1], false), (0, differs));
        assert_eq!(
            told(&[1, 5001], true),
            (0, Some((Some(sent(5001)), Some(sent(1001)))))
        );
    }
}
