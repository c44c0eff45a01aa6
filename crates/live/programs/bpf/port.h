// SPDX-License-Identifier: MIT OR GPL-2.0-only
// The common parts of all programs at a switch port, apart from the law: the lease, the counters, the connections whose
// scales were seen, and the change of a window.
#ifndef TAILWATER_PORT_H
#define TAILWATER_PORT_H

#include "kernel.h"
#include "idle.h"
#include "packet.h"
#include "setup.h"

// If the first value is above zero, the program acts until then, in ns since the start of the machine without sleep.
// The loader renews this; otherwise the program lets everything pass: a dead man's switch. This is the only clock with
// a coarse variant, which costs a fifth and is exact to some ms.
struct {
    UINT(type, BPF_MAP_TYPE_ARRAY);
    UINT(max_entries, 1);
    TYPE(key, uint32_t);
    TYPE(value, uint64_t);
} lease SEC(".maps");

// The number of packets, by `enum reason`.
struct {
    UINT(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    UINT(max_entries, REASONS);
    TYPE(key, uint32_t);
    TYPE(value, uint64_t);
} counters SEC(".maps");

// One direction of a connection.
struct flow {
    // The scale that its SYN offered, `NO_SCALE` if none.
    uint8_t offered;
    // The scale of its windows, once both SYNs were seen.
    uint8_t scale;
    // 1: both SYNs were seen.
    uint8_t known;
    // 1: MD5, AO or MPTCP.
    uint8_t foreign;
    // 1: `edge` is known: the furthest sequence number that an ACK granted, where the loader asks for it.
    uint8_t has_edge;
    uint32_t edge;
    // The number of the connection, if calls are recorded.
    uint32_t number;
    // Used for the connection whose ACKs go in this direction, if the law counts connections.
    struct idle_flow life;
};

// Directions whose SYNs were seen, of IPv4 and of IPv6. The one that was quiet for longest is evicted first. Keys are
// as short as possible: hashing them is most of the cost of an ACK.
struct {
    UINT(type, BPF_MAP_TYPE_LRU_HASH);
    UINT(max_entries, 65536);
    TYPE(key, struct way4);
    TYPE(value, struct flow);
} flows SEC(".maps");

struct {
    UINT(type, BPF_MAP_TYPE_LRU_HASH);
    UINT(max_entries, 65536);
    TYPE(key, struct way);
    TYPE(value, struct flow);
} flows6 SEC(".maps");

static const uint32_t FIRST = 0;
// Half of all sequence numbers.
#define HALF (1U << 31)

INLINE int count(uint32_t reason) {
    uint64_t *counter = bpf_map_lookup_elem(&counters, &reason);
    if (counter) *counter += 1;
    return TCX_NEXT;
}

// Whether the program acts at `now`.
INLINE int has_lease(uint64_t now) {
    uint64_t *until = bpf_map_lookup_elem(&lease, &FIRST);
    return until && now <= *until;
}

// The headers of a packet, which are made readable first. Returns REASONS if it is TCP.
INLINE enum reason find_segment(struct __sk_buff *skb, struct segment *segment) {
    enum reason reason = parse((void *)(uint64_t)skb->data, (void *)(uint64_t)skb->data_end, segment);
    if (reason != PASS_SHORT) return reason;
    // The rest may be in pages that are not yet readable.
    if (bpf_skb_pull_data(skb, skb->len < HEADERS ? skb->len : HEADERS)) return PASS_SHORT;
    return parse((void *)(uint64_t)skb->data, (void *)(uint64_t)skb->data_end, segment);
}

// The options of a segment. Returns 0 if they are cut off or make no sense.
INLINE int read_options(struct __sk_buff *skb, const struct segment *segment,
                        struct options *options) {
    uint32_t length = segment->end_of_options - segment->options;
    __builtin_memset(options, 0, sizeof *options);
    options->scale = NO_SCALE;
    if (length == 0) return 1;
    if (length > MOST_OPTIONS) return 0;
    if (bpf_skb_load_bytes(skb, segment->options, options->bytes, length)) return 0;
    options->length = length;
    bpf_loop(MOST_OPTIONS, next_option, options, 0);
    return !options->broken;
}

// The entry for the direction of a segment, or for the opposite direction.
INLINE struct flow *find_flow(const struct segment *segment, const struct way *way) {
    if (segment->is_v6) return bpf_map_lookup_elem(&flows6, way);
    return bpf_map_lookup_elem(&flows, way);
}

INLINE struct way way_back(const struct segment *segment) {
    const struct way *way = &segment->way;
    struct way back = {.ports = way->ports << 16 | way->ports >> 16};
    uint32_t words = segment->is_v6 ? 4 : 1;
    for (uint32_t word = 0; word < 4; word++) {
        if (word == words) break;
        back.addresses[word] = way->addresses[words + word];
        back.addresses[words + word] = way->addresses[word];
    }
    return back;
}

// A SYN offers the scale of its sender's windows, which holds if the other side agrees (RFC 7323 2.2).
INLINE void learn(struct __sk_buff *skb, const struct segment *segment) {
    struct options options;
    struct flow own = {.offered = NO_SCALE};
    struct way back = way_back(segment);
    struct flow *other, *former;
    if (!read_options(skb, segment, &options)) return;
    own.offered = options.scale;
    own.foreign = options.foreign;
    former = find_flow(segment, &segment->way);
    // A SYN may be repeated.
    if (former) own.life = former->life;
    if (segment->flags & TCP_ACK) {
        other = find_flow(segment, &back);
        // A SYN-ACK has the option only where the SYN had it, seen or not.
        int both = own.offered != NO_SCALE && (!other || other->offered != NO_SCALE);
        own.known = 1;
        own.scale = both ? own.offered : 0;
        if (other) {
            other->known = 1;
            other->scale = both ? other->offered : 0;
            own.foreign |= other->foreign;
            other->foreign |= own.foreign;
        }
    }
    if (segment->is_v6) bpf_map_update_elem(&flows6, &segment->way, &own, BPF_ANY);
    else bpf_map_update_elem(&flows, &segment->way, &own, BPF_ANY);
}

// Whether the window of a segment may be changed: REASONS, or why not. `flow` is that of its direction, if it is
// known.
INLINE enum reason concerns(struct __sk_buff *skb, const struct segment *segment,
                            const struct flow *flow) {
    struct options options;
    if ((segment->flags & (TCP_ACK | TCP_RST | TCP_FIN)) != TCP_ACK) return PASS_FLAGS;
    if (segment->window == 0) return PASS_CLOSED;
    if (!flow || !flow->known) return PASS_UNKNOWN;
    if (flow->foreign) return PASS_OPTIONS;
    if (segment->plain) return REASONS;
    if (!read_options(skb, segment, &options)) return PASS_SHORT;
    return options.foreign ? PASS_OPTIONS : REASONS;
}

// The window for an ACK that may get `window`. It is larger if the right edge of its connection would otherwise move
// back (RFC 9293 3.8.6), though never more than the ACK carries. Sequence numbers wrap: a number is ahead if it is less
// than half of them away.
INLINE uint16_t keep_edge(const struct segment *segment, struct flow *flow, uint16_t window) {
    uint8_t scale = segment->flags & TCP_SYN ? 0 : flow->scale & 15;
    uint32_t ack = segment->ack, ahead = flow->edge - ack, units, edge;
    if (!setup.no_retract || !(segment->flags & TCP_ACK)) return window;
    if (flow->has_edge && ahead < HALF) {
        units = (ahead + (1U << scale) - 1) >> scale;
        if (units > window) window = units < segment->window ? (uint16_t)units : segment->window;
    }
    edge = ack + ((uint32_t)window << scale);
    if (flow->has_edge && edge - flow->edge >= HALF) return window;
    flow->edge = edge;
    flow->has_edge = 1;
    return window;
}

// Lets an ACK pass unchanged. Its edge counts nevertheless.
INLINE int pass(const struct segment *segment, struct flow *flow, enum reason reason) {
    if (setup.no_retract && flow) keep_edge(segment, flow, segment->window);
    return count(reason);
}

// Puts `window` into the segment, but never a larger one than it carries, and never zero. Returns what it did.
INLINE enum reason rewrite(struct __sk_buff *skb, const struct segment *segment, uint16_t window) {
    uint16_t before = big16(segment->window), after = big16(window);
    if (window == 0 || window >= segment->window) return PASS_LAW;
    if (setup.shadow) return SHADOWED;
    if (bpf_l4_csum_replace(skb, segment->tcp + 16, before, after, sizeof after)) return FAILED;
    if (bpf_skb_store_bytes(skb, segment->tcp + 14, &after, sizeof after, 0)) return FAILED;
    return REWRITTEN;
}

#endif
