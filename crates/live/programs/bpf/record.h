// SPDX-License-Identifier: MIT OR GPL-2.0-only
// Records each call of a law, in the order of the calls: its arguments, and the decision about the packet. User space
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
    // Counts from zero. Processors write calls in nearly this order.
    uint32_t number;
    // The length of the queue, and the size of a packet of data.
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

// If the ring has no room for a call, its number is missing in the sequence.
APART void write_down(const struct call *call) {
    bpf_ringbuf_output(&calls, call, sizeof *call, NO_WAKEUP);
}

#define RECORD(...) \
    do { \
        if (setup.records) write_down(&(struct call){__VA_ARGS__}); \
    } while (0)

#endif
