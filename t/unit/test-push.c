/* SPDX-License-Identifier: MIT */
/*
 * Tests of copies/push.h: pushes to a repository in a store, through the local
 * copies of two nodes (servers). The number of requests to the store is
 * checked, too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "sys/rangelock.h"
#include "t/unit/pushsession.h"
#include "t/unit/relaynode.h"

/*
 * Checks the requests of a push. First, the node (server) looks for a newer
 * generation (version) than that of its local copy. Then, in parallel, it
 * uploads three files and reads the record (manifest) of the newest generation.
 * Then it writes the new record.
 *
 * Updating the copy needs no further request and no download. Last, a thread
 * writes the hint (a copy of a recent record).
 */
static void test_requests(void **state)
{
	struct fixture f;
	struct session s;
	const struct generation *g;
	struct generation hint;
	char *dir;
	uint64_t downloaded;

	(void)state;
	fixture_init(&f);
	push_one(&f, f.c.node, "refs/heads/old", &f.c.s.tip);
	dir = make_quarantine(&f);
	downloaded = stored_cache_downloaded(f.c.node->cache);
	f.c.count.requests = 0;
	session_open(&s, &f, f.c.node);
	assert_int_equal(f.c.count.requests, 1);
	assert_int_equal(stored_push_upload(s.push, dir, &f.err), 0);
	assert_int_equal(f.c.count.requests, 1 + 4);
	session_begin(&s, true);
	session_set(&s, "refs/heads/new", &f.c.s.tip);
	assert_int_equal(session_commit(&s), 0);
	assert_in_range(f.c.count.requests, 1 + 4 + 1, 1 + 4 + 1 + 1);
	assert_int_equal(stored_cache_downloaded(f.c.node->cache), downloaded);
	g = stored_copy_generation(s.copy);
	assert_int_equal(g->number, 3);
	assert_string_equal(g->node, "node?7");
	assert_string_equal(g->user, "alice");
	assert_string_equal(g->action, "push");
	assert_non_null(generation_find_file(g, "objects/pack/pack-00.pack"));
	assert_non_null(generation_find_file(g, "objects/pack/pack-00.idx"));
	assert_non_null(generation_find_file(g, "objects/pack/pack-00.rev"));
	assert_null(generation_find_file(g, "objects/pack/pack-00.keep"));
	assert_null(generation_find_file(g, "objects/pack/other.pack"));
	ref_transaction_free(s.tx);

	/* The second transaction of the push has no files to upload. */
	session_begin(&s, true);
	session_set(&s, "refs/heads/old", NULL);
	assert_int_equal(session_commit(&s), 0);
	session_close(&s);
	assert_int_equal(f.c.count.requests, 1 + 4 + 2 + 1);
	expect(&f, "refs/heads/new", &f.c.s.tip);
	expect(&f, "refs/heads/old", NULL);

	/*
	 * The generation (version) has the pack already, so its files are not
	 * uploaded again.
	 */
	f.c.count.requests = 0;
	session_open(&s, &f, f.c.node);
	assert_int_equal(stored_push_upload(s.push, dir, &f.err), 0);
	assert_int_equal(f.c.count.requests, 2);
	session_close(&s);

	/*
	 * A push that only deletes a ref needs four requests: two reads, the
	 * put of the record (manifest), and the put of the hint (a copy of a
	 * recent record).
	 */
	f.c.count.requests = 0;
	push_one(&f, f.c.node, "refs/heads/new", NULL);
	assert_int_equal(f.c.count.requests, 4);
	assert_int_equal(generation_read_hint(&hint, &f.c.s.place, NULL), 0);
	assert_int_equal(hint.number, 5);
	generation_release(&hint);
	assert_int_equal(f.warnings.len, 0);
	free(dir);
	fixture_release(&f);
}

/*
 * Another node (server) changes refs while a push runs. The other node may have
 * changed a ref of the push, or created a ref whose name conflicts with it.
 * Then the change of this ref is rejected. All other changes of the push
 * succeed.
 */
