/* SPDX-License-Identifier: MIT */
/*
 * Tests of packing/send-options.c, which reads the configuration for packs that
 * are sent: defaults, every key, which key takes precedence, and invalid
 * values.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "packing/send.h"

static int load(const char *text, struct packing_send_options *o,
		struct error *err)
{
	struct repo repo;
	int ret;

	memset(&repo, 0, sizeof(repo));
	assert_int_equal(config_parse(&repo.config, text, strlen(text),
				      CONFIG_LOCAL, NULL, NULL, NULL),
			 0);
	ret = packing_send_options_load(o, &repo, err);
	config_release(&repo.config);
	return ret;
}

static void defaults(void **state)
{
	struct packing_send_options o;

	assert_int_equal(load("", &o, NULL), 0);
	assert_int_equal(o.threads, 0);
	assert_int_equal(o.window, 10);
	assert_int_equal(o.depth, 50);
	assert_int_equal(o.compression, -1);
	assert_int_equal(o.window_memory, 0);
	assert_int_equal(o.delta_cache_size, 256 << 20);
	assert_int_equal(o.delta_cache_limit, 0);
	assert_int_equal(o.big_file_threshold, 512 << 20);
	assert_true(o.reuse_spans && o.reuse_delta && o.reuse_object);
	assert_true(o.use_prepared);
	assert_null(o.progress);
}

static void all_keys(void **state)
{
	struct packing_send_options o;

	assert_int_equal(load("[core]\ncompression = 3\nbigFileThreshold = 1m\n"
			      "[pack]\nthreads = 7\nwindow = 20\ndepth = 9\n"
			      "windowMemory = 2k\ndeltaCacheSize = 5\n"
			      "deltaCacheLimit = 6\n"
			      "allowPackReuse = false\n",
			      &o, NULL),
			 0);
	assert_int_equal(o.compression, 3);
	assert_int_equal(o.big_file_threshold, 1 << 20);
	assert_int_equal(o.threads, 7);
	assert_int_equal(o.window, 20);
	assert_int_equal(o.depth, 9);
	assert_int_equal(o.window_memory, 2048);
	assert_int_equal(o.delta_cache_size, 5);
	assert_int_equal(o.delta_cache_limit, 6);
	assert_false(o.reuse_spans);
}

static void which_one_wins(void **state)
{
	struct packing_send_options o;

	assert_int_equal(load("[pack]\ncompression = 9\n"
			      "[core]\ncompression = 1\n",
			      &o, NULL),
			 0);
	assert_int_equal(o.compression, 9);
	assert_int_equal(load("[pack]\nallowPackReuse = multi\n", &o, NULL), 0);
	assert_true(o.reuse_spans && o.reuse_all_packs);
	assert_int_equal(load("[pack]\nallowPackReuse = MULTI\n", &o, NULL), 0);
	assert_true(o.reuse_spans && o.reuse_all_packs);
	assert_int_equal(load("[pack]\nallowPackReuse = Single\n", &o, NULL),
			 0);
	assert_true(o.reuse_spans && !o.reuse_all_packs);
	assert_int_equal(load("[pack]\nallowPackReuse\n", &o, NULL), 0);
	assert_true(o.reuse_spans && !o.reuse_all_packs);
}

/* pack.usePathWalk takes precedence over feature.experimental. */
static void path_walk(void **state)
{
	struct packing_send_options o;

	assert_int_equal(load("", &o, NULL), 0);
	assert_int_equal(o.grouping, PATH_GROUP_NONE);
	assert_int_equal(load("[pack]\nusePathWalk = true\n", &o, NULL), 0);
	assert_int_equal(o.grouping, PATH_GROUP_PATH);
	assert_int_equal(load("[feature]\nexperimental = true\n", &o, NULL), 0);
	assert_int_equal(o.grouping, PATH_GROUP_PATH);
	assert_int_equal(load("[feature]\nexperimental = true\n"
			      "[pack]\nusePathWalk = false\n",
			      &o, NULL),
			 0);
	assert_int_equal(o.grouping, PATH_GROUP_NONE);
}

static void limits(void **state)
{
	struct packing_send_options o;

	assert_int_equal(load("[pack]\nthreads = 2147483647\n"
			      "window = 5000000000\ndepth = 5000000000\n",
			      &o, NULL),
			 0);
	assert_int_equal(o.threads, PACKING_MAX_THREADS);
	assert_int_equal(o.window, PACKING_MAX_WINDOW);
	assert_int_equal(o.depth, PACKING_MAX_DEPTH);
}

static void bad_values(void **state)
{
	static const char *const bad[] = {
		"[pack]\nthreads = many\n",
		"[pack]\nthreads = 2147483648\n",
		"[pack]\nwindow = 1x\n",
		"[pack]\ndepth =\n",
		"[pack]\nwindowMemory = -\n",
		"[pack]\ndeltaCacheSize = k\n",
		"[pack]\ncompression = 10\n",
		"[core]\ncompression = -2\n",
		"[core]\nbigFileThreshold = huge\n",
		"[pack]\nallowPackReuse = sometimes\n",
		"[pack]\nallowPackReuse = 1\n",
		"[pack]\nuseSparse = sometimes\n",
		"[pack]\nusePathWalk = sometimes\n",
		"[feature]\nexperimental = sometimes\n",
		"[gitreach]\nbitmapStrategy = sometimes\n",
		"[gitreach]\nverifyReused = sometimes\n",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct packing_send_options o;
		struct error err = ERROR_INIT;

		assert_true(load(bad[i], &o, &err) < 0);
		assert_int_equal(err.code, ERR_INVALID);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults),       cmocka_unit_test(all_keys),
		cmocka_unit_test(which_one_wins), cmocka_unit_test(limits),
		cmocka_unit_test(bad_values),     cmocka_unit_test(path_walk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
