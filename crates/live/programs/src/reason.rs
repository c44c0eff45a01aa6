//! What became of packets.

base::names! {
    /// What became of a packet, as programs count it: `enum reason` of `bpf/packet.h`.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    #[expect(missing_docs, reason = "described by `Reason::name`")]
    pub enum Reason {
        NoLease = "the lease was over",
        Short = "a header was cut off",
        OtherLink = "neither IPv4 nor IPv6 behind at most one VLAN tag",
        Fragment = "a fragment",
        Extension = "options of IPv4, or a header of IPv6 before TCP",
        Other = "not TCP",
        Unknown = "a connection that began before the program was there",
        Options = "a signed header, or MPTCP",
        Closed = "a window of zero",
        Flags = "no ACK, or one that opens or ends a connection",
        Law = "the law left it as it was",
        Rewritten = "its window was lowered",
        Marked = "it was marked",
        Failed = "the kernel refused to change it",
        Told = "a copy of ours, which tells a sender what it may send",
        Shadowed = "the law would have changed it, and only looks on",
    }
}
