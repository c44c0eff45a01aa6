// SPDX-License-Identifier: MIT OR GPL-2.0-only
// Every law for one vector of arguments, so that a test can compare the results of the same text in the kernel and in a
// program of user space.
#include "kernel.h"

#include "grant.h"
#include "hscc.h"
#include "idle.h"
#include "mark.h"
#include "rwndq.h"

// Inputs, which the laws replace by their results.
struct vector {
    struct hscc_params hscc_params;
    struct hscc_state hscc_state;
    uint32_t scale;
    uint64_t level;
    uint32_t flags, advertised, size, flow_case;
    struct rwndq_params rwndq_params;
    struct rwndq_state rwndq_state;
    struct idle_params idle_params;
    struct idle_state idle_state;
    struct idle_flow idle_flow;
    uint64_t now;
    uint32_t hscc_window, rwndq_case, rwndq_window, ack;
    uint32_t idle, changes, revives, unused;
};

SEC("syscall")
int run(struct vector *vector) {
    // A kernel does not let the laws write to a context.
    struct vector copy = *vector, *v = &copy;
    hscc_on_level(&v->hscc_params, &v->hscc_state, v->level);
    v->hscc_window = hscc_window(&v->hscc_params, &v->hscc_state, (uint8_t)v->flags,
                                 (uint16_t)v->advertised, (uint8_t)v->scale);
    v->rwndq_case = rwndq_case((uint8_t)v->flags);
    rwndq_on_packet(&v->rwndq_state, v->size);
    rwndq_on_flow(&v->rwndq_params, &v->rwndq_state, v->flow_case);
    rwndq_on_sample(&v->rwndq_params, &v->rwndq_state, v->level);
    v->rwndq_window = rwndq_window(&v->rwndq_params, &v->rwndq_state, (uint16_t)v->advertised,
                                   (uint8_t)v->scale);
    v->idle = 0;
    for (uint32_t i = 0; i < IDLE_EPOCHS; i++)
        if (idle_is_behind(&v->idle_params, &v->idle_state, v->now))
            v->idle += idle_step(&v->idle_params, &v->idle_state, v->now);
    if (v->flow_case == RWNDQ_OPENS) v->changes = idle_on_open(&v->idle_state, &v->idle_flow, v->ack);
    else v->changes = idle_on_close(&v->idle_state, &v->idle_flow);
    v->revives = idle_on_ack(&v->idle_state, &v->idle_flow, v->ack + v->size);
    if (v->revives) v->revives = idle_on_life(&v->idle_state, &v->idle_flow);
    *vector = copy;
    return 0;
}

// The same of marks and of grants, which one stack does not hold beside the others.
struct grant_vector {
    struct mark_params mark_params;
    struct grant_params grant_params;
    struct flight flight;
    struct flight_flow flow;
    uint64_t now, level;
    // What happens to the connection, with the acknowledgement, the bytes and the window field of its segment.
    uint32_t kind, ack, bytes, advertised;
    uint32_t marks, window, asked, unused;
};

enum { OPENS, JOINS, ACKNOWLEDGES, HAS_ITS_TURN, CLOSES };

SEC("syscall")
int run_grants(struct grant_vector *vector) {
    struct grant_vector copy = *vector, *v = &copy;
    v->marks = mark_marks(&v->mark_params, v->level);
    for (uint32_t i = 0; i < FLIGHT_EPOCHS; i++)
        if (flight_is_behind(&v->flight, v->now))
            flight_step(&v->flight, v->grant_params.epoch_ns, v->now);
    v->window = v->asked = 0;
    switch (v->kind) {
    case OPENS: v->window = grant_open(&v->grant_params, &v->flight, &v->flow, v->ack, v->bytes); break;
    case JOINS: grant_join(&v->flight, &v->flow, v->ack, v->bytes); break;
    case CLOSES:
        flight_take(&v->flight, &v->flow);
        __builtin_memset(&v->flow, 0, sizeof v->flow);
        break;
    default:
        v->flow.most_bytes = v->bytes;
        grant_on_ack(&v->flight, &v->flow, v->ack);
        v->asked = grant_ask(&v->grant_params, &v->flight, &v->flow, v->kind == HAS_ITS_TURN);
        v->window = grant_tell(&v->flight, &v->flow, (uint16_t)v->advertised);
    }
    *vector = copy;
    return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
