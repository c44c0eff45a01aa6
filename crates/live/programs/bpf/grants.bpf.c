// SPDX-License-Identifier: MIT OR GPL-2.0-only
// RCC at a receiver by grants: every ACK leaves, and its right edge moves only as the budget allows.
//
// The invariants. The lock of the receiver keeps each of them, and the law is only called under this lock.
//
// 1. Senders may send no more than the budget, apart from a segment of each connection that begins, rounding up to
//    units of windows, and one window of a connection that is alone. The law ensures it.
// 2. A connection that waits has a place in the line. It begins to wait and gets the place in one hold of the lock, and
//    stops waiting and loses the place in another. If the line is full, it does not wait, and asks again with its next
//    ACK. So if the line is empty, nobody waits: anything else that the law counts as waiting was evicted from the map.
// 3. Places are taken from the line in their order, each by one processor: a processor that acts on the first place
//    holds the lock and sees that it is still the first.
// 4. An edge never moves back, and a window is never raised above the one that TCP wrote with that acknowledgement.
//
// No connection waits without end. The line is served whenever a segment leaves, and every 10 ms by the watchdog. Its
// first place waits only for room, and room comes: what others may send either arrives, or is no longer counted as in
// flight after `idle_ns`, and a connection that is alone may send whatever the budget is. A copy that carries the new
// edge may be lost. The edge has moved then, so any later ACK of the connection carries it. If no ACK leaves, the
// sender has nothing in flight and less than a segment to send. Then it probes (RFC 9293 3.8.6.1), and the answer is
// such an ACK. Without the watchdog the same probe causes the line to be served. Without a lease every ACK carries
// TCP's own window again.
#include "port.h"

#include "grant.h"

// Connections that are known at a time, for IPv4 and for IPv6 each, and places in the line, which is a power of two.
enum { CONNECTIONS = 16384, PLACES = 16384 };
// How many other connections may get their turn with a segment that leaves, and with a call of the watchdog.
enum { TURNS = 4, TURNS_OF_WATCHDOG = 16 };
// The shortest pure ACK, the longest one that is sent again (its only options are timestamps), and the longest of all.
enum { LEAST_HEADERS = ETHERNET + IPV4 + TCP, MOST_COPIED = ETHERNET + TAG + IPV6 + TCP + TIMESTAMPS, MOST_HEADERS = HEADERS };
// The kernel's value for a checksum of the transport that is completed later, and holds the sum of the pseudo header
// alone.
enum { CHECKSUM_PARTIAL = 3 };

// Settings: read without a lock, each word whole.
struct {
    UINT(type, BPF_MAP_TYPE_ARRAY);
    UINT(max_entries, 1);
    TYPE(key, uint32_t);
    TYPE(value, struct grant_params);
} port SEC(".maps");

struct receiver {
    struct bpf_spin_lock lock;
    uint32_t unused;
    struct flight flight;
    // The line: the number of its first place, and the one after its last. They wrap.
    uint32_t first, last;
};

struct {
    UINT(type, BPF_MAP_TYPE_ARRAY);
    UINT(max_entries, 1);
    TYPE(key, uint32_t);
    TYPE(value, struct receiver);
} receiver SEC(".maps");

// A connection that waits. It may have ended or wait no more; then the place is skipped.
struct place {
    uint32_t is_v6;
    struct way way;
};

struct line {
    struct place places[PLACES];
};

struct {
    UINT(type, BPF_MAP_TYPE_ARRAY);
    UINT(max_entries, 1);
    TYPE(key, uint32_t);
    TYPE(value, struct line);
} line SEC(".maps");

struct connection {
    struct flight_flow granted;
    // The time when the header below was stored, in epochs.
    uint64_t stored;
    // The sequence number after the last byte that this host sent, and after the FIN of the other side, if `has_fin`.
    uint32_t seq, fin;
    // The timestamps of the newest segment, as they are in a header.
    uint32_t timestamps[2];
    // The VLAN tag that is stored beside the packet, if any.
    uint32_t vlan;
    // The window field that TCP wrote with the newest acknowledgement.
    uint16_t advertised;
    uint8_t has_fin, has_timestamps;
    // A pure ACK of the connection as it left: its length, zero without one, where TCP begins, and its bytes.
    uint8_t length, tcp;
    uint8_t header[MOST_COPIED];
};

