/* SPDX-License-Identifier: MIT */
/*
 * Keeps plans, and lets requests wait for a plan that another one makes.
 *
 * An entry is listed while requests may find it. `users` counts the requests
 * that use an entry, and one more while it is listed. Who takes the count to
 * zero frees the entry.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "plans/plan-cache.h"
#include "sys/clock.h"
#include "sys/thread.h"

/* More plans are rarely useful, and are looked for one by one. */
#define ENTRY_MAX 1024

#define MS_NS UINT64_C(1000000)

/* How often a waiting request looks around. */
#define LOOK_NS (20 * MS_NS)

/* A request does not wait for a plan whose maker waits for its client so long.
 */
#define STALL_NS (50 * MS_NS)

enum state {
	MAKING, /* a thread makes the plan, and only that thread reads it */
	READY,
	TOO_LARGE, /* there will be no plan: do not wait for one */
};

/* All fields are under cache->lock, except for `plan`. */
struct plan_entry {
	struct plan_entry *next; /* listed: the last used is the first */
	bool is_listed;
	unsigned users;
	const void *owner;
	uint8_t key[PLAN_KEY_LEN];
	enum state state;
	bool is_awaited; /* another request wants the plan */
	/* while bytes go to the client of the maker: since when; else 0 */
	uint64_t sending_ns;
	size_t size; /* of the plan, once it is READY */
	struct plan plan;
	struct packing_report report; /* valid once the plan is READY */
};

struct plan_cache {
	size_t max; /* bytes */
	pthread_mutex_t lock;
	pthread_cond_t change; /* an entry has another state, or is unlisted */
	/* under `lock` */
	struct plan_entry *first;
	size_t nr, size;
};

struct plan_cache *plan_cache_new(size_t max)
{
	struct plan_cache *cache = mem_calloc(1, sizeof(*cache));

	if (!cache)
		return NULL;
	if (sys_wake_init(&cache->change)) {
		free(cache);
		return NULL;
	}
	cache->max = max;
	pthread_mutex_init(&cache->lock, NULL);
	return cache;
}

/* ---- the list; these functions need cache->lock */

static void drop(struct plan_entry *e)
{
	if (--e->users)
		return;
	plan_release(&e->plan);
	free(e);
}

static void unlist(struct plan_cache *cache, struct plan_entry *e)
{
	struct plan_entry **at = &cache->first;

	if (!e->is_listed)
		return;
	while (*at != e)
		at = &(*at)->next;
	*at = e->next;
	e->is_listed = false;
	cache->nr--;
	cache->size -= e->size;
	pthread_cond_broadcast(&cache->change);
	drop(e);
}

static void list(struct plan_cache *cache, struct plan_entry *e)
{
	e->is_listed = true;
	e->users++;
	e->next = cache->first;
	cache->first = e;
	cache->nr++;
}

/* Returns the entry, which is the first now, or NULL. */
static struct plan_entry *find(struct plan_cache *cache, const void *owner,
			       const uint8_t *key)
{
	for (struct plan_entry **at = &cache->first; *at; at = &(*at)->next) {
		struct plan_entry *e = *at;

		if (e->owner != owner || memcmp(e->key, key, PLAN_KEY_LEN) != 0)
			continue;
		*at = e->next;
		e->next = cache->first;
		cache->first = e;
		return e;
	}
	return NULL;
}

/* Returns the entry that was used last among those that nobody waits for. */
static struct plan_entry *find_oldest(const struct plan_cache *cache)
{
	struct plan_entry *oldest = NULL;

	for (struct plan_entry *e = cache->first; e; e = e->next)
		if (e->state != MAKING)
			oldest = e;
	return oldest;
}

/* Keep within the limits. An entry that is used is freed after its last use. */
static void make_room(struct plan_cache *cache)
{
	while (cache->size > cache->max || cache->nr > ENTRY_MAX) {
		struct plan_entry *e = find_oldest(cache);

		if (!e)
			return;
		unlist(cache, e);
	}
}

