/* SPDX-License-Identifier: MIT */
/* Counts requests in memory that all processes of the server share. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "status/statistics.h"
#include "sys/clock.h"
#include "sys/process.h"

/* ---- families */

static const char *const services[] = {"upload-pack", "receive-pack",
				       "http-backend"};
static const char *const commands[] = {"advertise",   "ls-refs",    "fetch",
				       "object-info", "bundle-uri", "push",
				       "get",         "archive",    "other"};
static const char *const protocols[] = {"0", "1", "2", "none"};
static const char *const strategies[] = {
	"none",           "bitmap",        "bitmap+walk", "walk",
	"prepared",       "prepared+walk", "stored pack", "published",
	"published+walk", "nothing",       "hook"};
static const char *const results[] = {"ok", "client", "error"};
static const char *const sources[] = {"span", "made"};
static const char *const plan_levels[] = {"request"};
static const char *const plan_results[] = {"hit", "joined", "miss", "bypass"};
/*
 * The results of the search for a plan, as the records of requests
 * (wire/summary.h) name them. The order is that of plan_results.
 */
static const char *const plan_texts[] = {"hit", "joined", "made", "bypassed"};
/* Names of enum admission_refusal. */
static const char *const refusals[ADMISSION_REFUSALS] = {
	"none", "network", "principal", "late", "connections", "address"};
static const char *const rights[] = {"read", "write"};
static const char *const directions[] = {"read", "send"};
static const char *const phase_names[] = {"answer",  "negotiate",    "pack",
					  "receive", "connectivity", "hooks",
					  "migrate", "update-refs",  "report"};

/*
 * The reasons why a walk found the objects of a pack, and no bitmap index was
 * used. "other" counts all other texts, for example the message about a damaged
 * index.
 */
static const char *const reasons[] = {
	"there is no bitmap index",
	"the client's history is shallow",
	"bitmaps are not to be used",
	"few commits are wanted, and bitmaps are far",
	"few commits are wanted, and no trees",
	"gitreach.bitmapStrategy says so",
	"other",
};

#define LABEL(id, label, list)                                                 \
	static const struct metrics_label id = {label, list, ARRAY_NR(list)}

LABEL(service, "service", services);
LABEL(command, "command", commands);
LABEL(protocol, "protocol", protocols);
LABEL(strategy, "strategy", strategies);
LABEL(result, "result", results);
LABEL(source, "source", sources);
LABEL(plan_level, "level", plan_levels);
LABEL(plan_result, "result", plan_results);
LABEL(refusal, "reason", refusals);
LABEL(right, "right", rights);
LABEL(direction, "direction", directions);
LABEL(phase, "phase", phase_names);
LABEL(reason, "reason", reasons);

/* microseconds */
static const uint64_t bounds[] = {
	250,     500,     1000,     2500,     5000,      10000,
	25000,   50000,   100000,   250000,   500000,    1000000,
	2500000, 5000000, 10000000, 30000000, 100000000, 300000000};

enum family {
	REQUESTS,
	DURATION,
	FIRST_BYTE,
	PHASE,
	CPU,
	SENT,
	RECEIVED,
	WAIT,
	UNUSED,
	PLANS,
	CRASHES,
	CONNECTIONS,
	IN_FLIGHT,
	SENDING,
	SNAPSHOTS,
	PLAN_BYTES,
	WORKERS,
	TOKENS,
	TOKENS_HELD,
	QUEUED,
	QUEUE_WAIT,
	REJECTED,
	DENIED,
	FAMILY_NR,
};

#define SECONDS 1000000

