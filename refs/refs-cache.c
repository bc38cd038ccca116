/* SPDX-License-Identifier: MIT */
/* Holds packed-refs, or a stack of reftables, mapped for a server. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "refs/refs-cache.h"
#include "sys/witness.h"

struct note {
	/*
	 * The key and the text of a note. A note is a text that other code has
	 * computed from the mapped refs and stores in the cache, such as a list
	 * of refs for a client. key.len is 0 if the slot is free.
	 */
	struct buf key, text;
	uint64_t number;
};

struct held {
	struct refs_cached cached; /* the first member */
	/*
	 * Number of snapshots that use the map, plus 1 while the map is the
	 * current one of its struct refs_cache. Guarded by the lock of the
	 * struct refs_cache.
	 */
	unsigned users;
	struct sys_witness witness;
	/* Guarded by cache->lock: */
	struct note notes[REFS_CACHE_NOTES];
	/* index of the note that refs_cache_add_note() replaces next */
	size_t next_note;
};

struct refs_cache {
	const char *head; /* borrowed, or NULL */
	pthread_mutex_t lock;
	struct held *now; /* under `lock`; NULL: none */
};

struct refs_cache *refs_cache_new(const char *head)
{
	struct refs_cache *cache = mem_calloc(1, sizeof(*cache));

	if (!cache)
		return NULL;
	cache->head = head;
	pthread_mutex_init(&cache->lock, NULL);
	return cache;
}

const char *refs_cache_head(const struct refs_cache *cache)
{
	return cache->head;
}

static void release_note(struct note *note)
{
	buf_release(&note->key);
	buf_release(&note->text);
}

static void put(struct refs_cache *cache, struct held *held)
{
	bool is_last;

	if (!held)
		return;
	pthread_mutex_lock(&cache->lock);
	is_last = !--held->users;
	pthread_mutex_unlock(&cache->lock);
	if (!is_last)
		return;
	packed_refs_release(&held->cached.table);
	reftable_stack_release(&held->cached.stack);
	sys_witness_release(&held->witness);
	for (size_t i = 0; i < REFS_CACHE_NOTES; i++)
		release_note(&held->notes[i]);
	free(held);
}

void refs_cache_free(struct refs_cache *cache)
{
	if (!cache)
		return;
	put(cache, cache->now);
	pthread_mutex_destroy(&cache->lock);
	free(cache);
}

static struct held *take(struct refs_cache *cache)
{
	struct held *held;

	pthread_mutex_lock(&cache->lock);
	held = cache->now;
	if (held)
		held->users++;
	pthread_mutex_unlock(&cache->lock);
	return held;
}

static void replace(struct refs_cache *cache, struct held *held)
{
	struct held *before;

	pthread_mutex_lock(&cache->lock);
	before = cache->now;
	cache->now = held;
	held->users++;
	pthread_mutex_unlock(&cache->lock);
	put(cache, before);
}

/* Where refs are stored. */
struct place {
	/*
	 * path of packed-refs; or, if is_stack, of the directory of a stack of
	 * tables
	 */
	const char *path;
	bool is_stack;
	enum hash_algo algo;
};

/*
 * Opens packed-refs, and adds the file to the witness, which tells later
 * whether the file has changed.
 */
static int open_packed(struct held *held, const struct place *place,
		       struct error *err)
{
	int ret = packed_refs_open(&held->cached.table, place->path,
				   place->algo, err);

	if (!ret)
		sys_witness_add(&held->witness, place->path,
				SYS_WITNESS_CONTENT);
	return ret;
}

static int open_stack(struct held *held, const struct place *place,
		      struct error *err)
{
	struct buf list = BUF_INIT;
	int ret = buf_printf(&list, "%s/tables.list", place->path);

	ret = ret < 0 ? error_nomem(err)
		      : reftable_stack_open(&held->cached.stack, place->path,
					    place->algo, err);
	if (!ret)
		sys_witness_add(&held->witness, list.data, SYS_WITNESS_CONTENT);
	buf_release(&list);
	return ret;
}

