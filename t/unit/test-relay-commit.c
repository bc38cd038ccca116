/* SPDX-License-Identifier: MIT */
/*
 * Tests of copies/relay-commit.c: which requests the relay of a node sends to
 * the store when it makes a record (manifest of a new generation) for a push.
 * The relay must also notice that the store has lost a record. Other tests are
 * in test-push.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "generations/names.h"
#include "generations/passing.h"
#include "t/unit/relaynode.h"

#define SECOND UINT64_C(1000000000)

struct fixture {
	struct copynode c;
	struct relay_commits *commits;
	struct buf warnings;
	uint64_t now; /* the clock of the node */
	/*
	 * Number of the generation (version) that the local copy had at the
	 * start.
	 */
	uint64_t seen;
	/*
	 * The token of generation `seen`, if the process of the push has read
	 * the record (manifest) of this generation; otherwise zeroes.
	 */
	uint8_t seen_token[GENERATION_TOKEN_LEN];
};

static uint64_t fake_now(void *ctx)
{
	return ((struct fixture *)ctx)->now;
}

static void fixture_init(struct fixture *f)
{
	struct relay_commits_options options = {NULL, relaynode_warn,
						&f->warnings};
	struct stored_copy *copy;

	memset(f, 0, sizeof(*f));
	buf_init(&f->warnings);
	copynode_init(&f->c);
	copynode_push(&f->c, "two");
	f->now = 1000 * SECOND;
	f->c.node->host.now_ns = fake_now;
	f->c.node->host.ctx = f;
	copy = copynode_enter(&f->c);
	assert_int_equal(stored_copy_refresh(copy, &f->c.err), 0);
	f->seen = stored_copy_generation(copy)->number;
	stored_copy_close(copy);
	options.node = f->c.node;
	f->commits = relay_commits_new(&options);
	assert_non_null(f->commits);
	f->c.count.requests = 0;
}

static void fixture_release(struct fixture *f)
{
	relay_commits_free(f->commits);
	assert_int_equal(f->warnings.len, 0);
	buf_release(&f->warnings);
	copynode_release(&f->c);
}

/*
 * Creates a ref: asks the relay to make a record (manifest of a new generation)
 * with this change. Returns the result (GENERATION_COMMITTED, ...).
 */
static int create(struct fixture *f, const char *ref)
{
	char hex[OID_MAX_HEX_LEN + 1];
	const struct generation_ref_change change_of_ref = {
		ref, NULL, oid_to_hex(hex, &f->c.s.tip, HASH_SHA1)};
	const struct generation_change change = {
		.node = "n",
		.user = "u",
		.action = "push",
		.seen = f->seen,
		.session_ns = 3600 * SECOND,
		.refs = &change_of_ref,
		.ref_nr = 1,
	};
	const struct generation_host *host = &f->c.node->host;
	struct generation_session session = {
		.start_ns = f->now, .start_time = host->time(host->ctx)};
	struct relay_repository *used;
	struct buf question = BUF_INIT, answer = BUF_INIT;
	struct cursor c;
	int result = -100;

	memcpy(session.seen_token, f->seen_token, sizeof(f->seen_token));
	assert_int_equal(generation_passed_print(&question,
						 f->c.s.place.repository,
						 &change, &session, NULL),
			 0);
	c = cursor_make(question.data, question.len);
	assert_int_equal(relay_commit(f->commits, &used, &answer, &c, NULL), 0);
	relay_commit_end(f->commits, used);
	c = cursor_make(answer.data, answer.len);
	assert_true(relay_message_take_result(&c, &result, &f->c.err));
	buf_release(&question);
	buf_release(&answer);
	return result;
}

static void test_requests(void **state)
{
	char hex[OID_MAX_HEX_LEN + 1];
	struct stored_copy *copy;
	struct generation hint;
	struct fixture f;

	fixture_init(&f);
	/*
	 * The local copy is current. So two requests are enough: one writes the
	 * record, the other the hint (a copy of a recent record).
	 */
	assert_int_equal(create(&f, "refs/heads/a"), GENERATION_COMMITTED);
	assert_int_equal(f.c.count.requests, 2);
	/*
	 * The relay made the record (manifest) of the push before this one.
	 * This record describes a new generation (version of the repository).
	 * The process of the present push does not know the new generation yet,
	 * but the relay does. So no request is needed to read this record.
	 * Again two requests are enough: one writes the next record, the other
	 * the hint. Both pushes together needed four requests.
	 */
	assert_int_equal(create(&f, "refs/heads/b"), GENERATION_COMMITTED);
	assert_int_equal(f.c.count.requests, 4);
	/*
	 * The relay made its last record (manifest) two seconds ago. So the
	 * relay sends one more request before the other two. This request asks
	 * whether the store still has the record.
	 */
	f.now += 2 * SECOND;
	assert_int_equal(create(&f, "refs/heads/c"), GENERATION_COMMITTED);
	assert_int_equal(f.c.count.requests, 7);
	/*
	 * The process of this push has found the last record of the relay in
	 * the store (f.seen is the number of this record). This proves that the
	 * store has not lost the record. So the relay need not ask the store
	 * for this proof. The relay sends two requests: one writes the next
	 * record, the other the hint.
	 */
	f.now += 2 * SECOND;
	f.seen += 3;
	assert_int_equal(create(&f, "refs/heads/d"), GENERATION_COMMITTED);
	assert_int_equal(f.c.count.requests, 9);
	assert_int_equal(create(&f, "refs/heads/d"), GENERATION_REF_CHANGED);
	assert_non_null(strstr(f.c.err.msg, "refs/heads/d"));
	assert_int_equal(generation_read_hint(&hint, &f.c.s.place, NULL), 0);
	assert_int_equal(hint.number, f.seen + 1);
	generation_release(&hint);
	/*
	 * The relay notes the number of the new generation (version) in the
	 * local copy. There, other processes of the node (server) find the
	 * number.
	 */
	copy = copynode_enter(&f.c);
	assert_int_equal(stored_copy_made_number(copy), f.seen + 1);
	stored_copy_close(copy);
	storedrepo_assert_ref(&f.c.s, COPYNODE_COPY, "refs/heads/d",
			      oid_to_hex(hex, &f.c.s.tip, HASH_SHA1));
	fixture_release(&f);
}

