/* SPDX-License-Identifier: MIT */
/*
 * Tests of plans/plan-cache.c and its parts. A plan (cached response) says
 * which parts of stored packs answer a request. Only equal requests may use the
 * same plan. While one request makes a plan, equal requests wait for it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>

#include "object/hash.h"
#include "plans/plan-cache.h"
#include "sys/thread.h"
#include "t/unit/asking.h"

#define CACHE_MAX 65536

/* ---- real packs */

static int identify(void *ctx, struct hash_ctx *hash, struct error *err)
{
	const struct taglist *list = ctx;

	for (size_t i = 0; i < list->nr; i++)
		hash_update(hash, list->tags[i].tag.bytes, 20);
	return 1;
}

/*
 * A sink for a pack, which also counts the bytes that come as ranges of pinned
 * packs (packs that stay mapped while they are sent).
 */
struct answer {
	struct buf bytes;
	/* Number of bytes that came as ranges of pinned packs. */
	size_t pinned;
};

static int put(void *ctx, const void *bytes, size_t len, struct error *err)
{
	struct answer *a = ctx;

	return buf_append(&a->bytes, bytes, len);
}

static int put_pinned(void *ctx, const void *bytes, size_t len,
		      struct error *err)
{
	struct answer *a = ctx;

	a->pinned += len;
	return buf_append(&a->bytes, bytes, len);
}

/*
 * Answers a request: by a plan (cached response), or by making the pack. The
 * caller releases *a.
 */
static void answer(struct plan_cache *cache, struct answer *a,
		   struct packing_report *report,
		   const struct plan_question *question)
{
	const struct pack_sink sink = {put, a, NULL, put_pinned};
	struct plan_entry *used;
	struct error err = ERROR_INIT;

	*a = (struct answer){BUF_INIT, 0};
	if (plan_cache_send(cache, &used, question, &sink, report, &err) < 0)
		fail_msg("%s", err.msg);
	plan_cache_release(cache, used);
}

static void reverse(struct oid *oids, size_t nr)
{
	for (size_t i = 0; i < nr / 2; i++) {
		struct oid oid = oids[i];

		oids[i] = oids[nr - 1 - i];
		oids[nr - 1 - i] = oid;
	}
}

/* Check that a pack has the objects that the request asks for. */
static void check_pack(const struct asking *a, const struct answer *made,
		       const struct packing_report *report)
{
	struct sentpack s;

	sentpack_init(&s, a->r);
	assert_int_equal(
		buf_append(&s.bytes, made->bytes.data, made->bytes.len), 0);
	sentpack_decode(&s, a->request.thin ? a->uninteresting : NULL);
	asking_check(a, &s, report, false);
	sentpack_release(&s);
}

/*
 * Check that an equal request gets the same bytes from the plan (cached
 * response). The equal request has its ids in another order.
 */
static void check_request(struct asking *a, struct plan_cache *cache,
			  const struct plan_question *question)
{
	struct answer made, again;
	struct packing_report report;

	answer(cache, &made, &report, question);
	assert_string_equal(report.response_plan, "made");
	check_pack(a, &made, &report);

	reverse(a->wants, a->request.want_nr);
	reverse(a->haves, a->request.have_nr);
	reverse(a->shallow, a->request.shallow_nr);
	answer(cache, &again, &report, question);
	assert_string_equal(report.response_plan, "hit");
	assert_null(report.no_bitmap);
	assert_null(report.plan.reason);
	/* No object is compressed again. */
	assert_int_equal(report.pack_reused + report.reused, report.objects);
	assert_int_equal(made.bytes.len, again.bytes.len);
	assert_memory_equal(made.bytes.data, again.bytes.data, made.bytes.len);
	assert_true(again.pinned >= made.pinned);
	buf_release(&made.bytes);
	buf_release(&again.bytes);
}

