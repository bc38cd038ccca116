/* SPDX-License-Identifier: MIT */
/*
 * Tests of plans/plan-dir.c, a directory in which processes share plans (which
 * parts of stored packs answer a fetch). Processes find each other's plans, and
 * wait for them. Killed processes, damaged files and a missing directory do no
 * harm.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "plans/plan-cache.h"
#include "sys/clock.h"
#include "sys/io.h"
#include "sys/map.h"
#include "sys/thread.h"
#include "t/unit/asking.h"

#define PACK_LEN ((size_t)1 << 20)
#define MAX ((uint64_t)1 << 20)

/*
 * A directory of plans (cached responses), and a snapshot with one pack. The
 * content of the pack is arbitrary.
 */
struct bench {
	struct tmprepo t;
	struct buf path;
	struct plan_dir *dir;
	struct odb odb;
	struct odb_pack list;
	struct pack pack;
	uint8_t *bytes;
};

static void bench_init_max(struct bench *b, uint64_t max)
{
	struct error warning;

	memset(b, 0, sizeof(*b));
	tmprepo_init(&b->t, HASH_SHA1);
	b->path = (struct buf)BUF_INIT;
	buf_printf(&b->path, "%s/plans", b->t.dir);
	assert_int_equal(mkdir(b->path.data, 0700), 0);
	assert_int_equal(
		plan_dir_new(&b->dir, b->path.data, max, &warning, NULL), 0);
	assert_int_equal(warning.code, 0);
	b->bytes = calloc(1, PACK_LEN);
	assert_non_null(b->bytes);
	b->pack.file.len = PACK_LEN;
	b->pack.file.bytes = b->bytes;
	b->list.pack = &b->pack;
	b->odb = (struct odb){
		.algo = HASH_SHA1, .packs = &b->list, .pack_nr = 1};
}

static void bench_init(struct bench *b)
{
	bench_init_max(b, MAX);
}

static void bench_release(struct bench *b)
{
	plan_dir_free(b->dir);
	free(b->bytes);
	buf_release(&b->path);
	tmprepo_release(&b->t);
}

static const struct packing_report report = {.objects = 7,
					     .strategy = "bitmap"};

/*
 * Makes a plan (cached response) that consists of a range of the pack, and
 * `len` bytes that are stored in the plan itself.
 */
static void make_plan(struct plan *plan, const struct bench *b, size_t len)
{
	*plan = PLAN_INIT;
	assert_int_equal(
		mem_grow(&plan->pieces, &plan->alloc, 2, sizeof(*plan->pieces)),
		0);
	plan->pieces[plan->nr++] = (struct plan_piece){b->bytes, PACK_LEN};
	plan->pieces[plan->nr++] = (struct plan_piece){NULL, len};
	for (size_t i = 0; i < len; i++)
		assert_int_equal(buf_append_char(&plan->literals, (char)i), 0);
}

/* One request. */
struct asker {
	struct bench *b;
	uint8_t key[PLAN_KEY_LEN];
	struct plan_claim claim;
	struct plan plan;
	struct packing_report report;
	bool has_waited;
	int ret;
	/* called while it waits */
	int (*poll)(void *ctx, const char *title, uint64_t done,
		    uint64_t total);
	void *ctx;
};

static void ask(struct asker *a, struct bench *b, uint8_t number)
{
	const struct progress_out progress = {.poll = a->poll, .ctx = a->ctx};

	a->b = b;
	memset(a->key, number, PLAN_KEY_LEN);
	a->has_waited = false;
	a->ret = plan_dir_find(&a->claim, &a->plan, &a->report, &a->has_waited,
			       b->dir, a->key, &b->odb, &progress, NULL);
}

static void end(struct asker *a)
{
	plan_claim_release(&a->claim);
	plan_release(&a->plan);
}

/*
 * Asks for a plan (cached response). Asserts that there is none, and stores
 * one. `reason`: the expected reason if the plan is not stored; NULL: the plan
 * is stored.
 */
