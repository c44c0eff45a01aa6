// SPDX-License-Identifier: MIT OR GPL-2.0-only
// Watches a device: its queue, the transfers that pass it, how many of them go to one receiver at the same time, and
// how they end. Changes nothing.
#include "kernel.h"
#include "idle.h"
#include "seen.h"
#include "socket.h"
#include "table.h"
#include "waiting.h"

// A host that receives data.
struct receiver {
    struct bpf_spin_lock lock;
    // Flows at the same time, and the most in the current ms.
    uint32_t degree, most;
    uint64_t ms, drop_ms;
    struct idle_state flows;
};

enum { RECEIVERS = 8192 };

struct address {
    uint32_t words[4];
};

// Numbers of receivers, from one on.
struct {
    UINT(type, BPF_MAP_TYPE_HASH);
    UINT(max_entries, RECEIVERS);
    TYPE(key, struct address);
    TYPE(value, uint32_t);
} numbers SEC(".maps");

// Flows store the number of their receiver, because an array is cheaper to look up.
struct {
    UINT(type, BPF_MAP_TYPE_ARRAY);
    UINT(max_entries, RECEIVERS);
    TYPE(key, uint32_t);
    TYPE(value, struct receiver);
} receivers SEC(".maps");

struct device_totals totals SEC(".data.totals") = {};

// By number of flows: for how many ms that many sent to one receiver at the same time.
struct {
    UINT(type, BPF_MAP_TYPE_ARRAY);
    UINT(max_entries, DEGREES);
    TYPE(key, uint32_t);
    TYPE(value, uint64_t);
} degrees SEC(".maps");

struct {
    UINT(type, BPF_MAP_TYPE_RINGBUF);
    UINT(max_entries, 1 << 20);
} ring SEC(".maps");

// The device, once a packet has passed, since tracepoints are called for all devices of the machine. Then the numbers
// that are taken.
uint64_t device;
uint32_t numbers_taken;

#define HALF (1U << 31)
// Seven to eight epochs make up the ms in which flows are counted together.
enum { EPOCH_SHIFT = 17 };
static const struct idle_params TOGETHER = {.epoch_ns = 1 << EPOCH_SHIFT};
enum {
    // New data after such a silence is another transfer; old data is a timeout.
    SILENCE_NS = 10000000,
    // No path with Ethernet makes full segments this short.
    SHORT = 1200,
    MS = 1000000,
};
// States of Linux's TCP (`linux/tcp.h`).
enum { ESTABLISHED = 1, CLOSED = 7, OPEN = 0, RECOVERY = 3, LOSS = 4 };

APART void tell(const void *told, uint32_t bytes) {
    if (bpf_ringbuf_output(&ring, told, bytes, NO_WAKEUP))
        __sync_fetch_and_add(&totals.lost_events, 1);
}

// For INCAST `of` is the degree, for the others the time when the transfer began.
APART void tell_event(uint32_t kind, uint32_t is_v6, const struct way *way, uint64_t now,
                      uint64_t of) {
    struct told_event told = {.kind = kind, .is_v6 = is_v6, .way = *way};
    told.now = now;
    if (kind == INCAST) told.degree = (uint32_t)of;
    else told.first_ns = of;
    tell(&told, sizeof told);
}

APART void tell_transfer(uint32_t is_v6, const struct way *way, const struct transfer *transfer) {
    struct told_transfer told = {
        .kind = TRANSFER, .is_v6 = is_v6, .way = *way, .transfer = *transfer};
    tell(&told, sizeof told);
}

// The receiver at the end of a direction.
INLINE struct address receiver_of(uint32_t is_v6, const struct way *way) {
    struct address to = {};
    for (uint32_t word = 0; word < 4; word++)
        if (is_v6) to.words[word] = way->addresses[4 + word];
    if (!is_v6) to.words[0] = way->addresses[1];
    return to;
}