static void test_random_requests(void **state)
{
	uint64_t seed = random_seed();
	struct plan_cache *cache = plan_cache_new(64 << 20, NULL);
	struct randrepo r;
	struct asking a;
	struct packing_send_options options;
	struct plan_question question = {
		.owner = &r, .request = &a.request, .options = &options};
	struct odb *odb;

	assert_non_null(cache);
	asking_repo(&r, HASH_SHA1, &seed);
	asking_init(&a, &r);
	assert_int_equal(odb_open(&odb, &r.t.repo, NULL, NULL), 0);
	question.odb = odb;
	assert_int_equal(packing_send_options_load(&options, &r.t.repo, NULL),
			 0);
	for (int i = 0; i < 80; i++) {
		asking_random(&a, i % 3 == 0);
		a.request.tags.identify = identify;
		check_request(&a, cache, &question);
		plan_cache_forget(cache, &r);
		assert_int_equal(plan_cache_size(cache), 0);
	}
	plan_cache_free(cache);
	odb_close(odb);
	asking_release(&a);
	randrepo_release(&r);
}

/* ---- keys */

/*
 * A request with one want and one have, and the key under which its plan
 * (cached response) is stored.
 */
struct keyed {
	struct odb odb;
	struct oid want, have, shallow;
	struct packing_request request;
	struct packing_send_options options;
	struct plan_question question;
	uint8_t key[PLAN_KEY_LEN];
};

static void keyed_init(struct keyed *k)
{
	memset(k, 0, sizeof(*k));
	k->odb.algo = HASH_SHA1;
	k->want.bytes[0] = 1;
	k->have.bytes[0] = 2;
	k->shallow.bytes[0] = 3;
	k->request = (struct packing_request){.wants = &k->want, .want_nr = 1};
	k->question = (struct plan_question){.owner = k,
					     .odb = &k->odb,
					     .request = &k->request,
					     .options = &k->options};
}

/*
 * Computes the key of the request and stores it in *k. Returns whether the key
 * has changed.
 */
static bool is_new_key(struct keyed *k)
{
	uint8_t before[PLAN_KEY_LEN];
	const char *reason;

	memcpy(before, k->key, PLAN_KEY_LEN);
	assert_int_equal(plan_cache_key(k->key, &reason, &k->question, NULL),
			 1);
	return memcmp(before, k->key, PLAN_KEY_LEN) != 0;
}

static void test_key(void **state)
{
	struct keyed k;
	struct packing_tag tag = {.tag.bytes = {4}, .target.bytes = {1}};
	struct taglist tags = {&tag, 1};
	struct filter filter;

	keyed_init(&k);
	filter_init(&filter);
	assert_true(is_new_key(&k));
	assert_false(is_new_key(&k));
	k.request.thin = true;
	assert_true(is_new_key(&k));
	k.request.ofs_delta = true;
	assert_true(is_new_key(&k));
	k.request.knows_shallow = true;
	assert_true(is_new_key(&k));
	k.request.use_bitmap = true;
	assert_true(is_new_key(&k));
	k.request.haves = &k.have;
	k.request.have_nr = 1;
	assert_true(is_new_key(&k));
	k.request.shallow = &k.have;
	k.request.shallow_nr = 1;
	assert_true(is_new_key(&k));
	k.request.shallow = &k.shallow;
	assert_true(is_new_key(&k));
	k.request.have_nr = 0;
	assert_true(is_new_key(&k));
	k.request.tags = (struct packing_tags){taglist_each, &tags,
					       .identify = identify};
	assert_true(is_new_key(&k));
	tag.tag.bytes[0]++;
	assert_true(is_new_key(&k));
	assert_int_equal(filter_add(&filter, "blob:none", NULL), 0);
	k.request.filter = &filter;
	assert_true(is_new_key(&k));
	assert_int_equal(filter_add(&filter, "tree:1", NULL), 0);
	assert_true(is_new_key(&k));
	filter_release(&filter);
}

static int identify_packs(void *ctx, struct hash_ctx *hash, struct error *err)
{
	const int *packs = ctx;

	hash_update(hash, packs, sizeof(*packs));
	return 1;
}

static bool has_no_pack(void *ctx, const struct oid *checksum, uint64_t len)
{
	return false;
}

/*
 * The key of a plan (cached response) depends on the objects and packs that the
 * client can download from elsewhere, because the response leaves them out.
 */
