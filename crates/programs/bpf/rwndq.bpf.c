// SPDX-License-Identifier: MIT OR GPL-2.0-only
// RWNDQ at a port: one window for all connections through it, moved by the distance of its queue from a
// target and written into their ACKs.
#include "apart.h"
#include "port.h"
#include "record.h"

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

// Takes the samples that are due. Most packets find none, and need no lock to see that.
INLINE void sample(struct rwndq_port *rwndq, uint64_t now, struct __sk_buff *skb) {
    uint64_t interval = rwndq->interval_ns, samples = 0;
    uint32_t backlog, call;
    // A port without flows samples nothing.
    if (interval == 0 || rwndq->state.flows == 0) return;
    if (now < rwndq->sampled_ns + interval) return;
    backlog = backlog_there(skb, now);
    bpf_spin_lock(&rwndq->lock);
    if (now > rwndq->sampled_ns) samples = (now - rwndq->sampled_ns) / interval;
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
    call = next_call();
    bpf_spin_unlock(&rwndq->lock);
    record(call, &(struct event){.kind = SAMPLES, .now = now, .backlog = backlog, .samples = samples});
}

// A connection opens or closes. It counts once, whatever is repeated, and only if it is known.
INLINE void count_flow(struct rwndq_port *rwndq, struct flow *flow, uint32_t what, uint64_t now) {
    uint32_t call, opens = what == RWNDQ_OPENS;
    if (!flow || flow->counted == opens) return;
    flow->counted = opens;
    bpf_spin_lock(&rwndq->lock);
    // What passed before the first flow does not count; samples are taken at multiples of T.
    if (rwndq->state.flows == 0 && rwndq->interval_ns)
        rwndq->sampled_ns = now - now % rwndq->interval_ns;
    rwndq_on_flow(&rwndq->params, &rwndq->state, what);
    call = next_call();
    bpf_spin_unlock(&rwndq->lock);
    record(call, &(struct event){.kind = FLOW, .now = now, .flow_case = what});
}

// Data leave by the port.
SEC("tcx/egress")
int egress(struct __sk_buff *skb) {
    struct rwndq_port *rwndq = bpf_map_lookup_elem(&port, &FIRST);
    struct segment segment;
    uint64_t now = bpf_ktime_get_coarse_ns();
    uint32_t size, call;
    if (!rwndq || !has_lease(now)) return count(PASS_LEASE);
    if (setup.apart) backlog_here(skb, now);
    if (find_segment(skb, &segment) != REASONS) return TCX_NEXT;
    // A train of segments leaves as packets of this size.
    size = skb->gso_size ? segment.end_of_options + skb->gso_size : skb->len;
    bpf_spin_lock(&rwndq->lock);
    rwndq_on_packet(&rwndq->state, size);
    call = next_call();
    bpf_spin_unlock(&rwndq->lock);
    record(call, &(struct event){.kind = DATA, .now = now, .size = size});
    if (segment.flags & TCP_SYN) learn(skb, &segment);
    return TCX_NEXT;
}

// ACKs of these data come in by the same port.
SEC("tcx/ingress")
int ingress(struct __sk_buff *skb) {
    struct rwndq_port *rwndq = bpf_map_lookup_elem(&port, &FIRST);
    struct segment segment;
    struct flow *flow;
    uint64_t now = bpf_ktime_get_ns();
    uint32_t what, call;
    uint16_t window;
    uint8_t scale;
    enum reason reason;
    if (!rwndq || !has_lease(now)) return count(PASS_LEASE);
    // Before the packet is looked at: a verifier follows these steps once, and not for each kind of packet.
    sample(rwndq, now, skb);
    reason = find_segment(skb, &segment);
    if (reason != REASONS) return count(reason);
    if (segment.flags & TCP_SYN) learn(skb, &segment);
    what = rwndq_case(segment.flags);
    flow = find_flow(&segment, &segment.way);
    if (what == RWNDQ_OPENS || what == RWNDQ_CLOSES) count_flow(rwndq, flow, what, now);
    // Windows of SYN-ACKs are never scaled, and are left as they are.
    reason = segment.flags & TCP_SYN ? PASS_FLAGS : concerns(skb, &segment, flow);
    if (reason != REASONS || !flow) return pass(skb, &segment, flow, reason);
    scale = flow->scale;
    // This reads one word of the state, so an ACK waits for no other one.
    lock_to_record(&rwndq->lock);
    window = rwndq_window(&rwndq->params, &rwndq->state, segment.window, scale);
    call = next_call();
    unlock_to_record(&rwndq->lock);
    reason = rewrite(skb, &segment, keep_edge(skb, &segment, flow, window));
    record(call, &(struct event){.kind = ACKNOWLEDGEMENT,
                                 .now = now,
                                 .advertised = segment.window,
                                 .window = window,
                                 .flags = segment.flags,
                                 .scale = scale,
                                 .verdict = reason});
    return count(reason);
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