static void test_races(void **state)
{
	struct fixture f;
	struct session s;
	struct oid one;

	(void)state;
	fixture_init(&f);
	one = f.c.s.tip;
	session_open(&s, &f, f.c.node);
	push_one(&f, f.other, "refs/heads/theirs", &one);
	session_begin(&s, true);
	session_set(&s, "refs/heads/mine", &one);
	assert_int_equal(session_commit(&s), 0);
	assert_int_equal(ref_transaction_get(s.tx, 0)->result, REF_OK);
	session_close(&s);
	expect(&f, "refs/heads/mine", &one);
	expect(&f, "refs/heads/theirs", &one);

	session_open(&s, &f, f.c.node);
	push_one(&f, f.other, "refs/heads/race", &one);
	push_one(&f, f.other, "refs/heads/a/b", &one);
	push_one(&f, f.other, "refs/heads/mine", NULL);
	session_begin(&s, true);
	session_set(&s, "refs/heads/a", &one);
	session_set(&s, "refs/heads/good", &one);
	session_set(&s, "refs/heads/mine", &one);
	session_set(&s, "refs/heads/race", NULL);
	assert_int_equal(session_commit(&s), 0);
	assert_int_equal(ref_transaction_get(s.tx, 0)->result, REF_OLD_DIFFERS);
	assert_string_equal(
		ref_transaction_get(s.tx, 0)->error,
		"ref 'refs/heads/a' cannot be created: its name conflicts with "
		"that of another ref, as 'a/b' does with 'a'");
	assert_int_equal(ref_transaction_get(s.tx, 1)->result, REF_OK);
	assert_int_equal(ref_transaction_get(s.tx, 2)->result, REF_OLD_DIFFERS);
	assert_string_equal(
		ref_transaction_get(s.tx, 2)->error,
		"ref 'refs/heads/mine' was changed by another writer");
	assert_int_equal(ref_transaction_get(s.tx, 3)->result, REF_OLD_DIFFERS);
	session_close(&s);
	expect(&f, "refs/heads/good", &one);
	expect(&f, "refs/heads/race", &one);
	expect(&f, "refs/heads/a", NULL);

	/*
	 * If all changes of refs are rejected, no record (manifest) is written.
	 */
	session_open(&s, &f, f.c.node);
	push_one(&f, f.other, "refs/heads/mine", &one);
	session_begin(&s, true);
	session_set(&s, "refs/heads/mine", &one);
	assert_int_equal(session_commit(&s), 0);
	assert_int_equal(ref_transaction_get(s.tx, 0)->result, REF_OLD_DIFFERS);
	ref_transaction_free(s.tx);

	/*
	 * Without keep_going, the whole transaction fails if one change is
	 * rejected.
	 */
	push_one(&f, f.other, "refs/heads/x", &one);
	session_begin(&s, false);
	session_set(&s, "refs/heads/w", &one);
	session_set(&s, "refs/heads/x", &one);
	assert_int_equal(session_commit(&s), ERR_INVALID);
	session_close(&s);
	expect(&f, "refs/heads/w", NULL);
	fixture_release(&f);
}

/*
 * Pushes change refs that are in the reftables of a generation (version). If
 * such a ref was deleted by an earlier push, a push can create a ref below its
 * name.
 */
static void test_tables(void **state)
{
	struct fixture f;
	struct session s;
	struct oid one;

	(void)state;
	fixture_init(&f);
	one = f.c.s.tip;
	push_one(&f, f.c.node, "refs/heads/main", NULL);
	push_one(&f, f.c.node, "refs/heads/main/sub", &one);
	expect(&f, "refs/heads/main/sub", &one);
	expect(&f, "refs/heads/main", NULL);

	/*
	 * An imported repository has its refs in a reftable, among them
	 * refs/tags/t/u. A push deletes this ref. Then another push must be
	 * able to create refs/tags/t/v and to delete refs/heads/main, which is
	 * in the reftable, too.
	 */
	netrepo_ref(&f.c.s.n, "src", "refs/tags/t/u", &one);
	assert_int_equal(storedrepo_import(&f.c.s, true), 0);
	session_open(&s, &f, f.c.node);
	push_one(&f, f.other, "refs/tags/t/u", NULL);
	session_begin(&s, true);
	session_set(&s, "refs/tags/t/v", &one);
	session_set(&s, "refs/heads/main", NULL);
	assert_int_equal(session_commit(&s), 0);
	assert_int_equal(ref_transaction_get(s.tx, 0)->result, REF_OK);
	assert_int_equal(ref_transaction_get(s.tx, 1)->result, REF_OK);
	session_close(&s);
	expect(&f, "refs/heads/main", NULL);
	expect(&f, "refs/tags/t/v", &one);
	fixture_release(&f);
}

