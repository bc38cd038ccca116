/* SPDX-License-Identifier: MIT */
/*
 * The second pass of the indexer: it applies deltas and computes ids.
 *
 * A family is a base with all deltas that are made from it, directly or through
 * other deltas. The base is an object that is stored whole, or an object from
 * outside the pack. One thread works on a family; the families with most work
 * are started first. A family is walked depth first with an explicit stack
 * (pack/delta-stack.h), whose objects keep at most `cache_limit` bytes. The
 * deltas of a base are applied one after the other. If the limit suffices, each
 * base is made only once.
 *
 * In a frame of the stack, `nr` is an entry_nr; INDEXER_NONE: the object is not
 * in the pack. `next` is the entry_nr of the next delta to be resolved among
 * the deltas that have this object as their base.
 */
#include <stdatomic.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "pack/delta-stack.h"
#include "pack/delta.h"
#include "pack/entry.h"
#include "indexer/indexer-parts.h"
#include "sys/io.h"
#include "sys/thread.h"

/* The state of one thread. */
struct worker {
	struct pack_indexer *ix;
	unsigned nr;
	struct inflater *inflater; /* owned */
	struct hash_ctx hash;
	struct buf raw;   /* an entry's bytes */
	struct buf delta; /* an inflated delta */
	struct delta_stack stack;
	/* type of the base object, and so of all its deltas */
	enum object_type type;
	/* number of resolved deltas */
	uint32_t done;
	/*
	 * number of resolved deltas that the progress meter does not count yet
	 */
	uint32_t unreported;
};

struct resolver {
	struct pack_indexer *ix;
	/* owned; one worker for each of config.threads */
	struct worker *workers;
	/*
	 * Owned: one item for each base from which deltas are resolved. In the
	 * pass over objects stored whole, the value of an item is the entry_nr
	 * of the base. In the pass over missing bases, the value is an index
	 * into ix->refs.
	 */
	struct sort_item *tasks;
	size_t task_nr;
	struct progress progress;
	/* held while the callback hooks.base runs */
	pthread_mutex_t lock;
};

enum {
	/* number of deltas between two updates of the progress meter */
	REPORT_NR = 64,
	/*
	 * If the result of a delta has this size or more, the size is verified
	 * with the delta's instructions before memory is allocated.
	 */
	SIZE_SUSPECT = 16 << 20,
};

/*
 * Reads an entry into w->raw and parses its header. *stream becomes the bytes
 * after the header. Returns 0 or a negative error code.
 */
static int read_entry(struct worker *w, struct pack_indexer *ix, uint32_t nr,
		      struct pack_entry *head, struct cursor *stream,
		      struct error *err)
{
	uint64_t offset = ix->entries[nr].offset;
	size_t len = (size_t)(indexer_entry_end(ix, nr) - offset);
	int ret;

	buf_reset(&w->raw);
	if (buf_reserve(&w->raw, len) < 0)
		return error_nomem(err);
	ret = sys_read_at(ix->fd, w->raw.data, len, offset, ix->name, err);
	if (ret < 0)
		return ret;
	*stream = cursor_make(w->raw.data, len);
	/*
	 * The first pass has parsed this header without error. If it is invalid
	 * now, the file has changed meanwhile.
	 */
	if (pack_entry_parse(head, stream, ix->config.algo) < 0)
		return indexer_corrupt(ix, offset, "bad object header", err);
	return 0;
}

static int inflate_entry(struct worker *w, const struct pack_indexer *ix,
			 uint32_t nr, void *dst, const struct pack_entry *head,
			 const struct cursor *stream, struct error *err)
{
	int ret = inflater_exact(w->inflater, dst, (size_t)head->size,
				 stream->p, cursor_left(stream), NULL);

	if (ret == ERR_NOMEM)
		return error_nomem(err);
	if (ret < 0)
		return indexer_corrupt(ix, ix->entries[nr].offset,
				       "object does not inflate to its size",
				       err);
	return 0;
}

/*
 * Reads an object that is stored whole. *out is malloc()ed. Returns 0 or a
 * negative error code.
 */
