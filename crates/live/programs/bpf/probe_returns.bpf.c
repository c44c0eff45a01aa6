// SPDX-License-Identifier: MIT OR GPL-2.0-only
// Whether values that a function of a struct_ops returns arrive: the kernel has such a struct for tests alone.
#include "kernel.h"

struct bpf_dummy_ops_state {
    int val;
} __attribute__((preserve_access_index));

struct bpf_dummy_ops {
    int (*test_1)(struct bpf_dummy_ops_state *state);
};

SEC("struct_ops/test_1")
int run(uint64_t *arguments) {
    struct bpf_dummy_ops_state *state = (void *)arguments[0];
    return state ? state->val : -1;
}

SEC(".struct_ops")
struct bpf_dummy_ops dummy = {.test_1 = (void *)run};

char LICENSE[] SEC("license") = "Dual MIT/GPL";
