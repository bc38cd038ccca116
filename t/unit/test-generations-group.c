/* SPDX-License-Identifier: MIT */
/*
 * Tests of generations/group.c, which puts changes of several threads into one
 * record (manifest) of a repository in a store. They prove that each change is
 * made once or refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

#include "generations/collect.h"
#include "store/open.h"
#include "sys/tempdir.h"
#include "sys/thread.h"
#include "t/unit/genhost.h"
#include "t/unit/memstore.h"

#define THREADS 8
#define HOUR ((uint64_t)3600000000000)

struct pusher {
	struct generation_group *group;
	struct generation_upload up;
	struct generation_ref_change ref;
	char path[32], name[32], value[32];
	bool drops_objects;
	uint64_t seen;
	int result;
	struct error err;
};

struct repo {
	struct memstore mem;
	struct genhost host;
	struct generation_place place;
	struct generation_group *group;
	/*
	 * The leader is the thread that writes the record (manifest).
	 * `expected`: number of files that must be written before the leader
	 * continues. `written`: number of files written so far.
	 */
	unsigned expected, written;
	pthread_mutex_t lock; /* guards `written` */
	pthread_cond_t wake;
	bool records_fail;
};

static enum memstore_fate decide(void *ctx, enum memstore_op op,
				 const char *name)
{
	struct repo *r = ctx;

	if (op == MEMSTORE_PUT && strstr(name, "/file/")) {
		pthread_mutex_lock(&r->lock);
		r->written++;
		pthread_cond_broadcast(&r->wake);
		pthread_mutex_unlock(&r->lock);
	}
	return r->records_fail && strstr(name, "/gen/") ? MEMSTORE_DOWN
							: MEMSTORE_NORMAL;
}

/*
 * Replaces the pause in which the leader (the thread that writes the record,
 * also called manifest) waits for further changes. This pause ends when all
 * threads have begun to write their files.
 */
static void wait_for_all(void *ctx, uint64_t ns)
{
	struct genhost *h = ctx;
	struct repo *r = (struct repo *)((char *)h -
					 offsetof(struct repo, host));

	pthread_mutex_lock(&r->lock);
	while (r->written < r->expected)
		pthread_cond_wait(&r->wake, &r->lock);
	pthread_mutex_unlock(&r->lock);
}

static void repo_init(struct repo *r)
{
	memset(r, 0, sizeof(*r));
	memstore_init(&r->mem);
	genhost_init(&r->host);
	r->host.host.sleep_ns = wait_for_all;
	r->place = (struct generation_place){&r->mem.store, &r->host.host, "r"};
	r->mem.fate = decide;
	r->mem.ctx = r;
	r->group = generation_group_new(&r->place, 1);
	assert_non_null(r->group);
	assert_int_equal(pthread_mutex_init(&r->lock, NULL), 0);
	assert_int_equal(pthread_cond_init(&r->wake, NULL), 0);
}

static void repo_release(struct repo *r)
{
	generation_group_free(r->group);
	memstore_release(&r->mem);
	pthread_mutex_destroy(&r->lock);
	pthread_cond_destroy(&r->wake);
}

static void *run(void *arg)
{
	struct pusher *p = arg;
	struct generation_change change = {
		.user = p->value,
		.uploads = &p->up,
		.upload_nr = 1,
		.refs = &p->ref,
		.ref_nr = 1,
		.drops_objects = p->drops_objects,
		.seen = p->seen,
		.session_ns = HOUR,
	};

	p->result = generation_group_commit(p->group, &change, &p->err);
	return NULL;
}

/* Prepares pusher `i`, which creates the ref `ref` with the value "<i>". */
static void prepare(struct repo *r, struct pusher *p, unsigned i,
		    const char *ref)
{
	memset(p, 0, sizeof(*p));
	p->group = r->group;
	snprintf(p->path, sizeof(p->path), "pack-%u", i);
	snprintf(p->name, sizeof(p->name), "%s", ref);
	snprintf(p->value, sizeof(p->value), "%u", i);
	p->up = genhost_upload(p->path, p->path);
	p->ref = (struct generation_ref_change){p->name, NULL, p->value};
}

static void run_all(struct repo *r, struct pusher *pushers, unsigned nr)
{
	pthread_t threads[THREADS];

	r->written = 0;
	r->expected = nr;
	for (unsigned i = 0; i < nr; i++)
		assert_int_equal(
			sys_thread_start(&threads[i], run, &pushers[i]), 0);
	for (unsigned i = 0; i < nr; i++)
		sys_thread_join(threads[i]);
}

static void read_newest(struct repo *r, struct generation *g)
{
	assert_int_equal(generation_newest(g, &r->place, 0, NULL), 0);
}