static const struct metrics_family families[FAMILY_NR] = {
	[REQUESTS] = {"gitreach_requests",
		      "Requests that have ended.",
		      METRICS_COUNTER,
		      1,
		      {&service, &command, &protocol, &strategy, &result},
		      5,
		      NULL,
		      0},
	[DURATION] = {"gitreach_request_duration_seconds",
		      "Time from the start to the end of a request.",
		      METRICS_HISTOGRAM,
		      SECONDS,
		      {&service},
		      1,
		      bounds,
		      ARRAY_NR(bounds)},
	[FIRST_BYTE] =
		{"gitreach_first_byte_seconds",
		 "Time from the start of a request to the first byte sent.",
		 METRICS_HISTOGRAM,
		 SECONDS,
		 {&service},
		 1,
		 bounds,
		 ARRAY_NR(bounds)},
	[PHASE] = {"gitreach_phase_seconds",
		   "Time in a phase of a request.",
		   METRICS_HISTOGRAM,
		   SECONDS,
		   {&phase},
		   1,
		   bounds,
		   ARRAY_NR(bounds)},
	[CPU] = {"gitreach_cpu_seconds",
		 "Processor time of requests.",
		 METRICS_COUNTER,
		 SECONDS,
		 {&service},
		 1,
		 NULL,
		 0},
	[SENT] = {"gitreach_sent_bytes",
		  "Bytes sent: copied from packs, or made for the request.",
		  METRICS_COUNTER,
		  1,
		  {&source},
		  1,
		  NULL,
		  0},
	[RECEIVED] = {"gitreach_received_bytes",
		      "Bytes received.",
		      METRICS_COUNTER,
		      1,
		      {NULL},
		      0,
		      NULL,
		      0},
	[WAIT] = {"gitreach_client_wait_seconds",
		  "Time in which requests waited for clients.",
		  METRICS_COUNTER,
		  SECONDS,
		  {&direction},
		  1,
		  NULL,
		  0},
	[UNUSED] = {"gitreach_bitmap_unused",
		    "Packs whose objects were found by a walk, without a "
		    "bitmap index.",
		    METRICS_COUNTER,
		    1,
		    {&reason},
		    1,
		    NULL,
		    0},
	[PLANS] = {"gitreach_plan_lookups",
		   "Packs by their use of plans (cached responses): hit, "
		   "joined (waited for a plan that another request made), miss "
		   "(made a plan), bypass.",
		   METRICS_COUNTER,
		   1,
		   {&plan_level, &plan_result},
		   2,
		   NULL,
		   0},
	[CRASHES] = {"gitreach_worker_crashes",
		     "Worker processes that were killed by a signal.",
		     METRICS_COUNTER,
		     1,
		     {NULL},
		     0,
		     NULL,
		     0},
	[CONNECTIONS] = {"gitreach_connections",
			 "Open connections.",
			 METRICS_GAUGE,
			 1,
			 {NULL},
			 0,
			 NULL,
			 0},
	[IN_FLIGHT] = {"gitreach_requests_in_flight",
		       "Requests that a thread is answering.",
		       METRICS_GAUGE,
		       1,
		       {NULL},
		       0,
		       NULL,
		       0},
	[SENDING] = {"gitreach_responses_sending",
		     "Answers that are made and are being sent to clients.",
		     METRICS_GAUGE,
		     1,
		     {NULL},
		     0,
		     NULL,
		     0},
	[SNAPSHOTS] = {"gitreach_snapshots_open",
		       "Repositories that are kept open.",
		       METRICS_GAUGE,
		       1,
		       {NULL},
		       0,
		       NULL,
		       0},
	[PLAN_BYTES] = {"gitreach_plan_bytes",
			"Bytes of memory that plans (cached responses) use.",
			METRICS_GAUGE,
			1,
			{NULL},
			0,
			NULL,
			0},
	[WORKERS] = {"gitreach_workers",
		     "Workers, and the process of the status page.",
		     METRICS_GAUGE,
		     1,
		     {NULL},
		     0,
		     NULL,
		     0},
	[TOKENS] = {"gitreach_admission_tokens",
		    "Expensive fetches that may run at once.",
		    METRICS_GAUGE,
		    1,
		    {NULL},
		    0,
		    NULL,
		    0},
	[TOKENS_HELD] = {"gitreach_admission_in_use",
			 "Tokens that fetches hold.",
			 METRICS_GAUGE,
			 1,
			 {NULL},
			 0,
			 NULL,
			 0},
	[QUEUED] = {"gitreach_admission_queued",
		    "Requests that wait for a token, and pushes that wait.",
		    METRICS_GAUGE,
		    1,
		    {NULL},
		    0,
		    NULL,
		    0},
	[QUEUE_WAIT] = {"gitreach_admission_wait_seconds",
			"Time for which expensive fetches waited for a token.",
			METRICS_HISTOGRAM,
			SECONDS,
			{NULL},
			0,
			bounds,
			ARRAY_NR(bounds)},
	[REJECTED] = {"gitreach_admission_rejected",
		      "Requests and connections that were refused.",
		      METRICS_COUNTER,
		      1,
		      {&refusal},
		      1,
		      NULL,
		      0},
	[DENIED] = {"gitreach_access_denied",
		    "Requests that the access helper has denied.",
		    METRICS_COUNTER,
		    1,
		    {&right},
		    1,
		    NULL,
		    0},
};

