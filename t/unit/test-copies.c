/* SPDX-License-Identifier: MIT */
/*
 * Tests of copies/copies.h, local copies of repositories in a store: strict
 * reads see the newest generation, threads share requests to the store, and a
 * silent store or a full disk does no harm.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "copies/copies.h"
#include "copies/trim.h"
#include "store/open.h"
#include "sys/clock.h"
#include "sys/tempdir.h"
#include "sys/thread.h"
#include "t/unit/copynode.h"

struct served {
	struct copynode c;
	struct stored_copies *copies;
	struct countstore count;
	/*
	 * For be_silent(): true if an earlier request has shown that the store
	 * does not answer.
	 */
	bool is_known;
	uint64_t absent_ns; /* for served_open() */
};

static void served_open(struct served *s, uint64_t max_age_ns,
			uint64_t stale_ns, uint64_t budget)
{
	struct stored_node *node;
	const struct stored_copies_options options = {
		.dir = s->c.node->dir,
		.origin = copynode_origin(&s->c),
		.budget = budget,
		.max_age_ns = max_age_ns,
		.stale_ns = stale_ns,
		.absent_ns = s->absent_ns,
	};

	if (stored_copies_open(&s->copies, &options, &s->c.err))
		fail_msg("%s", s->c.err.msg);
	node = stored_copies_node(s->copies);
	node->store = countstore_init(&s->count, node->store);
}

static void served_init(struct served *s, uint64_t max_age_ns,
			uint64_t stale_ns)
{
	memset(s, 0, sizeof(*s));
	copynode_init(&s->c);
	copynode_push(&s->c, "two");
	served_open(s, max_age_ns, stale_ns, 0);
}

static void served_release(struct served *s)
{
	stored_copies_close(s->copies);
	copynode_release(&s->c);
}

/*
 * Brings the local copy up to date and uses it. Returns the number of requests
 * that the store got.
 */
static unsigned visit(struct served *s)
{
	struct stored_use use = {0};
	unsigned before = s->count.requests;

	if (stored_copies_enter(s->copies, &use, s->c.s.place.repository,
				&s->c.err))
		fail_msg("%s", s->c.err.msg);
	assert_false(use.is_stale);
	stored_copies_leave(&use);
	assert_null(use.copy);
	return s->count.requests - before;
}

/*
 * Simulated monotonic clock in nanoseconds. Each call of clock_gettime() adds
 * 1. If the value is 0, the real clock is used.
 */
static atomic_uint_least64_t own_clock;

int clock_gettime(clockid_t id, struct timespec *ts)
{
	uint64_t now;

	if (id != CLOCK_MONOTONIC || !own_clock)
		return (int)syscall(SYS_clock_gettime, id, ts);
	now = ++own_clock;
	ts->tv_sec = (time_t)(now / 1000000000);
	ts->tv_nsec = (long)(now % 1000000000);
	return 0;
}

#define SECONDS(n) ((n)*UINT64_C(1000000000))

/*
 * Number of requests to the store for one use of a local copy that is up to
 * date. One request asks for a newer record (manifest). The other asks whether
 * the store still has the record of the copy's generation (version).
 */
#define NOTHING_NEW 2

static void test_strict(void **state)
{
	struct served s;

	served_init(&s, 0, 0);
	visit(&s);
	copynode_assert_newest(&s.c);
	/* If nothing has changed, a use of the copy costs two requests. */
	assert_int_equal(visit(&s), NOTHING_NEW);
	assert_int_equal(visit(&s), NOTHING_NEW);
	copynode_push(&s.c, "three");
	visit(&s);
	copynode_assert_newest(&s.c);
	assert_int_equal(visit(&s), NOTHING_NEW);
	served_release(&s);
}

/*
 * If the store is a service (a bucket), a use of the copy normally costs one
 * request. Every ten seconds, one use costs a second request, which asks
 * whether the store still has the record of the copy.
 */