/*
 * The store was restored from a backup, which does not have the last record
 * (manifest of a generation). The next record must not leave a gap in the
 * numbers of records.
 */
static void test_lost_record(void **state)
{
	struct buf name = BUF_INIT;
	struct generation g;
	struct fixture f;

	fixture_init(&f);
	assert_int_equal(create(&f, "refs/heads/a"), GENERATION_COMMITTED);
	assert_int_equal(generation_record_name(&name, f.c.s.place.repository,
						f.seen + 1, NULL),
			 0);
	assert_int_equal(filestore_delete(f.c.s.place.store, name.data, NULL),
			 0);
	f.now += 2 * SECOND;
	assert_int_equal(create(&f, "refs/heads/b"), GENERATION_COMMITTED);
	assert_int_equal(generation_read(&g, &f.c.s.place, f.seen + 1, NULL),
			 0);
	assert_non_null(generation_find_update(&g, "refs/heads/b"));
	assert_null(generation_find_update(&g, "refs/heads/a"));
	generation_release(&g);
	assert_int_equal(generation_read(&g, &f.c.s.place, f.seen + 2, NULL),
			 STORE_ABSENT);
	buf_release(&name);
	fixture_release(&f);
}

/*
 * The relay (the process that makes the records of all pushes to a node) has
 * made a record (manifest of a generation). Then the store is restored from a
 * backup, and this record is lost. Another node makes a different record with
 * the same number. The process of the next push has read the record of the
 * other node. So the relay must forget the lost record, and must base the next
 * record on that of the other node.
 */
static void test_other_history(void **state)
{
	struct buf name = BUF_INIT;
	struct generation other, g;
	struct fixture f;

	fixture_init(&f);
	assert_int_equal(create(&f, "refs/heads/lost"), GENERATION_COMMITTED);
	assert_int_equal(generation_record_name(&name, f.c.s.place.repository,
						f.seen + 1, NULL),
			 0);
	assert_int_equal(filestore_delete(f.c.s.place.store, name.data, NULL),
			 0);
	copynode_push(&f.c, "other");
	assert_int_equal(
		generation_read(&other, &f.c.s.place, f.seen + 1, NULL), 0);
	f.seen++;
	memcpy(f.seen_token, other.token, sizeof(other.token));
	assert_int_equal(create(&f, "refs/heads/next"), GENERATION_COMMITTED);
	assert_int_equal(generation_read(&g, &f.c.s.place, f.seen + 1, NULL),
			 0);
	assert_non_null(generation_find_update(&g, "refs/heads/next"));
	assert_null(generation_find_update(&g, "refs/heads/lost"));
	for (size_t i = 0; i < other.file_nr; i++)
		assert_non_null(generation_find_file(&g, other.files[i].path));
	/*
	 * The relay made the newest record (manifest) itself. So the next
	 * record needs only two requests: one writes the record, the other the
	 * hint (a copy of a recent record).
	 */
	f.seen++;
	memcpy(f.seen_token, g.token, sizeof(g.token));
	f.c.count.requests = 0;
	assert_int_equal(create(&f, "refs/heads/more"), GENERATION_COMMITTED);
	assert_int_equal(f.c.count.requests, 2);
	generation_release(&other);
	generation_release(&g);
	buf_release(&name);
	fixture_release(&f);
}

static void test_malformed(void **state)
{
	struct relay_repository *used;
	struct buf answer = BUF_INIT;
	struct fixture f;
	struct cursor c;

	fixture_init(&f);
	c = cursor_make("\0\0\0\1", 4);
	assert_int_equal(relay_commit(f.commits, &used, &answer, &c, NULL),
			 ERR_PEER);
	relay_commit_end(f.commits, used);
	assert_int_equal(f.c.count.requests, 0);
	relay_commits_free(NULL);
	buf_release(&answer);
	fixture_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_requests),
		cmocka_unit_test(test_lost_record),
		cmocka_unit_test(test_other_history),
		cmocka_unit_test(test_malformed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