static int read_whole(struct worker *w, struct pack_indexer *ix, uint32_t nr,
		      uint8_t **out, size_t *len, struct error *err)
{
	struct pack_entry head;
	struct cursor stream;
	uint8_t *data;
	int ret = read_entry(w, ix, nr, &head, &stream, err);

	if (ret < 0)
		return ret;
	data = mem_alloc((size_t)head.size, 1);
	if (!data)
		return error_nomem(err);
	ret = inflate_entry(w, ix, nr, data, &head, &stream, err);
	if (ret < 0) {
		free(data);
		return ret;
	}
	*out = data;
	*len = (size_t)head.size;
	return 0;
}

/*
 * Sets *len to the size of a delta's result. The caller allocates memory of
 * this size, so a large size is first verified with the delta's instructions.
 * Returns 0, ERR_CORRUPT or ERR_DENIED.
 */
static int check_delta(const struct pack_indexer *ix, uint64_t offset,
		       const struct cursor *delta, size_t base_len, size_t *len,
		       struct error *err)
{
	uint64_t max = ix->config.max_object_len, base_size, size, sum = 0;
	struct cursor c = *delta;
	struct delta_op op;
	size_t header_len;
	int ret;

	if (delta_sizes(c.p, cursor_left(&c), &base_size, &size, &header_len) <
	    0)
		return indexer_corrupt(ix, offset, "bad delta", err);
	if (max && size > max)
		return error_set_at(err, ERR_DENIED, ix->name, offset,
				    "object is too large");
	*len = (size_t)size;
	if (size < SIZE_SUSPECT)
		return 0;
	cursor_skip(&c, header_len);
	while ((ret = delta_next(&op, &c, base_len)) > 0 && sum <= size)
		sum += op.len;
	return ret < 0 || sum != size
		       ? indexer_corrupt(ix, offset, "failed to apply delta",
					 err)
		       : 0;
}

/*
 * Applies the delta of entry `nr` to its base. *out is malloc()ed. Returns 0 or
 * a negative error code.
 */
static int apply_delta(struct worker *w, struct pack_indexer *ix, uint32_t nr,
		       const struct delta_frame *base, uint8_t **out,
		       size_t *len, struct error *err)
{
	uint64_t offset = ix->entries[nr].offset;
	struct pack_entry head;
	struct cursor stream, delta;
	size_t result_len = 0;
	uint8_t *data;
	int ret = read_entry(w, ix, nr, &head, &stream, err);

	if (ret < 0)
		return ret;
	if (buf_reserve(&w->delta, (size_t)head.size) < 0)
		return error_nomem(err);
	ret = inflate_entry(w, ix, nr, w->delta.data, &head, &stream, err);
	if (ret < 0)
		return ret;
	delta = cursor_make(w->delta.data, (size_t)head.size);
	ret = check_delta(ix, offset, &delta, base->len, &result_len, err);
	if (!ret)
		ret = indexer_work(ix, result_len, ix->end, err);
	if (ret < 0)
		return ret;
	data = mem_alloc(result_len, 1);
	if (!data)
		return error_set_at(err, ERR_NOMEM, ix->name, offset,
				    "no memory for an object of %zu bytes",
				    result_len);
	if (delta_apply(data, result_len, base->data, base->len, w->delta.data,
			(size_t)head.size) < 0) {
		free(data);
		return indexer_corrupt(ix, offset, "failed to apply delta",
				       err);
	}
	*out = data;
	*len = result_len;
	return 0;
}

/* The callback `make` of the stack. */
static int make_again(void *ctx, struct delta_frame *frame,
		      const struct delta_frame *base, struct error *err)
{
	struct worker *w = ctx;

	return base ? apply_delta(w, w->ix, frame->nr, base, &frame->data,
				  &frame->len, err)
		    : read_whole(w, w->ix, frame->nr, &frame->data, &frame->len,
				 err);
}

static int worker_init(struct worker *w, unsigned nr, struct pack_indexer *ix)
{
	w->ix = ix;
	w->nr = nr;
	w->stack = (struct delta_stack){
		.limit = ix->config.cache_limit,
		.make = make_again,
		.ctx = w,
	};
	buf_init(&w->raw);
	buf_init(&w->delta);
	w->inflater = inflater_new();
	return w->inflater ? hash_init_checked(&w->hash, ix->config.algo)
			   : ERR_NOMEM;
}

