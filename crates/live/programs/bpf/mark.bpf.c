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

SEC("tcx/egress")
int egress(struct __sk_buff *skb) {
    struct mark_port *mark = bpf_map_lookup_elem(&port, &FIRST);
    if (!mark || !has_lease(bpf_ktime_get_coarse_ns())) return count(PASS_LEASE);
    if (backlog_of(skb) < mark->from_bytes) return count(PASS_LAW);
    // The kernel marks only what is capable, of IPv4 and IPv6.
    return count(bpf_skb_ecn_set_ce(skb) ? MARKED : PASS_LAW);
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
