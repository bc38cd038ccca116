/* SPDX-License-Identifier: MIT */
/*
 * Tests of refs-write/refs-reftable-tx.c, transactions in reftables. Random
 * transactions in reftables and in files must have the same results, refs and
 * reflogs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "refs-write/ref-transaction.h"
#include "refs/refs-reftable.h"
#include "t/unit/random.h"
#include "t/unit/tmprepo.h"

#define ROUNDS 150
#define WHO "A U Thor <author@example.com> 1112911993 -0700"

/*
 * The last four names conflict with each other: a transaction has either the
 * names ending in "a" and "b", or the two others. (With a conflict within a
 * transaction, the storages reject different changes, as those of stock Git
 * do.) Symbolic refs point to the first TARGET_NR names.
 */
static const char *const names[] = {
	"HEAD",           "refs/heads/main", "refs/sym",     "refs/bisect/x",
	"refs/tags/t",    "refs/tags/u",     "refs/heads/a", "refs/heads/b",
	"refs/heads/a/b", "refs/heads/b/c/d"};
#define NAME_NR (sizeof(names) / sizeof(names[0]))
#define TARGET_NR 6
#define SIDE_NR 2

static void prepare(struct tmprepo *t, enum repo_ref_storage storage)
{
	tmprepo_init(t, HASH_SHA1);
	t->repo.ref_storage = storage;
	/*
	 * By default, reflogs are written only in a repository that has a work
	 * tree.
	 */
	t->repo.is_bare = false;
	if (storage == REPO_REFS_REFTABLE)
		assert_int_equal(repo_init_reftable(t->dir, HASH_SHA1,
						    "refs/heads/main", 0, NULL),
				 0);
	else
		tmprepo_write(t, "HEAD", "ref: refs/heads/main\n");
}

struct plan {
	struct ref_change change;
	struct oid new_oid, old_oid;
};

/* `side`: which of the conflicting names the transaction may have, 0 or 1 */
static void make_plan(struct plan *p, unsigned side, uint64_t *seed)
{
	unsigned what = (unsigned)(random_next(seed) % 10);
	size_t name = random_next(seed) % (TARGET_NR + SIDE_NR);

	memset(p, 0, sizeof(*p));
	p->change.name = names[name < TARGET_NR ? name : name + side * SIDE_NR];
	p->change.message = what % 2 ? "because" : NULL;
	p->new_oid.bytes[0] = (uint8_t)(random_next(seed) % 3 + 1);
	p->old_oid.bytes[0] = (uint8_t)(random_next(seed) % 4);
	if (what < 6)
		p->change.new_oid = &p->new_oid;
	if (what == 6 || what == 7) {
		p->new_oid.bytes[0] = 0;
		p->change.new_oid = &p->new_oid;
	}
	if (what == 8) {
		p->change.new_target = names[random_next(seed) % TARGET_NR];
		p->change.flags |= REF_NO_DEREF;
	}
	if (what == 9 || random_next(seed) % 3 == 0)
		p->change.old_oid = &p->old_oid;
	if (random_next(seed) % 4 == 0)
		p->change.flags |= REF_NO_DEREF;
	if (random_next(seed) % 4 == 0)
		p->change.flags |= REF_FORCE_REFLOG;
	/* HEAD must not become a symbolic ref to itself. */
	if (p->change.new_target && !strcmp(p->change.new_target, "HEAD"))
		p->change.new_target = "refs/heads/main";
}

/*
 * Appends whether each change was made. The reasons of failures depend on the
 * storage, so only "ok" or "no" is appended.
 */
static void put_results(struct buf *out, const struct ref_transaction *tx,
			size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		buf_printf(out, " %s",
			   ref_transaction_get(tx, i)->result == REF_OK ? "ok"
									: "no");
}

/*
 * Runs a transaction. Appends its results to *out as text. If the whole
 * transaction fails, at least one of its changes cannot be made. Which other
 * changes are tried, and so which error is returned, depends on the storage.
 */
