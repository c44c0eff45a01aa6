//! Times on their way: a packet carries that of its departure, and its ACK returns it.

use base::cast::low_32;
use base::{Extension, Packet, Span, Time};
use tcp::{Arrival, ReceiverCc, Slot};

/// A packet leaves at `now`.
pub(super) fn put_departure(packet: &mut Packet, now: Time) {
    let [_, echo, flags] = packet.extension.0;
    packet.extension = Extension([clock(now), echo, flags | DEPARTURE]);
}

/// How long ago the packet left that an ACK with this header space acknowledges, if it tells.
pub(super) fn age(extension: Extension, now: Time) -> Option<Span> {
    let [_, echo, flags] = extension.0;
    let told = flags & !DEPARTURE == ECHO;
    told.then(|| Span::from_nanos(clock(now).wrapping_sub(echo).into()))
}

/// Nanoseconds, which begin again at zero after 4.3 s.
fn clock(time: Time) -> u32 {
    low_32(time.as_ps() / 1000)
}

/// The times that a host returns, of all its connections.
#[derive(Debug, Default)]
pub struct Receiver {
    /// The departure of the packet that came last, until an ACK has returned it, by slot.
    last: Vec<Option<u32>>,
}

impl Receiver {
    fn place(&mut self, slot: Slot) -> &mut Option<u32> {
        let place = slot.0 as usize;
        if self.last.len() <= place {
            self.last.resize(place + 1, None);
        }
        &mut self.last[place]
    }
}

impl ReceiverCc for Receiver {
    fn on_open(&mut self, slot: Slot, _syn: &Packet, _mss: u16, _now: Time) {
        *self.place(slot) = None;
    }

    fn on_data(&mut self, slot: Slot, arrival: &Arrival, _now: Time) {
        let [departure, _, flags] = arrival.extension.0;
        if flags & !ECHO == DEPARTURE {
            *self.place(slot) = Some(departure);
        }
    }

    fn stamp(&mut self, slot: Slot, packet: &mut Packet) {
        if let Some(echo) = self.place(slot).take() {
            let [departure, _, flags] = packet.extension.0;
            packet.extension = Extension([departure, echo, flags | ECHO]);
        }
    }
}

/// Whether a packet carries its departure, and a returned one; with other bits it is not of this scheme.
const DEPARTURE: u32 = 1 << 30;
const ECHO: u32 = 1 << 31;
