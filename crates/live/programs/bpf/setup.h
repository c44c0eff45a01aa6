// SPDX-License-Identifier: MIT OR GPL-2.0-only
// Options that the loader sets before the kernel verifies a program. Options that are off cost nothing.
#ifndef TAILWATER_SETUP_H
#define TAILWATER_SETUP_H

#include "kernel.h"

const volatile struct {
    // 1: ACKs come in by another device than the one by which data leaves.
    uint32_t apart;
    // 1: the right edge of a window never moves back.
    uint32_t no_retract;
    // 1: the program decides and counts, and no packet changes.
    uint32_t shadow;
    // 1: each call of the law is recorded.
    uint32_t records;
} setup SEC(".rodata.setup");

#endif
