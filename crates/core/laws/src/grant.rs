//! The face of `c/grant.h`.

use std::mem::offset_of;

use crate::Loadable;
use crate::memory::bytes;

/// The bytes that the senders to one receiver may have in the network, kept within a budget.
#[derive(Clone, Debug)]
pub struct Grants {
    params: Params,
    flight: Flight,
}

/// The receiver's state of a connection: `struct flight_flow`. The default is an unknown connection.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct Granted {
    epoch: u64,
    ack: u32,
    edge: u32,
    counted_bytes: u32,
    most_bytes: u32,
    scale: u8,
    counts: u8,
    waits: u8,
    is_known: u8,
    segment_bytes: u32,
}

impl Grants {
    /// A receiver without connections: at most `budget_bytes` in flight, in segments of at most `mss_bytes`. A
    /// permission that nobody uses for `idle_ns`, or a seventh more, does not count any longer.
    pub fn new(budget_bytes: u64, mss_bytes: u32, idle_ns: u64) -> Self {
        Self::of_least(budget_bytes, mss_bytes, idle_ns, 1)
    }

    /// The same with at least this many segments in a window.
    pub fn of_least(budget_bytes: u64, mss_bytes: u32, idle_ns: u64, least_segments: u32) -> Self {
        let mut params = Params {
            budget_bytes,
            epoch_ns: 0,
            mss_bytes,
            least_segments,
        };
        laws_grant_init(&mut params, idle_ns);
        let flight = Flight::default();
        Self { params, flight }
    }

    /// The time until now has passed. To be called before each of the functions below.
    pub fn pass(&mut self, now_ns: u64) {
        while laws_flight_is_behind(&self.flight, now_ns) != 0 {
            laws_flight_step(&mut self.flight, self.params.epoch_ns, now_ns);
        }
    }

    /// The window in bytes of a SYN-ACK that acknowledges with this number, of which the receiver allows `most_bytes`.
    pub fn on_open(&mut self, flow: &mut Granted, ack: u32, most_bytes: u32) -> u32 {
        laws_grant_open(&self.params, &mut self.flight, flow, ack, most_bytes)
    }

    /// The window in bytes of a SYN of this side, of which the receiver allows `most_bytes`. It counts from now on, and
    /// the connection is not known before [`on_join`](Self::on_join).
    pub fn on_syn(&mut self, flow: &mut Granted, most_bytes: u32) -> u32 {
        flow.is_known = 0;
        let told = self.on_open(flow, 0, most_bytes);
        flow.is_known = 0;
        told
    }

    /// This side opened the connection with a SYN whose window was `told_bytes`, and acknowledges with `ack` from now on.
    pub fn on_join(&mut self, flow: &mut Granted, ack: u32, told_bytes: u32) {
        laws_grant_join(&mut self.flight, flow, ack, told_bytes);
    }

    /// The connection has ended.
    pub fn on_close(&mut self, flow: &mut Granted) {
        laws_flight_take(&mut self.flight, flow);
        *flow = Granted::default();
    }

    /// A segment of the receiver acknowledges with this number, and would allow `most_bytes`.
    pub fn on_ack(&mut self, flow: &mut Granted, ack: u32, most_bytes: u32) {
        flow.most_bytes = most_bytes;
        laws_grant_on_ack(&mut self.flight, flow, ack);
    }

    /// Asks for the window of the connection. Returns whether it has it, or a segment more of it; else it stands in
    /// line, and others come first until it is its turn.
    pub fn ask(&mut self, flow: &mut Granted, is_its_turn: bool) -> bool {
        laws_grant_ask(&self.params, &mut self.flight, flow, is_its_turn.into()) != 0
    }

    /// The window field of a segment of the receiver, whose own window is `advertised_units`.
    pub fn tell(&mut self, flow: &mut Granted, advertised_units: u16) -> u16 {
        laws_grant_tell(&mut self.flight, flow, advertised_units)
    }

    /// A segment has told the sender this right edge, in whole units of its scale.
    pub fn on_told(&mut self, flow: &mut Granted, edge: u32) {
        laws_grant_told(&mut self.flight, flow, edge);
    }

    /// Bytes that senders were permitted to send and that have not arrived, over connections that
    /// are not idle.
    pub const fn in_flight(&self) -> u64 {
        self.flight.bytes
    }

    /// The most of it.
    pub const fn budget(&self) -> u64 {
        self.params.budget_bytes
    }

    /// Connections that are active, and those that stand in line.
    pub const fn connections(&self) -> (u32, u32) {
        (self.flight.active, self.flight.waiting)
    }

    /// `struct grant_params` and, behind it, `struct flight` as they lie in memory: where a program of a kernel goes on.
    pub fn to_memory(&self) -> Vec<u8> {
        let (params, flight) = (&self.params, &self.flight);
        let longs = [params.budget_bytes, params.epoch_ns].map(u64::to_ne_bytes);
        let words = [params.mss_bytes, params.least_segments].map(u32::to_ne_bytes);
        let state = [flight.epoch, flight.ends_ns, flight.bytes].map(u64::to_ne_bytes);
        let counts = [flight.active, flight.waiting].map(u32::to_ne_bytes);
        let of = [flight.bytes_of, flight.active_of].concat();
        let of = of.into_iter().flat_map(u32::to_ne_bytes).collect();
        [
            longs.concat(),
            words.concat(),
            state.concat(),
            counts.concat(),
            of,
        ]
        .concat()
    }