static void worker_release(struct worker *w)
{
	delta_stack_release(&w->stack);
	inflater_free(w->inflater);
	hash_release(&w->hash);
	buf_release(&w->raw);
	buf_release(&w->delta);
}

/*
 * Puts an object of the pack on the stack, and takes over its bytes. Returns 0
 * or ERR_NOMEM.
 */
static int push(struct worker *w, uint32_t nr, uint8_t *data, size_t len,
		struct error *err)
{
	const struct delta_frame frame = {
		.nr = nr,
		.next = w->ix->entries[nr].first_child,
		.data = data,
		.len = len,
	};

	return delta_stack_push(&w->stack, &frame, err);
}

/*
 * Takes the list of deltas out of *ref, so that only one thread resolves the
 * deltas. Returns the first entry, or INDEXER_NONE if the list was taken
 * before.
 */
static uint32_t take_list(struct indexer_ref *ref)
{
	return atomic_exchange(&ref->first, INDEXER_NONE);
}

/*
 * The id of entry `nr` has just been computed. Gives the entry its children:
 * the REF_DELTAs that name this id as their base.
 */
static void adopt_children(struct pack_indexer *ix, uint32_t nr)
{
	struct indexer_ref *ref = indexer_find_ref(ix, indexer_id(ix, nr));
	uint32_t first = ref ? take_list(ref) : INDEXER_NONE;
	uint32_t last = first;

	if (first == INDEXER_NONE)
		return;
	while (ix->entries[last].next_sibling != INDEXER_NONE)
		last = ix->entries[last].next_sibling;
	ix->entries[last].next_sibling = ix->entries[nr].first_child;
	ix->entries[nr].first_child = first;
}

static void report(struct resolver *r, struct worker *w)
{
	progress_add(&r->progress, w->unreported);
	w->unreported = 0;
}

/*
 * Applies the next delta against the object in the top frame. If the result is
 * the base of further deltas, pushes the result. Returns 0 (also if
 * hooks.broken accepts a damaged delta) or a negative error code.
 */
static int resolve_child(struct resolver *r, struct worker *w,
			 struct error *err)
{
	struct pack_indexer *ix = r->ix;
	struct delta_frame *top = delta_stack_top(&w->stack);
	uint32_t nr = top->next;
	struct oid oid;
	uint8_t *data;
	size_t len;
	int ret = top->data ? 0 : delta_stack_load(&w->stack, err);

	if (!ret)
		ret = apply_delta(w, ix, nr, top, &data, &len, err);
	if (indexer_salvages(ix, false, ret, err)) {
		top->next = ix->entries[nr].next_sibling;
		return 0;
	}
	if (ret < 0)
		return ret;
	top->next = ix->entries[nr].next_sibling;
	if (top->next == INDEXER_NONE)
		delta_stack_finish(&w->stack);
	hash_object(&w->hash, &oid, w->type, data, len);
	ret = hash_refuse_attack(&w->hash, &oid, err);
	if (ret < 0) {
		free(data);
		return ret;
	}
	memcpy(indexer_id(ix, nr), oid.bytes, hash_len(ix->config.algo));
	ix->entries[nr].type = (uint8_t)w->type;
	adopt_children(ix, nr);
	w->done++;
	if (++w->unreported == REPORT_NR)
		report(r, w);
	ret = indexer_check_known(ix, w->nr, &oid, w->type, data, len, err);
	if (ret < 0 || ix->entries[nr].first_child == INDEXER_NONE) {
		free(data);
		return ret;
	}
	return push(w, nr, data, len, err);
}

/*
 * Resolves all deltas that depend on one object, directly or through other
 * deltas. At the start, the stack has one frame: this object. Returns 0 or a
 * negative error code.
 */
static int resolve_family(struct resolver *r, struct worker *w,
			  struct error *err)
{
	int ret = 0;

	while (w->stack.depth && !ret) {
		if (delta_stack_top(&w->stack)->next == INDEXER_NONE)
			delta_stack_pop(&w->stack);
		else
			ret = resolve_child(r, w, err);
		if (w->stack.depth)
			delta_stack_trim(&w->stack);
	}
	return ret;
}

/*
 * Runs one task: resolves all deltas that depend on one object that is stored
 * whole. Returns 0 or a negative error code.
 */
