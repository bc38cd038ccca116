/* SPDX-License-Identifier: MIT */
/*
 * Tests of refs/refs-check.c and its parts, which check refs. The reports for
 * given files are those of stock Git 2.55.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/mem.h"
#include "refs/refs-check.h"
#include "reftable/append.h"
#include "sys/io.h"
#include "sys/map.h"
#include "t/unit/nomem.h"
#include "t/unit/tmprepo.h"

#define A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define ZERO "0000000000000000000000000000000000000000"

struct fixture {
	struct fsck_rules rules;
	struct refs_check c;
	struct buf said; /* a line for each report */
};

static void take(void *ctx, const struct refs_report *report)
{
	struct fixture *f = ctx;

	buf_printf(&f->said, "%c %s: %s: %s\n", report->is_error ? 'E' : 'W',
		   report->where, fsck_msg_name(report->msg), report->text);
}

static void look(void *ctx, const char *at)
{
	struct fixture *f = ctx;

	buf_printf(&f->said, "at %s\n", at);
}

static void setup(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	buf_init(&f->said);
	fsck_rules_init(&f->rules, HASH_SHA1, false);
	f->c = (struct refs_check){
		.rules = &f->rules, .report = take, .ctx = f};
}

static void teardown(struct fixture *f)
{
	fsck_rules_release(&f->rules);
	buf_release(&f->said);
}

static void expect(struct fixture *f, const char *said)
{
	assert_string_equal(f->said.data, said);
	assert_int_equal(f->c.failed, *said == 'E' || strstr(said, "\nE"));
	f->c.failed = false;
	buf_reset(&f->said);
}

static void check_loose(const char *name, const char *bytes, const char *said)
{
	struct fixture f;

	setup(&f);
	assert_int_equal(refs_check_loose(&f.c, name, bytes, HASH_SHA1, NULL),
			 0);
	expect(&f, said);
	teardown(&f);
}

static void test_loose_ids(void **state)
{
	check_loose("refs/x", A "\n", "");
	check_loose("refs/x", A,
		    "W refs/x: refMissingNewline: misses LF at the end\n");
	check_loose("refs/x", A " x\n",
		    "W refs/x: trailingRefContent: has trailing garbage: "
		    "' x\n'\n");
	check_loose("refs/x", A "x\n", "E refs/x: badRefContent: " A "x\n");
	check_loose("refs/x", "a\nb \n", "E refs/x: badRefContent: a\nb\n");
	check_loose("refs/x", "", "E refs/x: badRefContent: \n");
	check_loose("refs/x", ZERO "\n",
		    "E refs/x: badRefOid: points to invalid object ID '" ZERO
		    "'\n");
}

static void test_loose_targets(void **state)
{
	check_loose("refs/x", "ref: refs/heads/main\n", "");
	check_loose("refs/x", "ref:refs/heads/main\n", "");
	check_loose("refs/x", "ref: HEAD\n", "");
	check_loose("HEAD", "ref: refs/heads/main\n", "");
	check_loose("refs/x", "ref: refs/y\t",
		    "W refs/x: refMissingNewline: misses LF at the end\n");
	check_loose("refs/x", "ref: refs/y \n",
		    "W refs/x: trailingRefContent: has trailing whitespaces "
		    "or newlines\n");
	check_loose("refs/x", "ref:\n",
		    "W refs/x: refMissingNewline: misses LF at the end\n"
		    "E refs/x: badReferentName: points to invalid refname "
		    "''\n");
	check_loose("refs/x", "ref: refs/.y\n",
		    "E refs/x: badReferentName: points to invalid refname "
		    "'refs/.y'\n");
	check_loose("refs/x", "ref: logs/x\n",
		    "W refs/x: symrefTargetIsNotARef: points to non-ref "
		    "target 'logs/x'\n");
	check_loose("HEAD", "ref: refs/tags/x\n",
		    "E HEAD: badHeadTarget: HEAD points to non-branch "
		    "'refs/tags/x'\n");
	check_loose("worktrees/w/HEAD", "ref: x\n",
		    "E worktrees/w/HEAD: badHeadTarget: HEAD points to "
		    "non-branch 'x'\n");
	check_loose("refs/remotes/o/HEAD", "ref: refs/remotes/o/main\n", "");
}

