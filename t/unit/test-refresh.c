/* SPDX-License-Identifier: MIT */
/*
 * Tests of copies/refresh.h, which brings a local copy of a repository from one
 * generation (version) to the next: which files are added and removed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "copies/refresh.h"
#include "stored/side.h"
#include "sys/clock.h"
#include "t/unit/copynode.h"

/*
 * A directory with one generation (version) of a repository, and the next
 * generation.
 */
struct step {
	struct copynode c;
	struct generation before, g;
	char *dir; /* owned */
	struct stored_refresh r;
};

static void step_init(struct step *s)
{
	struct storedrepo *repo;

	memset(s, 0, sizeof(*s));
	copynode_init(&s->c);
	repo = &s->c.s;
	storedrepo_generation(repo, &s->before);
	s->dir = storedrepo_dir(repo, "out");
	assert_int_equal(stored_cache_lay_out(s->c.node->cache, s->dir,
					      &repo->place, &s->before, NULL),
			 0);
	copynode_push(&s->c, "two");
	storedrepo_newest(repo, &s->g);
	s->r = (struct stored_refresh){s->c.node->cache, &repo->place, s->dir,
				       &s->before, &s->g};
}

static void step_release(struct step *s)
{
	free(s->dir);
	generation_release(&s->before);
	generation_release(&s->g);
	copynode_release(&s->c);
}

static void step_run(struct step *s)
{
	if (stored_refresh_download(&s->r, &s->c.err) ||
	    stored_refresh_files(&s->r, &s->c.err))
		fail_msg("%s", s->c.err.msg);
	stored_refresh_tidy(&s->r);
}

static bool has(const struct step *s, const char *path)
{
	char full[4096];

	snprintf(full, sizeof(full), "%s/%s", s->dir, path);
	return sys_exists(full);
}

/* Makes a file in the directory. Its modification time is `age` seconds ago. */
static void make(const struct step *s, const char *path, int64_t age)
{
	char full[4096], *slash;

	snprintf(full, sizeof(full), "%s/%s", s->dir, path);
	slash = strrchr(full, '/');
	*slash = '\0';
	assert_int_equal(sys_mkdir_p(full, NULL), 0);
	*slash = '/';
	assert_int_equal(sys_append(full, "x", 1, 0666, NULL), 0);
	assert_int_equal(sys_set_mtime(full, sys_clock_seconds() - age, NULL),
			 0);
}

static void assert_main(struct step *s, const char *name)
{
	char hex[OID_MAX_HEX_LEN + 1];

	storedrepo_assert_ref(&s->c.s, name, "refs/heads/main",
			      oid_to_hex(hex, &s->c.s.tip, HASH_SHA1));
}

/*
 * Records which files were added and removed, in this order: "+<path>" or
 * "-<path>" for each.
 */
static struct buf moves = BUF_INIT;
/* Path of the directory whose files are recorded in `moves`; NULL: none. */
static const char *watched;

static void note(char sign, const char *path)
{
	size_t len = watched ? strlen(watched) : 0;

	if (len && !strncmp(path, watched, len) && path[len] == '/' &&
	    buf_printf(&moves, "%c%s\n", sign, path + len + 1) < 0)
		abort();
}

int rename(const char *from, const char *to)
{
	int ret = (int)syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to);

	if (!ret)
		note('+', to);
	return ret;
}

int unlink(const char *path)
{
	int ret = (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);

	if (!ret)
		note('-', path);
	return ret;
}

static size_t when(char sign, const char *path)
{
	struct buf line = BUF_INIT;
	const char *at;

	if (buf_printf(&line, "%c%s\n", sign, path) < 0)
		abort();
	at = strstr(moves.data, line.data);
	if (!at)
		fail_msg("no %s in:\n%s", line.data, moves.data);
	buf_release(&line);
	return (size_t)(at - moves.data);
}

#define MIDX_DIR "objects/pack/multi-pack-index.d/"
#define GRAPH_DIR "objects/info/commit-graphs/"

/*
 * A reader must never see a chain (of multi-pack-indexes or commit-graphs)
 * without one of its layers.
 */
