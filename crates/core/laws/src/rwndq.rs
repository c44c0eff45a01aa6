//! The face of `c/rwndq.h`.

use std::mem::offset_of;
use std::time::Duration;

use base::TcpFlags;

use crate::memory::bytes;
use crate::{Idle, Loadable};

/// RWNDQ's law at one port of a switch.
#[derive(Clone, Debug)]
pub struct Rwndq {
    params: Params,
    state: State,
}

/// The settings of a port with RWNDQ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RwndqSettings {
    /// The buffer B.
    pub buffer_bytes: u64,
    /// The target queue alpha, as a share of the buffer.
    pub alpha_millionths: u32,
    /// Samples per update M.
    pub samples: u16,
    /// Payload of a full segment: the smallest window.
    pub mss_bytes: u16,
    /// The largest shift of windows in the network: the largest window is 65535 times its unit.
    pub scale: u8,
    /// Equal-cost paths among which the share of a flow is divided.
    pub paths: u16,
}

/// The effect of a packet that comes in over the link that the port feeds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Case {
    /// It concerns no window.
    Nothing,
    /// A flow begins.
    Opens,
    /// A flow ends.
    Closes,
    /// It carries a window to be rewritten.
    Acknowledges,
}

impl Rwndq {
    /// A port without flows.
    pub fn new(settings: &RwndqSettings) -> Self {
        let mut params = Params {
            target_q8_bytes: 0,
            max_window_q16_bytes: 0,
            mss_bytes: settings.mss_bytes,
            shared_start: 0,
            samples: settings.samples,
            paths: settings.paths,
        };
        let mut state = State::default();
        let (buffer, alpha) = (settings.buffer_bytes, settings.alpha_millionths);
        laws_rwndq_init(&mut params, &mut state, buffer, alpha, settings.scale);
        Self { params, state }
    }

    /// The same with slow start's two packets per update for all flows together, or for each of them.
    #[must_use]
    pub fn with_shared_start(mut self, shared: bool) -> Self {
        self.params.shared_start = u16::from(shared);
        self
    }

    /// What a packet with these flags does.
    pub fn case(flags: TcpFlags) -> Case {
        match laws_rwndq_case(flags.bits()) {
            OPENS => Case::Opens,
            CLOSES => Case::Closes,
            ACKNOWLEDGES => Case::Acknowledges,
            _ => Case::Nothing,
        }
    }

    /// A packet of `size_bytes`, headers included, leaves through the port.
    pub fn on_packet(&mut self, size_bytes: u32) {
        laws_rwndq_on_packet(&mut self.state, size_bytes);
    }

    /// A flow begins.
    pub fn on_open(&mut self) {
        laws_rwndq_on_flow(&self.params, &mut self.state, OPENS);
    }

    /// A flow ends.
    pub fn on_close(&mut self) {
        laws_rwndq_on_flow(&self.params, &mut self.state, CLOSES);
    }

    /// `flows` more flows are idle from now on.
    pub fn on_idle(&mut self, flows: u32) {
        let left = self.state.flows.saturating_sub(flows);
        laws_rwndq_share(&self.params, &mut self.state, left.into());
    }

    /// The queue has this length at the end of an interval T.
    pub fn on_sample(&mut self, qlen_bytes: u64) {
        laws_rwndq_on_sample(&self.params, &mut self.state, qlen_bytes);
    }

    /// The window field for an ACK that carries `advertised` and whose connection shifts windows by
    /// `scale`.
    pub fn window(&self, advertised: u16, scale: u8) -> u16 {
        laws_rwndq_window(&self.params, &self.state, advertised, scale)
    }

    /// The window Q of every flow, in 1/65536 byte.
    pub fn window_q16_bytes(&self) -> u64 {
        self.state.window_q16_bytes
    }

    /// How many flows share the port.
    pub fn flows(&self) -> u32 {
        self.state.flows
    }

    /// `struct rwndq_params` and, behind it, `struct rwndq_state` as they lie in memory: where a program of a
    /// kernel goes on.
    pub fn to_memory(&self) -> Vec<u8> {
        let (params, state) = (&self.params, &self.state);
        [
            params.target_q8_bytes.to_ne_bytes().as_slice(),
            &params.max_window_q16_bytes.to_ne_bytes(),
            &params.mss_bytes.to_ne_bytes(),
            &params.shared_start.to_ne_bytes(),
            &params.samples.to_ne_bytes(),
            &params.paths.to_ne_bytes(),
            &state.window_q16_bytes.to_ne_bytes(),
            &state.up_q8_bytes.to_ne_bytes(),
            &state.down_q8_bytes.to_ne_bytes(),
            &state.flows.to_ne_bytes(),
            &state.max_size_bytes.to_ne_bytes(),
            &state.samples_seen.to_ne_bytes(),
            &state.slow_start.to_ne_bytes(),
        ]
        .concat()
    }

