// SPDX-License-Identifier: MIT OR GPL-2.0-only
// The queue of the data whose ACKs a program sees. It belongs to the same device, or to another one, if the loader says
// so. Then the program there stores the device, and the one here reads its queue.
#ifndef TAILWATER_APART_H
#define TAILWATER_APART_H

#include "setup.h"

struct queue_at {
    // The kernel's address of the device, and when it last had a packet to send, by the clock of the lease.
    uint64_t device, seen_ns;
};

struct {
    UINT(type, BPF_MAP_TYPE_ARRAY);
    UINT(max_entries, 1);
    TYPE(key, uint32_t);
    TYPE(value, struct queue_at);
} queue_at SEC(".maps");

// A queue that no packet joined for so long is empty, and its device may be gone.
enum { LONGEST_REST_NS = 1000000000 };

// Data leaves by the device of this packet: the length of the queue there.
INLINE uint32_t backlog_here(struct __sk_buff *skb, uint64_t now) {
    uint32_t first = 0;
    struct queue_at *at;
    if (!setup.apart) return backlog_of(skb);
    at = bpf_map_lookup_elem(&queue_at, &first);
    if (at) {
        struct sk_buff *kernel = bpf_cast_to_kern_ctx(skb);
        at->device = (uint64_t)kernel->dev;
        at->seen_ns = now;
    }
    return backlog_of(skb);
}

// An ACK came in: the length of the queue by which its data leaves. If the device's memory is freed, the result is zero
// or arbitrary. This lasts at most one rest, and does not make a window larger or zero.
INLINE uint32_t backlog_there(struct __sk_buff *skb, uint64_t now) {
    uint32_t first = 0, backlog = 0;
    struct queue_at *at;
    struct net_device *device;
    struct Qdisc *qdisc = 0;
    if (!setup.apart) return backlog_of(skb);
    at = bpf_map_lookup_elem(&queue_at, &first);
    if (!at || !at->device || now > at->seen_ns + LONGEST_REST_NS) return 0;
    device = (struct net_device *)at->device;
    if (bpf_probe_read_kernel(&qdisc, sizeof qdisc, &device->qdisc)) return 0;
    if (bpf_probe_read_kernel(&backlog, sizeof backlog, &qdisc->qstats.backlog)) return 0;
    return backlog;
}

#endif
