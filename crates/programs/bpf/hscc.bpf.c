// SPDX-License-Identifier: MIT OR GPL-2.0-only
// HSCC at a port: two thresholds of its queue switch it on and off; while it is on, ACKs of the data that
// it carries leave with the window of the law.
#include "port.h"

#include "hscc.h"

struct hscc_port {
    struct bpf_spin_lock lock;
    struct hscc_params params;
    struct hscc_state state;
};

struct {
    UINT(type, BPF_MAP_TYPE_ARRAY);
    UINT(max_entries, 1);
    TYPE(key, uint32_t);
    TYPE(value, struct hscc_port);
} port SEC(".maps");

// Data leave by the port: the queue has another length.
SEC("tcx/egress")
int egress(struct __sk_buff *skb) {
    struct hscc_port *hscc = bpf_map_lookup_elem(&port, &FIRST);
    struct segment segment;
    uint32_t backlog;
    enum reason reason;
    if (!hscc || !has_lease()) return count(PASS_LEASE);
    backlog = backlog_of(skb);
    bpf_spin_lock(&hscc->lock);
    hscc_on_level(&hscc->params, &hscc->state, backlog);
    bpf_spin_unlock(&hscc->lock);
    reason = find_segment(skb, &segment);
    if (reason == REASONS && segment.flags & TCP_SYN) learn(skb, &segment);
    return TCX_NEXT;
}

// ACKs of these data come in by the same port.
SEC("tcx/ingress")
int ingress(struct __sk_buff *skb) {
    struct hscc_port *hscc = bpf_map_lookup_elem(&port, &FIRST);
    struct segment segment;
    struct flow *flow = 0;
    uint32_t backlog;
    uint16_t window;
    enum reason reason;
    if (!hscc || !has_lease()) return count(PASS_LEASE);
    reason = find_segment(skb, &segment);
    if (reason != REASONS) return count(reason);
    if (segment.flags & TCP_SYN) learn(skb, &segment);
    reason = concerns(skb, &segment, &flow);
    if (reason != REASONS || !flow) return count(reason);
    backlog = backlog_of(skb);
    bpf_spin_lock(&hscc->lock);
    hscc_on_level(&hscc->params, &hscc->state, backlog);
    window = hscc_window(&hscc->params, &hscc->state, segment.flags, segment.window, flow->scale);
    bpf_spin_unlock(&hscc->lock);
    return rewrite(skb, &segment, window);
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
