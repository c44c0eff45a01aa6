//! The face of `c/idle.h`.

use std::mem::offset_of;

use crate::memory::bytes;

/// Counts the connections of a port whose data were acknowledged recently.
#[derive(Clone, Debug)]
pub struct Idle {
    params: Params,
    state: State,
}

/// The port's state of a connection: whether it is open, and when its ACKs last advanced.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct Life {
    epoch: u64,
    ack: u32,
    is_open: u32,
}

impl Idle {
    /// A port without connections, which are idle when nothing of theirs was acknowledged for `after_ns`, or for a
    /// seventh more; zero: never.
    pub fn new(after_ns: u64) -> Self {
        let mut params = Params { epoch_ns: 0 };
        laws_idle_init(&mut params, after_ns);
        let state = State::default();
        Self { params, state }
    }

    /// Whether connections may be idle at all.
    pub fn is_on(&self) -> bool {
        self.params.epoch_ns != 0
    }

    /// How many connections have become idle until now. To be called before each of the functions below.
    pub fn pass(&mut self, now_ns: u64) -> u32 {
        let mut idle = 0;
        while laws_idle_is_behind(&self.params, &self.state, now_ns) != 0 {
            idle += laws_idle_step(&self.params, &mut self.state, now_ns);
        }
        idle
    }

    /// A connection opens, whose SYN is acknowledged with this number. Returns whether it counts from now on.
    pub fn on_open(&mut self, life: &mut Life, ack: u32) -> bool {
        laws_idle_on_open(&mut self.state, life, ack) != 0
    }

    /// A connection closes. Returns whether it counted until now.
    pub fn on_close(&mut self, life: &mut Life) -> bool {
        laws_idle_on_close(&mut self.state, life) != 0
    }

    /// An ACK with this number. Returns whether its connection was idle, and counts again from now on.
    pub fn on_ack(&mut self, life: &mut Life, ack: u32) -> bool {
        laws_idle_on_ack(&self.state, life, ack) != 0
            && laws_idle_on_life(&mut self.state, life) != 0
    }

    /// How many connections count.
    pub fn active(&self) -> u32 {
        self.state.active.iter().sum()
    }

    /// `struct idle_params` and, behind it, `struct idle_state` as they lie in memory: where a program of a kernel
    /// goes on.
    pub fn to_memory(&self) -> Vec<u8> {
        let words = [self.params.epoch_ns, self.state.epoch, self.state.ends_ns];
        let words = words.into_iter().flat_map(u64::to_ne_bytes);
        let active = self.state.active.into_iter().flat_map(u32::to_ne_bytes);
        words.chain(active).collect()
    }

    /// The port that [`to_memory`](Self::to_memory) wrote down; `None` if something is missing.
    pub fn from_memory(memory: &[u8]) -> Option<Self> {
        let params = Params {
            epoch_ns: u64::from_ne_bytes(bytes(memory, 0)?),
        };
        let mut state = State {
            epoch: u64::from_ne_bytes(bytes(memory, 8)?),
            ends_ns: u64::from_ne_bytes(bytes(memory, 16)?),
            active: [0; EPOCHS],
        };
        for (number, active) in state.active.iter_mut().enumerate() {
            *active = u32::from_ne_bytes(bytes(memory, 24 + 4 * number)?);
        }
        Some(Self { params, state })
    }
}

impl Life {
    /// `struct idle_flow` as it lies in memory.
    pub fn to_memory(&self) -> Vec<u8> {
        let halves = [self.ack.to_ne_bytes(), self.is_open.to_ne_bytes()].concat();
        [self.epoch.to_ne_bytes().to_vec(), halves].concat()
    }
}

/// `IDLE_EPOCHS`.
const EPOCHS: usize = 8;

/// `struct idle_params`.
#[derive(Clone, Debug)]
#[repr(C)]
struct Params {
    epoch_ns: u64,
}

/// `struct idle_state`.
#[derive(Clone, Debug, Default)]
#[repr(C)]
struct State {
    epoch: u64,
    ends_ns: u64,
    active: [u32; EPOCHS],
}

const _: () = assert!(size_of::<Params>() == 8 && size_of::<State>() == 48);
const _: () = assert!(size_of::<Life>() == 16);
const _: () = assert!(
    offset_of!(State, ends_ns) == 8
        && offset_of!(State, active) == 16
        && offset_of!(Life, ack) == 8
        && offset_of!(Life, is_open) == 12
);

#[expect(unsafe_code, reason = "the law is C, so that a kernel runs it too")]
// SAFETY: the declarations are those of `c/laws.c`; the structs have the same fields at the same
// offsets, asserted on both sides. The functions read and write the structs and nothing else and never
// keep a pointer. `Params` comes from `laws_idle_init` alone, which keeps sums of times below 2^64.
unsafe extern "C" {
    safe fn laws_idle_init(params: &mut Params, after_ns: u64);
    safe fn laws_idle_is_behind(params: &Params, state: &State, now_ns: u64) -> u32;
    safe fn laws_idle_step(params: &Params, state: &mut State, now_ns: u64) -> u32;
    safe fn laws_idle_on_open(state: &mut State, flow: &mut Life, ack: u32) -> u32;
    safe fn laws_idle_on_close(state: &mut State, flow: &mut Life) -> u32;
    safe fn laws_idle_on_ack(state: &State, flow: &mut Life, ack: u32) -> u32;
    safe fn laws_idle_on_life(state: &mut State, flow: &mut Life) -> u32;
}
