// SPDX-License-Identifier: MIT OR GPL-2.0-only
// The types that the laws ask for. Clang's own header clashes with types of the kernel.
#ifndef TAILWATER_STDINT_H
#define TAILWATER_STDINT_H

typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef int int32_t;
typedef long long int64_t;
#define UINT64_MAX 0xffffffffffffffffULL

#endif
