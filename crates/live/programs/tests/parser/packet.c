// SPDX-License-Identifier: MIT OR GPL-2.0-only
// The parser of the programs for a test: the same text, compiled for this machine.
#include "packet.h"

// What the programs find in a frame.
struct seen {
    struct segment segment;
    struct options options;
    // 1: the options could be read, and make sense.
    uint32_t has_options;
};

uint32_t packet_see(const uint8_t *frame, uint32_t length, struct seen *seen) {
    enum reason reason = parse(frame, frame + length, &seen->segment);
    const struct segment *segment = &seen->segment;
    struct options *options = &seen->options;
    if (reason != REASONS) return reason;
    // Like `read_options` of `port.h`, which uses the kernel's helpers for the bytes and the loop.
    options->scale = NO_SCALE;
    options->length = segment->end_of_options - segment->options;
    __builtin_memcpy(options->bytes, frame + segment->options, options->length);
    for (uint32_t step = 0; step < MOST_OPTIONS; step++)
        if (next_option(step, options)) break;
    seen->has_options = !options->broken;
    return reason;
}