static void check_packed(const char *bytes, size_t len, const char *said)
{
	struct fixture f;

	setup(&f);
	assert_int_equal(refs_check_packed(&f.c, bytes, len, HASH_SHA1, NULL),
			 0);
	expect(&f, said);
	teardown(&f);
}

#define HEADER "# pack-refs with: peeled fully-peeled sorted \n"
#define CHECK_PACKED(bytes, said) check_packed(bytes, sizeof(bytes) - 1, said)

static void test_packed(void **state)
{
	CHECK_PACKED("", "W packed-refs: emptyPackedRefsFile: file is empty\n");
	CHECK_PACKED(HEADER, "");
	CHECK_PACKED(HEADER A " refs/a\n^" A "\n" A " refs/b\n", "");
	CHECK_PACKED(A " refs/b\n" A " refs/a\n", "");
	CHECK_PACKED(HEADER A " refs/b\n^" A "\n" A " refs/a\n" A " refs/a\n",
		     "E packed-refs line 4: packedRefUnsorted: refname "
		     "'refs/a' is less than previous refname 'refs/b'\n");
	CHECK_PACKED("# pack-refs with:\n",
		     "E packed-refs.header: badPackedRefHeader: '# pack-refs "
		     "with:' does not start with '# pack-refs with: '\n");
	CHECK_PACKED(HEADER A " refs/a",
		     "E packed-refs line 2: packedRefEntryNotTerminated: '" A
		     " refs/a' is not terminated with a newline\n");
	CHECK_PACKED(HEADER "\n^" A "\nx\n",
		     "E packed-refs line 2: badPackedRefEntry: '' has invalid "
		     "oid\n"
		     "E packed-refs line 4: badPackedRefEntry: 'x' has "
		     "invalid oid\n");
	CHECK_PACKED(A "refs/a\n",
		     "E packed-refs line 1: badPackedRefEntry: has no space "
		     "after oid '" A "' but with 'refs/a'\n");
	CHECK_PACKED(A " refs/a\0b\n",
		     "E packed-refs line 1: badPackedRefEntry: refname "
		     "'refs/a' contains NULL binaries\n");
	CHECK_PACKED(A " HEAD\n",
		     "E packed-refs line 1: badRefName: has bad refname "
		     "'HEAD'\n");
	CHECK_PACKED(A " refs/a\n^x\n",
		     "E packed-refs line 2: badPackedRefEntry: 'x' has "
		     "invalid peeled oid\n");
	CHECK_PACKED(A " refs/a\n^" A " x\n",
		     "E packed-refs line 2: badPackedRefEntry: has trailing "
		     "garbage after peeled oid ' x'\n");
}

/*
 * c.failed is set, as if an error was found in another file before. The wrong
 * order of names in packed-refs is still reported, and c.failed stays set.
 */
static void test_failed_before(void **state)
{
	static const char unsorted[] = HEADER A " refs/b\n" A " refs/a\n";
	struct fixture f;

	setup(&f);
	f.c.failed = true;
	refs_check_packed(&f.c, unsorted, sizeof(unsorted) - 1, HASH_SHA1,
			  NULL);
	expect(&f, "E packed-refs line 3: packedRefUnsorted: refname 'refs/a' "
		   "is less than previous refname 'refs/b'\n");
	f.c.failed = true;
	refs_check_packed(&f.c, "", 0, HASH_SHA1, NULL);
	assert_true(f.c.failed);
	refs_check_packed(&f.c, HEADER, strlen(HEADER), HASH_SHA1, NULL);
	assert_true(f.c.failed);
	teardown(&f);
}