static void test_key_elsewhere(void **state)
{
	struct oid oids[] = {{{5}}, {{6}}}, oid;
	struct packing_elsewhere elsewhere = {.nr = 0};
	struct keyed k;
	int packs = 1;

	keyed_init(&k);
	assert_true(is_new_key(&k));
	k.request.elsewhere = &elsewhere;
	assert_true(is_new_key(&k));
	elsewhere.oids = oids;
	elsewhere.nr = 1;
	assert_true(is_new_key(&k));
	elsewhere.nr = 2;
	assert_true(is_new_key(&k));
	oid = oids[0];
	oids[0] = oids[1];
	oids[1] = oid;
	assert_false(is_new_key(&k));
	elsewhere = (struct packing_elsewhere){.has_pack = has_no_pack,
					       .identify = identify_packs,
					       .ctx = &packs};
	assert_true(is_new_key(&k));
	assert_false(is_new_key(&k));
	packs = 2;
	assert_true(is_new_key(&k));
}

static void assert_no_key(struct keyed *k, const char *expected)
{
	const char *reason;

	assert_int_equal(plan_cache_key(k->key, &reason, &k->question, NULL),
			 0);
	assert_string_equal(reason, expected);
	keyed_init(k);
}

static int identify_none(void *ctx, struct hash_ctx *hash, struct error *err)
{
	return 0;
}

static int identify_fail(void *ctx, struct hash_ctx *hash, struct error *err)
{
	return error_set(err, ERR_IO, "the refs are unreadable");
}

static void test_no_key(void **state)
{
	static const struct packing_elsewhere elsewhere = {
		.has_pack = has_no_pack};
	static const struct packing_elsewhere many = {
		.has_pack = has_no_pack, .identify = identify_none};
	struct filter filter;
	struct keyed k;
	const char *reason;

	filter_init(&filter);
	assert_int_equal(filter_add(&filter,
				    "combine:tree:3+sparse:oid=conf:spec",
				    NULL),
			 0);
	keyed_init(&k);
	k.request.filter = &filter;
	assert_no_key(&k, "the filter has sparse patterns");
	filter_release(&filter);
	k.request.want_nr = 0;
	assert_no_key(&k, "nothing is wanted");
	k.request.elsewhere = &elsewhere;
	assert_no_key(&k, "the published packs are unknown");
	k.request.elsewhere = &many;
	assert_no_key(&k, "there are too many published packs");
	k.request.promised_missing = true;
	assert_no_key(&k, "missing objects are promised");
	k.options.check_reused = true;
	assert_no_key(&k, "copied objects are to be checked");
	k.request.tags.each = taglist_each;
	assert_no_key(&k, "the tags are unknown");
	k.request.tags = (struct packing_tags){taglist_each,
					       .identify = identify_none};
	assert_no_key(&k, "there are too many tags");
	k.request.tags = (struct packing_tags){taglist_each,
					       .identify = identify_fail};
	assert_int_equal(plan_cache_key(k.key, &reason, &k.question, NULL),
			 ERR_IO);
}

/* ---- tests of requests that wait for each other */

#define PART 1000

/*
 * A pack of two parts, for tests with threads. After the first part, the
 * request that makes the pack can wait until another request asks for the same
 * pack.
 */
struct scene {
	struct plan_cache *cache;
	struct keyed k;
	pthread_mutex_t lock;
	pthread_cond_t change;
	/* The lock guards all fields below. */
	/* Number of requests that have begun to make the pack. */
	unsigned makers;
	bool is_begun; /* the first part was put */
	/*
	 * True after a request has begun to wait for the plan (cached
	 * response).
	 */
	bool is_awaited;
	/* True after a request other than the first has ended. */
	bool is_other_done;
	/* If true, the request that makes the pack waits for `is_awaited`. */
	bool waits_for_other;
	/* Length in bytes of the second part of the pack. */
	size_t second;
	int result; /* of the first maker */
	/*
	 * Error code of a warning, which the first request gives when it makes
	 * the pack; 0: no warning.
	 */
	int warning;
	/*
	 * If true, the sink of the first request blocks until `is_other_done`
	 * is set, as if its client did not read.
	 */
	bool stalls;
	/*
	 * Number of bytes that the client of the first request had received
	 * before the second part of the pack was made.
	 */
	size_t sent_at_second;
	/*
	 * Result of the callback `poll` of a waiting request. A value other
	 * than 0 cancels the request, as if its client had disconnected.
	 */
	int poll_result;
};

static void scene_init(struct scene *s)
{
	memset(s, 0, sizeof(*s));
	s->cache = plan_cache_new(CACHE_MAX, NULL);
	assert_non_null(s->cache);
	keyed_init(&s->k);
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->change, NULL);
	s->second = PART;
}

