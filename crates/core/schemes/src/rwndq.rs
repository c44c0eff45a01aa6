//! RWNDQ: a switch that shares out its target queue and its pipe by writing windows.
//!
//! Every port keeps one window for all flows through it and writes it into their ACKs where they carry
//! more. A flow that begins takes its share from the others, one that ends leaves it to them, and each time
//! some samples of the queue have been taken the window moves by the distance from a target. The law is
//! [`laws::Rwndq`], the text of `crates/core/laws/c/rwndq.h`; here are its timer, how flows are counted
//! (`rwndq/count.rs`), and how a switch learns by how much windows are shifted.
//!
//! | symbol | field | default | source |
//! |---|---|---|---|
//! | alpha | `rwndq.target` | 0.2 of the buffer | the paper's simulation |
//! | T | `rwndq.interval` | 50 us | the paper's simulation |
//! | M | `rwndq.samples` | 10 | the paper's simulation |
//! | slow start | `rwndq.slow_start` | per flow | RWNDQ Alg. 1; its text: divided among all |
//! | window scale | `rwndq.scale`, `rwndq.network_scale` | carried with the connection | RWNDQ, discussion |
//! | f | `rwndq.count`, `rwndq.count_both` | exact, in the data's direction | RWNDQ, discussion |
//! | counting Bloom filter | `rwndq.bloom_error`, `rwndq.bloom_flows` | 1 % at 10,000 flows | ours |
//! | delay of a controller | `rwndq.controller_delay` | 1 ms | ours |
//! | paths of a flow | `rwndq.ecmp_split` | one | RWNDQ, discussion |
//! | when a connection is idle | `rwndq.idle_after` | never | ours; [`laws::Idle`] |
//! | B | `switch.buffer` | | the scenario |
//!
//! Deviations: the window written is at least a segment and kept below the largest a header can
//! carry, since without the first bound a hundred flows would stop. A reset on the way of the data ends
//! a flow as well, since nothing answers it. Slow start ends when the queue reaches alpha times the buffer: Alg. 1 l. 26 as
//! printed compares the queue with alpha times itself, which always holds and would end slow start at its first update,
//! while the text has the target.
//!
//! Open in the paper: whether slow start's two packets per update are for each flow, as in Alg. 1, or for
//! all together, as the text has it of every increase (Figs. 3 and 4 come out with the latter); the direction in which flows are counted (that of the data: the SYN-ACK comes in
//! over the link that the port feeds), FINs that are sent twice (a flow counts once), and what a port
//! without flows writes (its target).
//!
//! A connection counts until it is closed, so persistent connections that are idle keep their share unless
//! `rwndq.idle_after` takes it from them.
//!
//! Cost: O(1) per packet and per interval T; a port without flows has no timer. O(log n) per flow that
//! begins or ends, for n open ones; with `rwndq.idle_after` also per ACK.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use base::cast::real;
use base::setting::Settings;
use base::{Count, FlowId, Fraction, OrOff, Packet, Quantity, QuantityError, Span, TcpFlags, Time};
use fabric::{Backlog, Calls, Limit, SwitchHook};
use laws::{Case, Idle, Life, Rwndq, RwndqSettings};
use tcp::Gauge;

use crate::registry::linux::Linux;
use crate::registry::{MakeHost, Misfit, PortInfo, Role, Roles, Scheme, Ticker, TickerOf};
use crate::window_scale::{Encoding, MAX_SHIFT, ScaleHelper, Shifts};

mod bloom;
mod count;
mod kernel;

use count::Counting;