static void make(struct bench *b, uint8_t number, size_t len,
		 const char *reason)
{
	struct asker a = {0};
	struct plan plan;

	ask(&a, b, number);
	assert_int_equal(a.ret, 0);
	assert_null(a.claim.reason);
	make_plan(&plan, b, len);
	plan_claim_store(&a.claim, &plan, &report, &b->odb, false);
	if (reason)
		assert_string_equal(a.claim.reason, reason);
	else
		assert_null(a.claim.reason);
	plan_release(&plan);
	end(&a);
}

/*
 * Asks for the plan (cached response) with the number `number`. The plan must
 * be found. It must consist of a range of a pack, and `len` bytes that are
 * stored in the plan itself.
 */
static void assert_stored(struct bench *b, uint8_t number, size_t len)
{
	struct asker a = {0};

	ask(&a, b, number);
	assert_int_equal(a.ret, 1);
	assert_int_equal(a.report.objects, 7);
	assert_string_equal(a.report.strategy, "bitmap");
	assert_int_equal(a.plan.nr, 2);
	assert_ptr_equal(a.plan.pieces[0].span, b->bytes);
	assert_int_equal(a.plan.pieces[1].len, len);
	for (size_t i = 0; i < len; i++)
		assert_int_equal(a.plan.stored[i], (uint8_t)i);
	end(&a);
}

static bool is_stored(const struct bench *b, uint8_t number)
{
	uint8_t key[PLAN_KEY_LEN];

	memset(key, number, PLAN_KEY_LEN);
	return plan_dir_has(b->dir, key, &b->odb);
}

/*
 * Appends the path of the stored plan (cached response) with the number
 * `number` to *path. The caller releases *path.
 */
static void plan_path(struct buf *path, const struct bench *b, uint8_t number)
{
	buf_printf(path, "%s/", b->path.data);
	for (int i = 0; i < PLAN_KEY_LEN; i++)
		buf_printf(path, "%02x", number);
	buf_append_str(path, ".plan");
}

static void test_short(void **state)
{
	struct bench b;

	bench_init(&b);
	make(&b, 1, 100, NULL);
	assert_stored(&b, 1, 100);
	assert_false(is_stored(&b, 2));
	/*
	 * The plan (cached response) names a pack by its checksum and its size.
	 * The pack now has another size, so the plan cannot be used.
	 */
	b.pack.file.len++;
	assert_false(is_stored(&b, 1));
	b.pack.file.len--;
	assert_true(is_stored(&b, 1));
	bench_release(&b);
}

#define LATER "the plan is stored when it is asked for again"

/*
 * The first request does not store a plan (cached response) that is long, or
 * long in comparison to its pack. The second equal request stores it.
 */
static void test_second_request(void **state)
{
	struct bench b;

	bench_init(&b);
	make(&b, 1, 60000, LATER);
	make(&b, 2, 30000, LATER);
	assert_false(is_stored(&b, 1));
	make(&b, 1, 60000, NULL);
	assert_stored(&b, 1, 60000);
	assert_false(is_stored(&b, 2));
	make(&b, 2, 30000, NULL);
	assert_stored(&b, 2, 30000);
	bench_release(&b);
}

/*
 * A plan (cached response) was too large to be stored. For some time, no
 * request waits for a plan with the key of this plan.
 */
static void test_too_large(void **state)
{
	struct asker a = {0};
	struct bench b;

	bench_init(&b);
	make(&b, 1, MAX / 16, "the plan is too large");
	ask(&a, &b, 1);
	assert_int_equal(a.ret, 0);
	assert_int_equal(a.claim.locks, -1);
	assert_string_equal(a.claim.reason,
			    "the plan of an equal request was not stored");
	end(&a);
	ask(&a, &b, 2);
	plan_claim_give_up(&a.claim);
	end(&a);
	ask(&a, &b, 2);
	assert_int_equal(a.claim.locks, -1);
	end(&a);
	bench_release(&b);
}