static void test_group(void **state)
{
	struct pusher p[THREADS];
	struct generation g;
	struct repo r;
	char ref[32];

	repo_init(&r);
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < THREADS; i++) {
			snprintf(ref, sizeof(ref), "r%u-%u", round, i);
			prepare(&r, &p[i], round * THREADS + i, ref);
		}
		run_all(&r, p, THREADS);
		for (unsigned i = 0; i < THREADS; i++)
			assert_int_equal(p[i].result, GENERATION_COMMITTED);
	}
	read_newest(&r, &g);
	/*
	 * A record (manifest) may have one or several changes. No change may be
	 * in two records.
	 */
	assert_true(g.number <= 3 * THREADS);
	assert_int_equal(g.update_nr, 3 * THREADS);
	assert_int_equal(g.file_nr, 3 * THREADS);
	for (unsigned i = 0; i < THREADS; i++) {
		snprintf(ref, sizeof(ref), "r1-%u", i);
		assert_int_equal(atoi(generation_find_update(&g, ref)->value),
				 THREADS + i);
	}
	generation_release(&g);
	repo_release(&r);
}

/*
 * All threads create the same ref with different values. Exactly one of them
 * succeeds. The others get the result that the ref has changed.
 */
static void test_refused(void **state)
{
	struct pusher p[THREADS];
	struct generation g;
	unsigned won = 0;
	struct repo r;

	repo_init(&r);
	for (unsigned i = 0; i < THREADS; i++)
		prepare(&r, &p[i], i, i % 2 ? "own" : "shared");
	prepare(&r, &p[1], 1, "third");
	run_all(&r, p, THREADS);
	assert_int_equal(p[1].result, GENERATION_COMMITTED);
	read_newest(&r, &g);
	for (unsigned i = 0; i < THREADS; i++) {
		if (p[i].result == GENERATION_COMMITTED) {
			won++;
			assert_string_equal(
				generation_find_update(&g, p[i].name)->value,
				p[i].value);
			continue;
		}
		assert_int_equal(p[i].result, GENERATION_REF_CHANGED);
		assert_non_null(strstr(p[i].err.msg, p[i].name));
	}
	assert_int_equal(won, 3);
	assert_int_equal(g.update_nr, 3);
	assert_int_equal(g.file_nr, 3);
	generation_release(&g);
	repo_release(&r);
}

/*
 * A change that drops objects must be the only change of its record (manifest).
 * If other changes are in the record already, the change is refused.
 */
static void test_drops(void **state)
{
	struct pusher p[THREADS];
	struct generation g;
	struct repo r;
	char ref[32];

	repo_init(&r);
	for (unsigned i = 0; i < THREADS; i++) {
		snprintf(ref, sizeof(ref), "r%u", i);
		prepare(&r, &p[i], i, ref);
		p[i].drops_objects = i == 3;
	}
	run_all(&r, p, THREADS);
	read_newest(&r, &g);
	for (unsigned i = 0; i < THREADS; i++) {
		bool is_there = generation_find_update(&g, p[i].name) != NULL;

		assert_int_equal(is_there, !p[i].result);
		assert_true(!p[i].result ||
			    p[i].result == GENERATION_EPOCH_CHANGED);
		if (i != 3 && p[3].result)
			assert_int_equal(p[i].result, 0);
	}
	generation_release(&g);
	repo_release(&r);
}

/*
 * The store does not answer requests for records (manifests). Each push must
 * then report that the store is down.
 */
static void test_failure(void **state)
{
	struct pusher p[THREADS];
	struct repo r;
	char ref[32];

	repo_init(&r);
	prepare(&r, &p[0], 100, "first");
	run_all(&r, p, 1);
	assert_int_equal(p[0].result, GENERATION_COMMITTED);
	r.records_fail = true;
	for (unsigned i = 0; i < THREADS; i++) {
		snprintf(ref, sizeof(ref), "r%u", i);
		prepare(&r, &p[i], i, i < 2 ? "r" : ref);
	}
	run_all(&r, p, THREADS);
	for (unsigned i = 0; i < THREADS; i++)
		assert_true(p[i].result == GENERATION_STORE_DOWN ||
			    (i < 2 && p[i].result == GENERATION_BUSY));
	r.records_fail = false;
	run_all(&r, p + 1, THREADS - 1);
	for (unsigned i = 1; i < THREADS; i++)
		assert_int_equal(p[i].result, GENERATION_COMMITTED);
	repo_release(&r);
}

/*
 * Two groups, as on two servers, publish changes of one repository in a store
 * that is a directory. No change may be lost.
 */
