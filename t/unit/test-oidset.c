/* SPDX-License-Identifier: MIT */
/*
 * Tests of wire/oidset.c, an ordered set of object ids: the order of insertion
 * is kept, the maximum size is enforced, and ids chosen by an attacker do not
 * make look-ups slow.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "wire/oidset.h"

static struct oid make(uint32_t n)
{
	struct oid oid = OID_ZERO_INIT;

	store_be32(oid.bytes, n * 2654435761u);
	return oid;
}

static void test_order(void **state)
{
	struct oidset set;

	oidset_init(&set, 2000);
	for (uint32_t n = 0; n < 1000; n++) {
		struct oid oid = make(n);

		assert_false(oidset_has(&set, &oid));
		assert_int_equal(oidset_add(&set, &oid, NULL), 1);
		assert_int_equal(oidset_add(&set, &oid, NULL), 0);
		assert_true(oidset_has(&set, &oid));
	}
	assert_int_equal(set.nr, 1000);
	for (uint32_t n = 0; n < 1000; n++) {
		struct oid oid = make(n);

		assert_true(oid_equal(&set.oids[n], &oid));
	}
	oidset_release(&set);
	assert_int_equal(set.nr, 0);
	assert_int_equal(set.max, 2000);
}

static void test_maximum(void **state)
{
	struct error err = ERROR_INIT;
	struct oid a = make(1), b = make(2), c = make(3);
	struct oidset set;

	oidset_init(&set, 2);
	assert_int_equal(oidset_add(&set, &a, NULL), 1);
	assert_int_equal(oidset_add(&set, &b, NULL), 1);
	assert_int_equal(oidset_add(&set, &c, &err), ERR_PEER);
	assert_string_equal(err.msg, "too many object ids");
	assert_int_equal(oidset_add(&set, &a, NULL), 0);
	assert_int_equal(set.nr, 2);
	oidset_release(&set);
}

/*
 * 60,000 ids have the same first bytes, as an attacker could choose them. Most
 * of them must still be in their own slot of the hash table or near it.
 */
static void test_chosen(void **state)
{
	enum { NR = 60000 };
	struct oidset set;
	size_t total = 0;

	oidset_init(&set, NR);
	for (uint32_t n = 0; n < NR; n++) {
		struct oid oid = OID_ZERO_INIT;

		store_be32(oid.bytes + 16, n);
		assert_int_equal(oidset_add(&set, &oid, NULL), 1);
	}
	for (size_t i = 0; i < set.slot_nr; i++)
		if (set.slots[i])
			total += (i - oidhash_of(&set.hash,
						 &set.oids[set.slots[i] - 1])) &
				 (set.slot_nr - 1);
	assert_in_range(total, 0, 8 * NR);
	oidset_release(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_maximum),
		cmocka_unit_test(test_chosen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
