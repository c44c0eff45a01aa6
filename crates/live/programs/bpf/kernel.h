// SPDX-License-Identifier: MIT OR GPL-2.0-only
// The parts of the kernel that these programs use: helpers, maps, and fields of structs that they read. The loader
// finds these fields in the running kernel by name (CO-RE).
#ifndef TAILWATER_KERNEL_H
#define TAILWATER_KERNEL_H

#include <stdint.h>

#define SEC(name) __attribute__((section(name), used))
#define INLINE static inline __attribute__((always_inline))
// For code that few packets need: it is kept apart from code that all need.
#define APART static __attribute__((noinline))
// Declares the attributes of a map.
#define UINT(name, value) int(*name)[value]
#define TYPE(name, value) typeof(value) *name

// From here on as in <linux/bpf.h>.
enum {
    BPF_MAP_TYPE_HASH = 1,
    BPF_MAP_TYPE_ARRAY = 2,
    BPF_MAP_TYPE_PERCPU_ARRAY = 6,
    BPF_MAP_TYPE_LRU_HASH = 9,
    BPF_MAP_TYPE_RINGBUF = 27,
};
enum { BPF_ANY = 0, BPF_NOEXIST = 1 };
enum { BPF_F_MMAPABLE = 1 << 10 };
// A flag of rings (`BPF_RB_NO_WAKEUP`): user space is not woken, since it looks often enough.
enum { NO_WAKEUP = 1 };
// Return values of a program on tcx. TCX_NEXT: the next program decides, or the kernel as if there were none. TCX_DROP:
// the packet is dropped.
enum { TCX_NEXT = -1, TCX_DROP = 2 };

struct bpf_spin_lock {
    uint32_t value;
};

// The context of a program of traffic control.
struct __sk_buff {
    uint32_t len, pkt_type, mark, queue_mapping, protocol, vlan_present, vlan_tci, vlan_proto;
    uint32_t priority, ingress_ifindex, ifindex, tc_index, cb[5], hash, tc_classid;
    uint32_t data, data_end, napi_id, family, remote_ip4, local_ip4, remote_ip6[4], local_ip6[4];
    uint32_t remote_port, local_port, data_meta;
    uint64_t flow_keys, tstamp;
    uint32_t wire_len, gso_segs;
    uint64_t sk;
    uint32_t gso_size;
};

static void *(*const bpf_map_lookup_elem)(void *map, const void *key) = (void *)1;
static long (*const bpf_map_update_elem)(void *map, const void *key, const void *value,
                                         uint64_t flags) = (void *)2;
static uint64_t (*const bpf_ktime_get_ns)(void) = (void *)5;
static long (*const bpf_skb_store_bytes)(struct __sk_buff *skb, uint32_t offset, const void *from,
                                         uint32_t len, uint64_t flags) = (void *)9;
static long (*const bpf_clone_redirect)(struct __sk_buff *skb, uint32_t device,
                                        uint64_t flags) = (void *)13;
static long (*const bpf_skb_load_bytes)(const struct __sk_buff *skb, uint32_t offset, void *to,
                                        uint32_t len) = (void *)26;
static long (*const bpf_l4_csum_replace)(struct __sk_buff *skb, uint32_t offset, uint64_t from,
                                         uint64_t to, uint64_t flags) = (void *)11;
static int64_t (*const bpf_csum_diff)(const void *from, uint32_t from_size, const void *to,
                                      uint32_t to_size, uint32_t seed) = (void *)28;
static long (*const bpf_skb_change_tail)(struct __sk_buff *skb, uint32_t len,
                                         uint64_t flags) = (void *)38;
static long (*const bpf_skb_pull_data)(struct __sk_buff *skb, uint32_t len) = (void *)39;
static long (*const bpf_spin_lock)(struct bpf_spin_lock *lock) = (void *)93;
static long (*const bpf_spin_unlock)(struct bpf_spin_lock *lock) = (void *)94;
static long (*const bpf_skb_ecn_set_ce)(struct __sk_buff *skb) = (void *)97;
static long (*const bpf_ringbuf_output)(void *ring, const void *data, uint64_t size,
                                        uint64_t flags) = (void *)130;
static long (*const bpf_probe_read_kernel)(void *to, uint32_t size,
                                           const void *from) = (void *)113;
static uint64_t (*const bpf_jiffies64)(void) = (void *)118;
static uint64_t (*const bpf_ktime_get_coarse_ns)(void) = (void *)160;
static long (*const bpf_loop)(uint32_t steps, void *step, void *context,
                              uint64_t flags) = (void *)181;

extern void *bpf_cast_to_kern_ctx(void *context) __attribute__((section(".ksyms")));

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct gnet_stats_queue {
    uint32_t qlen, backlog;
};
struct Qdisc {
    struct gnet_stats_queue qstats;
};
struct net_device {
    struct Qdisc *qdisc;
};
struct sk_buff {
    struct net_device *dev;
    uint32_t len;
    unsigned char *head;
    uint16_t network_header;
    uint8_t ip_summed : 2;
};
#pragma clang attribute pop

// Bytes that wait in the queue of the device where a packet came in or leaves, headers included.
INLINE uint32_t backlog_of(struct __sk_buff *skb) {
    struct sk_buff *kernel = bpf_cast_to_kern_ctx(skb);
    return kernel->dev->qdisc->qstats.backlog;
}

INLINE uint16_t big16(uint16_t value) { return __builtin_bswap16(value); }

#endif
