// Which connections of a port are idle: those none of whose data were acknowledged for a while. Each notes the
// epoch in which its ACKs last moved on, and the port counts connections by that epoch: those that fall silent in
// one epoch leave together, and nobody looks for them. Freestanding C11: no loops, globals or floats.
//
// UNSPECIFIED(RWNDQ): the paper counts a connection until it is closed.
#ifndef TAILWATER_IDLE_H
#define TAILWATER_IDLE_H
#include <stdint.h>

// A connection is idle after seven to eight epochs.
enum { IDLE_EPOCHS = 8 };
// About two days and a half, so that no sum of times overflows.
#define IDLE_MAX_NS (200000ULL * 1000000000)

// Settings: the length of an epoch; zero if connections are never idle.
struct idle_params {
    uint64_t epoch_ns;
};

// State of a port: the number of the epoch and its end, and of the last epochs how many connections were last
// active in each.
struct idle_state {
    uint64_t epoch, ends_ns;
    uint32_t active[IDLE_EPOCHS];
};

// State of a connection: when its ACKs last moved on, the number that they carry, and whether it is open.
struct idle_flow {
    uint64_t epoch;
    uint32_t ack, is_open;
};

// Connections are idle after `after_ns`, and after a seventh more at the latest; zero: never.
static inline void idle_init(struct idle_params *p, uint64_t after_ns) {
    uint64_t after = after_ns < IDLE_MAX_NS ? after_ns : IDLE_MAX_NS;
    p->epoch_ns = (after + IDLE_EPOCHS - 2) / (IDLE_EPOCHS - 1);
}

// Whether an epoch has ended: `idle_step` is due, at most eight times, before anything below is called.
static inline uint32_t idle_is_behind(const struct idle_params *p, const struct idle_state *s,
                                      uint64_t now_ns) {
    return p->epoch_ns != 0 && now_ns >= s->ends_ns;
}

// The next epoch begins. Returns how many connections are idle with it.
static inline uint32_t idle_step(const struct idle_params *p, struct idle_state *s,
                                 uint64_t now_ns) {
    uint64_t all = (IDLE_EPOCHS - 1) * p->epoch_ns;
    // After a pause that is longer than all epochs together, each begins once.
    if (now_ns - s->ends_ns > all) s->ends_ns = now_ns - all;
    s->ends_ns += p->epoch_ns;
    s->epoch += 1;
    uint32_t *active = &s->active[s->epoch % IDLE_EPOCHS], idle = *active;
    *active = 0;
    return idle;
}

// Whether a connection counts.
static inline uint32_t idle_counts(const struct idle_state *s, const struct idle_flow *f) {
    return f->is_open && s->epoch - f->epoch < IDLE_EPOCHS;
}

// A connection opens, whose peer has acknowledged its SYN with `ack`. Returns whether it counts from now on.
static inline uint32_t idle_on_open(struct idle_state *s, struct idle_flow *f, uint32_t ack) {
    if (f->is_open) return 0; // a SYN-ACK that was sent twice
    f->is_open = 1;
    f->epoch = s->epoch;
    f->ack = ack;
    s->active[s->epoch % IDLE_EPOCHS] += 1;
    return 1;
}

// A connection closes. Returns whether it counted until now.
static inline uint32_t idle_on_close(struct idle_state *s, struct idle_flow *f) {
    uint32_t counted = idle_counts(s, f);
    f->is_open = 0;
    if (counted) s->active[f->epoch % IDLE_EPOCHS] -= 1;
    return counted;
}

// An ACK with this number. Returns whether it is a sign of life that `idle_on_life` must hear of; writes to nothing
// but the connection.
static inline uint32_t idle_on_ack(const struct idle_state *s, struct idle_flow *f, uint32_t ack) {
    if (f->ack == ack) return 0;
    f->ack = ack;
    return f->is_open && f->epoch != s->epoch;
}

// A connection is active. Returns whether it was idle, and counts again from now on.
static inline uint32_t idle_on_life(struct idle_state *s, struct idle_flow *f) {
    uint32_t counted = idle_counts(s, f);
    if (counted) s->active[f->epoch % IDLE_EPOCHS] -= 1;
    f->epoch = s->epoch;
    if (f->is_open) s->active[s->epoch % IDLE_EPOCHS] += 1;
    return f->is_open && !counted;
}
#endif
