/* SPDX-License-Identifier: MIT */
/*
 * Tests of refs/refs-reftable.c: refs in reftables are looked up and visited,
 * from the main work tree and from a linked one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "refs/refs-cache.h"
#include "refs/refs-reftable.h"
#include "sys/clock.h"
#include "sys/io.h"
#include "t/unit/nomem.h"
#include "t/unit/tmprepo.h"

/*
 * Time in nanoseconds to wait after a reftable was added. Snapshots of refs do
 * not share the open tables if the list of tables has changed only a moment
 * before it was read, see sys/witness.h.
 */
#define SETTLE_NS UINT64_C(150000000)

static void test_place(void **state)
{
	static const struct {
		const char *name, *dir, *inner;
	} cases[] = {
		{"HEAD", "/g/worktrees/w/reftable", "HEAD"},
		{"refs/heads/a", "/g/reftable", "refs/heads/a"},
		{"refs/bisect/a", "/g/worktrees/w/reftable", "refs/bisect/a"},
		{"main-worktree/HEAD", "/g/reftable", "HEAD"},
		{"main-worktree/refs/bisect/x", "/g/reftable", "refs/bisect/x"},
		{"worktrees/v/HEAD", "/g/worktrees/v/reftable", "HEAD"},
		{"worktrees/v/refs/heads/a", "/g/reftable", "refs/heads/a"},
		{"worktrees/v/a", "/g/reftable", "worktrees/v/a"},
		{"main-worktree/a", "/g/reftable", "main-worktree/a"},
		{"a", "/g/reftable", "a"},
	};
	char git_dir[] = "/g/worktrees/w", common_dir[] = "/g";
	struct repo repo = {.git_dir = git_dir, .common_dir = common_dir};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buf dir = BUF_INIT;

		assert_string_equal(
			refs_reftable_place(&dir, &repo, cases[i].name),
			cases[i].inner);
		assert_string_equal(dir.data, cases[i].dir);
		buf_release(&dir);
	}
}

static void put(const struct tmprepo *t, const char *dir, const char *name,
		uint8_t byte, const char *target)
{
	struct reftable_append_options options = {.algo = HASH_SHA1};
	struct reftable_ref ref = {
		.name = name,
		.name_len = strlen(name),
		.value = target ? REFTABLE_SYMBOLIC : REFTABLE_OID,
		.target = target,
		.target_len = target ? strlen(target) : 0,
	};
	struct reftable_append a;
	struct buf path = BUF_INIT;

	buf_printf(&path, "%s/%s", t->dir, dir);
	assert_int_equal(sys_mkdir_p(path.data, NULL), 0);
	ref.oid.bytes[0] = byte;
	assert_int_equal(reftable_append_begin(&a, path.data, &options, NULL),
			 0);
	ref.update_index = a.index;
	assert_int_equal(reftable_append_start(&a, 1, NULL), 0);
	assert_int_equal(reftable_writer_add_ref(a.writer, &ref, NULL), 0);
	assert_int_equal(reftable_append_finish(&a, NULL), 0);
	assert_int_equal(reftable_append_commit(&a, NULL), 0);
	reftable_append_release(&a);
	buf_release(&path);
}

static int append_ref(void *ctx, const struct ref *ref)
{
	return buf_printf(ctx, "%s=%x%s%s ", ref->name, ref->oid.bytes[0],
			  ref->target ? ">" : "",
			  ref->target ? ref->target : "");
}

static void assert_visit(const struct repo *repo, const char *prefix,
			 const char *const *except, const char *expected)
{
	struct error warning = ERROR_INIT;
	struct buf found = BUF_INIT;
	struct refs *refs;

	assert_int_equal(refs_open(&refs, repo, NULL), 0);
	assert_int_equal(refs_each_except(refs, prefix, except, append_ref,
					  &found, &warning, NULL),
			 0);
	buf_reserve(&found, 1);
	assert_string_equal(found.data, expected);
	refs_close(refs);
	buf_release(&found);
}

