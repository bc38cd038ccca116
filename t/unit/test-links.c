/* SPDX-License-Identifier: MIT */
/*
 * Tests of object/links.c, which finds the ids that an object contains: all ids
 * in objects of each type are reported, and malformed objects are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/buf.h"
#include "object/links.h"

struct seen {
	struct oid ids[8];
	enum object_type types[8];
	size_t nr, stop_at;
};

static int note(void *ctx, const struct oid *to, enum object_type type,
		struct error *err)
{
	struct seen *s = ctx;

	assert_true(s->nr < 8);
	s->ids[s->nr] = *to;
	s->types[s->nr++] = type;
	return s->nr == s->stop_at ? 7 : 0;
}

#define A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define C "cccccccccccccccccccccccccccccccccccccccc"
#define RAW "01234567890123456789"
#define WHO "A <a@b> 1 +0000\n"

static int visit(struct seen *s, enum object_type type, const char *data,
		 size_t len)
{
	s->nr = 0;
	return object_links_each(type, data, len, HASH_SHA1, note, s, NULL);
}

static void check(const struct seen *s, size_t i, uint8_t first,
		  enum object_type type)
{
	assert_int_equal(s->ids[i].bytes[0], first);
	assert_int_equal(s->types[i], type);
}

static const char commit[] = "tree " A "\nparent " B "\nparent " C
			     "\nauthor " WHO "committer " WHO "\n";
static const char tag[] = "object " B "\ntype blob\ntag t\ntagger " WHO "\n";
static const char tree[] = "100644 a\0" RAW "40000 b\0" RAW "160000 c\0" RAW
			   "120000 d\0" RAW;

static void named(void **state)
{
	struct seen s = {.stop_at = 0};

	assert_int_equal(visit(&s, OBJ_COMMIT, commit, strlen(commit)), 0);
	assert_int_equal(s.nr, 3);
	check(&s, 0, 0xaa, OBJ_TREE);
	check(&s, 1, 0xbb, OBJ_COMMIT);
	check(&s, 2, 0xcc, OBJ_COMMIT);
	assert_int_equal(visit(&s, OBJ_TAG, tag, strlen(tag)), 0);
	assert_int_equal(s.nr, 1);
	check(&s, 0, 0xbb, OBJ_BLOB);
	/*
	 * The tree also contains a submodule. The commit of the submodule is
	 * not visited.
	 */
	assert_int_equal(visit(&s, OBJ_TREE, tree, sizeof(tree) - 1), 0);
	assert_int_equal(s.nr, 3);
	check(&s, 0, '0', OBJ_BLOB);
	check(&s, 1, '0', OBJ_TREE);
	check(&s, 2, '0', OBJ_BLOB);
	assert_int_equal(visit(&s, OBJ_BLOB, commit, strlen(commit)), 0);
	assert_int_equal(s.nr, 0);
}

static void stopped(void **state)
{
	struct seen s = {.stop_at = 2};

	assert_int_equal(visit(&s, OBJ_COMMIT, commit, strlen(commit)), 7);
	assert_int_equal(visit(&s, OBJ_TREE, tree, sizeof(tree) - 1), 7);
	assert_int_equal(s.nr, 2);
}

static void malformed(void **state)
{
	struct seen s = {.stop_at = 0};

	assert_int_equal(visit(&s, OBJ_COMMIT, "tree x", 6), ERR_CORRUPT);
	assert_int_equal(visit(&s, OBJ_TAG, "object x", 8), ERR_CORRUPT);
	assert_int_equal(visit(&s, OBJ_TREE, tree, sizeof(tree) - 2),
			 ERR_CORRUPT);
	assert_int_equal(s.nr, 2);
	assert_int_equal(visit(&s, OBJ_TREE, "", 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(named),
		cmocka_unit_test(stopped),
		cmocka_unit_test(malformed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
