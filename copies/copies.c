/* SPDX-License-Identifier: MIT */
/*
 * The local copies of a node. An entry keeps the last answer of the store about
 * one repository. The lock of the struct protects the entries. No thread uses
 * the disk or the store while it holds the lock.
 *
 *	idle -> a request asks (is_asking) -> idle, with the answer
 *	           other requests wait
 *
 * All repositories are in one store, so whether the store answers is recorded
 * once for all entries:
 *
 *	up -> the store did not answer a question -> down: for DOWN_NS nobody
 *	      asks; then one request asks (is_probing) -> up or down
 *
 * While the store is down, all requests except the probing one are answered at
 * once, from a stale copy or by an error.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "copies/copies.h"
#include "copies/offers.h"
#include "copies/trim.h"
#include "stored/fetch.h"
#include "sys/clock.h"
#include "sys/io.h"

#define BUCKET_NR 256
#define ENTRY_MAX 4096
/*
 * The time at which a copy was last used is written to the disk at most once in
 * this number of nanoseconds.
 */
#define TOUCH_NS UINT64_C(10000000000)
/*
 * Minimum number of nanoseconds between two reports (is_news) that the copy of
 * a repository is stale.
 */
#define NEWS_NS UINT64_C(60000000000)
/*
 * If the store gave no answer to a question that took at least SLOW_NS
 * nanoseconds, the store is taken to be down for DOWN_NS nanoseconds. During
 * this time, the store is not asked. If a question fails in less than SLOW_NS,
 * for example because the connection is refused, the store is not taken to be
 * down.
 */
#define DOWN_NS UINT64_C(5000000000)
#define SLOW_NS UINT64_C(2500000000)
/*
 * Minimum number of nanoseconds between two questions to a store in S3 about
 * one repository: whether the store still has the generation of the copy. A
 * store in a local directory is asked each time, because this costs only a few
 * system calls.
 */
#define PROVE_NS UINT64_C(10000000000)
/*
 * The cache is trimmed when a 64th of the budget (TRIM_PART) was downloaded
 * since the last trim. It is also trimmed each TRIM_NS nanoseconds, because
 * other processes put files into the cache, too.
 */
#define TRIM_PART 64
#define TRIM_NS UINT64_C(600000000000)

/*
 * Identifies one version of the marker file of a copy; a refresh makes a new
 * file. All zero: there is no marker file.
 */
struct identity {
	uint64_t ino, size;
	int64_t mtime_ns;
};

struct entry {
	char *name; /* owned */
	struct entry *next;
	/* neighbours in the order of the last use; NULL: none */
	struct entry *newer, *older;
	/*
	 * number of requests that are in stored_copies_enter() with this entry
	 */
	unsigned users;
	bool is_asking;
	/*
	 * the last answer of the store about this repository: the time of the
	 * question, and the result
	 */
	uint64_t asked_ns;
	int ret;
	struct error err;
	/*
	 * time at which the copy last had the newest generation for certain; 0:
	 * not known
	 */
	uint64_t newest_ns;
	/*
	 * `marker` identifies the version of the copy's marker file that this
	 * process read last. `known` is the generation in that version; only
	 * its number, parent and token are set.
	 */
	struct identity marker;
	struct generation known;
	uint64_t touched_ns, news_ns;
	/*
	 * time at which the store last proved that it has the generation of the
	 * copy; 0: not known
	 */
	uint64_t proved_ns;
};

struct stored_copies {
	struct stored_node *node; /* owned */
	uint64_t budget, max_age_ns, stale_ns, absent_ns;
	/* protects all fields below */
	pthread_mutex_t lock;
	pthread_cond_t answered;
	struct entry *buckets[BUCKET_NR]; /* owned */
	/* the entries with the newest and the oldest use; NULL: no entry */
	struct entry *newest, *oldest;
	size_t entry_nr;
	struct stored_absent *absent; /* owned */
	/*
	 * is_down: true if the store does not answer. is_probing: true if a
	 * request is asking whether the store answers again. down_until_ns:
	 * before this time, no request asks the store. down_err: the error of
	 * the question that found the store down.
	 */
	bool is_down, is_probing;
	uint64_t down_until_ns;
	struct error down_err;
	/*
	 * time of the last trim of the cache, and stored_cache_downloaded() at
	 * that time
	 */
	uint64_t trimmed_ns, trimmed_at;
};

