/* SPDX-License-Identifier: MIT */
/*
 * Keeps plans (cached responses), and lets requests wait for a plan that
 * another request makes.
 *
 * An entry is listed while requests may find it. `users` counts the requests
 * that use an entry, and one more while it is listed. When the count becomes
 * zero, the entry is freed.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "plans/plan-cache.h"
#include "sys/clock.h"
#include "sys/thread.h"

/*
 * Maximum number of plans (cached responses). More plans are rarely useful, and
 * the list is searched one by one.
 */
#define ENTRY_MAX 1024

#define MS_NS UINT64_C(1000000)

/*
 * Interval in which a waiting request checks the entry, and the maximum time
 * that it waits; nanoseconds.
 */
#define LOOK_NS (20 * MS_NS)
#define WAIT_MAX_NS (120000 * MS_NS)

/*
 * Time in nanoseconds. If the maker of a plan (a cached response) waits this
 * long for its own client to take bytes, other requests stop waiting for the
 * plan.
 */
#define STALL_NS (50 * MS_NS)

enum state {
	/*
	 * A thread makes the plan. Only this thread uses `plan` until the state
	 * changes.
	 */
	MAKING,
	READY,
	/* the plan is too large, so there will be none: do not wait for it */
	TOO_LARGE,
};

/* cache->lock guards all fields except `plan`. */
struct plan_entry {
	/*
	 * the next entry of cache->first, a list with the most recently used
	 * entry first
	 */
	struct plan_entry *next;
	bool is_listed;
	unsigned users;
	const void *owner;
	uint8_t key[PLAN_KEY_LEN];
	enum state state;
	/* true: another request wants the plan */
	bool is_awaited;
	/*
	 * time at which the maker of the plan began to send bytes to its
	 * client; 0: the maker is not sending
	 */
	uint64_t sending_ns;
	/*
	 * the plan and the memory that it takes up, in bytes; valid once the
	 * state is READY
	 */
	size_t size;
	struct plan plan;
	/*
	 * what packing_send() reported about the pack of the plan; valid once
	 * the state is READY
	 */
	struct packing_report report;
};

struct plan_cache {
	size_t max;                 /* maximum size, in bytes */
	const struct plan_dir *dir; /* borrowed; NULL: none */
	pthread_mutex_t lock;
	/*
	 * signalled when the state of an entry changes, or an entry leaves the
	 * list
	 */
	pthread_cond_t change;
	/* `lock` guards the fields below */
	struct plan_entry *first;
	size_t nr, size;
};

struct plan_cache *plan_cache_new(size_t max, const struct plan_dir *dir)
{
	struct plan_cache *cache = mem_calloc(1, sizeof(*cache));

	if (!cache)
		return NULL;
	if (sys_wake_init(&cache->change)) {
		free(cache);
		return NULL;
	}
	cache->max = max;
	cache->dir = dir;
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

/*
 * Returns the entry with this key and moves it to the start of the list.
 * Returns NULL if there is no such entry.
 */
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

/*
 * Returns the entry that was not used for the longest time, among the entries
 * whose plan is not being made. Returns NULL if there is no such entry.
 */
static struct plan_entry *find_oldest(const struct plan_cache *cache)
{
	struct plan_entry *oldest = NULL;

	for (struct plan_entry *e = cache->first; e; e = e->next)
		if (e->state != MAKING)
			oldest = e;
	return oldest;
}

/*
 * Removes the least recently used entries from the list, until the list is
 * within the limits of bytes and of entries. An entry whose plan is being made
 * stays. An entry that a request uses is freed later, when the request ends.
 */
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

/*
 * Returns a new entry, counted as used by the caller, or NULL if memory runs
 * out. An entry without `owner` is not listed, so other requests cannot find
 * it.
 */
static struct plan_entry *begin(struct plan_cache *cache, const void *owner,
				const uint8_t *key)
{
	struct plan_entry *e = mem_calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	*e = (struct plan_entry){.users = 1, .owner = owner, .plan = PLAN_INIT};
	memcpy(e->key, key, PLAN_KEY_LEN);
	if (owner)
		list(cache, e);
	make_room(cache);
	return e;
}

static bool is_stalled(const struct plan_entry *e)
{
	return e->sending_ns && sys_clock_ns() - e->sending_ns > STALL_NS;
}

/*
 * Wait until the entry changes, but at most LOOK_NS. The caller holds
 * cache->lock, which is released during the wait. So the caller looks for the
 * entry again afterwards. Returns 0, or a negative error code if `progress`
 * cancels the work.
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
	/* Tell the waiting client that the server is still working. */
	ret = progress_ask(progress, "Waiting for an equal request", 0, err);
	pthread_mutex_lock(&cache->lock);
	return ret;
}