void plan_cache_free(struct plan_cache *cache)
{
	if (!cache)
		return;
	while (cache->first)
		unlist(cache, cache->first);
	pthread_cond_destroy(&cache->change);
	pthread_mutex_destroy(&cache->lock);
	free(cache);
}

void plan_cache_forget(struct plan_cache *cache, const void *owner)
{
	struct plan_entry *next;

	if (!cache)
		return;
	pthread_mutex_lock(&cache->lock);
	for (struct plan_entry *e = cache->first; e; e = next) {
		next = e->next;
		if (e->owner == owner)
			unlist(cache, e);
	}
	pthread_mutex_unlock(&cache->lock);
}

size_t plan_cache_size(struct plan_cache *cache)
{
	size_t size;

	pthread_mutex_lock(&cache->lock);
	size = cache->size;
	pthread_mutex_unlock(&cache->lock);
	return size;
}

void plan_cache_release(struct plan_cache *cache, struct plan_entry *entry)
{
	if (!entry)
		return;
	pthread_mutex_lock(&cache->lock);
	drop(entry);
	pthread_mutex_unlock(&cache->lock);
}

/* ---- looking up */

/* Returns a new listed entry with one user, or NULL if memory runs out. */
static struct plan_entry *begin(struct plan_cache *cache, const void *owner,
				const uint8_t *key)
{
	struct plan_entry *e = mem_calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	*e = (struct plan_entry){.users = 1, .owner = owner, .plan = PLAN_INIT};
	memcpy(e->key, key, PLAN_KEY_LEN);
	list(cache, e);
	make_room(cache);
	return e;
}

static bool is_stalled(const struct plan_entry *e)
{
	return e->sending_ns && sys_clock_ns() - e->sending_ns > STALL_NS;
}

/*
 * Wait a moment for an entry that is being made. The caller has looked for the
 * entry under the lock, and looks again afterwards.
 */
static int wait_for(struct plan_cache *cache, struct plan_entry *e,
		    const struct progress_out *progress, struct error *err)
{
	int ret;

	e->users++;
	e->is_awaited = true;
	sys_wake_wait(&cache->change, &cache->lock, LOOK_NS);
	if (e->state == MAKING && is_stalled(e))
		unlist(cache, e);
	drop(e);
	pthread_mutex_unlock(&cache->lock);
	/* The client may need to hear that the server works. */
	ret = progress_ask(progress, "Waiting for an equal request", 0, err);
	pthread_mutex_lock(&cache->lock);
	return ret;
}

/*
 * Returns 0 with an entry that is READY, TOO_LARGE, or MAKING for the caller to
 * make, or with NULL if memory runs out. Returns a negative error code if
 * options->progress cancels the work.
 */
static int look_up(struct plan_entry **out, bool *has_waited,
		   struct plan_cache *cache, const struct plan_question *q,
		   const uint8_t *key, struct error *err)
{
	struct plan_entry *e;
	int ret = 0;

	pthread_mutex_lock(&cache->lock);
	while (!ret && (e = find(cache, q->owner, key)) && e->state == MAKING) {
		*has_waited = true;
		ret = wait_for(cache, e, q->options->progress, err);
	}
	if (!ret && e)
		e->users++;
	else if (!ret)
		e = begin(cache, q->owner, key);
	*out = ret ? NULL : e;
	pthread_mutex_unlock(&cache->lock);
	return ret;
}

/* ---- making */

/* A plan that a thread makes. */
struct making {
	struct plan_cache *cache;
	struct plan_entry *entry;
	struct plan_recorder recorder;
};

/*
 * Note when bytes go to the client, so that other requests do not wait for a
 * slow one.
 */
static bool begin_sending(void *ctx)
{
	struct making *m = ctx;
	bool is_awaited;

	pthread_mutex_lock(&m->cache->lock);
	is_awaited = m->entry->is_awaited;
	m->entry->sending_ns = is_awaited ? 0 : sys_clock_ns();
	pthread_mutex_unlock(&m->cache->lock);
	return is_awaited;
}