static int resolve_root(void *ctx, unsigned thread_nr, size_t task_nr,
			struct error *err)
{
	struct resolver *r = ctx;
	struct worker *w = &r->workers[thread_nr];
	uint32_t nr = r->tasks[r->task_nr - 1 - task_nr].value;
	struct indexer_entry *e = &r->ix->entries[nr];
	uint8_t *data;
	size_t len;
	int ret = read_whole(w, r->ix, nr, &data, &len, err);

	if (!ret)
		ret = push(w, nr, data, len, err);
	w->type = (enum object_type)e->type;
	return ret < 0 ? ret : resolve_family(r, w, err);
}

/*
 * Gets a delta base from the callback hooks.base, and verifies its id. Returns
 * 1 with malloc()ed *data, 0 if there is no such object, or a negative error
 * code.
 */
static int get_base(struct resolver *r, struct worker *w,
		    const struct oid *base, void **data, size_t *len,
		    struct error *err)
{
	const struct pack_indexer_hooks *hooks = &r->ix->config.hooks;
	struct oid oid;
	int ret;

	pthread_mutex_lock(&r->lock);
	ret = hooks->base(hooks->ctx, base, &w->type, data, len, err);
	pthread_mutex_unlock(&r->lock);
	if (ret <= 0)
		return ret;
	hash_object(&w->hash, &oid, w->type, *data, *len);
	if (oid_equal(&oid, base))
		return 1;
	free(*data);
	return error_set(err, ERR_CORRUPT, "the base of a delta is corrupt");
}

/*
 * Runs one task: resolves all deltas that depend on a base that a thin pack
 * left out. Returns 0, also if the base does not exist, or a negative error
 * code.
 */
static int resolve_outside(void *ctx, unsigned thread_nr, size_t task_nr,
			   struct error *err)
{
	struct resolver *r = ctx;
	struct worker *w = &r->workers[thread_nr];
	struct indexer_ref *ref = &r->ix->refs[r->tasks[task_nr].value];
	uint32_t first;
	void *data;
	size_t len;
	int ret = get_base(r, w, &ref->base, &data, &len, err);

	if (ret <= 0)
		return ret;
	first = take_list(ref);
	/*
	 * While the base was read, another thread may have resolved an object
	 * of the pack with the same id. That thread has then taken the list of
	 * deltas.
	 */
	if (first == INDEXER_NONE) {
		free(data);
		return 0;
	}
	ref->outside_first = first;
	ret = delta_stack_push(&w->stack,
			       &(struct delta_frame){.nr = INDEXER_NONE,
						     .next = first,
						     .is_fixed = true,
						     .data = data,
						     .len = len},
			       err);
	return ret < 0 ? ret : resolve_family(r, w, err);
}

/*
 * Returns an array, indexed by entry_nr: the number of deltas that are made
 * from the entry, directly or through other deltas. REF_DELTAs whose bases are
 * not known yet are not counted. NULL: no memory.
 */
static uint32_t *count_families(const struct pack_indexer *ix)
{
	uint32_t *counts = mem_calloc(ix->nr, sizeof(*counts));

	if (!counts)
		return NULL;
	for (size_t i = ix->nr; i--;) {
		uint32_t child = ix->entries[i].first_child;

		for (; child != INDEXER_NONE;
		     child = ix->entries[child].next_sibling)
			counts[i] += 1 + counts[child];
	}
	return counts;
}

/*
 * Lists the objects that are stored whole and have deltas, sorted by the number
 * of deltas that depend on each, see count_families(). The object with the most
 * deltas is the last. Returns 0 or ERR_NOMEM.
 */
static int list_roots(struct resolver *r)
{
	struct pack_indexer *ix = r->ix;
	uint32_t *counts;
	int ret;

	for (size_t i = 0; i < ix->nr && ix->ref_nr; i++)
		if (ix->entries[i].type)
			adopt_children(ix, (uint32_t)i);
	counts = count_families(ix);
	r->tasks = mem_alloc(ix->nr, sizeof(*r->tasks));
	if (!counts || !r->tasks) {
		free(counts);
		return ERR_NOMEM;
	}
	r->task_nr = 0;
	for (size_t i = 0; i < ix->nr; i++)
		if (ix->entries[i].type &&
		    ix->entries[i].first_child != INDEXER_NONE)
			r->tasks[r->task_nr++] = (struct sort_item){
				counts[i], (uint32_t)i};
	ret = sort_items(r->tasks, r->task_nr);
	free(counts);
	return ret;
}

