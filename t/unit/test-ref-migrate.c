/* SPDX-License-Identifier: MIT */
/*
 * Tests of refs-write/ref-migrate.c, which converts refs between files and
 * reftables: a migration keeps all refs, and a migration that is refused
 * changes nothing. t/t1460-refs-migrate.sh compares with stock Git and kills
 * migrations.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/mem.h"
#include "refs-write/ref-migrate.h"
#include "t/unit/tmprepo.h"

#define ID "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static void fill(struct tmprepo *t)
{
	tmprepo_init(t, HASH_SHA1);
	tmprepo_write(t, "HEAD", "ref: refs/heads/main\n");
	tmprepo_write(t, "config", "[core]\n\trepositoryformatversion = 0\n");
	tmprepo_write(t, "refs/heads/main", ID "\n");
	tmprepo_write(t, "refs/remotes/origin/HEAD", "ref: refs/heads/main\n");
	tmprepo_write(t, "refs/remotes/origin/x", "ref: refs/heads/x\n");
}

static int migrate(struct tmprepo *t, enum repo_ref_storage storage)
{
	const struct ref_migrate_options options = {.storage = storage};
	struct error warning = ERROR_INIT, err = ERROR_INIT;
	struct buf dir = BUF_INIT;
	int ret = ref_migrate(&t->repo, &options, &dir, &warning, &err);

	assert_int_equal(warning.code, 0);
	buf_release(&dir);
	return ret;
}

static void check_refs(struct tmprepo *t)
{
	struct refs *refs = NULL;
	struct error err = ERROR_INIT;
	char hex[OID_MAX_HEX_LEN + 1];
	struct ref ref;

	assert_int_equal(refs_open(&refs, &t->repo, &err), 0);
	assert_int_equal(refs_lookup(refs, "HEAD", &ref, &err), 1);
	assert_string_equal(oid_to_hex(hex, &ref.oid, HASH_SHA1), ID);
	assert_int_equal(
		refs_read(refs, "refs/remotes/origin/HEAD", &ref, &err), 1);
	assert_string_equal(ref.target, "refs/heads/main");
	assert_int_equal(refs_read(refs, "refs/remotes/origin/x", &ref, &err),
			 1);
	assert_string_equal(ref.target, "refs/heads/x");
	refs_close(refs);
}

static void test_both_ways(void **state)
{
	struct tmprepo t;

	(void)state;
	fill(&t);
	assert_int_equal(migrate(&t, REPO_REFS_FILES), ERR_INVALID);
	assert_int_equal(migrate(&t, REPO_REFS_REFTABLE), 0);
	t.repo.ref_storage = REPO_REFS_REFTABLE;
	check_refs(&t);
	assert_int_equal(migrate(&t, REPO_REFS_FILES), 0);
	t.repo.ref_storage = REPO_REFS_FILES;
	check_refs(&t);
	tmprepo_release(&t);
}

static void test_broken(void **state)
{
	struct tmprepo t;

	(void)state;
	fill(&t);
	tmprepo_write(&t, "refs/heads/broken", "no id\n");
	assert_int_equal(migrate(&t, REPO_REFS_REFTABLE), ERR_CORRUPT);
	check_refs(&t);
	tmprepo_release(&t);
}

/* Asserts that each ref that fill_impossible() wrote has its target. */
static void check_impossible(struct tmprepo *t)
{
	static const char *const names[] = {"HEAD", "ORIG_HEAD",
					    "refs/heads/up", "refs/tags/blank"};
	static const char *const targets[] = {"refs/heads/.invalid", "../x",
					      "refs/../x", ""};
	struct refs *refs = NULL;
	struct ref ref;

	assert_int_equal(refs_open(&refs, &t->repo, NULL), 0);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(refs_read_stored(refs, names[i], &ref, NULL),
				 1);
		assert_true(ref.leads_nowhere);
		assert_string_equal(ref.target, targets[i]);
	}
	refs_close(refs);
}

static void fill_impossible(struct tmprepo *t)
{
	fill(t);
	tmprepo_write(t, "HEAD", "ref: refs/heads/.invalid\n");
	tmprepo_write(t, "ORIG_HEAD", "ref: ../x\n");
	tmprepo_write(t, "refs/heads/up", "ref: refs/../x\n");
	tmprepo_write(t, "refs/tags/blank", "ref: \n");
}

/*
 * A symbolic ref may have a target that is not a valid name of a ref. A
 * migration keeps the text of this target.
 */
static void test_impossible(void **state)
{
	struct tmprepo t;

	(void)state;
	fill_impossible(&t);
	assert_int_equal(migrate(&t, REPO_REFS_REFTABLE), 0);
	t.repo.ref_storage = REPO_REFS_REFTABLE;
	check_impossible(&t);
	assert_int_equal(migrate(&t, REPO_REFS_FILES), 0);
	t.repo.ref_storage = REPO_REFS_FILES;
	check_impossible(&t);
	tmprepo_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_ways),
		cmocka_unit_test(test_broken),
		cmocka_unit_test(test_impossible),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