static void test_service(void **state)
{
	struct served s;
	struct stored_node *node;

	own_clock = SECONDS(1000);
	served_init(&s, 0, 0);
	visit(&s);
	node = stored_copies_node(s.copies);
	if (store_open_url(&node->probe, copynode_origin(&s.c).url,
			   &(struct store_s3_settings)STORE_S3_SETTINGS_INIT,
			   &s.c.err))
		fail_msg("%s", s.c.err.msg);
	filestore_close(s.count.inner);
	node->probe = countstore_init(&s.count, node->probe);
	node->store = &s.count.store;
	/* The first use of a copy from a hint asks for the copy's record. */
	assert_int_equal(visit(&s), NOTHING_NEW);
	assert_int_equal(visit(&s), 1);
	own_clock += SECONDS(11);
	assert_int_equal(visit(&s), NOTHING_NEW);
	assert_int_equal(visit(&s), 1);
	node->probe = NULL;
	served_release(&s);
	own_clock = 0;
}

/*
 * Requests the repository once. Returns the result of stored_copies_enter(). If
 * `is_stale` is true, a successful request must use a copy that may be out of
 * date. If the request fails or `is_stale` is true, the message must contain
 * `why`.
 */
static int try_visit(struct served *s, bool is_stale, const char *why)
{
	struct stored_use use = {0};
	int ret = stored_copies_enter(s->copies, &use, s->c.s.place.repository,
				      &s->c.err);

	if (ret || is_stale)
		assert_non_null(strstr(s->c.err.msg, why));
	assert_int_equal(use.is_stale, !ret && is_stale);
	stored_copies_leave(&use);
	return ret;
}

/*
 * Renames the directory `name` of the store to `out`. Then renames the
 * directory `in` to `name`, unless `in` is NULL. This simulates a store that
 * was emptied or replaced.
 */
static void swap(struct served *s, const char *name, const char *out,
		 const char *in)
{
	char at[4096], to[4096];

	snprintf(at, sizeof(at), "%s", netrepo_path(&s->c.s.n, name));
	snprintf(to, sizeof(to), "%s", netrepo_path(&s->c.s.n, out));
	assert_int_equal(sys_rename(at, to, NULL), 0);
	if (in)
		assert_int_equal(
			sys_rename(netrepo_path(&s->c.s.n, in), at, NULL), 0);
}

/*
 * If the store was emptied, a copy must not count as up to date. When the files
 * of the store are back, the copy can be used again.
 */
static void test_emptied(void **state)
{
	static const char lost[] = "the store does not have generation 1 of "
				   "the repository";
	struct served s;

	served_init(&s, 0, 0);
	visit(&s);
	swap(&s, "store/repo", "repo-away", NULL);
	assert_int_equal(try_visit(&s, false, lost), ERR_CORRUPT);
	assert_int_equal(try_visit(&s, false, "backup"), ERR_CORRUPT);
	/* The error leaves the local copy unchanged. */
	copynode_assert_newest(&s.c);
	swap(&s, "repo-away", "store/repo", NULL);
	visit(&s);

	/*
	 * With --store-max-age, a request uses a young copy without asking the
	 * store. So the request does not notice that the store was emptied.
	 * With --store-stale, a request uses the copy, and reports that the
	 * copy may be out of date.
	 */
	stored_copies_close(s.copies);
	served_open(&s, UINT64_MAX / 4, 0, 0);
	visit(&s);
	swap(&s, "store/repo", "repo-away", NULL);
	assert_int_equal(visit(&s), 0);
	stored_copies_close(s.copies);
	served_open(&s, 0, SECONDS(3600), 0);
	assert_int_equal(try_visit(&s, true, lost), 0);
	served_release(&s);
}

/*
 * A repository was removed from the store, but its hint (a file with the number
 * of a recent record) and cached files remain. The repository must be refused.
 */