/* Makes a tag object and imports it into the store. */
static void import_tag(struct fixture *f, struct oid *tag)
{
	struct netrepo *n = &f->c.s.n;
	struct repo *repo = netrepo_open(n, "src");
	struct loose_writer w;
	char hex[OID_MAX_HEX_LEN + 1];
	struct buf text = BUF_INIT;

	assert_int_equal(loose_writer_init(&w, repo, repo->object_dir, NULL),
			 0);
	buf_printf(&text,
		   "object %s\ntype commit\ntag t\n"
		   "tagger T <t@example.com> 1112911993 +0200\n\nt\n",
		   oid_to_hex(hex, &f->c.s.tip, HASH_SHA1));
	netrepo_put(&w, tag, OBJ_TAG, text.data, text.len);
	buf_release(&text);
	loose_writer_release(&w);
	repo_close(repo);
	netrepo_ref(n, "src", "refs/tags/t", tag);
	assert_int_equal(storedrepo_import(&f->c.s, true), 0);
}

/*
 * Sets two refs in one transaction: first `name`, which is long, to `tag`, then
 * a sibling. `keep_going`: a rejected ref does not fail the transaction.
 * Returns the result for the long name.
 */
static enum ref_result push_long(struct fixture *f, const char *name,
				 const struct oid *tag, bool keep_going)
{
	enum ref_result result;
	struct session s;
	int ret;

	session_open(&s, f, f->c.node);
	session_begin(&s, keep_going);
	session_set(&s, name, tag);
	session_set(&s, "refs/heads/sibling", &f->c.s.tip);
	ret = session_commit(&s);
	result = ref_transaction_get(s.tx, 0)->result;
	if (keep_going) {
		assert_int_equal(ret, 0);
		assert_int_equal(ref_transaction_get(s.tx, 1)->result, REF_OK);
	} else {
		assert_int_equal(ret, result ? ERR_INVALID : 0);
	}
	if (result)
		assert_non_null(strstr(ref_transaction_get(s.tx, 0)->error,
				       "is too long for a reftable block"));
	session_close(&s);
	return result;
}

/*
 * A ref whose name is too long for a reftable is rejected, and other refs of
 * the push are set. The other node (server) can read each accepted ref, and a
 * push can delete it. `most`: maximum number of long names that are accepted.
 */
static void check_long_names(const char *config, unsigned most)
{
	static const size_t lens[] = {3900, 3990, 4020, 4036, 4060,
				      4080, 4090, 4096, 4097, 4200};
	unsigned accepted = 0, rejected = 0;
	char path[4096];
	struct fixture f;
	struct oid tag;

	fixture_init(&f);
	snprintf(path, sizeof(path), "%s",
		 netrepo_path(&f.c.s.n, "src/config"));
	assert_int_equal(sys_append(path, config, strlen(config), 0666, NULL),
			 0);
	import_tag(&f, &tag);
	for (size_t i = 0; i < ARRAY_NR(lens); i++) {
		char name[4300];
		bool is_ok;

		memset(name, 'n', sizeof(name));
		memcpy(name, "refs/tags/", 10);
		name[lens[i]] = '\0';
		is_ok = push_long(&f, name, &tag, true) == REF_OK;
		accepted += is_ok;
		rejected += !is_ok;
		expect(&f, "refs/heads/sibling", &f.c.s.tip);
		push_one(&f, f.c.node, "refs/heads/sibling", NULL);
		if (is_ok) {
			expect(&f, name, &tag);
			push_one(&f, f.other, name, NULL);
		} else {
			assert_int_equal(push_long(&f, name, &tag, false),
					 REF_BAD_VALUE);
			expect(&f, "refs/heads/sibling", NULL);
		}
		expect(&f, name, NULL);
	}
	assert_true(accepted <= most && rejected >= 4);
	assert_int_equal(accepted > 0, most > 0);
	fixture_release(&f);
}

static void test_long_names(void **state)
{
	(void)state;
	check_long_names("", 6);
	/*
	 * A block size above the default is ignored. So the same names are
	 * accepted as without this setting.
	 */
	check_long_names("[reftable]\n\tblockSize = 65536\n", 6);
	check_long_names("[reftable]\n\tblockSize = 1024\n", 0);
}

/*
 * A push that sets refs to their present values is checked, but makes no new
 * generation (version of the repository).
 */
