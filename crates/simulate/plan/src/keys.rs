//! Every setting of a scenario that is not a scheme's own, declared once.
//!
//! `tailwater explain` prints the documentation of a field; a scenario without the key gets the field's default. The
//! scenario reader, `list keys`, `show --resolved` and the completions are made from the tables declared here and by
//! the registered schemes.

mod capacity;
mod choices;
mod classes;
mod conflict;
mod exceptions;
mod fan_in;
mod faults;
pub(crate) mod flows;
mod link;
mod links;
mod lost;
mod names;
mod pfc;
mod pool;
pub mod profile;
mod rank_order;
mod reading;
mod run;
mod send_buffer;
mod shape;
mod topology;
mod traced;
mod window_scale;

use std::collections::BTreeMap;

use base::Ordered as _;
use base::cast::{real, whole};
use base::setting::{Key, SettingError, Settings};
use base::{Count, DataSize, Fraction, OrAuto, OrNever, OrOff, OrUnlimited, Rate, Span, WireSize};
use distributions::{SizeLaw, TimeLaw};
use schemes::Derived;

pub use capacity::Capacity;
pub use choices::{
    AfterSynLoss, ConnectionKind, Ecmp, EcnAt, GraphPart, HostQueue, IdleWindow, LinkWeight,
    LoadOf, LossDetection, LossPattern, PeerKind, QueueUnit, ReceiveWindow, Recovery, RtoEstimator,
    SsthreshOf, TailLossProbe, TimerKind, TopologyKind, WindowGrowth, WorkloadKind,
};
pub use classes::SizeClasses;
pub use conflict::Conflict;
pub use exceptions::{Exception, ExceptionPlace, Exceptions, LinkException};
pub use fan_in::FanIn;
pub use faults::{Fault, FaultKind, FaultPlace, Faults, Times};
pub use link::Link;
pub use lost::LostSegments;
pub use names::{field, group};
pub use pfc::{Lossless, PauseThreshold};
pub use pool::{Alphas, CHIPS, Chip, SharedPool};
pub use profile::Profile;
pub use rank_order::RankOrder;
pub use run::Run;
pub use send_buffer::SendBuffer;
pub use topology::Topology;
pub use traced::{SweepSize, Trace, TraceInterval, TracedFlows, TracedPorts, TracedSeries};
pub use window_scale::WindowScale;

use crate::collective::{Algorithm, Collective};
use crate::flow_trace::{ColumnNames, HostNames, TraceChoice, TraceWindow};
use crate::hosts::HostSet;

/// All settings of one simulation, with types.
#[derive(Clone, Debug)]
pub struct Keys {
    /// The shape of the network.
    pub topology: Topology,
    /// Every link between a host and its switch.
    pub link: Link,
    /// Links between switches, and loss at the bottleneck.
    pub bottleneck: Bottleneck,
    /// Output queues of switches.
    pub switch: Switch,
    /// Output queues of hosts.
    pub host: Host,
    /// What every packet carries.
    pub net: Net,
    /// The endpoints.
    pub tcp: Tcp,
    /// Who sends what to whom.
    pub workload: Workload,
    /// When a simulation ends.
    pub run: Run,
    /// The quantities to record over time.
    pub trace: Trace,
}

impl Keys {
    /// Reads every group from the texts of its keys, by full key name.
    ///
    /// Also reads the files that settings name. A trace file is read last, when the settings for its columns are known.
    pub fn read(text: &dyn Fn(&str) -> String) -> Result<Self, SettingError> {
        let mut workload = Workload::read(text)?;
        workload.read_trace()?;
        Ok(Self {
            topology: Topology::read(text)?,
            link: Link::read(text)?,
            bottleneck: Bottleneck::read(text)?,
            switch: Switch::read(text)?,
            host: Host::read(text)?,
            net: Net::read(text)?,
            tcp: Tcp::read(text)?,
            workload,
            run: Run::read(text)?,
            trace: Trace::read(text)?,
        })
    }

    /// Bytes of a full packet on the wire: payload and headers.
    pub fn packet_bytes(&self) -> u64 {
        u64::from(self.tcp.mss.0) + u64::from(self.net.header_bytes)
    }

    /// Full packets that count as waiting at every port, in addition to the real queue: the emulated load.
    pub fn emulated_packets(&self) -> u64 {
        let packet = self.packet_bytes();
        let buffer = self
            .switch
            .buffer
            .0
            .map_or(0, |size| size.in_bytes(packet) / packet);
        // A share such as 0.7 is a little below or above its decimal value in binary.
        whole(real(buffer) * self.switch.emulated_load.0 + 1e-9)
    }

    /// Combinations of settings that contradict each other. `marking` is the name of the scheme in use if that scheme
    /// needs a queue that marks. [`workload`](crate::workload) checks settings of hosts, because it sees all groups of
    /// flows.
    pub fn conflicts(&self, marking: Option<&str>) -> Vec<Conflict> {
        conflict::all(self, marking)
    }
}