int stored_copies_open(struct stored_copies **out,
		       const struct stored_copies_options *options,
		       struct error *err)
{
	struct stored_copies *copies = mem_calloc(1, sizeof(*copies));
	int ret;

	*out = NULL;
	if (!copies)
		return error_nomem(err);
	copies->absent = stored_absent_new();
	ret = copies->absent ? stored_node_make(&copies->node, options->dir,
						&options->origin, err)
			     : error_nomem(err);
	if (ret) {
		stored_absent_free(copies->absent);
		free(copies);
		return ret;
	}
	copies->budget = options->budget;
	copies->max_age_ns = options->max_age_ns;
	copies->stale_ns = options->stale_ns;
	copies->absent_ns = options->absent_ns;
	pthread_mutex_init(&copies->lock, NULL);
	pthread_cond_init(&copies->answered, NULL);
	*out = copies;
	return 0;
}

static void entry_free(struct entry *e)
{
	free(e->name);
	free(e);
}

void stored_copies_close(struct stored_copies *copies)
{
	if (!copies)
		return;
	for (size_t i = 0; i < BUCKET_NR; i++)
		while (copies->buckets[i]) {
			struct entry *e = copies->buckets[i];

			copies->buckets[i] = e->next;
			entry_free(e);
		}
	pthread_cond_destroy(&copies->answered);
	pthread_mutex_destroy(&copies->lock);
	stored_node_close(copies->node);
	stored_absent_free(copies->absent);
	free(copies);
}

struct stored_node *stored_copies_node(struct stored_copies *copies)
{
	return copies->node;
}

/* ---- entries */

static struct entry **bucket_of(struct stored_copies *copies, const char *name)
{
	return &copies->buckets[stored_node_use_lock(name) / 2 % BUCKET_NR];
}

/* Adds an entry to the list of entries, as the one that was used last. */
static void link_newest(struct stored_copies *copies, struct entry *e)
{
	e->newer = NULL;
	e->older = copies->newest;
	*(e->older ? &e->older->newer : &copies->oldest) = e;
	copies->newest = e;
}

/* Removes an entry from the list that has the order of the last use. */
static void unlink_entry(struct stored_copies *copies, struct entry *e)
{
	*(e->newer ? &e->newer->older : &copies->newest) = e->older;
	*(e->older ? &e->older->newer : &copies->oldest) = e->newer;
}

/* Removes and frees an entry. */
static void drop(struct stored_copies *copies, struct entry *e)
{
	struct entry **p = bucket_of(copies, e->name);

	while (*p != e)
		p = &(*p)->next;
	*p = e->next;
	unlink_entry(copies, e);
	entry_free(e);
	copies->entry_nr--;
}

/* Of the entries that no request uses, frees the least recently used one. */
static void drop_oldest(struct stored_copies *copies)
{
	struct entry *e = copies->oldest;

	while (e && e->users)
		e = e->newer;
	if (e)
		drop(copies, e);
}

/*
 * Returns the entry of a repository, or NULL if memory runs out. If there is no
 * entry, makes one. The entry becomes the one that was used last.
 */
static struct entry *find_entry(struct stored_copies *copies, const char *name)
{
	struct entry **bucket = bucket_of(copies, name), *e;

	for (e = *bucket; e; e = e->next)
		if (!strcmp(e->name, name)) {
			unlink_entry(copies, e);
			link_newest(copies, e);
			return e;
		}
	if (copies->entry_nr >= ENTRY_MAX)
		drop_oldest(copies);
	e = mem_calloc(1, sizeof(*e));
	if (e)
		e->name = mem_strdup(name);
	if (!e || !e->name) {
		free(e);
		return NULL;
	}
	e->next = *bucket;
	*bucket = e;
	link_newest(copies, e);
	copies->entry_nr++;
	return e;
}

/*
 * Ends the use of an entry; `ret` is the result of the request that used it. If
 * the store does not have the repository, the entry is freed. Clients can ask
 * for any number of missing repositories, and entries for them would displace
 * useful ones.
 */
