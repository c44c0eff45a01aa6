//! One direction of a connection, and when its packets would arrive if the connection were alone.

use std::sync::Arc;

use base::{Packet, Rate, Span, Time};
use fabric::{Bucket, Port, PortId};

use super::Breakdown;
use super::flight::{Flights, Lesson, Sent};

/// A port in a network that carries only this connection.
#[derive(Clone)]
pub(super) struct Hop {
    rate: Rate,
    delay: Span,
    bucket: Option<Bucket>,
    /// When the connection's own packets have left.
    free_at: Time,
}

/// The path of the packets of one direction.
///
/// It is the path of the first packet that arrived, a packet of the handshake. If every packet takes its own way, it is
/// one of several equal paths. The receiving end learns it from that packet, and the sending end from the next packet
/// that comes back: no end knows anything before a packet has brought it.
#[derive(Default)]
pub(super) struct Way {
    /// The path, where the sending end knows it.
    path: Option<Path>,
    /// The path and its delay, if the receiving end knows them.
    learned: Option<(Arc<[PortId]>, Span)>,
    /// Whether the receiving end knows that the sending end knows the path.
    answered: bool,
    /// The packets that were sent last, and when.
    last: (Time, Vec<u32>),
}

struct Path {
    hops: Box<[Hop]>,
    slowest: Rate,
}

/// Facts about a packet that is sent.
pub(super) struct Departure {
    /// Bytes on the wire.
    pub(super) bytes: u64,
    pub(super) now: Time,
    /// The field of [`Sent`] with this name.
    pub(super) queueing: u64,
    pub(super) fired: Time,
    /// The path of the other direction, if the receiver of this packet may not know it.
    pub(super) told: Option<Arc<[PortId]>>,
}

impl Hop {
    pub(super) fn of(port: &Port) -> Self {
        let link = port.link();
        Self {
            rate: link.rate,
            delay: link.delay,
            bucket: port.full_bucket(),
            free_at: Time::ZERO,
        }
    }
}

impl Path {
    fn of(path: &[PortId], ports: &[Hop]) -> Option<Self> {
        let hops: Box<[Hop]> = (path.iter())
            .map(|port| ports[port.0 as usize].clone())
            .collect();
        let slowest = hops.iter().map(|hop| hop.rate).min()?;
        Some(Self { hops, slowest })
    }

    /// Sends a packet over the otherwise empty path, and returns when it arrives.
    fn alone(&mut self, bytes: u64, now: Time) -> Time {
        let mut at = now;
        for hop in &mut self.hops {
            at = match &mut hop.bucket {
                Some(bucket) => bucket.leave(bytes, at),
                None => at.max(hop.free_at) + hop.rate.serialisation(bytes),
            };
            hop.free_at = at;
            at += hop.delay;
        }
        at
    }
}

impl Way {
    /// The delay of the path, at the receiving end.
    pub(super) fn propagation(&self) -> u64 {
        let delay = self.learned.as_ref().map(|(_, delay)| *delay);
        delay.unwrap_or(Span::ZERO).as_ps()
    }

    /// How long `bytes` take on the slowest link, at the sending end.
    pub(super) fn slowest(&self, bytes: u64) -> Span {
        let slowest = self.path.as_ref().map(|path| path.slowest);
        slowest.map_or(Span::ZERO, |rate| rate.serialisation(bytes))
    }

    /// The path, until it is certain that the sending end knows it.
    pub(super) fn news(&self) -> Option<Arc<[PortId]>> {
        let learned = self.learned.as_ref().filter(|_| !self.answered);
        learned.map(|(path, _)| Arc::clone(path))
    }

    /// A packet leaves.
    pub(super) fn send(&mut self, packet: &Packet, departure: Departure, flights: &mut Flights) {
        let Departure {
            bytes, now, told, ..
        } = departure;
        let (alone, passed) = match &mut self.path {
            Some(path) => (path.alone(bytes, now), None),
            None => (Time::NEVER, Some(Vec::new())),
        };
        let lesson = passed.is_some() || told.is_some();
        let sent = Sent {
            flow: packet.flow,
            at: now,
            alone,
            queueing: departure.queueing,
            delayed: 0,
            fired: departure.fired,
            booked: Breakdown::default(),
            lesson: lesson.then(|| Box::new(Lesson { passed, told })),
        };
        let (at, places) = &mut self.last;
        if *at != now {
            *at = now;
            places.clear();
        }
        places.push(flights.send(packet, sent));
    }

    /// A packet has arrived at the receiving end. Returns the path of the other direction if the packet carried it.
    pub(super) fn arrive(&mut self, sent: &mut Sent, ports: &[Hop]) -> Option<Arc<[PortId]>> {
        self.answered |= !sent.learns();
        let lesson = sent.lesson.take()?;
        if let (None, Some(passed)) = (&self.learned, lesson.passed) {
            let delays = passed.iter().map(|port| ports[port.0 as usize].delay);
            let delay = delays.fold(Span::ZERO, |sum, delay| sum + delay);
            self.learned = Some((passed.into(), delay));
        }
        lesson.told
    }

    /// The sending end learns its path.
    pub(super) fn know(&mut self, path: &[PortId], ports: &[Hop]) {
        if self.path.is_none() {
            self.path = Path::of(path, ports);
        }
    }

    /// Places of the packets sent at `now`.
    pub(super) fn sent_at(&self, now: Time) -> &[u32] {
        let (at, places) = &self.last;
        if *at == now { places } else { &[] }
    }
}