static void test_no_change(void **state)
{
	struct fixture f;
	struct session s;
	struct generation g;

	(void)state;
	fixture_init(&f);
	push_one(&f, f.c.node, "refs/heads/old", &f.c.s.tip);
	f.c.count.requests = 0;
	session_open(&s, &f, f.c.node);
	session_begin(&s, false);
	session_set(&s, "refs/heads/ghost", NULL);
	session_set(&s, "refs/heads/old", &f.c.s.tip);
	session_set(&s, "refs/heads/main", &f.c.s.tip);
	assert_int_equal(session_commit(&s), 0);
	assert_int_equal(f.c.count.requests, 1);
	assert_int_equal(stored_copy_generation(s.copy)->number, 2);
	session_close(&s);

	/*
	 * When the transaction is prepared, the ref `ghost` does not exist. So
	 * deleting it would have no effect. Before the transaction is
	 * committed, the same node (server) creates `ghost`. Then the commit
	 * must reject the deletion.
	 */
	session_open(&s, &f, f.c.node);
	session_begin(&s, true);
	session_set(&s, "refs/heads/ghost", NULL);
	session_set(&s, "refs/heads/old", &f.c.s.tip);
	assert_int_equal(ref_transaction_prepare(s.tx, NULL), 0);
	push_one(&f, f.c.node, "refs/heads/ghost", &f.c.s.tip);
	assert_int_equal(session_commit(&s), 0);
	assert_int_equal(ref_transaction_get(s.tx, 0)->result, REF_OLD_DIFFERS);
	assert_int_equal(ref_transaction_get(s.tx, 1)->result, REF_OK);
	assert_int_equal(stored_copy_generation(s.copy)->number, 3);
	session_close(&s);
	expect(&f, "refs/heads/ghost", &f.c.s.tip);

	/*
	 * One change has no effect, and the only other change is rejected. So
	 * no generation (version) is made.
	 */
	session_open(&s, &f, f.c.node);
	push_one(&f, f.other, "refs/heads/race", &f.c.s.tip);
	session_begin(&s, true);
	session_set(&s, "refs/heads/none", NULL);
	session_set(&s, "refs/heads/race", &f.c.s.tip);
	assert_int_equal(session_commit(&s), 0);
	assert_int_equal(ref_transaction_get(s.tx, 0)->result, REF_OK);
	assert_int_equal(ref_transaction_get(s.tx, 1)->result, REF_OLD_DIFFERS);
	session_close(&s);
	storedrepo_newest(&f.c.s, &g);
	assert_int_equal(g.number, 4);
	generation_release(&g);

	/*
	 * One change has no effect, but the other one changes a ref. So a
	 * generation (version) is made.
	 */
	session_open(&s, &f, f.c.node);
	session_begin(&s, false);
	session_set(&s, "refs/heads/none", NULL);
	session_set(&s, "refs/heads/ghost", NULL);
	assert_int_equal(session_commit(&s), 0);
	assert_int_equal(stored_copy_generation(s.copy)->number, 5);
	session_close(&s);
	expect(&f, "refs/heads/ghost", NULL);
	fixture_release(&f);
}

/*
 * Pushes of one node (server) take turns. Here another push holds the lock and
 * never ends. A push waits for a limited time, and then goes on.
 */
static void test_turn(void **state)
{
	struct fixture f;
	char path[4096];
	int fd;

	(void)state;
	fixture_init(&f);
	push_one(&f, f.c.node, "refs/heads/one", &f.c.s.tip);
	fake_clock(&f);
	push_one(&f, f.c.node, "refs/heads/two", &f.c.s.tip);
	assert_int_equal(f.now, 0);
	snprintf(path, sizeof(path), "%s",
		 netrepo_path(&f.c.s.n, COPYNODE_COPY "/store-pushes"));
	fd = sys_rangelock_open(path, NULL);
	/* The push waits for its turn, but only for a limited time. */
	assert_int_equal(sys_rangelock_take(fd, 0, false, false, NULL), 0);
	push_one(&f, f.c.node, "refs/heads/three", &f.c.s.tip);
	assert_true(f.now >= 1000000000);
	expect(&f, "refs/heads/three", &f.c.s.tip);
	sys_close(fd);
	fixture_release(&f);
}

/*
 * Another push of the node (server) made a record (manifest of a new
 * generation). The local copy is not yet at this generation. The next push
 * knows that the record exists, so it must not try to make a record of the same
 * number.
 */
static void test_record_before_the_copy(void **state)
{
	struct generation g;
	struct fixture f;
	struct session s;

	(void)state;
	fixture_init(&f);
	push_one(&f, f.c.node, "refs/heads/one", &f.c.s.tip);
	session_open(&s, &f, f.c.node);
	push_one(&f, f.other, "refs/heads/two", &f.c.s.tip);
	storedrepo_newest(&f.c.s, &g);
	assert_int_equal(stored_copy_note_made(s.copy, &g, NULL), 0);
	session_begin(&s, true);
	session_set(&s, "refs/heads/three", &f.c.s.tip);
	f.c.count.requests = 0;
	assert_int_equal(session_commit(&s), 0);
	/*
	 * There are two or three requests: reading the newest record
	 * (manifest), which the local copy lacks, writing the new record, and
	 * perhaps writing the hint (a copy of a recent record).
	 */
	assert_in_range(f.c.count.requests, 2, 3);
	assert_int_equal(stored_copy_generation(s.copy)->number, g.number + 1);
	session_close(&s);
	expect(&f, "refs/heads/two", &f.c.s.tip);
	expect(&f, "refs/heads/three", &f.c.s.tip);
	generation_release(&g);
	fixture_release(&f);
}

