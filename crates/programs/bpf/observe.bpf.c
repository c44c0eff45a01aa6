// SPDX-License-Identifier: MIT OR GPL-2.0-only
// Watches a device: its queue, the transfers that go through it, how many go to one receiver at once, and what
// becomes of them. Changes nothing.
#include "kernel.h"
#include "idle.h"
#include "seen.h"
#include "socket.h"
#include "waiting.h"

// A direction of a connection.
struct seen {
    struct transfer transfer;
    // When the SYN or SYN-ACK passed; zero if none did, or more than one.
    uint64_t syn_ns;
    // The epoch in which it last told its receiver that it is there, and as what it counts there.
    uint64_t joined;
    struct idle_flow life;
    // Behind the furthest byte; what its receiver has acknowledged; and what its sender acknowledges of the other way.
    uint32_t end, acked, acknowledges;
    // Payload of the largest segment, and the place of its receiver, from one on.
    uint32_t largest, receiver;
    // 1: `end` is known; 1: `acked` is; the state of the sender's TCP; 1: what its TCP knows was told;
    // 1: the furthest segment is not full, as at the end of what a program had to send.
    uint8_t has_end, has_acked, state, told, is_short;
};

// A host that data go to.
struct receiver {
    struct bpf_spin_lock lock;
    // Flows at once, and the most in the ms of the moment.
    uint32_t degree, most;
    uint64_t ms, drop_ms;
    struct idle_state flows;
};

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

enum { RECEIVERS = 8192 };

struct address {
    uint32_t words[4];
};

// Places of receivers, from one on.
struct {
    UINT(type, BPF_MAP_TYPE_HASH);
    UINT(max_entries, RECEIVERS);
    TYPE(key, struct address);
    TYPE(value, uint32_t);
} places SEC(".maps");

// Flows keep the place of their receiver: an array is cheaper to look into.
struct {
    UINT(type, BPF_MAP_TYPE_ARRAY);
    UINT(max_entries, RECEIVERS);
    TYPE(key, uint32_t);
    TYPE(value, struct receiver);
} receivers SEC(".maps");

struct {
    UINT(type, BPF_MAP_TYPE_ARRAY);
    UINT(max_entries, 1);
    TYPE(key, uint32_t);
    TYPE(value, struct device_totals);
} totals SEC(".maps");

// For how many ms so many flows at once went to a receiver.
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

// The device, once a packet has passed: tracepoints hear of all devices of the machine. And the places that are taken.
uint64_t device;
uint32_t places_taken;

static const uint32_t FIRST = 0;
#define HALF (1U << 31)
// Seven to eight epochs are the ms in which flows are counted together.
enum { EPOCH_SHIFT = 17 };
static const struct idle_params TOGETHER = {.epoch_ns = 1 << EPOCH_SHIFT};
enum {
    // New data behind such a silence are another transfer; old data are a timeout.
    SILENCE_NS = 10000000,
    // No path with Ethernet makes full segments this short.
    SHORT = 1200,
    MS = 1000000,
    // Nobody is woken: the user looks often enough.
    NO_WAKEUP = 1,
};
// States of Linux's TCP (`linux/tcp.h`).
enum { ESTABLISHED = 1, RECOVERY = 3, LOSS = 4 };

INLINE struct device_totals *find_totals(void) { return bpf_map_lookup_elem(&totals, &FIRST); }

INLINE struct seen *find_seen(uint32_t is_v6, const struct way *way) {
    if (is_v6) return bpf_map_lookup_elem(&flows6, way);
    return bpf_map_lookup_elem(&flows, way);
}

INLINE void tell(const void *told, uint32_t bytes) {
    struct device_totals *all;
    if (bpf_ringbuf_output(&ring, told, bytes, NO_WAKEUP) == 0) return;
    all = find_totals();
    if (all) __sync_fetch_and_add(&all->lost_events, 1);
}

INLINE void tell_event(uint32_t kind, uint32_t is_v6, const struct way *way, uint64_t now,
                       uint64_t first_ns, uint32_t degree) {
    struct told_event told = {.kind = kind, .is_v6 = is_v6, .way = *way};
    told.now = now;
    told.first_ns = first_ns;
    told.degree = degree;
    tell(&told, sizeof told);
}

// The receiver of a way.
INLINE struct address receiver_of(uint32_t is_v6, const struct way *way) {
    struct address to = {};
    for (uint32_t word = 0; word < 4; word++)
        if (is_v6) to.words[word] = way->addresses[4 + word];
    if (!is_v6) to.words[0] = way->addresses[1];
    return to;
}

