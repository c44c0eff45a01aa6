//! What a user may set.

use base::{Count, OrAuto, Size, Span};

base::choices! {
    /// Which flows come first (RCC Alg. 1 l. 3, RDTCP "fixed flow priority").
    pub enum Priority {
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

base::settings! {
    /// Parameters of RCC.
    pub struct Params in "rcc" {
        /// Budget of data in flight towards the receiver (queue_maxsize).
        pub max_queue: Size = "40pkt",
        /// Which flows come first: those with the fewest bytes remaining, fixed by initial size, or off.
        pub priority: Priority = "remaining",
        /// How often an ACK in the buffer queue can be passed; auto: half the packets of an RTO_r.
        pub skip_max: OrAuto<u32> = "auto",
        /// Passes that a retransmitted ACK is given in advance; auto: a quarter of the packets of an RTO_r.
        pub push_bonus: OrAuto<u32> = "auto",
        /// Estimate of the marked share: a moving average, or the plain ratio of the last round trip.
        pub alpha: Alpha = "average",
        /// Duplicate ACKs merged in the buffer queue: push orders the retransmission, literal hides them.
        pub merge_dupacks: MergeDupacks = "push",
        /// Least time before the receiver sends an ACK again (RTO_r), and its first value.
        pub min_rto: Span = "10ms",
        /// Largest factor by which repeated firings lengthen RTO_r; 1 switches the back-off off.
        pub max_backoff: Count = "64",
    }
}