static void scene_release(struct scene *s)
{
	plan_cache_free(s->cache);
	pthread_cond_destroy(&s->change);
	pthread_mutex_destroy(&s->lock);
}

static void set(struct scene *s, bool *flag)
{
	pthread_mutex_lock(&s->lock);
	*flag = true;
	pthread_cond_broadcast(&s->change);
	pthread_mutex_unlock(&s->lock);
}

static void await(struct scene *s, const bool *flag)
{
	pthread_mutex_lock(&s->lock);
	while (!*flag)
		pthread_cond_wait(&s->change, &s->lock);
	pthread_mutex_unlock(&s->lock);
}

static int poll_waiting(void *ctx, const char *title, uint64_t done,
			uint64_t total)
{
	struct scene *s = ctx;

	set(s, &s->is_awaited);
	return s->poll_result;
}

/* One request of the test. Some requests run in threads of their own. */
struct asker {
	struct scene *s;
	bool is_first;
	struct answer answer;
	struct packing_report report;
	int ret;
};

static int make_parts(void *ctx, const struct odb *odb,
		      const struct packing_request *request,
		      const struct packing_send_options *options,
		      struct pack_sink sink, struct packing_report *report,
		      struct error *err)
{
	struct asker *asker = ctx;
	struct scene *s = asker->s;
	char *part = calloc(1, s->second);
	int ret;

	assert_non_null(part);
	memset(part, 'b', s->second);
	*report = (struct packing_report){.objects = 7, .count_ns = 8};
	pthread_mutex_lock(&s->lock);
	s->makers++;
	pthread_mutex_unlock(&s->lock);
	ret = sink.put(sink.ctx, "a", 1, err);
	set(s, &s->is_begun);
	if (!ret && asker->is_first && s->waits_for_other)
		await(s, &s->is_awaited);
	if (!ret)
		ret = sink.put(sink.ctx, part, s->second, err);
	if (asker->is_first) {
		s->sent_at_second = asker->answer.bytes.len;
		report->warning.code = s->warning;
		ret = ret ? ret : s->result;
	}
	free(part);
	return ret;
}

static int put_slowly(void *ctx, const void *bytes, size_t len,
		      struct error *err)
{
	struct asker *asker = ctx;

	if (asker->is_first && asker->s->stalls) {
		set(asker->s, &asker->s->is_begun);
		await(asker->s, &asker->s->is_other_done);
	}
	return put(&asker->answer, bytes, len, err);
}

static void *ask(void *arg)
{
	struct asker *asker = arg;
	struct scene *s = asker->s;
	struct plan_question q = s->k.question;
	const struct progress_out progress = {.poll = poll_waiting, .ctx = s};
	const struct packing_send_options options = {.progress = &progress};
	const struct pack_sink sink = {.put = put_slowly, .ctx = asker};
	struct plan_entry *used;
	struct error err = ERROR_INIT;

	asker->answer = (struct answer){BUF_INIT, 0};
	q.options = &options;
	q.make = make_parts;
	q.make_ctx = asker;
	asker->ret = plan_cache_send(s->cache, &used, &q, &sink, &asker->report,
				     &err);
	plan_cache_release(s->cache, used);
	if (!asker->is_first)
		set(s, &s->is_other_done);
	return NULL;
}

/*
 * Runs `nr` requests, each in a thread. The second and later requests start
 * when the first has begun to make the pack. Waits until all requests have
 * ended.
 */
static void run(struct scene *s, struct asker *askers, unsigned nr)
{
	pthread_t threads[8];

	assert_true(nr <= ARRAY_NR(threads));
	for (unsigned i = 0; i < nr; i++) {
		askers[i] = (struct asker){.s = s, .is_first = !i};
		if (i == 1)
			await(s, &s->is_begun);
		assert_int_equal(sys_thread_start(&threads[i], ask, &askers[i]),
				 0);
	}
	for (unsigned i = 0; i < nr; i++)
		sys_thread_join(threads[i]);
}

static void assert_parts(const struct scene *s, const struct asker *asker)
{
	assert_int_equal(asker->ret, 0);
	assert_int_equal(asker->answer.bytes.len, 1 + s->second);
	for (size_t i = 0; i <= s->second; i++)
		assert_int_equal(asker->answer.bytes.data[i], i ? 'b' : 'a');
	assert_int_equal(asker->report.objects, 7);
}