    /// The receiver that [`to_memory`](Self::to_memory) wrote down; `None` if something is missing.
    pub fn from_memory(memory: &[u8]) -> Option<Self> {
        let long = |at| bytes(memory, at).map(u64::from_ne_bytes);
        let word = |at| bytes(memory, at).map(u32::from_ne_bytes);
        let params = Params {
            budget_bytes: long(0)?,
            epoch_ns: long(8)?,
            mss_bytes: word(16)?,
            least_segments: word(20)?,
        };
        let mut flight = Flight {
            epoch: long(24)?,
            ends_ns: long(32)?,
            bytes: long(40)?,
            active: word(48)?,
            waiting: word(52)?,
            ..Flight::default()
        };
        for number in 0..EPOCHS {
            flight.bytes_of[number] = word(56 + 4 * number)?;
            flight.active_of[number] = word(56 + 4 * (EPOCHS + number))?;
        }
        Some(Self { params, flight })
    }

    /// The settings with their program, whose state lies in a map of its own, which no new setting disturbs.
    pub fn loadable(&self) -> Loadable {
        let mut settings = self.to_memory();
        settings.truncate(size_of::<Params>());
        Loadable::of_settings("grants", settings)
    }
}

impl Granted {
    /// A connection whose windows are shifted by `scale` bits, once it is open.
    pub fn of_scale(scale: u8) -> Self {
        Self {
            scale,
            ..Self::default()
        }
    }

    /// `struct flight_flow` as it lies in memory.
    pub fn to_memory(&self) -> Vec<u8> {
        let words = [self.ack, self.edge, self.counted_bytes, self.most_bytes];
        let flags = [self.scale, self.counts, self.waits, self.is_known];
        [
            &self.epoch.to_ne_bytes(),
            words.map(u32::to_ne_bytes).as_flattened(),
            &flags,
            &self.segment_bytes.to_ne_bytes(),
        ]
        .concat()
    }

    /// What its sender may send from the next byte on.
    pub const fn window(&self) -> u32 {
        self.edge.wrapping_sub(self.ack)
    }

    /// The right edge, as a sequence number.
    pub const fn edge(&self) -> u32 {
        self.edge
    }

    /// Whether it stands in line.
    pub const fn waits(&self) -> bool {
        self.waits != 0
    }
}

/// `FLIGHT_EPOCHS`.
const EPOCHS: usize = 8;

/// `struct grant_params`.
#[derive(Clone, Debug)]
#[repr(C)]
struct Params {
    budget_bytes: u64,
    epoch_ns: u64,
    mss_bytes: u32,
    least_segments: u32,
}

/// `struct flight`.
#[derive(Clone, Debug, Default)]
#[repr(C)]
struct Flight {
    epoch: u64,
    ends_ns: u64,
    bytes: u64,
    active: u32,
    waiting: u32,
    bytes_of: [u32; EPOCHS],
    active_of: [u32; EPOCHS],
}

const _: () = assert!(size_of::<Params>() == 24 && size_of::<Flight>() == 96);
const _: () = assert!(size_of::<Granted>() == 32);
const _: () = assert!(
    offset_of!(Params, epoch_ns) == 8
        && offset_of!(Params, mss_bytes) == 16
        && offset_of!(Params, least_segments) == 20
        && offset_of!(Flight, ends_ns) == 8
        && offset_of!(Flight, bytes) == 16
        && offset_of!(Flight, active) == 24
        && offset_of!(Flight, waiting) == 28
        && offset_of!(Flight, bytes_of) == 32
        && offset_of!(Flight, active_of) == 64
        && offset_of!(Granted, ack) == 8
        && offset_of!(Granted, edge) == 12
        && offset_of!(Granted, counted_bytes) == 16
        && offset_of!(Granted, most_bytes) == 20
        && offset_of!(Granted, scale) == 24
        && offset_of!(Granted, counts) == 25
        && offset_of!(Granted, waits) == 26
        && offset_of!(Granted, is_known) == 27
        && offset_of!(Granted, segment_bytes) == 28
);

#[expect(unsafe_code, reason = "the law is C, so that a kernel runs it too")]
// SAFETY: the declarations are those of `c/laws.c`; the structs have the same fields at the same offsets, asserted on
// both sides. The functions read and write the structs and nothing else and never keep a pointer. `Params` comes from
// `laws_grant_init` alone, which proves the segment, which divides, above zero.
unsafe extern "C" {
    safe fn laws_grant_init(params: &mut Params, idle_ns: u64);
    safe fn laws_flight_is_behind(flight: &Flight, now_ns: u64) -> u32;
    safe fn laws_flight_step(flight: &mut Flight, epoch_ns: u64, now_ns: u64);
    safe fn laws_flight_take(flight: &mut Flight, flow: &mut Granted);
    safe fn laws_grant_on_ack(flight: &mut Flight, flow: &mut Granted, ack: u32);
    safe fn laws_grant_ask(
        params: &Params,
        flight: &mut Flight,
        flow: &mut Granted,
        is_its_turn: u32,
    ) -> u32;
    safe fn laws_grant_open(
        params: &Params,
        flight: &mut Flight,
        flow: &mut Granted,
        ack: u32,
        most_bytes: u32,
    ) -> u32;
    safe fn laws_grant_join(flight: &mut Flight, flow: &mut Granted, ack: u32, told_bytes: u32);
    safe fn laws_grant_told(flight: &mut Flight, flow: &mut Granted, edge: u32);
    safe fn laws_grant_tell(flight: &mut Flight, flow: &mut Granted, advertised_units: u16) -> u16;
}