static void test_removed_with_a_hint(void **state)
{
	struct stored_use use = {0};
	struct served s;
	const char *name;

	served_init(&s, 0, 0);
	name = s.c.s.place.repository;
	visit(&s);
	swap(&s, "store/repo", "repo-away", NULL);
	assert_int_equal(
		sys_tempdir_remove(netrepo_path(&s.c.s.n, COPYNODE_COPY), NULL),
		0);
	assert_int_equal(stored_copies_enter(s.copies, &use, name, &s.c.err),
			 ERR_MISSING);
	assert_null(use.copy);
	swap(&s, "repo-away", "store/repo", NULL);
	visit(&s);
	copynode_assert_newest(&s.c);
	served_release(&s);
}

static void back_up(struct served *s)
{
	char command[8300], from[4096];

	snprintf(from, sizeof(from), "%s", netrepo_path(&s->c.s.n, "store"));
	snprintf(command, sizeof(command), "cp -a '%s' '%s'", from,
		 netrepo_path(&s->c.s.n, "backup"));
	assert_int_equal(system(command), 0);
}

/*
 * After a store was restored from a backup, new records (manifests) get the
 * numbers of the lost ones. A copy of a lost generation (version) must not be
 * served.
 */
static void test_restored(void **state)
{
	static const char another[] =
		"of the repository, but another generation with this number";
	struct served s;

	served_init(&s, 0, 0);
	visit(&s);
	back_up(&s);
	copynode_push(&s.c, "lost");
	visit(&s);
	swap(&s, "store", "store-before", "backup");
	/*
	 * After the restore, the newest generation (version) of the store is
	 * older than that of the local copy.
	 */
	assert_int_equal(try_visit(&s, false, "generation 2"), ERR_CORRUPT);
	copynode_push(&s.c, "other");
	assert_int_equal(try_visit(&s, false, another), ERR_CORRUPT);
	/*
	 * The newest generation of the restored store now has a higher number
	 * than the copy. But the store lost the generation of the copy, so the
	 * copy must not be served.
	 */
	copynode_push(&s.c, "more");
	assert_int_equal(try_visit(&s, false, another), ERR_CORRUPT);
	/*
	 * After the copy of the lost generation (version) was removed, the node
	 * (server) makes a new copy of the restored repository.
	 */
	assert_int_equal(
		sys_tempdir_remove(netrepo_path(&s.c.s.n, COPYNODE_COPY), NULL),
		0);
	visit(&s);
	copynode_assert_newest(&s.c);
	served_release(&s);
}

static void test_relaxed(void **state)
{
	struct served s;

	served_init(&s, UINT64_MAX / 4, 0);
	visit(&s);
	copynode_push(&s.c, "three");
	assert_int_equal(visit(&s), 0);
	/* The first request of a process asks the store, the second does not.
	 */
	stored_copies_close(s.copies);
	served_open(&s, UINT64_MAX / 4, 0, 0);
	assert_true(visit(&s) > 0);
	copynode_assert_newest(&s.c);
	assert_int_equal(visit(&s), 0);
	served_release(&s);
}

/*
 * Another process has removed a local copy. The copy was made so recently that
 * it could be used without a request to the store. It must be made again.
 */
static void test_removed_by_another(void **state)
{
	struct served s;

	served_init(&s, UINT64_MAX / 4, 0);
	visit(&s);
	assert_int_equal(
		sys_tempdir_remove(netrepo_path(&s.c.s.n, COPYNODE_COPY), NULL),
		0);
	visit(&s);
	copynode_assert_newest(&s.c);
	served_release(&s);
}

static void test_missing(void **state)
{
	static const char *const names[] = {"other", "",   "..",
					    "a//b",  "a/", "/a"};
	struct served s;

	served_init(&s, 0, 0);
	for (size_t i = 0; i < ARRAY_NR(names); i++) {
		struct stored_use use = {0};

		assert_int_equal(
			stored_copies_enter(s.copies, &use, names[i], &s.c.err),
			i ? ERR_INVALID : ERR_MISSING);
		assert_null(use.copy);
	}
	assert_int_equal(storedrepo_entries(&s.c.s, "cache/repo"), 0);
	assert_int_equal(visit(&s) > 0, 1);
	served_release(&s);
}