/* ---- damage */

static void flip(const char *path, size_t at)
{
	FILE *file = fopen(path, "r+");
	int c;

	assert_non_null(file);
	assert_int_equal(fseek(file, (long)at, SEEK_SET), 0);
	c = fgetc(file);
	assert_int_equal(fseek(file, (long)at, SEEK_SET), 0);
	assert_int_equal(fputc(c ^ 4, file), c ^ 4);
	assert_int_equal(fclose(file), 0);
}

static void test_damage(void **state)
{
	struct buf path = BUF_INIT, other = BUF_INIT;
	struct sys_stat st;
	struct bench b;

	bench_init(&b);
	make(&b, 1, 20, NULL);
	plan_path(&path, &b, 1);
	assert_int_equal(sys_stat(&st, path.data, NULL), 0);
	for (size_t i = 0; i < st.size; i++) {
		flip(path.data, i);
		assert_false(is_stored(&b, 1));
		flip(path.data, i);
	}
	assert_true(is_stored(&b, 1));
	/*
	 * The name of a file states another key than its content. Such a file
	 * is not used.
	 */
	plan_path(&other, &b, 2);
	assert_int_equal(sys_link(path.data, other.data, NULL), 0);
	assert_false(is_stored(&b, 2));
	for (size_t len = st.size; len--;) {
		assert_int_equal(sys_truncate(path.data, len, NULL), 0);
		assert_false(is_stored(&b, 1));
	}
	/*
	 * The next plan (cached response) with this key must replace the
	 * damaged file.
	 */
	make(&b, 1, 20, NULL);
	assert_stored(&b, 1, 20);
	buf_release(&path);
	buf_release(&other);
	bench_release(&b);
}

/* ---- tests with a directory that cannot be used */

static void assert_fault(const char *path, const char *fault)
{
	struct error warning, err;
	struct plan_dir *dir;
	struct plan plan;
	struct plan_claim claim;
	struct packing_report r;
	bool has_waited;

	assert_int_equal(plan_dir_new(&dir, path, MAX, &warning, &err), 0);
	assert_int_equal(warning.code, ERR_INVALID);
	assert_non_null(strstr(warning.msg, path));
	assert_non_null(strstr(warning.msg, fault));
	assert_int_equal(plan_dir_find(&claim, &plan, &r, &has_waited, dir,
				       (const uint8_t[PLAN_KEY_LEN]){1}, NULL,
				       NULL, NULL),
			 0);
	assert_string_equal(claim.reason, "the plan directory is unusable");
	assert_int_equal(claim.locks, -1);
	plan_dir_free(dir);
}

static void test_unusable(void **state)
{
	struct bench b;

	bench_init(&b);
	assert_fault("plans", "the path is not absolute");
	assert_fault("/no/such/plans", "there is no such directory");
	assert_fault("/dev/null", "it is not a directory");
	chmod(b.path.data, 0720);
	assert_fault(b.path.data, "other users may write into it");
	chmod(b.path.data, 0702);
	assert_fault(b.path.data, "other users may write into it");
	chmod(b.path.data, 0755);
	assert_true(!is_stored(&b, 1));
	if (!sys_euid()) {
		assert_int_equal(chown(b.path.data, 1, 1), 0);
		assert_fault(b.path.data, "it belongs to another user");
	}
	bench_release(&b);
}

/*
 * The directory of plans (cached responses) is removed while a plan is made.
 * The request succeeds, and the reason says that the plan is not stored.
 */
