/* SPDX-License-Identifier: MIT */
/*
 * Decodes the commits of a history on several threads, before a walk needs
 * them.
 *
 * The threads share a stack of commits to decode. Each thread takes some
 * commits, decodes them without the lock, and pushes those parents that were
 * not pushed before. The order is depth first. In a history with a trunk and
 * side branches, commits of side branches thus collect on the stack, and no
 * thread runs out of work.
 *
 * A thread looks up the ids of several commits together, so that the waits for
 * memory overlap.
 */
#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"
#include "ewah/bitset.h"
#include "object/parse.h"
#include "sys/thread.h"
#include "walk/history.h"

enum {
	/*
	 * If the stack has this number of commits or more, a thread that pushes
	 * commits wakes a sleeping thread.
	 */
	WAKE_NR = 8,
	CACHE_LIMIT = 4 << 20,
	/* maximum number of commits that a thread takes at a time */
	BATCH_MAX = 16,
	/* number of ids that are looked up together */
	TOGETHER_NR = 32,
};

/*
 * A decoded commit. Its tree is at index first_link of `links` in the same
 * lane; its parents follow.
 */
struct record {
	uint64_t date;
	uint32_t obj_pos;
	uint32_t first_link, parent_nr;
};

/* The commits that one thread has decoded. */
struct lane {
	struct odb_reader *reader; /* owned */
	struct record *records;    /* owned */
	size_t nr, alloc;
	/*
	 * owned: the links, which are the obj_pos of the trees and parents of
	 * all decoded commits; struct record says where the links of one commit
	 * are
	 */
	uint32_t *links;
	size_t link_nr, link_alloc;
	/*
	 * owned: ids of trees and parents that look_up() has not looked up yet
	 */
	struct oid *ids;
	size_t id_nr, id_alloc;
};

struct commit_ahead {
	/* borrowed while threads decode commits; NULL afterwards */
	struct objspace *space;
	/*
	 * borrowed: ids of commits that are treated as having no parents; NULL:
	 * none
	 */
	const struct oidmap *shallow;
	struct lane *lanes; /* owned */
	unsigned lane_nr;
	/*
	 * owned array, indexed by a commit's obj_pos. The value is i * lane_nr
	 * + k + 1 if the commit's record is lanes[k].records[i], and 0 if the
	 * commit has no record
	 */
	uint32_t *record_of;
	pthread_mutex_t lock; /* guards all fields below */
	pthread_cond_t wake;
	struct bitset pushed; /* indexed by obj_pos */
	/* owned: obj_pos of the commits that are to be decoded next */
	uint32_t *stack;
	size_t nr, alloc;
	/*
	 * number of threads that are decoding commits, and may push more
	 * commits
	 */
	unsigned busy;
	/* number of threads that wait for `wake` */
	unsigned asleep;
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

static bool is_shallow(const struct commit_ahead *a, uint32_t obj_pos)
{
	struct oid oid;
	uint32_t ignored;

	if (!a->shallow)
		return false;
	objspace_oid(&oid, a->space, obj_pos);
	return oidmap_get(a->shallow, &oid, &ignored);
}

static int add_id(struct lane *lane, const struct oid *oid)
{
	if (mem_grow(&lane->ids, &lane->id_alloc, lane->id_nr + 1,
		     sizeof(*lane->ids)) < 0)
		return ERR_NOMEM;
	lane->ids[lane->id_nr++] = *oid;
	return 0;
}

/*
 * Appends a record for a commit. Puts the ids of the commit's tree and parents
 * into lane->ids. Later, look_up() looks up these ids, and stores their obj_pos
 * in lane->links. Returns 0 or ERR_NOMEM.
 */
static int add_record(struct commit_ahead *a, struct lane *lane,
		      uint32_t obj_pos, const struct commit_view *view)
{
	size_t first_link = lane->link_nr + lane->id_nr;

	if (first_link > UINT32_MAX || view->parent_nr > UINT32_MAX ||
	    mem_grow(&lane->records, &lane->alloc, lane->nr + 1,
		     sizeof(*lane->records)) < 0 ||
	    add_id(lane, &view->tree) < 0)
		return ERR_NOMEM;
	for (size_t i = 0; i < view->parent_nr; i++) {
		struct oid parent;

		commit_parent(&parent, view, i, a->space->odb->algo);
		if (add_id(lane, &parent) < 0)
			return ERR_NOMEM;
	}
	lane->records[lane->nr++] = (struct record){
		.date = view->committer_date,
		.obj_pos = obj_pos,
		.first_link = (uint32_t)first_link,
		.parent_nr = (uint32_t)view->parent_nr,
	};
	return 0;
}

static int look_up_some(struct commit_ahead *a, struct lane *lane,
			const struct oid *ids, size_t nr)
{
	const uint8_t *raws[TOGETHER_NR];

	for (size_t i = 0; i < nr; i++)
		raws[i] = ids[i].bytes;
	objspace_prefetch(a->space, raws, nr);
	for (size_t i = 0; i < nr; i++)
		if (objspace_add(a->space, raws[i],
				 &lane->links[lane->link_nr++]) < 0)
			return ERR_NOMEM;
	return 0;
}

/*
 * Looks up the ids in lane->ids: ids of trees and parents that this thread has
 * collected. The ids are looked up in batches, so that the waits for memory
 * overlap. Appends the obj_pos of each object to lane->links, and empties
 * lane->ids. Returns 0 or ERR_NOMEM.
 */
static int look_up(struct commit_ahead *a, struct lane *lane)
{
	if (mem_grow(&lane->links, &lane->link_alloc,
		     lane->link_nr + lane->id_nr, sizeof(*lane->links)) < 0)
		return ERR_NOMEM;
	for (size_t i = 0; i < lane->id_nr; i += TOGETHER_NR) {
		size_t left = lane->id_nr - i;

		if (look_up_some(a, lane, lane->ids + i,
				 left < TOGETHER_NR ? left : TOGETHER_NR) < 0)
			return ERR_NOMEM;
	}
	lane->id_nr = 0;
	return 0;
}

/*
 * Appends a record for the commit with the content `data`. Does nothing if the
 * object is not a valid commit. Returns 0 or ERR_NOMEM.
 */
static int decode_bytes(struct commit_ahead *a, struct lane *lane,
			uint32_t obj_pos, enum object_type type,
			const uint8_t *data, size_t len)
{
	struct commit_view view;

	if (type != OBJ_COMMIT ||
	    commit_parse(&view, data, len, a->space->odb->algo, NULL) < 0)
		return 0;
	return add_record(a, lane, obj_pos, &view);
}

/*
 * Reads a packed commit and appends a record for it. Does nothing if the commit
 * cannot be read. A commit that is stored whole is inflated directly. So the
 * commit does not enter the delta-base cache, where it would be of no use: few
 * commits are delta bases.
 */
static int decode(struct commit_ahead *a, struct lane *lane, uint32_t obj_pos)
{
	struct pack_entry entry;
	struct odb_object obj;
	const uint8_t *data;
	struct pack *pack;
	uint64_t offset;
	int ret;

	if (is_shallow(a, obj_pos))
		return 0;
	offset = odb_offset(a->space->odb, obj_pos, &pack);
	if (!pack_entry_at(&entry, pack, offset, NULL) &&
	    entry.type == OBJ_COMMIT) {
		ret = pack_reader_stored(odb_reader_pack(lane->reader), pack,
					 offset, &entry, &data, NULL);
		if (!ret)
			return decode_bytes(a, lane, obj_pos, entry.type, data,
					    entry.size);
		return ret == ERR_NOMEM ? ret : 0;
	}
	ret = odb_read_pos(lane->reader, obj_pos, &obj, NULL);
	if (ret < 0)
		return ret == ERR_NOMEM ? ret : 0;
	ret = decode_bytes(a, lane, obj_pos, obj.type, obj.data, obj.len);
	odb_object_release(lane->reader, &obj);
	return ret;
}

static int decode_batch(struct commit_ahead *a, struct lane *lane,
			const uint32_t *batch, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		struct pack *pack;
		uint64_t offset = odb_offset(a->space->odb, batch[i], &pack);

		pack_prefetch(pack, offset);
	}
	for (size_t i = 0; i < nr; i++)
		if (decode(a, lane, batch[i]) < 0)
			return ERR_NOMEM;
	return look_up(a, lane);
}

