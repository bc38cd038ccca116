/* SPDX-License-Identifier: MIT */
/*
 * Threads share a stack of commits to decode. Each takes one, decodes it
 * without the lock and pushes the parents nobody has pushed before. Depth
 * first, so that the stack of a history of a single line with side branches
 * fills up with side branches, which is work for the others.
 */
#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"
#include "ewah/bitset.h"
#include "object/parse.h"
#include "sys/thread.h"
#include "walk/commit-ahead.h"

enum {
	/* A sleeping thread is woken when this much is waiting. */
	WAKE_NR = 8,
	CACHE_LIMIT = 4 << 20,
	PREFETCH_PARENTS = 2,
};

/* As kept: parents are in an array of their own. */
struct record {
	uint64_t date;
	uint32_t tree_pos;
	uint32_t first_parent, parent_nr;
};

/* What one thread has made. */
struct lane {
	struct odb_reader *reader; /* owned */
	struct record *records;    /* owned */
	size_t nr, alloc;
	uint32_t *parents; /* owned: obj_pos */
	size_t parent_nr, parent_alloc;
};

struct commit_ahead {
	struct objspace *space;       /* borrowed; while decoding */
	const struct oidmap *shallow; /* borrowed, or NULL */
	struct lane *lanes;           /* owned */
	unsigned lane_nr;
	uint32_t *record_of;  /* owned: by obj_pos, lane and record in it as
				 record * lane_nr + lane + 1; 0: none */
	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t wake;
	struct bitset pushed; /* by obj_pos */
	uint32_t *stack;      /* owned: obj_pos */
	size_t nr, alloc;
	unsigned busy;   /* threads that may still push */
	unsigned asleep; /* threads that wait for `wake` */
};

static int push(struct commit_ahead *a, uint32_t obj_pos)
{
	if (obj_pos >= a->space->packed_nr || bitset_test(&a->pushed, obj_pos))
		return 0;
	if (mem_grow(&a->stack, &a->alloc, a->nr + 1, sizeof(*a->stack)) < 0)
		return ERR_NOMEM;
	bitset_set(&a->pushed, obj_pos);
	a->stack[a->nr++] = obj_pos;
	return 0;
}

static bool is_cut(const struct commit_ahead *a, uint32_t obj_pos)
{
	struct oid oid;
	uint32_t ignored;

	if (!a->shallow)
		return false;
	objspace_oid(&oid, a->space, obj_pos);
	return oidmap_get(a->shallow, &oid, &ignored);
}

/* Its tree and its first parents are looked up together. */
static void prefetch_links(const struct commit_ahead *a,
			   const struct commit_view *view)
{
	struct oid parents[PREFETCH_PARENTS];
	const uint8_t *raws[PREFETCH_PARENTS + 1] = {view->tree.bytes};
	size_t nr = 0;

	for (; nr < view->parent_nr && nr < PREFETCH_PARENTS; nr++) {
		commit_parent(&parents[nr], view, nr, a->space->odb->algo);
		raws[nr + 1] = parents[nr].bytes;
	}
	objspace_prefetch(a->space, raws, nr + 1);
}

static int add_record(struct commit_ahead *a, struct lane *lane,
		      const struct commit_view *view)
{
	enum hash_algo algo = a->space->odb->algo;
	struct record *r;

	if (view->parent_nr > UINT32_MAX - lane->parent_nr ||
	    mem_grow(&lane->records, &lane->alloc, lane->nr + 1,
		     sizeof(*lane->records)) < 0 ||
	    mem_grow(&lane->parents, &lane->parent_alloc,
		     lane->parent_nr + view->parent_nr,
		     sizeof(*lane->parents)) < 0)
		return ERR_NOMEM;
	r = &lane->records[lane->nr];
	*r = (struct record){
		.date = view->committer_date,
		.first_parent = (uint32_t)lane->parent_nr,
		.parent_nr = (uint32_t)view->parent_nr,
	};
	prefetch_links(a, view);
	if (objspace_add(a->space, view->tree.bytes, &r->tree_pos) < 0)
		return ERR_NOMEM;
	for (size_t i = 0; i < view->parent_nr; i++) {
		struct oid parent;

		commit_parent(&parent, view, i, algo);
		if (objspace_add(a->space, parent.bytes,
				 &lane->parents[lane->parent_nr + i]) < 0)
			return ERR_NOMEM;
	}
	lane->nr++;
	lane->parent_nr += view->parent_nr;
	return 0;
}

/* 1 when the commit has a record now, 0 when it is left to others. */
static int decode(struct commit_ahead *a, struct lane *lane, uint32_t obj_pos)
{
	struct odb_object obj;
	struct commit_view view;
	int ret;

	if (is_cut(a, obj_pos))
		return 0;
	ret = odb_read_pos(lane->reader, obj_pos, &obj, NULL);
	if (ret < 0)
		return ret == ERR_NOMEM ? ret : 0;
	if (obj.type == OBJ_COMMIT &&
	    !commit_parse(&view, obj.data, obj.len, a->space->odb->algo, NULL))
		ret = add_record(a, lane, &view) < 0 ? ERR_NOMEM : 1;
	odb_object_release(lane->reader, &obj);
	return ret;
}