static void leave_entry(struct stored_copies *copies, struct entry *e, int ret)
{
	if (!--e->users && ret == ERR_MISSING)
		drop(copies, e);
}

/* ---- repositories that the store does not have */

/*
 * Notes whether the store had the repository: `ret` is the result of a question
 * that was sent at time `asked`. Nothing is noted after an error.
 */
static void note_absent(struct stored_copies *copies, const char *name,
			uint64_t asked, int ret)
{
	uint32_t hash = stored_node_use_lock(name) / 2;

	if (!copies->absent_ns)
		return;
	if (ret == ERR_MISSING)
		stored_absent_note(copies->absent, name, hash, asked);
	else if (!ret)
		stored_absent_forget(copies->absent, name, hash);
}

/*
 * Returns whether the store was asked a short time ago, and did not have the
 * repository. Sets *err in this case.
 */
static bool is_absent(struct stored_copies *copies, const char *name,
		      uint64_t now, struct error *err)
{
	if (!copies->absent_ns ||
	    !stored_absent_has(copies->absent, name,
			       stored_node_use_lock(name) / 2, now,
			       copies->absent_ns))
		return false;
	error_set(err, ERR_MISSING, "'%s' is not in the store", name);
	return true;
}

/* ---- the files of a copy */

static struct identity identify(const struct stored_copy *copy)
{
	char *path = stored_join(stored_copy_dir(copy), REPO_COPY_MARKER, NULL);
	struct identity id = {0, 0, 0};
	struct sys_stat st;

	if (path && !sys_stat(&st, path, NULL))
		id = (struct identity){st.ino, st.size, st.mtime_ns};
	free(path);
	return id;
}

static bool is_same(const struct identity *a, const struct identity *b)
{
	return a->ino == b->ino && a->size == b->size &&
	       a->mtime_ns == b->mtime_ns;
}

/*
 * Returns whether a copy still has the generation *known. *marker identifies
 * the marker file from which *known was read, and *found the present marker
 * file of the copy. If the copy has no marker file, returns false.
 */
static bool is_still(const struct generation *known,
		     const struct identity *marker,
		     const struct identity *found)
{
	return known->number && found->ino && is_same(found, marker);
}

static void touch(const struct stored_copy *copy)
{
	char *path = stored_join(stored_copy_dir(copy), STORED_COPY_USED, NULL);

	if (path)
		sys_touch(path, NULL);
	free(path);
}

/*
 * Returns the number of nanoseconds since the copy was last known to be up to
 * date; UINT64_MAX: not known. `newest_ns`: the field of the copy's entry.
 */
static uint64_t age_of(uint64_t newest_ns, const struct stored_copy *copy,
		       uint64_t now)
{
	char *path;
	struct sys_stat st;
	uint64_t age = UINT64_MAX;

	if (newest_ns)
		return now - newest_ns;
	path = stored_join(stored_copy_dir(copy), STORED_COPY_USED, NULL);
	if (path && !sys_stat(&st, path, NULL) && st.mtime_ns > 0) {
		int64_t seconds = sys_clock_seconds() -
				  st.mtime_ns / 1000000000;

		/* Ignore a time of last use that is in the future. */
		if (seconds >= 0)
			age = (uint64_t)(seconds + 1) * 1000000000;
	}
	free(path);
	return age;
}

/* ---- the budget */

/* Returns whether it is time to trim the cache. The caller has the lock. */
static bool is_trim_due(struct stored_copies *copies)
{
	uint64_t downloaded = stored_cache_downloaded(copies->node->cache);
	uint64_t now = sys_clock_ns(), new_bytes;
	bool is_due;

	new_bytes = downloaded > copies->trimmed_at
			    ? downloaded - copies->trimmed_at
			    : 0;
	is_due = !copies->trimmed_ns ||
		 (copies->budget && new_bytes > copies->budget / TRIM_PART) ||
		 now - copies->trimmed_ns > TRIM_NS;
	if (is_due) {
		copies->trimmed_ns = now;
		copies->trimmed_at = downloaded;
	}
	return is_due;
}

/*
 * Evicts half of the cached bytes, because the disk is full. Returns whether
 * there may be more space now.
 */