/*
 * Returns the index of a text in the list of a label's values. Returns `other`
 * if the text is NULL or not in the list.
 */
static unsigned value_of(const struct metrics_label *label, const char *text,
			 unsigned other)
{
	for (unsigned i = 0; text && i < label->nr; i++)
		if (!strcmp(label->values[i], text))
			return i;
	return other;
}

/* ---- memory */

enum {
	FREE,
	/* state: one thread is changing the path */
	WRITING,
	VALID,
};

/*
 * The cost of a repository. A thread must set `state` to WRITING before it
 * changes `path`.
 */
struct cost {
	atomic_uint state;
	_Atomic uint64_t hash;
	/*
	 * number of the last period of 10 minutes for which `requests`,
	 * `cpu_us` and `bytes_sent` were halved; see age()
	 */
	_Atomic uint64_t period;
	_Atomic uint64_t requests, cpu_us, bytes_sent;
	/* the packs of the repository; see struct status_packs */
	_Atomic uint64_t pack_nr, newest, oldest;
	char path[STATUS_PATH_MAX];
};

/*
 * An entry of the ring of slow requests. An odd `turn` means that a thread is
 * writing the entry.
 */
struct slow_entry {
	atomic_uint turn;
	struct status_slow slow;
};

/*
 * RING_NR is larger than the number of shown entries, because the oldest
 * entries may be overwritten while they are read.
 */
#define RING_NR 128
#define PROBES 8
#define PERIOD_NS (UINT64_C(600) * 1000000000)

struct shared {
	struct cost costs[STATUS_COSTS_MAX];
	/* number of entries that were ever written */
	atomic_uint slow_nr;
	struct slow_entry ring[RING_NR];
};

struct statistics {
	struct metrics *metrics; /* owned */
	struct shared *shared;   /* owned */
};

struct statistics *statistics_new(struct error *err)
{
	struct statistics *st = mem_calloc(1, sizeof(*st));

	if (!st) {
		error_nomem(err);
		return NULL;
	}
	st->metrics = metrics_new(families, FAMILY_NR, err);
	st->shared = sys_memory_shared(sizeof(*st->shared));
	if (st->metrics && st->shared)
		return st;
	statistics_free(st);
	error_nomem(err);
	return NULL;
}

void statistics_free(struct statistics *st)
{
	if (!st)
		return;
	metrics_free(st->metrics);
	if (st->shared)
		sys_memory_unshare(st->shared, sizeof(*st->shared));
	free(st);
}

/* ---- repositories */

/* Copy a text, or as much of it as fits. NULL is copied as "". */
static void copy_text(char *out, size_t size, const char *text)
{
	size_t len = text ? strlen(text) : 0;

	len = len < size ? len : size - 1;
	if (len)
		memcpy(out, text, len);
	out[len] = '\0';
}

