// SPDX-License-Identifier: MIT OR GPL-2.0-only
// The arguments of tracepoints: sockets of the kernel's TCP, and packets that are dropped.
#ifndef TAILWATER_SOCKET_H
#define TAILWATER_SOCKET_H

#include "kernel.h"
#include "seen.h"

enum { AF_INET = 2, AF_INET6 = 10, IPPROTO_TCP = 6 };

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct in6_addr {
    uint8_t bytes[16];
};
struct sock_common {
    uint32_t skc_daddr, skc_rcv_saddr;
    uint16_t skc_dport, skc_num, skc_family;
    volatile unsigned char skc_state;
    struct in6_addr skc_v6_daddr, skc_v6_rcv_saddr;
};
struct dst_metrics {
    uint32_t metrics[17];
};
struct dst_entry {
    // The address of a `dst_metrics`, and flags in its lowest two bits.
    unsigned long _metrics;
};
struct sock {
    struct sock_common __sk_common;
    uint16_t sk_protocol;
    struct dst_entry *sk_dst_cache;
};
struct tcp_congestion_ops {
    char name[16];
};
struct inet_connection_sock {
    const struct tcp_congestion_ops *icsk_ca_ops;
    uint32_t icsk_rto_min;
};
struct minmax_sample {
    uint32_t t, v;
};
struct minmax {
    struct minmax_sample s[3];
};
struct tcp_sock {
    uint32_t srtt_us, snd_cwnd, mss_cache, delivered_ce;
    // Retransmitted segments, and those that the receiver reported to have already.
    uint32_t total_retrans, dsack_dups;
    struct minmax rtt_min;
    uint8_t ecn_flags;
};
struct inet_sock {
    uint16_t inet_sport;
};
// Reasons why queues drop; later kernels have more of them than earlier ones.
enum skb_drop_reason {
    SKB_DROP_REASON_QDISC_DROP = 1,
    SKB_DROP_REASON_QDISC_OVERLIMIT,
    SKB_DROP_REASON_QDISC_CONGESTED,
};
#pragma clang attribute pop

// One of the kernel's numbers, found by its name.
#define EXISTS(name) __builtin_preserve_enum_value(*(typeof(enum skb_drop_reason) *)name, 0)
#define VALUE(name) __builtin_preserve_enum_value(*(typeof(enum skb_drop_reason) *)name, 1)
// A field of the kernel's, found by its name.
#define READ(to, from) bpf_probe_read_kernel(&(to), sizeof(to), __builtin_preserve_access_index(&(from)))
// Whether the kernel has this field.
#define HAS(field) __builtin_preserve_field_info(field, 2)

INLINE int is_queues(uint32_t reason) {
    if (EXISTS(SKB_DROP_REASON_QDISC_DROP) && reason == VALUE(SKB_DROP_REASON_QDISC_DROP)) return 1;
    if (EXISTS(SKB_DROP_REASON_QDISC_OVERLIMIT) &&
        reason == VALUE(SKB_DROP_REASON_QDISC_OVERLIMIT))
        return 1;
    return EXISTS(SKB_DROP_REASON_QDISC_CONGESTED) &&
           reason == VALUE(SKB_DROP_REASON_QDISC_CONGESTED);
}

INLINE int is_tcp(struct sock *sock) { return sock->sk_protocol == IPPROTO_TCP; }

// The direction of what a socket sends. Returns 0 if it is neither IPv4 nor IPv6.
INLINE int way_of(struct sock *sock, struct way *way, uint32_t *is_v6) {
    const struct sock_common *common = &sock->__sk_common;
    const struct inet_sock *inet = (const void *)sock;
    uint32_t near = common->skc_rcv_saddr, far = common->skc_daddr;
    uint16_t family = common->skc_family, port = 0;
    if (family != AF_INET && family != AF_INET6) return 0;
    // A socket that closes has given its number (`skc_num`) back.
    READ(port, inet->inet_sport);
    // As in a header: the port of this side first.
    way->ports = (uint32_t)port | (uint32_t)common->skc_dport << 16;
    // A socket of IPv6 may speak IPv4, and then has those addresses.
    *is_v6 = family == AF_INET6 && far == 0;
    if (!*is_v6) {
        way->addresses[0] = near;
        way->addresses[1] = far;
        return 1;
    }
    READ(*(struct in6_addr *)&way->addresses[0], common->skc_v6_rcv_saddr);
    READ(*(struct in6_addr *)&way->addresses[4], common->skc_v6_daddr);
    return 1;
}