static bool make_room(struct stored_copies *copies)
{
	struct stored_trim trim;
	uint64_t before;

	if (stored_trim_run(&trim, copies->node, 0, NULL) || trim.is_busy)
		return trim.is_busy;
	before = trim.bytes;
	return before > 1 &&
	       !stored_trim_run(&trim, copies->node, before / 2, NULL) &&
	       trim.bytes < before;
}

static int refresh(struct stored_copies *copies, struct stored_copy *copy,
		   struct error *err)
{
	struct error why = ERROR_INIT;
	int ret = stored_copy_refresh(copy, &why);

	if (ret == ERR_IO &&
	    (why.sys_errno == ENOSPC || why.sys_errno == EDQUOT) &&
	    make_room(copies))
		ret = stored_copy_refresh(copy, &why);
	if (ret)
		*err = why;
	return ret;
}

/* ---- an outage of the store */

/*
 * Returns whether the store is down and must not be asked now, because a
 * question would wait in vain.
 */
static bool is_silent(const struct stored_copies *copies)
{
	return copies->is_down &&
	       (copies->is_probing || sys_clock_ns() < copies->down_until_ns);
}

/*
 * Records whether the store is down, from the result `ret` of a question that
 * was sent at time `asked`. A failure of the local disk sets err->sys_errno,
 * and says nothing about the store.
 */
static void note_answer(struct stored_copies *copies, int ret,
			const struct error *err, uint64_t asked)
{
	uint64_t now = sys_clock_ns();

	copies->is_down = ret == ERR_IO && !err->sys_errno &&
			  now - asked >= SLOW_NS;
	if (copies->is_down) {
		copies->down_until_ns = now + DOWN_NS;
		copies->down_err = *err;
	}
}

/* ---- entering */

/*
 * Copies the number, the parent and the token of *g: the fields that
 * stored_copy_assume() needs.
 */
static void remember(struct generation *known, const struct generation *g)
{
	known->number = g->number;
	memcpy(known->parent, g->parent, sizeof(g->parent));
	memcpy(known->token, g->token, sizeof(g->token));
}

/*
 * Asks the store for the newest generation, and brings the copy to this
 * generation. Releases the lock during this time, and takes it again.
 */
static void ask(struct stored_copies *copies, struct entry *e,
		struct stored_use *use)
{
	struct stored_copy *copy = use->copy;
	struct generation known = e->known;
	const struct identity marker = e->marker;
	struct identity before, after;
	uint64_t asked = sys_clock_ns();
	struct error err = ERROR_INIT;
	bool is_due = asked - e->touched_ns > TOUCH_NS || !e->touched_ns;
	bool is_doubtful = !copies->node->probe || !e->proved_ns ||
			   asked - e->proved_ns > PROVE_NS;
	bool is_probe = copies->is_down;
	int ret;

	e->is_asking = true;
	if (is_probe)
		copies->is_probing = true;
	pthread_mutex_unlock(&copies->lock);
	before = identify(copy);
	/*
	 * Without a known generation, the refresh reads the marker. *copy may
	 * have an old generation, because this request may have asked the store
	 * before.
	 */
	if (!is_still(&known, &marker, &before))
		known = (struct generation){0};
	stored_copy_assume(copy, &known);
	if (is_doubtful)
		stored_copy_doubt(copy);
	ret = refresh(copies, copy, &err);
	if (!ret && is_due)
		touch(copy);
	/*
	 * The marker is the file that says which generation (version of the
	 * repository) the copy has. e->known is the generation that this
	 * process remembers for the copy. If another process replaces the
	 * marker during this function, e->known may become older than the
	 * marker. This is harmless: the next request asks the store once more.
	 */
	after = identify(copy);
	if (!is_same(&before, &after))
		use->how = before.ino ? STORED_LOOKUP_REFRESHED
				      : STORED_LOOKUP_MADE;
	pthread_mutex_lock(&copies->lock);
	e->is_asking = false;
	if (is_probe)
		copies->is_probing = false;
	note_answer(copies, ret, &err, asked);
	e->asked_ns = asked;
	e->ret = ret;
	e->err = err;
	note_absent(copies, e->name, asked, ret);
	if (!ret) {
		e->newest_ns = asked;
		e->marker = after;
		e->known.number = 0;
		if (after.ino)
			remember(&e->known, stored_copy_generation(copy));
		if (is_due)
			e->touched_ns = asked;
		if (is_doubtful && !stored_copy_is_doubted(copy))
			e->proved_ns = asked;
	}
	pthread_cond_broadcast(&copies->answered);
}

