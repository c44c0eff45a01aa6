// SPDX-License-Identifier: MIT OR GPL-2.0-only
// Each call of a law, in the order of the calls: its arguments, and what became of the packet. A test calls the
// law with the same arguments once more. Only objects that are compiled with RECORD write this down.
#ifndef TAILWATER_RECORD_H
#define TAILWATER_RECORD_H

#include "kernel.h"

// Above zero, so that a place that holds zeros holds no event.
enum event_kind { DATA = 1, ACKNOWLEDGEMENT, SAMPLES, FLOW, LEVEL, IDLE };

struct event {
    // By the clock of the lease.
    uint64_t now;
    // What waits, and how large a packet of data is.
    uint32_t backlog, size;
    // RWNDQ: how many samples are taken, or flows are idle, and whether a flow begins or ends.
    uint32_t samples, flow_case;
    // The window of the packet, and the one that the law returns.
    uint16_t advertised, window;
    // `verdict` is an `enum reason`.
    uint8_t flags, scale, kind, verdict;
};

#ifdef RECORD

enum { RECORDS = 1, MOST_EVENTS = 1 << 18 };

struct {
    UINT(type, BPF_MAP_TYPE_ARRAY);
    UINT(max_entries, MOST_EVENTS);
    TYPE(key, uint32_t);
    TYPE(value, struct event);
} events SEC(".maps");

uint32_t calls;

// The number of a call of the law. The caller holds the lock of the port.
INLINE uint32_t next_call(void) { return calls++; }

// A call that needs no lock needs one for its number.
INLINE void lock_to_record(struct bpf_spin_lock *lock) { bpf_spin_lock(lock); }
INLINE void unlock_to_record(struct bpf_spin_lock *lock) { bpf_spin_unlock(lock); }

INLINE void record(uint32_t number, const struct event *event) {
    struct event *place = bpf_map_lookup_elem(&events, &number);
    if (place) *place = *event;
}

#else

enum { RECORDS = 0 };

INLINE uint32_t next_call(void) { return 0; }
INLINE void lock_to_record(struct bpf_spin_lock *lock) { (void)lock; }
INLINE void unlock_to_record(struct bpf_spin_lock *lock) { (void)lock; }

INLINE void record(uint32_t number, const struct event *event) {
    (void)number;
    (void)event;
}

#endif

#endif