// The direction of a packet that is dropped, from its headers. Returns 0 if it is not TCP's.
INLINE int read_way(struct sk_buff *skb, struct way *way, uint32_t *is_v6) {
    const unsigned char *network = skb->head + skb->network_header;
    uint8_t header[IPV6];
    const four *words = (const four *)header;
    uint32_t length = IPV6;
    if (bpf_probe_read_kernel(header, sizeof header, network)) return 0;
    *is_v6 = header[0] >> 4 == 6;
    if (header[*is_v6 ? 6 : 9] != IPPROTO_TCP) return 0;
    if (*is_v6) {
        for (uint32_t word = 0; word < 8; word++) way->addresses[word] = words[2 + word];
    } else {
        way->addresses[0] = words[3];
        way->addresses[1] = words[4];
        length = (uint32_t)(header[0] & 15) * 4;
    }
    return bpf_probe_read_kernel(&way->ports, sizeof way->ports, network + length) == 0;
}

// Retransmitted segments, and the needless ones among them (RFC 2883): at most as many. None where a kernel does not
// count them.
INLINE void read_retransmissions(struct sock *sock, uint32_t *sent, uint32_t *needless) {
    const struct tcp_sock *tcp = (const void *)sock;
    if (!HAS(tcp->total_retrans) || !HAS(tcp->dsack_dups)) return;
    READ(*sent, tcp->total_retrans);
    READ(*needless, tcp->dsack_dups);
    // Networks duplicate, too.
    if (*needless > *sent) *needless = *sent;
}

// Reads the settings of the route that come before those of the socket: the minimum RTO (`net/tcp.h`, `tcp_rto_min`), and
// the first window (`tcp_input.c`, `tcp_init_cwnd`). They stay 0 if the route has none.
INLINE void read_route(struct sock *sock, struct told_socket *told) {
    // `linux/rtnetlink.h`, whose numbers begin with 1.
    enum { LOCK = 1, INITCWND = 11, RTO_MIN = 13 };
    const struct dst_entry *route = 0;
    const struct dst_metrics *of_route;
    unsigned long address = 0;
    uint32_t locked = 0;
    READ(route, sock->sk_dst_cache);
    if (route) READ(address, route->_metrics);
    of_route = (const void *)(address & ~3UL);
    if (!of_route) return;
    READ(told->route_first_window, of_route->metrics[INITCWND - 1]);
    READ(locked, of_route->metrics[LOCK - 1]);
    if (locked >> RTO_MIN & 1) READ(told->route_min_rto_ms, of_route->metrics[RTO_MIN - 1]);
}

// Reads the TCP state of a connection.
INLINE void read_socket(struct sock *sock, struct told_socket *told) {
    const struct tcp_sock *tcp = (const void *)sock;
    const struct inet_connection_sock *inet = (const void *)sock;
    const struct tcp_congestion_ops *control = 0;
    READ(told->srtt_us, tcp->srtt_us);
    told->srtt_us >>= 3;
    READ(told->min_rtt_us, tcp->rtt_min.s[0].v);
    READ(told->cwnd, tcp->snd_cwnd);
    READ(told->mss, tcp->mss_cache);
    READ(told->delivered_ce, tcp->delivered_ce);
    READ(told->min_rto, inet->icsk_rto_min);
    read_route(sock, told);
    READ(told->ecn_flags, tcp->ecn_flags);
    read_retransmissions(sock, &told->retransmitted, &told->needless);
    told->jiffies = bpf_jiffies64();
    told->now = bpf_ktime_get_ns();
    READ(control, inet->icsk_ca_ops);
    if (control) bpf_probe_read_kernel(told->control, sizeof told->control, control->name);
}

#endif
