// SPDX-License-Identifier: MIT OR GPL-2.0-only
// Whether a program hears of every packet that joins a queue (the tracepoint qdisc_enqueue).
#include "kernel.h"

struct {
    UINT(type, BPF_MAP_TYPE_ARRAY);
    UINT(max_entries, 1);
    TYPE(key, uint32_t);
    TYPE(value, uint64_t);
} heard SEC(".maps");

SEC("tp_btf/qdisc_enqueue")
int run(void *arguments) {
    uint32_t first = 0;
    uint64_t *count = bpf_map_lookup_elem(&heard, &first);
    (void)arguments;
    if (count) *count += 1;
    return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
