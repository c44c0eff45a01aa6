// SPDX-License-Identifier: MIT OR GPL-2.0-only
// The reports of an observer to user space: the same structs as in `src/observer/seen.rs`.
#ifndef TAILWATER_SEEN_H
#define TAILWATER_SEEN_H

#include "packet.h"

// One transfer on one direction of a connection: data that was sent together, and its fate. Times are ns by the clock
// of leases.
struct transfer {
    // The time of the SYN, or of the first byte after a pause; and of the last byte, or of the end of the handshake
    // before there is one.
    uint64_t first_ns, last_ns;
    // Bytes that were new.
    uint64_t bytes;
    // Segments with data.
    uint32_t segments;
    // Bytes in the queue of the device when the last byte joins it, including the packet of that byte.
    uint32_t queued;
    // Bytes before the first one was acknowledged: the sender's first window, or less.
    uint32_t first_bytes;
    // 1: it began with a SYN; 1: it ended with a FIN or RST; 1: this machine's TCP sends it; 0: it leaves by the
    // device, 1: it comes in.
    uint8_t from_syn, closed, is_own, side;
    // Silence before timeouts.
    uint64_t waited_ns;
    // Segments without new data.
    uint32_t repeats;
    // Repeats after a silence: timeouts, as far as a box between the hosts can tell.
    uint32_t late_repeats;
    // Counts of the kernel's TCP, if the sender is this machine: timeouts, retransmissions in fast recovery, and
    // others, which are probes.
    uint32_t timeouts, fast, probes;
    // Packets that the queue of the device dropped.
    uint32_t drops;
    // When the SYN or SYN-ACK passed; zero without one.
    uint64_t opened_ns;
};

// A transfer that is over because another one follows on its connection.
struct told_transfer {
    uint32_t kind, is_v6;
    struct way way;
    uint32_t unused;
    struct transfer transfer;
};

// Something that happened to a receiver or to a flow to it.
struct told_event {
    uint32_t kind, is_v6;
    struct way way;
    // INCAST: the flows with data to this receiver within a ms.
    uint32_t degree;
    uint64_t now;
    // TIMEOUT: the start of its transfer.
    uint64_t first_ns;
};

// The kernel's TCP state of a connection.
struct told_socket {
    uint32_t kind, is_v6;
    struct way way;
    uint32_t mss;
    // `min_rto` in ticks.
    uint32_t srtt_us, min_rtt_us, cwnd, min_rto, delivered_ce;
    uint8_t control[16];
    // Segments that its sender retransmitted so far, and those of them that had arrived already, according to D-SACKs.
    uint32_t retransmitted;
    // Two clocks at the same time, which show how long a tick is.
    uint64_t jiffies, now;
    // A `socket_end`.
    uint32_t needless, end;
    // Of its route, 0 if it has none: in place of `min_rto`, and the first window in segments.
    uint32_t route_min_rto_ms, route_first_window;
    // `TCP_ECN_OK` of `net/tcp_ecn.h` is the lowest bit.
    uint8_t ecn_flags, unused[7];
};

// Whether a connection is over, so that its numbers are final, or begins to close, so that no new data follow.
enum socket_end { OPENED, OVER, CLOSES };

enum told_kind { TRANSFER = 1, INCAST, DROP, TIMEOUT, LATE, SOCKET };

// Bins of histograms.
enum { QUEUE_BINS = 65, DEGREES = 1025 };

// Totals of one direction through the device. Every packet changes the first cache line, few change the second one.
// Processors that work on different directions share neither.
struct way_totals {
    uint64_t packets, bytes;
    // The current short window: its start, and its bytes.
    uint64_t burst_ns, burst_bytes;
    // The current window of some ms, and its bytes, after the queue if there is one.
    uint64_t peak_window, peak_now;
    // The current window of some ms, and the packets examined in it.
    uint64_t looked_window, looked;
    // Runs of short windows whose bytes exceed half the rate, and whether the window before this one was a burst.
    uint64_t bursts, was_burst;
    // The most bytes in a window of some ms; and packets that were not examined because their window had too many.
    uint64_t peak_bytes, skipped;
} __attribute__((aligned(64)));

// Totals of the device.
struct device_totals {
    // Outgoing, then incoming.
    struct way_totals ways[2];
    // The length of the queue after the last packet, and since when; the sum of bytes times ns; the longest queue that
    // a packet met.
    uint64_t queue_last, queue_since, queue_area, queue_most;
    // By the queue's length in bytes, shifted by `setup.queue_shift`: how long it had that length. The last one is for
    // all above.
    uint64_t queue_ns[QUEUE_BINS];
    uint64_t syn_repeats, syn_ack_repeats, resets;
    // The shortest handshake, and zero without one.
    uint64_t handshake_ns;
    // Events and flows that did not fit.
    uint64_t lost_events, lost_flows;
};
#endif
