//! What a user may set.

use base::{Count, OrAuto, Span, WireSize};

base::choices! {
    /// Which flows come first (RCC Alg. 1 l. 3, RDTCP "fixed flow priority").
    pub enum FlowPriority {
        /// Those with the fewest bytes left.
        Remaining = "remaining",
        /// Those with the fewest bytes at the start.
        Fixed = "fixed",
        /// None: windows are equal, ACKs leave in order.
        Off = "off",
    }
}

base::choices! {
    /// How the share of marked packets is estimated (RCC §4.6).
    pub enum Alpha {
        /// A moving average with weight 1/16, as in DCTCP and the published code.
        Average = "average",
        /// The share of the last round trip alone, as equation 3 says.
        Ratio = "ratio",
        /// The average of the published code: only marked packets bring it up to date, and until then
        /// the counts go on, so it never decays and the share is diluted.
        Published = "published",
    }
}

base::choices! {
    /// What becomes of duplicate ACKs that meet in the buffer queue.
    pub enum MergeDupacks {
        /// The merged ACK orders the retransmission when the receiver has counted three.
        Push = "push",
        /// The merged ACK counts once, as printed: the sender may never see three.
        Literal = "literal",
    }
}

base::choices! {
    /// Whether the remainder that rounding leaves of the budget is handed out (RCC Alg. 1 l. 10-17).
    pub enum Surplus {
        /// Only if windows follow priorities, as printed.
        Priority = "priority",
        /// Equal windows too, the earlier connections first, as in the published code.
        Always = "always",
        /// Only if windows follow priorities, the largest flow first: the order of Algorithm 1 as printed, which sorts
        /// from high priority to low and begins at the end.
        Largest = "largest",
    }
}

base::choices! {
    /// The bound of the window when the last gap is filled, beside ssthresh (RCC §4.3).
    pub enum FullAck {
        /// The segment that filled the gap, and one more, as in the published code.
        Segment = "segment",
        /// The data that the sender may have in the network, and one segment more: NewReno's rule (RFC 6582 §3.2 step 3).
        Flight = "flight",
    }
}

base::choices! {
    /// When an ACK may leave (RCC Alg. 2 l. 3).
    pub enum ReleaseTest {
        /// While the data in flight is below the budget.
        Below = "below",
        /// While it is not above, as printed: one grant more.
        At = "at",
    }
}

base::choices! {
    /// The time after which an ACK is sent again (RTO_r).
    pub enum Timer {
        /// It follows the receiver's estimate of the round trip (RCC §4.5).
        Adaptive = "adaptive",
        /// It is the least one, whatever the round trip (RDTCP).
        Constant = "constant",
    }
}

base::choices! {
    /// The ACKs whose data is timed.
    pub enum History {
        /// Every ACK (RCC §4.4).
        All = "all",
        /// One at a time (RDTCP).
        Single = "single",
    }
}

base::choices! {
    /// What a receiver holds back while the budget is used up.
    pub enum Withheld {
        /// ACKs, as the paper has it.
        Ack = "ack",
        /// The right edge of the window: every ACK leaves.
        Grant = "grant",
    }
}

base::settings! {
    /// Parameters of RCC.
    pub struct Params in "rcc" {
        /// Budget of data in flight towards the receiver (queue_maxsize): as many segments as full packets
        /// fit into this size, at least one; auto: what is in flight when the first mark arrives, and no
        /// bound before.
        pub max_queue: OrAuto<WireSize> = "40pkt",
        /// What waits while the budget is used up: ACKs (ack), or only what they allow (grant), as the
        /// program of the kernel does it. With "grant" every ACK leaves and its right edge stays; windows
        /// are equal, there are no priorities, no timer of the receiver and no response to marks, and
        /// other settings than rcc.max_queue, rcc.grant_idle, rcc.grant_least and rcc.sender_retransmits
        /// have no effect.
        pub hold: Withheld = "ack",
        /// With rcc.hold = "grant": what a connection may send counts as in flight until nothing of it
        /// has come for this time.
        pub grant_idle: Span = "10ms",
        /// With rcc.hold = "grant": the fewest segments that a connection is allowed at once, at most 10.
        /// Receivers that delay the ACK of a single segment need 2.
        pub grant_least: Count = "1",
        /// Which flows come first: those with the fewest bytes remaining, fixed by initial size, or off.
        pub priority: FlowPriority = "remaining",
        /// When the remainder that rounding leaves of the budget is handed out: if windows follow priorities, to the
        /// smallest flow first (priority) or to the largest first (largest); or always.
        pub surplus: Surplus = "priority",
        /// An ACK leaves while less than the budget is in flight (below), or no more (at).
        pub release: ReleaseTest = "below",
        /// How often an ACK in the buffer queue can be passed; auto: half the packets of an RTO_r.
        pub skip_max: OrAuto<u32> = "auto",
        /// Passes that a retransmitted ACK is given in advance; auto: a quarter of the packets of an RTO_r.
        pub push_bonus: OrAuto<u32> = "auto",
        /// Estimate of the marked share: a moving average, the plain ratio of the last round trip, or
        /// the average of the published code, which never decays.
        pub alpha: Alpha = "average",
        /// Duplicate ACKs merged in the buffer queue: push orders the retransmission, literal hides them.
        pub merge_dupacks: MergeDupacks = "push",
        /// Window after recovery, at most ssthresh: one segment more than the segment that filled the last gap (segment), or
        /// than what is in flight (flight).
        pub full_ack: FullAck = "segment",
        /// Whether the sender retransmits by itself; if not, only on the receiver's order.
        pub sender_retransmits: bool = "true",
        /// Whether RTO_r follows the round trip or is the least one always.
        pub timer: Timer = "adaptive",
        /// The ACKs whose data is timed: all, or one at a time.
        pub history: History = "all",
        /// Least time before the receiver sends an ACK again (RTO_r), and its first value.
        pub min_rto: Span = "10ms",
        /// Largest factor by which repeated firings lengthen RTO_r; 1 switches the back-off off.
        pub max_backoff: Count = "64",
    }
}