static void release(struct asker *askers, unsigned nr)
{
	for (unsigned i = 0; i < nr; i++)
		buf_release(&askers[i].answer.bytes);
}

/*
 * Makes one more request, while no other request runs. The report must say
 * `expected`.
 */
static void ask_alone(struct scene *s, const char *expected)
{
	struct asker asker = {.s = s};

	ask(&asker);
	assert_parts(s, &asker);
	assert_string_equal(asker.report.response_plan, expected);
	release(&asker, 1);
}

static void test_join(void **state)
{
	struct scene s;
	struct asker askers[8];

	scene_init(&s);
	s.waits_for_other = true;
	run(&s, askers, 8);
	for (unsigned i = 0; i < 8; i++) {
		assert_parts(&s, &askers[i]);
		assert_int_equal(askers[i].report.count_ns, i ? 0 : 8);
	}
	assert_int_equal(s.makers, 1);
	assert_string_equal(askers[0].report.response_plan, "made");
	/*
	 * A request that begins after the plan (cached response) was complete
	 * finds it and does not wait.
	 */
	for (unsigned i = 1; i < 8; i++)
		assert_true(!strcmp(askers[i].report.response_plan, "joined") ||
			    !strcmp(askers[i].report.response_plan, "hit"));
	/*
	 * While other requests wait for the plan (cached response), the pack is
	 * made as fast as possible. In this time, nothing is sent to the first
	 * client: it has only the byte that was sent before.
	 */
	assert_int_equal(s.sent_at_second, 1);
	ask_alone(&s, "hit");
	release(askers, 8);
	scene_release(&s);
}

static void test_failed_maker(void **state)
{
	struct scene s;
	struct asker askers[2];

	scene_init(&s);
	s.waits_for_other = true;
	s.result = ERR_IO;
	run(&s, askers, 2);
	assert_int_equal(askers[0].ret, ERR_IO);
	assert_parts(&s, &askers[1]);
	assert_string_equal(askers[1].report.response_plan, "made");
	assert_int_equal(s.makers, 2);
	release(askers, 2);
	scene_release(&s);
}

/*
 * If a pack was made with a warning, its plan (cached response) is not kept.
 * Another attempt may make a better pack.
 */
static void test_warning(void **state)
{
	struct scene s;
	struct asker askers[2];

	scene_init(&s);
	s.waits_for_other = true;
	s.warning = ERR_CORRUPT;
	run(&s, askers, 2);
	for (unsigned i = 0; i < 2; i++) {
		assert_parts(&s, &askers[i]);
		assert_string_equal(askers[i].report.response_plan, "made");
	}
	release(askers, 2);
	scene_release(&s);
}

/*
 * The client of the request that makes the pack does not read. The second
 * request must not wait for that client: it makes the pack itself.
 */
static void test_stalled_maker(void **state)
{
	struct scene s;
	struct asker askers[2];

	scene_init(&s);
	s.stalls = true;
	run(&s, askers, 2);
	for (unsigned i = 0; i < 2; i++) {
		assert_parts(&s, &askers[i]);
		assert_string_equal(askers[i].report.response_plan, "made");
	}
	assert_int_equal(s.makers, 2);
	ask_alone(&s, "hit");
	release(askers, 2);
	scene_release(&s);
}

static void test_too_large(void **state)
{
	struct scene s;
	struct asker askers[2];

	scene_init(&s);
	s.waits_for_other = true;
	s.second = CACHE_MAX / 4 + 1;
	run(&s, askers, 2);
	assert_parts(&s, &askers[0]);
	assert_parts(&s, &askers[1]);
	assert_string_equal(askers[0].report.response_plan, "made");
	assert_string_equal(askers[1].report.response_plan, "bypassed");
	assert_string_equal(askers[1].report.no_response_plan,
			    "the plan is too large");
	ask_alone(&s, "bypassed");
	assert_int_equal(plan_cache_size(s.cache), 0);
	release(askers, 2);
	scene_release(&s);
}

/*
 * Callback begin_sending() of a plan recorder. Returns true, which means that
 * other requests wait for the plan (cached response). The client of the first
 * request may be slow, and the other requests should not wait for this client.
 * So the recorder sends nothing to this client until the plan is complete: it
 * holds back all bytes.
 */
