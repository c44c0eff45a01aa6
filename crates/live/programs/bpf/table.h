// SPDX-License-Identifier: MIT OR GPL-2.0-only
// The directions of connections that an observer knows: the same structs as in `src/observer/table.rs`.
#ifndef TAILWATER_TABLE_H
#define TAILWATER_TABLE_H

#include "idle.h"
#include "kernel.h"
#include "packet.h"
#include "seen.h"

// A direction of a connection. Fields that ACKs need come first, and those that only losses change come last, so that a
// packet needs few cache lines.
struct seen {
    // The time when the SYN or SYN-ACK passed, while the handshake has not ended; odd if more than one did.
    uint64_t syn_ns;
    // The epoch in which it was last registered at its receiver.
    uint64_t joined;
    // The sequence number after the furthest byte; what its receiver has acknowledged; and what its sender acknowledges
    // of the opposite direction.
    uint32_t end, acked, acknowledges;
    // The number of its receiver, from one on, and payload of the largest segment.
    uint32_t receiver, largest;
    // 1: `end` is known; 1: `acked` is; 1: it had data; 1: the furthest segment is not full, as at the end of a
    // program's data.
    uint8_t has_end, has_acked, has_data, is_short;
    // How it counts at its receiver.
    struct idle_flow life;
    struct transfer transfer;
    // The state of the sender's TCP; 1: its TCP state was reported.
    uint8_t state, told;
};

// The place of a direction, by a hash of the direction: three cache lines, of which an ACK needs the first one.
struct place {
    // Held while the place is being taken, and while user space clears it.
    struct bpf_spin_lock lock;
    // 4 or 6, by the kind of addresses; zero if it is free.
    uint32_t version;
    struct way4 way;
    struct seen seen;
    // Of IPv6: the other words of both addresses.
    uint32_t more[6];
} __attribute__((aligned(64)));

// Most directions are found here by one memory access, without a call of the kernel: that was a third of the cost of a
// packet. The table need not be large: a direction whose place is taken goes into one of the maps below.
enum { TABLE_SHIFT = 13 };
struct {
    UINT(type, BPF_MAP_TYPE_ARRAY);
    UINT(max_entries, 1 << TABLE_SHIFT);
    // Such a map begins with a page, and its values with a line of the cache.
    UINT(map_flags, BPF_F_MMAPABLE);
    TYPE(key, uint32_t);
    TYPE(value, struct place);
} table SEC(".maps");

struct {
    UINT(type, BPF_MAP_TYPE_HASH);
    UINT(max_entries, 65536);
    TYPE(key, struct way4);
    TYPE(value, struct seen);
} flows SEC(".maps");

struct {
    UINT(type, BPF_MAP_TYPE_HASH);
    UINT(max_entries, 65536);
    TYPE(key, struct way);
    TYPE(value, struct seen);
} flows6 SEC(".maps");

static const struct seen NOTHING = {};
// 2^64 divided by the golden ratio; a product with it is spread over the high bits.
#define SPREAD 0x9e3779b97f4a7c15ULL

// The place of a direction: the same hash as in `src/observer/table.rs`.
INLINE uint32_t home_of(uint32_t is_v6, const struct way *way) {
    uint64_t mixed = (uint64_t)way->addresses[0] << 32 | way->addresses[1];
    if (RARE(is_v6))
        for (uint32_t word = 2; word < 8; word++) mixed = mixed * SPREAD + way->addresses[word];
    mixed = (mixed * SPREAD ^ way->ports) * SPREAD;
    return (uint32_t)((mixed ^ mixed >> 32) * SPREAD >> (64 - TABLE_SHIFT));
}

INLINE uint32_t is_at(const struct place *place, uint32_t is_v6, const struct way *way) {
    if (place->version != (is_v6 ? 6 : 4) || place->way.ports != way->ports) return 0;
    if (place->way.addresses[0] != way->addresses[0]) return 0;
    if (place->way.addresses[1] != way->addresses[1]) return 0;
    if (RARE(is_v6))
        for (uint32_t word = 0; word < 6; word++)
            if (place->more[word] != way->addresses[2 + word]) return 0;
    return 1;
}

// Finds a direction that has no place in the table.
APART struct seen *find_far(uint32_t is_v6, const struct way *way) {
    if (is_v6) return bpf_map_lookup_elem(&flows6, way);
    return bpf_map_lookup_elem(&flows, way);
}

INLINE struct seen *find_seen(uint32_t is_v6, const struct way *way) {
    uint32_t home = home_of(is_v6, way);
    struct place *place = bpf_map_lookup_elem(&table, &home);
    if (LIKELY(place && is_at(place, is_v6, way))) return &place->seen;
    return find_far(is_v6, way);
}

// Adds a direction that was not found. Returns nothing if there is no room.
APART struct seen *put_seen(uint32_t is_v6, const struct way *way, uint32_t side, uint64_t now) {
    uint32_t home = home_of(is_v6, way), is_free;
    struct place *place = bpf_map_lookup_elem(&table, &home);
    struct seen *seen;
    if (!place) return 0;
    bpf_spin_lock(&place->lock);
    is_free = place->version == 0;
    if (is_free) {
        place->way = *(const struct way4 *)way;
        for (uint32_t word = 0; word < 6; word++) place->more[word] = way->addresses[2 + word];
        place->seen = NOTHING;
        place->seen.transfer.first_ns = place->seen.transfer.last_ns = now;
        place->seen.transfer.side = (uint8_t)side;
        place->version = is_v6 ? 6 : 4;
    }
    bpf_spin_unlock(&place->lock);
    // Another processor may have been faster.
    if (is_free || is_at(place, is_v6, way)) return &place->seen;
    if (is_v6) bpf_map_update_elem(&flows6, way, &NOTHING, BPF_NOEXIST);
    else bpf_map_update_elem(&flows, way, &NOTHING, BPF_NOEXIST);
    seen = find_far(is_v6, way);
    if (!seen) return 0;
    seen->transfer.first_ns = seen->transfer.last_ns = now;
    seen->transfer.side = (uint8_t)side;
    return seen;
}

#endif
