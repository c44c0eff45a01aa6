// SPDX-License-Identifier: MIT OR GPL-2.0-only
// HSCC at a port. Two thresholds of its queue switch it on and off. While it is on, ACKs of data that passes the port
// leave with the window of the law.
#include "apart.h"
#include "port.h"
#include "record.h"

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

// The length of the queue has changed. Most lengths do not change the law's state, which is seen without a lock.
INLINE void set_level(struct hscc_port *hscc, uint32_t backlog, uint64_t now) {
    struct hscc_state before = hscc->state, after = before;
    uint32_t call;
    hscc_on_level(&hscc->params, &after, backlog);
    if (after.is_on == before.is_on && !setup.records) return;
    bpf_spin_lock(&hscc->lock);
    hscc_on_level(&hscc->params, &hscc->state, backlog);
    call = next_call();
    bpf_spin_unlock(&hscc->lock);
    RECORD(.kind = LEVEL, .number = call, .now = now, .backlog = backlog);
}

// Data leave by the port.
SEC("tcx/egress")
int egress(struct __sk_buff *skb) {
    struct hscc_port *hscc = bpf_map_lookup_elem(&port, &FIRST);
    struct segment segment;
    uint64_t now = bpf_ktime_get_coarse_ns();
    if (!hscc || !has_lease(now)) return count(PASS_LEASE);
    set_level(hscc, backlog_here(skb, now), now);
    if (find_segment(skb, &segment) == REASONS && segment.flags & TCP_SYN) learn(skb, &segment);
    return TCX_NEXT;
}

// ACKs of these data come in by the same port.
SEC("tcx/ingress")
int ingress(struct __sk_buff *skb) {
    struct hscc_port *hscc = bpf_map_lookup_elem(&port, &FIRST);
    struct segment segment;
    struct flow *flow;
    uint64_t now = bpf_ktime_get_coarse_ns();
    uint32_t backlog, call;
    uint16_t window;
    uint8_t scale;
    enum reason reason;
    if (!hscc || !has_lease(now)) return count(PASS_LEASE);
    backlog = backlog_there(skb, now);
    // Before the packet is examined: a verifier then follows these steps once, and not for each kind of packet.
    if (!setup.records) set_level(hscc, backlog, now);
    reason = find_segment(skb, &segment);
    if (reason != REASONS) {
        if (setup.records) set_level(hscc, backlog, now);
        return count(reason);
    }
    if (segment.flags & TCP_SYN) learn(skb, &segment);
    flow = find_flow(&segment, &segment.way);
    reason = concerns(skb, &segment, flow);
    if (reason != REASONS || !flow) {
        if (setup.records) set_level(hscc, backlog, now);
        return pass(&segment, flow, reason);
    }
    scale = flow->scale;
    // This reads one word of the state, so an ACK waits for no other one.
    lock_to_record(&hscc->lock);
    // One call with both: two records would cost an ACK a fifth of its time.
    if (setup.records) hscc_on_level(&hscc->params, &hscc->state, backlog);
    window = hscc_window(&hscc->params, &hscc->state, segment.flags, segment.window, scale);
    call = next_call();
    unlock_to_record(&hscc->lock);
    reason = rewrite(skb, &segment, keep_edge(&segment, flow, window));
    RECORD(.kind = ACKNOWLEDGEMENT, .number = call, .now = now, .backlog = backlog,
           .advertised = segment.window, .window = window, .flags = segment.flags, .scale = scale,
           .verdict = reason, .connection = number_of(&flow->number));
    return count(reason);
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
