/* SPDX-License-Identifier: MIT */
/*
 * Instructions of the processor that the program runs on, which the compiler
 * may not take for granted.
 *
 * The C library has asked the processor when the program was loaded, and is
 * asked for the answer. The compiler's __builtin_cpu_supports() asks again, in
 * a constructor of every program that uses it: in a virtual machine each such
 * question is an exit to the host, and the dozen of them took 60 us of CPU of
 * processes that live for one millisecond.
 *
 * Threads may ask together; a call costs some nanoseconds.
 */
#ifndef BASE_CPU_H
#define BASE_CPU_H

#include <stdbool.h>

/* Counting the bits of a word. */
bool cpu_has_popcnt(void);

/* Integers in registers of 256 bits, which the system saves as well. */
bool cpu_has_avx2(void);

/* SHA-1 and SHA-256. */
bool cpu_has_sha(void);

#endif