static void test_severity(void **state)
{
	struct fixture f;

	setup(&f);
	f.rules.severity[FSCK_BAD_REF_CONTENT] = FSCK_IGNORE;
	f.rules.severity[FSCK_REF_MISSING_NEWLINE] = FSCK_ERROR;
	refs_check_loose(&f.c, "refs/x", "x", HASH_SHA1, NULL);
	expect(&f, "");
	refs_check_loose(&f.c, "refs/x", A, HASH_SHA1, NULL);
	expect(&f, "E refs/x: refMissingNewline: misses LF at the end\n");
	/* If a message is ignored, the following checks are still made. */
	f.rules.severity[FSCK_BAD_REFERENT_NAME] = FSCK_IGNORE;
	refs_check_loose(&f.c, "refs/x", "ref: logs/.x\n", HASH_SHA1, NULL);
	expect(&f, "W refs/x: symrefTargetIsNotARef: points to non-ref "
		   "target 'logs/.x'\n");
	teardown(&f);
}

/*
 * Adds one file after the other to a repository, and checks its refs each time.
 * The order of the reports does not matter.
 */
static void test_files(void **state)
{
	char target[] = "heads/.bad";
	struct buf path = BUF_INIT;
	struct fixture f;
	struct tmprepo t;

	setup(&f);
	tmprepo_init(&t, HASH_SHA1);
	assert_int_equal(refs_check_run(&f.c, &t.repo, NULL), 0);
	expect(&f, "");
	tmprepo_write(&t, "refs/heads/main", A "\n");
	tmprepo_write(&t, "refs/heads/main.lock", "x\n");
	tmprepo_write(&t, "config", "x\n");
	tmprepo_write(&t, "HEAD", "ref: refs/heads/main\n");
	assert_int_equal(refs_check_run(&f.c, &t.repo, NULL), 0);
	expect(&f, "");
	tmprepo_write(&t, "refs/heads/.a/b", A "\n");
	assert_int_equal(refs_check_run(&f.c, &t.repo, NULL), 0);
	expect(&f, "E refs/heads/.a/b: badRefName: invalid refname format\n");
	f.rules.severity[FSCK_BAD_REF_NAME] = FSCK_IGNORE;
	tmprepo_write(&t, "worktrees/w/ORIG_HEAD", "x");
	assert_int_equal(refs_check_run(&f.c, &t.repo, NULL), 0);
	expect(&f, "E worktrees/w/ORIG_HEAD: badRefContent: x\n");
	tmprepo_write(&t, "worktrees/w/ORIG_HEAD", A "\n");
	buf_printf(&path, "%s/refs/link", t.dir);
	assert_int_equal(symlink(target, path.data), 0);
	assert_int_equal(refs_check_run(&f.c, &t.repo, NULL), 0);
	expect(&f, "W refs/link: symlinkRef: use deprecated symbolic link for "
		   "symref\n"
		   "E refs/link: badReferentName: points to invalid refname "
		   "'refs/heads/.bad'\n");
	buf_release(&path);
	tmprepo_release(&t);
	teardown(&f);
}

/* Checks the refs of a repository. The reports must be `said`. */
static void check_repo(struct fixture *f, const struct tmprepo *t,
		       const char *said)
{
	assert_int_equal(refs_check_run(&f->c, &t->repo, NULL), 0);
	buf_reserve(&f->said, 1);
	expect(f, said);
}

/*
 * The symbolic link refs/link leads to another link, which leads to a file that
 * is no ref. The check must report this file.
 */
static void test_link_to_link(void **state)
{
	struct fixture f;
	struct tmprepo t;

	setup(&f);
	tmprepo_init(&t, HASH_SHA1);
	tmprepo_write(&t, "refs/heads/main", A "\n");
	tmprepo_write(&t, "config", "");
	tmprepo_link(&t, "other", "config");
	tmprepo_link(&t, "refs/link", "../other");
	check_repo(&f, &t,
		   "W refs/link: symlinkRef: use deprecated symbolic link for "
		   "symref\n"
		   "E refs/link: badReferentName: points to invalid refname "
		   "'config'\n");
	tmprepo_release(&t);
	teardown(&f);
}