/// The registry entry.
pub const SCHEME: Scheme = Scheme {
    name: "rwndq",
    summary: "RWNDQ: switches write every flow its share of the link into its ACKs",
    how: "Every port of a switch keeps one window for all flows through it, and writes it into their ACKs \
          where they carry a larger one. It learns from SYNs and FINs how many flows there are: a flow \
          that begins takes its share from the others, and one that ends leaves its share to them. Every \
          50 us the port samples its queue. After ten samples the window moves by the distance of the \
          queue from a target, a fifth of the buffer. So the flows share the link evenly, and the queue \
          stays near the target.",
    reference: "Abdelmoniem, Bensaou, CloudNet 2015",
    roles: &[Role::Switch, Role::Host],
    keys: Params::KEYS,
    gauges: &[tcp::SSTHRESH, WINDOW, FLOWS, COUNT_ERROR],
    linux: Linux {
        law: Some(&kernel::AT_PORT),
        ..Linux::NOTHING
    },
    build: &|text| {
        let params = Params::read(text)?;
        Ok(Roles {
            misfits: misfits(&params),
            timers: vec![Ticker {
                key: "rwndq.interval",
                every: params.interval,
                each: TickerOf::Port,
            }],
            shares_buffer: Some("rwndq"),
            host: host(&params),
            hook: Some(Box::new(move |port| Box::new(Hook::new(&params, port)))),
            ..Roles::default()
        })
    },
    ..Scheme::PLAIN
};

base::choices! {
    /// How a switch learns by how much the window in a packet is shifted.
    pub enum Scale {
        /// A helper at hosts writes the shift into the reserved bits of every ACK.
        Carried = "carried",
        /// Switches write rwndq.network_scale into the option of every SYN. Hosts do not learn of it, so it is right only where they shift by that much.
        Unified = "unified",
        /// A shim at hosts offers rwndq.network_scale in every SYN and converts the windows that leave.
        Shim = "shim",
    }
}

base::choices! {
    /// Whose window grows by two packets per update in slow start.
    pub enum SlowStart {
        /// That of each flow, as the algorithm is written.
        PerFlow = "per-flow",
        /// That of all flows together, divided among them as the text has it of every increase.
        Shared = "shared",
    }
}

base::choices! {
    /// How a port counts its flows.
    pub enum CountBy {
        /// By a set of the flows that are open.
        Exact = "exact",
        /// By a counting Bloom filter with counters of four bits, which now and then mistakes one flow for
        /// another.
        Bloom = "bloom",
        /// By a controller that tells the port of every flow that begins or ends after rwndq.controller_delay.
        Controller = "controller",
    }
}

/// By how many bits windows are shifted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WindowShift(pub u8);

impl Quantity for WindowShift {
    fn expected() -> String {
        "a whole number from 0 to 14".into()
    }

    fn parse(text: &str) -> Result<Self, QuantityError> {
        let shift = u32::parse(text).ok().map(u8::try_from);
        let shift = shift.and_then(Result::ok);
        let shift = shift.filter(|shift| *shift <= MAX_SHIFT);
        shift
            .map(Self)
            .ok_or_else(|| QuantityError::expected(&Self::expected(), text))
    }
}

base::settings! {
    /// Parameters of RWNDQ.
    pub struct Params in "rwndq" {
        /// Length of a queue that ports aim at, as a share of the buffer (alpha).
        pub target: Fraction = "0.2",
        /// Time between two samples of a queue (T).
        pub interval: Span = "50us",
        /// Samples per update of the window (M).
        pub samples: Count = "10",
        /// Whose window grows by two packets per update until the queue first reaches its target.
        pub slow_start: SlowStart = "per-flow",
        /// How switches learn by how much windows are shifted.
        pub scale: Scale = "carried",
        /// By how much all windows in the network are shifted with rwndq.scale = "unified" or "shim". Connections without window scaling (tcp.window_scale = "off") are misread then.
        pub network_scale: WindowShift = "7",
        /// How ports count flows.
        pub count: CountBy = "exact",
        /// Whether a connection counts in both of its directions: for data both ways, or to the host that opened it.
        pub count_both: bool = "false",
        /// Share of flows that a Bloom filter with rwndq.bloom_flows in it takes for others.
        pub bloom_error: Fraction = "0.01",
        /// Flows for which a Bloom filter is made.
        pub bloom_flows: Count = "10000",
        /// Time after which a controller has told a port of a flow.
        pub controller_delay: Span = "1ms",
        /// Equal-cost paths among which the share of a flow is divided, or "off".
        pub ecmp_split: OrOff<Count> = "off",
        /// Time after which a connection none of whose data were acknowledged leaves its share to the others, until an ACK acknowledges more; "off": only when it is closed. Up to a seventh later.
        pub idle_after: OrOff<Span> = "off",
    }
}