// The place of a receiver, from one on; zero if there is no room.
INLINE uint32_t place_of(uint32_t is_v6, const struct way *way) {
    struct address to = receiver_of(is_v6, way);
    uint32_t *known = bpf_map_lookup_elem(&places, &to), place;
    if (known) return *known;
    place = __sync_fetch_and_add(&places_taken, 1) + 1;
    // Another processor may have been faster.
    bpf_map_update_elem(&places, &to, &place, BPF_NOEXIST);
    known = bpf_map_lookup_elem(&places, &to);
    return known ? *known : 0;
}

INLINE struct receiver *find_receiver(const struct seen *flow) {
    uint32_t number = flow->receiver - 1;
    return bpf_map_lookup_elem(&receivers, &number);
}

// A flow with data counts at its receiver for a ms. It says so once in an epoch.
INLINE void join(struct seen *flow, uint32_t is_v6, const struct way *way, uint64_t now) {
    struct receiver *receiver;
    uint32_t degree, most = 0;
    uint64_t begin = now >> EPOCH_SHIFT << EPOCH_SHIFT, ms = now / MS, ended = 0, *count;
    if (flow->joined == begin) return;
    flow->joined = begin;
    if (!flow->receiver) flow->receiver = place_of(is_v6, way);
    receiver = find_receiver(flow);
    if (!receiver) return;
    bpf_spin_lock(&receiver->lock);
    for (uint32_t i = 0; i < IDLE_EPOCHS; i++) {
        if (!idle_is_behind(&TOGETHER, &receiver->flows, begin)) break;
        receiver->degree -= idle_step(&TOGETHER, &receiver->flows, begin);
    }
    flow->life.is_open = 1;
    receiver->degree += idle_on_life(&receiver->flows, &flow->life);
    degree = receiver->degree;
    if (receiver->ms != ms) {
        ended = receiver->ms;
        most = receiver->most;
        receiver->ms = ms;
        receiver->most = 0;
    }
    if (degree > receiver->most) receiver->most = degree;
    bpf_spin_unlock(&receiver->lock);
    if (!ended) return;
    degree = most < DEGREES ? most : DEGREES - 1;
    count = bpf_map_lookup_elem(&degrees, &degree);
    if (count) __sync_fetch_and_add(count, 1);
    if (most >= setup.degree) tell_event(INCAST, is_v6, way, ended * MS, 0, most);
}

// A SYN or SYN-ACK begins a direction.
INLINE void begin(struct device_totals *all, const struct segment *segment, uint32_t side,
                  uint64_t now) {
    uint32_t answers = segment->flags & TCP_ACK;
    struct seen *flow = find_seen(segment->is_v6, &segment->way), none = {};
    if (flow && flow->has_end && flow->end == segment->seq + 1 && !flow->transfer.closed) {
        __sync_fetch_and_add(answers ? &all->syn_ack_repeats : &all->syn_repeats, 1);
        flow->syn_ns = 0;
        return;
    }
    if (flow && flow->transfer.bytes) {
        // The ports are used again before the user has looked.
        struct told_transfer told = {.kind = TRANSFER,
                                     .is_v6 = segment->is_v6,
                                     .way = segment->way,
                                     .transfer = flow->transfer};
        tell(&told, sizeof told);
    }
    none.transfer.first_ns = none.transfer.last_ns = none.syn_ns = now;
    none.transfer.from_syn = 1;
    none.transfer.side = (uint8_t)side;
    none.end = segment->seq + 1;
    none.has_end = 1;
    if (segment->is_v6) bpf_map_update_elem(&flows6, &segment->way, &none, BPF_ANY);
    else if (bpf_map_update_elem(&flows, &segment->way, &none, BPF_ANY))
        __sync_fetch_and_add(&all->lost_flows, 1);
}

INLINE struct way back_of(const struct segment *segment) {
    const struct way *way = &segment->way;
    struct way back = {.ports = way->ports << 16 | way->ports >> 16};
    uint32_t words = segment->is_v6 ? 4 : 1;
    for (uint32_t word = 0; word < 4; word++) {
        if (word == words) break;
        back.addresses[word] = way->addresses[words + word];
        back.addresses[words + word] = way->addresses[word];
    }
    return back;
}

