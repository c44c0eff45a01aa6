// SPDX-License-Identifier: MIT OR GPL-2.0-only
// Congestion marks at a port: a capable packet that finds at least so much waiting is marked (DCTCP 3.1).
#include "port.h"

struct mark_port {
    // Bytes that wait, the arriving packet not among them.
    uint64_t from_bytes;
};

struct {
    UINT(type, BPF_MAP_TYPE_ARRAY);
    UINT(max_entries, 1);
    TYPE(key, uint32_t);
    TYPE(value, struct mark_port);
} port SEC(".maps");

// Whether a packet may carry a mark (RFC 3168 5, RFC 8200 3), as the kernel finds when it sets one.
INLINE int is_capable(struct __sk_buff *skb) {
    uint8_t bytes[2];
    if (bpf_skb_load_bytes(skb, ETHERNET, bytes, sizeof bytes)) return 0;
    if (skb->protocol == big16(0x0800)) return bytes[1] & 3;
    return skb->protocol == big16(0x86dd) && bytes[1] >> 4 & 3;
}

SEC("tcx/egress")
int egress(struct __sk_buff *skb) {
    struct mark_port *mark = bpf_map_lookup_elem(&port, &FIRST);
    if (!mark || !has_lease(bpf_ktime_get_coarse_ns())) return count(PASS_LEASE);
    if (backlog_of(skb) < mark->from_bytes) return count(PASS_LAW);
    if (setup.shadow) return count(is_capable(skb) ? SHADOWED : PASS_LAW);
    // The kernel marks only what is capable, of IPv4 and IPv6.
    return count(bpf_skb_ecn_set_ce(skb) ? MARKED : PASS_LAW);
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
