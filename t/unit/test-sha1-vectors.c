/* SPDX-License-Identifier: MIT */
/*
 * Tests of object/sha1-vectors.c, tables of disturbance vectors and of bit
 * conditions: they agree with their definitions.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "object/sha1-checked.h"
#include "t/unit/sha1vectors.h"

/* Computes the words -5 to 79 of a disturbance vector by its definition. */
static void make_vector(uint32_t *d, unsigned family, int k)
{
	unsigned b = family % 2 ? 2 : 0;
	uint32_t all[120] = {0}, *w = all + 20;

	w[k + 15] = sha1_rotate(1, b);
	if (family / 2)
		w[k + 1] = w[k + 3] = sha1_rotate(1, b + 31);
	for (int i = k + 16; i < 80; i++)
		w[i] = sha1_rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16],
				   1);
	for (int i = k - 1; i >= -5; i--)
		w[i] = sha1_rotate(w[i + 16], 31) ^ w[i + 13] ^ w[i + 8] ^
		       w[i + 2];
	memcpy(d, w - 5, 85 * sizeof(*d));
}

static void check_difference(unsigned family, unsigned k, void *ctx)
{
	uint32_t vector[85], *d = vector + 5, got[SHA1_STEP_NR];

	make_vector(vector, family, (int)k);
	sha1_vectors_difference(got, family, k);
	for (int i = 0; i < SHA1_STEP_NR; i++)
		assert_int_equal(
			got[i],
			d[i] ^ sha1_rotate(d[i - 1], 5) ^ d[i - 2] ^
				sha1_rotate(d[i - 3] ^ d[i - 4] ^ d[i - 5],
					    30));
	/*
	 * The XOR difference of two messages must follow the message expansion
	 * of SHA-1.
	 */
	for (int i = 16; i < SHA1_STEP_NR; i++)
		assert_int_equal(got[i],
				 sha1_rotate(got[i - 3] ^ got[i - 8] ^
						     got[i - 14] ^ got[i - 16],
					     1));
}

static void test_differences(void **state)
{
	each_vector(check_difference, NULL);
}

/*
 * Each condition for an attack compares two message bits. Both must be bits
 * that the attack changes.
 */
static void test_conditions(void **state)
{
	uint32_t d[SHA1_STEP_NR];

	for (unsigned i = 0; i < CONDITION_NR; i++) {
		const struct condition *c = &conditions[i];

		assert_int_equal(c->ks & ~family_ks[c->family], 0);
		for (unsigned k = SHA1_K_FIRST; k <= SHA1_K_LAST; k++) {
			if (!has_k(c->ks, k))
				continue;
			assert_in_range((int)k + c->at1, SHA1_COLUMN_FIRST, 64);
			assert_in_range((int)k + c->at2, SHA1_COLUMN_FIRST, 64);
			sha1_vectors_difference(d, c->family, k);
			assert_true(d[(int)k + c->at1] >> c->bit1 & 1);
			assert_true(d[(int)k + c->at2] >> c->bit2 & 1);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_differences),
		cmocka_unit_test(test_conditions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