/*
 * The process of a push made a record (manifest of a new generation). It wrote
 * a local note which says that the record exists, and then it was killed. Then
 * the store was restored from an older backup, so the record is lost. The next
 * push must not build on the lost record.
 */
static void test_lost_record_before_the_copy(void **state)
{
	struct generation g;
	struct fixture f;
	struct session s;

	(void)state;
	fixture_init(&f);
	push_one(&f, f.c.node, "refs/heads/one", &f.c.s.tip);
	push_one(&f, f.other, "refs/heads/two", &f.c.s.tip);
	storedrepo_newest(&f.c.s, &g);
	s.copy = copynode_enter(&f.c);
	assert_int_equal(stored_copy_load(s.copy, NULL), 0);
	assert_int_equal(stored_copy_note_made(s.copy, &g, NULL), 0);
	stored_copy_close(s.copy);
	storedrepo_lose_record(&f.c.s, g.number);
	session_open(&s, &f, f.c.node);
	session_begin(&s, true);
	session_set(&s, "refs/heads/three", &f.c.s.tip);
	assert_int_equal(session_commit(&s), 0);
	/* The new record (manifest) gets the number of the lost one. */
	assert_int_equal(stored_copy_generation(s.copy)->number, g.number);
	session_close(&s);
	generation_release(&g);
	storedrepo_newest(&f.c.s, &g);
	assert_int_equal(g.number, 3);
	generation_release(&g);
	fixture_release(&f);
}

static void test_too_late(void **state)
{
	struct fixture f;
	struct session s;
	char *dir;

	(void)state;
	fixture_init(&f);
	fake_clock(&f);
	dir = make_quarantine(&f);
	session_open(&s, &f, f.c.node);
	assert_int_equal(stored_push_upload(s.push, dir, &f.err), 0);
	f.now += (uint64_t)7 * 3600 * 1000000000;
	session_begin(&s, true);
	session_set(&s, "refs/heads/new", &f.c.s.tip);
	assert_int_equal(session_commit(&s), ERR_DENIED);
	assert_string_equal(f.err.msg, "the push took too long; this ref was "
				       "not changed, push again");
	session_close(&s);
	expect(&f, "refs/heads/new", NULL);
	free(dir);
	fixture_release(&f);
}

/*
 * A garbage collection has removed objects after the push was checked. So the
 * push must fail.
 */
static void test_epoch(void **state)
{
	struct fixture f;
	struct session s;

	(void)state;
	fixture_init(&f);
	session_open(&s, &f, f.c.node);
	copynode_push(&f.c, "three");
	session_begin(&s, true);
	session_set(&s, "refs/heads/new", &f.c.s.tip);
	assert_int_equal(session_commit(&s), ERR_DENIED);
	assert_string_equal(f.err.msg, "objects of the repository were removed "
				       "meanwhile; push again");
	session_close(&s);
	expect(&f, "refs/heads/new", NULL);
	fixture_release(&f);
}

static void test_down(void **state)
{
	struct fixture f;
	struct session s;
	char *dir;

	(void)state;
	fixture_init(&f);
	dir = make_quarantine(&f);
	session_open(&s, &f, f.c.node);
	f.c.count.is_down = true;
	assert_int_equal(stored_push_upload(s.push, dir, &f.err), ERR_DENIED);
	assert_string_equal(f.err.msg,
			    "the store of the repository does not answer; "
			    "this ref was not changed");
	assert_non_null(strstr(f.warnings.data, "the store is down"));
	f.c.count.is_down = false;
	session_close(&s);

	session_open(&s, &f, f.c.node);
	assert_int_equal(stored_push_upload(s.push, dir, &f.err), 0);
	f.c.count.is_down = true;
	session_begin(&s, true);
	session_set(&s, "refs/heads/new", &f.c.s.tip);
	assert_int_equal(session_commit(&s), ERR_DENIED);
	f.c.count.is_down = false;
	session_close(&s);
	expect(&f, "refs/heads/new", NULL);
	free(dir);
	fixture_release(&f);
}

