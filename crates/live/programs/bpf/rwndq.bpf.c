// SPDX-License-Identifier: MIT OR GPL-2.0-only
// RWNDQ at a port: one window for all connections through it, moved by the distance of its queue from a
// target and written into their ACKs.
#include "port.h"
#include "record.h"

#include "rwndq.h"

// Timers of a kernel come late by as much as an interval. So the intervals since the last packet are sampled with the
// next ones: MOST_SAMPLES with each, which a kernel can verify, and after a pause MOST_BEHIND altogether. By then the
// queue is empty anyway.
enum { MOST_SAMPLES = 8, MOST_BEHIND = 200 };

struct rwndq_port {
    struct bpf_spin_lock lock;
    // T, and the end of the last interval that was sampled.
    uint64_t interval_ns, sampled_ns;
    struct rwndq_params params;
    struct rwndq_state state;
    struct idle_params idle_params;
    struct idle_state idle_state;
    // 1: connections that the receiver of the data opens count, too.
    uint64_t counts_both;
};

struct {
    UINT(type, BPF_MAP_TYPE_ARRAY);
    UINT(max_entries, 1);
    TYPE(key, uint32_t);
    TYPE(value, struct rwndq_port);
} port SEC(".maps");

// Takes the samples that are due, when data leaves, and when an ACK passes while data waits: windows have to follow a
// queue that shrinks, even if no data comes. Otherwise ACKs do without the exact clock, which is a quarter of their cost.
// For most packets no sample is due, and that needs no lock.
INLINE void sample(struct rwndq_port *rwndq, uint64_t now, struct __sk_buff *skb) {
    uint64_t interval = rwndq->interval_ns, samples = 0;
    uint32_t backlog, call;
    // A port without flows samples nothing.
    if (interval == 0 || rwndq->state.flows == 0) return;
    if (now < rwndq->sampled_ns + interval) return;
    backlog = backlog_of(skb);
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
    RECORD(.kind = SAMPLES, .number = call, .now = now, .backlog = backlog, .samples = samples);
}

// Time before the first flow does not count; samples are taken at multiples of T. The caller holds the lock.
INLINE void open_flow(struct rwndq_port *rwndq, uint64_t now) {
    if (rwndq->state.flows == 0 && rwndq->interval_ns)
        rwndq->sampled_ns = now - now % rwndq->interval_ns;
    rwndq_on_flow(&rwndq->params, &rwndq->state, RWNDQ_OPENS);
}

// Removes the connections that have become idle. For most packets no epoch has ended, and that needs no lock.
INLINE void let_idle_go(struct rwndq_port *rwndq, uint64_t now) {
    const struct idle_params *params = &rwndq->idle_params;
    struct idle_state *state = &rwndq->idle_state;
    uint32_t idle = 0, call;
    if (!idle_is_behind(params, state, now)) return;
    bpf_spin_lock(&rwndq->lock);
    for (uint32_t i = 0; i < IDLE_EPOCHS; i++)
        if (idle_is_behind(params, state, now)) idle += idle_step(params, state, now);
    if (idle) {
        uint32_t flows = rwndq->state.flows;
        rwndq_share(&rwndq->params, &rwndq->state, idle < flows ? flows - idle : 0);
    }
    call = next_call();
    bpf_spin_unlock(&rwndq->lock);
    RECORD(.kind = IDLE, .number = call, .now = now, .samples = idle);
}

// Data of a connection was acknowledged: if it was idle, it counts again.
INLINE void note_life(struct rwndq_port *rwndq, struct flow *flow, uint32_t ack) {
    uint32_t call, counts;
    uint64_t now;
    if (rwndq->idle_params.epoch_ns == 0 || !idle_on_ack(&rwndq->idle_state, &flow->life, ack)) return;
    now = bpf_ktime_get_ns();
    bpf_spin_lock(&rwndq->lock);
    counts = idle_on_life(&rwndq->idle_state, &flow->life);
    if (counts) open_flow(rwndq, now);
    call = next_call();
    bpf_spin_unlock(&rwndq->lock);
    RECORD(.kind = FLOW, .number = call, .now = now, .flow_case = counts ? RWNDQ_OPENS : 0);
}

