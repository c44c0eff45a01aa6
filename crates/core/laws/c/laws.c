// The laws for callers in another language: one symbol for each function of the headers.
#include <stddef.h>

#include "grant.h"
#include "hscc.h"
#include "idle.h"
#include "mark.h"
#include "rwndq.h"

// The mirror in Rust asserts the same sizes and offsets.
_Static_assert(sizeof(struct hscc_params) == 24 && sizeof(struct hscc_state) == 4, "sizes");
_Static_assert(sizeof(struct rwndq_params) == 24 && sizeof(struct rwndq_state) == 40, "sizes");
_Static_assert(sizeof(struct idle_params) == 8 && sizeof(struct idle_state) == 48, "sizes");
_Static_assert(sizeof(struct idle_flow) == 16, "size");
_Static_assert(offsetof(struct idle_state, ends_ns) == 8, "offset");
_Static_assert(offsetof(struct idle_state, active) == 16, "offset");
_Static_assert(offsetof(struct idle_flow, ack) == 8, "offset");
_Static_assert(offsetof(struct idle_flow, is_open) == 12, "offset");
_Static_assert(offsetof(struct hscc_params, off_below_units) == 8, "offset");
_Static_assert(offsetof(struct hscc_params, window_bytes) == 16, "offset");
_Static_assert(offsetof(struct hscc_params, rewrite_syn_ack) == 20, "offset");
_Static_assert(offsetof(struct rwndq_params, max_window_q16_bytes) == 8, "offset");
_Static_assert(offsetof(struct rwndq_params, mss_bytes) == 16, "offset");
_Static_assert(offsetof(struct rwndq_params, shared_start) == 18, "offset");
_Static_assert(offsetof(struct rwndq_params, samples) == 20, "offset");
_Static_assert(offsetof(struct rwndq_params, paths) == 22, "offset");
_Static_assert(offsetof(struct rwndq_state, up_q8_bytes) == 8, "offset");
_Static_assert(offsetof(struct rwndq_state, down_q8_bytes) == 16, "offset");
_Static_assert(offsetof(struct rwndq_state, flows) == 24, "offset");
_Static_assert(offsetof(struct rwndq_state, max_size_bytes) == 28, "offset");
_Static_assert(offsetof(struct rwndq_state, samples_seen) == 32, "offset");
_Static_assert(offsetof(struct rwndq_state, slow_start) == 36, "offset");

_Static_assert(sizeof(struct mark_params) == 8, "size");

_Static_assert(sizeof(struct grant_params) == 24 && sizeof(struct flight) == 96, "sizes");
_Static_assert(sizeof(struct flight_flow) == 32, "size");
_Static_assert(offsetof(struct grant_params, epoch_ns) == 8, "offset");
_Static_assert(offsetof(struct grant_params, mss_bytes) == 16, "offset");
_Static_assert(offsetof(struct grant_params, least_segments) == 20, "offset");
_Static_assert(offsetof(struct flight, ends_ns) == 8, "offset");
_Static_assert(offsetof(struct flight, bytes) == 16, "offset");
_Static_assert(offsetof(struct flight, active) == 24, "offset");
_Static_assert(offsetof(struct flight, waiting) == 28, "offset");
_Static_assert(offsetof(struct flight, bytes_of) == 32, "offset");
_Static_assert(offsetof(struct flight, active_of) == 64, "offset");
_Static_assert(offsetof(struct flight_flow, ack) == 8, "offset");
_Static_assert(offsetof(struct flight_flow, edge) == 12, "offset");
_Static_assert(offsetof(struct flight_flow, counted_bytes) == 16, "offset");
_Static_assert(offsetof(struct flight_flow, most_bytes) == 20, "offset");
_Static_assert(offsetof(struct flight_flow, scale) == 24, "offset");
_Static_assert(offsetof(struct flight_flow, counts) == 25, "offset");
_Static_assert(offsetof(struct flight_flow, waits) == 26, "offset");
_Static_assert(offsetof(struct flight_flow, is_known) == 27, "offset");
_Static_assert(offsetof(struct flight_flow, segment_bytes) == 28, "offset");

void laws_grant_init(struct grant_params *params, uint64_t idle_ns) {
    grant_init(params, idle_ns);
}

uint32_t laws_flight_is_behind(const struct flight *flight, uint64_t now_ns) {
    return flight_is_behind(flight, now_ns);
}

void laws_flight_step(struct flight *flight, uint64_t epoch_ns, uint64_t now_ns) {
    flight_step(flight, epoch_ns, now_ns);
}

void laws_flight_take(struct flight *flight, struct flight_flow *flow) {
    flight_take(flight, flow);
}