/*
 * Requests a repository that the store does not have. Returns the number of
 * requests that the store got.
 */
static unsigned visit_absent(struct served *s, const char *name)
{
	struct stored_use use = {0};
	unsigned before = s->count.requests;

	assert_int_equal(stored_copies_enter(s->copies, &use, name, &s->c.err),
			 ERR_MISSING);
	assert_non_null(strstr(s->c.err.msg, "is not in the store"));
	return s->count.requests - before;
}

static void test_absent(void **state)
{
	struct served s;
	struct stored_use use = {0};
	struct stored_copy *copy;
	const char *name;
	unsigned before;

	served_init(&s, 0, 0);
	name = s.c.s.place.repository;
	/*
	 * By default, missing repositories are not remembered, so each use asks
	 * the store.
	 */
	assert_true(visit_absent(&s, "x") > 0);
	assert_true(visit_absent(&s, "x") > 0);
	stored_copies_close(s.copies);
	s.absent_ns = UINT64_MAX / 4;
	served_open(&s, 0, 0, 0);
	assert_true(visit_absent(&s, "x") > 0);
	assert_int_equal(visit_absent(&s, "x"), 0);
	before = s.count.requests;
	assert_int_equal(stored_copies_look(s.copies, "x", &s.c.err),
			 ERR_MISSING);
	assert_int_equal(s.count.requests, before);
	/* stored_copies_look() also remembers that a repository is missing. */
	assert_int_equal(stored_copies_look(s.copies, "y", &s.c.err),
			 ERR_MISSING);
	assert_int_equal(visit_absent(&s, "y"), 0);
	/* "x" is known to be missing even if the store is down. */
	s.count.is_down = true;
	assert_int_equal(visit_absent(&s, "x"), 0);
	assert_int_equal(stored_copies_enter(s.copies, &use, "z", &s.c.err),
			 ERR_IO);
	s.count.is_down = false;

	/*
	 * Another process of the node (server) imports the repository "x" and
	 * makes a local copy. The process of the test remembers "x" as missing,
	 * but must find the copy.
	 */
	s.c.s.place.repository = "x";
	if (storedrepo_import(&s.c.s, true))
		fail_msg("%s", s.c.s.err.msg);
	assert_int_equal(visit_absent(&s, "x"), 0);
	copy = copynode_enter(&s.c);
	assert_int_equal(stored_copy_refresh(copy, &s.c.err), 0);
	stored_copy_close(copy);
	visit(&s);
	/*
	 * "x" does not count as missing any more. So after its copy is removed,
	 * the next use makes the copy again.
	 */
	assert_int_equal(sys_tempdir_remove(
				 netrepo_path(&s.c.s.n, "cache/repo/x"), NULL),
			 0);
	visit(&s);
	s.c.s.place.repository = name;
	visit(&s);
	served_release(&s);
}

static void test_absent_for_a_time(void **state)
{
	struct served s;

	own_clock = SECONDS(1000);
	served_init(&s, 0, 0);
	stored_copies_close(s.copies);
	s.absent_ns = SECONDS(2);
	served_open(&s, 0, 0, 0);
	assert_true(visit_absent(&s, "x") > 0);
	own_clock += SECONDS(1);
	assert_int_equal(visit_absent(&s, "x"), 0);
	own_clock += SECONDS(2);
	assert_true(visit_absent(&s, "x") > 0);
	served_release(&s);
	own_clock = 0;
}

/* Uses the local copy. Returns whether it may be out of date. */
static bool visit_stale(struct served *s)
{
	struct stored_use use = {0};
	bool is_stale;

	if (stored_copies_enter(s->copies, &use, s->c.s.place.repository,
				&s->c.err))
		fail_msg("%s", s->c.err.msg);
	is_stale = use.is_stale;
	stored_copies_leave(&use);
	return is_stale;
}

/*
 * Each use of a copy is counted once, in the counter that says how the copy was
 * found (enum stored_lookup).
 */
