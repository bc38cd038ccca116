/* SPDX-License-Identifier: MIT */
/* Keeps the packed-refs file mapped. */
#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"
#include "refs/packed-keep.h"
#include "sys/witness.h"

struct held {
	struct packed_kept kept; /* the first member */
	/*
	 * Number of snapshots that use the map, plus 1 while the map is the
	 * current one of the struct packed_keep. Guarded by the lock of that
	 * struct.
	 */
	unsigned users;
	struct sys_witness witness;
};

struct packed_keep {
	pthread_mutex_t lock;
	struct held *now; /* under `lock`; NULL: none */
};

struct packed_keep *packed_keep_new(void)
{
	struct packed_keep *keep = mem_calloc(1, sizeof(*keep));

	if (keep)
		pthread_mutex_init(&keep->lock, NULL);
	return keep;
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
		 * If the file has changed a moment ago, its times cannot prove
		 * later that the file is unchanged (sys/witness.h). Such a map
		 * is not kept for others.
		 */
		if (!ret && sys_witness_holds(&held->witness))
			replace(keep, held);
	}
	if (!ret)
		*out = &held->kept;
	return ret;
}

void packed_keep_put(struct packed_keep *keep, const struct packed_kept *kept)
{
	put(keep, (struct held *)(uintptr_t)kept);
}
