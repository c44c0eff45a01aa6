//! Whose Swift it is, and its constants.

use base::{Count, Factor, Fraction, OrAuto, Span};

base::choices! {
    /// Whose Swift it is.
    pub enum Variant {
        /// The description of the paper.
        Paper = "paper",
        /// The code of csg-htsim.
        Htsim = "htsim",
    }
}

base::settings! {
    /// Parameters of Swift.
    pub struct Params in "swift" {
        /// Whose Swift it is: "paper", or "htsim" as in Broadcom's csg-htsim, where the target sees whole packets of the window, a window of less than a packet waits from the last ACK on, and a loss cuts the window when it is repaired.
        pub variant: Variant = "paper",
        /// Target of the delay without switches and with a large window; "auto" is 25 us, but a quarter more than the round trip of a full packet in the empty network where that is longer.
        pub base_target: OrAuto<Span> = "auto",
        /// Time that every switch on the way adds to the target; "auto" is swift.base_target divided by 6.55.
        pub hop_target: OrAuto<Span> = "auto",
        /// The most that a small window adds to the target; "auto" is five times swift.base_target.
        pub range: OrAuto<Span> = "auto",
        /// Window in packets from which on the target has all of swift.range (fs_min_cwnd).
        pub scaled_from: Factor = "0.1",
        /// Window in packets from which on the target has nothing of swift.range (fs_max_cwnd).
        pub scaled_to: Factor = "100",
        /// Packets that the window grows by per round trip (ai); by each ACK where it is less than a packet.
        pub increase: Factor = "1",
        /// How strongly the window answers a delay beyond the target (beta).
        pub beta: Fraction = "0.8",
        /// The largest share of the window that one cut takes (max_mdf); losses take as much.
        pub most_decrease: Fraction = "0.5",
        /// Least window, in packets.
        pub min_window: Factor = "0.001",
        /// Timeouts in a row after which the window is swift.min_window.
        pub timeouts: Count = "4",
    }
}
