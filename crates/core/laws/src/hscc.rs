//! The face of `c/hscc.h`.

use std::mem::offset_of;
use std::ops::Range;

use base::TcpFlags;

use crate::Loadable;
use crate::memory::bytes;

/// HSCC's law at one port of a switch.
#[derive(Clone, Debug)]
pub struct Hscc {
    params: Params,
    state: State,
}

/// The settings of a port with HSCC.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HsccSettings {
    /// The buffer, in the unit that limits it: bytes or packets.
    pub buffer_units: u64,
    /// Share of the buffer below which the port switches off.
    pub alpha1_millionths: u32,
    /// Share of the buffer above which it switches on.
    pub alpha2_millionths: u32,
    /// The window of every connection while it is on.
    pub window_bytes: u32,
    /// Whether the windows of SYN-ACKs are rewritten too.
    pub rewrites_syn_ack: bool,
}

impl Hscc {
    /// A port that is off.
    pub fn new(settings: &HsccSettings) -> Self {
        let mut params = Params {
            on_above_units: 0,
            off_below_units: 0,
            window_bytes: settings.window_bytes,
            rewrite_syn_ack: u32::from(settings.rewrites_syn_ack),
        };
        laws_hscc_init(
            &mut params,
            settings.buffer_units,
            settings.alpha1_millionths,
            settings.alpha2_millionths,
        );
        Self {
            params,
            state: State { is_on: 0 },
        }
    }

    /// The queue now has this length, in the unit of the buffer: after every packet that joins or
    /// leaves it.
    pub fn on_level(&mut self, qlen_units: u64) {
        laws_hscc_on_level(&self.params, &mut self.state, qlen_units);
    }

    /// The window field for a packet that came in over the link this port feeds, where `advertised` is
    /// the one it carries and `scale` the shift of its connection's windows.
    pub fn window(&self, flags: TcpFlags, advertised: u16, scale: u8) -> u16 {
        self.window_of_bits(flags.bits(), advertised, scale)
    }

    /// The window of an ACK whose header has the byte `flags`, also with bits that [`TcpFlags`] lacks.
    pub(crate) fn window_of_bits(&self, flags: u8, advertised: u16, scale: u8) -> u16 {
        laws_hscc_window(&self.params, &self.state, flags, advertised, scale)
    }

    /// The least and the largest length of the queue for which the port stays as it is.
    pub fn unmoved_units(&self) -> (u64, u64) {
        if self.is_on() {
            (self.params.off_below_units, u64::MAX)
        } else {
            (0, self.params.on_above_units)
        }
    }

    /// `struct hscc_params` and, behind it, `struct hscc_state` as they lie in memory, padded to a multiple of
    /// eight bytes: where a program of a kernel goes on.
    pub fn to_memory(&self) -> Vec<u8> {
        let params = &self.params;
        [
            params.on_above_units.to_ne_bytes().as_slice(),
            &params.off_below_units.to_ne_bytes(),
            &params.window_bytes.to_ne_bytes(),
            &params.rewrite_syn_ack.to_ne_bytes(),
            &self.state.is_on.to_ne_bytes(),
            &[0; 4],
        ]
        .concat()
    }

    /// The port that [`to_memory`](Self::to_memory) wrote down; `None` if something is missing.
    pub fn from_memory(memory: &[u8]) -> Option<Self> {
        let params = Params {
            on_above_units: u64::from_ne_bytes(bytes(memory, 0)?),
            off_below_units: u64::from_ne_bytes(bytes(memory, 8)?),
            window_bytes: u32::from_ne_bytes(bytes(memory, 16)?),
            rewrite_syn_ack: u32::from_ne_bytes(bytes(memory, 20)?),
        };
        let state = State {
            is_on: u32::from_ne_bytes(bytes(memory, 24)?),
        };
        Some(Self { params, state })
    }

    /// This law with its program. The state is `is_on` alone, behind the lock and the settings.
    pub fn loadable(&self) -> Loadable {
        const STATE: [Range<usize>; 1] = [Range { start: 32, end: 36 }];
        Loadable::behind_lock("hscc", &self.to_memory(), &STATE)
    }

    /// The port that the map of [`loadable`](Self::loadable) holds; `None` if something is missing.
    pub fn of_map(memory: &[u8]) -> Option<Self> {
        Self::from_memory(memory.get(Loadable::LOCK..)?)
    }

    /// The window of every connection while it is on.
    pub fn window_bytes(&self) -> u32 {
        self.params.window_bytes
    }

    /// Whether windows are being rewritten.
    pub fn is_on(&self) -> bool {
        self.state.is_on != 0
    }
}

/// `struct hscc_params`.
#[derive(Clone, Debug)]
#[repr(C)]
struct Params {
    on_above_units: u64,
    off_below_units: u64,
    window_bytes: u32,
    rewrite_syn_ack: u32,
}

/// `struct hscc_state`.
#[derive(Clone, Debug)]
#[repr(C)]
struct State {
    is_on: u32,
}

const _: () = assert!(size_of::<Params>() == 24 && size_of::<State>() == 4);
const _: () = assert!(
    offset_of!(Params, on_above_units) == 0
        && offset_of!(Params, off_below_units) == 8
        && offset_of!(Params, window_bytes) == 16
        && offset_of!(Params, rewrite_syn_ack) == 20
        && offset_of!(State, is_on) == 0
);

#[expect(unsafe_code, reason = "the law is C, so that a kernel runs it too")]
// SAFETY: the declarations are those of `c/laws.c`; the structs have the same fields at the same
// offsets, asserted on both sides. The functions read and write the structs and nothing else, never
// keep a pointer, and are defined for every value of every field and argument: tests trap what is not.
unsafe extern "C" {
    safe fn laws_hscc_init(
        params: &mut Params,
        buffer_units: u64,
        alpha1_millionths: u32,
        alpha2_millionths: u32,
    );
    safe fn laws_hscc_on_level(params: &Params, state: &mut State, qlen_units: u64);
    safe fn laws_hscc_window(
        params: &Params,
        state: &State,
        tcp_flags: u8,
        advertised_units: u16,
        scale: u8,
    ) -> u16;
}