/*
 * Returns whether the copy was found to be the newest at most max_age_ns ago,
 * so that the store need not be asked.
 */
static bool is_fresh(const struct stored_copies *copies, const struct entry *e,
		     uint64_t arrival)
{
	return copies->max_age_ns && e->newest_ns &&
	       (e->newest_ns >= arrival ||
		arrival - e->newest_ns < copies->max_age_ns);
}

/*
 * Finds out which generation the copy has. The marker file of the copy may be
 * large, so it is read only if it is not the version that e->marker identifies.
 * Releases the lock of *copies meanwhile, and takes it again. Returns whether
 * the copy has a generation and was up to date at most stale_ns ago.
 */
static bool load_stale(struct stored_copies *copies, struct entry *e,
		       struct stored_copy *copy, uint64_t now)
{
	const struct generation known = e->known;
	const struct identity marker = e->marker;
	uint64_t newest_ns = e->newest_ns;
	struct identity found;
	bool is_known, is_loaded = false;

	pthread_mutex_unlock(&copies->lock);
	found = identify(copy);
	is_known = is_still(&known, &marker, &found);
	if (age_of(newest_ns, copy, now) > copies->stale_ns)
		is_known = false;
	else if (is_known)
		stored_copy_assume(copy, &known);
	else
		is_loaded = !stored_copy_load(copy, NULL);
	pthread_mutex_lock(&copies->lock);
	/* The copy may have been made after `found` was read. */
	if (is_loaded && found.ino) {
		e->marker = found;
		remember(&e->known, stored_copy_generation(copy));
	}
	return is_known || is_loaded;
}

/*
 * Returns whether the copy may be served although the store does not answer. If
 * so, sets the flags of *use. The caller has the lock, which is released for
 * some time.
 */
static bool is_stale_allowed(struct stored_copies *copies, struct entry *e,
			     struct stored_use *use)
{
	uint64_t now = sys_clock_ns();

	if (!copies->stale_ns || !load_stale(copies, e, use->copy, now))
		return false;
	/* load_stale() releases the lock: e->news_ns may be new. */
	now = sys_clock_ns();
	use->is_stale = true;
	use->is_news = !e->news_ns || now - e->news_ns > NEWS_NS;
	if (use->is_news)
		e->news_ns = now;
	return true;
}

/*
 * Returns the result of the last question to the store. If the question failed,
 * but the old copy may be served, returns 0.
 */
static int take_answer(struct stored_copies *copies, struct entry *e,
		       struct stored_use *use, struct error *err)
{
	int ret = e->ret;

	if (ret && err)
		*err = e->err;
	if (ret && ret != ERR_MISSING && ret != ERR_NOMEM &&
	    is_stale_allowed(copies, e, use))
		ret = 0;
	return ret;
}

/*
 * Decides about a request while the store is down, without asking the store.
 * Returns 0 if the copy may be served although it may be old, otherwise ERR_IO.
 */
static int do_without(struct stored_copies *copies, struct entry *e,
		      struct stored_use *use, struct error *err)
{
	if (err)
		*err = copies->down_err;
	return is_stale_allowed(copies, e, use) ? 0 : ERR_IO;
}

/*
 * Returns whether the copy exists. Another process may have evicted it before
 * this process took the lock USE. Releases the lock of *copies for the look at
 * the disk, and takes it again.
 */
static bool look_for_copy(struct stored_copies *copies,
			  const struct stored_use *use)
{
	bool is_there;

	pthread_mutex_unlock(&copies->lock);
	is_there = identify(use->copy).ino != 0;
	pthread_mutex_lock(&copies->lock);
	return is_there;
}

