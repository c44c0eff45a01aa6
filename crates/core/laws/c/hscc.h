// HSCC's switch port: two thresholds of its queue switch it on and off, and while it is on, every
// ACK of the data it carries leaves with a window of a few segments.
//
// Freestanding C11 without loops, globals or signed numbers, so that a kernel runs this text too.
// The caller says how long the queue is, in the unit that limits the buffer, and parses packets.
// Sums of a checksum are the caller's: HSCC §IV rewrites it, a simulator has none.
#ifndef TAILWATER_HSCC_H
#define TAILWATER_HSCC_H

#include <stdint.h>

enum {
    HSCC_MILLION = 1000000,
    // The largest shift of a window (RFC 7323 §2.3).
    HSCC_MAX_SCALE = 14,
    // Bits of the byte with TCP's flags (RFC 9293 §3.1).
    HSCC_FIN = 1,
    HSCC_SYN = 2,
    HSCC_RST = 4,
    HSCC_ACK = 16,
};

// The settings of a port.
struct hscc_params {
    // On above this length of the queue: the whole units in alpha2 * buffer.
    uint64_t on_above_units;
    // Off below this one: the first whole unit at or above alpha1 * buffer.
    uint64_t off_below_units;
    // The window of a connection while the port is on.
    uint32_t window_bytes;
    // 1: SYN-ACKs are rewritten too.
    uint32_t rewrite_syn_ack;
};

// What a port remembers. All zero: off.
struct hscc_state {
    // 1 from crossing the upper threshold until falling below the lower one.
    uint32_t is_on;
};

// Completes `params` with the thresholds of a buffer of `buffer_units`. Shares are in millionths,
// so that decimals are exact.
static inline void hscc_init(struct hscc_params *params, uint64_t buffer_units,
                             uint32_t alpha1_millionths, uint32_t alpha2_millionths) {
    // What waits is counted in whole units: `q > x` is `q > floor(x)`, and `q < x` is `q <
    // ceil(x)`. The buffer is taken apart, so that no product exceeds 64 bits.
    uint64_t millions = buffer_units / HSCC_MILLION;
    uint64_t rest = buffer_units % HSCC_MILLION;
    // A share is at most the whole.
    if (alpha1_millionths > HSCC_MILLION) alpha1_millionths = HSCC_MILLION;
    if (alpha2_millionths > HSCC_MILLION) alpha2_millionths = HSCC_MILLION;
    params->on_above_units = millions * alpha2_millionths + rest * alpha2_millionths / HSCC_MILLION;
    params->off_below_units =
        millions * alpha1_millionths + (rest * alpha1_millionths + HSCC_MILLION - 1) / HSCC_MILLION;
}

// The queue has another length: after every packet that joins or leaves it.
static inline void hscc_on_level(const struct hscc_params *params, struct hscc_state *state,
                                 uint64_t qlen_units) {
    if (!state->is_on) {
        // HSCC §IV: above alpha2 the port changes to a constant bit rate. UNSPECIFIED(HSCC): the
        // comparison at the threshold itself; strict, as in the authors' hardware.
        if (qlen_units > params->on_above_units) state->is_on = 1;
    } else if (qlen_units < params->off_below_units) {
        // HSCC §IV: below alpha1 it goes back, and senders resume with the window they had.
        state->is_on = 0;
    }
}

// The window field for a packet that carries `advertised_units` and came in over the link that the
// port feeds. `scale` is the shift of the connection's windows, as the packet tells it.
static inline uint16_t hscc_window(const struct hscc_params *params, const struct hscc_state *state,
                                   uint8_t tcp_flags, uint16_t advertised_units, uint8_t scale) {
    uint64_t window_units;
    // HSCC §IV: only while the port is on.
    if (!state->is_on) return advertised_units;
    // HSCC §IV: ACKs. UNSPECIFIED(HSCC): a FIN; like a RST it ends what it acknowledges, so no.
    if ((tcp_flags & (HSCC_ACK | HSCC_RST | HSCC_FIN)) != HSCC_ACK) return advertised_units;
    if (tcp_flags & HSCC_SYN) {
        // UNSPECIFIED(HSCC): the authors' hardware takes SYN-ACKs for ACKs; then a flow begins with
        // one segment. Their windows are never scaled (RFC 7323 §2.2).
        if (!params->rewrite_syn_ack) return advertised_units;
        scale = 0;
    }
    if (scale > HSCC_MAX_SCALE) scale = HSCC_MAX_SCALE;
    // DEVIATION(HSCC §IV): rounded up. A constant shifted right is less than a segment, 1408 bytes
    // of 1460 at scale 7, and a sender that waits for room for a full segment waits for ever.
    window_units = ((uint64_t)params->window_bytes + ((uint64_t)1 << scale) - 1) >> scale;
    // Nothing below one unit: a window of zero stops the connection until a probe.
    if (window_units == 0) window_units = 1;
    // DEVIATION(HSCC §IV): never above what the receiver grants, so that a window it closed stays
    // closed, and the strictest of several switches decides.
    return window_units < advertised_units ? (uint16_t)window_units : advertised_units;
}

#endif
