/* SPDX-License-Identifier: MIT */
/*
 * Random numbers for tests. The seed is printed, so that a failed test can be
 * repeated with the same input.
 */
#ifndef T_UNIT_RANDOM_H
#define T_UNIT_RANDOM_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * Returns the next number of the random sequence *s. The number is never 0
 * (xorshift64).
 */
static inline uint64_t random_next(uint64_t *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return *s;
}

/*
 * Returns the seed and prints it as a TAP comment. The seed is
 * GITREACH_TEST_SEED, or 1 if this variable is not set.
 */
static inline uint64_t random_seed(void)
{
	const char *env = getenv("GITREACH_TEST_SEED");
	uint64_t seed = env ? strtoull(env, NULL, 0) : 1;

	if (!seed)
		seed = 1;
	printf("# GITREACH_TEST_SEED=%llu\n", (unsigned long long)seed);
	return seed;
}

#endif
