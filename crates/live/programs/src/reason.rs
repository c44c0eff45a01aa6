//! The fates of packets.

/// The fate of a packet, as programs count it: `enum reason` of `bpf/packet.h`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "described by `Reason::says`")]
pub enum Reason {
    NoLease,
    Short,
    OtherLink,
    Fragment,
    Extension,
    Other,
    Unknown,
    Options,
    Closed,
    Flags,
    Law,
    Rewritten,
    Marked,
    Failed,
    Told,
    Shadowed,
}

impl Reason {
    /// All, in the order of their counters.
    pub const ALL: [Self; 16] = [
        Self::NoLease,
        Self::Short,
        Self::OtherLink,
        Self::Fragment,
        Self::Extension,
        Self::Other,
        Self::Unknown,
        Self::Options,
        Self::Closed,
        Self::Flags,
        Self::Law,
        Self::Rewritten,
        Self::Marked,
        Self::Failed,
        Self::Told,
        Self::Shadowed,
    ];

    /// Its meaning.
    pub const fn says(self) -> &'static str {
        match self {
            Self::NoLease => "the lease was over",
            Self::Short => "a header was cut off",
            Self::OtherLink => "neither IPv4 nor IPv6, or more than one VLAN tag",
            Self::Fragment => "a fragment",
            Self::Extension => "options of IPv4, or a header of IPv6 before TCP",
            Self::Other => "not TCP",
            Self::Unknown => "a connection that began before the program was attached",
            Self::Options => "a signed header, or MPTCP",
            Self::Closed => "a window of zero",
            Self::Flags => "no ACK, or a segment that opens or ends a connection",
            Self::Law => "the law did not change it",
            Self::Rewritten => "its window was lowered",
            Self::Marked => "it was marked",
            Self::Failed => "the kernel refused to change it",
            Self::Told => "a copy that tells a sender its new window",
            Self::Shadowed => "the law would have changed it, but runs in the shadow",
        }
    }
}