// The number of a receiver, from one on; zero if there is no room.
APART uint32_t number_of_receiver(uint32_t is_v6, const struct way *way) {
    struct address to = receiver_of(is_v6, way);
    uint32_t *known = bpf_map_lookup_elem(&numbers, &to), number;
    if (known) return *known;
    number = __sync_fetch_and_add(&numbers_taken, 1) + 1;
    // Another processor may have been faster.
    bpf_map_update_elem(&numbers, &to, &number, BPF_NOEXIST);
    known = bpf_map_lookup_elem(&numbers, &to);
    return known ? *known : 0;
}

INLINE struct receiver *find_receiver(const struct seen *flow) {
    uint32_t number = flow->receiver - 1;
    return bpf_map_lookup_elem(&receivers, &number);
}

// A flow with data counts at its receiver for a ms. It is registered once in an epoch.
INLINE void join(struct seen *flow, uint32_t is_v6, const struct way *way, uint64_t now) {
    struct receiver *receiver;
    uint32_t degree, most = 0;
    uint64_t begin = now >> EPOCH_SHIFT << EPOCH_SHIFT, ms = now / MS, ended = 0, *count;
    if (flow->joined == begin) return;
    flow->joined = begin;
    if (RARE(!flow->receiver)) flow->receiver = number_of_receiver(is_v6, way);
    receiver = find_receiver(flow);
    if (!receiver) return;
    bpf_spin_lock(&receiver->lock);
#pragma clang loop unroll(disable)
    for (uint32_t i = 0; i < IDLE_EPOCHS; i++) {
        if (!idle_is_behind(&TOGETHER, &receiver->flows, begin)) break;
        receiver->degree -= idle_step(&TOGETHER, &receiver->flows, begin);
    }
    flow->life.is_open = 1;
    receiver->degree += idle_on_life(&receiver->flows, &flow->life);
    degree = receiver->degree;
    if (RARE(receiver->ms != ms)) {
        ended = receiver->ms;
        most = receiver->most;
        receiver->ms = ms;
        receiver->most = 0;
    }
    if (degree > receiver->most) receiver->most = degree;
    bpf_spin_unlock(&receiver->lock);
    if (LIKELY(!ended)) return;
    degree = most < DEGREES ? most : DEGREES - 1;
    count = bpf_map_lookup_elem(&degrees, &degree);
    if (count) __sync_fetch_and_add(count, 1);
    if (most >= setup.degree) tell_event(INCAST, is_v6, way, ended * MS, most);
}

// A SYN or SYN-ACK begins a direction.
APART void begin(const struct segment *segment, uint32_t side, uint64_t now) {
    uint32_t answers = segment->flags & TCP_ACK;
    struct seen *flow = find_seen(segment->is_v6, &segment->way);
    if (flow && flow->has_end && flow->end == segment->seq + 1 && !flow->transfer.closed) {
        __sync_fetch_and_add(answers ? &totals.syn_ack_repeats : &totals.syn_repeats, 1);
        if (flow->syn_ns) flow->syn_ns |= 1;
        return;
    }
    if (flow) {
        // The ports are used again before user space has looked.
        if (flow->transfer.bytes) tell_transfer(segment->is_v6, &segment->way, &flow->transfer);
        *flow = NOTHING;
        flow->transfer.first_ns = flow->transfer.last_ns = now;
        flow->transfer.side = (uint8_t)side;
    } else {
        flow = put_seen(segment->is_v6, &segment->way, side, now);
    }
    if (!flow) {
        __sync_fetch_and_add(&totals.lost_flows, 1);
        return;
    }
    flow->syn_ns = now & ~1ULL;
    flow->transfer.opened_ns = now;
    flow->transfer.from_syn = 1;
    flow->end = segment->seq + 1;
    flow->has_end = 1;
}

// A direction whose SYN was not seen.
APART struct seen *begin_late(const struct segment *segment, uint32_t side, uint64_t now) {
    struct seen *flow = put_seen(segment->is_v6, &segment->way, side, now);
    if (!flow) __sync_fetch_and_add(&totals.lost_flows, 1);
    return flow;
}