static void test_lost_directory(void **state)
{
	struct buf keys = BUF_INIT;
	struct asker a = {0};
	struct plan plan;
	struct bench b;

	bench_init(&b);
	ask(&a, &b, 1);
	assert_int_equal(a.ret, 0);
	buf_printf(&keys, "%s/keys", b.path.data);
	assert_int_equal(sys_unlink(keys.data, NULL), 0);
	assert_int_equal(sys_rmdir(b.path.data, NULL), 1);
	make_plan(&plan, &b, 10);
	plan_claim_store(&a.claim, &plan, &report, &b.odb, false);
	assert_string_equal(a.claim.reason, "there is no room for the plan");
	plan_release(&plan);
	end(&a);
	ask(&a, &b, 1);
	assert_int_equal(a.ret, 0);
	assert_string_equal(a.claim.reason, "the plan directory is unusable");
	end(&a);
	buf_release(&keys);
	bench_release(&b);
}

/*
 * The file of a plan (cached response) cannot be created, because a directory
 * has its name. The request must succeed nevertheless.
 */
static void test_unwritable(void **state)
{
	struct buf path = BUF_INIT;
	struct bench b;

	bench_init(&b);
	buf_printf(&path, "%s/keys", b.path.data);
	assert_int_equal(mkdir(path.data, 0700), 0);
	{
		struct asker a = {0};

		ask(&a, &b, 1);
		assert_int_equal(a.ret, 0);
		assert_string_equal(a.claim.reason,
				    "the plan directory cannot be written");
		end(&a);
	}
	assert_int_equal(sys_rmdir(path.data, NULL), 1);
	buf_reset(&path);
	plan_path(&path, &b, 1);
	assert_int_equal(mkdir(path.data, 0700), 0);
	make(&b, 1, 10, "the plan cannot be written");
	/*
	 * Storing the plan (cached response) has failed. For some time, no
	 * process waits for a plan with the key of this plan.
	 */
	{
		struct asker a = {0};

		ask(&a, &b, 1);
		assert_string_equal(
			a.claim.reason,
			"the plan of an equal request was not stored");
		end(&a);
	}
	buf_release(&path);
	bench_release(&b);
}

/* ---- room */

static int add_size(void *ctx, const char *name)
{
	const char *dot = strrchr(name, '.');

	*(unsigned *)ctx += dot && !strcmp(dot, ".plan");
	/*
	 * The directory may contain only plans (cached responses) and the file
	 * `keys`.
	 */
	assert_true((dot && !strcmp(dot, ".plan")) || !strcmp(name, "keys"));
	return 0;
}

static unsigned count_plans(const struct bench *b)
{
	unsigned nr = 0;

	assert_int_equal(sys_dir_each(b->path.data, add_size, &nr, NULL), 0);
	return nr;
}

/*
 * Makes the file of a plan (cached response) `seconds` older. A negative number
 * makes it newer.
 */
static void age(const struct bench *b, uint8_t number, int64_t seconds)
{
	struct buf path = BUF_INIT;

	plan_path(&path, b, number);
	assert_int_equal(
		sys_set_mtime(path.data, sys_clock_seconds() - seconds, NULL),
		0);
	buf_release(&path);
}

static void test_room(void **state)
{
	struct buf path = BUF_INIT;
	struct bench b;

	bench_init_max(&b, 4 * 17000);
	for (uint8_t i = 0; i < 10; i++) {
		make(&b, i, 4000, NULL);
		age(&b, i, 1000 - i);
	}
	assert_int_equal(count_plans(&b), 10);
	assert_stored(&b, 0, 4000); /* plan 0 is used now */
	/* This temporary file is one that a killed process could have left. */
	buf_printf(&path, "%s/tmp_plan_123456", b.path.data);
	assert_int_equal(sys_append(path.data, "x", 1, 0600, NULL), 0);
	for (uint8_t i = 10; i < 20; i++) {
		make(&b, i, 4000, NULL);
		age(&b, i, 1000 - i);
	}
	assert_true(count_plans(&b) * 4000 <= 4 * 17000);
	assert_true(count_plans(&b) >= 15);
	assert_stored(&b, 0, 4000);
	assert_false(is_stored(&b, 1));
	assert_true(is_stored(&b, 19));
	buf_release(&path);
	bench_release(&b);
}