// What a segment acknowledges. Behind a SYN-ACK it ends the handshake, which takes a round trip.
INLINE void acknowledge(struct device_totals *all, const struct segment *segment, uint64_t now) {
    struct way back = back_of(segment);
    struct seen *other = find_seen(segment->is_v6, &back), *own;
    uint64_t handshake;
    if (!other) return;
    // Before the first byte it is the handshake that is acknowledged.
    if (other->transfer.bytes) {
        if (!other->has_acked || segment->ack - other->acked < HALF) other->acked = segment->ack;
        other->has_acked = 1;
    }
    if (!other->syn_ns) return;
    own = find_seen(segment->is_v6, &segment->way);
    if (own && own->syn_ns && own->syn_ns < other->syn_ns) {
        handshake = now - own->syn_ns;
        if (all->handshake_ns == 0 || handshake < all->handshake_ns) all->handshake_ns = handshake;
    }
    other->syn_ns = 0;
}

// Data of a direction: what is new of them, and whether another transfer begins.
INLINE void carry(struct seen *flow, const struct segment *segment, uint32_t bytes, uint32_t train,
                  uint64_t now) {
    struct transfer *transfer = &flow->transfer;
    uint32_t end = segment->seq + bytes, fresh = bytes;
    uint64_t silence = now - transfer->last_ns;
    // A probe may carry new data while old ones are missing, and whoever waits for room sends full segments.
    uint32_t is_over = flow->has_acked && flow->acked == flow->end && flow->is_short;
    // What was lost before it came here is new as well: it comes later.
    if (flow->has_end) fresh = end - flow->end < HALF ? end - flow->end : 0;
    if (fresh == 0) {
        transfer->repeats += 1;
        if (silence >= SILENCE_NS) {
            transfer->late_repeats += 1;
            if (!transfer->is_own) {
                transfer->waited_ns += silence;
                tell_event(LATE, segment->is_v6, &segment->way, now, transfer->first_ns, 0);
            }
        }
    } else {
        if (transfer->bytes && is_over && silence >= SILENCE_NS) {
            struct told_transfer told = {
                .kind = TRANSFER, .is_v6 = segment->is_v6, .way = segment->way, .transfer = *transfer};
            struct transfer next = {
                .first_ns = now, .is_own = transfer->is_own, .side = transfer->side};
            tell(&told, sizeof told);
            *transfer = next;
        } else if (transfer->bytes == 0 && !transfer->from_syn) {
            transfer->first_ns = now;
        }
        transfer->bytes += fresh;
        if (!flow->has_acked) transfer->first_bytes += fresh;
        flow->end = end;
        flow->has_end = 1;
        // A train of segments is as long as they are together.
        if (!train) train = bytes;
        if (train > flow->largest) flow->largest = train;
        flow->is_short =
            bytes < SHORT || (bytes != flow->largest && bytes % (flow->largest ?: 1) != 0);
    }
    transfer->segments += 1;
    transfer->last_ns = now;
}

