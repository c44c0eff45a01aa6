// SPDX-License-Identifier: MIT OR GPL-2.0-only
// Whether this kernel counts to a hundred by a loop that it verifies once (bpf_loop).
#include "kernel.h"

static long step(uint32_t number, uint32_t *sum) {
    (void)number;
    *sum += 1;
    return 0;
}

SEC("syscall")
int run(void *nothing) {
    uint32_t sum = 0;
    (void)nothing;
    bpf_loop(100, step, &sum, 0);
    return (int)sum;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