struct {
    UINT(type, BPF_MAP_TYPE_LRU_HASH);
    UINT(max_entries, CONNECTIONS);
    TYPE(key, struct way4);
    TYPE(value, struct connection);
} connections SEC(".maps");

struct {
    UINT(type, BPF_MAP_TYPE_LRU_HASH);
    UINT(max_entries, CONNECTIONS);
    TYPE(key, struct way);
    TYPE(value, struct connection);
} connections6 SEC(".maps");

// Scratch memory of a processor for what is too large for its stack: nothing else runs here meanwhile.
struct scratch {
    // 1: the segment that leaves now is a copy of ours.
    uint32_t sends;
    // The original packet, and the copy.
    uint8_t own[MOST_HEADERS], copy[MOST_COPIED];
    struct connection blank;
};

struct {
    UINT(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    UINT(max_entries, 1);
    TYPE(key, uint32_t);
    TYPE(value, struct scratch);
} scratch SEC(".maps");

INLINE struct connection *find_connection(uint32_t is_v6, const struct way *way) {
    if (is_v6) return bpf_map_lookup_elem(&connections6, way);
    return bpf_map_lookup_elem(&connections, way);
}

// The connection whose ACKs go this way; a new one if there is none.
INLINE struct connection *get_connection(uint32_t is_v6, const struct way *way,
                                         const struct scratch *scratch) {
    struct connection *found = find_connection(is_v6, way);
    if (found) return found;
    if (is_v6) bpf_map_update_elem(&connections6, way, &scratch->blank, BPF_NOEXIST);
    else bpf_map_update_elem(&connections, way, &scratch->blank, BPF_NOEXIST);
    return find_connection(is_v6, way);
}

// Epochs that have ended; the caller holds the lock.
INLINE void catch_up(struct flight *flight, const struct grant_params *params, uint64_t now) {
    for (uint32_t i = 0; i < FLIGHT_EPOCHS; i++)
        if (flight_is_behind(flight, now)) flight_step(flight, params->epoch_ns, now);
}

// Whether the kernel completes the checksum of this packet later.
INLINE uint32_t is_partial(struct __sk_buff *skb) {
    struct sk_buff *kernel = bpf_cast_to_kern_ctx(skb);
    const uint8_t *at = (const uint8_t *)kernel + __builtin_preserve_field_info(kernel->ip_summed, 0);
    uint64_t value = 0;
    switch (__builtin_preserve_field_info(kernel->ip_summed, 1)) {
    case 1: value = *at; break;
    case 2: value = *(const two *)at; break;
    case 4: value = *(const four *)at; break;
    }
    value <<= __builtin_preserve_field_info(kernel->ip_summed, 4);
    value >>= __builtin_preserve_field_info(kernel->ip_summed, 5);
    return value == CHECKSUM_PARTIAL;
}

INLINE uint32_t vlan_of(const struct __sk_buff *skb) {
    return skb->vlan_present ? 0x10000 | skb->vlan_tci : 0;
}

// Stores the fields of a segment that copies of the connection's ACKs need.
INLINE void note_header(struct __sk_buff *skb, const struct segment *segment,
                        struct connection *connection, uint64_t epoch) {
    uint32_t length = segment->end_of_options, options = length - segment->options;
    uint32_t next = segment->seq + (skb->len - length) + (segment->flags & TCP_FIN ? 1 : 0);
    uint32_t bytes[3];
    if (next - connection->seq < HALF) connection->seq = next;
    if (!segment->plain) return;
    if (options >= TIMESTAMPS) {
        if (bpf_skb_load_bytes(skb, segment->options, bytes, sizeof bytes)) return;
        connection->has_timestamps = bytes[0] == __builtin_bswap32(0x0101080a);
        if (connection->has_timestamps) {
            connection->timestamps[0] = bytes[1];
            connection->timestamps[1] = bytes[2];
        }
    }
    // An ACK is stored once in an epoch, in case the route to the other side changes. ACKs with SACK blocks are not
    // stored, as the blocks would be sent twice, nor those with other flags, as these mean something.
    if (skb->len != length || segment->flags != TCP_ACK || !is_partial(skb)) return;
    if (options != 0 && (options != TIMESTAMPS || !connection->has_timestamps)) return;
    if (connection->stored == epoch && connection->length) return;
    if (length < LEAST_HEADERS || length > MOST_COPIED) return;
    connection->length = 0;
    if (bpf_skb_load_bytes(skb, 0, connection->header, length)) return;
    connection->tcp = (uint8_t)segment->tcp;
    connection->vlan = vlan_of(skb);
    connection->stored = epoch;
    connection->length = (uint8_t)length;
}

// The values that a copy carries.
struct told {
    uint32_t ack;
    uint16_t window;
};

// Writes a number in the byte order of headers.
INLINE void put(struct scratch *scratch, uint32_t at, uint32_t value) {
    if (at <= MOST_COPIED - sizeof value) *(four *)&scratch->copy[at] = value;
}

// Sends a pure ACK of the connection, built from its last one, in place of the packet. Returns 0 if it cannot.
INLINE int send_copy(struct __sk_buff *skb, struct scratch *scratch,
                     const struct connection *connection, const struct told *told) {
    uint32_t length = connection->length, tcp = connection->tcp, size = length - tcp;
    int64_t sum;
    if (length < LEAST_HEADERS || length > MOST_COPIED || tcp > MOST_COPIED - TCP - TIMESTAMPS) return 0;
    if (size != TCP && size != TCP + TIMESTAMPS) return 0;
    __builtin_memcpy(scratch->copy, connection->header, MOST_COPIED);
    put(scratch, tcp + 4, __builtin_bswap32(connection->seq));
    put(scratch, tcp + 8, __builtin_bswap32(told->ack));
    *(two *)&scratch->copy[tcp + 14] = big16(told->window);
    if (size > TCP) {
        put(scratch, tcp + TCP + 4, connection->timestamps[0]);
        put(scratch, tcp + TCP + 8, connection->timestamps[1]);
    }
    if (!is_partial(skb)) {
        // The field holds the sum of the pseudo header.
        if (size == TCP) sum = bpf_csum_diff(0, 0, &scratch->copy[tcp], TCP, 0);
        else sum = bpf_csum_diff(0, 0, &scratch->copy[tcp], TCP + TIMESTAMPS, 0);
        if (sum < 0) return 0;
        sum = (sum & 0xffff) + (sum >> 16 & 0xffff);
        sum = (sum & 0xffff) + (sum >> 16);
        *(two *)&scratch->copy[tcp + 16] = (uint16_t)~sum;
    }
    if (bpf_skb_change_tail(skb, length, 0)) return 0;
    if (bpf_skb_store_bytes(skb, 0, scratch->copy, length, 0)) return 0;
    scratch->sends = 1;
    sum = bpf_clone_redirect(skb, skb->ifindex, 0);
    scratch->sends = 0;
    return sum == 0;
}

// The turns of waiting connections with one packet.
struct turns {
    struct __sk_buff *skb;
    uint64_t now;
    // The connection to which the packet itself belongs, and the offset of its TCP, if the kernel completes its
    // checksum.
    const struct connection *own;
    uint32_t tcp, vlan;
    // 1: the packet holds a copy now.
    uint32_t copied;
};

// Gives the first place of the line its turn. Returns 1 if there is nothing to grant, or nobody to grant it to.
__attribute__((flatten)) static long take_turn(uint32_t step, struct turns *turns) {
    const struct grant_params *params = bpf_map_lookup_elem(&port, &FIRST);
    struct receiver *here = bpf_map_lookup_elem(&receiver, &FIRST);
    struct line *all = bpf_map_lookup_elem(&line, &FIRST);
    struct scratch *own = bpf_map_lookup_elem(&scratch, &FIRST);
    struct connection *connection;
    struct place place;
    struct told told;
    uint32_t number, is_granted, is_told;
    (void)step;
    if (!params || !here || !all || !own) return 1;
    bpf_spin_lock(&here->lock);
    number = here->first;
    if (number == here->last) {
        here->flight.waiting = 0;
        bpf_spin_unlock(&here->lock);
        return 1;
    }
    place = all->places[number % PLACES];
    bpf_spin_unlock(&here->lock);
    connection = find_connection(place.is_v6, &place.way);
    bpf_spin_lock(&here->lock);
    if (here->first != number) {
        // Another processor was faster.
        bpf_spin_unlock(&here->lock);
        return 0;
    }
    if (!connection || !connection->granted.waits) {
        here->first = number + 1;
        bpf_spin_unlock(&here->lock);
        return 0;
    }
    is_told = connection == turns->own || connection->length == 0;
    // Another packet carries it: the kernel knows where this one's checksum and VLAN tag are. The watchdog's has
    // neither.
    if (!is_told && turns->tcp && (turns->tcp != connection->tcp || turns->vlan != connection->vlan)) {
        bpf_spin_unlock(&here->lock);
        return 1;
    }
    catch_up(&here->flight, params, turns->now);
    is_granted = grant_ask(params, &here->flight, &connection->granted, 1);
    if (is_granted) here->first = number + 1;
    told.window = connection->advertised;
    if (is_granted && !is_told)
        told.window = grant_tell(&here->flight, &connection->granted, connection->advertised);
    told.ack = connection->granted.ack;
    bpf_spin_unlock(&here->lock);
    if (!is_granted) return 1;
    // Its own ACK carries it, this one or its next.
    if (is_told || told.window == 0 || connection->vlan != turns->vlan) return 0;
    turns->copied = 1;
    if (!send_copy(turns->skb, own, connection, &told)) count(FAILED);
    return 0;
}

// Uses a pure ACK for the turns of others, and restores it afterwards. Returns 0 if that fails.
INLINE int take_turns(struct __sk_buff *skb, const struct segment *segment,
                      const struct connection *own, struct scratch *scratch, uint64_t now) {
    uint32_t length = segment->end_of_options;
    struct turns turns = {.skb = skb, .now = now, .own = own, .vlan = vlan_of(skb)};
    if (skb->len != length || length < LEAST_HEADERS || length > MOST_HEADERS) return 1;
    if (is_partial(skb)) turns.tcp = segment->tcp;
    if (bpf_skb_load_bytes(skb, 0, scratch->own, length)) return 1;
    bpf_loop(TURNS, take_turn, &turns, 0);
    if (!turns.copied) return 1;
    // The headers were unshared for the copies, so that this needs no memory.
    if (bpf_skb_change_tail(skb, length, 0)) return 0;
    return bpf_skb_store_bytes(skb, 0, scratch->own, length, 0) == 0;
}

// This host opens a connection.
INLINE enum reason on_own_syn(struct __sk_buff *skb, const struct segment *segment,
                              const struct grant_params *params, struct receiver *here,
                              struct connection *connection, struct flow *flow, uint64_t now) {
    struct flight_flow *granted = &connection->granted;
    uint32_t window, is_again;
    bpf_spin_lock(&here->lock);
    // A repeated SYN offers the same window as the first.
    is_again = !granted->is_known && granted->edge != granted->ack && connection->seq == segment->seq + 1;
    if (is_again) {
        window = flight_least(granted->edge - granted->ack, segment->window);
    } else {
        catch_up(&here->flight, params, now);
        granted->is_known = 0;
        window = grant_open(params, &here->flight, granted, 0, segment->window);
        granted->is_known = 0;
    }
    bpf_spin_unlock(&here->lock);
    connection->seq = segment->seq + 1;
    flow->edge = window;
    flow->has_edge = 1;
    return rewrite(skb, segment, (uint16_t)window);
}

// This host accepts one.
INLINE enum reason on_own_syn_ack(struct __sk_buff *skb, const struct segment *segment,
                                  const struct grant_params *params, struct receiver *here,
                                  struct connection *connection, uint64_t now) {
    uint32_t window;
    if (!connection->granted.is_known || connection->granted.ack != segment->ack) {
        connection->seq = segment->seq + 1;
        connection->has_fin = 0;
        connection->length = 0;
    }
    bpf_spin_lock(&here->lock);
    catch_up(&here->flight, params, now);
    window = grant_open(params, &here->flight, &connection->granted, segment->ack, segment->window);
    bpf_spin_unlock(&here->lock);
    return rewrite(skb, segment, (uint16_t)window);
}

// A connection is over, as far as data to this host is concerned. The caller holds the lock.
INLINE void end(struct receiver *here, struct connection *connection) {
    flight_take(&here->flight, &connection->granted);
    connection->granted.is_known = 0;
}

// Tells the law of an acknowledgement. Returns 1 if the connection waits; otherwise the window is the one to offer.
INLINE uint32_t acknowledge(const struct segment *segment, const struct grant_params *params,
                            struct receiver *here, struct line *all, struct connection *connection,
                            uint64_t now, uint16_t *window) {
    struct flight *flight = &here->flight;
    struct flight_flow *granted = &connection->granted;
    uint32_t waits;
    bpf_spin_lock(&here->lock);
    catch_up(flight, params, now);
    if (segment->ack - granted->ack < HALF) {
        granted->most_bytes = (uint32_t)segment->window << (granted->scale & 15);
        connection->advertised = segment->window;
    }
    grant_on_ack(flight, granted, segment->ack);
    if (connection->has_fin && granted->ack == connection->fin) {
        end(here, connection);
    } else if (!granted->waits && !grant_ask(params, flight, granted, 0)) {
        if (here->last - here->first < PLACES) {
            struct place *place = &all->places[here->last % PLACES];
            place->is_v6 = segment->is_v6;
            place->way = segment->way;
            here->last += 1;
        } else {
            // It asks again with its next ACK.
            flight_take(flight, granted);
            flight_put(flight, granted, 0);
        }
    }
    waits = here->first != here->last;
    if (!waits && granted->is_known) *window = grant_tell(flight, granted, segment->window);
    bpf_spin_unlock(&here->lock);
    return waits;
}

// ACKs leave by the device.
SEC("tcx/egress")
__attribute__((flatten)) int egress(struct __sk_buff *skb) {
    const struct grant_params *params = bpf_map_lookup_elem(&port, &FIRST);
    struct receiver *here = bpf_map_lookup_elem(&receiver, &FIRST);
    struct line *all = bpf_map_lookup_elem(&line, &FIRST);
    struct scratch *own = bpf_map_lookup_elem(&scratch, &FIRST);
    struct connection *connection;
    struct segment segment;
    uint64_t now = bpf_ktime_get_ns();
    uint16_t window;
    enum reason reason;
    if (!params || !here || !all || !own || !has_lease(now)) return count(PASS_LEASE);
    if (own->sends) return count(TOLD);
    reason = find_segment(skb, &segment);
    if (reason != REASONS) return count(reason);
    if (segment.flags & TCP_SYN) {
        struct flow *flow;
        if (segment.flags & TCP_RST) return count(PASS_FLAGS);
        learn(skb, &segment);
        flow = find_flow(&segment, &segment.way);
        // The offer of a SYN is known when it is answered.
        if (!flow || (!flow->known && segment.flags & TCP_ACK)) return count(PASS_UNKNOWN);
        if (flow->foreign) return count(PASS_OPTIONS);
        if (segment.window == 0) return count(PASS_CLOSED);
        connection = get_connection(segment.is_v6, &segment.way, own);
        if (!connection) return count(PASS_UNKNOWN);
        if (!(segment.flags & TCP_ACK))
            return count(on_own_syn(skb, &segment, params, here, connection, flow, now));
        connection->granted.scale = flow->scale;
        return count(on_own_syn_ack(skb, &segment, params, here, connection, now));
    }
    connection = find_connection(segment.is_v6, &segment.way);
    if (!connection) return count(PASS_UNKNOWN);
    if (segment.flags & TCP_RST) {
        bpf_spin_lock(&here->lock);
        end(here, connection);
        bpf_spin_unlock(&here->lock);
        return count(PASS_FLAGS);
    }
    if (!(segment.flags & TCP_ACK) || !connection->granted.is_known) return count(PASS_FLAGS);
    if (!segment.plain) {
        struct options options;
        if (!read_options(skb, &segment, &options)) return count(PASS_SHORT);
        if (options.foreign) return count(PASS_OPTIONS);
    }
    note_header(skb, &segment, connection, here->flight.epoch);
    window = segment.window;
    if (acknowledge(&segment, params, here, all, connection, now, &window)) {
        if (!take_turns(skb, &segment, connection, own, now)) {
            count(FAILED);
            return TCX_DROP;
        }
        bpf_spin_lock(&here->lock);
        if (connection->granted.is_known)
            window = grant_tell(&here->flight, &connection->granted, segment.window);
        bpf_spin_unlock(&here->lock);
    }
    if (segment.window == 0) return count(PASS_CLOSED);
    return count(rewrite(skb, &segment, window));
}

// Data comes in. Only SYNs and ends of connections matter.
SEC("tcx/ingress")
__attribute__((flatten)) int ingress(struct __sk_buff *skb) {
    const struct grant_params *params = bpf_map_lookup_elem(&port, &FIRST);
    struct receiver *here = bpf_map_lookup_elem(&receiver, &FIRST);
    struct scratch *own = bpf_map_lookup_elem(&scratch, &FIRST);
    struct connection *connection;
    struct segment segment;
    struct way back;
    uint64_t now;
    if (!params || !here || !own) return TCX_NEXT;
    if (find_segment(skb, &segment) != REASONS) return TCX_NEXT;
    if (!(segment.flags & (TCP_SYN | TCP_FIN | TCP_RST))) return TCX_NEXT;
    now = bpf_ktime_get_ns();
    if (!has_lease(now)) return TCX_NEXT;
    back = way_back(&segment);
    if (segment.flags & TCP_SYN) {
        struct flow *flow;
        learn(skb, &segment);
        if (!(segment.flags & TCP_ACK)) return TCX_NEXT;
        flow = find_flow(&segment, &back);
        if (!flow || !flow->known || !flow->has_edge || flow->foreign) return TCX_NEXT;
        connection = get_connection(segment.is_v6, &back, own);
        if (!connection) return TCX_NEXT;
        if (!connection->granted.is_known || connection->granted.ack != segment.seq + 1) {
            connection->seq = segment.ack;
            connection->has_fin = 0;
            connection->length = 0;
        }
        connection->granted.scale = flow->scale;
        bpf_spin_lock(&here->lock);
        catch_up(&here->flight, params, now);
        grant_join(&here->flight, &connection->granted, segment.seq + 1, flow->edge);
        bpf_spin_unlock(&here->lock);
        return TCX_NEXT;
    }
    connection = find_connection(segment.is_v6, &back);
    if (!connection || !connection->granted.is_known) return TCX_NEXT;
    if (segment.flags & TCP_RST) {
        // A segment outside the window does not belong to the connection (RFC 5961 3.2).
        if (segment.seq - connection->granted.ack > connection->granted.most_bytes) return TCX_NEXT;
        bpf_spin_lock(&here->lock);
        end(here, connection);
        bpf_spin_unlock(&here->lock);
        return TCX_NEXT;
    }
    // Frames are padded, so the length comes from IP.
    uint16_t length;
    uint32_t at = segment.is_v6 ? segment.tcp - IPV6 + 4 : segment.tcp - IPV4 + 2, payload;
    if (bpf_skb_load_bytes(skb, at, &length, sizeof length)) return TCX_NEXT;
    payload = big16(length) - (segment.end_of_options - segment.tcp) - (segment.is_v6 ? 0 : IPV4);
    connection->fin = segment.seq + payload + 1;
    connection->has_fin = 1;
    return TCX_NEXT;
}

// The watchdog serves the line, with a frame of its own at this device.
SEC("tcx/egress")
int release(struct __sk_buff *skb) {
    struct turns turns = {.skb = skb, .now = bpf_ktime_get_ns()};
    if (!has_lease(turns.now)) return TCX_NEXT;
    bpf_loop(TURNS_OF_WATCHDOG, take_turn, &turns, 0);
    return TCX_NEXT;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
