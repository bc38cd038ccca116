/* SPDX-License-Identifier: MIT */
/*
 * Tests of refs/refs-check.c and its parts: reports for given bytes, equal to
 * those of stock Git 2.55.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/mem.h"
#include "refs/refs-check.h"
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
 * An error was found before this file is checked. The order of names is still
 * reported, and c.failed stays set.
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
	teardown(&f);
}

/*
 * Checks a directory with one file of each kind. The reports come in any order.
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

static void test_looking(void **state)
{
	struct fixture f;
	struct tmprepo t;

	setup(&f);
	tmprepo_init(&t, HASH_SHA1);
	f.c.looking = look;
	tmprepo_write(&t, "HEAD", "ref: refs/heads/main\n");
	assert_int_equal(refs_check_run(&f.c, &t.repo, NULL), 0);
	assert_non_null(strstr(f.said.data, "at references consistency\n"
					    "at HEAD\nat packed-refs file "));
	tmprepo_release(&t);
	teardown(&f);
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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
