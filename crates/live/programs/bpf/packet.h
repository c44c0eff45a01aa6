// SPDX-License-Identifier: MIT OR GPL-2.0-only
// Finds TCP in a packet: Ethernet, at most one VLAN tag, IPv4 without fragments or IPv6 without extension headers. All
// other packets are left to others.
#ifndef TAILWATER_PACKET_H
#define TAILWATER_PACKET_H

#include <stdint.h>

// For conditions that hold for most packets: their code is kept together, so that less of a program is fetched for
// them.
#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define RARE(condition) __builtin_expect(!!(condition), 0)

// The reasons why a packet passes unchanged; the order is that of the counters.
enum reason {
    PASS_LEASE,       // nobody has renewed the lease
    PASS_SHORT,       // a header is cut off
    PASS_OTHER_LINK,  // neither IPv4 nor IPv6 behind at most one VLAN tag
    PASS_FRAGMENT,    // a fragment of IPv4
    PASS_EXTENSION,   // options of IPv4, or another header of IPv6 before TCP
    PASS_OTHER,       // not TCP
    PASS_UNKNOWN,     // a connection whose SYNs were not seen
    PASS_OPTIONS,     // options that sign the header, or those of MPTCP
    PASS_CLOSED,      // a window of zero
    PASS_FLAGS,       // no ACK that the law looks at
    PASS_LAW,         // the law leaves the window as it is
    REWRITTEN,        // the window was lowered
    MARKED,           // the packet got a congestion mark
    FAILED,           // the kernel refused to change the packet
    TOLD,             // a copy of an ACK, which tells a sender what it may send
    SHADOWED,         // the law would have changed the packet, and only looks on
    REASONS,
};

// Bits of the byte with TCP's flags (RFC 9293 3.1).
enum { TCP_FIN = 1, TCP_SYN = 2, TCP_RST = 4, TCP_ACK = 16 };

// The direction of a segment, as in headers: its ports, that of the sender first, and likewise its addresses. IPv4 uses
// the first two words, IPv6 all.
struct way {
    uint32_t ports, addresses[8];
};

// The key for directions of IPv4: the beginning of `struct way`.
struct way4 {
    uint32_t ports, addresses[2];
};

// The fields of a TCP segment. Offsets count from the first byte of the frame.
struct segment {
    struct way way;
    uint32_t tcp, options, end_of_options;
    // Its sequence and acknowledgement numbers, whether or not its flags declare them valid.
    uint32_t seq, ack;
    uint16_t window;
    uint8_t flags;
    // 1: no options, or timestamps and SACK blocks alone in the usual layout, so there is nothing to look for.
    uint8_t plain;
    // 1: the addresses are those of IPv6.
    uint32_t is_v6;
};

// Behind Ethernet every header begins at a multiple of four, as kernels place frames.
typedef uint16_t __attribute__((may_alias)) two;
typedef uint32_t __attribute__((may_alias)) four;
#define BYTE(at) (((const uint8_t *)data)[at])
#define TWO(at) __builtin_bswap16(*(const two *)&BYTE(at))
#define FOUR(at) (*(const four *)&BYTE(at))
#define NEED(bytes)                                                                                \
    if ((const uint8_t *)data + (bytes) > (const uint8_t *)data_end) return PASS_SHORT

enum { ETHERNET = 14, TAG = 4, IPV4 = 20, IPV6 = 40, TCP = 20, TIMESTAMPS = 12 };
// The longest headers, including options of TCP.
enum { HEADERS = ETHERNET + TAG + IPV6 + TCP + 40 };

// Whether a header of IPv6 of this kind is followed by another one (IANA's list of extension headers, without ESP,
// which hides what follows).
static inline __attribute__((always_inline)) int is_extension(uint8_t kind) {
    return kind == 0 || kind == 43 || kind == 44 || kind == 51 || kind == 60 || kind == 135 ||
           kind == 139 || kind == 140;
}

// Whether the options after a header of TCP of `length` bytes are none but timestamps and SACK blocks, in this order
// and padded in front (RFC 7323 A, RFC 2018 3).
static inline __attribute__((always_inline)) uint8_t is_plain(const void *data,
                                                              const void *data_end,
                                                              uint32_t length) {
    uint32_t rest = length - TCP;
    data = (const uint8_t *)data + TCP;
    if (rest == 0) return 1;
    // The header is whole, but the verifier cannot see that.
    if (rest >= TIMESTAMPS && (const uint8_t *)data + TIMESTAMPS <= (const uint8_t *)data_end &&
        TWO(0) == 0x0101 && TWO(2) == 0x080a) {
        data = (const uint8_t *)data + TIMESTAMPS;
        rest -= TIMESTAMPS;
    }
    if (rest == 0) return 1;
    if ((const uint8_t *)data + 4 > (const uint8_t *)data_end) return 0;
    return TWO(0) == 0x0101 && BYTE(2) == 5 && BYTE(3) + 2u == rest;
}