const WINDOW: Gauge = Gauge {
    name: "granted_window_bytes",
    unit: "bytes",
    help: "Window of every flow through the port of the switch.",
};
const FLOWS: Gauge = Gauge {
    name: "counted_flows",
    unit: "flows",
    help: "Flows among which the port of the switch shares.",
};
const COUNT_ERROR: Gauge = Gauge {
    name: "count_error_flows",
    unit: "flows",
    help: "Flows that the port of the switch counts, less those that are open and not idle.",
};

impl Params {
    /// The law at a port with this buffer, for segments of `mss` bytes and windows that are shifted by at most
    /// `scale`.
    pub fn law(&self, buffer_bytes: u64, mss: u16, scale: u8) -> Rwndq {
        let paths = self.ecmp_split.0.map_or(1, |paths| paths.0);
        Rwndq::new(&RwndqSettings {
            buffer_bytes,
            alpha_millionths: self.target.millionths(),
            samples: u16::try_from(self.samples.0).unwrap_or(u16::MAX),
            mss_bytes: mss,
            scale,
            paths: u16::try_from(paths).unwrap_or(u16::MAX),
        })
        .with_shared_start(self.slow_start == SlowStart::Shared)
    }

    /// Which connections of a port are idle.
    pub fn idle(&self) -> Idle {
        let nanoseconds = |after: Span| after.as_ps().div_ceil(1_000);
        Idle::new(self.idle_after.0.map_or(0, nanoseconds))
    }
}

/// Values that make no sense by themselves.
fn misfits(params: &Params) -> Vec<Misfit> {
    let wrong: [(bool, &'static [&'static str], &str, &str); 6] = [
        (
            params.target.0 <= 0.0,
            &["rwndq.target"],
            "rwndq.target = 0 is not possible: the distance of the queue is measured in multiples of the target",
            "give a share above 0, as in \"0.2\"",
        ),
        (
            params.interval == Span::ZERO,
            &["rwndq.interval"],
            "rwndq.interval must be above 0",
            "give some time, as in \"50us\"",
        ),
        (
            params.samples.0 > MAX_SAMPLES || params.ecmp_split.0.is_some_and(|k| k.0 > MAX_PATHS),
            &["rwndq.samples", "rwndq.ecmp_split"],
            "rwndq.samples exceeds 4096, or rwndq.ecmp_split exceeds 256",
            "the law has no memory for more: lower them",
        ),
        (
            params.bloom_error.0 <= 0.0 || params.bloom_error.0 >= 1.0,
            &["rwndq.bloom_error"],
            "rwndq.bloom_error must lie strictly between 0 and 1",
            "give a share between 0 and 1, as in \"0.01\"",
        ),
        (
            params.idle_after.0 == Some(Span::ZERO),
            &["rwndq.idle_after"],
            "rwndq.idle_after must be above 0",
            "give some time, as in \"100ms\", or \"off\"",
        ),
        (
            params.idle_after.0.is_some() && params.count != CountBy::Exact,
            &["rwndq.idle_after", "rwndq.count"],
            "rwndq.idle_after needs rwndq.count = \"exact\": only then ports know every connection",
            "set rwndq.count = \"exact\", or rwndq.idle_after = \"off\"",
        ),
    ];
    let wrong = wrong.into_iter().filter(|(is_wrong, ..)| *is_wrong);
    let misfit = |(_, keys, message, remedy): (bool, &'static [&'static str], &str, &str)| Misfit {
        keys,
        message: message.into(),
        remedy: remedy.into(),
    };
    wrong.map(misfit).collect()
}