/*
 * The time of a stored plan (cached response) is in the future, because the
 * clock was wrong. The plan is still used, and its time is corrected.
 */
static void test_clock(void **state)
{
	struct buf path = BUF_INIT;
	struct sys_stat st;
	struct bench b;

	bench_init(&b);
	make(&b, 1, 10, NULL);
	age(&b, 1, -1000000);
	assert_stored(&b, 1, 10);
	plan_path(&path, &b, 1);
	assert_int_equal(sys_stat(&st, path.data, NULL), 0);
	assert_true(st.mtime_ns / 1000000000 <= sys_clock_seconds());
	buf_release(&path);
	bench_release(&b);
}

/* ---- tests of requests that wait for each other */

/*
 * Starts a process that begins to make a plan (cached response), and then waits
 * to be killed. So requests for the same plan have to wait. `sends`: the
 * process has begun to send to its client.
 */
static pid_t start_maker(struct bench *b, uint8_t number, bool sends)
{
	int fds[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		struct asker a = {0};

		ask(&a, b, number);
		if (sends)
			plan_claim_begin_sending(&a.claim);
		if (a.ret || write(fds[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	assert_int_equal(read(fds[0], &byte, 1), 1);
	close(fds[0]);
	close(fds[1]);
	return pid;
}

static void stop_maker(pid_t pid)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static int stop_and_count(void *ctx, const char *title, uint64_t done,
			  uint64_t total)
{
	pid_t *pid = ctx;

	if (*pid)
		stop_maker(*pid);
	*pid = 0;
	return 0;
}

static void test_killed_maker(void **state)
{
	struct bench b;
	pid_t pid;
	struct asker a = {.poll = stop_and_count, .ctx = &pid};
	struct plan plan;

	bench_init(&b);
	pid = start_maker(&b, 1, false);
	ask(&a, &b, 1);
	assert_int_equal(a.ret, 0);
	assert_int_equal(pid, 0);
	assert_true(a.has_waited);
	assert_null(a.claim.reason);
	make_plan(&plan, &b, 10);
	plan_claim_store(&a.claim, &plan, &report, &b.odb, false);
	assert_null(a.claim.reason);
	plan_release(&plan);
	end(&a);
	assert_stored(&b, 1, 10);
	bench_release(&b);
}

static void test_stalled_maker(void **state)
{
	struct asker a = {0};
	struct bench b;
	pid_t pid;

	bench_init(&b);
	pid = start_maker(&b, 1, true);
	ask(&a, &b, 1);
	assert_int_equal(a.ret, 0);
	assert_true(a.has_waited);
	assert_int_equal(a.claim.locks, -1);
	assert_string_equal(a.claim.reason,
			    "another process took too long to make the plan");
	end(&a);
	/*
	 * A process that makes a plan (cached response) does not block requests
	 * with other keys.
	 */
	ask(&a, &b, 2);
	assert_true(a.claim.locks >= 0);
	assert_false(a.has_waited);
	end(&a);
	stop_maker(pid);
	bench_release(&b);
}

static int cancel(void *ctx, const char *title, uint64_t done, uint64_t total)
{
	return 1;
}

static void test_cancelled(void **state)
{
	struct asker a = {.poll = cancel};
	struct bench b;
	pid_t pid;

	bench_init(&b);
	pid = start_maker(&b, 1, false);
	ask(&a, &b, 1);
	assert_int_equal(a.ret, ERR_CANCELLED);
	stop_maker(pid);
	bench_release(&b);
}

static void *ask_in_thread(void *arg)
{
	struct asker *a = arg;

	ask(a, a->b, 1);
	return NULL;
}

/*
 * Normally, a long plan (cached response) is stored only at the second request.
 * But if other processes wait for the plan, it is stored at the first request.
 * The process that makes the plan must notice them. It then completes the plan
 * without waiting for its own client.
 */
static void test_joined(void **state)
{
	struct bench b;
	struct asker maker = {0}, others[4];
	struct plan plan;
	pthread_t threads[4];

	bench_init(&b);
	ask(&maker, &b, 1);
	assert_int_equal(maker.ret, 0);
	assert_false(plan_claim_begin_sending(&maker.claim));
	plan_claim_end_sending(&maker.claim);
	for (int i = 0; i < 4; i++) {
		others[i] = (struct asker){.b = &b};
		assert_int_equal(sys_thread_start(&threads[i], ask_in_thread,
						  &others[i]),
				 0);
	}
	while (!plan_claim_begin_sending(&maker.claim))
		plan_claim_end_sending(&maker.claim);
	assert_true(maker.claim.is_awaited);
	make_plan(&plan, &b, 50000);
	plan_claim_store(&maker.claim, &plan, &report, &b.odb, false);
	assert_null(maker.claim.reason);
	for (int i = 0; i < 4; i++) {
		sys_thread_join(threads[i]);
		assert_int_equal(others[i].ret, 1);
		assert_int_equal(plan_pack_len(&others[i].plan),
				 PACK_LEN + 50000);
		end(&others[i]);
	}
	plan_release(&plan);
	end(&maker);
	bench_release(&b);
}

/* ---- tests with the caches of two processes */

static int identify(void *ctx, struct hash_ctx *hash, struct error *err)
{
	const struct taglist *list = ctx;

	for (size_t i = 0; i < list->nr; i++)
		hash_update(hash, list->tags[i].tag.bytes, 20);
	return 1;
}

static int put(void *ctx, const void *bytes, size_t len, struct error *err)
{
	return buf_append(ctx, bytes, len);
}

/*
 * A simulated process, which has its own snapshot and its own cache of plans
 * (cached responses).
 */
struct process {
	struct odb *odb;
	struct plan_cache *cache;
};

static void process_init(struct process *p, const struct randrepo *r,
			 const struct plan_dir *dir)
{
	p->cache = plan_cache_new(0, dir);
	assert_non_null(p->cache);
	assert_int_equal(odb_open(&p->odb, &r->t.repo, NULL, NULL), 0);
	for (uint32_t i = 0; i < p->odb->pack_nr; i++)
		p->odb->packs[i].pack->is_pinned = true;
}

static void process_release(struct process *p)
{
	plan_cache_free(p->cache);
	odb_close(p->odb);
}

/*
 * Answers a request. Returns how the answer was made, for example "made" or
 * "hit". The caller releases *out.
 */
static const char *answer(struct process *p, struct asking *a, struct buf *out,
			  struct packing_report *made,
			  const struct packing_send_options *options)
{
	const struct plan_question question = {
		.odb = p->odb, .request = &a->request, .options = options};
	const struct pack_sink sink = {.put = put, .ctx = out};
	struct error err = ERROR_INIT;
	struct plan_entry *used;

	*out = (struct buf)BUF_INIT;
	if (plan_cache_send(p->cache, &used, &question, &sink, made, &err) < 0)
		fail_msg("%s", err.msg);
	plan_cache_release(p->cache, used);
	return made->response_plan;
}

static void check_pack(struct asking *a, const struct buf *bytes,
		       const struct packing_report *made)
{
	struct sentpack s;

	sentpack_init(&s, a->r);
	assert_int_equal(buf_append(&s.bytes, bytes->data, bytes->len), 0);
	sentpack_decode(&s, a->request.thin ? a->uninteresting : NULL);
	asking_check(a, &s, made, false);
	sentpack_release(&s);
}

static void test_processes(void **state)
{
	uint64_t seed = random_seed();
	struct packing_send_options options;
	struct packing_report made;
	struct process one, two;
	struct randrepo r;
	struct asking a;
	struct bench b;

	bench_init_max(&b, 64 << 20);
	asking_repo(&r, HASH_SHA1, &seed);
	asking_init(&a, &r);
	process_init(&one, &r, b.dir);
	process_init(&two, &r, b.dir);
	assert_int_equal(packing_send_options_load(&options, &r.t.repo, NULL),
			 0);
	for (int i = 0; i < 40; i++) {
		struct buf first, second, third;

		asking_random(&a, i % 3 == 0);
		a.request.tags.identify = identify;
		assert_string_equal(answer(&one, &a, &first, &made, &options),
				    "made");
		check_pack(&a, &first, &made);
		answer(&two, &a, &second, &made, &options);
		assert_string_equal(answer(&one, &a, &third, &made, &options),
				    "hit");
		assert_null(made.no_response_plan);
		check_pack(&a, &third, &made);
		assert_int_equal(second.len, third.len);
		assert_memory_equal(second.data, third.data, second.len);
		/*
		 * In the next round, `window` is different. So the plans
		 * (cached responses) of this round must not be used.
		 */
		options.window++;
		buf_release(&first);
		buf_release(&second);
		buf_release(&third);
	}
	process_release(&one);
	process_release(&two);
	asking_release(&a);
	randrepo_release(&r);
	bench_release(&b);
}

/* ---- configuration */

static int load(struct plan_dir **dir, const char *text,
		enum config_scope scope, struct error *warning)
{
	struct repo repo = {.config = CONFIG_INIT};
	int ret;

	assert_int_equal(config_parse(&repo.config, text, strlen(text), scope,
				      NULL, NULL, NULL),
			 0);
	ret = plan_dir_load(dir, &repo, warning, NULL);
	config_release(&repo.config);
	return ret;
}

static void test_configuration(void **state)
{
	struct buf text = BUF_INIT;
	struct error warning;
	struct plan_dir *dir;
	struct bench b;

	bench_init(&b);
	assert_int_equal(load(&dir, "", CONFIG_GLOBAL, &warning), 0);
	assert_null(dir);
	buf_printf(&text, "[gitreach]\nplanDirectory = %s\n", b.path.data);
	assert_int_equal(load(&dir, text.data, CONFIG_LOCAL, &warning), 0);
	assert_null(dir);
	assert_int_equal(load(&dir, text.data, CONFIG_SYSTEM, &warning), 0);
	assert_int_equal(warning.code, 0);
	assert_int_equal(plan_dir_plan_max(dir), PLAN_DIR_SIZE / 16);
	plan_dir_free(dir);
	buf_append_str(&text, "planDirectorySize = 16m\n");
	assert_int_equal(load(&dir, text.data, CONFIG_GLOBAL, &warning), 0);
	assert_int_equal(plan_dir_plan_max(dir), 1 << 20);
	plan_dir_free(dir);
	buf_append_str(&text, "planDirectorySize = much\n");
	assert_int_equal(load(&dir, text.data, CONFIG_GLOBAL, &warning),
			 ERR_INVALID);
	assert_int_equal(load(&dir, "[gitreach]\nplanDirectory = /no/dir\n",
			      CONFIG_COMMAND, &warning),
			 0);
	assert_int_equal(warning.code, ERR_INVALID);
	plan_dir_free(dir);
	buf_release(&text);
	bench_release(&b);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_short),
		cmocka_unit_test(test_second_request),
		cmocka_unit_test(test_too_large),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_unusable),
		cmocka_unit_test(test_lost_directory),
		cmocka_unit_test(test_unwritable),
		cmocka_unit_test(test_room),
		cmocka_unit_test(test_clock),
		cmocka_unit_test(test_killed_maker),
		cmocka_unit_test(test_stalled_maker),
		cmocka_unit_test(test_cancelled),
		cmocka_unit_test(test_joined),
		cmocka_unit_test(test_processes),
		cmocka_unit_test(test_configuration),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
