//! Packets on their way: where each one is, and the facts that are known about it.
//!
//! A packet is followed from port to port, so equal packets, such as duplicate ACKs, are told apart. Packets of one
//! priority pass a port in their order. O(1) for each port that a packet passes, or O(packets at the port) if the port
//! has priorities.

use std::collections::VecDeque;
use std::sync::Arc;

use base::cast::id;
use base::{FlowId, Packet, Time};
use fabric::PortId;

use super::Breakdown;

/// All packets that are on their way.
#[derive(Default)]
pub(super) struct Flights {
    /// Packets that wait at each port or are on its wire.
    ports: Vec<VecDeque<Flight>>,
    sent: Vec<Sent>,
    /// Free places in `sent`: their packets have arrived or are lost.
    free: Vec<u32>,
    /// The packet that has just come out of a host or a wire, until its next place is known.
    current: Option<Flight>,
    /// Packets that a link with reordering keeps; `None` if no link reorders.
    kept: Option<Vec<Flight>>,
}

/// A packet on its way.
#[derive(Clone, Copy)]
struct Flight {
    key: Key,
    /// Its place in [`Flights::sent`].
    place: u32,
    /// Whether it learns its path.
    learns: bool,
}

/// The fields of a packet that stay the same on its way, in two words, which are compared at every port: flow and sequence
/// number; ACK number, payload and code point. A copy with low priority counts as another packet.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Key(u64, u64);

/// Facts about a packet on its way.
pub(super) struct Sent {
    /// Its connection.
    pub(super) flow: FlowId,
    /// When its host sent it.
    pub(super) at: Time,
    /// When it would arrive if its connection were alone; [`Time::NEVER`] where the path is not known.
    pub(super) alone: Time,
    /// For an ACK: how late the acknowledged segment was by queueing.
    pub(super) queueing: u64,
    /// For an ACK: how long it waited for the delayed-ACK timer.
    pub(super) delayed: u64,
    /// When a timer last expired at the receiver of data, as far as its sender knows.
    pub(super) fired: Time,
    /// The parts booked when it was sent.
    pub(super) booked: Breakdown,
    /// The path of the other direction, if the receiver of this packet may not know it.
    pub(super) told: Option<Arc<[PortId]>>,
    /// The ports that it has passed, if its sender does not know its path. Few packets record them.
    pub(super) passed: Option<Box<Passed>>,
}

/// Ports in the order of a path.
#[derive(Default)]
pub(super) struct Passed(pub(super) Vec<PortId>);

/// A packet that goes from one part of a network to another, with the facts about it.
pub(crate) struct Followed {
    port: PortId,
    key: Key,
    sent: Sent,
}

impl Flights {
    /// No packets yet, in a network with this many ports. `keeps` is true if a link delivers some packets late.
    pub(super) fn new(ports: usize, keeps: bool) -> Self {
        Self {
            ports: (0..ports).map(|_| VecDeque::new()).collect(),
            kept: keeps.then(Vec::new),
            ..Self::default()
        }
    }

    /// A host sends `packet`. Returns its place.
    #[inline(always)]
    pub(super) fn send(&mut self, packet: &Packet, sent: Sent) -> u32 {
        let flight = self.put(Key::of(packet), sent);
        self.hold(flight);
        flight.place
    }

    /// `packet` comes out of the wire of `port`.
    #[inline(always)]
    pub(super) fn arrive(&mut self, port: PortId, packet: &Packet) {
        if let Some(flight) = self.leave(port, packet) {
            if flight.learns {
                self.learn(flight.place, port);
            }
            self.hold(flight);
        }
    }

    /// A packet that a link has kept will go on next. The packet that came out of a wire last is kept, too, if its next
    /// place is not known, and an equal one that has been kept for longer goes on before it.
    pub(super) fn release(&mut self) {
        if let Some(flight) = self.current.take() {
            self.leave_behind(flight);
        }
    }

