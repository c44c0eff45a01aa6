//! One connection of our side: an endpoint, the data that it sends, and the data that it has received.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use base::{Packet, Seq, Span, TcpFlags, Time};
use machine::payload::Payload;
use protocol::LowAcks;
use schemes::Sender;
use tcp::{Arrival, Endpoint, Progress, SenderCounters, State};
use wire::{DecodedSegment, Ends};

use super::low::LowAckReader;
use super::stack::Stack;

/// See the module documentation.
pub(crate) struct Connection {
    /// Ends of what it sends.
    pub(crate) ends: Ends,
    /// The number that its application gave it.
    pub(crate) number: usize,
    endpoint: Endpoint<Sender>,
    initial: Seq,
    identification: u16,
    source: Source,
    inbox: Inbox,
    low: Option<LowAckReader>,
    facts: Facts,
}

/// Events of a connection, with their times.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Facts {
    /// When the connection began.
    began: Time,
    /// When our last byte was acknowledged or the peer's last byte and FIN arrived, whichever is later.
    ended: Option<Time>,
    fin_sent: bool,
    fin_received: bool,
    /// Resets sent and received before the end. Late copies to a closed connection are answered with resets, which do
    /// not count.
    resets: u32,
    aborted: bool,
}

/// The data of a connection: some bytes, then a body.
pub(crate) struct Source {
    pub(crate) head: Vec<u8>,
    pub(crate) body: Body,
}

/// Bytes by offset.
pub(crate) enum Body {
    None,
    /// Hashes of the offset, of the stream of this number.
    Generated(usize),
    File(File),
}

/// Bytes that have arrived, stored at their offsets; bytes in order are taken out.
#[derive(Debug, Default)]
struct Inbox {
    bytes: Vec<u8>,
    /// The offset of the first of `bytes`; 1 is the first byte of the stream.
    base: u64,
}

impl Connection {
    /// A closed one.
    pub(crate) fn new(stack: &Stack, ends: Ends, initial: Seq, number: usize, now: Time) -> Self {
        Self {
            ends,
            number,
            endpoint: stack.endpoint(initial),
            initial,
            identification: 0,
            source: Source {
                head: Vec::new(),
                body: Body::None,
            },
            inbox: Inbox {
                bytes: Vec::new(),
                base: 1,
            },
            low: stack
                .has_low_priorities()
                .then(|| LowAckReader::new(initial, stack.rule)),
            facts: Facts {
                began: now,
                ..Facts::default()
            },
        }
    }

    pub(crate) fn listen(&mut self) {
        self.endpoint.listen();
    }

    pub(crate) fn connect(&mut self) {
        self.endpoint.connect();
    }

    /// Sends this many bytes of `source` and nothing after them. A listening side must wait for a SYN, because a close
    /// before it ends the listening.
    pub(crate) fn send(&mut self, source: Source, bytes: u64) {
        self.source = source;
        self.endpoint.write(bytes);
        self.endpoint.close();
    }

    /// Sends nothing more.
    pub(crate) fn close(&mut self) {
        self.endpoint.close();
    }

    /// A segment has arrived. Returns its effect, and whether data of low priority caused it.
    pub(crate) fn on_segment(
        &mut self,
        segment: &DecodedSegment<'_>,
        now: Time,
    ) -> (Progress, bool) {
        let mut packet = segment.packet;
        // The kernel's priority has no meaning for us.
        packet.dscp = 0;
        if let Some(low) = &mut self.low {
            packet.dscp = low.priority_of(&packet);
        }
        self.note_reset(&packet);
        let progress = self.endpoint.on_segment(&packet, now);
        if progress.stored {
            self.inbox.place(self.endpoint.arrival(), segment.payload);
        }
        self.facts.aborted |= progress.aborted.is_some();
        self.facts.fin_received |= self.endpoint.peer_has_finished();
        if self.endpoint.is_acknowledged() && self.facts.fin_received && self.facts.ended.is_none()
        {
            self.facts.ended = Some(now);
        }
        (progress, packet.dscp > 0)
    }

    pub(crate) fn deadline(&self) -> Time {
        self.endpoint.deadline()
    }

    pub(crate) fn on_deadline(&mut self, now: Time) -> Progress {
        let progress = self.endpoint.on_deadline(now);
        self.facts.aborted |= progress.aborted.is_some();
        progress
    }

    /// Appends the next segment to `bytes`. Returns its priority.
    pub(crate) fn emit(
        &mut self,
        bytes: &mut Vec<u8>,
        payload: &Payload,
        now: Time,
    ) -> io::Result<Option<u8>> {
        let next = self.endpoint.poll(now);
        let Some(packet) = next.or_else(|| self.endpoint.due_ack(now)) else {
            return Ok(None);
        };
        if let Some(low) = &mut self.low {
            low.on_sent(&packet);
        }
        self.facts.fin_sent |= packet.flags.has(TcpFlags::FIN);
        self.note_reset(&packet);
        let carried = self.carried(&packet, payload)?;
        self.identification = self.identification.wrapping_add(1);
        wire::encode(bytes, &packet, self.ends, self.identification, &carried);
        Ok(Some(packet.dscp))
    }

    fn note_reset(&mut self, packet: &Packet) {
        let counts = packet.flags.has(TcpFlags::RST) && self.facts.ended.is_none();
        self.facts.resets += u32::from(counts);
    }

