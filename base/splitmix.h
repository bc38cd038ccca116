/* SPDX-License-Identifier: MIT */
/*
 * Pseudo-random numbers: splitmix64 (G. Steele et al., "Fast Splittable
 * Pseudorandom Number Generators", 2014). Any initial state is valid, and equal
 * states give equal sequences. Anyone who knows one number can compute all
 * later ones, so the numbers must not be used as secrets.
 */
#ifndef BASE_SPLITMIX_H
#define BASE_SPLITMIX_H

#include <stdint.h>

/*
 * Returns the next number of a sequence of pseudo-random numbers, and advances
 * *state.
 */
static inline uint64_t splitmix_next(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

#endif