/// All keys of a scenario, including those of the registered schemes.
pub fn all_keys() -> &'static [&'static Key] {
    static ALL: Derived<Vec<&'static Key>> = Derived::new(|| {
        let groups = [
            Topology::KEYS,
            Link::KEYS,
            Bottleneck::KEYS,
            Switch::KEYS,
            Host::KEYS,
            Net::KEYS,
            Tcp::KEYS,
            Workload::KEYS,
            Run::KEYS,
            Trace::KEYS,
        ];
        // A scheme may also read the parameters of another.
        let schemes = schemes::all().iter().flat_map(|scheme| {
            let keys = scheme.keys.iter();
            keys.filter(|key| group(key.name) == scheme.name)
        });
        groups.into_iter().flatten().chain(schemes).collect()
    });
    ALL.get()
}

/// The key called `name`.
pub fn key(name: &str) -> Option<&'static Key> {
    place(name).map(|place| all_keys()[place])
}

/// The index of the key called `name` in [`all_keys`].
pub(crate) fn place(name: &str) -> Option<usize> {
    static PLACES: Derived<BTreeMap<&str, usize>> = Derived::new(|| {
        let names = all_keys().iter().map(|key| key.name);
        names.zip(0..).into_map()
    });
    PLACES.get().get(name).copied()
}

base::settings! {
    /// Links between switches, and loss at the bottleneck.
    pub struct Bottleneck in "bottleneck" {
        /// Rate of every link between switches: the middle of a dumbbell, the links of a chain, the uplinks of a tree, every link above the racks of a leaf-spine network or fat tree, every link of a graph; "auto" is link.rate, unless topology.oversubscription says otherwise, and in a graph follows topology.capacity.
        pub rate: OrAuto<Rate> = "auto",
        /// Propagation delay of every such link, one way; "auto" is link.delay, and in a graph what its file says: a delay, or a length or the places of both ends, over which light travels in fibre (2/3 of c). topology.missing_delay is for links about which it says nothing.
        pub delay: OrAuto<Span> = "auto",
        /// Share of arriving data packets that the bottleneck loses whatever its queue: the first link between switches of a dumbbell or chain, or in other networks the link to the first receiver. They count as drops.
        pub loss: Fraction = "0",
        /// Share of packets without payload, such as ACKs, that this link loses in the other direction, at random. They count as drops.
        pub ack_loss: Fraction = "0",
        /// Share of packets that this link delivers late, in both directions: others overtake them.
        pub reordering: Fraction = "0",
        /// By how much those packets are late.
        pub reordering_delay: Span = "100us",
        /// Share of packets that this link delivers twice, in both directions, the copy right behind the packet.
        pub duplication: Fraction = "0",
        /// Which of the packets of bottleneck.loss are lost: "random" ones, with "bursts" several in a row, or with "periodic" every n-th, where n is 1 / loss.
        pub loss_pattern: LossPattern = "random",
        /// Mean number of packets that "bursts" of bottleneck.loss_pattern lose in a row; lengths are geometric (Gilbert's model, whose bad state loses every packet). At least one packet comes through between two bursts, so that a loss above one half makes them longer. Ignored by the other patterns.
        pub loss_burst: Count = "4",
        /// Whether bottleneck.loss takes packets without payload, too, such as SYNs.
        pub loss_of_control: bool = "false",
        /// Segments that are lost on this link, joined by +: "syn", "syn-ack", "ack" (which ends the handshake), or data towards the first receiver by their numbers on their connection: "segment 5", "segments 14 26-28", or the same segment of each answer ("segment 5 of 12" for answers with 12 segments). Every connection loses them, or with "of flow 1" behind them that of this flow alone; flows are numbered from 0, as in the results. "syn x2" loses the first two copies; of "ack x2" the second copy is whatever comes behind the first. "from 10ms to 12ms" loses every packet that arrives at this link in that time, in both directions. They count as drops.
        pub lose: LostSegments = "off",
    }
}

