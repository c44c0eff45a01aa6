// What senders may send and has not come, as their receiver knows it: the flight. Freestanding C11: no loops, globals
// or floats.
//
// UNSPECIFIED(RCC §4.2): a permission that nobody uses leaves the flight after some ms, or idle connections would use
// up the budget. Bytes are counted by the epoch in which their connection last moved on, as in idle.h: those that fall
// silent in one epoch leave together, and nobody looks for them.
#ifndef TAILWATER_FLIGHT_H
#define TAILWATER_FLIGHT_H
#include <stdint.h>

// A permission is idle after seven to eight epochs.
enum { FLIGHT_EPOCHS = 8 };

// State of a receiver: the number of the epoch and its end; the flight; connections that are active and do not wait,
// and those that wait for more; and by epoch bytes and active connections.
struct flight {
    uint64_t epoch, ends_ns, bytes;
    uint32_t active, waiting;
    uint32_t bytes_of[FLIGHT_EPOCHS], active_of[FLIGHT_EPOCHS];
};

// A connection; all zero: unknown. When it moved on; the next byte expected and the right edge as its sender knows it,
// by sequence numbers; its bytes in the flight; the window that its receiver allows, and by how much windows are
// shifted; whether it counts, waits, and is known; and its segment.
struct flight_flow {
    uint64_t epoch;
    uint32_t ack, edge, counted_bytes, most_bytes;
    uint8_t scale, counts, waits, is_known;
    uint32_t segment_bytes;
};

static inline uint32_t flight_least(uint64_t a, uint64_t b) { return (uint32_t)(a < b ? a : b); }

// Whether an epoch has ended: `flight_step` is due, at most eight times, before anything below is called.
static inline uint32_t flight_is_behind(const struct flight *s, uint64_t now_ns) {
    return now_ns >= s->ends_ns;
}

// The next epoch begins: what did not move on for eight is not in flight any more.
static inline void flight_step(struct flight *s, uint64_t epoch_ns, uint64_t now_ns) {
    uint64_t all = (FLIGHT_EPOCHS - 1) * epoch_ns, place = ++s->epoch % FLIGHT_EPOCHS;
    // After a pause that is longer than all epochs together, each begins once.
    if (now_ns - s->ends_ns > all) s->ends_ns = now_ns - all;
    s->ends_ns += epoch_ns;
    s->bytes -= s->bytes_of[place];
    s->active -= s->active_of[place];
    s->bytes_of[place] = s->active_of[place] = 0;
}

// A connection does not count and does not wait; it closes, for one.
static inline void flight_take(struct flight *s, struct flight_flow *f) {
    uint64_t place = f->epoch % FLIGHT_EPOCHS;
    if (f->waits) s->waiting -= 1;
    if (f->counts && s->epoch - f->epoch < FLIGHT_EPOCHS) {
        s->bytes -= f->counted_bytes;
        s->bytes_of[place] -= f->counted_bytes;
        if (!f->waits) {
            s->active -= 1;
            s->active_of[place] -= 1;
        }
    }
    f->counts = f->waits = 0;
}

// It counts with what it may send now, as active from now on, or as one that waits. Less than a segment of one that waits
// does not count: its sender keeps it until there is room for a whole one, unless it ends with it (RFC 9293 3.8.6.2.1),
// and many that wait would use up the budget with what rounding left to each.
static inline void flight_put(struct flight *s, struct flight_flow *f, uint8_t waits) {
    uint64_t place = s->epoch % FLIGHT_EPOCHS;
    f->epoch = s->epoch;
    f->counts = 1;
    f->waits = waits;
    f->counted_bytes = f->edge - f->ack;
    if (waits && f->counted_bytes < f->segment_bytes) f->counted_bytes = 0;
    s->bytes += f->counted_bytes;
    s->bytes_of[place] += f->counted_bytes;
    if (waits) {
        s->waiting += 1;
    } else {
        s->active += 1;
        s->active_of[place] += 1;
    }
}
#endif
