/* SPDX-License-Identifier: MIT */
/*
 * Tests of check/fsck-names.c, which names objects in messages by a path from a
 * ref. They prove that the names are right, such as "HEAD~10^2".
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "check/fsck-objects.h"
#include "t/unit/walkrepo.h"

static struct oid id(uint8_t nr)
{
	struct oid oid = OID_ZERO_INIT;

	oid.bytes[0] = nr;
	return oid;
}

struct fixture {
	struct walkrepo f;
	struct fsck_names n;
};

static void setup(struct fixture *x)
{
	uint64_t seed = random_seed();

	walkrepo_init(&x->f, HASH_SHA1, &seed, 3, 1);
	fsck_names_init(&x->n, &x->f.w.space);
}

static void teardown(struct fixture *x)
{
	fsck_names_release(&x->n);
	walkrepo_release(&x->f);
}

static void root(struct fixture *x, uint8_t nr, const char *name)
{
	struct oid oid = id(nr);

	assert_int_equal(fsck_names_root(&x->n, &oid, "%s", name), 0);
}

static void link_to(struct fixture *x, uint8_t from, enum object_type from_type,
		    uint8_t to, enum object_type type, struct fsck_way way)
{
	struct oid a = id(from), b = id(to);

	assert_int_equal(fsck_names_link(&x->n, &a, from_type, &b, type, &way),
			 0);
}

static void parent(struct fixture *x, uint8_t from, uint8_t to, size_t nr)
{
	link_to(x, from, OBJ_COMMIT, to, OBJ_COMMIT,
		(struct fsck_way){.parent_nr = nr});
}

static void entry(struct fixture *x, uint8_t from, uint8_t to,
		  enum object_type type, const char *name)
{
	link_to(x, from, OBJ_TREE, to, type,
		(struct fsck_way){.entry = name, .entry_len = strlen(name)});
}

static void expect(const struct fixture *x, uint8_t nr, const char *name)
{
	struct oid oid = id(nr);
	const char *got = fsck_names_get(&x->n, &oid);

	if (name)
		assert_string_equal(got, name);
	else
		assert_null(got);
}

static void test_commits(void **state)
{
	struct fixture x;

	setup(&x);
	root(&x, 1, "refs/heads/main");
	root(&x, 1, "refs/heads/other");
	expect(&x, 1, "refs/heads/main");
	parent(&x, 1, 2, 1);
	parent(&x, 2, 3, 1);
	parent(&x, 3, 4, 12);
	expect(&x, 2, "refs/heads/main^");
	expect(&x, 3, "refs/heads/main~2");
	expect(&x, 4, "refs/heads/main~2^12");
	root(&x, 5, "HEAD~9");
	parent(&x, 5, 6, 1);
	parent(&x, 6, 7, 2);
	parent(&x, 7, 8, 1);
	expect(&x, 6, "HEAD~10");
	expect(&x, 7, "HEAD~10^2");
	expect(&x, 8, "HEAD~10^2^");
	/*
	 * An object keeps the first name that it gets. An object without a name
	 * gives no names to the objects to which it refers.
	 */
	parent(&x, 8, 2, 1);
	expect(&x, 2, "refs/heads/main^");
	parent(&x, 20, 21, 1);
	expect(&x, 21, NULL);
	teardown(&x);
}

static void test_trees(void **state)
{
	struct fixture x;

	setup(&x);
	root(&x, 1, "t");
	link_to(&x, 1, OBJ_TAG, 2, OBJ_COMMIT, (struct fsck_way){0});
	link_to(&x, 2, OBJ_COMMIT, 3, OBJ_TREE, (struct fsck_way){0});
	entry(&x, 3, 4, OBJ_TREE, "dir");
	entry(&x, 4, 5, OBJ_BLOB, "a b");
	expect(&x, 2, "t");
	expect(&x, 3, "t:");
	expect(&x, 4, "t:dir/");
	expect(&x, 5, "t:dir/a b");
	root(&x, 10, "refs/tags/tree");
	root(&x, 11, "HEAD:dir");
	entry(&x, 10, 12, OBJ_BLOB, "f");
	entry(&x, 11, 13, OBJ_BLOB, "f");
	expect(&x, 12, "refs/tags/tree:f");
	expect(&x, 13, "HEAD:dir/f");
	teardown(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_commits),
		cmocka_unit_test(test_trees),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