/* Returns the FNV-1a hash of a path. */
static uint64_t hash_of(const char *path)
{
	uint64_t hash = UINT64_C(14695981039346656037);

	for (; *path; path++)
		hash = (hash ^ (unsigned char)*path) * UINT64_C(1099511628211);
	return hash;
}

static uint64_t now_period(void)
{
	return sys_clock_ns() / PERIOD_NS;
}

/* Returns `number` halved `periods` times. */
static uint64_t fade(uint64_t number, uint64_t periods)
{
	return periods < 64 ? number >> periods : 0;
}

static uint64_t faded(const _Atomic uint64_t *number, const struct cost *c,
		      uint64_t now)
{
	uint64_t since = atomic_load(&c->period);

	return fade(atomic_load(number), now > since ? now - since : 0);
}

/*
 * Halve the numbers of an entry for each period that has passed. Additions that
 * other threads make at the same moment may be lost.
 */
static void age(struct cost *c, uint64_t now)
{
	uint64_t since = atomic_load(&c->period);

	if (since >= now ||
	    !atomic_compare_exchange_strong(&c->period, &since, now))
		return;
	atomic_store(&c->requests,
		     fade(atomic_load(&c->requests), now - since));
	atomic_store(&c->cpu_us, fade(atomic_load(&c->cpu_us), now - since));
	atomic_store(&c->bytes_sent,
		     fade(atomic_load(&c->bytes_sent), now - since));
}

/*
 * Assigns an entry of the table of costs to a repository. Returns false if
 * another thread is changing the entry.
 */
static bool claim(struct cost *c, const char *path, uint64_t hash, uint64_t now)
{
	unsigned state = atomic_load(&c->state);

	if (state == WRITING ||
	    !atomic_compare_exchange_strong(&c->state, &state, WRITING))
		return false;
	copy_text(c->path, sizeof(c->path), path);
	atomic_store(&c->hash, hash);
	atomic_store(&c->period, now);
	atomic_store(&c->requests, 0);
	atomic_store(&c->cpu_us, 0);
	atomic_store(&c->bytes_sent, 0);
	atomic_store(&c->pack_nr, 0);
	atomic_store(&c->state, VALID);
	return true;
}

/*
 * Returns the entry of a repository. A repository without an entry gets one of
 * the PROBES entries that belong to the hash of its path: the one with the
 * lowest cost. Returns NULL if another thread is changing the entry at this
 * moment.
 */
static struct cost *find_cost(struct shared *sh, const char *path, uint64_t now)
{
	uint64_t hash = hash_of(path), least = UINT64_MAX;
	struct cost *cheapest = NULL;

	for (unsigned i = 0; i < PROBES; i++) {
		struct cost *c = &sh->costs[(hash + i) % STATUS_COSTS_MAX];
		unsigned state = atomic_load(&c->state);
		uint64_t cpu = state == FREE ? 0 : faded(&c->cpu_us, c, now);

		if (state == VALID && atomic_load(&c->hash) == hash)
			return c;
		if (state != WRITING && cpu < least) {
			least = cpu;
			cheapest = c;
		}
	}
	return cheapest && claim(cheapest, path, hash, now) ? cheapest : NULL;
}

static void add_cost(struct shared *sh, const char *path, uint64_t cpu_us,
		     uint64_t bytes)
{
	uint64_t now = now_period();
	struct cost *c = find_cost(sh, path, now);

	if (!c)
		return;
	age(c, now);
	atomic_fetch_add(&c->requests, 1);
	atomic_fetch_add(&c->cpu_us, cpu_us);
	atomic_fetch_add(&c->bytes_sent, bytes);
}

void statistics_note_packs(struct statistics *st, const char *path,
			   const struct status_packs *packs)
{
	struct cost *c = find_cost(st->shared, path, now_period());

	if (!c)
		return;
	atomic_store(&c->newest, packs->newest);
	atomic_store(&c->oldest, packs->oldest);
	atomic_store(&c->pack_nr, packs->nr);
}