    /// The payload of a segment.
    fn carried(&self, packet: &Packet, payload: &Payload) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; packet.payload.into()];
        if packet.payload > 0 {
            let highest = self.endpoint.highest_sent();
            let offset = self.initial.near(packet.seq, highest);
            self.source.fill(offset - 1, &mut bytes, payload)?;
        }
        Ok(bytes)
    }

    /// The bytes that came in order since the last call.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        self.inbox.take(self.endpoint.received())
    }

    /// Whether the peer sends nothing more.
    pub(crate) fn peer_has_finished(&self) -> bool {
        self.endpoint.peer_has_finished()
    }

    /// Whether nothing more will happen but answers to stray segments.
    pub(crate) fn is_ended(&self) -> bool {
        self.endpoint.is_ended()
    }

    pub(crate) fn state(&self) -> State {
        self.endpoint.state()
    }

    /// Whether both sides have sent a FIN and both were acknowledged.
    pub(crate) fn is_orderly(&self) -> bool {
        let Facts {
            fin_sent,
            fin_received,
            resets,
            aborted,
            ..
        } = self.facts;
        self.is_ended() && fin_sent && fin_received && resets == 0 && !aborted
    }

    /// When it began.
    pub(crate) fn began(&self) -> Time {
        self.facts.began
    }

    /// The time from its beginning until both directions were complete.
    pub(crate) fn took(&self) -> Option<Span> {
        let ended = self.facts.ended?;
        Some(ended.since(self.facts.began))
    }

    pub(crate) fn counters(&self) -> SenderCounters {
        self.endpoint.counters()
    }

    /// Payload bytes that the peer has acknowledged.
    pub(crate) fn acknowledged(&self) -> u64 {
        self.endpoint.acknowledged()
    }

    /// How ACKs were classed, if there are low priorities.
    pub(crate) fn low_acks(&self) -> Option<LowAcks> {
        self.low.as_ref().map(|low| low.counts)
    }
}

impl Source {
    /// Fills `bytes` with the data from `offset` on; 0 is the first byte.
    fn fill(&self, offset: u64, bytes: &mut [u8], payload: &Payload) -> io::Result<()> {
        let head = usize::try_from(offset).ok();
        let head = head.and_then(|offset| self.head.get(offset..));
        let head = head.unwrap_or_default();
        let own = head.len().min(bytes.len());
        bytes[..own].copy_from_slice(&head[..own]);
        let mut rest = &mut bytes[own..];
        let mut offset = (offset + own as u64).saturating_sub(self.head.len() as u64);
        match &self.body {
            Body::None => {}
            Body::File(file) => file.read_exact_at(rest, offset)?,
            Body::Generated(stream) => {
                while !rest.is_empty() {
                    let piece = payload.at(*stream, offset);
                    let length = piece.len().min(rest.len());
                    rest[..length].copy_from_slice(&piece[..length]);
                    offset += length as u64;
                    rest = &mut rest[length..];
                }
            }
        }
        Ok(())
    }
}

impl Inbox {
    /// Stores the payload of a segment at its offset. Bytes that were taken before are ignored.
    fn place(&mut self, arrival: &Arrival, payload: &[u8]) {
        let passed = self.base.saturating_sub(arrival.offset);
        let passed = usize::try_from(passed).unwrap_or(usize::MAX);
        let Some(payload) = payload.get(passed..) else {
            return;
        };
        let from = arrival.offset.saturating_sub(self.base);
        let from = usize::try_from(from).expect("within the window");
        let to = from + payload.len();
        if self.bytes.len() < to {
            self.bytes.resize(to, 0);
        }
        self.bytes[from..to].copy_from_slice(payload);
    }

    fn take(&mut self, received: u64) -> Vec<u8> {
        let length = (1 + received).saturating_sub(self.base);
        let length = usize::try_from(length).expect("within the window");
        let rest = self.bytes.split_off(length.min(self.bytes.len()));
        self.base += length as u64;
        std::mem::replace(&mut self.bytes, rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrival(offset: u64) -> Arrival {
        Arrival {
            offset,
            ..Arrival::default()
        }
    }

    #[test]
    fn what_arrives_out_of_order_is_taken_in_order() {
        let mut inbox = Inbox {
            bytes: Vec::new(),
            base: 1,
        };
        inbox.place(&arrival(4), b"def");
        assert_eq!(inbox.take(0), b"");
        inbox.place(&arrival(1), b"abc");
        assert_eq!(inbox.take(6), b"abcdef");
        // A segment that arrived before, with more data after it.
        inbox.place(&arrival(5), b"efgh");
        assert_eq!(inbox.take(8), b"gh");
        inbox.place(&arrival(1), b"abc");
        assert_eq!(inbox.take(8), b"");
    }

    #[test]
    fn a_source_is_its_head_and_then_its_body() {
        let payload = Payload::new();
        let source = Source {
            head: b"head".to_vec(),
            body: Body::Generated(2),
        };
        let mut whole = vec![0; 100];
        source.fill(0, &mut whole, &payload).unwrap();
        assert_eq!(&whole[..4], b"head");
        assert!(payload.is_right(2, 0, &whole[4..]));
        for begin in [2, 4, 50] {
            let mut part = vec![0; 10];
            source.fill(begin as u64, &mut part, &payload).unwrap();
            assert_eq!(part, whole[begin..begin + 10]);
        }
    }
}
