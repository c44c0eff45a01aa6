// RWNDQ's switch port: one window for all flows through it, moved by the distance of its queue from
// a target (RWNDQ Alg. 1). Freestanding C11: no loops, globals, floats or signed division.
//
// The paper's real window is in 1/65536 byte; a sample's signed share of the increment goes into one of two sums, in
// 1/256 byte. Where alpha is at least 1 % and the target at least a packet, an update is exact to one byte.
#ifndef TAILWATER_RWNDQ_H
#define TAILWATER_RWNDQ_H
#include <stdint.h>

// What a packet on the reverse path does.
enum { RWNDQ_NOTHING, RWNDQ_OPENS, RWNDQ_CLOSES, RWNDQ_ACKNOWLEDGES };
// Bounds that keep every product below 2^64: of buffers, of packets and of counts of flows.
enum { RWNDQ_MAX_BYTES = 1 << 30, RWNDQ_MAX_PACKET = 65535, RWNDQ_MAX_FLOWS = 65535 };

// Settings: alpha * B, the largest window, the smallest one, whether flows share slow start's two packets, M, paths.
struct rwndq_params {
    uint64_t target_q8_bytes;
    uint64_t max_window_q16_bytes;
    uint16_t mss_bytes, shared_start, samples, paths;
};

// State: Q, the two parts of W_incr * M, f, Max_Size, k, and slowstart.
struct rwndq_state {
    uint64_t window_q16_bytes;
    uint64_t up_q8_bytes, down_q8_bytes;
    uint32_t flows;
    uint32_t max_size_bytes;
    uint32_t samples_seen, slow_start;
};

static inline uint64_t rwndq_clamp(uint64_t value, uint64_t least, uint64_t most) {
    return value < least ? least : value > most ? most : value;
}

// As before the first flow: the target as window, and slow start (RWNDQ Alg. 1, and its text).
static inline void rwndq_reset(const struct rwndq_params *p, struct rwndq_state *s) {
    s->window_q16_bytes = p->target_q8_bytes << 8;
    s->up_q8_bytes = s->down_q8_bytes = s->samples_seen = 0;
    s->slow_start = 1;
}

// Completes `p`, with what divides or shifts within what the laws below bear, and makes `s` new.
static inline void rwndq_init(struct rwndq_params *p, struct rwndq_state *s, uint64_t buffer_bytes,
                              uint32_t alpha_millionths, uint8_t scale) {
    uint64_t alpha = rwndq_clamp(alpha_millionths, 0, 1000000);
    uint64_t target_q8 = rwndq_clamp(buffer_bytes, 0, RWNDQ_MAX_BYTES) * alpha * 256 / 1000000;
    p->target_q8_bytes = rwndq_clamp(target_q8, 256, UINT64_MAX);
    p->max_window_q16_bytes = (uint64_t)65535 << (16 + rwndq_clamp(scale, 0, 14));
    p->mss_bytes = (uint16_t)rwndq_clamp(p->mss_bytes, 1, RWNDQ_MAX_PACKET);
    p->samples = (uint16_t)rwndq_clamp(p->samples, 1, 4096);
    p->paths = (uint16_t)rwndq_clamp(p->paths, 1, 256);
    s->flows = 0;
    s->max_size_bytes = p->mss_bytes;
    rwndq_reset(p, s);
}

// A packet of `size_bytes` with its headers leaves through the port: Max_Size.
static inline void rwndq_on_packet(struct rwndq_state *s, uint32_t size_bytes) {
    s->max_size_bytes = (uint32_t)rwndq_clamp(size_bytes, s->max_size_bytes, RWNDQ_MAX_PACKET);
}