/// How hosts let switches know the shift of windows.
fn host(params: &Params) -> Option<MakeHost> {
    let shift = params.network_scale.0;
    match params.scale {
        Scale::Unified => None,
        Scale::Carried => Some(Box::new(|_| Encoding::Reserved.helper())),
        Scale::Shim => Some(Box::new(move |_| {
            let convert = move |packet: &mut Packet, shifts: Shifts| {
                offer(packet, shift);
                if packet.flags.has(TcpFlags::ACK) && !packet.flags.has(TcpFlags::SYN) {
                    packet.window = converted(packet.window, shifts, shift);
                }
            };
            Box::new(ScaleHelper::new(
                convert,
                |_: &mut Packet, _: Shifts| (),
                false,
            ))
        })),
    }
}

/// Puts a shift into the option of a SYN that has one.
fn offer(packet: &mut Packet, shift: u8) {
    if let Some(options) = packet.options.syn_mut()
        && packet.flags.has(TcpFlags::SYN)
        && options.window_scale.is_some()
    {
        options.window_scale = Some(shift);
    }
}

/// A window in units of `shift` instead of the connection's own, rounded up as Linux does: rounded down,
/// a window of a segment would be less than a segment. Without scaling it stays as it is.
fn converted(window: u16, shifts: Shifts, shift: u8) -> u16 {
    if !shifts.agreed {
        return window;
    }
    let bytes = u64::from(window) << shifts.ours;
    u16::try_from(bytes.div_ceil(1 << shift)).unwrap_or(u16::MAX)
}

/// RWNDQ at a port of a switch.
pub struct Hook {
    law: Rwndq,
    counting: Counting,
    /// The open connections, each counted once even if its SYN or FIN is sent again.
    open: BTreeMap<FlowId, Life>,
    /// Which of them count.
    idle: Idle,
    /// The end of the current interval T; never while no flow is counted.
    sample_at: Time,
    interval: Span,
    scale: Scale,
    network_scale: u8,
    count_both: bool,
    header_bytes: u32,
    /// Of the packets that have left.
    largest_payload: u16,
}

impl Hook {
    /// A port without flows.
    pub fn new(params: &Params, port: &PortInfo) -> Self {
        let network_scale = params.network_scale.0;
        // The scenario refuses shares of a buffer without bound.
        let buffer_bytes = match port.limit {
            Limit::Unlimited => u64::MAX,
            Limit::Bytes(bytes) => bytes,
            Limit::Packets(packets) => packets.saturating_mul(port.packet_bytes),
        };
        let carried = params.scale == Scale::Carried;
        let scale = if carried { MAX_SHIFT } else { network_scale };
        Self {
            law: params.law(buffer_bytes, port.mss, scale),
            counting: Counting::new(params, port),
            open: BTreeMap::new(),
            idle: params.idle(),
            sample_at: Time::NEVER,
            interval: params.interval,
            scale: params.scale,
            network_scale,
            count_both: params.count_both,
            header_bytes: port.header_bytes,
            largest_payload: 0,
        }
    }

    /// A packet says that a flow begins or ends.
    fn note(&mut self, packet: &Packet, case: Case, now: Time) {
        let flow = packet.flow;
        if self.idle.is_on() {
            self.let_idle_go(now);
        }
        let changes = match (case, self.open.entry(flow)) {
            (Case::Opens, Entry::Vacant(new)) => {
                let life = new.insert(Life::default());
                self.idle.on_open(life, packet.ack.0)
            }
            (Case::Closes, Entry::Occupied(old)) => self.idle.on_close(&mut old.remove()),
            _ => false,
        };
        if self.counting.counts(flow, case, changes, now) {
            self.count(case, now);
        }
    }

