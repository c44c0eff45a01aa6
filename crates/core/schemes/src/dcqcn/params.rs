//! Whose DCQCN it is, and its constants.

use base::{Count, Fraction, OrAuto, Rate, Span, WireSize};

base::choices! {
    /// Whose DCQCN it is.
    pub enum Variant {
        /// The description of the paper.
        Paper = "paper",
        /// The code of HPCC's public simulator.
        Hpcc = "hpcc",
    }
}

base::settings! {
    /// Parameters of DCQCN.
    pub struct Params in "dcqcn" {
        /// Whose DCQCN it is: "paper", or "hpcc" as in the public simulator of HPCC, where ACKs carry the notices, cuts follow each other after dcqcn.cut_interval, and only the timer raises the rate.
        pub variant: Variant = "paper",
        /// Weight of the newest observation in the share of time with notices (g).
        pub g: Fraction = "0.00390625",
        /// Least time between two notices of a receiver to the same sender; ignored by "hpcc".
        pub cnp_interval: Span = "50us",
        /// Time without a notice after which alpha becomes smaller; under "hpcc" alpha moves after each such time.
        pub alpha_timer: Span = "55us",
        /// Time after which the rate grows, again and again until the next cut; "auto" is 55 us, and 1500 us under "hpcc".
        pub timer: OrAuto<Span> = "auto",
        /// Bytes on the wire after which the rate grows, again and again until the next cut; "auto" is 10 MB. Ignored by "hpcc".
        pub byte_counter: OrAuto<WireSize> = "auto",
        /// How often timer and counter take the rate half of the way back to its target before the target grows (F).
        pub fast_recovery: Count = "5",
        /// Growth of the target at each expiry after that.
        pub additive_increase: Rate = "40Mbps",
        /// Growth of the target once both timer and counter have expired more than dcqcn.fast_recovery times; under "hpcc" from the second growth on.
        pub hyper_increase: Rate = "200Mbps",
        /// Least rate of a sender; "auto" is 1 Mbit/s, and 100 Mbit/s under "hpcc".
        pub min_rate: OrAuto<Rate> = "auto",
        /// Least time between two cuts under "hpcc"; the paper's receiver bounds them by dcqcn.cnp_interval.
        pub cut_interval: Span = "4us",
    }
}