base::settings! {
    /// Output queues of switches.
    pub struct Switch in "switch" {
        /// Room of every output queue of a switch; a packet that does not fit is dropped. The packet in service does not count.
        pub buffer: OrUnlimited<WireSize> = "80pkt",
        /// Queue length at or above which an arriving ECN-capable packet is marked (K of DCTCP); "off" marks nothing.
        pub ecn_threshold: OrOff<WireSize> = "40pkt",
        /// Queue length from which on every arriving ECN-capable packet is marked (Kmax of DCQCN and RoCE switches). Between switch.ecn_threshold (then Kmin) and this length packets are marked at random, with a probability that grows with the queue from 0 to switch.ecn_probability. "off" marks all packets from switch.ecn_threshold on. Ignored where a scheme brings queues that mark by a rule of their own.
        pub ecn_max: OrOff<WireSize> = "off",
        /// Probability of a mark just below switch.ecn_max (Pmax); ignored without it.
        pub ecn_probability: Fraction = "0.01",
        /// Which queue decides about a mark: at "arrival" the one that a packet finds, at "departure" the one that it leaves behind when its transmission begins, as in HPCC's simulator and in htsim's lossless queues. Marks at departure tell of what has come later, too. Ignored where a scheme brings queues that mark by a rule of their own.
        pub ecn_at: EcnAt = "arrival",
        /// Size of the buffer that all queues of a switch share, as in real switches, or the chip that has it; "off" gives every queue room of its own. A queue may then hold switch.pool_reserve, and beyond that at most switch.pool_alpha times the bytes that the pool has free (dynamic thresholds, Choudhury and Hahne 1998). With a pool, switch.buffer is "unlimited" unless you give it; a given one bounds every queue, too.
        pub pool: SharedPool = "off",
        /// Factors of the dynamic thresholds of switch.pool, by priority of packets, joined by +; the last one counts for all lower priorities. "auto" is the factor of the chip that switch.pool names, where it is known, else 1. Chips have powers of two: alpha 1/8 is "0.125".
        pub pool_alpha: Alphas = "auto",
        /// Bytes that every queue of a switch, one for each port and priority, has for itself beside switch.pool.
        pub pool_reserve: WireSize = "0B",
        /// Priorities of packets that switches do not drop: they pause them at the node before, host or switch, while one port has brought in more than switch.pfc_xoff (priority-based flow control, IEEE 802.1Qbb). "all", or priorities joined by +, where 0 is that of packets without any; others are dropped as usual. With it, switch.buffer is "unlimited" unless you give it.
        pub pfc: Lossless = "off",
        /// Bytes of a priority that one port may bring into a switch, and that still wait there, before it is paused: a size, or a number that multiplies what switch.pool has free; "auto" is the number of priority 0 in switch.pool_alpha.
        pub pfc_xoff: PauseThreshold = "auto",
        /// How far below switch.pfc_xoff a paused priority has to be before it is resumed.
        pub pfc_resume: WireSize = "2pkt",
        /// Room for what still comes in after a pause, for each port and priority, on top of switch.pool. "auto" is what the link needs: three full packets, the bytes on its wire there and back, and the time that IEEE 802.3 allows the other end for its answer. With less, lossless packets may be dropped.
        pub pfc_headroom: OrAuto<WireSize> = "auto",
        /// Bytes that a port which was idle sends at once, beyond its rate: the depth of a token bucket (tc-tbf), which takes the place of the transmitter's rate, as at shaped ports of hosts and clouds. "1pkt" also is a switch that begins to send a packet while it still comes in (cut-through). A packet waits for its tokens in the queue. "off" takes every packet its time.
        pub burst: OrOff<WireSize> = "off",
        /// Longest time by which the timer of a token bucket (switch.burst) is late, as timers of software are: a random time below it, uniform. A packet that waits for its tokens leaves that much later; one that finds them is not late. A bucket of two packets keeps its rate, as tokens come in time; one of a single packet has no room for tokens that come while it is late.
        pub burst_lateness: Span = "0s",
        /// Whether buffer and ecn_threshold count bytes or packets. Under "bytes" a size in pkt means that many full packets of bytes.
        pub unit: QueueUnit = "bytes",
        /// Share of the packets arriving at a queue that is lost at random, whatever the packets carry: at queues of switches, and of hosts where host.queue = "switch". Every queue loses this share anew: a path through four queues loses nearly four times the share, and its ACKs lose as much again on the way back. Lost packets count as drops.
        pub loss: Fraction = "0",
        /// Load that is emulated rather than simulated, as the RCC paper's published simulation does for its Fig. 8: this share of the buffer counts as taken at every port, hosts included, thresholds move down with it, and switches hold every packet for the time that this share of the buffer takes to send.
        pub emulated_load: Fraction = "0",
    }
}

base::settings! {
    /// Output queues of hosts.
    pub struct Host in "host" {
        /// Whether hosts queue by host.buffer alone, or as switches do.
        pub queue: HostQueue = "own",
        /// Room of the output queue of every host's network card.
        pub buffer: OrUnlimited<WireSize> = "unlimited",
        /// Bytes that an idle host sends at once, beyond its rate: the depth of a token bucket, as switch.burst has it at switches. If two packets of a host reach a full queue together, one of them may find room; if they come one after the other at the rate of the queue, both do, or neither. "off" takes every packet its time.
        pub burst: OrOff<WireSize> = "off",
        /// Longest time by which the timer of that token bucket is late, as switch.burst_lateness has it at switches.
        pub burst_lateness: Span = "0s",
    }
}

base::settings! {
    /// What every packet carries.
    pub struct Net in "net" {
        /// Header bytes of every packet on the wire; 40 are IPv4 and TCP without options.
        pub header_bytes: u32 = "40",
        /// Whether SACK blocks make a packet longer than net.header_bytes, by 4 bytes and 8 for each block (RFC 2018). ACKs then take different times, so that segments that they let go do not reach a port at the same instant; where they do, repairs are lost as often as new data.
        pub sack_bytes: bool = "false",
    }
}