/* Decode one commit; called and left with the lock held. */
static int work_on(struct commit_ahead *a, unsigned lane_nr, uint32_t obj_pos)
{
	struct lane *lane = &a->lanes[lane_nr];
	const struct record *r;
	int ret;

	pthread_mutex_unlock(&a->lock);
	ret = decode(a, lane, obj_pos);
	pthread_mutex_lock(&a->lock);
	if (ret <= 0)
		return ret;
	r = &lane->records[lane->nr - 1];
	a->record_of[obj_pos] = (uint32_t)((lane->nr - 1) * a->lane_nr +
					   lane_nr + 1);
	/* The first parent on top: it is most likely the next in the pack. */
	for (uint32_t i = r->parent_nr; i--;)
		if (push(a, lane->parents[r->first_parent + i]) < 0)
			return ERR_NOMEM;
	if (a->asleep && a->nr >= WAKE_NR)
		pthread_cond_signal(&a->wake);
	return 0;
}

static int run_lane(void *ctx, unsigned thread_nr, size_t task_nr,
		    struct error *err)
{
	struct commit_ahead *a = ctx;
	int ret = 0;

	pthread_mutex_lock(&a->lock);
	while (!ret) {
		if (a->nr) {
			a->busy++;
			ret = work_on(a, (unsigned)task_nr, a->stack[--a->nr]);
			a->busy--;
		} else if (a->busy) {
			a->asleep++;
			pthread_cond_wait(&a->wake, &a->lock);
			a->asleep--;
		} else {
			break;
		}
	}
	/* All is done, or failed and to be dropped. */
	if (ret < 0)
		a->nr = 0;
	if (!a->busy)
		pthread_cond_broadcast(&a->wake);
	pthread_mutex_unlock(&a->lock);
	return ret;
}

static int prepare(struct commit_ahead *a, const uint32_t *from, size_t from_nr)
{
	a->lanes = mem_calloc(a->lane_nr, sizeof(*a->lanes));
	a->record_of = mem_calloc(a->space->packed_nr, sizeof(*a->record_of));
	if (!a->lanes || !a->record_of ||
	    bitset_init(&a->pushed, a->space->packed_nr) < 0)
		return ERR_NOMEM;
	for (unsigned i = 0; i < a->lane_nr; i++) {
		a->lanes[i].reader = odb_reader_new(a->space->odb, CACHE_LIMIT);
		if (!a->lanes[i].reader)
			return ERR_NOMEM;
	}
	for (size_t i = 0; i < from_nr; i++)
		if (push(a, from[i]) < 0)
			return ERR_NOMEM;
	return 0;
}

/* What only decoding needs. */
static void release_tools(struct commit_ahead *a)
{
	for (unsigned i = 0; a->lanes && i < a->lane_nr; i++) {
		odb_reader_free(a->lanes[i].reader);
		a->lanes[i].reader = NULL;
	}
	bitset_release(&a->pushed);
	free(a->stack);
	a->stack = NULL;
}

struct commit_ahead *commit_ahead_new(struct objspace *space,
				      const struct oidmap *shallow,
				      const uint32_t *from, size_t from_nr,
				      unsigned threads)
{
	struct commit_ahead *a = mem_calloc(1, sizeof(*a));
	int ret;

	if (!a)
		return NULL;
	a->space = space;
	a->shallow = shallow;
	a->lane_nr = threads ? threads : sys_cpu_nr();
	/* Places of records are numbers of 32 bits. */
	while (a->lane_nr > 1 && space->packed_nr > UINT32_MAX / a->lane_nr - 1)
		a->lane_nr--;
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->wake, NULL);
	ret = prepare(a, from, from_nr);
	if (!ret)
		ret = sys_parallel(a->lane_nr, a->lane_nr, run_lane, a, NULL);
	release_tools(a);
	if (ret < 0) {
		commit_ahead_free(a);
		return NULL;
	}
	return a;
}

void commit_ahead_free(struct commit_ahead *ahead)
{
	if (!ahead)
		return;
	release_tools(ahead);
	for (unsigned i = 0; ahead->lanes && i < ahead->lane_nr; i++) {
		free(ahead->lanes[i].records);
		free(ahead->lanes[i].parents);
	}
	free(ahead->lanes);
	free(ahead->record_of);
	pthread_cond_destroy(&ahead->wake);
	pthread_mutex_destroy(&ahead->lock);
	free(ahead);
}

bool commit_ahead_get(const struct commit_ahead *ahead, uint32_t obj_pos,
		      struct ahead_commit *commit)
{
	const struct lane *lane;
	const struct record *r;
	uint32_t place;

	if (obj_pos >= ahead->space->packed_nr || !ahead->record_of[obj_pos])
		return false;
	place = ahead->record_of[obj_pos] - 1;
	lane = &ahead->lanes[place % ahead->lane_nr];
	r = &lane->records[place / ahead->lane_nr];
	*commit = (struct ahead_commit){
		.date = r->date,
		.tree_pos = r->tree_pos,
		.parent_nr = r->parent_nr,
		.parents = lane->parents + r->first_parent,
	};
	return true;
}
