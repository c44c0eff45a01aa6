// SPDX-License-Identifier: MIT OR GPL-2.0-only
// The reports of a receiver about its connections: the same struct as in `src/receiver.rs`.
#ifndef TAILWATER_ASSIGNED_H
#define TAILWATER_ASSIGNED_H

#include "packet.h"

// A segment that reached the receiver, or left it.
struct told_segment {
    // By the clock of leases.
    uint64_t now;
    uint32_t kind, is_v6;
    // The direction of the connection's ACKs.
    struct way way;
    // OPENS, CARRIES, ENDS: the sequence number of the first byte. ACCEPTS, ACKNOWLEDGES: the acknowledgement.
    uint32_t number;
    // CARRIES, ENDS: bytes of payload. ACKNOWLEDGES: bytes of the window as the sender reads it.
    uint32_t bytes;
    // CARRIES: bytes of each segment of a train, except for the last one; zero for a single segment.
    uint32_t each;
};

enum told_segment_kind {
    OPENS = 1,     // a SYN came
    CARRIES,       // data came
    ENDS,          // a FIN came, with data or without
    BREAKS,        // a reset came
    ACCEPTS,       // a SYN-ACK leaves
    ACKNOWLEDGES,  // another acknowledgement leaves
};

#endif
