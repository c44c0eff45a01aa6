// Congestion marks at a port: a packet that may carry a mark gets one if it finds a long queue (DCTCP §3.1).
//
// Freestanding C11 without loops or globals, so that a kernel runs this text too. The caller says how long the queue is,
// and whether the packet may carry a mark.
#ifndef TAILWATER_MARK_H
#define TAILWATER_MARK_H

#include <stdint.h>

// The settings of a port.
struct mark_params {
    // Bytes that wait, the arriving packet not among them.
    uint64_t from_bytes;
};

// Whether a capable packet is marked that finds this many bytes waiting.
static inline uint32_t mark_marks(const struct mark_params *params, uint64_t qlen_bytes) {
    return qlen_bytes >= params->from_bytes;
}

#endif
