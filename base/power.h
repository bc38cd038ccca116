/* SPDX-License-Identifier: MIT */
/*
 * Powers with real exponents.
 *
 * pow(3) was the one function of libm in the program: loading libm took a
 * twentieth of the CPU of a request for which nothing is new.
 */
#ifndef BASE_POWER_H
#define BASE_POWER_H

#include <stdint.h>

/*
 * `base` (1 or more) to the power of `exponent` (0 or more), infinite where
 * that is beyond a double. Wrong by one part in 10^11 at most. Some hundreds of
 * divisions, none where the exponent is an integer.
 */
double power(uint32_t base, double exponent);

#endif