static void test_counts(void **state)
{
	struct stored_counts_view before, v;
	struct stored_use use = {0};
	struct served s;

	served_init(&s, 0, SECONDS(3600));
	/*
	 * The node `s.c.node` and the tested copies have one cache directory,
	 * so they share the counters.
	 */
	stored_counts_look(&before, s.c.node->counts);
	assert_int_equal(before.requests, 0);
	visit(&s);
	visit(&s);
	visit(&s);
	copynode_push(&s.c, "three");
	visit(&s);
	assert_int_equal(stored_copies_enter(s.copies, &use, "x", NULL),
			 ERR_MISSING);
	s.count.is_down = true;
	visit_stale(&s);
	assert_int_equal(stored_copies_enter(s.copies, &use, "y", NULL),
			 ERR_IO);
	stored_counts_look(&v, s.c.node->counts);
	assert_int_equal(v.lookups[STORED_LOOKUP_MADE], 1);
	assert_int_equal(v.lookups[STORED_LOOKUP_HIT], 2);
	assert_int_equal(v.lookups[STORED_LOOKUP_REFRESHED], 1);
	assert_int_equal(v.lookups[STORED_LOOKUP_MISSING], 1);
	assert_int_equal(v.lookups[STORED_LOOKUP_STALE], 1);
	assert_int_equal(v.lookups[STORED_LOOKUP_FAILED], 1);
	assert_true(v.downloads > 3);
	assert_true(v.received >= v.cache_bytes && v.cache_bytes > 0);
	assert_true(v.requests > 0);
	served_release(&s);
}

/*
 * stored_copies_look() makes no local copy. If there is a copy, the function
 * sends no request to the store.
 */
static void test_look(void **state)
{
	struct served s;
	const char *name;

	served_init(&s, 0, 0);
	name = s.c.s.place.repository;
	assert_int_equal(stored_copies_look(s.copies, name, &s.c.err), 0);
	assert_int_equal(stored_copies_look(s.copies, "x", &s.c.err),
			 ERR_MISSING);
	assert_int_equal(stored_copies_look(s.copies, "x//", &s.c.err),
			 ERR_INVALID);
	assert_int_equal(storedrepo_entries(&s.c.s, "cache/repo"), 0);
	visit(&s);
	s.count.is_down = true;
	assert_int_equal(stored_copies_look(s.copies, name, &s.c.err), 0);
	assert_int_equal(stored_copies_look(s.copies, "x", &s.c.err), ERR_IO);
	assert_non_null(strstr(s.c.err.msg, "the store is down"));
	served_release(&s);
}

static void test_store_down(void **state)
{
	struct stored_use use = {0};
	struct served s;

	served_init(&s, 0, 0);
	visit(&s);
	s.count.is_down = true;
	assert_int_equal(stored_copies_enter(s.copies, &use,
					     s.c.s.place.repository, &s.c.err),
			 ERR_IO);
	assert_non_null(strstr(s.c.err.msg, "the store is down"));
	assert_null(use.copy);
	s.count.is_down = false;
	assert_int_equal(visit(&s), NOTHING_NEW);
	served_release(&s);
}

static void test_stale(void **state)
{
	struct stored_use use = {0};
	struct served s;

	served_init(&s, 0, UINT64_C(3600000000000));
	visit(&s);
	for (int i = 0; i < 3; i++) {
		/* In the third round, a new process uses the copy. */
		if (i == 2) {
			stored_copies_close(s.copies);
			served_open(&s, 0, UINT64_C(3600000000000), 0);
		}
		s.count.is_down = true;
		assert_int_equal(stored_copies_enter(s.copies, &use,
						     s.c.s.place.repository,
						     &s.c.err),
				 0);
		assert_true(use.is_stale);
		assert_int_equal(use.is_news, i != 1);
		stored_copies_leave(&use);
	}
	/*
	 * A repository without a local copy cannot be served while the store is
	 * down.
	 */
	assert_int_equal(stored_copies_enter(s.copies, &use, "other", &s.c.err),
			 ERR_IO);
	/*
	 * A local copy cannot be used if it was last up to date too long ago.
	 */
	stored_copies_close(s.copies);
	served_open(&s, 0, UINT64_C(3600000000000), 0);
	assert_int_equal(sys_set_mtime(netrepo_path(&s.c.s.n, COPYNODE_COPY
						    "/" STORED_COPY_USED),
				       sys_clock_seconds() - 3700, NULL),
			 0);
	s.count.is_down = true;
	assert_int_equal(stored_copies_enter(s.copies, &use,
					     s.c.s.place.repository, &s.c.err),
			 ERR_IO);
	served_release(&s);
}

