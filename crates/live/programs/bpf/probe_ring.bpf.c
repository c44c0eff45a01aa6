// SPDX-License-Identifier: MIT OR GPL-2.0-only
// Whether this kernel has ring buffers: four bytes are put into one.
#include "kernel.h"

struct {
    UINT(type, BPF_MAP_TYPE_RINGBUF);
    UINT(max_entries, 4096);
} ring SEC(".maps");

SEC("syscall")
int run(void *nothing) {
    uint32_t word = 7;
    (void)nothing;
    return bpf_ringbuf_output(&ring, &word, sizeof word, 0) == 0 ? 100 : 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
