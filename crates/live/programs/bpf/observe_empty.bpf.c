// SPDX-License-Identifier: MIT OR GPL-2.0-only
// Programs that do nothing, at the same places as those of `observe.bpf.c`, to measure the cost of the latter.
#include "kernel.h"
#include "seen.h"

const volatile uint64_t setup[5] SEC(".rodata.setup");

struct device_totals totals SEC(".data.totals") = {};

SEC("tcx/egress")
int egress(struct __sk_buff *skb) {
    (void)skb;
    return TCX_NEXT;
}

SEC("tcx/ingress")
int ingress(struct __sk_buff *skb) {
    (void)skb;
    return TCX_NEXT;
}

#define NOTHING(tracepoint, name)                                                                  \
    SEC("tp_btf/" #tracepoint)                                                                     \
    int name(uint64_t *arguments) {                                                                \
        (void)arguments;                                                                           \
        return 0;                                                                                  \
    }

NOTHING(kfree_skb, dropped)
NOTHING(tcp_cong_state_set, changes)
NOTHING(tcp_retransmit_skb, repeats)
NOTHING(inet_sock_set_state, moves)

char LICENSE[] SEC("license") = "Dual MIT/GPL";
