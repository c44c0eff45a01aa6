//! One direction of a connection, and when its packets would arrive if the connection were alone.

use std::sync::Arc;

use base::{Packet, Rate, Span, Time};
use fabric::{Bucket, Port, PortId};

use super::Breakdown;
use super::flight::{Flights, Sent};

/// A port in a network that carries only this connection.
#[derive(Clone)]
pub(super) struct Hop {
    pace: LinkPace,
    delay: Span,
    bucket: Option<Box<Bucket>>,
    /// When the connection's own packets have left.
    free_at: Time,
}

/// The rate of a link. Most packets are as long as the one before, which saves a division.
#[derive(Clone, Copy)]
struct LinkPace {
    rate: Rate,
    /// The bytes of the last packet, and how long it took.
    last: (u64, Span),
}

/// The path of the packets of one direction.
///
/// It is the path of the first packet that arrived, a packet of the handshake. If every packet takes its own way, it is
/// one of several equal paths. The receiving end learns it from that packet, and the sending end from the next packet
/// that comes back: no end knows anything before a packet has brought it.
#[derive(Default)]
pub(super) struct Way {
    /// The path, where the sending end knows it; empty elsewhere.
    path: Vec<Hop>,
    /// Its slowest link.
    slowest: Option<LinkPace>,
    /// The path and its delay, if the receiving end knows them.
    learned: Option<(Arc<[PortId]>, Span)>,
    /// Whether the receiving end knows that the sending end knows the path.
    answered: bool,
    /// The packets that were sent last, and when.
    last: (Time, Vec<u32>),
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
            pace: LinkPace::of(link.rate),
            delay: link.delay,
            bucket: port.full_bucket().map(Box::new),
            free_at: Time::ZERO,
        }
    }
}

impl LinkPace {
    const fn of(rate: Rate) -> Self {
        Self {
            rate,
            last: (0, Span::ZERO),
        }
    }

    #[inline(always)]
    fn serialisation(&mut self, bytes: u64) -> Span {
        if self.last.0 != bytes {
            self.last = (bytes, self.rate.serialisation(bytes));
        }
        self.last.1
    }
}

impl Way {
    /// Nothing is known any more: the memory is for another connection.
    pub(super) fn forget(&mut self) {
        let Self {
            mut path, mut last, ..
        } = std::mem::take(self);
        path.clear();
        last.1.clear();
        (self.path, self.last) = (path, last);
        self.last.0 = Time::ZERO;
    }

    /// Sends a packet over the otherwise empty path, and returns when it arrives.
    #[inline(always)]
    fn alone(&mut self, bytes: u64, now: Time) -> Time {
        let mut at = now;
        for hop in &mut self.path {
            at = match &mut hop.bucket {
                Some(bucket) => bucket.leave(bytes, at),
                None => at.max(hop.free_at) + hop.pace.serialisation(bytes),
            };
            hop.free_at = at;
            at += hop.delay;
        }
        at
    }

    /// The delay of the path, at the receiving end.
    pub(super) fn propagation(&self) -> u64 {
        let delay = self.learned.as_ref().map(|(_, delay)| *delay);
        delay.unwrap_or(Span::ZERO).as_ps()
    }

    /// How long `bytes` take on the slowest link, at the sending end.
    #[inline(always)]
    pub(super) fn slowest(&mut self, bytes: u64) -> Span {
        let slowest = self.slowest.as_mut();
        slowest.map_or(Span::ZERO, |pace| pace.serialisation(bytes))
    }

    /// The path, until it is certain that the sending end knows it.
    pub(super) fn news(&self) -> Option<Arc<[PortId]>> {
        let learned = self.learned.as_ref().filter(|_| !self.answered);
        learned.map(|(path, _)| Arc::clone(path))
    }

    /// A packet leaves.
    #[inline(always)]
    pub(super) fn send(&mut self, packet: &Packet, departure: Departure, flights: &mut Flights) {
        let Departure {
            bytes, now, told, ..
        } = departure;
        let (alone, passed) = if self.path.is_empty() {
            (Time::NEVER, Some(Box::default()))
        } else {
            (self.alone(bytes, now), None)
        };
        let sent = Sent {
            flow: packet.flow,
            at: now,
            alone,
            queueing: departure.queueing,
            delayed: 0,
            fired: departure.fired,
            booked: Breakdown::default(),
            told,
            passed,
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
        if let Some(passed) = sent.passed.take()
            && self.learned.is_none()
        {
            let delays = passed.0.iter().map(|port| ports[port.0 as usize].delay);
            let delay = delays.fold(Span::ZERO, |sum, delay| sum + delay);
            self.learned = Some((passed.0.into(), delay));
        }
        sent.told.take()
    }

    /// The sending end learns its path.
    pub(super) fn know(&mut self, path: &[PortId], ports: &[Hop]) {
        if self.path.is_empty() {
            let hops = path.iter().map(|port| ports[port.0 as usize].clone());
            self.path.extend(hops);
            let rates = self.path.iter().map(|hop| hop.pace.rate);
            self.slowest = rates.min().map(LinkPace::of);
        }
    }

    /// Places of the packets sent at `now`.
    pub(super) fn sent_at(&self, now: Time) -> &[u32] {
        let (at, places) = &self.last;
        if *at == now { places } else { &[] }
    }
}
