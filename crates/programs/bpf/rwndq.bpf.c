// SPDX-License-Identifier: MIT OR GPL-2.0-only
// RWNDQ at a port: one window for all connections through it, moved by the distance of its queue from a
// target and written into their ACKs.
#include "port.h"

#include "rwndq.h"

// Timers of a kernel come late by as much as an interval is long, so what has passed since the last packet is
// made up for with the next ones: so many samples with each, which a kernel can verify, and after a pause so many
// altogether. By then the queue is empty anyway.
enum { MOST_SAMPLES = 8, MOST_BEHIND = 200 };

struct rwndq_port {
    struct bpf_spin_lock lock;
    // T, and the end of the last one that was sampled.
    uint64_t interval_ns, sampled_ns;
    struct rwndq_params params;
    struct rwndq_state state;
};

struct {
    UINT(type, BPF_MAP_TYPE_ARRAY);
    UINT(max_entries, 1);
    TYPE(key, uint32_t);
    TYPE(value, struct rwndq_port);
} port SEC(".maps");

INLINE void sample(struct rwndq_port *rwndq, uint64_t now, uint32_t backlog) {
    uint64_t interval = rwndq->interval_ns, samples;
    if (interval == 0 || now < rwndq->sampled_ns) return;
    samples = (now - rwndq->sampled_ns) / interval;
    if (samples > MOST_BEHIND) {
        samples = MOST_BEHIND;
        rwndq->sampled_ns = now - MOST_BEHIND * interval;
    }
    if (samples > MOST_SAMPLES) samples = MOST_SAMPLES;
    rwndq->sampled_ns += samples * interval;
    for (uint32_t i = 0; i < MOST_SAMPLES; i++) {
        if (i >= samples) break;
        rwndq_on_sample(&rwndq->params, &rwndq->state, backlog);
    }
}

// Data leave by the port.
SEC("tcx/egress")
int egress(struct __sk_buff *skb) {
    struct rwndq_port *rwndq = bpf_map_lookup_elem(&port, &FIRST);
    struct segment segment;
    enum reason reason;
    uint32_t size;
    if (!rwndq || !has_lease()) return count(PASS_LEASE);
    reason = find_segment(skb, &segment);
    if (reason != REASONS) return TCX_NEXT;
    // A train of segments leaves as packets of this size.
    size = skb->gso_size ? segment.end_of_options + skb->gso_size : skb->len;
    bpf_spin_lock(&rwndq->lock);
    rwndq_on_packet(&rwndq->state, size);
    bpf_spin_unlock(&rwndq->lock);
    if (segment.flags & TCP_SYN) learn(skb, &segment);
    return TCX_NEXT;
}

// ACKs of these data come in by the same port.
SEC("tcx/ingress")
int ingress(struct __sk_buff *skb) {
    struct rwndq_port *rwndq = bpf_map_lookup_elem(&port, &FIRST);
    struct segment segment;
    struct flow *flow;
    uint64_t now;
    uint32_t backlog, what;
    uint16_t window;
    enum reason reason;
    if (!rwndq || !has_lease()) return count(PASS_LEASE);
    reason = find_segment(skb, &segment);
    if (reason != REASONS) return count(reason);
    if (segment.flags & TCP_SYN) learn(skb, &segment);
    what = rwndq_case(segment.flags);
    flow = bpf_map_lookup_elem(&flows, &segment.way);
    // A connection counts once, whatever is repeated.
    if (what == RWNDQ_OPENS && (!flow || flow->counted)) what = RWNDQ_NOTHING;
    if (what == RWNDQ_CLOSES && (!flow || !flow->counted)) what = RWNDQ_NOTHING;
    now = bpf_ktime_get_ns();
    backlog = backlog_of(skb);
    bpf_spin_lock(&rwndq->lock);
    sample(rwndq, now, backlog);
    if (what == RWNDQ_OPENS || what == RWNDQ_CLOSES)
        rwndq_on_flow(&rwndq->params, &rwndq->state, what);
    window = rwndq_window(&rwndq->params, &rwndq->state, segment.window, flow ? flow->scale : 0);
    bpf_spin_unlock(&rwndq->lock);
    if (flow && (what == RWNDQ_OPENS || what == RWNDQ_CLOSES)) flow->counted = what == RWNDQ_OPENS;
    // Windows of SYN-ACKs are never scaled, and are left as they are.
    if (segment.flags & TCP_SYN) return count(PASS_FLAGS);
    reason = concerns(skb, &segment, &flow);
    if (reason != REASONS) return count(reason);
    return rewrite(skb, &segment, window);
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