static bool begin_behind(void *ctx)
{
	return true;
}

static void do_nothing(void *ctx)
{
}

/*
 * The recorder holds back all bytes, because other requests wait for the plan
 * (see begin_behind()). The bytes come from no pack, so the plan stores them
 * itself, as literals. Then the plan (cached response) exceeds its maximum
 * size, and the recorder gives up the plan. Before the recorder frees the plan,
 * the sink must get all bytes that were held back. put() must get the literals,
 * also the long ones, because put_pinned() may use bytes after the call.
 */
static void test_literals_of_a_plan_that_ends(void **state)
{
	struct answer a = {BUF_INIT, 0};
	struct plan plan = PLAN_INIT;
	struct plan_recorder recorder = {
		.sink = {put, &a, NULL, put_pinned},
		.plan = &plan,
		.max = 20000,
		.begin_sending = begin_behind,
		.end_sending = do_nothing,
		.give_up = do_nothing,
	};
	struct pack_sink sink = plan_recorder_sink(&recorder);
	char bytes[15000];

	memset(bytes, 'x', sizeof(bytes));
	assert_int_equal(sink.put(sink.ctx, bytes, sizeof(bytes), NULL), 0);
	assert_int_equal(a.bytes.len, 0);
	assert_int_equal(sink.put(sink.ctx, bytes, sizeof(bytes), NULL), 0);
	assert_int_equal(a.bytes.len, 2 * sizeof(bytes));
	assert_int_equal(a.pinned, 0);
	buf_release(&a.bytes);
}

/*
 * The client of a waiting request disconnects. This request ends with
 * ERR_CANCELLED. The request that makes the pack still gets its response.
 */
static void test_cancelled(void **state)
{
	struct scene s;
	struct asker askers[2];

	scene_init(&s);
	s.waits_for_other = true;
	s.poll_result = 1;
	run(&s, askers, 2);
	assert_parts(&s, &askers[0]);
	assert_int_equal(askers[1].ret, ERR_CANCELLED);
	assert_int_equal(s.makers, 1);
	release(askers, 2);
	scene_release(&s);
}

/* ---- room */

/* Makes a request whose only want is an id made from a number. */
static void ask_number(struct scene *s, uint8_t number, const char *expected)
{
	s->k.want.bytes[0] = number;
	ask_alone(s, expected);
	assert_true(plan_cache_size(s->cache) <= CACHE_MAX);
}

static void test_eviction(void **state)
{
	struct scene s;

	scene_init(&s);
	s.second = CACHE_MAX / 8;
	for (uint8_t i = 0; i < 4; i++)
		ask_number(&s, i, "made");
	for (uint8_t i = 4; i < 16; i++) {
		ask_number(&s, i, "made");
		/*
		 * Plan 0 (a cached response) is used again and again. So it
		 * must not be evicted.
		 */
		ask_number(&s, 0, "hit");
	}
	ask_number(&s, 1, "made"); /* plan 1 was dropped */
	scene_release(&s);
}

static void test_forget(void **state)
{
	struct scene s;
	const int other = 0;

	scene_init(&s);
	ask_number(&s, 1, "made");
	s.k.question.owner = &other;
	ask_number(&s, 1, "made");
	plan_cache_forget(s.cache, &s.k);
	ask_number(&s, 1, "hit");
	s.k.question.owner = &s.k;
	ask_number(&s, 1, "made");
	scene_release(&s);
}

static void test_no_owner(void **state)
{
	struct asker asker = {0};
	struct scene s;

	scene_init(&s);
	s.k.question.owner = NULL;
	asker.s = &s;
	ask(&asker);
	assert_parts(&s, &asker);
	assert_string_equal(asker.report.response_plan, "bypassed");
	assert_string_equal(asker.report.no_response_plan,
			    "the packs are not shared");
	release(&asker, 1);
	scene_release(&s);
}

/* ---- packs that lack objects */

/*
 * A client that may be able to download a pack of 9 bytes from elsewhere.
 * `is_offered`: it can download the pack now.
 */
struct client {
	struct packing_elsewhere elsewhere;
	bool is_offered;
	unsigned makes, tells;
	/*
	 * Whether the last call of tell() said that the pack was left out of
	 * the response.
	 */
	bool is_left_out;
};