size_t statistics_costs(const struct statistics *st,
			struct status_cost costs[STATUS_COSTS_MAX])
{
	uint64_t now = now_period();
	size_t nr = 0;

	for (size_t i = 0; i < STATUS_COSTS_MAX; i++) {
		const struct cost *c = &st->shared->costs[i];
		struct status_cost *out = &costs[nr];

		if (atomic_load(&c->state) != VALID)
			continue;
		copy_text(out->path, sizeof(out->path), c->path);
		out->requests = faded(&c->requests, c, now);
		out->cpu_us = faded(&c->cpu_us, c, now);
		out->bytes_sent = faded(&c->bytes_sent, c, now);
		out->packs = (struct status_packs){
			.nr = atomic_load(&c->pack_nr),
			.newest = atomic_load(&c->newest),
			.oldest = atomic_load(&c->oldest),
		};
		nr += out->requests > 0;
	}
	return nr;
}

/* ---- slow requests */

static void put_slow(struct shared *sh, const struct status_slow *slow)
{
	unsigned nr = atomic_fetch_add(&sh->slow_nr, 1);
	struct slow_entry *entry = &sh->ring[nr % RING_NR];
	unsigned turn = atomic_load(&entry->turn);

	if (turn & 1 ||
	    !atomic_compare_exchange_strong(&entry->turn, &turn, turn + 1))
		return;
	entry->slow = *slow;
	atomic_store(&entry->turn, turn + 2);
}

size_t statistics_slow(const struct statistics *st,
		       struct status_slow slow[STATUS_SLOW_MAX])
{
	unsigned end = atomic_load(&st->shared->slow_nr);
	size_t nr = 0;

	for (unsigned i = 0; i < RING_NR && i < end && nr < STATUS_SLOW_MAX;
	     i++) {
		const struct slow_entry *entry =
			&st->shared->ring[(end - 1 - i) % RING_NR];
		unsigned turn = atomic_load(&entry->turn);

		if (!turn || turn & 1)
			continue;
		slow[nr] = entry->slow;
		nr += atomic_load(&entry->turn) == turn;
	}
	return nr;
}

/* ---- a request */

/*
 * Returns the index in results[] of the result with an error code; 0 is
 * success.
 */
static unsigned result_of(int code)
{
	if (!code)
		return 0;
	return code == ERR_PEER ? 1 : 2;
}

/* Counts the phases of a request, and its waits for the client. */
static void count_times(struct metrics *m, const struct summary_times *times)
{
	const unsigned reading = 0, sending = 1;

	for (unsigned i = 0; i < SUMMARY_PHASE_NR; i++)
		if (times->entered[i])
			metrics_observe(m, PHASE, &i, times->phases_us[i]);
	metrics_add(m, WAIT, &reading, times->wait_read_us);
	metrics_add(m, WAIT, &sending, times->wait_send_us);
}

static void count_bytes(struct metrics *m, const struct summary *s)
{
	const unsigned span = 0, made = 1;
	uint64_t sent = s->numbers[SUMMARY_BYTES_SENT], copied = 0;

	if (s->has_numbers >> SUMMARY_BYTES_VERBATIM & 1)
		copied = s->numbers[SUMMARY_BYTES_VERBATIM];
	/*
	 * `copied` also counts bytes that the client did not accept. So count
	 * at most the bytes that were sent.
	 */
	copied = copied < sent ? copied : sent;
	metrics_add(m, SENT, &span, copied);
	metrics_add(m, SENT, &made, sent - copied);
	metrics_add(m, RECEIVED, NULL, s->numbers[SUMMARY_BYTES_RECEIVED]);
}

/*
 * Counts how a plan (a cached response) was used. `text` is the result in the
 * record of the request; NULL: there are no plans.
 */
static void count_plan(struct metrics *m, const char *text)
{
	for (unsigned i = 0; text && i < ARRAY_NR(plan_texts); i++) {
		const unsigned values[] = {0, i};

		if (!strcmp(text, plan_texts[i]))
			metrics_add(m, PLANS, values, 1);
	}
}