    /// `port` will send `packet`.
    #[inline(always)]
    pub(super) fn wait(&mut self, port: PortId, packet: &Packet) {
        if let Some(flight) = self.find(Key::of(packet)) {
            self.ports[port.0 as usize].push_back(flight);
        }
    }

    /// `packet`, which came to `port` or waited there, is lost.
    pub(super) fn lose(&mut self, port: PortId, packet: &Packet) {
        let key = Key::of(packet);
        let flight = self.find(key).or_else(|| {
            let queue = &mut self.ports[port.0 as usize];
            let place = queue.iter().rposition(|flight| flight.key == key)?;
            queue.remove(place)
        });
        if let Some(flight) = flight {
            self.free(flight.place);
        }
    }

    /// `packet` has arrived at its host. Returns its place, which is in use until [`Flights::free`].
    #[inline(always)]
    pub(super) fn land(&mut self, packet: &Packet) -> Option<u32> {
        Some(self.find(Key::of(packet))?.place)
    }

    /// The packet at this place, which has landed.
    #[inline(always)]
    pub(super) fn landed(&mut self, place: u32) -> &mut Sent {
        &mut self.sent[place as usize]
    }

    /// Nothing is asked about the packet at this place any more.
    #[inline(always)]
    pub(super) fn free(&mut self, place: u32) {
        self.free.push(place);
    }

    /// `packet` leaves this part of the network over the wire of `port`.
    pub(super) fn export(&mut self, port: PortId, packet: &Packet) -> Option<Followed> {
        let flight = self.leave(port, packet)?;
        Some(Followed {
            port,
            key: flight.key,
            sent: self.take(flight),
        })
    }

    /// A packet is on a wire that comes from another part.
    pub(super) fn import(&mut self, packet: Followed) {
        let Followed { port, key, sent } = packet;
        let flight = self.put(key, sent);
        self.ports[port.0 as usize].push_back(flight);
    }

    /// Facts about the packet of `flow` at this place, if it is sent `now`.
    pub(super) fn sent_now(&mut self, place: u32, flow: FlowId, now: Time) -> Option<&mut Sent> {
        let sent = self.sent.get_mut(place as usize);
        sent.filter(|sent| sent.flow == flow && sent.at == now)
    }

    #[inline(always)]
    fn put(&mut self, key: Key, sent: Sent) -> Flight {
        let learns = sent.learns();
        let place = self.free.pop().unwrap_or_else(|| id(self.sent.len()));
        match self.sent.get_mut(place as usize) {
            Some(free) => *free = sent,
            None => self.sent.push(sent),
        }
        Flight { key, place, learns }
    }

    fn take(&mut self, flight: Flight) -> Sent {
        self.free(flight.place);
        let sent = &mut self.sent[flight.place as usize];
        Sent {
            told: sent.told.take(),
            passed: sent.passed.take(),
            ..*sent
        }
    }

    /// A packet gets its next place. If the packet before it has none yet, its link keeps it or has lost it.
    #[inline(always)]
    fn hold(&mut self, flight: Flight) {
        if let Some(before) = self.current.replace(flight) {
            self.leave_behind(before);
        }
    }

    #[cold]
    #[inline(never)]
    fn leave_behind(&mut self, flight: Flight) {
        match &mut self.kept {
            Some(kept) => kept.push(flight),
            None => self.free(flight.place),
        }
    }

    /// The packet that has just come out of a host or a wire.
    #[inline(always)]
    fn find(&mut self, key: Key) -> Option<Flight> {
        let current = self.current.take_if(|flight| flight.key == key);
        if current.is_some() || self.kept.is_none() {
            return current;
        }
        let kept = self.kept.as_mut()?;
        let place = kept.iter().position(|flight| flight.key == key)?;
        Some(kept.remove(place))
    }

    #[inline(always)]
    fn leave(&mut self, port: PortId, packet: &Packet) -> Option<Flight> {
        let (key, queue) = (Key::of(packet), &mut self.ports[port.0 as usize]);
        match queue.front() {
            Some(first) if first.key == key => queue.pop_front(),
            _ => self.leave_before_others(port, key),
        }
    }