void laws_grant_on_ack(struct flight *flight, struct flight_flow *flow, uint32_t ack) {
    grant_on_ack(flight, flow, ack);
}

uint32_t laws_grant_ask(const struct grant_params *params, struct flight *flight,
                        struct flight_flow *flow, uint32_t is_its_turn) {
    return grant_ask(params, flight, flow, is_its_turn);
}

uint32_t laws_grant_open(const struct grant_params *params, struct flight *flight,
                         struct flight_flow *flow, uint32_t ack, uint32_t most_bytes) {
    return grant_open(params, flight, flow, ack, most_bytes);
}

void laws_grant_join(struct flight *flight, struct flight_flow *flow, uint32_t ack,
                     uint32_t told_bytes) {
    grant_join(flight, flow, ack, told_bytes);
}

void laws_grant_told(struct flight *flight, struct flight_flow *flow, uint32_t edge) {
    grant_told(flight, flow, edge);
}

uint16_t laws_grant_tell(struct flight *flight, struct flight_flow *flow,
                         uint16_t advertised_units) {
    return grant_tell(flight, flow, advertised_units);
}

void laws_hscc_init(struct hscc_params *params, uint64_t buffer_units, uint32_t alpha1_millionths,
                    uint32_t alpha2_millionths) {
    hscc_init(params, buffer_units, alpha1_millionths, alpha2_millionths);
}

void laws_hscc_on_level(const struct hscc_params *params, struct hscc_state *state,
                        uint64_t qlen_units) {
    hscc_on_level(params, state, qlen_units);
}

uint16_t laws_hscc_window(const struct hscc_params *params, const struct hscc_state *state,
                          uint8_t tcp_flags, uint16_t advertised_units, uint8_t scale) {
    return hscc_window(params, state, tcp_flags, advertised_units, scale);
}

uint32_t laws_mark_marks(const struct mark_params *params, uint64_t qlen_bytes) {
    return mark_marks(params, qlen_bytes);
}

void laws_idle_init(struct idle_params *params, uint64_t after_ns) {
    idle_init(params, after_ns);
}

uint32_t laws_idle_is_behind(const struct idle_params *params, const struct idle_state *state,
                             uint64_t now_ns) {
    return idle_is_behind(params, state, now_ns);
}

uint32_t laws_idle_step(const struct idle_params *params, struct idle_state *state,
                        uint64_t now_ns) {
    return idle_step(params, state, now_ns);
}

uint32_t laws_idle_on_open(struct idle_state *state, struct idle_flow *flow, uint32_t ack) {
    return idle_on_open(state, flow, ack);
}

uint32_t laws_idle_on_close(struct idle_state *state, struct idle_flow *flow) {
    return idle_on_close(state, flow);
}

uint32_t laws_idle_on_ack(const struct idle_state *state, struct idle_flow *flow, uint32_t ack) {
    return idle_on_ack(state, flow, ack);
}

uint32_t laws_idle_on_life(struct idle_state *state, struct idle_flow *flow) {
    return idle_on_life(state, flow);
}

void laws_rwndq_init(struct rwndq_params *params, struct rwndq_state *state, uint64_t buffer_bytes,
                     uint32_t alpha_millionths, uint8_t scale) {
    rwndq_init(params, state, buffer_bytes, alpha_millionths, scale);
}

void laws_rwndq_on_packet(struct rwndq_state *state, uint32_t size_bytes) {
    rwndq_on_packet(state, size_bytes);
}

uint32_t laws_rwndq_case(uint8_t tcp_flags) {
    return rwndq_case(tcp_flags);
}

void laws_rwndq_on_flow(const struct rwndq_params *params, struct rwndq_state *state,
                        uint32_t flow_case) {
    rwndq_on_flow(params, state, flow_case);
}

void laws_rwndq_share(const struct rwndq_params *params, struct rwndq_state *state,
                      uint64_t flows) {
    rwndq_share(params, state, flows);
}

void laws_rwndq_on_sample(const struct rwndq_params *params, struct rwndq_state *state,
                          uint64_t qlen_bytes) {
    rwndq_on_sample(params, state, qlen_bytes);
}

uint16_t laws_rwndq_window(const struct rwndq_params *params, const struct rwndq_state *state,
                           uint16_t advertised_units, uint8_t scale) {
    return rwndq_window(params, state, advertised_units, scale);
}

#ifdef LAWS_TRAPS
// Undefined for 32 and more: a test sees that the traps of this build spring.
uint32_t laws_shift(uint32_t places) {
    return UINT32_C(1) << places;
}
#endif