/* Replaces the store by an empty one, as if its directory had been lost. */
static void empty_store(struct fixture *f)
{
	char from[4096];

	snprintf(from, sizeof(from), "%s", netrepo_path(&f->c.s.n, "store"));
	assert_int_equal(
		sys_rename(from, netrepo_path(&f->c.s.n, "away"), NULL), 0);
	free(storedrepo_dir(&f->c.s, "store/.tmp"));
}

/*
 * Errors of the store are reported to the administrator, and not to the client.
 */
static void test_messages(void **state)
{
	struct stored_push_options told = {
		.algo = HASH_SHA1,
		.node = "n",
		.user = "u",
		.warn = warn,
	};
	struct stored_push *push;
	struct stored_copy *copy;
	struct fixture f;

	(void)state;
	fixture_init(&f);
	told.ctx = &f.warnings;
	copy = copynode_enter(&f.c);
	f.c.count.is_down = true;
	assert_int_equal(stored_push_open(&push, copy, &told, &f.err), ERR_IO);
	assert_null(push);
	assert_string_equal(f.err.msg,
			    "the repository cannot be read from its store");
	assert_non_null(strstr(f.warnings.data, "the store is down"));
	f.c.count.is_down = false;
	stored_copy_close(copy);
	assert_int_equal(
		stored_copy_enter(&copy, f.c.node, "no/such.git", &f.err), 0);
	assert_int_equal(stored_push_open(&push, copy, &told, &f.err),
			 ERR_MISSING);
	assert_string_equal(f.err.msg,
			    "the store does not have the repository");
	stored_copy_close(copy);
	fixture_release(&f);
}

/*
 * The store is empty, so no generation (version) in it is newer than the local
 * copy. A push must still fail.
 */
static void test_emptied_store(void **state)
{
	static const char *const refs[] = {"refs/heads/new", "refs/heads/main"};
	struct fixture f;
	struct session s;
	char *dir;

	(void)state;
	fixture_init(&f);
	push_one(&f, f.c.node, "refs/heads/old", &f.c.s.tip);
	dir = make_quarantine(&f);
	empty_store(&f);
	session_open(&s, &f, f.c.node);
	assert_int_equal(stored_push_upload(s.push, dir, &f.err), ERR_DENIED);
	assert_non_null(strstr(f.err.msg, "the store has lost the repository"));
	assert_non_null(strstr(f.warnings.data,
			       "the store does not have generation 2 of the "
			       "repository"));
	session_close(&s);
	/* Pushes that upload no files (a new branch, a deletion) fail, too. */
	for (size_t i = 0; i < ARRAY_NR(refs); i++) {
		session_open(&s, &f, f.c.node);
		session_begin(&s, true);
		session_set(&s, refs[i], i ? NULL : &f.c.s.tip);
		assert_int_equal(session_commit(&s), ERR_DENIED);
		assert_non_null(
			strstr(f.err.msg, "the store has lost the repository"));
		session_close(&s);
	}
	free(dir);
	fixture_release(&f);
}

/*
 * The relay makes the record (manifest of a new generation). The process of the
 * push uploads the files that the record names.
 */
static void test_relay(void **state)
{
	struct fixture f;
	struct session s;
	struct relaynode r;
	struct generation g;
	char *dir;

	(void)state;
	fixture_init(&f);
	push_one(&f, f.c.node, "refs/heads/old", &f.c.s.tip);
	relaynode_start(&r, &f.c, 0, RELAYNODE_STAYS);
	dir = make_quarantine(&f);
	f.c.count.requests = 0;
	session_open(&s, &f, f.c.node);
	assert_int_equal(stored_push_upload(s.push, dir, &f.err), 0);
	session_begin(&s, true);
	session_set(&s, "refs/heads/new", &f.c.s.tip);
	session_set(&s, "refs/heads/old", NULL);
	assert_int_equal(session_commit(&s), 0);
	assert_int_equal(ref_transaction_get(s.tx, 0)->result, REF_OK);
	session_close(&s);
	assert_int_equal(f.c.count.requests, 1 + 4);
	/*
	 * The relay has brought the local copy to the new generation (version).
	 */
	storedrepo_assert_ref(&f.c.s, COPYNODE_COPY, "refs/heads/old", NULL);
	push_one(&f, f.c.node, "refs/heads/next", &f.c.s.tip);
	relaynode_stop(&r, &f.c);
	assert_int_equal(r.commit_nr, 2);
	expect(&f, "refs/heads/new", &f.c.s.tip);
	expect(&f, "refs/heads/old", NULL);
	expect(&f, "refs/heads/next", &f.c.s.tip);
	assert_int_equal(generation_read(&g, &f.c.s.place, 3, NULL), 0);
	assert_string_equal(g.user, "alice");
	assert_non_null(generation_find_file(&g, "objects/pack/pack-00.pack"));
	generation_release(&g);
	/*
	 * Without the relay, the process of the push makes the record
	 * (manifest) itself.
	 */
	push_one(&f, f.c.node, "refs/heads/alone", &f.c.s.tip);
	expect(&f, "refs/heads/alone", &f.c.s.tip);
	assert_int_equal(f.warnings.len, 0);
	free(dir);
	fixture_release(&f);
}