static void test_chains(void **state)
{
	static const char *const layers[] = {
		MIDX_DIR "multi-pack-index-f00.midx",
		MIDX_DIR "multi-pack-index-000.midx",
		MIDX_DIR "multi-pack-index-f00.bitmap",
		GRAPH_DIR "graph-f00.graph",
		GRAPH_DIR "graph-000.graph",
		"objects/pack/multi-pack-index-f00.bitmap",
	};
	static const char *const chains[] = {
		MIDX_DIR "multi-pack-index-chain",
		MIDX_DIR "multi-pack-index-chain",
		MIDX_DIR "multi-pack-index-chain",
		GRAPH_DIR "commit-graph-chain",
		GRAPH_DIR "commit-graph-chain",
		"objects/pack/multi-pack-index",
	};
	struct generation without;
	struct step s;

	step_init(&s);
	storedrepo_newest(&s.c.s, &without);
	for (size_t i = 0; i < ARRAY_NR(chains); i++)
		if (!generation_find_file(&s.g, chains[i]))
			storedrepo_add_file(&s.c.s, &s.g, chains[i]);
	for (size_t i = 0; i < ARRAY_NR(layers); i++)
		storedrepo_add_file(&s.c.s, &s.g, layers[i]);
	watched = s.dir;
	step_run(&s);
	for (size_t i = 0; i < ARRAY_NR(layers); i++)
		assert_true(when('+', layers[i]) < when('+', chains[i]));
	assert_true(when('+', "objects/pack/multi-pack-index") <
		    when('+', GRAPH_DIR "commit-graph-chain"));
	/*
	 * The next generation (version) has no multi-pack-index chains and no
	 * commit-graph chains. So all files of these chains are removed.
	 */
	buf_reset(&moves);
	s.r.before = &s.g;
	s.r.g = &without;
	step_run(&s);
	watched = NULL;
	for (size_t i = 0; i < ARRAY_NR(layers); i++)
		assert_true(when('-', layers[i]) > when('-', chains[i]));
	buf_release(&moves);
	generation_release(&without);
	step_release(&s);
}

static void test_only_what_is_new(void **state)
{
	struct step s;
	unsigned reads;

	step_init(&s);
	reads = s.c.count.reads;
	s.r.place = &(struct generation_place){s.c.node->store, &s.c.node->host,
					       s.c.s.place.repository};
	step_run(&s);
	assert_main(&s, "out");
	/*
	 * At most five files were downloaded. Among them are the new pack with
	 * .idx and .rev, and a table of refs.
	 */
	assert_in_range(s.c.count.reads - reads, 1, 5);
	reads = s.c.count.reads;
	/*
	 * Refresh again, as after a crash before the marker file was written.
	 * No file is downloaded again.
	 */
	step_run(&s);
	assert_int_equal(s.c.count.reads, reads);
	assert_main(&s, "out");
	/*
	 * A file of the generation (version) is missing in the directory. A
	 * refresh restores it.
	 */
	assert_int_equal(sys_unlink(netrepo_path(&s.c.s.n, "out/config"), NULL),
			 0);
	step_run(&s);
	assert_true(has(&s, "config"));
	step_release(&s);
}

static void test_removes_other_files(void **state)
{
	static const char *const gone[] = {
		"hooks/update",
		"config.worktree",
		"shallow",
		"info/grafts",
		"objects/info/commit-graph",
		"objects/info/commit-graphs/commit-graph-chain",
		"objects/pack/multi-pack-index",
		"objects/pack/multi-pack-index.d/multi-pack-index-chain",
		"reftable/0x1-0x1-1.ref",
	};
	static const char *const kept[] = {
		"store-copy",
		"store-used",
	};
	struct step s;

	step_init(&s);
	for (size_t i = 0; i < ARRAY_NR(gone); i++)
		make(&s, gone[i], 10);
	for (size_t i = 0; i < ARRAY_NR(kept); i++)
		make(&s, kept[i], 10);
	/* Make files like those of a refresh that was killed. */
	make(&s, "objects/pack/pack-2.pack", 10);
	make(&s, "objects/pack/pack-2.idx", 10);
	step_run(&s);
	for (size_t i = 0; i < ARRAY_NR(gone); i++)
		assert_false(has(&s, gone[i]));
	for (size_t i = 0; i < ARRAY_NR(kept); i++)
		assert_true(has(&s, kept[i]));
	assert_false(has(&s, "objects/pack/pack-2.pack"));
	assert_false(has(&s, "objects/pack/pack-2.idx"));
	assert_main(&s, "out");
	step_release(&s);
}