    /// The port that [`to_memory`](Self::to_memory) wrote down; `None` if something is missing.
    pub fn from_memory(memory: &[u8]) -> Option<Self> {
        let params = Params {
            target_q8_bytes: u64::from_ne_bytes(bytes(memory, 0)?),
            max_window_q16_bytes: u64::from_ne_bytes(bytes(memory, 8)?),
            mss_bytes: u16::from_ne_bytes(bytes(memory, 16)?),
            shared_start: u16::from_ne_bytes(bytes(memory, 18)?),
            samples: u16::from_ne_bytes(bytes(memory, 20)?),
            paths: u16::from_ne_bytes(bytes(memory, 22)?),
        };
        let state = State {
            window_q16_bytes: u64::from_ne_bytes(bytes(memory, 24)?),
            up_q8_bytes: u64::from_ne_bytes(bytes(memory, 32)?),
            down_q8_bytes: u64::from_ne_bytes(bytes(memory, 40)?),
            flows: u32::from_ne_bytes(bytes(memory, 48)?),
            max_size_bytes: u32::from_ne_bytes(bytes(memory, 52)?),
            samples_seen: u32::from_ne_bytes(bytes(memory, 56)?),
            slow_start: u32::from_ne_bytes(bytes(memory, 60)?),
        };
        Some(Self { params, state })
    }

    /// This law with its program, which samples the queue once per `interval`, and these idle connections: behind the lock
    /// lie the interval and the end of the last one that was sampled, the window, and who is idle. Connections that the
    /// receiver of the data opens count only if the program `counts_both`.
    pub fn loadable(&self, interval: Duration, idle: &Idle, counts_both: bool) -> Loadable {
        let interval = u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX);
        let times = [interval, 0].map(u64::to_ne_bytes).concat();
        let both = u64::from(counts_both).to_ne_bytes().to_vec();
        let memory = [times, self.to_memory(), idle.to_memory(), both].concat();
        // The end of the last sample, the state of the window, and that of idle connections.
        Loadable::behind_lock("rwndq", &memory, &[16..24, 48..88, 96..144])
    }

    /// The port that the map of [`loadable`](Self::loadable) holds, and its idle connections; `None` if something is
    /// missing.
    pub fn of_map(memory: &[u8]) -> Option<(Self, Idle)> {
        let window = memory.get(Loadable::LOCK + TIMES..)?;
        let idle = window.get(size_of::<Params>() + size_of::<State>()..)?;
        Some((Self::from_memory(window)?, Idle::from_memory(idle)?))
    }

    /// Whether the window still grows by two packets per update.
    pub fn is_starting(&self) -> bool {
        self.state.slow_start != 0
    }
}

/// Bytes of the interval and of the end of the last one, in the map of the program.
const TIMES: usize = 16;

/// The values of `rwndq_case`.
pub(crate) const OPENS: u32 = 1;
pub(crate) const CLOSES: u32 = 2;
const ACKNOWLEDGES: u32 = 3;

/// `struct rwndq_params`.
#[derive(Clone, Debug)]
#[repr(C)]
struct Params {
    target_q8_bytes: u64,
    max_window_q16_bytes: u64,
    mss_bytes: u16,
    shared_start: u16,
    samples: u16,
    paths: u16,
}

/// `struct rwndq_state`.
#[derive(Clone, Debug, Default)]
#[repr(C)]
struct State {
    window_q16_bytes: u64,
    up_q8_bytes: u64,
    down_q8_bytes: u64,
    flows: u32,
    max_size_bytes: u32,
    samples_seen: u32,
    slow_start: u32,
}

const _: () = assert!(size_of::<Params>() == 24 && size_of::<State>() == 40);
const _: () = assert!(
    offset_of!(Params, target_q8_bytes) == 0
        && offset_of!(Params, max_window_q16_bytes) == 8
        && offset_of!(Params, mss_bytes) == 16
        && offset_of!(Params, shared_start) == 18
        && offset_of!(Params, samples) == 20
        && offset_of!(Params, paths) == 22
);
const _: () = assert!(
    offset_of!(State, window_q16_bytes) == 0
        && offset_of!(State, up_q8_bytes) == 8
        && offset_of!(State, down_q8_bytes) == 16
        && offset_of!(State, flows) == 24
        && offset_of!(State, max_size_bytes) == 28
        && offset_of!(State, samples_seen) == 32
        && offset_of!(State, slow_start) == 36
);

#[expect(unsafe_code, reason = "the law is C, so that a kernel runs it too")]
// SAFETY: the declarations are those of `c/laws.c`; the structs have the same fields at the same
// offsets, asserted on both sides. The functions read and write the structs and nothing else and never
// keep a pointer. `Params` comes from `laws_rwndq_init` alone, after which every divisor is above zero
// and every product below 2^64: tests trap what is undefined.
unsafe extern "C" {
    safe fn laws_rwndq_init(
        params: &mut Params,
        state: &mut State,
        buffer_bytes: u64,
        alpha_millionths: u32,
        scale: u8,
    );
    safe fn laws_rwndq_on_packet(state: &mut State, size_bytes: u32);
    safe fn laws_rwndq_case(tcp_flags: u8) -> u32;
    safe fn laws_rwndq_on_flow(params: &Params, state: &mut State, flow_case: u32);
    safe fn laws_rwndq_share(params: &Params, state: &mut State, flows: u64);
    safe fn laws_rwndq_on_sample(params: &Params, state: &mut State, qlen_bytes: u64);
    safe fn laws_rwndq_window(
        params: &Params,
        state: &State,
        advertised_units: u16,
        scale: u8,
    ) -> u16;
}