/*
 * During a push through the relay, another node changes refs. If the push
 * changes one of these refs, or a ref whose name collides, this change is
 * rejected. All other changes of the push succeed.
 */
static void test_relay_races(void **state)
{
	struct fixture f;
	struct session s;
	struct relaynode r;
	struct oid one;

	(void)state;
	fixture_init(&f);
	one = f.c.s.tip;
	relaynode_start(&r, &f.c, 0, RELAYNODE_STAYS);
	session_open(&s, &f, f.c.node);
	push_one(&f, f.other, "refs/heads/race", &one);
	push_one(&f, f.other, "refs/heads/a/b", &one);
	push_one(&f, f.other, "refs/heads/main", NULL);
	session_begin(&s, true);
	session_set(&s, "refs/heads/a", &one);
	session_set(&s, "refs/heads/good", &one);
	session_set(&s, "refs/heads/main", NULL);
	session_set(&s, "refs/heads/race", &one);
	assert_int_equal(session_commit(&s), 0);
	assert_int_equal(ref_transaction_get(s.tx, 0)->result, REF_OLD_DIFFERS);
	assert_int_equal(ref_transaction_get(s.tx, 1)->result, REF_OK);
	assert_int_equal(ref_transaction_get(s.tx, 2)->result, REF_OLD_DIFFERS);
	assert_int_equal(ref_transaction_get(s.tx, 3)->result, REF_OLD_DIFFERS);
	session_close(&s);
	relaynode_stop(&r, &f.c);
	expect(&f, "refs/heads/good", &one);
	expect(&f, "refs/heads/race", &one);
	expect(&f, "refs/heads/a", NULL);
	fixture_release(&f);
}

/*
 * The relay ends while it publishes the changes of a push. If a new record
 * (manifest) lists the files of the push, the push succeeds. Otherwise the push
 * fails with the message that its outcome is unknown.
 */
static void test_relay_ends(void **state)
{
	(void)state;
	for (int end = RELAYNODE_BEFORE; end <= RELAYNODE_AFTER; end++) {
		bool is_made = end == RELAYNODE_AFTER;
		struct fixture f;
		struct session s;
		struct relaynode r;
		char *dir;

		fixture_init(&f);
		relaynode_start(&r, &f.c, 0, (enum relaynode_end)end);
		dir = make_quarantine(&f);
		session_open(&s, &f, f.c.node);
		assert_int_equal(stored_push_upload(s.push, dir, &f.err), 0);
		session_begin(&s, true);
		session_set(&s, "refs/heads/new", &f.c.s.tip);
		assert_int_equal(session_commit(&s), is_made ? 0 : ERR_PEER);
		if (!is_made)
			assert_non_null(strstr(f.err.msg, "it is unknown"));
		session_close(&s);
		relaynode_stop(&r, &f.c);
		expect(&f, "refs/heads/new", is_made ? &f.c.s.tip : NULL);
		push_one(&f, f.c.node, "refs/heads/next", &f.c.s.tip);
		expect(&f, "refs/heads/next", &f.c.s.tip);
		free(dir);
		fixture_release(&f);
	}
}

/*
 * The relay of a node (server) is the process that makes the records
 * (manifests) of all pushes to the node. Here, the relay made the record of a
 * push, and ended before it updated the local copy of the node. Then the
 * process that received the push must update the copy itself.
 */