static int open_held(struct held **out, const struct place *place,
		     struct error *err)
{
	struct held *held = mem_calloc(1, sizeof(*held));
	int ret;

	if (!held)
		return error_nomem(err);
	held->users = 1;
	for (size_t i = 0; i < REFS_CACHE_NOTES; i++)
		held->notes[i] = (struct note){BUF_INIT, BUF_INIT, 0};
	sys_witness_init(&held->witness);
	ret = place->is_stack ? open_stack(held, place, err)
			      : open_packed(held, place, err);
	if (ret < 0) {
		free(held);
		return ret;
	}
	*out = held;
	return 0;
}

static int get(const struct refs_cached **out, struct refs_cache *cache,
	       const struct place *place, struct error *err)
{
	struct held *held = take(cache);
	int ret = 0;

	if (held && !sys_witness_holds(&held->witness)) {
		put(cache, held);
		held = NULL;
	}
	if (!held) {
		ret = open_held(&held, place, err);
		/*
		 * Later snapshots may use these maps only if the times of the
		 * file can prove that the file is still unchanged
		 * (sys/witness.h). The times of a file that was changed a
		 * moment ago prove nothing.
		 */
		if (!ret && sys_witness_holds(&held->witness))
			replace(cache, held);
	}
	if (!ret)
		*out = &held->cached;
	return ret;
}

int refs_cache_packed(const struct refs_cached **out, struct refs_cache *cache,
		      const char *path, enum hash_algo algo, struct error *err)
{
	const struct place place = {path, false, algo};

	return get(out, cache, &place, err);
}

int refs_cache_stack(const struct refs_cached **out, struct refs_cache *cache,
		     const char *dir, enum hash_algo algo, struct error *err)
{
	const struct place place = {dir, true, algo};

	return get(out, cache, &place, err);
}

static struct held *held_of(const struct refs_cached *cached)
{
	return (struct held *)(uintptr_t)cached;
}

void refs_cache_put(struct refs_cache *cache, const struct refs_cached *cached)
{
	put(cache, held_of(cached));
}

/* ---- notes */

static struct note *find_note(struct held *held, const struct buf *key)
{
	for (size_t i = 0; i < REFS_CACHE_NOTES; i++) {
		struct note *note = &held->notes[i];

		if (note->key.len && note->key.len == key->len &&
		    !memcmp(note->key.data, key->data, key->len))
			return note;
	}
	return NULL;
}

int refs_cache_find_note(struct buf *out, uint64_t *number,
			 struct refs_cache *cache,
			 const struct refs_cached *cached,
			 const struct buf *key)
{
	const struct note *note;
	int ret = 0;

	pthread_mutex_lock(&cache->lock);
	note = find_note(held_of(cached), key);
	if (note) {
		ret = buf_append(out, note->text.data, note->text.len);
		*number = note->number;
	}
	pthread_mutex_unlock(&cache->lock);
	return ret < 0 ? ret : note != NULL;
}

void refs_cache_add_note(struct refs_cache *cache,
			 const struct refs_cached *cached,
			 const struct buf *key, const void *bytes, size_t len,
			 uint64_t number)
{
	struct held *held = held_of(cached);
	struct note note = {BUF_INIT, BUF_INIT, number}, *at;

	if (!key->len || key->len > REFS_CACHE_NOTE_MAX ||
	    len > REFS_CACHE_NOTE_MAX)
		return;
	if (buf_append(&note.key, key->data, key->len) < 0 ||
	    buf_append(&note.text, bytes, len) < 0) {
		release_note(&note);
		return;
	}
	pthread_mutex_lock(&cache->lock);
	at = find_note(held, key);
	if (!at)
		at = &held->notes[held->next_note++ % REFS_CACHE_NOTES];
	release_note(at);
	*at = note;
	pthread_mutex_unlock(&cache->lock);
}
