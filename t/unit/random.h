/* SPDX-License-Identifier: MIT */
/* Random test inputs that can be had again: the seed is printed. */
#ifndef T_UNIT_RANDOM_H
#define T_UNIT_RANDOM_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* The next number of the sequence *s (never 0): xorshift64. */
static inline uint64_t random_next(uint64_t *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return *s;
}

/* GITREACH_TEST_SEED or 1, printed as a TAP comment. */
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