// What a packet with these flags does that comes in over the link the port feeds (RWNDQ Alg. 1).
static inline uint32_t rwndq_case(uint8_t tcp_flags) {
    if ((tcp_flags & 18) == 18) return RWNDQ_OPENS; // SYN and ACK
    if (tcp_flags & 5) return RWNDQ_CLOSES;         // FIN, or RST, which ends a flow as well
    return tcp_flags & 16 ? RWNDQ_ACKNOWLEDGES : RWNDQ_NOTHING;
}

// f flows share from now on what those before them had: Q * before/f. The first flow finds
// the port as new, and the last leaves it so. RWNDQ Alg. 1; flows that are idle end together.
static inline void rwndq_share(const struct rwndq_params *p, struct rwndq_state *s, uint64_t f) {
    uint64_t before = s->flows;
    s->flows = (uint32_t)rwndq_clamp(f, 0, RWNDQ_MAX_FLOWS);
    if (before == 0 || f == 0) rwndq_reset(p, s);
    else s->window_q16_bytes = s->window_q16_bytes * before / s->flows;
}

// A flow begins (RWNDQ_OPENS) or ends. An end too many, a FIN sent twice, must not make f negative.
static inline void rwndq_on_flow(const struct rwndq_params *p, struct rwndq_state *s,
                                 uint32_t flow_case) {
    rwndq_share(p, s, flow_case == RWNDQ_OPENS ? s->flows + 1ULL : s->flows - (s->flows > 0));
}

// Every T: a sample of the queue, and with the M-th one an update of the window.
static inline void rwndq_on_sample(const struct rwndq_params *p, struct rwndq_state *s,
                                   uint64_t qlen_bytes) {
    uint64_t target = p->target_q8_bytes, window = s->window_q16_bytes;
    uint64_t qlen = rwndq_clamp(qlen_bytes, 0, RWNDQ_MAX_BYTES) << 8;
    // RWNDQ Alg. 1 l. 21: ratio * Max_Size; M divides the sum. The bound is far beyond any window.
    uint64_t distance = qlen < target ? target - qlen : qlen - target;
    uint64_t share = rwndq_clamp(distance * s->max_size_bytes * 256 / target, 0, 1ULL << 38);
    *(qlen < target ? &s->up_q8_bytes : &s->down_q8_bytes) += share;
    if (++s->samples_seen < p->samples) return;
    uint64_t up = s->up_q8_bytes, down = s->down_q8_bytes;
    s->up_q8_bytes = s->down_q8_bytes = s->samples_seen = 0;
    if (s->flows == 0) return; // Q has no meaning without flows: it starts anew with the first.
    if (s->slow_start) { // RWNDQ Alg. 1 l. 24 to 26: two packets more, until the target is reached
        window += ((uint64_t)s->max_size_bytes << 17) / (p->shared_start ? s->flows : 1);
        s->slow_start = qlen < target;
    } else { // RWNDQ Alg. 1 l. 28: W_incr / f
        uint64_t net = up < down ? down - up : up - down;
        net = net * 256 / p->samples / s->flows;
        window = up < down ? window - rwndq_clamp(net, 0, window) : window + net;
    }
    // UNSPECIFIED(RWNDQ): bounds. Without the lower one 100 flows would stop below a segment.
    window = rwndq_clamp(window, (uint64_t)p->mss_bytes << 16, p->max_window_q16_bytes);
    s->window_q16_bytes = window;
}

// The window field for an ACK: the share of one path, at least a segment, in units rounded up.
static inline uint16_t rwndq_window(const struct rwndq_params *p, const struct rwndq_state *s,
                                    uint16_t advertised_units, uint8_t scale) {
    uint64_t shift = 16 + rwndq_clamp(scale, 0, 14);
    uint64_t window = s->window_q16_bytes / p->paths, least = (uint64_t)p->mss_bytes << 16;
    uint64_t units = (rwndq_clamp(window, least, UINT64_MAX >> 1) + (1ULL << shift) - 1) >> shift;
    // RWNDQ Alg. 1: only ever lowered.
    return (uint16_t)rwndq_clamp(units, 0, advertised_units);
}
#endif