/*
 * Makes the records of one thread, from index `first` on, visible to all
 * threads. Pushes the parents of these records' commits on the stack.
 */
static int push_parents(struct commit_ahead *a, unsigned lane_nr, size_t first)
{
	struct lane *lane = &a->lanes[lane_nr];

	for (size_t i = first; i < lane->nr; i++) {
		const struct record *r = &lane->records[i];

		a->record_of[r->obj_pos] = (uint32_t)(i * a->lane_nr + lane_nr +
						      1);
		/*
		 * The first parent goes on top of the stack, because a pack
		 * most likely stores it next.
		 */
		for (uint32_t k = r->parent_nr; k > 0; k--)
			if (push(a, lane->links[r->first_link + k]) < 0)
				return ERR_NOMEM;
	}
	return 0;
}

/*
 * Takes up to BATCH_MAX commits from the stack, and decodes them. The caller
 * holds the lock before and after the call. The function releases the lock
 * while it decodes.
 */
static int work(struct commit_ahead *a, unsigned lane_nr)
{
	struct lane *lane = &a->lanes[lane_nr];
	size_t nr = (a->nr + a->lane_nr - 1) / a->lane_nr, first = lane->nr;
	uint32_t batch[BATCH_MAX];
	int ret;

	if (nr > BATCH_MAX)
		nr = BATCH_MAX;
	for (size_t i = 0; i < nr; i++)
		batch[i] = a->stack[--a->nr];
	pthread_mutex_unlock(&a->lock);
	ret = decode_batch(a, lane, batch, nr);
	pthread_mutex_lock(&a->lock);
	if (ret < 0 || push_parents(a, lane_nr, first) < 0)
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
			ret = work(a, (unsigned)task_nr);
			a->busy--;
		} else if (a->busy) {
			a->asleep++;
			pthread_cond_wait(&a->wake, &a->lock);
			a->asleep--;
		} else {
			break;
		}
	}
	/*
	 * After an error the caller discards all records. The stack is emptied,
	 * so that the other threads end soon.
	 */
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

/*
 * Frees the memory that is needed only while commits are decoded. The records
 * stay.
 */
static void release_tools(struct commit_ahead *a)
{
	for (unsigned i = 0; a->lanes && i < a->lane_nr; i++) {
		odb_reader_free(a->lanes[i].reader);
		a->lanes[i].reader = NULL;
		free(a->lanes[i].ids);
		a->lanes[i].ids = NULL;
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
	/*
	 * The values in record_of must fit into 32 bits. The largest value
	 * grows with the number of lanes, so there are fewer lanes if the
	 * repository has very many objects.
	 */
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
		free(ahead->lanes[i].links);
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
		.tree_pos = lane->links[r->first_link],
		.parent_nr = r->parent_nr,
		.parents = lane->links + r->first_link + 1,
	};
	return true;
}