static uint64_t cpu_of(const struct summary *s)
{
	return s->numbers[SUMMARY_CPU_USER_US] + s->numbers[SUMMARY_CPU_SYS_US];
}

static unsigned reason_of(const struct summary *s)
{
	return value_of(&reason, summary_text(s, SUMMARY_NO_BITMAP_REASON),
			reason.nr - 1);
}

static void count(struct metrics *m, const struct summary *s,
		  const struct summary_times *times, const struct error *error)
{
	uint64_t version = s->has_numbers >> SUMMARY_PROTOCOL & 1
				   ? s->numbers[SUMMARY_PROTOCOL]
				   : 3;
	const unsigned values[] = {
		value_of(&service, s->service, 2),
		value_of(&command, s->command, command.nr - 1),
		version < 3 ? (unsigned)version : 3,
		value_of(&strategy, summary_text(s, SUMMARY_STRATEGY), 0),
		result_of(error ? error->code : 0),
	};
	unsigned why;

	metrics_add(m, REQUESTS, values, 1);
	metrics_observe(m, DURATION, values, s->numbers[SUMMARY_TOTAL_US]);
	if (s->has_numbers >> SUMMARY_FIRST_BYTE_US & 1)
		metrics_observe(m, FIRST_BYTE, values,
				s->numbers[SUMMARY_FIRST_BYTE_US]);
	metrics_add(m, CPU, values, cpu_of(s));
	count_times(m, times);
	count_bytes(m, s);
	count_plan(m, summary_text(s, SUMMARY_PLAN));
	if (!summary_text(s, SUMMARY_NO_BITMAP_REASON))
		return;
	why = reason_of(s);
	metrics_add(m, UNUSED, &why, 1);
}

/*
 * Returns whether a request took `slow_us` or more, without its waits for the
 * client.
 */
static bool is_slow(uint64_t total_us, const struct summary_times *times,
		    uint64_t slow_us)
{
	return total_us >= times->wait_read_us + times->wait_send_us + slow_us;
}

static void put_times(struct status_slow *slow,
		      const struct summary_times *times)
{
	memcpy(slow->phases_us, times->phases_us, sizeof(slow->phases_us));
	slow->wait_read_us = times->wait_read_us;
	slow->wait_send_us = times->wait_send_us;
}

static void put_slow_summary(struct shared *sh, const struct summary *s,
			     const struct summary_times *times,
			     const struct error *error)
{
	const struct summary_about *about = s->about;
	const char *why = summary_text(s, SUMMARY_NO_BITMAP_REASON);
	struct status_slow slow = {
		.end = sys_clock_seconds(),
		.strategy = strategies[value_of(
			&strategy, summary_text(s, SUMMARY_STRATEGY), 0)],
		.reason = why ? reasons[reason_of(s)] : "",
		.bytes_sent = s->numbers[SUMMARY_BYTES_SENT],
		.total_us = s->numbers[SUMMARY_TOTAL_US],
		.cpu_us = cpu_of(s),
	};

	if (s->has_numbers >> SUMMARY_OBJECTS_SENT & 1)
		slow.objects = s->numbers[SUMMARY_OBJECTS_SENT];
	copy_text(slow.path, sizeof(slow.path), s->repository);
	copy_text(slow.client, sizeof(slow.client), about ? about->client : "");
	copy_text(slow.user, sizeof(slow.user), about ? about->user : "");
	copy_text(slow.error, sizeof(slow.error), error ? error->msg : "");
	copy_text(slow.command, sizeof(slow.command), s->command);
	put_times(&slow, times);
	put_slow(sh, &slow);
}