base::settings! {
    /// The endpoints.
    pub struct Tcp in "tcp" {
        /// Whose TCP the endpoints speak: every setting that the scenario leaves out, in this table and of schemes, has the value of this profile. A setting that is given counts, whatever the profile; a value of the profile that contradicts it is the default again, as all that needs SACK where tcp.sack = false.
        pub profile: Profile = "paper",
        /// Largest payload of a segment in bytes; with net.header_bytes it makes the size of a full packet.
        pub mss: Count = "1460",
        /// Initial congestion window in segments (RFC 6928).
        pub initial_window: Count = "10",
        /// Slow-start threshold at the start (RFC 5681).
        pub initial_ssthresh: OrUnlimited<DataSize> = "unlimited",
        /// Whether selective acknowledgements are negotiated (RFC 2018, RFC 6675).
        pub sack: bool = "true",
        /// Whether each of the first two duplicate ACKs sends a new segment (RFC 3042).
        pub limited_transmit: bool = "true",
        /// Whether duplicate ACKs make a sender send again what they show to be lost (RFC 5681); without it only its timer does, as in published simulations that raise the number of duplicates beyond reach.
        pub fast_retransmit: bool = "true",
        /// Lower bound of the retransmission timeout (RFC 6298).
        pub min_rto: Span = "200ms",
        /// The same of the receiver of a flow, for what it sends itself, such as requests; "auto" is tcp.min_rto. Under tcp.delayed_ack_below_rto this one bounds how long the receiver delays acknowledgements: a host with the usual 200 ms delays them by up to 40 ms, although its senders may wait for 5 ms and no longer.
        pub receiver_min_rto: OrAuto<Span> = "auto",
        /// Retransmission timeout before the first round-trip sample (RFC 6298).
        pub initial_rto: Span = "1s",
        /// Upper bound of the retransmission timeout (RFC 6298).
        pub max_rto: Span = "60s",
        /// Lower bound of the retransmission timeout when data begins on a connection whose SYN or SYN-ACK had to be sent again (RFC 6298, 5.7); "0s" is none. It holds until the first round-trip sample.
        pub rto_after_syn_loss: Span = "3s",
        /// Timeout of the first SYN or SYN-ACK; doubled after each.
        pub syn_rto: Span = "1s",
        /// First timeouts of a SYN that are not doubled (tcp_syn_linear_timeouts of Linux). A SYN is then sent again this many times more than tcp.syn_retries.
        pub syn_linear_timeouts: u32 = "0",
        /// How often a SYN is sent again before the connection fails.
        pub syn_retries: u32 = "6",
        /// How often a SYN-ACK is sent again before the connection fails; "auto" is tcp.syn_retries.
        pub syn_ack_retries: OrAuto<u32> = "auto",
        /// Consequences of a SYN or SYN-ACK that was sent again. "rfc5681": the first window is one segment, the timeout is at least tcp.rto_after_syn_loss, and each SYN-ACK doubles the timeout of the next. "linux": the first window is one segment only if two or more copies were sent and no timestamp echo shows that the first copy had arrived. An echo is also a sample of the round trip; without a sample the timeout is at least tcp.rto_after_syn_loss. A SYN-ACK that answers another copy of the SYN doubles no timeout.
        pub after_syn_loss: AfterSynLoss = "rfc5681",
        /// How often data is sent again after timeouts in a row before the connection fails.
        pub retries: u32 = "15",
        /// Whether tcp.retries stands for a time, as in Linux: that of as many timeouts which begin with 200 ms and double up to tcp.max_rto, however often data is sent again in it. 15 are 924.6 s.
        pub retries_by_time: bool = "false",
        /// Granularity G of the clock that times round trips (RFC 6298).
        pub clock_granularity: Span = "0s",
        /// Receivers acknowledge every n-th full segment; 1 acknowledges every one (RFC 5681).
        pub delayed_ack: Count = "1",
        /// Longest time an acknowledgement is delayed when delayed_ack is above 1.
        pub delayed_ack_timeout: Span = "40ms",
        /// Whether an acknowledgement is delayed for less than the minimum RTO of the end that delays it, by a tick of tcp.clock_granularity, whatever tcp.delayed_ack_timeout, so that no timer expires for want of it; as in Linux since 6.7.
        pub delayed_ack_below_rto: bool = "false",
        /// Whether a connection that was idle for a retransmission timeout starts again from a smaller window (RFC 5681), which tcp.idle_window says.
        pub idle_restart: bool = "true",
        /// The window after a pause longer than the retransmission timeout: the initial one ("initial", RFC 5681), or one that is halved for each timeout of the pause but the first and is not below the initial one ("halves", RFC 2861 and Linux). With "halves" the slow-start threshold is then at least three quarters of the window before. Ignored without tcp.idle_restart.
        pub idle_window: IdleWindow = "initial",
        /// Whether the congestion window of every scheme stays as it is while less than half of it is used, as when the application, the receiver or a switch allows less (RFC 7661). Without it windows grow whatever limits the sender, as in ns-2.
        pub window_validation: bool = "true",
        /// Receive buffer of a connection: the largest window it may advertise.
        pub receive_buffer: DataSize = "4MiB",
        /// How much of tcp.receive_buffer a receiver offers: all of it ("buffer"), or 64 KiB at first and then twice what its application reads in a round trip ("grows", Linux). A segment with which the window grows is then acknowledged at once, if tcp.quick_acks allows any. Bytes that wait to be read do not widen it later.
        pub receive_window: ReceiveWindow = "buffer",
        /// Shift of advertised windows (RFC 7323): 0 to 14; "auto" is the smallest that can advertise the receive buffer, "off" leaves the option out.
        pub window_scale: WindowScale = "auto",
        /// Whether the window of a SYN-ACK is scaled as those of other segments are. RFC 7323 forbids it, so that its 65,535 bytes bound the first flight; in ns-2, whose packets carry no window, nothing does. A switch that rewrites SYN-ACKs takes their window for unscaled all the same.
        pub scale_syn_ack: bool = "false",
        /// Segments the congestion window may grow for each ACK in slow start: the limit L of RFC 3465.
        pub byte_counting_limit: Count = "1",
        /// Whether schemes that do not define their own response use classic ECN (RFC 3168).
        pub ecn: bool = "false",
        /// Whether retransmissions are ECN-capable under classic ECN. RFC 3168 forbids it; in ns-2 they are.
        pub ecn_retransmissions: bool = "false",
        /// How a sender finds out that a segment is lost. "dupacks": by three duplicate ACKs or SACK blocks (RFC 5681, RFC 6675). "rack": by the delivery of a segment sent later (RFC 8985), which also finds a lost retransmission. "rack-linux": the same, but the round trip that it compares with is that of the segments an ACK acknowledges, not that of the segment sent last, as in Linux. Both need tcp.sack.
        pub loss_detection: LossDetection = "dupacks",
        /// Whether a sender probes the end of a flight before its timer expires (RFC 8985), and when: after two round trips and, with one segment in flight, tcp.delayed_ack_timeout ("rfc8985") or tcp.min_rto ("linux"). Needs tcp.sack.
        pub tail_loss_probe: TailLossProbe = "off",
        /// Time added to the reordering timer of tcp.loss_detection = "rack" or "rack-linux" and to the timeout of a tail-loss probe with several segments in flight; Linux adds 2 ms.
        pub timer_slack: Span = "0s",
        /// How a window moves to its new size after a loss: at once ("rfc6675"), or in proportion to what is delivered ("prr", RFC 6937), after marks too. Without SACK each duplicate ACK tells of one segment delivered.
        pub recovery: Recovery = "rfc6675",
        /// What the new window after a loss is a share of: the bytes outstanding ("flight", RFC 5681), the congestion window ("window", Linux), or the bytes thought to be in the network ("pipe", ns-3).
        pub ssthresh_of: SsthreshOf = "flight",
        /// Whether timestamps are negotiated (RFC 7323): every ACK of new data then gives a round-trip sample, which ends the back-off of the timer. They take 12 bytes of every packet: net.header_bytes is 52 and tcp.mss 1448 unless they are given.
        pub timestamps: bool = "false",
        /// Whether a sender still believes after a timeout what the receiver had reported by SACK (RFC 6675, 5.1).
        pub keep_scoreboard: bool = "false",
        /// Whether a sender finds out that a timeout was needless by sending new data after it (RFC 5682).
        pub frto: bool = "false",
        /// Whether a reduction of the window is taken back when timestamps or reports of duplicates show that nothing was lost (RFC 3522, RFC 3708, RFC 4015). Without SACK only timestamps show it.
        pub undo: bool = "false",
        /// Whether receivers report segments that came twice (RFC 2883). Needs tcp.sack.
        pub dsack: bool = "false",
        /// Segments that a receiver acknowledges one by one whatever tcp.delayed_ack: at the start, after idle time and after data that had come in order before, at most half of its buffer. "0" delays these ACKs as all others; Linux has 16. A congestion mark that begins or ends is then acknowledged at once, too, and so are an answer to one (CWR) and, on a connection on which one side sends, a segment that is not full, which ends what its sender has to say; marks of data that had come in order before count no more.
        pub quick_acks: u32 = "0",
        /// Longest time that a receiver holds reports of SACK back, to send one for many: after three reports of a hole, for a twentieth of the round trip and at most for this time. "0s" reports each segment at once (RFC 5681); Linux has 1 ms. Needs tcp.sack.
        pub sack_delay: Span = "0s",
        /// Time added to each wait under tcp.sack_delay. Linux lets that timer be late by up to 100 us, so that it ends together with others.
        pub sack_delay_slack: Span = "0s",
        /// How the retransmission timeout follows from round trips: the larger of tcp.min_rto and mean plus deviation ("rfc6298"), or the mean plus the larger of tcp.min_rto and deviation ("linux"), where the largest deviation of a round trip counts at once and senders that keep a record of segments count times in whole microseconds. Under tcp.timer = "wheel" that one, and tcp.min_rto in it, are whole ticks of tcp.clock_granularity.
        pub rto_estimator: RtoEstimator = "rfc6298",
        /// When timers fire: at their time ("exact"), or as Linux has it on a wheel that turns by tcp.clock_granularity ("wheel"): later, by one place of 1, 8 or 64 ticks and more, the longer the timer.
        pub timer: TimerKind = "exact",
        /// What makes windows grow: ACKs, each by at most tcp.byte_counting_limit segments in slow start and as one segment beyond it ("acks"), or the segments that are acknowledged, however few ACKs say so ("segments"), or those that become known to be delivered ("delivery", Linux): what SACK reported before does not count when it is acknowledged, so that the end of a repair does not widen the window at once; without SACK each duplicate ACK tells of a delivery. With "segments", "delivery" and tcp.window_validation a window that nothing but itself limits grows, and one in slow start while less than twice the flight.
        pub window_growth: WindowGrowth = "acks",
        /// Whether a connection keeps no more in the queue of its own host than two segments or what it sends in about a millisecond, and the rest in its socket: TCP small queues of Linux, without segmentation offload. Otherwise its whole window may wait there. At hosts that serve by priority nothing is kept back.
        pub small_queues: bool = "false",
        /// Memory for what an application has written and its peer has not acknowledged (tcp_wmem of Linux): "unlimited", a size, or the least and the most of one that grows to twice the congestion window; "auto" is "16KiB-4MiB", Linux's default. Each segment takes some beside its bytes: a new connection of Linux has room for about 37 segments of 1448 bytes, and an answer that fits changes nothing. An application that writes more waits until a third is free. What it has written before may end with PSH, which its receiver acknowledges at once under tcp.quick_acks, and a window is not used while its sender waits for the application. Ignored with low priorities and tcp.go_back_n.
        pub send_buffer: SendBuffer = "unlimited",
        /// Bytes that a segment of tcp.send_buffer and tcp.small_queues has for headers (MAX_TCP_HEADER of Linux): 320 in kernels of distributions, 256 in one without IPv6, tunnels and wireless networks.
        pub header_room: u32 = "320",
        /// Whether applications set TCP_NODELAY: a last, short segment then leaves at once. Without it such a segment waits while an earlier short one of its connection is not acknowledged (Nagle's rule as Linux has it), unless the connection closes behind it. That delays what is written in pieces, as by workload.request_writes, and delayed acknowledgements make it 40 ms. Corks (TCP_CORK, MSG_MORE, autocorking) are not simulated.
        pub nodelay: bool = "true",
        /// Whether receivers discard what comes beyond a gap and order everything from the gap on, once for each gap: go-back-N, as network cards of RoCE have it. Senders then send all of it again, and neither duplicate ACKs nor SACK repair anything.
        pub go_back_n: bool = "false",
        /// Time after which a receiver under tcp.go_back_n orders a gap again that has not been filled; HPCC's simulator has 500 us.
        pub go_back_again: Span = "500us",
        /// How long a closed connection answers stray segments: two segment lifetimes (RFC 9293).
        pub time_wait: Span = "60s",
    }
}

