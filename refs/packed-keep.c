/* SPDX-License-Identifier: MIT */
/* Keeps the packed-refs file mapped. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "refs/packed-keep.h"
#include "sys/witness.h"

struct note {
	/* a note; if key.len is 0, the slot has no note */
	struct buf key, text;
	uint64_t number;
};

struct held {
	struct packed_kept kept; /* the first member */
	/*
	 * Number of snapshots that use the map, plus 1 while the map is the
	 * current one of the struct packed_keep. Guarded by the lock of that
	 * struct.
	 */
	unsigned users;
	struct sys_witness witness;
	/* Guarded by keep->lock: */
	struct note notes[PACKED_KEEP_NOTES];
	/* index of the note that packed_keep_add_note() replaces next */
	size_t next_note;
};

struct packed_keep {
	const char *head; /* borrowed, or NULL */
	pthread_mutex_t lock;
	struct held *now; /* under `lock`; NULL: none */
};

struct packed_keep *packed_keep_new(const char *head)
{
	struct packed_keep *keep = mem_calloc(1, sizeof(*keep));

	if (!keep)
		return NULL;
	keep->head = head;
	pthread_mutex_init(&keep->lock, NULL);
	return keep;
}

const char *packed_keep_head(const struct packed_keep *keep)
{
	return keep->head;
}

static void release_note(struct note *note)
{
	buf_release(&note->key);
	buf_release(&note->text);
}

static void put(struct packed_keep *keep, struct held *held)
{
	bool is_last;

	if (!held)
		return;
	pthread_mutex_lock(&keep->lock);
	is_last = !--held->users;
	pthread_mutex_unlock(&keep->lock);
	if (!is_last)
		return;
	packed_refs_release(&held->kept.table);
	sys_witness_release(&held->witness);
	for (size_t i = 0; i < PACKED_KEEP_NOTES; i++)
		release_note(&held->notes[i]);
	free(held);
}

void packed_keep_free(struct packed_keep *keep)
{
	if (!keep)
		return;
	put(keep, keep->now);
	pthread_mutex_destroy(&keep->lock);
	free(keep);
}

static struct held *take(struct packed_keep *keep)
{
	struct held *held;

	pthread_mutex_lock(&keep->lock);
	held = keep->now;
	if (held)
		held->users++;
	pthread_mutex_unlock(&keep->lock);
	return held;
}

static void replace(struct packed_keep *keep, struct held *held)
{
	struct held *before;

	pthread_mutex_lock(&keep->lock);
	before = keep->now;
	keep->now = held;
	held->users++;
	pthread_mutex_unlock(&keep->lock);
	put(keep, before);
}

static int open_file(struct held **out, const char *path, enum hash_algo algo,
		     struct error *err)
{
	struct held *held = mem_calloc(1, sizeof(*held));
	int ret;

	if (!held)
		return error_nomem(err);
	held->users = 1;
	for (size_t i = 0; i < PACKED_KEEP_NOTES; i++)
		held->notes[i] = (struct note){BUF_INIT, BUF_INIT, 0};
	sys_witness_init(&held->witness);
	ret = packed_refs_open(&held->kept.table, path, algo, err);
	if (ret < 0) {
		free(held);
		return ret;
	}
	sys_witness_add(&held->witness, path, SYS_WITNESS_CONTENT);
	*out = held;
	return 0;
}

int packed_keep_get(const struct packed_kept **out, struct packed_keep *keep,
		    const char *path, enum hash_algo algo, struct error *err)
{
	struct held *held = take(keep);
	int ret = 0;

	if (held && !sys_witness_holds(&held->witness)) {
		put(keep, held);
		held = NULL;
	}
	if (!held) {
		ret = open_file(&held, path, algo, err);
		/*
		 * A map is kept for other snapshots only if the file's times
		 * can later prove that the file is unchanged (sys/witness.h).
		 * They cannot prove this for a file that was changed a moment
		 * ago.
		 */
		if (!ret && sys_witness_holds(&held->witness))
			replace(keep, held);
	}
	if (!ret)
		*out = &held->kept;
	return ret;
}

static struct held *held_of(const struct packed_kept *kept)
{
	return (struct held *)(uintptr_t)kept;
}

void packed_keep_put(struct packed_keep *keep, const struct packed_kept *kept)
{
	put(keep, held_of(kept));
}

/* ---- notes */

static struct note *find_note(struct held *held, const struct buf *key)
{
	for (size_t i = 0; i < PACKED_KEEP_NOTES; i++) {
		struct note *note = &held->notes[i];

		if (note->key.len && note->key.len == key->len &&
		    !memcmp(note->key.data, key->data, key->len))
			return note;
	}
	return NULL;
}

int packed_keep_find_note(struct buf *out, uint64_t *number,
			  struct packed_keep *keep,
			  const struct packed_kept *kept, const struct buf *key)
{
	const struct note *note;
	int ret = 0;

	pthread_mutex_lock(&keep->lock);
	note = find_note(held_of(kept), key);
	if (note) {
		ret = buf_append(out, note->text.data, note->text.len);
		*number = note->number;
	}
	pthread_mutex_unlock(&keep->lock);
	return ret < 0 ? ret : note != NULL;
}

void packed_keep_add_note(struct packed_keep *keep,
			  const struct packed_kept *kept, const struct buf *key,
			  const void *bytes, size_t len, uint64_t number)
{
	struct held *held = held_of(kept);
	struct note note = {BUF_INIT, BUF_INIT, number}, *at;

	if (!key->len || key->len > PACKED_KEEP_NOTE_MAX ||
	    len > PACKED_KEEP_NOTE_MAX)
		return;
	if (buf_append(&note.key, key->data, key->len) < 0 ||
	    buf_append(&note.text, bytes, len) < 0) {
		release_note(&note);
		return;
	}
	pthread_mutex_lock(&keep->lock);
	at = find_note(held, key);
	if (!at)
		at = &held->notes[held->next_note++ % PACKED_KEEP_NOTES];
	release_note(at);
	*at = note;
	pthread_mutex_unlock(&keep->lock);
}