// A packet that goes one way (0: out) through the device.
INLINE int see(struct __sk_buff *skb, uint32_t side) {
    struct device_totals *all = find_totals();
    uint64_t now = bpf_ktime_get_ns();
    struct segment segment;
    struct seen *flow;
    struct way_totals *way;
    uint32_t bytes;
    uint16_t total;
    if (!all) return TCX_NEXT;
    if (side == 0 && !device) {
        struct sk_buff *kernel = bpf_cast_to_kern_ctx(skb);
        device = (uint64_t)kernel->dev;
    }
    way = &all->ways[side];
    way->packets += 1;
    way->bytes += skb->len;
    if (setup.burst_bytes) find_burst(way, skb->len, now);
    if (side == 0 && setup.has_queue) measure_queue(all, skb, now);
    else weigh(way, skb->len, now);
    if (!has_room(way, now)) return TCX_NEXT;
    if (parse((void *)(uint64_t)skb->data, (void *)(uint64_t)skb->data_end, &segment) != REASONS) {
        if (bpf_skb_pull_data(skb, skb->len < HEADERS ? skb->len : HEADERS)) return TCX_NEXT;
        if (parse((void *)(uint64_t)skb->data, (void *)(uint64_t)skb->data_end, &segment) !=
            REASONS)
            return TCX_NEXT;
    }
    if (segment.flags & TCP_SYN) {
        begin(all, &segment, side, now);
        return TCX_NEXT;
    }
    bytes = skb->len - segment.end_of_options;
    // The shortest frames are padded: their header of IP says how long they are.
    if (bytes && skb->len <= 64) {
        uint32_t network = segment.tcp - (segment.is_v6 ? IPV6 : IPV4);
        if (bpf_skb_load_bytes(skb, network + (segment.is_v6 ? 4 : 2), &total, 2)) return TCX_NEXT;
        bytes = big16(total) + network + (segment.is_v6 ? IPV6 : 0) - segment.end_of_options;
        if (bytes > 64) return TCX_NEXT;
    }
    if (segment.flags & TCP_RST) __sync_fetch_and_add(&all->resets, 1);
    if (bytes == 0) acknowledge(all, &segment, now);
    if (bytes == 0 && !(segment.flags & (TCP_FIN | TCP_RST))) return TCX_NEXT;
    flow = find_seen(segment.is_v6, &segment.way);
    if (!flow && bytes) {
        struct seen none = {};
        none.transfer.first_ns = none.transfer.last_ns = now;
        none.transfer.side = (uint8_t)side;
        if (segment.is_v6) bpf_map_update_elem(&flows6, &segment.way, &none, BPF_NOEXIST);
        else bpf_map_update_elem(&flows, &segment.way, &none, BPF_NOEXIST);
        flow = find_seen(segment.is_v6, &segment.way);
        if (!flow) __sync_fetch_and_add(&all->lost_flows, 1);
    }
    if (!flow) return TCX_NEXT;
    if (bytes) {
        if (flow->acknowledges != segment.ack) {
            flow->acknowledges = segment.ack;
            acknowledge(all, &segment, now);
        }
        carry(flow, &segment, bytes, skb->gso_size, now);
        if (side == 0) flow->transfer.queued = (uint32_t)all->queue_last ?: skb->len;
        join(flow, segment.is_v6, &segment.way, now);
    }
    if (segment.flags & (TCP_FIN | TCP_RST)) flow->transfer.closed = 1;
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
    struct device_totals *all;
    struct seen *flow;
    struct receiver *receiver;
    uint64_t now;
    if (!device || !is_queues(reason) || (uint64_t)skb->dev != device) return 0;
    all = find_totals();
    // The one that was about to join did not.
    if (all && all->queue_last >= skb->len) all->queue_last -= skb->len;
    if (!read_way(skb, &way, &is_v6)) return 0;
    flow = find_seen(is_v6, &way);
    if (!flow) return 0;
    __sync_fetch_and_add(&flow->transfer.drops, 1);
    receiver = find_receiver(flow);
    now = bpf_ktime_get_ns();
    // One in a ms is enough to know.
    if (!receiver || receiver->drop_ms == now / MS) return 0;
    receiver->drop_ms = now / MS;
    tell_event(DROP, is_v6, &way, now, flow->transfer.first_ns, 0);
    return 0;
}

INLINE void tell_socket(struct sock *sock, uint32_t is_v6, const struct way *way) {
    struct told_socket told = {.kind = SOCKET, .is_v6 = is_v6, .way = *way};
    read_socket(sock, &told);
    tell(&told, sizeof told);
}

// TCP of this machine enters a state of congestion: Loss is entered once for every timeout.
SEC("tp_btf/tcp_cong_state_set")
int changes(uint64_t *arguments) {
    struct sock *sock = (void *)arguments[0];
    uint32_t state = (uint8_t)arguments[1], is_v6;
    struct way way = {};
    struct seen *flow;
    uint64_t now;
    if (!device || !way_of(sock, &way, &is_v6)) return 0;
    flow = find_seen(is_v6, &way);
    if (!flow) return 0;
    flow->state = (uint8_t)state;
    flow->transfer.is_own = 1;
    if (state >= RECOVERY && !flow->told) {
        flow->told = 1;
        tell_socket(sock, is_v6, &way);
    }
    if (state != LOSS) return 0;
    now = bpf_ktime_get_ns();
    flow->transfer.timeouts += 1;
    flow->transfer.waited_ns += now - flow->transfer.last_ns;
    tell_event(TIMEOUT, is_v6, &way, now, flow->transfer.first_ns, 0);
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
    struct way way = {};
    struct seen *flow;
    if (!device || (from != ESTABLISHED && to != ESTABLISHED)) return 0;
    if (!is_tcp(sock) || !way_of(sock, &way, &is_v6)) return 0;
    flow = find_seen(is_v6, &way);
    if (!flow) return 0;
    flow->transfer.is_own = 1;
    if (from == ESTABLISHED) tell_socket(sock, is_v6, &way);
    return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