static void run(const struct tmprepo *t, const struct plan *plans, size_t nr,
		bool keep_going, struct buf *out)
{
	struct ref_transaction_options options = {
		.committer = WHO,
		.keep_going = keep_going,
	};
	struct buf results = BUF_INIT;
	struct ref_transaction *tx;
	int ret;

	assert_int_equal(ref_transaction_new(&tx, &t->repo, &options, NULL), 0);
	for (size_t i = 0; i < nr; i++)
		assert_int_equal(
			ref_transaction_add(tx, &plans[i].change, NULL), 0);
	ret = ref_transaction_commit(tx, NULL);
	put_results(&results, tx, nr);
	if (ret == ERR_INVALID)
		assert_non_null(strstr(results.data, "no"));
	buf_printf(out, "%s\n", ret < 0 ? "failed" : results.data);
	buf_release(&results);
	ref_transaction_free(tx);
}

static int append_ref(void *ctx, const struct ref *ref)
{
	return buf_printf(ctx, "%s %02x %s\n", ref->name, ref->oid.bytes[0],
			  ref->target ? ref->target : "");
}

static int append_oid(void *ctx, const struct oid *oid)
{
	((unsigned *)ctx)[oid->bytes[0]]++;
	return 0;
}

/*
 * Appends all refs with their values to *out, and for each id the number of its
 * uses in reflogs.
 */
static void describe(const struct tmprepo *t, struct buf *out)
{
	unsigned kept[256] = {0};
	struct refs *refs;
	struct ref ref;

	assert_int_equal(refs_open(&refs, &t->repo, NULL), 0);
	assert_int_equal(refs_each(refs, "", append_ref, out, NULL, NULL), 0);
	for (size_t i = 0; i < NAME_NR; i++) {
		int ret = refs_read(refs, names[i], &ref, NULL);

		buf_printf(out, "%s %d %s\n", names[i], ret,
			   ret > 0 && ref.target ? ref.target : "");
	}
	refs_close(refs);
	assert_int_equal(refs_each_reflog_oid(&t->repo, append_oid, kept, NULL),
			 0);
	for (size_t i = 0; i < 5; i++)
		buf_printf(out, "%u ", kept[i]);
}

static void test_random(void **state)
{
	uint64_t seed = random_seed();
	struct tmprepo files, tables;

	(void)state;
	prepare(&files, REPO_REFS_FILES);
	prepare(&tables, REPO_REFS_REFTABLE);
	for (int i = 0; i < ROUNDS; i++) {
		struct buf a = BUF_INIT, b = BUF_INIT;
		struct plan plans[4];
		size_t nr = 1 + random_next(&seed) % 4;
		bool keep_going = random_next(&seed) % 2;
		unsigned side = random_next(&seed) % 2;

		for (size_t n = 0; n < nr; n++)
			make_plan(&plans[n], side, &seed);
		run(&files, plans, nr, keep_going, &a);
		run(&tables, plans, nr, keep_going, &b);
		describe(&files, &a);
		describe(&tables, &b);
		assert_string_equal(a.data, b.data);
		buf_release(&a);
		buf_release(&b);
	}
	tmprepo_release(&files);
	tmprepo_release(&tables);
}

/*
 * A prepared transaction holds the lock of the stack of reftables. An abort
 * releases it.
 */
static void test_lock(void **state)
{
	struct ref_change change = {.name = "refs/heads/x"};
	struct ref_transaction_options options = {.committer = WHO};
	struct ref_transaction *a, *b;
	struct error err = ERROR_INIT;
	struct oid oid = OID_ZERO_INIT;
	struct tmprepo t;

	(void)state;
	prepare(&t, REPO_REFS_REFTABLE);
	oid.bytes[0] = 1;
	change.new_oid = &oid;
	assert_int_equal(ref_transaction_new(&a, &t.repo, &options, NULL), 0);
	assert_int_equal(ref_transaction_new(&b, &t.repo, &options, NULL), 0);
	assert_int_equal(ref_transaction_add(a, &change, NULL), 0);
	assert_int_equal(ref_transaction_add(b, &change, NULL), 0);
	assert_int_equal(ref_transaction_prepare(a, NULL), 0);
	assert_int_equal(ref_transaction_prepare(b, &err), ERR_DENIED);
	assert_int_equal(strncmp(err.msg,
				 "cannot lock references\n\nUnable to create",
				 40),
			 0);
	assert_int_equal(ref_transaction_abort(a, NULL), 0);
	ref_transaction_free(b);
	ref_transaction_free(a);
	assert_int_equal(ref_transaction_new(&a, &t.repo, &options, NULL), 0);
	assert_int_equal(ref_transaction_add(a, &change, NULL), 0);
	assert_int_equal(ref_transaction_commit(a, NULL), 0);
	ref_transaction_free(a);
	tmprepo_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_lock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
