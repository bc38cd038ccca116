/* SPDX-License-Identifier: MIT */
/*
 * Tests of stored/finder.h, which looks up refs of a generation (version) for a
 * change that is to be published. They prove that it finds the value of a ref,
 * and that it notices if a ref such as "b" makes a name such as "b/c"
 * impossible.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "stored/finder.h"
#include "t/unit/storedrepo.h"

struct fixture {
	struct storedrepo s;
	struct stored_cache *cache;
	struct stored_finder finder;
	struct generation g;
	char tip[OID_MAX_HEX_LEN + 1];
};

static void find(struct fixture *f, const struct generation_change *change,
		 const char *ref, int expected, const char *value)
{
	struct buf got = BUF_INIT;

	assert_int_equal(
		stored_finder_find(&f->finder, &got, &f->g, change, ref, NULL),
		expected);
	assert_string_equal(got.data, value);
	buf_release(&got);
}

static void test_find(void **state)
{
	const struct generation_ref_change deletes = {"refs/heads/b", "1",
						      NULL};
	struct fixture f = {.g = {0}};
	struct generation_change change = {.refs = &deletes};

	storedrepo_init(&f.s);
	netrepo_ref(&f.s.n, "src", "refs/heads/b", &f.s.tip);
	storedrepo_generation(&f.s, &f.g);
	oid_to_hex(f.tip, &f.s.tip, HASH_SHA1);
	assert_int_equal(stored_cache_open(&f.cache,
					   netrepo_path(&f.s.n, "cache"), NULL),
			 0);
	f.finder.cache = f.cache;
	f.finder.place = &f.s.place;
	find(&f, &change, "refs/heads/b", 0, f.tip);
	find(&f, &change, "refs/heads/none", 0, "");
	/* The ref "b" exists, so "b/c" cannot be created. */
	find(&f, &change, "refs/heads/b/c", 1, "");
	/* "b/c" can be created if the same change deletes "b". */
	change.ref_nr = 1;
	find(&f, &change, "refs/heads/b/c", 0, "");
	/*
	 * "b/c" can also be created if the record lists a later deletion of
	 * "b", although the tables of refs still have "b".
	 */
	change.ref_nr = 0;
	assert_int_equal(generation_set_ref(&f.g, f.g.number, "refs/heads/b",
					    NULL, NULL),
			 0);
	find(&f, &change, "refs/heads/b/c", 0, "");
	stored_finder_release(&f.finder);
	stored_finder_release(&f.finder);
	generation_release(&f.g);
	stored_cache_close(f.cache);
	storedrepo_release(&f.s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