/*
 * f.c.failed says that an earlier check has failed. A symbolic ref has the
 * target "a..b", which is wrong in two ways. It is an invalid name of a ref:
 * this test configures that such names are ignored. It is also not below refs/:
 * this must give a warning. f.c.failed must stay set.
 */
static void test_target_after_failure(void **state)
{
	struct fixture f;

	setup(&f);
	f.rules.severity[FSCK_BAD_REFERENT_NAME] = FSCK_IGNORE;
	f.c.failed = true;
	assert_int_equal(refs_check_target(&f.c, "refs/x", "a..b", NULL), 0);
	assert_string_equal(f.said.data,
			    "W refs/x: symrefTargetIsNotARef: points to "
			    "non-ref target 'a..b'\n");
	assert_true(f.c.failed);
	teardown(&f);
}

static void test_file_types(void **state)
{
	struct buf path = BUF_INIT;
	struct fixture f;
	struct tmprepo t;

	setup(&f);
	tmprepo_init(&t, HASH_SHA1);
	tmprepo_write(&t, "refs/heads/.lock", A "\n");
	check_repo(&f, &t,
		   "E refs/heads/.lock: badRefName: invalid refname format\n");
	tmprepo_remove(&t, "refs/heads/.lock");
	buf_printf(&path, "%s/refs/heads/pipe", t.dir);
	assert_int_equal(mkfifo(path.data, 0600), 0);
	check_repo(&f, &t,
		   "E refs/heads/pipe: badRefFiletype: unexpected file "
		   "type\n");
	tmprepo_remove(&t, "refs/heads/pipe");
	tmprepo_write(&t, "packed-refs/x", "");
	check_repo(&f, &t,
		   "E packed-refs: badRefFiletype: not a regular file\n");
	tmprepo_remove(&t, "packed-refs/x");
	tmprepo_remove(&t, "packed-refs");
	tmprepo_link(&t, "packed-refs", "none");
	check_repo(&f, &t,
		   "E packed-refs: badRefFiletype: not a regular file but a "
		   "symlink\n");
	tmprepo_remove(&t, "packed-refs");
	tmprepo_write(&t, "packed-refs", HEADER A " HEAD\n");
	check_repo(&f, &t,
		   "E packed-refs line 2: badRefName: has bad refname "
		   "'HEAD'\n");
	buf_release(&path);
	tmprepo_release(&t);
	teardown(&f);
}

/*
 * A symbolic link counts as a symbolic ref if it leads to a path in the git
 * directory. For other links, the report has the path to which they lead.
 */
static void test_links(void **state)
{
	struct fixture f;
	struct tmprepo t;

	setup(&f);
	tmprepo_init(&t, HASH_SHA1);
	f.rules.severity[FSCK_SYMLINK_REF] = FSCK_IGNORE;
	tmprepo_write(&t, "refs/heads/main", A "\n");
	tmprepo_link(&t, "refs/link", "heads/main");
	check_repo(&f, &t, "");
	tmprepo_remove(&t, "refs/link");
	tmprepo_link(&t, "refs/link", "../refs/heads/none");
	check_repo(&f, &t, "");
	tmprepo_remove(&t, "refs/link");
	tmprepo_link(&t, "refs/link", "/etc");
	check_repo(&f, &t,
		   "E refs/link: badReferentName: points to invalid refname "
		   "'/etc'\n");
	tmprepo_remove(&t, "refs/link");
	/* A root ref (such as HEAD) that is a symbolic link is not checked. */
	tmprepo_write(&t, "config", "x\n");
	tmprepo_link(&t, "HEAD", "config");
	check_repo(&f, &t, "");
	tmprepo_release(&t);
	teardown(&f);
}