/*
 * Packs and tables of refs that only the old generation (version) has are
 * removed from the directory and from the cache.
 */
static void test_removes_old_packs(void **state)
{
	struct step s;
	size_t dropped = 0;

	step_init(&s);
	step_run(&s);
	for (size_t i = 0; i < s.before.file_nr; i++) {
		const struct generation_file *file = &s.before.files[i];
		unsigned reads = s.c.count.reads;
		struct buf path = BUF_INIT;

		if (generation_find_file(&s.g, file->path))
			continue;
		dropped++;
		assert_false(has(&s, file->path));
		s.r.place = &(struct generation_place){s.c.node->store,
						       &s.c.node->host,
						       s.c.s.place.repository};
		assert_int_equal(stored_cache_file(s.c.node->cache, &path,
						   s.r.place, file, NULL),
				 0);
		assert_int_equal(s.c.count.reads, reads + 1);
		buf_release(&path);
	}
	assert_true(dropped > 0);
	step_release(&s);
}

/*
 * A killed process has left the lock file of the reftables. A refresh removes
 * it and succeeds.
 */
static void test_left_lock(void **state)
{
	struct step s;

	step_init(&s);
	make(&s, "reftable/tables.list.lock", 10);
	step_run(&s);
	assert_false(has(&s, "reftable/tables.list.lock"));
	assert_main(&s, "out");
	step_release(&s);
}

static void test_file_that_is_not_allowed(void **state)
{
	struct step s;

	step_init(&s);
	storedrepo_add_file(&s.c.s, &s.g, "commondir");
	assert_int_equal(stored_refresh_download(&s.r, &s.c.err), ERR_CORRUPT);
	assert_non_null(strstr(s.c.err.msg, "commondir"));
	step_release(&s);
}

/*
 * Objects that other programs have written to the directory are removed, and so
 * are commit-graphs, multi-pack-indexes and alternates. All other files stay.
 */
static void test_purge(void **state)
{
	static const char *const others[] = {
		"objects/0a/0123456789",
		"objects/info/alternates",
		"objects/info/commit-graph",
		"objects/info/commit-graphs/commit-graph-chain",
		"objects/pack/multi-pack-index",
		"objects/pack/pack-2.pack",
		"objects/pack/pack-2.idx",
	};
	static const char *const kept[] = {
		"objects/tmp_objdir-incoming-1/pack/pack-1.idx",
		"objects/info/packs",
		"hooks/update",
	};
	struct step s;

	step_init(&s);
	step_run(&s);
	s.r.before = NULL;
	for (size_t i = 0; i < ARRAY_NR(kept); i++)
		make(&s, kept[i], 10);
	assert_int_equal(stored_refresh_has_others(&s.r, NULL), 0);
	assert_int_equal(stored_refresh_purge(&s.r, NULL), 0);
	for (size_t i = 0; i < ARRAY_NR(others); i++) {
		make(&s, others[i], 10);
		assert_int_equal(stored_refresh_has_others(&s.r, NULL), 1);
		assert_int_equal(stored_refresh_purge(&s.r, NULL), 0);
		assert_false(has(&s, others[i]));
	}
	for (size_t i = 0; i < ARRAY_NR(kept); i++)
		assert_true(has(&s, kept[i]));
	for (size_t i = 0; i < s.g.file_nr; i++)
		assert_int_equal(has(&s, s.g.files[i].path),
				 !stored_side_is(s.g.files[i].path));
	assert_main(&s, "out");
	step_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_only_what_is_new),
		cmocka_unit_test(test_chains),
		cmocka_unit_test(test_removes_other_files),
		cmocka_unit_test(test_removes_old_packs),
		cmocka_unit_test(test_left_lock),
		cmocka_unit_test(test_file_that_is_not_allowed),
		cmocka_unit_test(test_purge),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