static void test_two_nodes(void **state)
{
	struct sys_tempdir dir = SYS_TEMPDIR_INIT;
	struct generation_collect_options options = {3600, false};
	struct generation_garbage garbage;
	struct generation_host host;
	struct generation_place place = {NULL, &host, "a_b/r.git"};
	struct generation_group *groups[2];
	struct pusher p[THREADS];
	pthread_t threads[THREADS];
	struct generation g, parent;
	char ref[32];
	struct repo r;

	repo_init(&r);
	generation_host_init(&host);
	assert_int_equal(sys_tempdir_create(&dir, "/tmp", "group-", NULL), 0);
	assert_int_equal(store_directory_make(&place.store, dir.path, NULL), 0);
	for (unsigned i = 0; i < 2; i++) {
		groups[i] = generation_group_new(&place, 1);
		assert_non_null(groups[i]);
	}
	for (unsigned i = 0; i < THREADS; i++) {
		snprintf(ref, sizeof(ref), "r%u", i / 2);
		prepare(&r, &p[i], i, ref);
		p[i].group = groups[i % 2];
	}
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(sys_thread_start(&threads[i], run, &p[i]), 0);
	for (unsigned i = 0; i < THREADS; i++)
		sys_thread_join(threads[i]);
	assert_int_equal(generation_newest(&g, &place, 0, NULL), 0);
	assert_int_equal(g.update_nr, THREADS / 2);
	/*
	 * For each ref, there are two pushes. Exactly one of the two may
	 * succeed. The result of each push must say whether it succeeded.
	 */
	for (unsigned i = 0; i < THREADS; i++) {
		bool is_there = !strcmp(
			generation_find_update(&g, p[i].name)->value,
			p[i].value);

		assert_int_equal(p[i].result, is_there
						      ? GENERATION_COMMITTED
						      : GENERATION_REF_CHANGED);
	}
	for (uint64_t n = g.number - 1; n; n--) {
		assert_int_equal(generation_read(&parent, &place, n, NULL), 0);
		assert_true(parent.update_nr < g.update_nr);
		generation_release(&parent);
	}
	assert_int_equal(generation_collect(&garbage, &place, &options, NULL),
			 0);
	assert_int_equal(garbage.kept_nr, g.file_nr);
	assert_int_equal(garbage.young_nr, THREADS - g.file_nr);
	generation_release(&g);
	for (unsigned i = 0; i < 2; i++)
		generation_group_free(groups[i]);
	filestore_close(place.store);
	sys_tempdir_release(&dir);
	repo_release(&r);
}

/* An invalid change is refused without any request to the store. */
static void test_invalid(void **state)
{
	struct pusher p;
	struct repo r;

	repo_init(&r);
	prepare(&r, &p, 0, "a b");
	run(&p);
	assert_int_equal(p.result, ERR_INVALID);
	assert_int_equal(r.mem.requests, 0);
	generation_group_free(NULL);
	repo_release(&r);
}

/* ---- sessions and hooks */

struct hooked {
	struct repo *r;
	unsigned renewed, made, followed;
	uint64_t seen, number;
	int refusal;
};

static int renew(void *ctx, struct generation *base, uint64_t seen,
		 struct error *err)
{
	struct hooked *h = ctx;

	h->renewed++;
	h->seen = seen;
	generation_release(base);
	*base = (struct generation){0};
	return h->refusal ? error_set(err, ERR_IO, "no base") : 0;
}

static void note_made(void *ctx, const struct generation *g)
{
	struct hooked *h = ctx;

	h->made++;
	h->number = g->number;
}

static void note_followed(void *ctx, struct generation *g)
{
	struct hooked *h = ctx;

	h->followed++;
	assert_int_equal(g->number, h->number);
}

/*
 * Publishes the change of pusher `p` in two steps: uploads the files, then
 * makes the record (manifest). Returns the result of the second step.
 */
static int run_session(struct repo *r, struct pusher *p,
		       const struct generation *known)
{
	struct generation_change change = {
		.uploads = &p->up,
		.upload_nr = 1,
		.refs = &p->ref,
		.ref_nr = 1,
		.seen = known->number,
		.session_ns = HOUR,
	};
	struct generation_session s;

	assert_int_equal(generation_session_begin(&s, &r->place, &change, known,
						  &p->err),
			 0);
	p->result = generation_group_session(p->group, &change, &s, &p->err);
	assert_int_equal(generation_session_find(&r->place, known->number, &s),
			 p->result ? GENERATION_UNKNOWN : GENERATION_COMMITTED);
	return p->result;
}

