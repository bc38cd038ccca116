/* SPDX-License-Identifier: MIT */
/* Tests of stored/layout.h: a generation as a directory, and updates of its
 * refs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "stored/cache.h"
#include "stored/layout.h"
#include "t/unit/storedrepo.h"

/* Makes <dir>/out of a generation. */
static int lay_out(struct storedrepo *s, const struct generation *g)
{
	char *dir = storedrepo_dir(s, "out");
	struct stored_cache *cache;
	int ret;

	assert_int_equal(stored_cache_open(&cache, netrepo_path(&s->n, "cache"),
					   &s->err),
			 0);
	ret = stored_cache_lay_out(cache, dir, &s->place, g, &s->err);
	stored_cache_close(cache);
	free(dir);
	return ret;
}

static void set_ref(struct generation *g, const char *ref, const char *value)
{
	assert_int_equal(generation_set_ref(g, g->number, ref, value, NULL), 0);
}

static void test_updates(void **state)
{
	struct storedrepo s;
	struct generation g;
	char hex[OID_MAX_HEX_LEN + 1];

	storedrepo_init(&s);
	storedrepo_generation(&s, &g);
	oid_to_hex(hex, &s.tip, HASH_SHA1);
	set_ref(&g, "refs/heads/main", NULL);
	set_ref(&g, "refs/heads/main/x", hex);
	set_ref(&g, "refs/heads/never", NULL);
	set_ref(&g, "HEAD", STORED_SYMBOLIC "refs/heads/main/x");
	if (lay_out(&s, &g) != 0)
		fail_msg("%s", s.err.msg);
	storedrepo_assert_ref(&s, "out", "refs/heads/main", NULL);
	storedrepo_assert_ref(&s, "out", "refs/heads/main/x", hex);
	storedrepo_assert_ref(&s, "out", "refs/heads/never", NULL);
	storedrepo_assert_ref(&s, "out", "HEAD", "refs/heads/main/x");
	generation_release(&g);
	storedrepo_release(&s);
}

static void test_no_repository(void **state)
{
	static const char *const paths[] = {"HEAD", "refs/heads/main",
					    "reftable/tables.list"};
	struct storedrepo s;
	struct generation g;

	storedrepo_init(&s);
	for (size_t i = 0; i < 3; i++) {
		struct generation_file *file;

		storedrepo_generation(&s, &g);
		file = storedrepo_file(&g, "config");
		free(file->path);
		file->path = strdup(paths[i]);
		assert_true(stored_layout_owns(paths[i]));
		assert_int_equal(lay_out(&s, &g), ERR_CORRUPT);
		generation_release(&g);
	}
	assert_false(stored_layout_owns("config"));
	assert_false(stored_layout_owns("reftable/a.ref"));
	storedrepo_release(&s);
}

static void test_value_that_is_no_id(void **state)
{
	struct storedrepo s;
	struct generation g;

	storedrepo_init(&s);
	storedrepo_generation(&s, &g);
	set_ref(&g, "refs/heads/main", "1234");
	assert_int_equal(lay_out(&s, &g), ERR_CORRUPT);
	assert_non_null(strstr(s.err.msg, "refs/heads/main"));
	generation_release(&g);
	storedrepo_release(&s);
}

/* Without tables, updates would be written where nobody reads them. */
static void test_configuration_without_tables(void **state)
{
	struct storedrepo s;
	struct generation g;

	storedrepo_init(&s);
	storedrepo_generation(&s, &g);
	generation_remove_file(&g, "config");
	set_ref(&g, "refs/heads/main", NULL);
	assert_int_equal(lay_out(&s, &g), ERR_CORRUPT);
	generation_release(&g);
	storedrepo_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_updates),
		cmocka_unit_test(test_no_repository),
		cmocka_unit_test(test_value_that_is_no_id),
		cmocka_unit_test(test_configuration_without_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
