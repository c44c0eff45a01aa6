// SPDX-License-Identifier: MIT OR GPL-2.0-only
// Every length of the queue of a device, and for how long it had that length. Tests compare observers with it. Its cost
// would be too high for an observer. The callers of these programs hold the lock of the queue.
#include "kernel.h"

// What the loader fills in: the number of the device, and that of its network namespace.
const volatile uint32_t setup[2] SEC(".rodata.setup");

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct ns_common {
    uint32_t inum;
};
struct net {
    struct ns_common ns;
};
typedef struct {
    struct net *net;
} possible_net_t;
struct net_device___of {
    int ifindex;
    possible_net_t nd_net;
};
struct netdev_queue {
    struct net_device___of *dev;
};
#pragma clang attribute pop

enum { BINS = 65 };

// The time when the queue got this length; how long it had each length, in KiB; and the sum of bytes times ns.
struct {
    uint64_t since, length, area, ns[BINS];
} steps;

INLINE void step(struct Qdisc *queue, struct netdev_queue *of) {
    uint64_t now, passed, bin;
    if ((uint32_t)of->dev->ifindex != setup[0] || of->dev->nd_net.net->ns.inum != setup[1]) return;
    now = bpf_ktime_get_ns();
    if (steps.since) {
        passed = now - steps.since;
        bin = steps.length >> 10;
        if (bin >= BINS) bin = BINS - 1;
        steps.ns[bin] += passed;
        steps.area += passed * steps.length;
    }
    steps.since = now;
    steps.length = queue->qstats.backlog;
}

// Arguments are the queue, and the device's transmit queue behind it.
SEC("tp_btf/qdisc_enqueue")
int joins(uint64_t *arguments) {
    step((void *)arguments[0], (void *)arguments[1]);
    return 0;
}

SEC("tp_btf/qdisc_dequeue")
int leaves(uint64_t *arguments) {
    step((void *)arguments[0], (void *)arguments[1]);
    return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
