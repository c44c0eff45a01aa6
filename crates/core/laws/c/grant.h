// Grants of a receiver (RCC Alg. 2): what senders may send and has not come stays within a budget. RCC holds ACKs back.
// Here every ACK leaves, and its right edge moves only as the budget allows, and never back: what is held back is the
// permission. Who asks in vain stands in line, which is the caller's. Freestanding C11: no loops, globals or floats.
//
// DEVIATION(RCC §4.2): SYNs and SYN-ACKs leave, too, and allow a segment whatever the budget: else senders would probe.
#ifndef TAILWATER_GRANT_H
#define TAILWATER_GRANT_H
#include <stdint.h>

#include "flight.h"

// A connection begins with at most these segments (RFC 6928); a window is shifted at most so far (RFC 7323 §2.3).
enum { GRANT_FIRST = 10, GRANT_MAX_SCALE = 14 };

// Settings: the budget (queue_maxsize), an epoch, and a segment, at least as large as those of any connection. And the
// fewest of them in a window: two where receivers delay the ACK of a single one.
struct grant_params {
    uint64_t budget_bytes, epoch_ns;
    uint32_t mss_bytes, least_segments;
};

// Brings the settings within what the laws below bear. A permission is idle after `idle_ns`.
static inline void grant_init(struct grant_params *p, uint64_t idle_ns) {
    p->epoch_ns = flight_least(idle_ns, 1ULL << 31) / (FLIGHT_EPOCHS - 1) + 1;
    p->mss_bytes = p->mss_bytes ? flight_least(p->mss_bytes, 65535) : 1;
    if (p->least_segments == 0) p->least_segments = 1;
    if (p->least_segments > GRANT_FIRST) p->least_segments = GRANT_FIRST;
    uint64_t least = (uint64_t)p->least_segments * p->mss_bytes;
    if (p->budget_bytes < least) p->budget_bytes = least;
    p->budget_bytes = flight_least(p->budget_bytes, 1ULL << 30);
}

// Data are acknowledged up to `ack`. An older number, or the same once more, changes nothing.
static inline void grant_on_ack(struct flight *s, struct flight_flow *f, uint32_t ack) {
    uint8_t waits = f->waits;
    if (ack == f->ack || ack - f->ack >= 1U << 31) return;
    flight_take(s, f);
    f->ack = ack;
    if (f->edge - ack >= 1U << 31) f->edge = ack; // it sent more than it was allowed
    flight_put(s, f, waits);
}

// Asks for its window: RCC Alg. 1 without sizes, whole segments, the same for all, at least the fewest. Returns whether
// it need not stand in line: it has its window, or the fewest segments more. Others come first unless it is its turn.
static inline uint32_t grant_ask(const struct grant_params *p, struct flight *s,
                                 struct flight_flow *f, uint32_t is_its_turn) {
    uint64_t have = f->edge - f->ack, unit = 1ULL << flight_least(f->scale, GRANT_MAX_SCALE);
    flight_take(s, f);
    f->segment_bytes = p->mss_bytes;
    uint64_t share = p->budget_bytes / p->mss_bytes / (1ULL + s->active + s->waiting);
    if (share < p->least_segments) share = p->least_segments;
    uint64_t window = flight_least(share * p->mss_bytes, f->most_bytes);
    // RCC Alg. 2 l. 3: what is in flight with it stays within the budget.
    uint64_t room = p->budget_bytes - flight_least(s->bytes + have, p->budget_bytes), more = 0;
    if (window > have) more = (window - have + unit - 1) / unit * unit;
    // Whoever is alone may send, however large a unit is.
    if (more > room && s->bytes) more = room / unit * unit;
    if (have + more < window && more < p->least_segments * p->mss_bytes) more = 0;
    if (s->waiting && !is_its_turn) more = 0;
    f->edge += (uint32_t)more;
    flight_put(s, f, window > have && more == 0);
    return !f->waits;
}

// The window of a SYN-ACK that acknowledges with `ack`, in bytes, of which its receiver allows `most_bytes`. It is never
// shifted; later ones are, by `scale`. A SYN of this host likewise tells and counts one, with 0 for what nobody knows yet.
static inline uint32_t grant_open(const struct grant_params *p, struct flight *s,
                                  struct flight_flow *f, uint32_t ack, uint32_t most_bytes) {
    // One that is sent again allows what the first one did.
    if (f->is_known && f->ack == ack) return flight_least(f->edge - ack, most_bytes);
    uint8_t scale = f->scale;
    flight_take(s, f);
    f->is_known = 1;
    f->ack = f->edge = ack;
    f->scale = 0;
    f->most_bytes = flight_least(most_bytes, (uint64_t)GRANT_FIRST * p->mss_bytes);
    if (!grant_ask(p, s, f, 0)) {
        flight_take(s, f);
        f->edge += flight_least(p->mss_bytes, most_bytes);
        flight_put(s, f, 0);
    }
    f->scale = scale;
    return f->edge - ack;
}

// The answer to this host's SYN, which told the other side a window: it acknowledges with `ack` from now on. A SYN-ACK
// that is repeated changes nothing.
static inline void grant_join(struct flight *s, struct flight_flow *f, uint32_t ack,
                              uint32_t told_bytes) {
    if (f->is_known && f->ack == ack) return;
    flight_take(s, f);
    f->is_known = 1;
    f->ack = ack;
    f->edge = ack + told_bytes;
    flight_put(s, f, 0);
}

// A segment has told the sender this right edge, which is less than a unit further than the one above, or what the
// receiver's own TCP allowed.
static inline void grant_told(struct flight *s, struct flight_flow *f, uint32_t edge) {
    uint8_t waits = f->waits;
    if (edge == f->edge || edge - f->edge >= 1U << 31) return;
    flight_take(s, f);
    f->edge = edge;
    flight_put(s, f, waits);
}

// The window field of a segment that carries `ack` of the connection, of which TCP itself allows `advertised_units`. The
// edge moves up to whole units, by less than what was acknowledged, and nothing below one is told.
static inline uint16_t grant_tell(struct flight *s, struct flight_flow *f,
                                  uint16_t advertised_units) {
    uint32_t shift = flight_least(f->scale, GRANT_MAX_SCALE), unit = 1U << shift;
    uint32_t units = (f->edge - f->ack + unit - 1) >> shift;
    if (units == 0) units = 1;
    if (units >= advertised_units) return advertised_units;
    grant_told(s, f, f->ack + (units << shift));
    return (uint16_t)units;
}
#endif