static void end_sending(void *ctx)
{
	struct making *m = ctx;

	pthread_mutex_lock(&m->cache->lock);
	m->entry->sending_ns = 0;
	pthread_mutex_unlock(&m->cache->lock);
}

static void give_up(void *ctx)
{
	struct making *m = ctx;

	pthread_mutex_lock(&m->cache->lock);
	m->entry->state = TOO_LARGE;
	pthread_cond_broadcast(&m->cache->change);
	pthread_mutex_unlock(&m->cache->lock);
}

/* Let others have the plan, unless it failed or is too large. */
static void publish(struct making *m, bool is_complete,
		    const struct packing_report *report)
{
	struct plan_entry *e = m->entry;

	pthread_mutex_lock(&m->cache->lock);
	if (!is_complete) {
		unlist(m->cache, e);
	} else if (e->state == MAKING && e->is_listed) {
		e->report = *report;
		e->state = READY;
		e->size = sizeof(*e) + plan_size(&e->plan);
		m->cache->size += e->size;
		make_room(m->cache);
		pthread_cond_broadcast(&m->cache->change);
	}
	pthread_mutex_unlock(&m->cache->lock);
}

static int make_with(const struct plan_question *q, struct pack_sink sink,
		     struct packing_report *report, struct error *err)
{
	return q->make ? q->make(q->make_ctx, q->odb, q->request, q->options,
				 sink, report, err)
		       : packing_send(q->odb, q->request, q->options, sink,
				      report, err);
}

static int make(struct plan_cache *cache, struct plan_entry *entry,
		const struct plan_question *q, const struct pack_sink *sink,
		struct packing_report *report, struct error *err)
{
	struct making m = {
		.cache = cache,
		.entry = entry,
		.recorder = {.sink = *sink,
			     .plan = &entry->plan,
			     .max = cache->max / 4,
			     .begin_sending = begin_sending,
			     .end_sending = end_sending,
			     .give_up = give_up,
			     .ctx = &m},
	};
	int ret = make_with(q, plan_recorder_sink(&m.recorder), report, err);

	publish(&m, !ret && !report->warning.code, report);
	report->response_plan = "made";
	return ret < 0 ? ret : plan_recorder_finish(&m.recorder, err);
}

/* ---- sending */

/* The report of a pack whose objects were not looked for. */
static void copy_report(struct packing_report *out,
			const struct packing_report *made)
{
	*out = *made;
	out->bytes_verbatim += made->bytes_recompressed;
	out->bytes_recompressed = 0;
	out->bitmaps_used = out->pseudo_merges_used = out->commits_walked = 0;
	out->count_ns = out->reuse_ns = out->search_ns = out->write_ns = 0;
}

static int send_ready(struct plan_entry *e, bool has_waited,
		      const struct pack_sink *sink,
		      struct packing_report *report, struct error *err)
{
	uint64_t start = sys_clock_ns();
	int ret = plan_send(&e->plan, sink, err);

	copy_report(report, &e->report);
	report->reuse_ns = sys_clock_ns() - start;
	report->response_plan = has_waited ? "joined" : "hit";
	return ret;
}

int plan_cache_send(struct plan_cache *cache, struct plan_entry **used,
		    const struct plan_question *question,
		    const struct pack_sink *sink, struct packing_report *report,
		    struct error *err)
{
	uint8_t key[PLAN_KEY_LEN];
	struct plan_entry *e = NULL;
	bool has_waited = false;
	const char *reason;
	int ret = plan_cache_key(key, &reason, question, err);

	*used = NULL;
	if (ret > 0)
		ret = look_up(&e, &has_waited, cache, question, key, err);
	if (ret < 0)
		return ret;
	*used = e;
	if (e && e->state == READY)
		return send_ready(e, has_waited, sink, report, err);
	if (e && e->state == MAKING)
		return make(cache, e, question, sink, report, err);
	ret = make_with(question, *sink, report, err);
	report->response_plan = "bypassed";
	report->no_response_plan = e        ? "the plan is too large"
				   : reason ? reason
					    : "out of memory";
	return ret;
}
