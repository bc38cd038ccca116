/* SPDX-License-Identifier: MIT */
/*
 * Tests of object/path-group.c, which computes a number for each path. The
 * delta search uses these numbers in place of name hashes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "object/path-group.h"
#include "object/parse.h"

static uint32_t group(enum path_grouping grouping, const char *path)
{
	return path_group_path(grouping, path, strlen(path));
}

/*
 * path_group_path() must give the same path group (a number) as one call of
 * path_group_enter() for each path component. Bit 31 of a path group is never
 * set.
 */
static void component_by_component(void **state)
{
	for (int g = PATH_GROUP_NONE; g <= PATH_GROUP_PATH; g++) {
		uint32_t dir = path_group_enter(g, 0, "dir", 3);
		uint32_t sub = path_group_enter(g, dir, "a sub", 5);

		assert_int_equal(group(g, ""), 0);
		assert_int_equal(group(g, "dir"), dir);
		assert_int_equal(group(g, "dir/a sub"), sub);
		assert_int_equal(group(g, "dir/a sub/x.c"),
				 path_group_enter(g, sub, "x.c", 3));
		assert_false(sub >> 31);
	}
	assert_int_equal(group(PATH_GROUP_NONE, "dir/x.c"), 0);
}

/* Different paths with the same name hash get different path groups. */
static void tells_paths_apart(void **state)
{
	static const char tail[] = "/a-name-of-more-than-sixteen.txt";
	char path[64];
	uint32_t seen[200], hash = 0;

	for (int i = 0; i < 200; i++) {
		snprintf(path, sizeof(path), "d%d%s", i, tail);
		if (i)
			assert_int_equal(hash,
					 name_hash_add(0, path, strlen(path)));
		hash = name_hash_add(0, path, strlen(path));
		seen[i] = group(PATH_GROUP_PATH, path);
		for (int k = 0; k < i; k++)
			assert_int_not_equal(seen[k], seen[i]);
	}
}

/*
 * With --name-hash-version=2, the upper bits of a path's number depend only on
 * the file name. The lower bits also depend on the directories.
 */
static void components_overlaid(void **state)
{
	uint32_t a = group(PATH_GROUP_COMPONENTS, "src/a/Makefile");
	uint32_t b = group(PATH_GROUP_COMPONENTS, "src/b/Makefile");
	uint32_t c = group(PATH_GROUP_COMPONENTS, "src/a/other.h");

	assert_int_not_equal(a, b);
	assert_int_equal(a >> 25, b >> 25);
	assert_int_not_equal(a >> 25, c >> 25);
	assert_int_equal(group(PATH_GROUP_COMPONENTS, "x.c"),
			 name_hash_add(0, "x.c", 3) >> 14 << 13);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(component_by_component),
		cmocka_unit_test(tells_paths_apart),
		cmocka_unit_test(components_overlaid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