static void assert_visit_from(const struct repo *repo, const char *start,
			      const char *expected)
{
	struct buf found = BUF_INIT;
	struct refs *refs;

	assert_int_equal(refs_open(&refs, repo, NULL), 0);
	assert_int_equal(
		refs_each_from(refs, "", start, append_ref, NULL, &found, NULL),
		0);
	assert_string_equal(found.data, expected);
	refs_close(refs);
	buf_release(&found);
}

static void assert_value(const struct repo *repo, const char *name, int byte)
{
	struct refs *refs;
	struct ref ref;
	int ret;

	assert_int_equal(refs_open(&refs, repo, NULL), 0);
	ret = refs_lookup(refs, name, &ref, NULL);
	assert_int_equal(ret > 0 ? ref.oid.bytes[0] : ret, byte);
	refs_close(refs);
}

static int check_peeled(void *ctx, const struct ref *ref)
{
	const struct repo *repo = ctx;
	struct refs *refs;
	struct ref found;

	assert_int_equal(ref->has_peeled,
			 !strncmp(ref->name, "refs/heads/", 11));
	assert_false(ref->is_tag);
	assert_int_equal(refs_open(&refs, repo, NULL), 0);
	assert_int_equal(refs_lookup(refs, ref->name, &found, NULL), 1);
	assert_int_equal(found.has_peeled, ref->has_peeled);
	refs_close(refs);
	return 0;
}

/*
 * Checks the field has_peeled of all refs: whether the reader knows if the ref
 * points to a tag object. Stock Git stores no peeled ids when it migrates tags
 * to reftables. So the field must be false for refs that may point to a tag
 * object. The field must be true for branches, which always point to commits.
 */
static void assert_peeled(struct repo *repo)
{
	struct refs *refs;

	assert_int_equal(refs_open(&refs, repo, NULL), 0);
	assert_int_equal(refs_each(refs, "", check_peeled, repo, NULL, NULL),
			 0);
	refs_close(refs);
}

static void fill(struct tmprepo *t)
{
	tmprepo_init(t, HASH_SHA1);
	t->repo.ref_storage = REPO_REFS_REFTABLE;
	put(t, "reftable", "HEAD", 0, "refs/heads/main");
	put(t, "reftable", "refs/bisect/bad", 5, NULL);
	put(t, "reftable", "refs/heads/a/x", 1, NULL);
	put(t, "reftable", "refs/heads/main", 2, NULL);
	put(t, "reftable", "refs/heads/sym", 0, "refs/heads/main");
	put(t, "reftable", "refs/heads/z", 0, "refs/heads/none");
	put(t, "reftable", "refs/tags/t", 3, NULL);
}

static void test_visit(void **state)
{
	static const char *const except[] = {"refs/bisect/", "refs/heads/a/",
					     "refs/tags/", NULL};
	struct tmprepo t;

	(void)state;
	fill(&t);
	assert_peeled(&t.repo);
	assert_visit(&t.repo, "", NULL,
		     "refs/bisect/bad=5 refs/heads/a/x=1 refs/heads/main=2 "
		     "refs/heads/sym=2>refs/heads/main refs/tags/t=3 ");
	assert_visit(&t.repo, "refs/heads/", except,
		     "refs/heads/main=2 refs/heads/sym=2>refs/heads/main ");
	assert_visit(&t.repo, "", except,
		     "refs/heads/main=2 refs/heads/sym=2>refs/heads/main ");
	assert_visit(&t.repo, "refs/n", NULL, "");
	assert_visit(&t.repo, "HEAD", NULL, "");
	assert_value(&t.repo, "HEAD", 2);
	assert_value(&t.repo, "refs/heads/a", 0);
	assert_value(&t.repo, "refs/heads/z", 0);
	assert_value(&t.repo, "FETCH_HEAD", 0);
	tmprepo_write(&t, "FETCH_HEAD",
		      "0700000000000000000000000000000000000000\tbranch x\n");
	assert_value(&t.repo, "FETCH_HEAD", 7);
	tmprepo_write(&t, "MERGE_HEAD", "no id\n");
	assert_value(&t.repo, "MERGE_HEAD", ERR_CORRUPT);
	tmprepo_remove(&t, "MERGE_HEAD");
	tmprepo_link(&t, "MERGE_HEAD", "MERGE_HEAD");
	assert_value(&t.repo, "MERGE_HEAD", ERR_IO);
	put(&t, "reftable", "HEAD", 0, "refs/heads/.invalid");
	put(&t, "reftable", "refs/heads/z", 0, "refs/heads/.invalid");
	assert_value(&t.repo, "HEAD", 0);
	assert_value(&t.repo, "refs/heads/z", 0);
	tmprepo_release(&t);
}

