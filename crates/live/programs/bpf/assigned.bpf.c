// SPDX-License-Identifier: MIT OR GPL-2.0-only
// A receiver whose windows user space decides, connection by connection. The program reports incoming segments and
// outgoing acknowledgements. The latter carry the window that user space has assigned last, unless TCP's own is
// smaller.
#include "port.h"

#include "assigned.h"

// What a connection may send before a window is assigned to it.
struct first {
    uint32_t bytes, unused;
};

struct {
    UINT(type, BPF_MAP_TYPE_ARRAY);
    UINT(max_entries, 1);
    TYPE(key, uint32_t);
    TYPE(value, struct first);
} port SEC(".maps");

// Windows in bytes, by the direction of ACKs, for connections that others opened to this host. An entry begins with
// their SYN, and user space removes it.
struct {
    UINT(type, BPF_MAP_TYPE_HASH);
    UINT(max_entries, 65536);
    TYPE(key, struct way4);
    TYPE(value, uint32_t);
} windows SEC(".maps");

struct {
    UINT(type, BPF_MAP_TYPE_HASH);
    UINT(max_entries, 65536);
    TYPE(key, struct way);
    TYPE(value, uint32_t);
} windows6 SEC(".maps");

// Room for segments of half a second at 30,000 a second. User space is not woken: it looks once per slot.
struct {
    UINT(type, BPF_MAP_TYPE_RINGBUF);
    UINT(max_entries, 1 << 20);
} ring SEC(".maps");

// The number of segments that were not reported because the ring was full.
struct {
    UINT(type, BPF_MAP_TYPE_ARRAY);
    UINT(max_entries, 1);
    TYPE(key, uint32_t);
    TYPE(value, uint64_t);
} untold SEC(".maps");

INLINE uint32_t *find_window(uint32_t is_v6, const struct way *way) {
    if (is_v6) return bpf_map_lookup_elem(&windows6, way);
    return bpf_map_lookup_elem(&windows, way);
}

INLINE void tell(const struct told_segment *told) {
    uint64_t *lost;
    if (bpf_ringbuf_output(&ring, told, sizeof *told, NO_WAKEUP) == 0) return;
    lost = bpf_map_lookup_elem(&untold, &FIRST);
    if (lost) __sync_fetch_and_add(lost, 1);
}

// A window in units of the scale, rounded up: rounded down, a segment would be less than one.
INLINE uint16_t units_of(uint32_t bytes, uint8_t scale, uint16_t advertised) {
    uint64_t units = ((uint64_t)bytes + (1U << scale) - 1) >> scale;
    return units < advertised ? (uint16_t)units : advertised;
}

// Acknowledgements leave by the device.
SEC("tcx/egress")
int egress(struct __sk_buff *skb) {
    struct segment segment;
    struct flow *flow;
    struct told_segment told = {.now = bpf_ktime_get_ns()};
    uint32_t *assigned;
    uint16_t window;
    uint8_t scale = 0;
    enum reason reason;
    if (!has_lease(told.now)) return count(PASS_LEASE);
    reason = find_segment(skb, &segment);
    if (reason != REASONS) return count(reason);
    if (segment.flags & TCP_SYN) learn(skb, &segment);
    assigned = find_window(segment.is_v6, &segment.way);
    if (!assigned) return count(PASS_UNKNOWN);
    flow = find_flow(&segment, &segment.way);
    reason = concerns(skb, &segment, flow);
    if (reason != REASONS || !flow) return count(reason);
    // Windows of SYN-ACKs are never scaled (RFC 7323 2.2).
    if (!(segment.flags & TCP_SYN)) scale = flow->scale & 15;
    window = units_of(*assigned, scale, segment.window);
    told.kind = segment.flags & TCP_SYN ? ACCEPTS : ACKNOWLEDGES;
    told.is_v6 = segment.is_v6;
    told.way = segment.way;
    told.number = segment.ack;
    told.bytes = (uint32_t)window << scale;
    reason = rewrite(skb, &segment, window);
    if (reason == FAILED) told.bytes = (uint32_t)segment.window << scale;
    tell(&told);
    return count(reason);
}

// Segments come in by it.
SEC("tcx/ingress")
int ingress(struct __sk_buff *skb) {
    const struct first *first = bpf_map_lookup_elem(&port, &FIRST);
    struct segment segment;
    struct told_segment told = {.now = bpf_ktime_get_ns()};
    uint32_t at;
    uint16_t length;
    if (!first || !has_lease(told.now)) return TCX_NEXT;
    if (find_segment(skb, &segment) != REASONS) return TCX_NEXT;
    told.is_v6 = segment.is_v6;
    told.way = way_back(&segment);
    told.number = segment.seq;
    if (segment.flags & TCP_SYN) {
        learn(skb, &segment);
        if (segment.flags & TCP_ACK) return TCX_NEXT;
        // A repeated SYN may come late.
        if (segment.is_v6) bpf_map_update_elem(&windows6, &told.way, &first->bytes, BPF_NOEXIST);
        else bpf_map_update_elem(&windows, &told.way, &first->bytes, BPF_NOEXIST);
        told.kind = OPENS;
        tell(&told);
        return TCX_NEXT;
    }
    if (!find_window(segment.is_v6, &told.way)) return TCX_NEXT;
    // Frames are padded, so the length comes from IP. A train is longer than its header may say.
    told.bytes = skb->len - segment.end_of_options;
    if (skb->len <= 64) {
        at = segment.is_v6 ? segment.tcp - IPV6 + 4 : segment.tcp - IPV4 + 2;
        if (bpf_skb_load_bytes(skb, at, &length, sizeof length)) return TCX_NEXT;
        at = segment.end_of_options - segment.tcp + (segment.is_v6 ? 0 : IPV4);
        told.bytes = big16(length) > at ? big16(length) - at : 0;
    }
    told.each = skb->gso_size;
    if (segment.flags & TCP_RST) told.kind = BREAKS;
    else if (segment.flags & TCP_FIN) told.kind = ENDS;
    else if (told.bytes) told.kind = CARRIES;
    else return TCX_NEXT;
    tell(&told);
    return TCX_NEXT;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