    /// A packet overtakes others of lower priority. Packets of its own priority before it have been withdrawn.
    #[inline(never)]
    fn leave_before_others(&mut self, port: PortId, key: Key) -> Option<Flight> {
        let queue = &mut self.ports[port.0 as usize];
        let mut place = queue.iter().position(|flight| flight.key == key)?;
        let mut other = 0;
        while other < place {
            if queue[other].key.dscp() == key.dscp() {
                if let Some(withdrawn) = queue.remove(other) {
                    self.free.push(withdrawn.place);
                }
                place -= 1;
            } else {
                other += 1;
            }
        }
        queue.remove(place)
    }

    #[inline(never)]
    fn learn(&mut self, place: u32, port: PortId) {
        if let Some(passed) = &mut self.sent[place as usize].passed {
            passed.0.push(port);
        }
    }
}

impl Sent {
    /// How much later the packet has arrived at `now` than it would have alone.
    pub(super) fn late(&self, now: Time) -> u64 {
        now.since(self.alone).as_ps()
    }

    /// Whether its sender does not know the path, so that the packet records it.
    pub(super) const fn learns(&self) -> bool {
        self.passed.is_some()
    }
}

impl Key {
    #[inline(always)]
    fn of(packet: &Packet) -> Self {
        let pair = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
        let kind = u32::from(packet.payload) << 8 | u32::from(packet.dscp);
        Self(pair(packet.flow.0, packet.seq.0), pair(packet.ack.0, kind))
    }

    fn dscp(self) -> u64 {
        self.1 & 0xff
    }
}

#[cfg(test)]
mod tests {
    use base::HostId;

    use super::*;

    fn sent(at: u64) -> Sent {
        Sent {
            flow: FlowId(0),
            at: Time::from_ps(at),
            alone: Time::NEVER,
            queueing: 0,
            delayed: 0,
            fired: Time::ZERO,
            booked: Breakdown::default(),
            told: None,
            passed: None,
        }
    }

    #[test]
    fn of_equal_packets_the_lost_one_is_forgotten() {
        let (packet, [host, switch]) = (Packet::new(FlowId(0), HostId(1)), [PortId(0), PortId(2)]);
        let mut flights = Flights::new(4, false);
        for at in 1..=3 {
            flights.send(&packet, sent(at));
            flights.wait(host, &packet);
        }
        // The first waits at the switch when the second finds no room there.
        flights.arrive(host, &packet);
        flights.wait(switch, &packet);
        flights.arrive(host, &packet);
        flights.lose(switch, &packet);
        flights.arrive(host, &packet);
        flights.wait(switch, &packet);
        let landed = [(); 2].map(|()| {
            flights.arrive(switch, &packet);
            let place = flights.land(&packet);
            place.map(|place| flights.landed(place).at.as_ps())
        });
        assert_eq!(landed, [Some(1), Some(3)]);
    }

    #[test]
    fn a_packet_pushed_out_and_those_withdrawn_leave_no_trace() {
        let packet = |seq, dscp| {
            let mut packet = Packet::new(FlowId(0), HostId(1));
            (packet.seq.0, packet.dscp) = (seq, dscp);
            packet
        };
        let (port, mut flights) = (PortId(0), Flights::new(2, false));
        for (seq, dscp) in [(1, 1), (2, 1), (3, 1), (4, 0)] {
            flights.send(&packet(seq, dscp), sent(seq.into()));
            flights.wait(port, &packet(seq, dscp));
        }
        // The third is pushed out, the fourth overtakes, and the first has been withdrawn.
        flights.lose(port, &packet(3, 1));
        for (seq, dscp) in [(4, 0), (2, 1)] {
            flights.arrive(port, &packet(seq, dscp));
            let landed = flights.land(&packet(seq, dscp)).unwrap();
            assert_eq!(flights.landed(landed).at.as_ps(), u64::from(seq));
            flights.free(landed);
        }
        assert!(flights.ports[0].is_empty());
        assert_eq!(flights.free.len(), flights.sent.len());
    }
}