/* A linked work tree has its own HEAD and its own refs/bisect/. */
static void test_linked(void **state)
{
	struct buf git_dir = BUF_INIT;
	struct repo linked;
	struct tmprepo t;

	(void)state;
	fill(&t);
	put(&t, "worktrees/w/reftable", "HEAD", 9, NULL);
	put(&t, "worktrees/w/reftable", "refs/bisect/good", 6, NULL);
	put(&t, "worktrees/w/reftable", "refs/heads/hidden", 8, NULL);
	linked = t.repo;
	buf_printf(&git_dir, "%s/worktrees/w", t.dir);
	linked.git_dir = git_dir.data;
	assert_visit(&linked, "", NULL,
		     "refs/bisect/good=6 refs/heads/a/x=1 refs/heads/main=2 "
		     "refs/heads/sym=2>refs/heads/main refs/tags/t=3 ");
	assert_visit_from(&linked, "refs/bisect/bae",
			  "refs/bisect/good=6 refs/heads/a/x=1 "
			  "refs/heads/main=2 refs/heads/sym=2>refs/heads/main "
			  "refs/tags/t=3 ");
	assert_visit_from(&linked, "refs/heads/sym",
			  "refs/heads/sym=2>refs/heads/main refs/tags/t=3 ");
	assert_value(&linked, "HEAD", 9);
	assert_value(&linked, "main-worktree/HEAD", 2);
	assert_value(&linked, "main-worktree/refs/bisect/bad", 5);
	assert_value(&t.repo, "worktrees/w/HEAD", 9);
	assert_value(&t.repo, "worktrees/w/refs/heads/main", 2);
	assert_value(&t.repo, "HEAD", 2);
	buf_release(&git_dir);
	tmprepo_release(&t);
}

/*
 * An open snapshot does not change when refs change, until refs_refresh() is
 * called.
 */
static void test_snapshot(void **state)
{
	struct tmprepo t;
	struct refs *refs;
	struct ref ref;

	(void)state;
	fill(&t);
	assert_int_equal(refs_open(&refs, &t.repo, NULL), 0);
	assert_int_equal(refs_list_now(refs, NULL), 0);
	put(&t, "reftable", "refs/heads/main", 7, NULL);
	assert_int_equal(refs_lookup(refs, "HEAD", &ref, NULL), 1);
	assert_int_equal(ref.oid.bytes[0], 2);
	assert_value(&t.repo, "HEAD", 7);
	refs_refresh(refs);
	assert_int_equal(refs_lookup(refs, "HEAD", &ref, NULL), 1);
	assert_int_equal(ref.oid.bytes[0], 7);
	assert_int_equal(refs_lookup(refs, "refs/tags/t", &ref, NULL), 1);
	refs_close(refs);
	tmprepo_release(&t);
}

/*
 * Opens a snapshot, which takes its reftable stack from the cache if possible.
 * The first byte of HEAD's id must be `byte`. Sets *cached to the shared stack.
 */
static struct refs *open_cached(const struct repo *repo, int byte,
				const struct refs_cached **cached)
{
	struct refs *refs;
	struct ref ref;

	assert_int_equal(refs_open(&refs, repo, NULL), 0);
	assert_int_equal(refs_lookup(refs, "HEAD", &ref, NULL), 1);
	assert_int_equal(ref.oid.bytes[0], byte);
	assert_int_equal(refs_get_cached(cached, refs, "refs/heads/", NULL), 1);
	return refs;
}

