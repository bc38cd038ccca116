/* SPDX-License-Identifier: MIT */
/*
 * Tells which optional instructions the processor has.
 *
 * The answers come from the C library, which asked the processor when the
 * program was loaded. The compiler's __builtin_cpu_supports() would ask again,
 * in a constructor of every program that uses it. In a virtual machine each
 * such question is an exit to the host. A dozen such questions took 60 us of
 * CPU, which is much for processes that live for one millisecond.
 *
 * All threads may call these functions. A call costs some nanoseconds.
 */
#ifndef BASE_CPU_H
#define BASE_CPU_H

#include <stdbool.h>

/* Returns whether the processor can count the bits of a word (POPCNT). */
bool cpu_has_popcnt(void);

/*
 * Returns whether 256-bit integer instructions (AVX2) are usable: the processor
 * has them, and the operating system saves their registers when it switches
 * between threads.
 */
bool cpu_has_avx2(void);

/* Returns whether the processor has instructions for SHA-1 and SHA-256. */
bool cpu_has_sha(void);

#endif