INLINE struct way back_of(const struct segment *segment) {
    const struct way *way = &segment->way;
    struct way back = {.ports = way->ports << 16 | way->ports >> 16};
    if (RARE(segment->is_v6)) {
        for (uint32_t word = 0; word < 4; word++) {
            back.addresses[word] = way->addresses[4 + word];
            back.addresses[4 + word] = way->addresses[word];
        }
        return back;
    }
    back.addresses[0] = way->addresses[1];
    back.addresses[1] = way->addresses[0];
    return back;
}

// Handles the acknowledgement of a segment. After a SYN-ACK it ends the handshake, which takes a round trip.
INLINE void acknowledge(const struct segment *segment, uint64_t now) {
    struct way back = back_of(segment);
    struct seen *other = find_seen(segment->is_v6, &back), *own;
    uint64_t handshake;
    if (!other) return;
    // Before the first byte it acknowledges the handshake.
    if (other->has_data) {
        if (!other->has_acked || segment->ack - other->acked < HALF) other->acked = segment->ack;
        other->has_acked = 1;
    }
    if (LIKELY(!other->syn_ns)) return;
    own = find_seen(segment->is_v6, &segment->way);
    if (own && own->syn_ns) {
        handshake = now - own->syn_ns;
        if (own->syn_ns < other->syn_ns && !((own->syn_ns | other->syn_ns) & 1) &&
            (totals.handshake_ns == 0 || handshake < totals.handshake_ns))
            totals.handshake_ns = handshake;
        own->transfer.last_ns = other->transfer.last_ns = now;
        own->syn_ns = 0;
    }
    other->syn_ns = 0;
}

// Data of a direction: how much of it is new, and whether another transfer begins.
INLINE void carry(struct seen *flow, const struct segment *segment, uint32_t bytes, uint32_t train,
                  uint64_t now) {
    struct transfer *transfer = &flow->transfer;
    uint32_t end = segment->seq + bytes, fresh = bytes;
    uint64_t silence = now - transfer->last_ns;
    // A probe may carry new data while old data is missing, and a sender that waits for room sends full segments.
    uint32_t is_over = flow->has_acked && flow->acked == flow->end && flow->is_short;
    // Data that was lost before it came here is new as well: it comes later.
    if (flow->has_end) fresh = end - flow->end < HALF ? end - flow->end : 0;
    if (RARE(fresh == 0)) {
        transfer->repeats += 1;
        if (silence >= SILENCE_NS) {
            transfer->late_repeats += 1;
            if (!transfer->is_own) {
                transfer->waited_ns += silence;
                tell_event(LATE, segment->is_v6, &segment->way, now, transfer->first_ns);
            }
        }
    } else {
        if (RARE(transfer->bytes && is_over && silence >= SILENCE_NS)) {
            uint8_t is_own = transfer->is_own, side = transfer->side;
            tell_transfer(segment->is_v6, &segment->way, transfer);
            *transfer = NOTHING.transfer;
            transfer->first_ns = now;
            transfer->is_own = is_own;
            transfer->side = side;
        } else if (RARE(transfer->bytes == 0)) {
            // If the program waited after the handshake for longer than the handshake took, it did not wait for the
            // network.
            uint64_t handshake = transfer->last_ns - transfer->first_ns;
            if (!transfer->from_syn || (!flow->syn_ns && silence >= handshake)) transfer->first_ns = now;
        }
        transfer->bytes += fresh;
        flow->has_data = 1;
        if (!flow->has_acked) transfer->first_bytes += fresh;
        flow->end = end;
        flow->has_end = 1;
        // A train of segments counts with their total length.
        if (!train) train = bytes;
        if (train > flow->largest) flow->largest = train;
        flow->is_short =
            bytes < SHORT || (bytes != flow->largest && bytes % (flow->largest ?: 1) != 0);
    }
    transfer->segments += 1;
    transfer->last_ns = now;
}