/* Renames the only table of a stack to `to`. */
static void rename_table(const struct tmprepo *t, const char *to)
{
	struct buf list = BUF_INIT, from = BUF_INIT, path = BUF_INIT;

	buf_printf(&path, "%s/reftable/tables.list", t->dir);
	assert_int_equal(sys_read_file(&list, path.data, NULL), 0);
	buf_printf(&from, "%s/reftable/%.*s", t->dir, (int)list.len - 1,
		   list.data);
	buf_reset(&path);
	buf_printf(&path, "%s/reftable/%s", t->dir, to);
	assert_int_equal(rename(from.data, path.data), 0);
	buf_reset(&list);
	buf_printf(&list, "%s\n", to);
	tmprepo_write(t, "reftable/tables.list", list.data);
	buf_release(&list);
	buf_release(&from);
	buf_release(&path);
}

static void test_table_names(void **state)
{
	static const struct {
		const char *name;
		bool is_good;
	} cases[] = {
		{"0x1-0x2-ab.ref", true},   {"0X1-0XF-ab.log", true},
		{"1-f-3.ref", true},        {"-0x2-3.ref", false},
		{"0x1-0x2.ref", false},     {"0x1_0x2-ab.ref", false},
		{"0x1-0x2-abx.ref", false}, {"0x1-0x2-ab.txt", false},
		{"0x-0x2-ab.ref", false},
	};
	struct buf want = BUF_INIT;
	struct fixture f;
	struct tmprepo t;

	setup(&f);
	tmprepo_init(&t, HASH_SHA1);
	t.repo.ref_storage = REPO_REFS_REFTABLE;
	f.c.looking = look;
	assert_int_equal(repo_init_reftable(t.dir, HASH_SHA1, "refs/heads/main",
					    0, NULL),
			 0);
	for (size_t i = 0; i < ARRAY_NR(cases); i++) {
		rename_table(&t, cases[i].name);
		buf_printf(&want, "at references consistency\nat table: %s\n",
			   cases[i].name);
		if (!cases[i].is_good)
			buf_printf(&want,
				   "W %s: badReftableTableName: invalid "
				   "reftable table name\n",
				   cases[i].name);
		check_repo(&f, &t, want.data);
		buf_reset(&want);
	}
	buf_release(&want);
	tmprepo_release(&t);
	teardown(&f);
}

