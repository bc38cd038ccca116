/* SPDX-License-Identifier: MIT */
/*
 * Powers with real exponents.
 *
 * This function replaces pow(3), which would be the only function of libm that
 * the program needs. Loading libm took a twentieth of the CPU of a fetch that
 * finds nothing new.
 */
#ifndef BASE_POWER_H
#define BASE_POWER_H

#include <stdint.h>

/*
 * Returns `base` (1 or more) to the power of `exponent` (0 or more). The result
 * is infinite if a double cannot hold it. The relative error is at most 10^-11.
 * The cost is some hundreds of divisions, and none if the exponent is an
 * integer.
 */
double power(uint32_t base, double exponent);

#endif
