/* SPDX-License-Identifier: MIT */
/*
 * Tests of islands/patterns.c, which finds the delta island of a ref by its
 * name (pack.island): captured texts name the island, and the last matching
 * pattern is used.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "islands/islands.h"

static int load(struct island_patterns *p, const char *text, struct error *err)
{
	struct config config = CONFIG_INIT;
	int ret;

	assert_int_equal(config_parse(&config, text, strlen(text), CONFIG_LOCAL,
				      NULL, NULL, NULL),
			 0);
	ret = island_patterns_load(p, &config, err);
	config_release(&config);
	return ret;
}

#define NONE UINT32_MAX

static uint32_t match(struct island_patterns *p, const char *ref)
{
	uint32_t island;
	int ret = island_patterns_match(&island, p, ref, NULL);

	assert_true(ret >= 0);
	return ret ? island : NONE;
}

static void names(void **state)
{
	struct island_patterns p = ISLAND_PATTERNS_INIT;

	assert_int_equal(load(&p,
			      "[pack]\n"
			      "island = refs/heads/\n"
			      "island = refs/tags/\n"
			      "island = refs/virtual/([0-9]+)/heads/\n"
			      "island = refs/virtual/([0-9]+)/(pull)/\n",
			      NULL),
			 0);
	assert_int_equal(match(&p, "refs/virtual/7/heads/main"), 0);
	assert_int_equal(match(&p, "refs/heads/main"), 1);
	assert_int_equal(match(&p, "refs/tags/v1"), 1);
	assert_int_equal(match(&p, "refs/virtual/7/pull/1"), 2);
	assert_int_equal(match(&p, "refs/virtual/6/heads/x"), 3);
	assert_int_equal(match(&p, "refs/virtual/7/heads/y"), 0);
	assert_int_equal(match(&p, "refs/notes/x"), NONE);
	/* The pattern must match from the start of the ref's name. */
	assert_int_equal(match(&p, "refs/x/refs/heads/main"), NONE);
	assert_int_equal(island_patterns_find(&p, "7"), 0);
	assert_int_equal(island_patterns_find(&p, ""), 1);
	assert_int_equal(island_patterns_find(&p, "7-pull"), 2);
	assert_int_equal(island_patterns_find(&p, "8"), NONE);
	assert_int_equal(p.name_nr, 4);
	island_patterns_release(&p);
}

static void the_last_one_wins(void **state)
{
	struct island_patterns p = ISLAND_PATTERNS_INIT;

	assert_int_equal(load(&p,
			      "[pack]\n"
			      "island = refs/(heads)/\n"
			      "island = refs/heads/(main)\n"
			      "island = refs/(.*)/top\n",
			      NULL),
			 0);
	assert_int_equal(match(&p, "refs/heads/main"), 0);
	assert_int_equal(match(&p, "refs/heads/x"), 1);
	assert_int_equal(match(&p, "refs/heads/main/top"), 2);
	assert_int_equal(island_patterns_find(&p, "main"), 0);
	assert_int_equal(island_patterns_find(&p, "heads"), 1);
	assert_int_equal(island_patterns_find(&p, "heads/main"), 2);
	island_patterns_release(&p);
}

static void none_and_bad_ones(void **state)
{
	struct island_patterns p = ISLAND_PATTERNS_INIT;
	struct error err = ERROR_INIT;

	assert_int_equal(load(&p, "[pack]\nx = 1\n", NULL), 0);
	assert_int_equal(match(&p, "refs/heads/main"), NONE);
	island_patterns_release(&p);
	assert_int_equal(load(&p, "[pack]\nisland = refs/(\n", &err),
			 ERR_INVALID);
	assert_non_null(strstr(err.msg, "refs/("));
	island_patterns_release(&p);
	assert_int_equal(load(&p, "[pack]\nisland\n", &err), ERR_INVALID);
	assert_non_null(strstr(err.msg, "pack.island"));
	island_patterns_release(&p);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(the_last_one_wins),
		cmocka_unit_test(none_and_bad_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
