// SPDX-License-Identifier: MIT OR GPL-2.0-only
// The mean of a queue over time, without a law. Between two packets that join it, a queue falls about evenly. So its
// mean in between is that of the lengths after the first packet and before the second one.
#include "port.h"

struct queue_port {
    struct bpf_spin_lock lock;
    // The length of the queue after the last packet that joined.
    uint32_t last_bytes;
    uint64_t last_ns;
    // The time that is covered; twice the sum of bytes times ns.
    uint64_t time_ns, area;
};

struct {
    UINT(type, BPF_MAP_TYPE_ARRAY);
    UINT(max_entries, 1);
    TYPE(key, uint32_t);
    TYPE(value, struct queue_port);
} port SEC(".maps");

SEC("tcx/egress")
int egress(struct __sk_buff *skb) {
    struct queue_port *queue = bpf_map_lookup_elem(&port, &FIRST);
    uint64_t now = bpf_ktime_get_ns(), passed;
    uint32_t backlog;
    if (!queue || !has_lease(now)) return count(PASS_LEASE);
    backlog = backlog_of(skb);
    bpf_spin_lock(&queue->lock);
    if (queue->last_ns && now > queue->last_ns) {
        passed = now - queue->last_ns;
        queue->time_ns += passed;
        queue->area += passed * ((uint64_t)queue->last_bytes + backlog);
    }
    queue->last_ns = now;
    queue->last_bytes = backlog + skb->len;
    bpf_spin_unlock(&queue->lock);
    return count(PASS_LAW);
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
