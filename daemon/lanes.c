/* SPDX-License-Identifier: MIT */
/* Requests that wait for a thread, in lanes that take turns. */
#include <stdlib.h>

#include "base/mem.h"
#include "daemon/lanes.h"

#define BUCKETS 256

/* the smallest key of a client's lane */
#define KEY_MIN 16

struct lane {
	struct lane *bucket_next;
	/*
	 * neighbours in the circular list of all lanes that have waiting items
	 */
	struct lane *next, *prev;
	uint64_t key;
	struct lane_item *first, **end;
	unsigned waiting, running;
};

struct lanes {
	unsigned thread_nr, busy;
	unsigned lane_nr;              /* number of lanes, except `spare` */
	struct lane *buckets[BUCKETS]; /* owned lanes */
	/*
	 * head of the ring of lanes (lines of requests of one client) that have
	 * waiting requests; the first lane has the next turn
	 */
	struct lane ring;
	/*
	 * the lane that clients share if there is no memory for lanes of their
	 * own
	 */
	struct lane spare;
};

struct lanes *lanes_new(unsigned thread_nr)
{
	struct lanes *lanes = mem_calloc(1, sizeof(*lanes));

	if (!lanes)
		return NULL;
	lanes->thread_nr = thread_nr;
	lanes->ring.next = lanes->ring.prev = &lanes->ring;
	lanes->spare.end = &lanes->spare.first;
	return lanes;
}

void lanes_free(struct lanes *lanes)
{
	struct lane *next;

	for (unsigned i = 0; lanes && i < BUCKETS; i++)
		for (struct lane *l = lanes->buckets[i]; l; l = next) {
			next = l->bucket_next;
			free(l);
		}
	free(lanes);
}

/* Returns the FNV-1a hash of a client's name, as a key of at least 16. */
uint64_t lanes_key(const char *client)
{
	uint64_t hash = UINT64_C(14695981039346656037);

	for (; *client; client++)
		hash = (hash ^ (unsigned char)*client) *
		       UINT64_C(1099511628211);
	return hash | KEY_MIN;
}

static struct lane **bucket(struct lanes *lanes, uint64_t key)
{
	return &lanes->buckets[(key ^ key >> 32) % BUCKETS];
}

static struct lane *find(const struct lanes *lanes, uint64_t key)
{
	struct lane *l = *bucket((struct lanes *)lanes, key);

	while (l && l->key != key)
		l = l->bucket_next;
	return l;
}

/*
 * Returns a new lane with this key: the waiting line of one client. If memory
 * runs out, returns `spare`, which all clients without a lane of their own
 * share.
 */
static struct lane *new_lane(struct lanes *lanes, uint64_t key)
{
	struct lane *l = mem_calloc(1, sizeof(*l));

	if (!l)
		return &lanes->spare;
	lanes->lane_nr++;
	l->key = key;
	l->end = &l->first;
	l->bucket_next = *bucket(lanes, key);
	*bucket(lanes, key) = l;
	return l;
}

static void free_lane(struct lanes *lanes, struct lane *lane)
{
	struct lane **at = bucket(lanes, lane->key);

	while (*at != lane)
		at = &(*at)->bucket_next;
	*at = lane->bucket_next;
	lanes->lane_nr--;
	free(lane);
}

static void join_ring(struct lanes *lanes, struct lane *l)
{
	l->prev = lanes->ring.prev;
	l->next = &lanes->ring;
	l->prev->next = l;
	l->next->prev = l;
}

static void leave_ring(struct lane *l)
{
	l->prev->next = l->next;
	l->next->prev = l->prev;
}

void lanes_put(struct lanes *lanes, struct lane_item *item)
{
	struct lane *l = item->key ? find(lanes, item->key) : &lanes->spare;

	if (!l)
		l = new_lane(lanes, item->key);
	/*
	 * If memory ran out, the item is in the spare lane, which has the key
	 * 0. lanes_done() later finds the lane by the key of the item.
	 */
	item->key = l->key;
	item->next = NULL;
	*l->end = item;
	l->end = &item->next;
	if (!l->waiting++)
		join_ring(lanes, l);
}

/* Returns the first lane whose next request may get a thread now, or NULL. */
static struct lane *ready(const struct lanes *lanes)
{
	unsigned free_nr = lanes->thread_nr - lanes->busy;
	struct lane *l = lanes->ring.next;

	while (l != &lanes->ring && l->running >= free_nr)
		l = l->next;
	return l == &lanes->ring ? NULL : l;
}

bool lanes_has_ready(const struct lanes *lanes)
{
	return ready(lanes) != NULL;
}

struct lane_item *lanes_take(struct lanes *lanes)
{
	struct lane *l = ready(lanes);
	struct lane_item *item;

	if (!l)
		return NULL;
	item = l->first;
	l->first = item->next;
	if (!l->first)
		l->end = &l->first;
	leave_ring(l);
	if (--l->waiting)
		join_ring(lanes, l);
	l->running++;
	lanes->busy++;
	return item;
}

void lanes_done(struct lanes *lanes, uint64_t key)
{
	struct lane *l = key ? find(lanes, key) : &lanes->spare;

	lanes->busy--;
	if (!--l->running && !l->waiting && l != &lanes->spare)
		free_lane(lanes, l);
}

unsigned lanes_waiting(const struct lanes *lanes, uint64_t key)
{
	const struct lane *l = find(lanes, key);

	return l ? l->waiting : 0;
}

bool lanes_starve(const struct lanes *lanes, uint64_t since_ns)
{
	for (const struct lane *l = lanes->ring.next; l != &lanes->ring;
	     l = l->next)
		if (l->key >= KEY_MIN && !l->running &&
		    l->first->since_ns <= since_ns)
			return true;
	return false;
}

unsigned lanes_excess(const struct lanes *lanes, uint64_t key)
{
	const struct lane *l = key >= KEY_MIN ? find(lanes, key) : NULL;

	if (!l || l->running < 2 ||
	    l->running <= lanes->thread_nr / lanes->lane_nr)
		return 0;
	return l->running;
}