// The headers of a packet that seem to be cut off: the rest may be in pages that are not yet readable.
APART enum reason parse_pulled(struct __sk_buff *skb, struct segment *segment) {
    if (bpf_skb_pull_data(skb, skb->len < HEADERS ? skb->len : HEADERS)) return PASS_SHORT;
    return parse_headers((void *)(uint64_t)skb->data, (void *)(uint64_t)skb->data_end, segment);
}

// The payload of one of the shortest frames. As they are padded, it follows from the header of IP. Negative if that
// makes no sense.
APART int payload_of_short(struct __sk_buff *skb, const struct segment *segment) {
    uint32_t network = segment->tcp - (segment->is_v6 ? IPV6 : IPV4), bytes;
    uint16_t total;
    if (bpf_skb_load_bytes(skb, network + (segment->is_v6 ? 4 : 2), &total, sizeof total)) return -1;
    bytes = big16(total) + network + (segment->is_v6 ? IPV6 : 0) - segment->end_of_options;
    return bytes > 64 ? -1 : (int)bytes;
}

// A packet that passes the device in one direction (0: out).
INLINE int see(struct __sk_buff *skb, uint32_t side) {
    uint64_t now = bpf_ktime_get_ns();
    struct segment segment;
    struct seen *flow;
    struct way_totals *way = &totals.ways[side];
    int bytes;
    if (RARE(side == 0 && !device)) {
        struct sk_buff *kernel = bpf_cast_to_kern_ctx(skb);
        device = (uint64_t)kernel->dev;
    }
    way->packets += 1;
    way->bytes += skb->len;
    if (setup.burst_bytes) find_burst(way, skb->len, now);
    if (side == 0 && setup.has_queue) measure_queue(&totals, skb, now);
    else weigh(way, skb->len, now);
    if (!has_room(way, now)) return TCX_NEXT;
    if (RARE(parse_headers((void *)(uint64_t)skb->data, (void *)(uint64_t)skb->data_end,
                           &segment) != REASONS) &&
        parse_pulled(skb, &segment) != REASONS)
        return TCX_NEXT;
    if (RARE(segment.flags & TCP_SYN)) {
        begin(&segment, side, now);
        return TCX_NEXT;
    }
    bytes = (int)(skb->len - segment.end_of_options);
    if (RARE(bytes && skb->len <= 64)) {
        bytes = payload_of_short(skb, &segment);
        if (bytes < 0) return TCX_NEXT;
    }
    if (RARE(segment.flags & TCP_RST)) __sync_fetch_and_add(&totals.resets, 1);
    if (bytes == 0) acknowledge(&segment, now);
    if (bytes == 0 && !(segment.flags & (TCP_FIN | TCP_RST))) return TCX_NEXT;
    flow = find_seen(segment.is_v6, &segment.way);
    if (RARE(!flow && bytes)) flow = begin_late(&segment, side, now);
    if (!flow) return TCX_NEXT;
    if (bytes) {
        if (RARE(flow->acknowledges != segment.ack)) {
            flow->acknowledges = segment.ack;
            acknowledge(&segment, now);
        }
        carry(flow, &segment, (uint32_t)bytes, skb->gso_size, now);
        if (side == 0) flow->transfer.queued = (uint32_t)totals.queue_last ?: skb->len;
        join(flow, segment.is_v6, &segment.way, now);
    }
    if (RARE(segment.flags & (TCP_FIN | TCP_RST))) flow->transfer.closed = 1;
    return TCX_NEXT;
}

SEC("tcx/egress")
int egress(struct __sk_buff *skb) { return see(skb, 0); }

SEC("tcx/ingress")
int ingress(struct __sk_buff *skb) { return see(skb, 1); }