static void put(const struct tmprepo *t, const char *dir, const char *name,
		const char *target)
{
	struct reftable_append_options options = {.algo = HASH_SHA1};
	struct reftable_ref ref = {
		.name = name,
		.name_len = strlen(name),
		.value = target ? REFTABLE_SYMBOLIC : REFTABLE_OID,
		.target = target,
		.target_len = target ? strlen(target) : 0,
		.oid = {{1}},
	};
	struct reftable_append a;
	struct buf path = BUF_INIT;

	buf_printf(&path, "%s/%s", t->dir, dir);
	assert_int_equal(sys_mkdir_p(path.data, NULL), 0);
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

/*
 * Checks the targets of symbolic refs in reftables, in all work trees. A record
 * that a newer table has replaced is not checked.
 */
static void test_reftable_targets(void **state)
{
	struct fixture f;
	struct tmprepo t;

	setup(&f);
	tmprepo_init(&t, HASH_SHA1);
	t.repo.ref_storage = REPO_REFS_REFTABLE;
	put(&t, "reftable", "HEAD", "refs/tags/x");
	put(&t, "reftable", "refs/heads/a", NULL);
	put(&t, "reftable", "refs/heads/b", "refs/.bad");
	put(&t, "reftable", "refs/heads/c", "refs/.bad");
	put(&t, "reftable", "refs/heads/d", NULL);
	put(&t, "reftable", "refs/heads/c", NULL);
	put(&t, "worktrees/w/reftable", "HEAD", "refs/tags/y");
	check_repo(&f, &t,
		   "E HEAD: badHeadTarget: HEAD points to non-branch "
		   "'refs/tags/x'\n"
		   "E refs/heads/b: badReferentName: points to invalid refname "
		   "'refs/.bad'\n"
		   "E worktrees/w/HEAD: badHeadTarget: HEAD points to "
		   "non-branch 'refs/tags/y'\n");
	put(&t, "reftable", "HEAD", "refs/heads/main");
	put(&t, "reftable", "refs/heads/b", NULL);
	put(&t, "worktrees/w/reftable", "HEAD", NULL);
	check_repo(&f, &t, "");
	/* Without symbolic refs there is nothing to report. */
	put(&t, "reftable", "HEAD", NULL);
	check_repo(&f, &t, "");
	tmprepo_write(&t, "reftable/tables.list", "none.ref\n");
	assert_true(refs_check_run(&f.c, &t.repo, NULL) < 0);
	tmprepo_release(&t);
	teardown(&f);
}

static void test_looking(void **state)
{
	struct fixture f;
	struct tmprepo t;

	setup(&f);
	tmprepo_init(&t, HASH_SHA1);
	f.c.looking = look;
	tmprepo_write(&t, "HEAD", "ref: refs/heads/main\n");
	tmprepo_write(&t, "refs/heads/main", A "\n");
	assert_int_equal(refs_check_run(&f.c, &t.repo, NULL), 0);
	assert_non_null(strstr(f.said.data, "at references consistency\n"
					    "at refs/heads/main\nat HEAD\n"
					    "at packed-refs file "));
	tmprepo_release(&t);
	teardown(&f);
}

struct run {
	struct fixture f;
	struct tmprepo t;
	const char *want;
};

static int run(void *ctx, struct error *err)
{
	struct run *r = ctx;

	buf_reset(&r->f.said);
	r->f.c.failed = false;
	return refs_check_run(&r->f.c, &r->t.repo, err);
}

static void check_run(void *ctx)
{
	struct run *r = ctx;

	expect(&r->f, r->want);
}

static void test_no_memory(void **state)
{
	struct run r;

	setup(&r.f);
	/* The buffer is large enough, so that take() allocates no memory. */
	assert_int_equal(buf_reserve(&r.f.said, 4096), 0);
	tmprepo_init(&r.t, HASH_SHA1);
	tmprepo_write(&r.t, "refs/heads/x", "ref: refs/.y\n");
	tmprepo_write(&r.t, "packed-refs", HEADER A " HEAD\n");
	r.want = "E refs/heads/x: badReferentName: points to invalid refname "
		 "'refs/.y'\n"
		 "E packed-refs line 2: badRefName: has bad refname 'HEAD'\n";
	nomem_each(NULL, run, check_run, &r);
	tmprepo_release(&r.t);
	tmprepo_init(&r.t, HASH_SHA1);
	r.t.repo.ref_storage = REPO_REFS_REFTABLE;
	put(&r.t, "reftable", "HEAD", "refs/tags/x");
	put(&r.t, "worktrees/w/reftable", "HEAD", "refs/tags/y");
	r.want = "E HEAD: badHeadTarget: HEAD points to non-branch "
		 "'refs/tags/x'\n"
		 "E worktrees/w/HEAD: badHeadTarget: HEAD points to "
		 "non-branch 'refs/tags/y'\n";
	nomem_each(NULL, run, check_run, &r);
	tmprepo_release(&r.t);
	teardown(&r.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loose_ids),
		cmocka_unit_test(test_loose_targets),
		cmocka_unit_test(test_packed),
		cmocka_unit_test(test_failed_before),
		cmocka_unit_test(test_severity),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_looking),
		cmocka_unit_test(test_link_to_link),
		cmocka_unit_test(test_target_after_failure),
		cmocka_unit_test(test_file_types),
		cmocka_unit_test(test_links),
		cmocka_unit_test(test_table_names),
		cmocka_unit_test(test_reftable_targets),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