/*
 * With a cache, snapshots share the open stack until its list of tables
 * changes. The stack of a linked work tree is not in the cache.
 */
static void test_cached(void **state)
{
	const struct refs_cached *old, *same, *new;
	struct refs *refs[4];
	struct buf git_dir = BUF_INIT;
	struct repo linked;
	struct tmprepo t;

	(void)state;
	fill(&t);
	put(&t, "worktrees/w/reftable", "HEAD", 9, NULL);
	/*
	 * A stack of reftables that has just changed is not shared. So wait
	 * until it can be shared.
	 */
	sys_sleep_ns(SETTLE_NS);
	t.repo.refs_cache = refs_cache_new(NULL);
	refs[0] = open_cached(&t.repo, 2, &old);
	refs[1] = open_cached(&t.repo, 2, &same);
	assert_ptr_equal(same, old);
	put(&t, "reftable", "refs/heads/main", 7, NULL);
	refs[2] = open_cached(&t.repo, 7, &new);
	assert_ptr_not_equal(new, old);
	refs_close(refs[1]);
	refs[1] = open_cached(&t.repo, 7, &new);
	assert_visit(&t.repo, "refs/bisect/", NULL, "refs/bisect/bad=5 ");

	linked = t.repo;
	buf_printf(&git_dir, "%s/worktrees/w", t.dir);
	linked.git_dir = git_dir.data;
	assert_value(&linked, "HEAD", 9);
	assert_int_equal(refs_open(&refs[3], &linked, NULL), 0);
	assert_int_equal(refs_get_cached(&new, refs[3], "refs/heads/", NULL),
			 0);
	for (size_t i = 0; i < 4; i++)
		refs_close(refs[i]);
	refs_cache_free(t.repo.refs_cache);
	buf_release(&git_dir);
	tmprepo_release(&t);
}

static void assert_below(struct refs *refs, const char *dir,
			 const char *expected)
{
	struct buf other = BUF_INIT;

	buf_append_str(&other, "none");
	assert_int_equal(refs_reftable_find_below(refs, dir, &other, NULL),
			 expected != NULL);
	assert_string_equal(other.data, expected ? expected : "none");
	buf_release(&other);
}

/*
 * refs_reftable_find_below() finds a ref below a directory. It searches the
 * stack of tables that holds such refs. For example, refs/bisect/ of a work
 * tree is in the work tree's stack, and refs/heads/ is in the common stack.
 */
static void test_below(void **state)
{
	struct tmprepo t;
	struct refs *refs;

	(void)state;
	fill(&t);
	put(&t, "worktrees/w/reftable", "refs/bisect/good", 6, NULL);
	assert_int_equal(refs_open(&refs, &t.repo, NULL), 0);
	assert_below(refs, "refs/heads/a/", "refs/heads/a/x");
	assert_below(refs, "refs/heads/", "refs/heads/a/x");
	assert_below(refs, "refs/heads/b/", NULL);
	assert_below(refs, "refs/tags/t/", NULL);
	assert_below(refs, "refs/zz/", NULL);
	assert_below(refs, "worktrees/w/refs/bisect/",
		     "worktrees/w/refs/bisect/good");
	assert_below(refs, "worktrees/w/refs/heads/",
		     "worktrees/w/refs/heads/a/x");
	refs_close(refs);
	tmprepo_release(&t);
}

static int stop(void *ctx, const struct ref *ref)
{
	return 17;
}

/* Root refs such as HEAD are in the stack of reftables of the work tree. */
static void test_roots(void **state)
{
	struct buf out = BUF_INIT;
	struct tmprepo t;
	struct refs *refs;

	(void)state;
	fill(&t);
	put(&t, "reftable", "ORIG_HEAD", 4, NULL);
	put(&t, "reftable", "lower", 4, NULL);
	put(&t, "reftable", "s_HEAD", 4, NULL);
	assert_int_equal(refs_open(&refs, &t.repo, NULL), 0);
	assert_int_equal(refs_each_root(refs, append_ref, &out, NULL, NULL), 0);
	assert_string_equal(out.data, "HEAD=2>refs/heads/main ORIG_HEAD=4 ");
	assert_int_equal(refs_each_root(refs, stop, NULL, NULL, NULL), 17);
	/*
	 * refs_may_peel() asks whether a tag with this prefix peels to one of
	 * the given ids. Reftables cannot be searched for this, so the answer
	 * is always "maybe" (1).
	 */
	assert_int_equal(refs_may_peel(refs, "refs/none/", NULL, NULL), 1);
	buf_release(&out);
	refs_close(refs);
	tmprepo_release(&t);
}