// A packet is dropped: arguments are the packet, the place, and the reason.
SEC("tp_btf/kfree_skb")
int dropped(uint64_t *arguments) {
    struct sk_buff *skb = (void *)arguments[0];
    uint32_t reason = (uint32_t)arguments[2], is_v6;
    struct way way = {};
    struct seen *flow;
    struct receiver *receiver;
    uint64_t now;
    if (!device || !is_queues(reason) || (uint64_t)skb->dev != device) return 0;
    // The packet that was about to join the queue did not.
    if (totals.queue_last >= skb->len) totals.queue_last -= skb->len;
    if (!read_way(skb, &way, &is_v6)) return 0;
    flow = find_seen(is_v6, &way);
    if (!flow) return 0;
    __sync_fetch_and_add(&flow->transfer.drops, 1);
    receiver = find_receiver(flow);
    now = bpf_ktime_get_ns();
    // One drop in a ms is enough.
    if (!receiver || receiver->drop_ms == now / MS) return 0;
    receiver->drop_ms = now / MS;
    tell_event(DROP, is_v6, &way, now, flow->transfer.first_ns);
    return 0;
}

APART void tell_socket(struct sock *sock, uint32_t is_v6, const struct way *way, uint32_t end) {
    struct told_socket told = {.kind = SOCKET, .is_v6 = is_v6, .way = *way, .end = end};
    read_socket(sock, &told);
    tell(&told, sizeof told);
}


// TCP of this machine enters a state of congestion: Loss is entered once for every timeout.
SEC("tp_btf/tcp_cong_state_set")
int changes(uint64_t *arguments) {
    struct sock *sock = (void *)arguments[0];
    uint32_t state = (uint8_t)arguments[1], is_v6, before, sent = 0, needless = 0;
    struct way way = {};
    struct seen *flow;
    uint64_t now;
    if (!device || !way_of(sock, &way, &is_v6)) return 0;
    flow = find_seen(is_v6, &way);
    if (!flow) return 0;
    before = flow->state;
    flow->state = (uint8_t)state;
    flow->transfer.is_own = 1;
    if (state >= RECOVERY && !flow->told) {
        flow->told = 1;
        tell_socket(sock, is_v6, &way, 0);
    }
    // After its repairs, a connection that continues knows which of them were needless.
    if (state == OPEN && before >= RECOVERY) read_retransmissions(sock, &sent, &needless);
    if (needless) tell_socket(sock, is_v6, &way, 0);
    if (state != LOSS) return 0;
    now = bpf_ktime_get_ns();
    flow->transfer.timeouts += 1;
    flow->transfer.waited_ns += now - flow->transfer.last_ns;
    tell_event(TIMEOUT, is_v6, &way, now, flow->transfer.first_ns);
    return 0;
}

SEC("tp_btf/tcp_retransmit_skb")
int repeats(uint64_t *arguments) {
    struct way way = {};
    struct seen *flow;
    uint32_t is_v6;
    if (!device || !way_of((void *)arguments[0], &way, &is_v6)) return 0;
    flow = find_seen(is_v6, &way);
    if (!flow || flow->state == LOSS) return 0;
    if (flow->state == RECOVERY) flow->transfer.fast += 1;
    else flow->transfer.probes += 1;
    return 0;
}

// A connection of this machine opens or closes: arguments are the socket, and its old and new state.
SEC("tp_btf/inet_sock_set_state")
int moves(uint64_t *arguments) {
    struct sock *sock = (void *)arguments[0];
    uint32_t from = (uint32_t)arguments[1], to = (uint32_t)arguments[2], is_v6;
    uint32_t sent = 0, needless = 0;
    struct way way = {};
    struct seen *flow;
    if (!device || (from != ESTABLISHED && to != ESTABLISHED && to != CLOSED)) return 0;
    if (!is_tcp(sock) || !way_of(sock, &way, &is_v6)) return 0;
    flow = find_seen(is_v6, &way);
    if (!flow) return 0;
    flow->transfer.is_own = 1;
    // Repairs continue after a FIN, but most connections do not need any.
    if (to == CLOSED) read_retransmissions(sock, &sent, &needless);
    if (from == ESTABLISHED || sent) tell_socket(sock, is_v6, &way, to == CLOSED ? OVER : CLOSES);
    return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
