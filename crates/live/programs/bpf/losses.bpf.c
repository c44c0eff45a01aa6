// SPDX-License-Identifier: MIT OR GPL-2.0-only
// Reports when senders of this machine notice losses: when they begin a fast recovery, and when a timer expires.
// Changes nothing.
#include "kernel.h"
#include "socket.h"

// The same struct as in `src/losses.rs`.
struct told_loss {
    // By the monotonic clock.
    uint64_t now;
    uint32_t state, is_v6;
    // The direction of the data.
    struct way way;
};

struct {
    UINT(type, BPF_MAP_TYPE_RINGBUF);
    UINT(max_entries, 1 << 22);
} ring SEC(".maps");

struct {
    UINT(type, BPF_MAP_TYPE_ARRAY);
    UINT(max_entries, 1);
    TYPE(key, uint32_t);
    TYPE(value, uint64_t);
} untold SEC(".maps");

// States of congestion control (`linux/tcp.h`) and of a connection (`net/tcp_states.h`).
enum { RECOVERY = 3, LOSS = 4, SYN_SENT = 2 };

// Arguments are the socket and the state that it enters, each time anew. A SYN has timers of its own.
SEC("tp_btf/tcp_cong_state_set")
int enters(uint64_t *arguments) {
    struct sock *sock = (void *)arguments[0];
    struct told_loss told = {};
    uint32_t first = 0;
    uint64_t *lost;
    told.state = (uint8_t)arguments[1];
    if (told.state != RECOVERY && told.state != LOSS) return 0;
    if (sock->__sk_common.skc_state == SYN_SENT) return 0;
    if (!way_of(sock, &told.way, &told.is_v6)) return 0;
    told.now = bpf_ktime_get_ns();
    if (bpf_ringbuf_output(&ring, &told, sizeof told, NO_WAKEUP) == 0) return 0;
    lost = bpf_map_lookup_elem(&untold, &first);
    if (lost) __sync_fetch_and_add(lost, 1);
    return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
