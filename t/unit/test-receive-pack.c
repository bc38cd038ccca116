/* SPDX-License-Identifier: MIT */
/*
 * Tests of receive/receive-pack.c: complete pushes, and pushes that are
 * truncated.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "t/unit/pushed.h"

#define BAND "report-status side-band-64k"

static void test_update_and_create(void **state)
{
	struct pushed p;

	pushed_init(&p);
	pushed_commit(&p, "n1", "c4");
	pushed_command(&p, "c4 n1 refs/heads/main", "report-status");
	pushed_command(&p, "zero n1 refs/heads/new", NULL);
	assert_string_equal(pushed_run(&p, true),
			    "unpack ok|ok refs/heads/main|ok refs/heads/new|"
			    "F");
	assert_int_equal(p.d.ret, 0);
	assert_true(pushed_ref_is(&p, "refs/heads/main", "n1"));
	assert_true(pushed_ref_is(&p, "refs/heads/new", "n1"));
	assert_int_equal(pushed_leftovers(&p), 0);
	pushed_release(&p);
}

static void test_delete_needs_no_pack(void **state)
{
	struct pushed p;

	pushed_init(&p);
	pushed_command(&p, "s0 zero refs/heads/side", "report-status");
	assert_string_equal(pushed_run(&p, false),
			    "unpack ok|ok refs/heads/side|F");
	assert_true(pushed_ref_is(&p, "refs/heads/side", "zero"));
	pushed_release(&p);
}

static void test_nothing(void **state)
{
	struct pushed p;

	pushed_init(&p);
	assert_string_equal(pushed_run(&p, false), "");
	assert_int_equal(p.d.ret, 0);
	pushed_release(&p);
}

static void test_bad_request(void **state)
{
	struct pushed p;

	pushed_init(&p);
	pushed_command(&p, "hello", "report-status");
	assert_string_equal(pushed_run(&p, false),
			    "ERR protocol error: expected old/new/ref, got "
			    "'hello'");
	assert_int_equal(p.d.ret, ERR_PEER);
	pushed_release(&p);
}

/*
 * The request is truncated at each byte. No ref may change, and no file may be
 * left.
 */
static void test_cut_off(void **state)
{
	struct pushed p;
	size_t len;

	pushed_init(&p);
	pushed_commit(&p, "n1", "c4");
	pushed_command(&p, "c4 n1 refs/heads/main", BAND);
	pushed_run(&p, true);
	assert_true(pushed_ref_is(&p, "refs/heads/main", "n1"));
	dialog_ref(&p.d, "refs/heads/main", "c4");
	len = p.d.in.len;
	while (len--) {
		struct serve_io io = dialog_io(&p.d);

		buf_set_len(&p.d.in, len);
		p.d.read = 0;
		p.d.chunk = 1 + len % 7;
		buf_reset(&p.d.out);
		receive_pack_serve(&p.options, &io, NULL);
		assert_true(pushed_ref_is(&p, "refs/heads/main", "c4"));
		assert_int_equal(pushed_leftovers(&p), 0);
	}
	pushed_release(&p);
}

/*
 * The client closes the connection before it gets the response. The session
 * ends with an error.
 */
static void test_no_answer(void **state)
{
	struct pushed p;

	pushed_init(&p);
	pushed_commit(&p, "n1", "c4");
	pushed_command(&p, "c4 n1 refs/heads/main", BAND);
	p.d.write_max = 0;
	pushed_run(&p, true);
	assert_int_equal(p.d.ret, ERR_PEER);
	assert_int_equal(pushed_leftovers(&p), 0);
	pushed_release(&p);
}

static void test_tell(void **state)
{
	struct pushed p;

	pushed_init(&p);
	pushed_command(&p, "none zero refs/heads/none", "report-status");
	assert_string_equal(pushed_run(&p, false),
			    "unpack ok|ok refs/heads/none|F");
	assert_string_equal(p.told.data,
			    "warning: deleting a non-existent ref\n");
	pushed_release(&p);
}

/* ---- a target, which takes objects and refs in place of the repository */

struct target {
	struct receive_target target;
	unsigned purges, stores, publishes;
	bool had_pack, fails_to_purge, fails_to_store, fails_to_publish;
};

static int target_purge(void *ctx, struct error *err)
{
	struct target *t = ctx;

	t->purges++;
	return t->fails_to_purge ? error_set(err, ERR_IO, "no trust") : 0;
}

static int target_store(void *ctx, const char *dir, struct error *err)
{
	struct target *t = ctx;
	char path[4096];

	snprintf(path, sizeof(path), "%s/pack", dir);
	t->stores++;
	t->had_pack = sys_exists(path);
	return t->fails_to_store ? error_set(err, ERR_DENIED, "no room") : 0;
}

static int target_publish(void *ctx, struct ref_transaction *tx,
			  struct error *err)
{
	struct target *t = ctx;

	t->publishes++;
	assert_int_equal(ref_transaction_nr(tx), 1);
	return t->fails_to_publish ? error_set(err, ERR_DENIED, "no luck") : 0;
}

/*
 * Pushes a new branch. The functions of `t` (struct receive_target) store the
 * push. Returns the transcript.
 */
static const char *push_to_target(struct pushed *p, struct target *t)
{
	t->target = (struct receive_target){target_store, target_publish, t,
					    target_purge};
	pushed_init(p);
	/*
	 * Make the refs a reftable, as in a local copy of a repository in a
	 * store.
	 */
	assert_int_equal(repo_init_reftable(p->d.t.dir, HASH_SHA1,
					    "refs/heads/main", 0, NULL),
			 0);
	p->d.t.repo.ref_storage = REPO_REFS_REFTABLE;
	p->options.target = &t->target;
	pushed_commit(p, "n1", NULL);
	pushed_command(p, "zero n1 refs/heads/new", "report-status");
	return pushed_run(p, true);
}

/*
 * The target gets the objects and the changes of refs. The repository itself
 * must not change.
 */
static void test_target(void **state)
{
	struct target good = {.stores = 0}, full = {.fails_to_store = true},
		      unlucky = {.fails_to_publish = true},
		      foreign = {.fails_to_purge = true};
	struct pushed p;

	assert_string_equal(push_to_target(&p, &good),
			    "unpack ok|ok refs/heads/new|F");
	assert_int_equal(good.purges, 1);
	assert_int_equal(good.stores, 1);
	assert_int_equal(good.publishes, 1);
	assert_true(good.had_pack);
	assert_true(pushed_ref_is(&p, "refs/heads/new", "zero"));
	assert_int_equal(pushed_leftovers(&p), 0);
	pushed_release(&p);

	assert_string_equal(push_to_target(&p, &full),
			    "unpack ok|ng refs/heads/new no room|F");
	assert_int_equal(full.publishes, 0);
	assert_int_equal(pushed_leftovers(&p), 0);
	pushed_release(&p);

	assert_string_equal(push_to_target(&p, &unlucky),
			    "unpack ok|ng refs/heads/new no luck|F");
	assert_int_equal(unlucky.stores, 1);
	assert_int_equal(unlucky.publishes, 1);
	pushed_release(&p);

	assert_string_equal(push_to_target(&p, &foreign),
			    "unpack ok|ng refs/heads/new no trust|F");
	assert_int_equal(foreign.stores, 0);
	assert_int_equal(pushed_leftovers(&p), 0);
	pushed_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_update_and_create),
		cmocka_unit_test(test_delete_needs_no_pack),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_bad_request),
		cmocka_unit_test(test_cut_off),
		cmocka_unit_test(test_no_answer),
		cmocka_unit_test(test_tell),
		cmocka_unit_test(test_target),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
