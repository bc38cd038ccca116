/* SPDX-License-Identifier: MIT */
/*
 * Tests of daemon/snapshots.c, a cache of open repositories: which requests
 * share an open repository. t/t5577-gitreachd-fresh.sh tests that no response
 * is out of date.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ftw.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/snapshots.h"
#include "sys/clock.h"

/*
 * A file is trusted only if its last change is at least this number of
 * nanoseconds ago. A later change then gives it another modification time.
 */
#define SETTLE_NS UINT64_C(3200000000)

struct place {
	char top[32];
	char path[3][64]; /* repositories */
	struct daemon_snapshots *cache;
};

static int make(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	strcpy(p->top, "/tmp/test-snapshots-XXXXXX");
	assert_non_null(mkdtemp(p->top));
	for (int i = 0; i < 3; i++) {
		snprintf(p->path[i], sizeof(p->path[i]), "%s/%d.git", p->top,
			 i);
		assert_true(repo_init(p->path[i], NULL, "main", HASH_SHA1,
				      NULL) >= 0);
	}
	sys_sleep_ns(SETTLE_NS);
	*state = p;
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int type,
		      struct FTW *at)
{
	return remove(path);
}

static int unmake(void **state)
{
	struct place *p = *state;

	nftw(p->top, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	free(p);
	return 0;
}

static int new_cache(void **state)
{
	struct place *p = *state;

	p->cache = daemon_snapshots_new(2, NULL);
	assert_non_null(p->cache);
	return 0;
}

static int free_cache(void **state)
{
	struct place *p = *state;

	daemon_snapshots_free(p->cache);
	return 0;
}

static const struct repo *enter(struct place *p, struct daemon_use *use, int i)
{
	const struct repo *repo = NULL;

	memset(use, 0, sizeof(*use));
	assert_int_equal(daemon_snapshots_enter(p->cache, use, p->path[i],
						false, &repo, NULL),
			 0);
	return repo;
}

static struct odb *objects(struct place *p, struct daemon_use *use)
{
	struct error warning = ERROR_INIT;
	struct odb *odb = NULL;

	assert_int_equal(
		daemon_snapshots_objects(p->cache, use, &odb, &warning, NULL),
		0);
	assert_int_equal(warning.code, 0);
	return odb;
}

static void test_shared(void **state)
{
	struct place *p = *state;
	struct daemon_use a, b;
	const struct repo *repo = enter(p, &a, 0);
	struct odb *odb = objects(p, &a);

	assert_ptr_equal(enter(p, &b, 0), repo);
	assert_ptr_equal(objects(p, &b), odb);
	daemon_snapshots_leave(p->cache, &a);
	daemon_snapshots_leave(p->cache, &b);
	assert_ptr_equal(enter(p, &a, 0), repo);
	assert_ptr_equal(objects(p, &a), odb);
	daemon_snapshots_leave(p->cache, &a);
	daemon_snapshots_leave(p->cache, &a);
}

/*
 * The cache has room for two repositories. A third one replaces the least
 * recently used one.
 */
static void test_bounded(void **state)
{
	struct place *p = *state;
	struct daemon_use held, use;
	const struct repo *first = enter(p, &held, 0), *second;

	second = enter(p, &use, 1);
	daemon_snapshots_leave(p->cache, &use);
	enter(p, &use, 2);
	daemon_snapshots_leave(p->cache, &use);
	assert_ptr_equal(enter(p, &use, 1), second);
	daemon_snapshots_leave(p->cache, &use);
	/*
	 * Another repository has replaced the first one in the cache. The
	 * request that still uses the first one must be able to go on.
	 */
	assert_ptr_not_equal(enter(p, &use, 0), first);
	assert_string_equal(first->git_dir, use.snapshot ? p->path[0] : "");
	daemon_snapshots_leave(p->cache, &use);
	daemon_snapshots_leave(p->cache, &held);
}

static void test_expire(void **state)
{
	struct place *p = *state;
	struct daemon_use held, use;
	const struct repo *repo = enter(p, &held, 0);

	daemon_snapshots_expire(p->cache, 1);
	assert_ptr_equal(enter(p, &use, 0), repo);
	daemon_snapshots_leave(p->cache, &use);
	daemon_snapshots_expire(p->cache, UINT64_MAX);
	assert_ptr_not_equal(enter(p, &use, 0), repo);
	daemon_snapshots_leave(p->cache, &use);
	daemon_snapshots_leave(p->cache, &held);
}

static void append(const char *dir, const char *name, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "a");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/*
 * After a pack was added, the packs are opened again, once. The configuration
 * is not read again.
 */
static void test_new_pack(void **state)
{
	struct place *p = *state;
	struct daemon_use a, b, c;
	const struct repo *repo = enter(p, &a, 0);
	struct odb *odb = objects(p, &a), *now;

	append(p->path[0], "objects/pack/tmp_x", "");
	assert_ptr_equal(enter(p, &b, 0), repo);
	now = objects(p, &b);
	assert_ptr_not_equal(now, odb);
	assert_non_null(daemon_snapshots_owner(&b));
	assert_ptr_equal(enter(p, &c, 0), repo);
	assert_ptr_equal(objects(p, &c), now);
	daemon_snapshots_leave(p->cache, &c);
	append(p->path[0], "objects/pack/tmp_y", "");
	assert_ptr_equal(enter(p, &c, 0), repo);
	assert_ptr_not_equal(objects(p, &c), now);
	daemon_snapshots_leave(p->cache, &a);
	daemon_snapshots_leave(p->cache, &b);
	daemon_snapshots_leave(p->cache, &c);
}

static void test_new_config(void **state)
{
	struct place *p = *state;
	struct daemon_use a, b, c;
	const struct repo *repo = enter(p, &a, 1), *now;

	append(p->path[1], "config", "[x]\n\ty = 1\n");
	now = enter(p, &b, 1);
	assert_ptr_not_equal(now, repo);
	assert_null(config_string(&repo->config, "x.y"));
	assert_string_equal(config_string(&now->config, "x.y"), "1");
	/*
	 * The configuration has only just changed. A further change might not
	 * be noticed, because the modification time could be the same. So for
	 * some time, each request opens the repository anew.
	 */
	assert_ptr_not_equal(enter(p, &c, 1), now);
	daemon_snapshots_leave(p->cache, &a);
	daemon_snapshots_leave(p->cache, &b);
	daemon_snapshots_leave(p->cache, &c);
}

/*
 * A repository whose configuration has includeIf is not shared: the condition
 * can change without a change of any file.
 */
static void test_conditional(void **state)
{
	struct place *p = *state;
	struct daemon_use a, b;
	const struct repo *repo;

	append(p->path[2], "config",
	       "[includeIf \"onbranch:x\"]\n\tpath = y\n");
	sys_sleep_ns(SETTLE_NS);
	repo = enter(p, &a, 2);
	assert_ptr_not_equal(enter(p, &b, 2), repo);
	daemon_snapshots_leave(p->cache, &a);
	daemon_snapshots_leave(p->cache, &b);
}

static void test_missing(void **state)
{
	struct place *p = *state;
	struct daemon_use use = {0};
	const struct repo *repo;

	assert_int_equal(daemon_snapshots_enter(p->cache, &use, "/nonexistent",
						false, &repo, NULL),
			 ERR_MISSING);
	assert_null(use.snapshot);
	daemon_snapshots_leave(p->cache, &use);
}

/*
 * A request may use the path of a repository as it is, or let the server
 * complete it (by ".git"). Requests of these two kinds do not share an open
 * repository.
 */
static void test_exact(void **state)
{
	struct place *p = *state;
	struct daemon_use use[3] = {{0}};
	const struct repo *repo[3];
	char shorter[sizeof(p->path[0])];

	snprintf(shorter, sizeof(shorter), "%s", p->path[0]);
	shorter[strlen(shorter) - strlen(".git")] = '\0';
	assert_int_equal(daemon_snapshots_enter(p->cache, &use[0], shorter,
						true, &repo[0], NULL),
			 ERR_MISSING);
	assert_int_equal(daemon_snapshots_enter(p->cache, &use[0], shorter,
						false, &repo[0], NULL),
			 0);
	daemon_snapshots_leave(p->cache, &use[0]);
	for (int i = 0; i < 3; i++)
		assert_int_equal(daemon_snapshots_enter(p->cache, &use[i],
							p->path[0], i > 0,
							&repo[i], NULL),
				 0);
	assert_ptr_not_equal(repo[0], repo[1]);
	assert_ptr_equal(repo[1], repo[2]);
	for (int i = 0; i < 3; i++)
		daemon_snapshots_leave(p->cache, &use[i]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, new_cache, free_cache)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_shared),     TEST(test_bounded),
		TEST(test_expire),     TEST(test_new_pack),
		TEST(test_new_config), TEST(test_conditional),
		TEST(test_missing),    TEST(test_exact),
	};

	return cmocka_run_group_tests(tests, make, unmake);
}