base::settings! {
    /// Who sends what to whom.
    pub struct Workload in "workload" {
        /// Who sends to whom: every sender to one receiver, pairs, random senders at random times, one flow from each host to each other, receivers that ask, ranks in the steps of a collective, or the flows of workload.trace one by one.
        pub kind: WorkloadKind = "incast",
        /// Number of senders, one flow each. Incast to several receivers: the senders of each receiver. Requests: the hosts that are asked. Ignored by "poisson" and "burst".
        pub senders: Count = "40",
        /// Receivers of an incast, or hosts that ask.
        pub receivers: Count = "1",
        /// Hosts that send, as RACK:HOST or ranges, joined by +: "0:0-19+1:3"; "2" is all of rack 2. A dumbbell has racks 0 and 1, a chain one at each switch, a fat tree one at each edge switch. Flows take them in turn. "auto" takes hosts that have no other part in the workload; with "poisson" and "burst", all.
        pub from: OrAuto<HostSet> = "auto",
        /// The hosts that receive data; "auto" is the first host of a star, the first hosts of the last switch of a dumbbell or chain, or hosts of as many racks of another network as there are; with "poisson" and "burst", all.
        pub to: OrAuto<HostSet> = "auto",
        /// Payload of each flow, or the law it is drawn from; "unlimited" flows send until workload.stop or run.duration.
        pub size: SizeLaw = "32KiB",
        /// Sizes drawn from a law are rounded down to a multiple of this, and not below it.
        pub size_step: DataSize = "1B",
        /// When the first flow starts.
        pub start: Span = "10ms",
        /// Flow i starts i times this later. For requests: in every round, the request on connection i leaves i times this later.
        pub interval: Span = "0s",
        /// When the first unlimited flow stops: its application closes the connection, and what it has not sent by then is never sent.
        pub stop: OrNever<Span> = "never",
        /// Unlimited flow i stops i times this later.
        pub stop_interval: Span = "0s",
        /// Each flow starts later by this time or one drawn from this law, whatever else delays it; of requests the first one on each connection in a round. "auto" is no delay; of a burst exponential, with the mean time in which flows one after the other make workload.load of one link.
        pub delay: OrAuto<TimeLaw> = "auto",
        /// Whether the flows to one receiver are delayed together, by one draw of workload.delay.
        pub together: bool = "false",
        /// Each flow starts later by a random time below this (uniform, drawn from the seed), whatever else delays it; of requests the first one on each connection in a round.
        pub jitter: Span = "0s",
        /// Incasts one after the other at each receiver, or collectives: the next begins when all flows of the one before have completed. Requests: rounds in which a receiver asks on all its connections; the next begins when all have been answered.
        pub rounds: Count = "1",
        /// Time from the last completion of a round to the start of the next, or from an answer to the next request.
        pub think: Span = "0s",
        /// Whether each flow has a connection of its own, or flows are messages on connections that were opened before workload.start, spread over the first half of that time. Persistent ones carry the flows of one sender and receiver in all rounds and epochs, one behind the other.
        pub connection: ConnectionKind = "new",
        /// Requests: connections of all hosts that ask together, spread evenly over them and over those that are asked.
        pub connections: Count = "1",
        /// Requests: how many flows each connection asks for in a round, each when it has got the one before and workload.think has passed. With workload.connection = "new" it is a new one each time.
        pub requests: Count = "1",
        /// Requests: payload of a request; workload.size is that of the answer. A flow starts when its request does.
        pub request_size: DataSize = "100B",
        /// Requests on persistent connections: in how many parts each is written, one right after the other, as a header and a body are. Parts are equally long but for the last one. With Nagle's rule (tcp.nodelay = false) the second short one waits until the first is acknowledged.
        pub request_writes: Count = "1",
        /// Requests on persistent connections: in how many parts each answer is written, as workload.request_writes.
        pub answer_writes: Count = "1",
        /// How often all flows start anew, on the clock: an epoch does not wait for the flows of the one before.
        pub epochs: Count = "1",
        /// Time from the start of an epoch to the start of the next.
        pub epoch_interval: Span = "0s",
        /// Results count the flows that take longer than this as late. Changes nothing else.
        pub deadline: OrOff<Span> = "off",
        /// Bytes that the application of a flow writes at its start; it writes the rest by workload.write and workload.write_interval. "off": everything at once. Results then tell when these bytes had arrived.
        pub first_write: OrOff<DataSize> = "off",
        /// Bytes that the application writes each time after workload.first_write, until the flow's size is written.
        pub write: DataSize = "64KB",
        /// Time from one such write to the next.
        pub write_interval: Span = "100ms",
        /// Collectives: what the ranks have together afterwards. Each rank has workload.size bytes; workload.from names the hosts of the ranks, "auto" takes all. A message starts when those that it waits for are complete at their receivers. workload.rounds repeats the collective.
        pub collective: Collective = "all-reduce",
        /// Collectives: in which messages it is done. "auto" is "ring", of a broadcast "tree", of an all-to-all "shifted".
        pub algorithm: OrAuto<Algorithm> = "auto",
        /// Collectives: how many ranks take part, each on a host of its own.
        pub ranks: Count = "8",
        /// Collectives: which hosts the ranks are: one after the other ("order"), every fourth ("stride 4") and so on from the second, or drawn from the seed ("random"). With the number of hosts in a rack as stride, neighbours are in different racks.
        pub rank_order: RankOrder = "order",
        /// Collectives by "tree": parts that are sent one behind the other, each when it is there.
        pub segments: Count = "1",
        /// Collectives: time that a rank works before each of its messages, as to add up what it has received, or the law it is drawn from. It counts in the time of the collective, and not in the ideal one.
        pub compute: TimeLaw = "0s",
        /// Collectives: how many ranks, drawn from the seed, are slow.
        pub stragglers: u32 = "0",
        /// Collectives: time that a slow rank works longer before each of its messages.
        pub straggler_delay: Span = "0s",
        /// Poisson arrivals: share of the links of workload.load_of that the flows fill on average. Headers count, except with "hosts". Burst: the load that workload.delay = "auto" makes.
        pub load: Fraction = "0.5",
        /// The links that workload.load is a share of: those of the receivers; those that lead out of the senders' racks, which only flows to other racks take; or those of the sending hosts together, by payload alone. Of a burst, one such link.
        pub load_of: LoadOf = "receivers",
        /// Poisson arrivals: from whom to whom flows go. "any": from any sender to any receiver. "other-racks": two racks are drawn, all equally likely, then a host of each.
        pub peers: PeerKind = "any",
        /// Random arrivals: how many flows arrive together, from as many different senders to one receiver, as in an incast; the load stays what it is. A range such as "20-60" is drawn for each arrival. workload.jitter, workload.delay and workload.interval delay the flows of such an incast, each for itself.
        pub fan_in: FanIn = "1",
        /// Random arrivals: time from one to the next, or the law it is drawn from. "auto": each receiver has arrivals of its own with exponential times, whose mean follows from workload.load. Any other law describes the arrivals at all receivers together; workload.load is then ignored.
        pub arrivals: OrAuto<TimeLaw> = "auto",
        /// Poisson arrivals: how many flows arrive; a number takes the place of workload.duration, "auto" leaves it to that. Burst: how many flows there are, the first to start; "auto" is all.
        pub flows: OrAuto<Count> = "auto",
        /// Poisson arrivals: how long flows go on to arrive.
        pub duration: Span = "100ms",
        /// Flows of workload.kind = "trace": the name of a trace that comes with the program (`tailwater list workloads`), or the path of a file of CSV or Parquet, from the folder of the scenario file or the working directory. Its columns are start_us on the clock of the simulation, size_bytes, sender, receiver, and if it has them open_us, when the connection opens if not with its first flow, request_bytes, the payload with which the receiver asks for the flow on a connection that it opens, connection, which flows share, group, whose flows are those of the group of this name, round, whose flows are awaited together, and after: ids of other flows joined by +, which must be done before this one starts, instead of a start; the column id has the ids, and delay_us is the time between. Starts are numbers or dates; dates, and numbers that count from 1970, are put so that the first flow starts at workload.start. Ignored by all other kinds.
        pub trace: TraceChoice = "rack",
        /// Columns of the trace that have other names or units, as in "start=ts in s+size=bytes+sender=src+receiver=dst". In a file it may be a table: [workload.columns] with start = "ts in s" and so on. Times are in ps, ns, us, ms, s, min, h or d, sizes in B, KB, KiB, MB, MiB, GB or GiB; without a unit a name that ends in _us counts microseconds, and sizes are bytes. "auto": the names of a trace. Ignored by a trace that comes with the program.
        pub columns: ColumnNames = "auto",
        /// Numbers of hosts that the trace names by addresses or other names. "auto": if the first row has a name, hosts are numbered in the order of their first appearance; "appearance": the same, if these names are numbers. A path: the file has a line for each host, NAME or NAME,NUMBER; without a number it is the one after that of the line above, from 0. Several names may have one number.
        pub host_names: HostNames = "auto",
        /// Part of the trace that is simulated: the flows that start from FROM on and before TO, as in "1h..2h", "2d.." or "2024-05-01T10:00..2024-05-01T11:00". Times count from 0 on the clock of the trace, or from its first start if that is a date. The beginning of the window is put at workload.start.
        pub window: TraceWindow = "all",
        /// Longest time without a start in the trace: a longer one is shortened to this, also the one before the first start. Use it where days of idle time tell nothing; flows that would go on for longer than this meet the next ones.
        pub max_gap: OrOff<Span> = "off",
    }
}