static void test_relay_ends_before_the_copy(void **state)
{
	char hex[OID_MAX_HEX_LEN + 1];
	struct fixture f;
	struct session s;
	struct relaynode r;
	char *dir;

	(void)state;
	fixture_init(&f);
	relaynode_start_with(&r, &f.c, f.other->dir, 0, RELAYNODE_AFTER);
	dir = make_quarantine(&f);
	session_open(&s, &f, f.c.node);
	assert_int_equal(stored_push_upload(s.push, dir, &f.err), 0);
	session_begin(&s, true);
	session_set(&s, "refs/heads/new", &f.c.s.tip);
	assert_int_equal(session_commit(&s), 0);
	storedrepo_assert_ref(&f.c.s, COPYNODE_COPY, "refs/heads/new",
			      oid_to_hex(hex, &f.c.s.tip, HASH_SHA1));
	session_close(&s);
	relaynode_stop(&r, &f.c);
	assert_int_equal(f.warnings.len, 0);
	free(dir);
	fixture_release(&f);
}

/*
 * The relay is the process that makes the records (manifests) of pushes. If the
 * relay dies before it answers a push, the push does not know whether its
 * record was made. So the push looks for its uploaded files in the newest
 * record. For the first record of a push, the files prove that the record was
 * made.
 *
 * This push makes two records, one for each of two ref transactions. The relay
 * dies before it makes the second one. The files of the push are in the newest
 * record, because the first record has added them. So the files do not prove
 * that the second record was made, and the second transaction must fail.
 */
static void test_relay_ends_at_second_record(void **state)
{
	struct fixture f;
	struct session s;
	struct relaynode r;
	char *dir;

	(void)state;
	fixture_init(&f);
	relaynode_start(&r, &f.c, 1, RELAYNODE_BEFORE);
	dir = make_quarantine(&f);
	session_open(&s, &f, f.c.node);
	assert_int_equal(stored_push_upload(s.push, dir, &f.err), 0);
	session_begin(&s, true);
	session_set(&s, "refs/heads/first", &f.c.s.tip);
	assert_int_equal(session_commit(&s), 0);
	ref_transaction_free(s.tx);
	session_begin(&s, true);
	session_set(&s, "refs/heads/second", &f.c.s.tip);
	assert_int_equal(session_commit(&s), ERR_PEER);
	session_close(&s);
	relaynode_stop(&r, &f.c);
	expect(&f, "refs/heads/first", &f.c.s.tip);
	expect(&f, "refs/heads/second", NULL);
	free(dir);
	fixture_release(&f);
}

/*
 * A push makes two records (manifests), one for each of two ref transactions.
 * The relay (the process that makes records) dies before it makes the first
 * one. So the push does not know whether the first record was made. In fact,
 * the first record is made late, after the push was told that the outcome is
 * unknown.
 *
 * Then a new relay dies before it makes the second record. The files of the
 * push are in the newest record, because the first record has added them. So
 * the files do not prove that the second record was made.
 */
static void test_relay_ends_twice(void **state)
{
	struct fixture f;
	struct session s;
	struct relaynode r;
	char *dir;

	(void)state;
	fixture_init(&f);
	relaynode_start(&r, &f.c, 0, RELAYNODE_BEFORE);
	dir = make_quarantine(&f);
	session_open(&s, &f, f.c.node);
	assert_int_equal(stored_push_upload(s.push, dir, &f.err), 0);
	session_begin(&s, true);
	session_set(&s, "refs/heads/first", &f.c.s.tip);
	assert_int_equal(session_commit(&s), ERR_PEER);
	ref_transaction_free(s.tx);
	relaynode_make_late(&r);
	relaynode_stop(&r, &f.c);
	relaynode_start(&r, &f.c, 0, RELAYNODE_BEFORE);
	session_begin(&s, true);
	session_set(&s, "refs/heads/second", &f.c.s.tip);
	assert_int_equal(session_commit(&s), ERR_PEER);
	assert_non_null(strstr(f.err.msg, "it is unknown"));
	session_close(&s);
	relaynode_stop(&r, &f.c);
	expect(&f, "refs/heads/first", &f.c.s.tip);
	expect(&f, "refs/heads/second", NULL);
	free(dir);
	fixture_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_requests),
		cmocka_unit_test(test_races),
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_epoch),
		cmocka_unit_test(test_down),
		cmocka_unit_test(test_long_names),
		cmocka_unit_test(test_emptied_store),
		cmocka_unit_test(test_no_change),
		cmocka_unit_test(test_turn),
		cmocka_unit_test(test_record_before_the_copy),
		cmocka_unit_test(test_lost_record_before_the_copy),
		cmocka_unit_test(test_too_late),
		cmocka_unit_test(test_messages),
		cmocka_unit_test(test_relay),
		cmocka_unit_test(test_relay_races),
		cmocka_unit_test(test_relay_ends),
		cmocka_unit_test(test_relay_ends_before_the_copy),
		cmocka_unit_test(test_relay_ends_at_second_record),
		cmocka_unit_test(test_relay_ends_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