static bool is_offered(void *ctx, const struct oid *checksum, uint64_t len)
{
	const struct client *c = ctx;

	return c->is_offered && len == 9;
}

static int tell(void *ctx, const bool *left_out, const struct oid *pack,
		struct error *err)
{
	struct client *c = ctx;

	c->tells++;
	c->is_left_out = pack;
	return 0;
}

static int identify_nothing(void *ctx, struct hash_ctx *hash, struct error *err)
{
	return 1;
}

/*
 * A substitute for packing_send(). It sends "short" if the client can download
 * the pack of 9 bytes, otherwise "complete".
 */
static int make_lacking(void *ctx, const struct odb *odb,
			const struct packing_request *request,
			const struct packing_send_options *options,
			struct pack_sink sink, struct packing_report *report,
			struct error *err)
{
	const struct packing_elsewhere *e = request->elsewhere;
	const struct oid pack = {{1}};
	struct client *c = ctx;
	bool lacks = e && e->has_pack(e->ctx, &pack, 9);

	c->makes++;
	*report = (struct packing_report){.objects = 1};
	if (e && e->tell(e->ctx, NULL, lacks ? &pack : NULL, err) < 0)
		return ERR_IO;
	return sink.put(sink.ctx, lacks ? "short" : "complete", lacks ? 5 : 8,
			err);
}

static void ask_client(struct plan_cache *cache, struct keyed *k,
		       struct client *c, bool takes_uris, const char *expected,
		       const char *how)
{
	struct answer a = {BUF_INIT, 0};
	const struct pack_sink sink = {.put = put, .ctx = &a};
	struct packing_report report;
	struct plan_entry *used;

	c->elsewhere = (struct packing_elsewhere){.has_pack = is_offered,
						  .identify = identify_nothing,
						  .tell = tell,
						  .ctx = c};
	k->request.elsewhere = takes_uris ? &c->elsewhere : NULL;
	k->question.make = make_lacking;
	k->question.make_ctx = c;
	assert_int_equal(plan_cache_send(cache, &used, &k->question, &sink,
					 &report, NULL),
			 0);
	plan_cache_release(cache, used);
	assert_int_equal(a.bytes.len, strlen(expected));
	assert_memory_equal(a.bytes.data, expected, a.bytes.len);
	assert_string_equal(report.response_plan, how);
	buf_release(&a.bytes);
}

/*
 * Some plans (cached responses) leave out a pack that the client downloads
 * elsewhere. A client gets such a plan only if it accepts URIs and can still
 * download the pack. The callback tell() is called once for each such client.
 */
static void test_elsewhere(void **state)
{
	struct plan_cache *cache = plan_cache_new(CACHE_MAX, NULL);
	struct client c = {.is_offered = true};
	struct keyed k;

	assert_non_null(cache);
	keyed_init(&k);
	ask_client(cache, &k, &c, true, "short", "made");
	assert_true(c.is_left_out && c.tells == 1 && c.makes == 1);
	c.is_left_out = false;
	ask_client(cache, &k, &c, true, "short", "hit");
	assert_true(c.is_left_out && c.tells == 2 && c.makes == 1);
	ask_client(cache, &k, &c, false, "complete", "made");
	ask_client(cache, &k, &c, false, "complete", "hit");
	assert_true(c.tells == 2 && c.makes == 2);
	c.is_offered = false;
	ask_client(cache, &k, &c, true, "complete", "bypassed");
	assert_true(!c.is_left_out && c.tells == 3 && c.makes == 3);
	plan_cache_free(cache);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_requests),
		cmocka_unit_test(test_key),
		cmocka_unit_test(test_key_elsewhere),
		cmocka_unit_test(test_no_key),
		cmocka_unit_test(test_elsewhere),
		cmocka_unit_test(test_join),
		cmocka_unit_test(test_failed_maker),
		cmocka_unit_test(test_warning),
		cmocka_unit_test(test_stalled_maker),
		cmocka_unit_test(test_too_large),
		cmocka_unit_test(test_literals_of_a_plan_that_ends),
		cmocka_unit_test(test_cancelled),
		cmocka_unit_test(test_eviction),
		cmocka_unit_test(test_forget),
		cmocka_unit_test(test_no_owner),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