static int options_of(struct reftable_append_options *options,
		      const char *settings)
{
	struct buf text = BUF_INIT;
	struct tmprepo t;
	int ret;

	tmprepo_init(&t, HASH_SHA256);
	t.repo.share = 0660;
	buf_printf(&text, "[reftable]\n%s\n", settings);
	assert_int_equal(config_parse(&t.repo.config, text.data, text.len,
				      CONFIG_LOCAL, NULL, NULL, NULL),
			 0);
	memset(options, 0xff, sizeof(*options));
	ret = refs_reftable_options(options, &t.repo, NULL);
	config_release(&t.repo.config);
	buf_release(&text);
	tmprepo_release(&t);
	return ret;
}

static void test_options(void **state)
{
	static const char *const bad[] = {
		"blocksize = 16777216",    "blocksize = -1",
		"restartinterval = 65536", "restartinterval = -1",
		"geometricfactor = 257",   "geometricfactor = -1",
		"indexobjects = perhaps",  "locktimeout = soon",
	};
	struct reftable_append_options options;

	(void)state;
	assert_int_equal(options_of(&options, ""), 0);
	assert_int_equal(options.algo, HASH_SHA256);
	assert_int_equal(options.share, 0660);
	assert_int_equal(options.timeout_ms, 100);
	assert_int_equal(options.block_size, 0);
	assert_int_equal(options.restart_interval, 0);
	assert_int_equal(options.factor, 0);
	assert_false(options.no_objects);
	assert_int_equal(options_of(&options, "blocksize = 16777215\n"
					      "restartinterval = 65535\n"
					      "geometricfactor = 256\n"
					      "indexobjects = false\n"
					      "locktimeout = -1\n"),
			 0);
	assert_int_equal(options.timeout_ms, -1);
	assert_int_equal(options.block_size, 16777215);
	assert_int_equal(options.restart_interval, 65535);
	assert_int_equal(options.factor, 256);
	assert_true(options.no_objects);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(options_of(&options, bad[i]), ERR_INVALID);
}

static int note(void *ctx, const struct oid *oid)
{
	((bool *)ctx)[oid->bytes[0]] = true;
	return 0;
}

static int refuse(void *ctx, const struct oid *oid)
{
	return 5;
}

/*
 * Visits the HEAD and the private refs of each work tree. Shared refs are left
 * out.
 */
static void test_kept(void **state)
{
	bool seen[256] = {false};
	struct tmprepo t;

	(void)state;
	fill(&t);
	put(&t, "worktrees/w/reftable", "HEAD", 9, NULL);
	assert_int_equal(refs_each_reflog_oid(&t.repo, note, seen, NULL), 0);
	assert_true(seen[5] && seen[9]);
	assert_false(seen[0] || seen[1] || seen[2] || seen[3]);
	assert_int_equal(refs_each_reflog_oid(&t.repo, refuse, NULL, NULL), 5);
	tmprepo_release(&t);
}

struct visit {
	struct repo *repo;
	struct buf found;
	bool kept[256];
};

static int visit(void *ctx, struct error *err)
{
	struct visit *v = ctx;
	struct refs *refs;
	struct ref ref;
	int ret = refs_open(&refs, v->repo, err);

	buf_reset(&v->found);
	memset(v->kept, 0, sizeof(v->kept));
	if (ret < 0)
		return ret;
	ret = refs_each(refs, "", append_ref, &v->found, NULL, err);
	if (!ret)
		ret = refs_each_root(refs, append_ref, &v->found, NULL, err);
	if (!ret)
		ret = refs_lookup(refs, "worktrees/w/HEAD", &ref, err);
	if (ret == 1)
		ret = append_ref(&v->found, &ref);
	if (!ret)
		ret = refs_each_reflog_oid(v->repo, note, v->kept, err);
	refs_close(refs);
	return ret;
}