/*
 * Finds or adds the entry of a plan (a cached response) by its key. Waits while
 * another request makes the plan. If this takes too long, adds a second entry
 * with the same key.
 *
 * Returns 0 with *out set; *out is NULL if memory ran out. If the state of the
 * entry is MAKING, the caller must make the plan. Otherwise the state is READY
 * or TOO_LARGE. Returns a negative error code if q->options->progress cancels
 * the work.
 */
static int look_up(struct plan_entry **out, bool *has_waited,
		   struct plan_cache *cache, const struct plan_question *q,
		   const uint8_t *key, struct error *err)
{
	struct plan_entry *e = NULL;
	uint64_t begun_ns = sys_clock_ns();
	int ret = 0;

	pthread_mutex_lock(&cache->lock);
	while (!ret && q->owner && (e = find(cache, q->owner, key)) &&
	       e->state == MAKING) {
		*has_waited = true;
		if (sys_clock_ns() - begun_ns > WAIT_MAX_NS)
			unlist(cache, e);
		else
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

/* The state of making a plan (a cached response) together with its pack. */
struct making {
	struct plan_cache *cache;
	struct plan_entry *entry;
	struct plan_recorder recorder;
	const struct plan_question *question;
	const uint8_t *key;
	uint8_t shared[PLAN_KEY_LEN]; /* the key in the directory */
	struct plan_claim claim;
};

/*
 * Called before the maker of a plan (a cached response) sends bytes to its
 * client. Returns true if another request waits for the plan: the maker must
 * then complete the plan before it sends. Otherwise stores the present time in
 * the plan's entry and returns false. A later request for the plan looks at the
 * stored time: if it is long ago, the maker's client is slow.
 */
static bool begin_sending(void *ctx)
{
	struct making *m = ctx;
	bool is_awaited = plan_claim_begin_sending(&m->claim);

	pthread_mutex_lock(&m->cache->lock);
	is_awaited |= m->entry->is_awaited;
	m->entry->sending_ns = is_awaited ? 0 : sys_clock_ns();
	pthread_mutex_unlock(&m->cache->lock);
	if (is_awaited)
		plan_claim_end_sending(&m->claim);
	return is_awaited;
}

static void end_sending(void *ctx)
{
	struct making *m = ctx;

	plan_claim_end_sending(&m->claim);
	pthread_mutex_lock(&m->cache->lock);
	m->entry->sending_ns = 0;
	pthread_mutex_unlock(&m->cache->lock);
}

static void give_up(void *ctx)
{
	struct making *m = ctx;

	plan_claim_give_up(&m->claim);
	pthread_mutex_lock(&m->cache->lock);
	m->entry->state = TOO_LARGE;
	pthread_cond_broadcast(&m->cache->change);
	pthread_mutex_unlock(&m->cache->lock);
}

/*
 * Makes the plan available to other requests. If the plan is not complete,
 * removes the entry instead. If the plan is too large, the entry stays in the
 * state TOO_LARGE. Returns whether other requests in this process have waited
 * for the plan.
 */
static bool publish(struct making *m, bool is_complete,
		    const struct packing_report *report)
{
	struct plan_entry *e = m->entry;
	bool is_awaited;

	pthread_mutex_lock(&m->cache->lock);
	is_awaited = e->is_awaited;
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
	return is_awaited;
}

/*
 * Store a complete plan in the directory. If the shallow boundary has changed
 * meanwhile, nothing is stored, because the plan may belong to the old or to
 * the new boundary.
 */
static void store(struct making *m, bool is_awaited,
		  const struct packing_report *report)
{
	uint8_t now[PLAN_KEY_LEN];

	if (!m->cache->dir || m->entry->state == TOO_LARGE)
		return;
	if (plan_cache_shared_key(now, m->key, m->question, NULL) < 0 ||
	    memcmp(now, m->shared, PLAN_KEY_LEN) != 0)
		m->claim.reason = "the repository has changed";
	else
		plan_claim_store(&m->claim, &m->entry->plan, report,
				 m->question->odb, is_awaited);
}

static int make_with(const struct plan_question *q,
		     const struct packing_request *request,
		     struct pack_sink sink, struct packing_report *report,
		     struct error *err)
{
	return q->make ? q->make(q->make_ctx, q->odb, request, q->options, sink,
				 report, err)
		       : packing_send(q->odb, request, q->options, sink, report,
				      err);
}

/*
 * Makes the pack, and notes in the plan which objects the pack lacks because
 * the client gets them from elsewhere. *is_noted is set to false if the notes
 * are incomplete; the plan is then dropped. Returns the result of making the
 * pack.
 */
static int make_noting(struct making *m, bool *is_noted,
		       struct packing_report *report, struct error *err)
{
	struct packing_request request = *m->question->request;
	struct pack_sink sink = plan_recorder_sink(&m->recorder);
	struct plan_elsewhere noting = {.has_failed = false};
	struct packing_elsewhere elsewhere;
	int ret;

	if (request.elsewhere) {
		elsewhere = plan_elsewhere_note(&noting, request.elsewhere,
						&m->entry->plan.absent);
		request.elsewhere = &elsewhere;
	}
	ret = make_with(m->question, &request, sink, report, err);
	*is_noted = !noting.has_failed;
	return ret;
}

static int make(struct making *m, const struct pack_sink *sink,
		struct packing_report *report, struct error *err)
{
	struct plan_cache *cache = m->cache;
	size_t stored_max = cache->dir ? plan_dir_plan_max(cache->dir) : 0;
	bool is_complete, is_awaited, is_noted;
	int ret;

	m->recorder = (struct plan_recorder){
		.sink = *sink,
		.plan = &m->entry->plan,
		.max = cache->max / 4 > stored_max ? cache->max / 4
						   : stored_max,
		.begin_sending = begin_sending,
		.end_sending = end_sending,
		.give_up = give_up,
		.ctx = m,
	};
	ret = make_noting(m, &is_noted, report, err);
	is_complete = !ret && !report->warning.code && is_noted;
	is_awaited = publish(m, is_complete, report);
	if (is_complete)
		store(m, is_awaited, report);
	report->response_plan = "made";
	report->no_response_plan = m->claim.reason;
	plan_claim_release(&m->claim);
	return ret < 0 ? ret : plan_recorder_finish(&m->recorder, err);
}

/*
 * Look for the plan in the directory. Returns 1 if the plan was found and is
 * now in m->entry, 0 if the caller must make the plan, or a negative error
 * code.
 */
static int find_stored(struct making *m, bool *has_waited, struct error *err)
{
	const struct plan_question *q = m->question;
	struct packing_report report;
	int ret;

	if (!m->cache->dir)
		return 0;
	if (plan_cache_shared_key(m->shared, m->key, q, NULL) < 0) {
		m->claim.reason = "the repository cannot be examined";
		return 0;
	}
	ret = plan_dir_find(&m->claim, &m->entry->plan, &report, has_waited,
			    m->cache->dir, m->shared, q->odb,
			    q->options->progress, err);
	if (ret > 0) {
		m->entry->report = report;
		plan_claim_release(&m->claim);
	}
	if (ret)
		publish(m, ret > 0, &report);
	return ret;
}

/* ---- sending */

/*
 * Copies to *out the report `made`, which was written when the pack of a plan
 * was made. The numbers about work that is not repeated, such as durations,
 * become 0. Recompressed objects and their bytes are counted as copied, because
 * now they are copied from the plan. The report says nothing about the choice
 * of a bitmap index, because a plan needs no index.
 */
static void copy_report(struct packing_report *out,
			const struct packing_report *made)
{
	*out = *made;
	out->pack_reused = made->objects - made->reused;
	out->bytes_verbatim += made->bytes_recompressed;
	out->bytes_recompressed = 0;
	out->bitmaps_used = out->pseudo_merges_used = out->commits_walked = 0;
	out->price_us = out->queue_ns = 0;
	out->no_bitmap = NULL;
	out->plan = (struct bitmap_plan){.reason = NULL};
	out->warning = (struct error)ERROR_INIT;
	out->count_ns = out->reuse_ns = out->search_ns = out->write_ns = 0;
}

/*
 * Makes the pack without using or recording a plan (a cached response).
 * `reason` says why; it becomes report->no_response_plan. Returns 0 or a
 * negative error code.
 */
static int bypass(const struct plan_question *q, const char *reason,
		  const struct pack_sink *sink, struct packing_report *report,
		  struct error *err)
{
	int ret = make_with(q, q->request, *sink, report, err);

	report->response_plan = "bypassed";
	report->no_response_plan = reason;
	return ret;
}

static int send_ready(struct plan_entry *e, bool has_waited,
		      const struct plan_question *q,
		      const struct pack_sink *sink,
		      struct packing_report *report, struct error *err)
{
	uint64_t start = sys_clock_ns();
	int ret = plan_elsewhere_tell(&e->plan.absent, q->request->elsewhere,
				      err);

	if (!ret)
		return bypass(q,
			      "objects that the plan leaves out are no longer "
			      "published",
			      sink, report, err);
	if (ret > 0)
		ret = plan_send(&e->plan, sink, err);
	copy_report(report, &e->report);
	report->reuse_ns = sys_clock_ns() - start;
	report->response_plan = has_waited ? "joined" : "hit";
	return ret;
}

/*
 * Looks in the directory for the plan (a cached response), and sends its pack.
 * If the directory does not have the plan, makes the pack and its plan. On
 * entry, `entry` is in the state MAKING, and this thread is its maker. Returns
 * 0 or a negative error code.
 */
static int find_or_make(struct plan_cache *cache, struct plan_entry *entry,
			const struct plan_question *q, const uint8_t *key,
			const struct pack_sink *sink,
			struct packing_report *report, struct error *err)
{
	struct making m = {.cache = cache,
			   .entry = entry,
			   .question = q,
			   .key = key,
			   .claim.locks = -1};
	bool has_waited = false;
	int ret = find_stored(&m, &has_waited, err);

	if (ret < 0)
		return ret;
	return ret ? send_ready(entry, has_waited, q, sink, report, err)
		   : make(&m, sink, report, err);
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
	/* If there is no memory for a plan, send the pack without a plan. */
	if (ret == ERR_NOMEM) {
		reason = NULL;
		ret = 0;
	}
	if (ret > 0 && !question->owner && !cache->dir) {
		reason = "the packs are not shared";
		ret = 0;
	}
	if (ret > 0)
		ret = look_up(&e, &has_waited, cache, question, key, err);
	if (ret < 0)
		return ret;
	*used = e;
	if (e && e->state == READY)
		return send_ready(e, has_waited, question, sink, report, err);
	if (e && e->state == MAKING)
		return find_or_make(cache, e, question, key, sink, report, err);
	return bypass(question,
		      e        ? "the plan is too large"
		      : reason ? reason
			       : "out of memory",
		      sink, report, err);
}

int plan_cache_send_alone(struct plan_cache *cache,
			  const struct plan_question *question,
			  const struct pack_sink *sink,
			  struct packing_report *report, struct error *err)
{
	const struct odb *odb = question->odb;
	struct plan_entry *used;
	int ret;

	for (uint32_t i = 0; i < odb->pack_nr; i++)
		odb->packs[i].pack->is_pinned = true;
	ret = plan_cache_send(cache, &used, question, sink, report, err);
	plan_cache_release(cache, used);
	return ret;
}
