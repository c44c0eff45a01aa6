// SPDX-License-Identifier: MIT OR GPL-2.0-only
// Measures what passes a watched device, and what waits in its queue, regardless of the sender.
#ifndef TAILWATER_WAITING_H
#define TAILWATER_WAITING_H

#include "kernel.h"
#include "packet.h"
#include "seen.h"

// What the loader fills in.
const volatile struct {
    // The size of the queue's bins, as a power of two bytes.
    uint32_t queue_shift;
    // The least number of flows at the same time for which a ms is reported.
    uint32_t degree;
    // 1: the queue can be read; and how long a byte takes to leave it, in ns shifted by `BYTE_SHIFT`, zero if unknown.
    uint32_t has_queue, byte_ns;
    // More bytes than this in a window of this length are a burst; zero: there are no bursts.
    uint64_t burst_bytes, burst_ns;
    // At most this many packets in each direction are examined in a window of some ms, which limits the cost of the
    // programs.
    uint64_t most_packets;
} setup SEC(".rodata.setup");

// Windows for the rate of the link have this power of two ns.
enum { PEAK_SHIFT = 23, BYTE_SHIFT = 10 };

// Bytes that pass in windows of some ms, for the rate of the link.
INLINE void weigh(struct way_totals *way, uint64_t bytes, uint64_t now) {
    uint64_t window = now >> PEAK_SHIFT;
    if (RARE(way->peak_window != window)) {
        if (way->peak_now > way->peak_bytes) way->peak_bytes = way->peak_now;
        way->peak_window = window;
        way->peak_now = 0;
    }
    way->peak_now += bytes;
}

// Bytes that arrive in short windows, for bursts.
INLINE void find_burst(struct way_totals *way, uint32_t bytes, uint64_t now) {
    uint64_t begin, is_burst;
    if (RARE(now - way->burst_ns >= setup.burst_ns)) {
        begin = now - now % (setup.burst_ns ?: 1);
        is_burst = way->burst_bytes > setup.burst_bytes;
        // A run begins with a burst after a window that is none.
        if (is_burst && !way->was_burst) way->bursts += 1;
        way->was_burst = is_burst && way->burst_ns + setup.burst_ns == begin;
        way->burst_ns = begin;
        way->burst_bytes = 0;
    }
    way->burst_bytes += bytes;
}

// Bytes that left a queue evenly from one time to another, for the rate of the link.
INLINE void weigh_evenly(struct way_totals *way, uint64_t bytes, uint64_t from, uint64_t until) {
    uint64_t border = until >> PEAK_SHIFT << PEAK_SHIFT, early = 0;
    if (RARE(from < border)) {
        early = bytes * (border - from) / (until - from);
        weigh(way, early, from);
    }
    weigh(way, bytes - early, until);
}

// The same for different bins.
APART void add_bins(struct device_totals *all, uint64_t first, uint64_t last, uint64_t time) {
    time /= last - first + 1;
#pragma clang loop unroll(disable)
    for (uint32_t bin = 0; bin < QUEUE_BINS; bin++)
        if (bin >= first && bin <= last) all->queue_ns[bin] += time;
}

// Adds the time for which the queue had lengths between these two.
INLINE void add_queue(struct device_totals *all, uint64_t from, uint64_t to, uint64_t time) {
    uint64_t first = to >> (setup.queue_shift & 31), last = from >> (setup.queue_shift & 31);
    all->queue_area += time * (from + to) / 2;
    if (last >= QUEUE_BINS) last = QUEUE_BINS - 1;
    if (RARE(first < last)) add_bins(all, first, last, time);
    else all->queue_ns[last] += time;
}

// A packet is about to join the queue. Nothing has joined since the one before: the queue fell from what that one left
// behind to what this one finds, evenly, or was empty early.
INLINE void measure_queue(struct device_totals *all, struct __sk_buff *skb, uint64_t now) {
    uint64_t found = backlog_of(skb), since = all->queue_since, from = all->queue_last, passed, busy;
    all->queue_since = now;
    // A packet that meets an empty queue is sent at once, as far as the next packet sees.
    all->queue_last = found ? found + skb->wire_len : 0;
    if (!since || now < since) return;
    if (found > all->queue_most) all->queue_most = found;
    if (from < found) from = found;
    passed = busy = now - since;
    if (!from) {
        all->queue_ns[0] += passed;
        weigh(&all->ways[0], 0, now);
        return;
    }
    if (!found) {
        busy = from * setup.byte_ns >> BYTE_SHIFT;
        // If the rate of the queue is unknown: that of the busiest ms.
        if (!setup.byte_ns) busy = (from << PEAK_SHIFT) / (all->ways[0].peak_bytes ?: 1);
        if (busy > passed) busy = passed;
        all->queue_ns[0] += passed - busy;
    }
    add_queue(all, from, found, busy);
    weigh_evenly(&all->ways[0], from - found, since, since + busy);
}

// Whether there is time for one more packet.
INLINE int has_room(struct way_totals *way, uint64_t now) {
    uint64_t window = now >> PEAK_SHIFT;
    if (RARE(way->looked_window != window)) {
        way->looked_window = window;
        way->looked = 0;
    }
    if (RARE(way->looked >= setup.most_packets)) {
        way->skipped += 1;
        return 0;
    }
    way->looked += 1;
    return 1;
}

#endif
