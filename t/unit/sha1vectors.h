/* SPDX-License-Identifier: MIT */
/*
 * The disturbance vectors and bit conditions of sha1-vectors.h as arrays, for
 * its unit tests.
 */
#ifndef T_UNIT_SHA1VECTORS_H
#define T_UNIT_SHA1VECTORS_H

#include <stdbool.h>
#include <stdint.h>

#include "object/sha1-vectors.h"

static const uint32_t family_ks[SHA1_FAMILY_NR] = {
	SHA1_FAMILY_KS_0, SHA1_FAMILY_KS_1, SHA1_FAMILY_KS_2, SHA1_FAMILY_KS_3};

struct condition {
	unsigned family;
	int at1, bit1, at2, bit2;
	unsigned differ;
	uint32_t ks;
};

#define ROW(...) {__VA_ARGS__},
static const struct condition conditions[] = {SHA1_CONDITIONS(ROW)};

enum { CONDITION_NR = sizeof(conditions) / sizeof(*conditions) };

static inline bool has_k(uint32_t ks, unsigned k)
{
	return ks >> (k - SHA1_K_FIRST) & 1;
}

/* Call `test` for each of the disturbance vectors. */
static inline void each_vector(void (*test)(unsigned family, unsigned k,
					    void *ctx),
			       void *ctx)
{
	unsigned nr = 0;

	for (unsigned f = 0; f < SHA1_FAMILY_NR; f++)
		for (unsigned k = SHA1_K_FIRST; k <= SHA1_K_LAST; k++)
			if (has_k(family_ks[f], k)) {
				test(f, k, ctx);
				nr++;
			}
	assert_int_equal(nr, 32);
}

#endif
