// SPDX-License-Identifier: MIT OR GPL-2.0-only
// Records each call of a law, with its number: its arguments, and the decision about the packet. User space
// then repeats the calls with the same arguments. This is done only if the loader asks for it; otherwise the verifier
// removes all of it.
#ifndef TAILWATER_RECORD_H
#define TAILWATER_RECORD_H

#include "kernel.h"
#include "setup.h"

enum call_kind { DATA = 1, ACKNOWLEDGEMENT, SAMPLES, FLOW, LEVEL, IDLE, CAPABLE };

// The same struct as in `laws/src/replay.rs`.
struct call {
    // The time by the clock of the lease.
    uint64_t now;
    // Counts from zero. A processor writes its calls in this order.
    uint32_t number;
    // The length of the queue, which HSCC learns with an ACK, too, and the size of a packet of data.
    uint32_t backlog, size;
    // RWNDQ: how many samples are taken, or flows are idle, and whether a flow begins or ends.
    uint32_t samples, flow_case;
    // The number of the connection, from one on, in the order in which the law first saw them.
    uint32_t connection;
    // The window of the packet, and the one that the law returns. For marks, 1 if it marks packets that may carry one.
    uint16_t advertised, window;
    // `verdict` is an `enum reason`.
    uint8_t flags, scale, kind, verdict;
};

// The loader makes it large enough.
struct {
    UINT(type, BPF_MAP_TYPE_RINGBUF);
    UINT(max_entries, 4096);
} calls SEC(".maps");

uint32_t calls_made, connections_seen;

// The number of a call of the law. The caller holds the lock of the port.
INLINE uint32_t next_call(void) { return setup.records ? calls_made++ : 0; }

// The same for a law without state, and so without a lock.
INLINE uint32_t next_call_of_many(void) {
    return setup.records ? __sync_fetch_and_add(&calls_made, 1) : 0;
}

// A call that otherwise needs no lock needs one for its number.
INLINE void lock_to_record(struct bpf_spin_lock *lock) {
    if (setup.records) bpf_spin_lock(lock);
}

INLINE void unlock_to_record(struct bpf_spin_lock *lock) {
    if (setup.records) bpf_spin_unlock(lock);
}

// The number of a connection. If it has none yet, it gets one.
INLINE uint32_t number_of(uint32_t *kept) {
    if (!setup.records) return 0;
    if (!*kept) *kept = __sync_fetch_and_add(&connections_seen, 1) + 1;
    return *kept;
}

// The calls of a processor that wait for the ring: to enter it costs several times what it costs to write a call down.
// Programs of one processor follow each other, as they run with bottom halves disabled.
enum { CALLS = 32 };

struct batch {
    // Before the calls: a reader that copies the batch from its beginning finds no call that is in the ring already.
    uint32_t filled;
    struct call calls[CALLS];
};

struct {
    UINT(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    UINT(max_entries, 1);
    TYPE(key, uint32_t);
    TYPE(value, struct batch);
} batches SEC(".maps");

// If the ring has no room for a batch, the numbers of its calls are missing in the sequence.
APART void write_down(const struct call *call) {
    uint32_t first = 0, filled;
    struct batch *batch = bpf_map_lookup_elem(&batches, &first);
    if (!batch) return;
    filled = batch->filled;
    if (filled >= CALLS) return;
    batch->calls[filled] = *call;
    filled++;
    if (filled == CALLS) {
        bpf_ringbuf_output(&calls, batch->calls, sizeof batch->calls, NO_WAKEUP);
        filled = 0;
    }
    batch->filled = filled;
}

#define RECORD(...) \
    do { \
        if (setup.records) write_down(&(struct call){__VA_ARGS__}); \
    } while (0)

#endif