// A connection opens or closes. It counts once, even if packets are repeated, and only if it is known.
INLINE void count_flow(struct rwndq_port *rwndq, struct flow *flow, uint32_t what, uint32_t ack) {
    uint32_t call, changes, opens = what == RWNDQ_OPENS;
    uint64_t now;
    if (!flow || flow->life.is_open == opens) return;
    now = bpf_ktime_get_ns();
    bpf_spin_lock(&rwndq->lock);
    if (opens) {
        changes = idle_on_open(&rwndq->idle_state, &flow->life, ack);
        if (changes) open_flow(rwndq, now);
    } else {
        changes = idle_on_close(&rwndq->idle_state, &flow->life);
        if (changes) rwndq_on_flow(&rwndq->params, &rwndq->state, what);
    }
    call = next_call();
    bpf_spin_unlock(&rwndq->lock);
    RECORD(.kind = FLOW, .number = call, .now = now, .flow_case = changes ? what : 0);
}

// A receiver of data has opened the connection: its SYN has come in, and the SYN-ACK leaves as the data will.
INLINE void count_answer(struct rwndq_port *rwndq, const struct segment *segment) {
    struct way back = way_back(segment);
    if (rwndq->counts_both && rwndq_case(segment->flags) == RWNDQ_OPENS)
        count_flow(rwndq, find_flow(segment, &back), RWNDQ_OPENS, segment->seq + 1);
}

// Data leave by the port.
SEC("tcx/egress")
int egress(struct __sk_buff *skb) {
    struct rwndq_port *rwndq = bpf_map_lookup_elem(&port, &FIRST);
    struct segment segment;
    uint64_t now = bpf_ktime_get_ns();
    uint32_t size, call;
    if (!rwndq || !has_lease(now)) return count(PASS_LEASE);
    // Before the packet is examined: a verifier then follows this step once, and not for each kind of packet.
    sample(rwndq, now, skb);
    if (find_segment(skb, &segment) != REASONS) return TCX_NEXT;
    // A train of segments leaves as packets of this size.
    size = skb->gso_size ? segment.end_of_options + skb->gso_size : skb->len;
    // Most packets are no larger than the largest one so far, and that needs no lock.
    if (setup.records || size > rwndq->state.max_size_bytes) {
        bpf_spin_lock(&rwndq->lock);
        rwndq_on_packet(&rwndq->state, size);
        call = next_call();
        bpf_spin_unlock(&rwndq->lock);
        RECORD(.kind = DATA, .number = call, .now = now, .size = size);
    }
    if (segment.flags & TCP_SYN) {
        learn(skb, &segment);
        count_answer(rwndq, &segment);
    }
    return TCX_NEXT;
}

// ACKs of these data come in by the same port.
SEC("tcx/ingress")
int ingress(struct __sk_buff *skb) {
    struct rwndq_port *rwndq = bpf_map_lookup_elem(&port, &FIRST);
    struct segment segment;
    struct flow *flow;
    uint64_t now = bpf_ktime_get_coarse_ns();
    uint32_t what, call;
    uint16_t window;
    uint8_t scale;
    enum reason reason;
    if (!rwndq || !has_lease(now)) return count(PASS_LEASE);
    // Before the packet is examined, as above.
    if (backlog_of(skb)) sample(rwndq, bpf_ktime_get_ns(), skb);
    let_idle_go(rwndq, now);
    reason = find_segment(skb, &segment);
    if (reason != REASONS) return count(reason);
    if (segment.flags & TCP_SYN) learn(skb, &segment);
    what = rwndq_case(segment.flags);
    flow = find_flow(&segment, &segment.way);
    if (what == RWNDQ_ACKNOWLEDGES && flow) note_life(rwndq, flow, segment.ack);
    if (what == RWNDQ_OPENS || what == RWNDQ_CLOSES)
        count_flow(rwndq, flow, what, segment.ack);
    // Windows of SYN-ACKs are never scaled, and are not changed.
    reason = segment.flags & TCP_SYN ? PASS_FLAGS : concerns(skb, &segment, flow);
    if (reason != REASONS || !flow) return pass(&segment, flow, reason);
    scale = flow->scale;
    // This reads one word of the state, so an ACK waits for no other one.
    lock_to_record(&rwndq->lock);
    window = rwndq_window(&rwndq->params, &rwndq->state, segment.window, scale);
    call = next_call();
    unlock_to_record(&rwndq->lock);
    reason = rewrite(skb, &segment, keep_edge(&segment, flow, window));
    RECORD(.kind = ACKNOWLEDGEMENT, .number = call, .now = now, .advertised = segment.window,
           .window = window, .flags = segment.flags, .scale = scale, .verdict = reason,
           .connection = number_of(&flow->number));
    return count(reason);
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
