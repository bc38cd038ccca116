/* SPDX-License-Identifier: MIT */
/*
 * Tests of stored/layout.h, which makes a repository directory from a
 * generation (version), and writes the updates of its refs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/mem.h"
#include "stored/cache.h"
#include "stored/check.h"
#include "stored/export.h"
#include "stored/layout.h"
#include "t/unit/storedrepo.h"

/*
 * Makes a repository from a generation (version), in the directory <dir>/out.
 */
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

static void note(void *ctx, const char *what)
{
	buf_printf(ctx, "%s\n", what);
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

static void rename_file(struct generation *g, const char *path)
{
	struct generation_file *file = storedrepo_file(g, "objects/pack/");

	free(file->path);
	file->path = strdup(path);
}

/*
 * A hostile writer could put these paths into a record (manifest) of the store.
 * Each of them must be refused.
 */
static void test_paths_that_are_not_allowed(void **state)
{
	static const char *const paths[] = {
		"HEAD",
		"refs/heads/main",
		"packed-refs",
		"commondir",
		"gitdir",
		"objects/info/alternates",
		"objects/info/http-alternates",
		"objects/12/34",
		"objects/pack",
		"objects/pack/a/b",
		"worktrees/x/gitdir",
		"config.lock",
		"reftable/tables.list",
		"reftable/tables.list.lock",
		"reftable/a/b",
		"hooks",
		"info/exclude",
	};
	struct storedrepo s;
	struct generation g;

	storedrepo_init(&s);
	storedrepo_generation(&s, &g);
	for (size_t i = 0; i < ARRAY_NR(paths); i++) {
		rename_file(&g, paths[i]);
		assert_false(stored_layout_allows(paths[i]));
		assert_int_equal(lay_out(&s, &g), ERR_CORRUPT);
		assert_non_null(strstr(s.err.msg, paths[i]));
		generation_release(&g);
		storedrepo_newest(&s, &g);
	}
	generation_release(&g);
	storedrepo_release(&s);
}

static void test_paths_that_are_allowed(void **state)
{
	static const char *const paths[] = {
		"config",
		"config.worktree",
		"hooks/update",
		"info/grafts",
		"objects/info/prepared-wants",
		"objects/info/commit-graphs/commit-graph-chain",
		"objects/pack/multi-pack-index",
		"objects/pack/multi-pack-index.d/multi-pack-index-chain",
		"reftable/a.ref",
	};

	for (size_t i = 0; i < ARRAY_NR(paths); i++)
		assert_true(stored_layout_allows(paths[i]));
}

/*
 * A record (manifest) must not make the repository use files of another
 * repository, for example by commondir or alternates.
 */
static void test_other_repository(void **state)
{
	static const char *const paths[] = {"commondir",
					    "objects/info/alternates"};
	struct stored_check how = {.full = true, .wrong = note};
	struct stored_check_report report;
	struct storedrepo s;
	struct generation g;

	storedrepo_init(&s);
	how.tmp = s.n.t.dir;
	for (size_t i = 0; i < ARRAY_NR(paths); i++) {
		struct buf wrong = BUF_INIT;
		char *dir;

		storedrepo_generation(&s, &g);
		storedrepo_add_file(&s, &g, paths[i]);
		generation_release(&g);
		storedrepo_newest(&s, &g);
		dir = strdup(netrepo_path(&s.n, "exported"));
		assert_int_equal(stored_export(&s.place, &g, dir,
					       REPO_REFS_FILES, &s.err),
				 ERR_CORRUPT);
		assert_false(sys_exists(dir));
		how.ctx = &wrong;
		assert_int_equal(
			stored_check_run(&report, &s.place, &how, &s.err), 0);
		assert_int_equal(report.wrong_nr, 1);
		assert_non_null(strstr(wrong.data, paths[i]));
		generation_release(&g);
		buf_release(&wrong);
		free(dir);
	}
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

/*
 * A generation (version) without the file config is refused. The refs of a
 * generation are written as a reftable, and only the file config says so.
 * Without this file, readers of the repository would search for refs in loose
 * files and in packed-refs. They would ignore the reftable.
 */
static void test_configuration_without_tables(void **state)
{
	struct generation_file *config;
	struct storedrepo s;
	struct generation g;

	storedrepo_init(&s);
	storedrepo_generation(&s, &g);
	config = generation_find_file(&g, "config");
	free(config->path);
	*config = g.files[--g.file_nr];
	set_ref(&g, "refs/heads/main", NULL);
	assert_int_equal(lay_out(&s, &g), ERR_CORRUPT);
	generation_release(&g);
	storedrepo_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_updates),
		cmocka_unit_test(test_paths_that_are_not_allowed),
		cmocka_unit_test(test_paths_that_are_allowed),
		cmocka_unit_test(test_other_repository),
		cmocka_unit_test(test_value_that_is_no_id),
		cmocka_unit_test(test_configuration_without_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