// Parses the headers of a frame up to TCP, without `plain`. Returns REASONS if it is TCP whose header is whole, or why
// not.
static inline __attribute__((always_inline)) enum reason parse_headers(const void *data,
                                                                       const void *data_end,
                                                                       struct segment *segment) {
    uint32_t network = ETHERNET;
    uint16_t type;
    __builtin_memset(segment, 0, sizeof *segment);
    NEED(ETHERNET);
    type = TWO(12);
    if (RARE(type == 0x8100 || type == 0x88a8)) {
        NEED(ETHERNET + TAG);
        type = TWO(16);
        network = ETHERNET + TAG;
    }
    data = (const uint8_t *)data + network;
    if (LIKELY(type == 0x0800)) {
        NEED(IPV4);
        // Nearly every packet has a header of 20 bytes; packets with options of IPv4 are not parsed further.
        if (BYTE(0) != 0x45) return PASS_EXTENSION;
        // A fragment has an offset, or others follow it.
        if (TWO(6) & 0x3fff) return PASS_FRAGMENT;
        if (BYTE(9) != 6) return PASS_OTHER;
        segment->way.addresses[0] = FOUR(12);
        segment->way.addresses[1] = FOUR(16);
        data = (const uint8_t *)data + IPV4;
        segment->tcp = network + IPV4;
    } else if (type == 0x86dd) {
        NEED(IPV6);
        if (BYTE(6) != 6) return is_extension(BYTE(6)) ? PASS_EXTENSION : PASS_OTHER;
        segment->is_v6 = 1;
        for (uint32_t word = 0; word < 8; word++)
            segment->way.addresses[word] = FOUR(8 + 4 * word);
        data = (const uint8_t *)data + IPV6;
        segment->tcp = network + IPV6;
    } else {
        return PASS_OTHER_LINK;
    }
    NEED(TCP);
    segment->way.ports = FOUR(0);
    segment->seq = __builtin_bswap32(FOUR(4));
    segment->ack = __builtin_bswap32(FOUR(8));
    segment->flags = BYTE(13);
    segment->window = TWO(14);
    segment->options = segment->tcp + TCP;
    segment->end_of_options = segment->tcp + (uint32_t)(BYTE(12) >> 4) * 4;
    if (segment->end_of_options < segment->options) return PASS_SHORT;
    if ((const uint8_t *)data + (segment->end_of_options - segment->tcp) >
        (const uint8_t *)data_end)
        return PASS_SHORT;
    return REASONS;
}

// The same with `plain`.
static inline __attribute__((always_inline)) enum reason parse(const void *data,
                                                               const void *data_end,
                                                               struct segment *segment) {
    enum reason reason = parse_headers(data, data_end, segment);
    if (reason != REASONS) return reason;
    data = (const uint8_t *)data + segment->tcp;
    segment->plain = is_plain(data, data_end, segment->end_of_options - segment->tcp);
    return REASONS;
}

enum { NO_SCALE = 0xff, MOST_OPTIONS = 40, MAX_SCALE = 14 };

// The options of a segment, and their contents.
struct options {
    uint8_t bytes[MOST_OPTIONS];
    // Their length, and the offset of the next one.
    uint32_t length, at;
    // The shift of windows; `NO_SCALE` without the option.
    uint8_t scale;
    // 1: MD5, AO or MPTCP.
    uint8_t foreign;
    // 1: an option is cut off, or makes no sense.
    uint8_t broken;
};

// Reads the next option. Returns 1 after the last one. `MOST_OPTIONS` steps are enough.
static inline long next_option(uint32_t step, struct options *options) {
    uint32_t at = options->at, length;
    uint8_t kind;
    (void)step;
    if (at >= options->length || at >= MOST_OPTIONS) return 1;
    kind = options->bytes[at];
    if (kind == 0) return 1;
    if (kind == 1) {
        options->at = at + 1;
        return 0;
    }
    options->broken = 1;
    if (at + 1 >= options->length || at + 1 >= MOST_OPTIONS) return 1;
    length = options->bytes[at + 1];
    if (length < 2 || at + length > options->length) return 1;
    if (kind == 3) {
        if (length != 3 || at + 2 >= MOST_OPTIONS) return 1;
        // RFC 7323 2.3: a larger scale counts as 14.
        options->scale = options->bytes[at + 2];
        if (options->scale > MAX_SCALE) options->scale = MAX_SCALE;
    }
    // RFC 2385, RFC 5925, RFC 8684.
    if (kind == 19 || kind == 29 || kind == 30) options->foreign = 1;
    options->broken = 0;
    options->at = at + length;
    return 0;
}

#endif