/* ---- a silent store */

static void visit_none(struct served *s)
{
	struct stored_use use = {0};
	struct error err = ERROR_INIT;

	assert_int_equal(stored_copies_enter(s->copies, &use, "other", &err),
			 ERR_IO);
	assert_string_equal(err.msg, "the store is down");
	assert_null(use.copy);
}

/*
 * Called during a request to the store. Simulates that the request takes six
 * seconds. Meanwhile, other uses of the copy must not wait for the store.
 */
static void be_silent(void *ctx, const char *name)
{
	struct served *s = ctx;
	unsigned before = s->count.requests;

	own_clock += SECONDS(6);
	if (!s->is_known)
		return;
	assert_true(visit_stale(s));
	visit_none(s);
	assert_int_equal(s->count.requests, before);
}

static void test_silent_store(void **state)
{
	struct served s;
	unsigned before;

	own_clock = SECONDS(1000);
	served_init(&s, 0, SECONDS(3600));
	visit(&s);
	s.count.is_down = true;
	s.count.ctx = &s;
	s.count.before_read = be_silent;
	before = s.count.requests;
	assert_true(visit_stale(&s));
	assert_int_equal(s.count.requests, before + 1);
	s.is_known = true;
	/*
	 * For some seconds after the failed request, no further request is sent
	 * to the store.
	 */
	assert_true(visit_stale(&s));
	visit_none(&s);
	assert_int_equal(s.count.requests, before + 1);
	/* After six seconds, one request tries whether the store answers. */
	own_clock += SECONDS(6);
	assert_true(visit_stale(&s));
	assert_true(visit_stale(&s));
	assert_int_equal(s.count.requests, before + 2);
	/* The store answers again. */
	own_clock += SECONDS(6);
	s.count.is_down = false;
	s.count.before_read = NULL;
	assert_int_equal(visit(&s), NOTHING_NEW);
	assert_int_equal(visit(&s), NOTHING_NEW);
	served_release(&s);
	own_clock = 0;
}

/* ---- a full disk */

static atomic_bool is_disk_full;
/*
 * If not NULL: while a local copy is removed, a client requests the repository
 * of this struct. For this, unlinkat() below calls visit() when it has removed
 * a pack index, and sets this variable to NULL.
 */
static struct served *visited_meanwhile;

int link(const char *path, const char *second)
{
	/* The disk of the cache directory is full until a copy is removed. */
	if (is_disk_full && strstr(second, "/cache/")) {
		errno = ENOSPC;
		return -1;
	}
	return (int)syscall(SYS_linkat, AT_FDCWD, path, AT_FDCWD, second, 0);
}