/* Makes one task for each delta base that is not in the pack. */
static void list_outside(struct resolver *r)
{
	struct pack_indexer *ix = r->ix;

	r->task_nr = 0;
	for (size_t i = 0; i < ix->ref_nr; i++)
		if (ix->refs[i].first != INDEXER_NONE)
			r->tasks[r->task_nr++] = (struct sort_item){
				0, (uint32_t)i};
}

static int announce_bases(struct resolver *r, struct error *err)
{
	const struct pack_indexer_hooks *hooks = &r->ix->config.hooks;
	struct oid *oids;
	int ret;

	if (!hooks->announce_bases || !r->task_nr)
		return 0;
	oids = mem_alloc(r->task_nr, sizeof(*oids));
	if (!oids)
		return error_nomem(err);
	for (size_t i = 0; i < r->task_nr; i++)
		oids[i] = r->ix->refs[r->tasks[i].value].base;
	ret = hooks->announce_bases(hooks->ctx, oids, r->task_nr, err);
	free(oids);
	return ret;
}

/*
 * Reads the objects of ix->large again, compares them with existing objects of
 * the same ids, and passes them to hooks.object. This was not done while the
 * pack was parsed, because the objects were not in memory as a whole. Returns 0
 * or a negative error code.
 */
static int compare_large(struct pack_indexer *ix, struct worker *w,
			 struct error *err)
{
	int ret = 0;

	for (size_t i = 0; i < ix->large_nr && !ret; i++) {
		uint32_t nr = ix->large[i];
		struct oid oid;
		uint8_t *data;
		size_t len;

		ret = read_whole(w, ix, nr, &data, &len, err);
		if (ret < 0)
			break;
		oid_from_raw(&oid, indexer_id(ix, nr), ix->config.algo);
		ret = indexer_check_known(
			ix, 0, &oid, (enum object_type)ix->entries[nr].type,
			data, len, err);
		free(data);
	}
	return ret;
}

static uint32_t total_done(const struct resolver *r)
{
	uint32_t done = 0;

	for (unsigned i = 0; i < r->ix->config.threads; i++)
		done += r->workers[i].done;
	return done;
}

static int run(struct resolver *r, struct error *err)
{
	unsigned threads = r->ix->config.threads;
	int ret = sys_parallel(threads, r->task_nr, resolve_root, r, err);

	if (!ret && indexer_may_append(r->ix) &&
	    total_done(r) < r->ix->delta_nr) {
		list_outside(r);
		ret = announce_bases(r, err);
		if (!ret)
			ret = sys_parallel(threads, r->task_nr, resolve_outside,
					   r, err);
	}
	for (unsigned i = 0; i < threads; i++)
		report(r, &r->workers[i]);
	return ret;
}

int indexer_resolve_deltas(struct pack_indexer *ix, uint32_t *left,
			   struct error *err)
{
	struct resolver r = {.ix = ix};
	unsigned threads = ix->config.threads;
	int ret = 0;

	r.workers = mem_calloc(threads, sizeof(*r.workers));
	if (!r.workers)
		return error_nomem(err);
	pthread_mutex_init(&r.lock, NULL);
	for (unsigned i = 0; i < threads && !ret; i++)
		ret = worker_init(&r.workers[i], i, ix);
	if (!ret)
		ret = list_roots(&r);
	if (ret < 0) {
		error_nomem(err);
		goto out;
	}
	ret = compare_large(ix, &r.workers[0], err);
	if (ret < 0 || !ix->delta_nr)
		goto out;
	progress_start(&r.progress, ix->config.resolve_progress,
		       "Resolving deltas", ix->delta_nr);
	ret = run(&r, err);
	progress_stop(&r.progress);
out:
	*left = ix->delta_nr - total_done(&r);
	for (unsigned i = 0; i < threads; i++)
		worker_release(&r.workers[i]);
	pthread_mutex_destroy(&r.lock);
	free(r.workers);
	free(r.tasks);
	return ret;
}