#[cfg(test)]
mod tests {
    use base::{Full, OnWire, Payload};

    use super::*;

    #[test]
    fn every_declared_default_is_a_correct_value() {
        for key in all_keys() {
            assert_eq!((key.check)(key.default), Ok(()), "{}", key.name);
        }
    }

    #[test]
    fn every_key_is_declared_once_and_described() {
        let mut names: Vec<_> = all_keys().iter().map(|key| key.name).collect();
        assert!(all_keys().iter().all(|key| key.help.ends_with('.')));
        names.sort_unstable();
        let declared = names.len();
        names.dedup();
        assert_eq!(names.len(), declared);
    }

    #[test]
    fn every_key_that_counts_packets_says_which_packets() {
        let says = |key: &Key, words| (key.expected)().contains(words);
        let (mut on_wire, mut payload) = (Vec::new(), Vec::new());
        for key in all_keys() {
            match (says(key, OnWire::WORDS), says(key, Payload::WORDS)) {
                (true, false) => on_wire.push(key.name),
                (false, true) => payload.push(key.name),
                said => assert_eq!(
                    (said, (key.check)("2pkt").is_ok()),
                    ((false, false), false),
                    "{}",
                    key.name
                ),
            }
        }
        // Links and queues count bytes on the wire; windows and applications count payload.
        assert_eq!(
            on_wire,
            [
                "switch.buffer",
                "switch.ecn_threshold",
                "switch.ecn_max",
                "switch.pool",
                "switch.pool_reserve",
                "switch.pfc_xoff",
                "switch.pfc_resume",
                "switch.pfc_headroom",
                "switch.burst",
                "host.buffer",
                "host.burst",
                "rcc.max_queue",
                "red.min",
                "red.max",
                "pias.ecn_threshold",
                "dcqcn.byte_counter",
            ]
        );
        assert_eq!(
            payload,
            [
                "tcp.initial_ssthresh",
                "tcp.receive_buffer",
                "tcp.send_buffer",
                "workload.size",
                "workload.size_step",
                "workload.request_size",
                "workload.first_write",
                "workload.write",
                "run.classes",
                "pias.thresholds",
                "rc3.first",
            ]
        );
    }

    #[test]
    fn the_defaults_do_not_contradict_each_other() {
        let defaults = Keys::read(&|name| key(name).unwrap().default.to_owned()).unwrap();
        assert_eq!(defaults.conflicts(Some("dctcp")), Vec::new());
    }
}
