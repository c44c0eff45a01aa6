// SPDX-License-Identifier: MIT OR GPL-2.0-only
// Congestion marks at a port: a capable packet is marked if at least a threshold of bytes waits when it arrives (DCTCP
// 3.1).
#include "port.h"
#include "record.h"

#include "mark.h"

struct {
    UINT(type, BPF_MAP_TYPE_ARRAY);
    UINT(max_entries, 1);
    TYPE(key, uint32_t);
    TYPE(value, struct mark_params);
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
    struct mark_params *mark = bpf_map_lookup_elem(&port, &FIRST);
    uint64_t now = bpf_ktime_get_coarse_ns();
    uint32_t backlog, marks;
    enum reason reason = PASS_LAW;
    if (!mark || !has_lease(now)) return count(PASS_LEASE);
    backlog = backlog_of(skb);
    marks = mark_marks(mark, backlog);
    if (marks && setup.shadow) reason = is_capable(skb) ? SHADOWED : PASS_LAW;
    // The kernel marks only what is capable, of IPv4 and IPv6.
    else if (marks) reason = bpf_skb_ecn_set_ce(skb) ? MARKED : PASS_LAW;
    RECORD(.kind = CAPABLE, .number = next_call_of_many(), .now = now, .backlog = backlog,
           .window = (uint16_t)marks, .flags = is_capable(skb) != 0, .verdict = reason);
    return count(reason);
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
