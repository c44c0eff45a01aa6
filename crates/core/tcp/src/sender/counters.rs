//! Counters of a sender.

/// Counts of a sender's segments, timeouts and repairs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SenderCounters {
    /// Data segments sent, retransmissions included.
    pub segments: u64,
    /// Data segments sent again.
    pub retransmissions: u64,
    /// Of these, those that no fast recovery sent: what timeouts repaired, needlessly or not.
    pub after_timeout: u64,
    /// Expiries of the retransmission timer with data or a FIN outstanding.
    pub timeouts: u64,
    /// Of these, those that found everything written sent and at most the last three segments of it
    /// unacknowledged: a loss there brings too few duplicate ACKs to be seen without the timer.
    pub tail_timeouts: u64,
    /// Expiries of the timer of a SYN or SYN-ACK.
    pub syn_timeouts: u64,
    /// Fast recoveries entered.
    pub fast_recoveries: u64,
    /// Probes of a closed window.
    pub probes: u64,
    /// Probes of the tail of a flight (RFC 8985 §7).
    pub tail_probes: u64,
    /// Reductions of the window that were taken back as needless.
    pub undone: u64,
    /// Data segments handed over at low priorities, which are not among `segments`.
    pub low_priority: u64,
}
