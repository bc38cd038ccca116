/* SPDX-License-Identifier: MIT */
/* Sizes for people. */
#ifndef BUILTIN_HUMAN_H
#define BUILTIN_HUMAN_H

#include <stdint.h>

/*
 * Print a size in its largest unit ("12 bytes", "3.50 MiB"), with two
 * decimals; gibibytes are not rounded.
 */
void human_print(uint64_t bytes);

#endif
