// SPDX-License-Identifier: MIT OR GPL-2.0-only
// What every program at a switch port does beside its law: the lease, the counters, the connections whose
// scales were seen, and the change of a window.
#ifndef TAILWATER_PORT_H
#define TAILWATER_PORT_H

#include "kernel.h"
#include "packet.h"

// Above zero in the first place: until when the program acts, in ns since the start of the machine, sleep
// included. Whoever loaded it renews this, or it lets everything pass: a dead man's switch.
struct {
    UINT(type, BPF_MAP_TYPE_ARRAY);
    UINT(max_entries, 1);
    TYPE(key, uint32_t);
    TYPE(value, uint64_t);
} lease SEC(".maps");

// How many packets, by `enum reason`.
struct {
    UINT(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    UINT(max_entries, REASONS);
    TYPE(key, uint32_t);
    TYPE(value, uint64_t);
} counters SEC(".maps");

// One direction of a connection.
struct flow {
    // What its SYN offered, `NO_SCALE` if nothing.
    uint8_t offered;
    // By how much its windows are shifted, once both SYNs were seen.
    uint8_t scale;
    // 1: they were.
    uint8_t known;
    // 1: MD5, AO or MPTCP.
    uint8_t foreign;
    // 1: the law counts the connection, whose ACKs go this way.
    uint8_t counted;
};

// Directions whose SYNs were seen. The one that was quiet for longest is forgotten first.
struct {
    UINT(type, BPF_MAP_TYPE_LRU_HASH);
    UINT(max_entries, 65536);
    TYPE(key, struct way);
    TYPE(value, struct flow);
} flows SEC(".maps");

static const uint32_t FIRST = 0;

INLINE int count(uint32_t reason) {
    uint64_t *counter = bpf_map_lookup_elem(&counters, &reason);
    if (counter) *counter += 1;
    return TCX_NEXT;
}

INLINE int has_lease(void) {
    uint64_t *until = bpf_map_lookup_elem(&lease, &FIRST);
    return until && bpf_ktime_get_boot_ns() <= *until;
}

// The headers of a packet, which are made readable first. Returns REASONS if it is TCP.
INLINE enum reason find_segment(struct __sk_buff *skb, struct segment *segment) {
    enum reason reason = parse((void *)(uint64_t)skb->data, (void *)(uint64_t)skb->data_end, segment);
    if (reason != PASS_SHORT) return reason;
    // The rest may lie in pages behind what is readable.
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

// A SYN tells the scale of its sender's windows, if the other one agrees (RFC 7323 2.2).
INLINE void learn(struct __sk_buff *skb, const struct segment *segment) {
    struct options options;
    struct flow own = {.offered = NO_SCALE};
    struct way back = {.from_port = segment->way.to_port, .to_port = segment->way.from_port};
    struct flow *other, *former;
    if (!read_options(skb, segment, &options)) return;
    own.offered = options.scale;
    own.foreign = options.foreign;
    __builtin_memcpy(back.from, segment->way.to, sizeof back.from);
    __builtin_memcpy(back.to, segment->way.from, sizeof back.to);
    former = bpf_map_lookup_elem(&flows, &segment->way);
    // A SYN may be repeated.
    if (former) own.counted = former->counted;
    if (segment->flags & TCP_ACK) {
        other = bpf_map_lookup_elem(&flows, &back);
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
    bpf_map_update_elem(&flows, &segment->way, &own, BPF_ANY);
}

// Whether the window of a segment may be changed: REASONS, or why not. `flow` is that of its direction.
INLINE enum reason concerns(struct __sk_buff *skb, const struct segment *segment,
                            struct flow **flow) {
    struct options options;
    if ((segment->flags & (TCP_ACK | TCP_RST | TCP_FIN)) != TCP_ACK) return PASS_FLAGS;
    if (segment->window == 0) return PASS_CLOSED;
    *flow = bpf_map_lookup_elem(&flows, &segment->way);
    if (!*flow || !(*flow)->known) return PASS_UNKNOWN;
    if ((*flow)->foreign) return PASS_OPTIONS;
    if (segment->plain) return REASONS;
    if (!read_options(skb, segment, &options)) return PASS_SHORT;
    return options.foreign ? PASS_OPTIONS : REASONS;
}

// Puts `window` into the segment, never a larger one than it carries, and never none.
INLINE int rewrite(struct __sk_buff *skb, const struct segment *segment, uint16_t window) {
    uint16_t before = big16(segment->window), after = big16(window);
    if (window == 0 || window >= segment->window) return count(PASS_LAW);
    if (bpf_l4_csum_replace(skb, segment->tcp + 16, before, after, sizeof after))
        return count(FAILED);
    if (bpf_skb_store_bytes(skb, segment->tcp + 14, &after, sizeof after, 0)) return count(FAILED);
    return count(REWRITTEN);
}

#endif