static int enter_entry(struct stored_copies *copies, struct entry *e,
		       struct stored_use *use, uint64_t arrival,
		       struct error *err)
{
	for (;;) {
		bool is_there = look_for_copy(copies, use);

		if (is_fresh(copies, e, arrival) && is_there)
			return 0;
		if (e->asked_ns >= arrival && (e->ret || is_there))
			return take_answer(copies, e, use, err);
		/*
		 * Another process may have made the copy after the store was
		 * asked. So refuse only if the disk has no copy either.
		 */
		if (is_absent(copies, e->name, arrival, err) && !is_there)
			return ERR_MISSING;
		if (is_silent(copies))
			return do_without(copies, e, use, err);
		if (e->is_asking)
			pthread_cond_wait(&copies->answered, &copies->lock);
		else
			ask(copies, e, use);
	}
}

static void count(struct stored_copies *copies, const struct stored_use *use,
		  int ret)
{
	stored_counts_lookup(copies->node->counts,
			     ret == ERR_MISSING ? STORED_LOOKUP_MISSING
			     : ret              ? STORED_LOOKUP_FAILED
			     : use->is_stale    ? STORED_LOOKUP_STALE
						: use->how);
}

int stored_copies_enter(struct stored_copies *copies, struct stored_use *use,
			const char *name, struct error *err)
{
	uint64_t arrival = sys_clock_ns();
	struct stored_trim trim;
	struct entry *e;
	bool is_due = false;
	int ret = stored_copy_enter(&use->copy, copies->node, name, err);

	if (ret)
		return ret;
	pthread_mutex_lock(&copies->lock);
	e = find_entry(copies, name);
	if (e) {
		e->users++;
		ret = enter_entry(copies, e, use, arrival, err);
		leave_entry(copies, e, ret);
		is_due = !ret && is_trim_due(copies);
	} else {
		ret = error_nomem(err);
	}
	pthread_mutex_unlock(&copies->lock);
	count(copies, use, ret);
	/*
	 * Trim the cache only now, when the other waiting requests have got
	 * their answers: only this request waits for the trim.
	 */
	if (is_due)
		stored_trim_run(&trim, copies->node, copies->budget, NULL);
	if (ret)
		stored_copies_leave(use);
	return ret;
}

/*
 * Answers whether the store has a repository, if the answer is known without a
 * request to the store. Returns ERR_MISSING if the store did not have the
 * repository a short time ago, ERR_IO if the store is down, or 0 if the store
 * must be asked.
 */
static int look_before(struct stored_copies *copies, const char *name,
		       uint64_t now, struct error *err)
{
	int ret = 0;

	pthread_mutex_lock(&copies->lock);
	if (is_absent(copies, name, now, err)) {
		ret = ERR_MISSING;
	} else if (is_silent(copies)) {
		if (err)
			*err = copies->down_err;
		ret = ERR_IO;
	}
	pthread_mutex_unlock(&copies->lock);
	return ret;
}

int stored_copies_look(struct stored_copies *copies, const char *name,
		       struct error *err)
{
	uint64_t asked = sys_clock_ns();
	struct error why = ERROR_INIT;
	struct stored_copy *copy;
	int ret = stored_copy_enter(&copy, copies->node, name, err);
	bool has_copy = !ret && identify(copy).ino;

	if (!ret && !has_copy)
		ret = look_before(copies, name, asked, err);
	/*
	 * If there is a copy, the repository exists, so do not ask the store.
	 */
	if (!ret && !has_copy) {
		ret = stored_copy_look(copy, &why);
		if (ret && err)
			*err = why;
		pthread_mutex_lock(&copies->lock);
		note_answer(copies, ret, &why, asked);
		note_absent(copies, name, asked, ret);
		pthread_mutex_unlock(&copies->lock);
	}
	stored_copy_close(copy);
	return ret;
}

bool stored_copies_were_asked(const struct stored_copies *copies,
			      const struct stored_use *use)
{
	return use->copy && !use->is_stale && !copies->max_age_ns;
}

bool stored_copies_is_fresh(const struct stored_copies *copies,
			    const struct stored_use *use)
{
	return use->copy && !use->is_stale &&
	       copies->max_age_ns <=
		       STORED_OFFERS_AGE_MAX * UINT64_C(1000000000);
}

void stored_copies_leave(struct stored_use *use)
{
	stored_copy_close(use->copy);
	*use = (struct stored_use){0};
}