int unlink(const char *path)
{
	return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

int unlinkat(int fd, const char *path, int flags)
{
	int ret = (int)syscall(SYS_unlinkat, fd, path, flags);

	/* Removing the .idx file of a copy frees space on the disk. */
	if (!ret && strstr(path, ".idx"))
		is_disk_full = false;
	if (visited_meanwhile && strstr(path, ".idx")) {
		struct served *s = visited_meanwhile;

		visited_meanwhile = NULL;
		visit(s);
	}
	return ret;
}

/*
 * Makes a copy of a second repository, "other", with the content of the first.
 * The disk is full until a copy is removed. `result` is the expected result.
 */
static void visit_other(struct served *s, int result)
{
	struct stored_use use = {0};
	const char *before = s->c.s.place.repository;

	s->c.s.place.repository = "other";
	if (storedrepo_import(&s->c.s, true))
		fail_msg("%s", s->c.s.err.msg);
	s->c.s.place.repository = before;
	is_disk_full = result ||
		       sys_exists(netrepo_path(&s->c.s.n, COPYNODE_COPY));
	assert_int_equal(
		stored_copies_enter(s->copies, &use, "other", &s->c.err),
		result);
	stored_copies_leave(&use);
}

static void test_disk_full(void **state)
{
	struct served s;

	served_init(&s, 0, 0);
	visit(&s);
	visit_other(&s, 0);
	assert_false(is_disk_full);
	/* The copy of the first repository was removed to make room. */
	assert_false(sys_exists(netrepo_path(&s.c.s.n, COPYNODE_COPY)));
	served_release(&s);
}

static void test_disk_full_for_ever(void **state)
{
	struct stored_use use = {0};
	struct served s;

	served_init(&s, 0, 0);
	visit(&s);
	assert_int_equal(stored_copies_enter(s.copies, &use,
					     s.c.s.place.repository, &s.c.err),
			 0);
	visit_other(&s, ERR_IO);
	assert_non_null(strstr(s.c.err.msg, "No space left"));
	assert_true(is_disk_full);
	/* The complete copy of the first repository can still be used. */
	visit(&s);
	is_disk_full = false;
	assert_false(sys_exists(netrepo_path(&s.c.s.n, "cache/repo/other")));
	stored_copies_leave(&use);
	served_release(&s);
}

/* ---- trimming */

/*
 * A request can use its copy while another request removes copies from the
 * cache. If the first request had to wait, the test would never end.
 */
static void test_trim_holds_nobody(void **state)
{
	struct served s;

	served_init(&s, 0, 0);
	visit_other(&s, 0);
	is_disk_full = false;
	stored_copies_close(s.copies);
	served_open(&s, 0, 0, 1);
	assert_true(sys_exists(netrepo_path(&s.c.s.n, "cache/repo/other")));
	visited_meanwhile = &s;
	visit(&s);
	assert_null(visited_meanwhile);
	assert_false(sys_exists(netrepo_path(&s.c.s.n, "cache/repo/other")));
	served_release(&s);
}

/*
 * Killed processes leave temporary directories in the cache. Old temporary
 * directories are removed even if the cache has no size limit.
 */
static void test_leftovers(void **state)
{
	struct served s;
	char *path;

	served_init(&s, 0, 0);
	path = storedrepo_dir(&s.c.s, "cache/tmp/make_1");
	assert_int_equal(
		sys_set_mtime(path, sys_clock_seconds() - STORED_CACHE_AGE - 10,
			      NULL),
		0);
	visit(&s);
	assert_false(sys_exists(path));
	free(path);
	served_release(&s);
}

/* ---- threads */

static atomic_uint uses_taken;

/*
 * Replaces fcntl() to count the threads that have locked a local copy for use.
 * Such a thread waits for the store, or is about to wait.
 */
int fcntl(int fd, int cmd, ...)
{
	va_list ap;
	void *arg;
	int ret;

	va_start(ap, cmd);
	arg = va_arg(ap, void *);
	va_end(ap);
	ret = (int)syscall(SYS_fcntl, fd, cmd, arg);
	if (!ret && cmd == F_OFD_SETLKW &&
	    ((const struct flock *)arg)->l_type == F_RDLCK)
		uses_taken++;
	return ret;
}

struct crowd {
	struct served s;
	/* 1 if a request to the store waits in hold_first(), otherwise 0. */
	atomic_uint waits;
	unsigned crowd_nr; /* uses to wait for */
	atomic_uint asked; /* requests */
};

static void hold_first(void *ctx, const char *name)
{
	struct crowd *c = ctx;

	if (c->asked++)
		return;
	c->waits = 1;
	while (uses_taken < c->crowd_nr)
		sys_sleep_ns(1000000);
}

static void *visit_in_thread(void *arg)
{
	struct crowd *c = arg;
	struct stored_use use = {0};
	struct error err = ERROR_INIT;

	if (stored_copies_enter(c->s.copies, &use, c->s.c.s.place.repository,
				&err))
		abort();
	stored_copies_leave(&use);
	return NULL;
}

#define CROWD_NR 8

/*
 * A request to the store may have begun before a new generation (version) was
 * made. So threads that arrive during a request do not use its response. All of
 * them share the next request.
 */
static void test_shared_questions(void **state)
{
	pthread_t threads[CROWD_NR];
	struct crowd c;

	memset(&c, 0, sizeof(c));
	served_init(&c.s, 0, 0);
	visit(&c.s);
	uses_taken = 0;
	c.crowd_nr = CROWD_NR;
	c.s.count.ctx = &c;
	c.s.count.before_read = hold_first;
	for (int i = 0; i < CROWD_NR; i++) {
		assert_int_equal(
			sys_thread_start(&threads[i], visit_in_thread, &c), 0);
		while (!i && !c.waits)
			sys_sleep_ns(1000000);
	}
	for (int i = 0; i < CROWD_NR; i++)
		sys_thread_join(threads[i]);
	assert_int_equal(c.asked, 2 * NOTHING_NEW);
	served_release(&c.s);
}

struct storm {
	struct served s;
	atomic_bool is_over;
};

/*
 * Uses the copy again and again. The generation (version) of the copy must
 * never go back.
 */
static void *read_on(void *arg)
{
	struct storm *storm = arg;
	uint64_t last = 0;

	while (!storm->is_over) {
		struct stored_use use = {0};
		struct error err = ERROR_INIT;
		struct stored_copy *own;

		if (stored_copies_enter(storm->s.copies, &use,
					storm->s.c.s.place.repository, &err) ||
		    stored_copy_open(&own, stored_copy_dir(use.copy), &err)) {
			fprintf(stderr, "%s\n", err.msg);
			abort();
		}
		if (stored_copy_generation(own)->number < last)
			abort();
		last = stored_copy_generation(own)->number;
		stored_copy_close(own);
		stored_copies_leave(&use);
	}
	return NULL;
}

static void test_storm(void **state)
{
	pthread_t threads[4];
	struct storm storm;
	struct stored_trim trim;

	memset(&storm, 0, sizeof(storm));
	served_init(&storm.s, 0, 0);
	for (size_t i = 0; i < ARRAY_NR(threads); i++)
		assert_int_equal(sys_thread_start(&threads[i], read_on, &storm),
				 0);
	for (int i = 0; i < 6; i++) {
		char text[8];

		snprintf(text, sizeof(text), "%d", i);
		copynode_push(&storm.s.c, text);
		visit(&storm.s);
		copynode_assert_newest(&storm.s.c);
		/* Trimming removes the copy, unless a thread is using it. */
		assert_int_equal(stored_trim_run(&trim, storm.s.c.node, 1,
						 &storm.s.c.err),
				 0);
	}
	storm.is_over = true;
	for (size_t i = 0; i < ARRAY_NR(threads); i++)
		sys_thread_join(threads[i]);
	visit(&storm.s);
	copynode_assert_newest(&storm.s.c);
	served_release(&storm.s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strict),
		cmocka_unit_test(test_service),
		cmocka_unit_test(test_emptied),
		cmocka_unit_test(test_removed_with_a_hint),
		cmocka_unit_test(test_restored),
		cmocka_unit_test(test_relaxed),
		cmocka_unit_test(test_removed_by_another),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_absent),
		cmocka_unit_test(test_absent_for_a_time),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_look),
		cmocka_unit_test(test_store_down),
		cmocka_unit_test(test_stale),
		cmocka_unit_test(test_silent_store),
		cmocka_unit_test(test_disk_full),
		cmocka_unit_test(test_disk_full_for_ever),
		cmocka_unit_test(test_trim_holds_nobody),
		cmocka_unit_test(test_leftovers),
		cmocka_unit_test(test_shared_questions),
		cmocka_unit_test(test_storm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
