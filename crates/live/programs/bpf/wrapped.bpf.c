// SPDX-License-Identifier: MIT OR GPL-2.0-only
// Programs around those of a law, for measurements and tests.
#include LAW

// The window of the frame that is measured, and its offset after Ethernet and IPv4.
enum { FRESH = 60000, WINDOW_AT = 48 };

static long (*const bpf_skb_vlan_push)(struct __sk_buff *skb, uint16_t protocol,
                                       uint16_t tag) = (void *)18;

// A repeated test run reuses the packet, whose window is low from the second time on.
INLINE void restore_window(struct __sk_buff *skb) {
    uint16_t window = big16(FRESH);
    bpf_skb_store_bytes(skb, WINDOW_AT, &window, sizeof window, 0);
}

// The cost of calling a program.
SEC("tcx/ingress")
int nothing(struct __sk_buff *skb) {
    (void)skb;
    return TCX_NEXT;
}

// The cost of restoring the packet's window.
SEC("tcx/ingress")
int restore(struct __sk_buff *skb) {
    restore_window(skb);
    return TCX_NEXT;
}

// The law, for a packet whose window is as high as before.
SEC("tcx/ingress")
__attribute__((flatten)) int restored(struct __sk_buff *skb) {
    restore_window(skb);
    return ingress(skb);
}

// The law, for a packet whose VLAN tag is stored beside it, as from a network card.
SEC("tcx/ingress")
__attribute__((flatten)) int tagged(struct __sk_buff *skb) {
    if (bpf_skb_vlan_push(skb, big16(0x8100), 7)) return TCX_NEXT;
    return ingress(skb);
}