void statistics_add(struct statistics *st, const struct summary *s,
		    const struct error *error, uint64_t slow_us)
{
	struct summary_times times;

	summary_times_take(&times, s);
	count(st->metrics, s, &times, error);
	add_cost(st->shared, s->repository, cpu_of(s),
		 s->numbers[SUMMARY_BYTES_SENT]);
	if (is_slow(s->numbers[SUMMARY_TOTAL_US], &times, slow_us))
		put_slow_summary(st->shared, s, &times, error);
}

void statistics_add_child(struct statistics *st,
			  const struct status_child_request *request,
			  uint64_t slow_us)
{
	const unsigned values[] = {
		value_of(&service, request->service, service.nr - 1),
		value_of(&command, request->command, command.nr - 1),
		3,
		0,
		result_of(request->code),
	};
	struct status_slow slow = {
		.end = sys_clock_seconds(),
		.strategy = strategies[0],
		.reason = "",
		.total_us = request->total_us,
		.cpu_us = request->cpu_us,
	};

	metrics_add(st->metrics, REQUESTS, values, 1);
	metrics_observe(st->metrics, DURATION, values, request->total_us);
	metrics_add(st->metrics, CPU, values, request->cpu_us);
	count_times(st->metrics, &request->times);
	add_cost(st->shared, request->path, request->cpu_us, 0);
	if (!is_slow(request->total_us, &request->times, slow_us))
		return;
	put_times(&slow, &request->times);
	copy_text(slow.path, sizeof(slow.path), request->path);
	copy_text(slow.client, sizeof(slow.client), request->client);
	copy_text(slow.user, sizeof(slow.user), request->user);
	copy_text(slow.command, sizeof(slow.command), request->command);
	if (request->code)
		copy_text(slow.error, sizeof(slow.error), "failed");
	put_slow(st->shared, &slow);
}

void statistics_add_wait(struct statistics *st, uint64_t us)
{
	metrics_observe(st->metrics, QUEUE_WAIT, NULL, us);
}

void statistics_add_denial(struct statistics *st, bool is_write)
{
	const unsigned asked = is_write;

	metrics_add(st->metrics, DENIED, &asked, 1);
}

void statistics_add_crash(struct statistics *st)
{
	metrics_add(st->metrics, CRASHES, NULL, 1);
}

/* ---- counters */

size_t statistics_reasons(const struct statistics *st,
			  struct status_count counts[STATUS_COUNTS_MAX])
{
	size_t nr = 0;

	for (unsigned i = 0; i < reason.nr; i++) {
		counts[nr].value = reasons[i];
		counts[nr].nr = metrics_get(st->metrics, UNUSED, &i);
		nr += counts[nr].nr > 0;
	}
	return nr;
}

size_t statistics_plans(const struct statistics *st,
			struct status_count counts[STATUS_COUNTS_MAX])
{
	size_t nr = 0;

	for (unsigned i = 0; i < ARRAY_NR(plan_results); i++) {
		const unsigned values[] = {0, i};

		counts[nr].value = plan_results[i];
		counts[nr].nr = metrics_get(st->metrics, PLANS, values);
		nr += counts[nr].nr > 0;
	}
	return nr;
}

int statistics_print(struct buf *out, struct statistics *st,
		     const struct status_now *now, enum metrics_format format)
{
	struct metrics *m = st->metrics;

	metrics_set(m, CONNECTIONS, NULL, now->connections);
	metrics_set(m, IN_FLIGHT, NULL, now->requests);
	metrics_set(m, SENDING, NULL, now->sending);
	metrics_set(m, SNAPSHOTS, NULL, now->snapshots);
	metrics_set(m, PLAN_BYTES, NULL, now->plan_bytes);
	metrics_set(m, WORKERS, NULL, now->workers);
	metrics_set(m, TOKENS, NULL, now->admission.token_nr);
	metrics_set(m, TOKENS_HELD, NULL, now->admission.tokens_held);
	metrics_set(m, QUEUED, NULL, now->admission.waiting);
	for (unsigned i = 0; i < refusal.nr; i++)
		metrics_set(m, REJECTED, &i, now->admission.refused[i]);
	return metrics_print(out, m, format);
}