    /// Connections may have become idle by now.
    fn let_idle_go(&mut self, now: Time) {
        let idle = self.idle.pass(now.as_ps() / 1_000);
        if idle > 0 {
            self.law.on_idle(idle);
        }
        if self.law.flows() == 0 {
            self.sample_at = Time::NEVER;
        }
    }

    /// Data of a connection were acknowledged, perhaps of one that was idle.
    fn note_life(&mut self, packet: &Packet, now: Time) {
        let life = self.open.get_mut(&packet.flow);
        if life.is_some_and(|life| self.idle.on_ack(life, packet.ack.0)) {
            self.count(Case::Opens, now);
        }
    }

    fn count(&mut self, case: Case, now: Time) {
        let was_idle = self.law.flows() == 0;
        match case {
            Case::Opens => self.law.on_open(),
            _ => self.law.on_close(),
        }
        if self.law.flows() == 0 {
            self.sample_at = Time::NEVER;
        } else if was_idle {
            // All ports sample at multiples of T. What happened before the first flow does not count.
            let passed = now.as_ps() / self.interval.as_ps();
            self.sample_at = Time::ZERO + self.interval * (passed + 1);
        }
    }

    fn shift_of(&self, packet: &Packet) -> u8 {
        match self.scale {
            Scale::Carried => packet.reserved,
            Scale::Unified | Scale::Shim => self.network_scale,
        }
    }
}

impl SwitchHook for Hook {
    fn calls(&self) -> Calls {
        let others = Calls::DEPARTURE.with(Calls::REVERSE).with(Calls::TIMER);
        others.with(Calls::ARRIVAL)
    }

    fn on_arrival(&mut self, _queue: Backlog, packet: &mut Packet, now: Time) {
        if packet.flags.has(TcpFlags::SYN) {
            if self.scale == Scale::Unified {
                offer(packet, self.network_scale);
            }
            if self.count_both && Rwndq::case(packet.flags) == Case::Opens {
                self.note(packet, Case::Opens, now);
            }
        } else if packet.flags.has(TcpFlags::RST) {
            self.note(packet, Case::Closes, now);
        }
    }

    fn on_departure(&mut self, _queue: Backlog, packet: &mut Packet, _at: Time) {
        // Most packets are as large as one before.
        if packet.payload > self.largest_payload {
            self.largest_payload = packet.payload;
            let payload = u32::from(packet.payload);
            self.law.on_packet(self.header_bytes + payload);
        }
    }

    fn on_reverse(&mut self, _queue: Backlog, packet: &mut Packet, now: Time) {
        match Rwndq::case(packet.flags) {
            Case::Nothing => {}
            Case::Acknowledges => {
                if self.idle.is_on() {
                    self.let_idle_go(now);
                    self.note_life(packet, now);
                }
                packet.window = self.law.window(packet.window, self.shift_of(packet));
            }
            case => self.note(packet, case, now),
        }
    }

    fn deadline(&self) -> Time {
        self.sample_at.min(self.counting.due())
    }

    fn on_deadline(&mut self, queue: Backlog, at: Time) {
        while let Some(case) = self.counting.next_due(at) {
            self.count(case, at);
        }
        if self.idle.is_on() {
            self.let_idle_go(at);
        }
        if self.sample_at <= at {
            self.law.on_sample(queue.bytes);
            self.sample_at = at + self.interval;
        }
    }

    fn gauges(&self, sink: &mut dyn FnMut(&'static str, f64)) {
        let flows = f64::from(self.law.flows());
        sink(WINDOW.name, real(self.law.window_q16_bytes()) / 65536.0);
        sink(FLOWS.name, flows);
        sink(COUNT_ERROR.name, flows - f64::from(self.idle.active()));
    }
}

/// What the law has room for.
const MAX_SAMPLES: u32 = 4096;
const MAX_PATHS: u32 = 256;