static void test_sessions(void **state)
{
	struct hooked h = {.refusal = 0};
	struct generation_group_hooks hooks = {renew, note_made, note_followed,
					       &h};
	struct generation first;
	struct pusher p;
	struct repo r;

	repo_init(&r);
	h.r = &r;
	prepare(&r, &p, 1, "one");
	r.expected = 1;
	run(&p);
	assert_int_equal(p.result, GENERATION_COMMITTED);
	read_newest(&r, &first);
	generation_group_set_hooks(r.group, &hooks);
	prepare(&r, &p, 2, "two");
	assert_int_equal(run_session(&r, &p, &first), GENERATION_COMMITTED);
	assert_int_equal(h.renewed, 1);
	assert_int_equal(h.seen, 1);
	assert_int_equal(h.made, 1);
	assert_int_equal(h.followed, 1);
	assert_int_equal(h.number, 2);
	/*
	 * The ref exists already, so no record (manifest) is made. The hooks
	 * for new records must not be called.
	 */
	prepare(&r, &p, 3, "two");
	assert_int_equal(run_session(&r, &p, &first), GENERATION_REF_CHANGED);
	assert_int_equal(h.renewed, 2);
	assert_int_equal(h.made, 1);
	assert_int_equal(h.followed, 1);
	h.refusal = 1;
	prepare(&r, &p, 4, "four");
	assert_int_equal(run_session(&r, &p, &first), ERR_IO);
	assert_string_equal(p.err.msg, "no base");
	prepare(&r, &p, 5, "a b");
	p.ref.ref = "a b";
	assert_int_equal(
		generation_group_session(
			r.group,
			&(struct generation_change){.refs = &p.ref,
						    .ref_nr = 1,
						    .session_ns = HOUR},
			&(struct generation_session){.start_ns = 0}, &p.err),
		ERR_INVALID);
	generation_release(&first);
	repo_release(&r);
}

/* ---- the hook that is called after a record was made */

struct slow {
	pthread_mutex_t lock; /* guards the fields below */
	pthread_cond_t wake;
	/* Number of the newest record (manifest). */
	uint64_t made;
	/* Number of calls of follow_slowly() that have ended their wait. */
	unsigned followed;
};

static void set_made(void *ctx, const struct generation *g)
{
	struct slow *s = ctx;

	pthread_mutex_lock(&s->lock);
	s->made = g->number;
	pthread_cond_broadcast(&s->wake);
	pthread_mutex_unlock(&s->lock);
}

/*
 * Hook that is called after a record (manifest) was made. The call for the
 * first record returns only after the second record was made.
 */
static void follow_slowly(void *ctx, struct generation *g)
{
	struct slow *s = ctx;

	pthread_mutex_lock(&s->lock);
	while (g->number == 1 && s->made < 2)
		pthread_cond_wait(&s->wake, &s->lock);
	s->followed++;
	pthread_mutex_unlock(&s->lock);
	/* Take over the content of *g, as a hook may do. */
	generation_release(g);
	*g = (struct generation){0};
}

/*
 * The hook that is called after a record (manifest) was made may be slow. The
 * next record must be made although the hook for the first record has not
 * returned.
 */
static void test_slow_follow(void **state)
{
	struct slow s = {.made = 0};
	const struct generation_group_hooks hooks = {NULL, set_made,
						     follow_slowly, &s};
	struct pusher p[THREADS];
	pthread_t threads[THREADS];
	struct generation g;
	struct repo r;
	char ref[32];

	repo_init(&r);
	assert_int_equal(pthread_mutex_init(&s.lock, NULL), 0);
	assert_int_equal(pthread_cond_init(&s.wake, NULL), 0);
	generation_group_set_hooks(r.group, &hooks);
	for (unsigned i = 0; i < THREADS; i++) {
		snprintf(ref, sizeof(ref), "r%u", i);
		prepare(&r, &p[i], i, ref);
	}
	for (unsigned i = 0; i < THREADS; i++) {
		assert_int_equal(sys_thread_start(&threads[i], run, &p[i]), 0);
		/*
		 * Wait until the first record (manifest) was made, so that it
		 * has only the change of the first thread.
		 */
		pthread_mutex_lock(&s.lock);
		while (!s.made)
			pthread_cond_wait(&s.wake, &s.lock);
		pthread_mutex_unlock(&s.lock);
	}
	for (unsigned i = 0; i < THREADS; i++) {
		sys_thread_join(threads[i]);
		assert_int_equal(p[i].result, GENERATION_COMMITTED);
	}
	read_newest(&r, &g);
	assert_int_equal(s.made, g.number);
	assert_int_equal(s.followed, g.number);
	assert_int_equal(g.update_nr, THREADS);
	generation_release(&g);
	pthread_mutex_destroy(&s.lock);
	pthread_cond_destroy(&s.wake);
	repo_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_group),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_drops),
		cmocka_unit_test(test_failure),
		cmocka_unit_test(test_two_nodes),
		cmocka_unit_test(test_invalid),
		cmocka_unit_test(test_sessions),
		cmocka_unit_test(test_slow_follow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