static void check_visit(void *ctx)
{
	struct visit *v = ctx;

	assert_string_equal(
		v->found.data,
		"refs/bisect/bad=5 refs/heads/a/x=1 refs/heads/main=2 "
		"refs/heads/sym=2>refs/heads/main refs/tags/t=3 "
		"HEAD=2>refs/heads/main worktrees/w/HEAD=9 ");
	assert_true(v->kept[5] && v->kept[9]);
}

static void test_no_memory(void **state)
{
	struct visit v = {.found = BUF_INIT};
	struct tmprepo t;

	(void)state;
	fill(&t);
	put(&t, "worktrees/w/reftable", "HEAD", 9, NULL);
	v.repo = &t.repo;
	/*
	 * The buffer is large enough, so that append_ref() allocates no memory.
	 */
	assert_int_equal(buf_reserve(&v.found, 4096), 0);
	nomem_each(NULL, visit, check_visit, &v);
	buf_release(&v.found);
	tmprepo_release(&t);
}

/* The record of a tag contains the peeled id. */
static void test_tag(void **state)
{
	struct reftable_append_options options = {.algo = HASH_SHA1};
	struct reftable_ref tag = {.name = "refs/tags/v",
				   .name_len = strlen("refs/tags/v"),
				   .value = REFTABLE_TAG,
				   .oid = {{1}},
				   .peeled = {{2}}};
	struct buf path = BUF_INIT;
	struct reftable_append a;
	struct tmprepo t;
	struct refs *refs;
	struct ref ref;

	(void)state;
	fill(&t);
	buf_printf(&path, "%s/reftable", t.dir);
	assert_int_equal(reftable_append_begin(&a, path.data, &options, NULL),
			 0);
	tag.update_index = a.index;
	assert_int_equal(reftable_append_start(&a, 1, NULL), 0);
	assert_int_equal(reftable_writer_add_ref(a.writer, &tag, NULL), 0);
	assert_int_equal(reftable_append_finish(&a, NULL), 0);
	assert_int_equal(reftable_append_commit(&a, NULL), 0);
	reftable_append_release(&a);
	assert_int_equal(refs_open(&refs, &t.repo, NULL), 0);
	assert_int_equal(refs_lookup(refs, "refs/tags/v", &ref, NULL), 1);
	assert_true(ref.has_peeled && ref.is_tag);
	assert_int_equal(ref.oid.bytes[0], 1);
	assert_int_equal(ref.peeled.bytes[0], 2);
	refs_close(refs);
	buf_release(&path);
	tmprepo_release(&t);
}

static void test_committer(void **state)
{
	struct reftable_log log = {.name = "HEAD"};

	(void)state;
	assert_true(refs_reftable_take_committer(
		&log, "A U Thor <a@example.com> 1112911993 -0730"));
	assert_int_equal(log.who.len, 8);
	assert_memory_equal(log.who.p, "A U Thor", 8);
	assert_int_equal(log.mail.len, 13);
	assert_memory_equal(log.mail.p, "a@example.com", 13);
	assert_true(log.time == 1112911993);
	assert_int_equal(log.zone, -730);
	assert_false(refs_reftable_take_committer(&log, "A U Thor"));
	assert_false(refs_reftable_take_committer(&log, "A <a> 1 +0000 x"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_place),
		cmocka_unit_test(test_visit),
		cmocka_unit_test(test_linked),
		cmocka_unit_test(test_snapshot),
		cmocka_unit_test(test_cached),
		cmocka_unit_test(test_kept),
		cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_tag),
		cmocka_unit_test(test_committer),
		cmocka_unit_test(test_below),
		cmocka_unit_test(test_roots),
		cmocka_unit_test(test_options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
