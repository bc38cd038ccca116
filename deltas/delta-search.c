/* SPDX-License-Identifier: MIT */
/*
 * Searches deltas with several threads. The candidates are split into segments
 * (delta-order.h). Each segment is searched by one thread, which stores the
 * found deltas in the items.
 *
 * A thread writes only to items of its own segment. So items need no lock.
 */
#include <stdatomic.h>
#include <string.h>

#include "base/mem.h"
#include "pack/delta.h"
#include "deltas/delta-order.h"
#include "deltas/delta-search.h"
#include "deltas/names.h"
#include "sys/thread.h"

/* Maximum length of a delta chain, as in stock Git. */
#define DEPTH_MAX 4095
/* Maximum number of bytes of delta bases that each thread caches. */
#define READER_CACHE ((size_t)8 << 20)

struct worker {
	/* owned, like all fields; pointers are NULL until the thread starts */
	struct odb_reader *reader;
	struct delta_window *window;
	struct deflater *deflater;
	struct buf scratch;
};

struct search {
	struct packing_items *list;
	struct delta_search_options options;
	/* owned: the table `heights` of delta_window_new() */
	uint16_t *heights;
	/*
	 * Owned: the table `depths` of delta_window_new(); NULL in the first
	 * pass.
	 */
	uint16_t *depths;
	struct delta_order order;
	/* owned: the state of each thread */
	struct worker *workers;
	/* total bytes of the deltas that are kept in memory */
	atomic_uint_fast64_t kept;
	struct progress progress;
};

static bool has_base(const struct packing_item *item)
{
	return (item->how == PACKING_COPY_DELTA ||
		item->how == PACKING_DELTA) &&
	       item->base != PACKING_NO_ITEM;
}

/*
 * Returns an array that has, for each item, the length of the longest delta
 * chain that is built on the item. Lengths above `depth` are all stored as
 * `depth` + 1: such an item cannot become a delta. Returns NULL if memory runs
 * out.
 */
static uint16_t *measure_heights(const struct packing_items *list,
				 uint32_t depth)
{
	uint16_t *heights = mem_calloc(list->nr, sizeof(*heights));

	if (!heights)
		return NULL;
	for (size_t i = 0; i < list->nr; i++) {
		const struct packing_item *item = &list->items[i];
		uint32_t height = 0;

		while (has_base(item) && height <= depth) {
			if (heights[item->base] > height++)
				break;
			heights[item->base] = (uint16_t)height;
			item = &list->items[item->base];
		}
	}
	return heights;
}

static uint16_t depth_now(const struct packing_items *list, uint32_t at)
{
	uint16_t depth = 0;

	for (; list->items[at].how == PACKING_DELTA; at = list->items[at].base)
		depth++;
	return depth;
}

/*
 * Makes the array `depths` for delta_window_new(). Called before each pass over
 * the candidates, except the first pass. The candidates of a pass are split
 * into segments, which threads search independently.
 *
 * The array has one value for each item:
 * - An object that is still stored whole has the depth 0.
 * - A near delta (`is_near` is set) has its base in the same segment, before
 *   it. The pass may change the depth of the base. So the value is
 *   DELTA_WINDOW_BASE_DEPTH: the depth is computed from the base during the
 *   pass.
 * - Any other delta has its base in another segment. The value is the present
 *   depth of the delta. This depth stays the same during the pass, because
 *   settle_far() in delta-order.c leaves the whole delta chain as it is: the
 *   delta and its bases get no other base, and the object at the end of the
 *   chain stays whole.
 *
 * Returns NULL if memory runs out.
 */
static uint16_t *measure_depths(const struct search *s)
{
	uint16_t *depths = mem_calloc(s->list->nr, sizeof(*depths));

	for (size_t i = 0; depths && i < s->order.nr; i++) {
		const struct delta_candidate *c = &s->order.candidates[i];

		if (s->list->items[c->item].how == PACKING_DELTA)
			depths[c->item] = c->is_near
						  ? DELTA_WINDOW_BASE_DEPTH
						  : depth_now(s->list, c->item);
	}
	return depths;
}

static int worker_start(struct search *s, struct worker *w)
{
	if (w->window)
		return 0;
	if (!w->reader)
		w->reader = odb_reader_new(s->list->space->odb, READER_CACHE);
	if (!w->deflater)
		w->deflater = deflater_new(s->options.compression);
	if (!w->reader || !w->deflater)
		return ERR_NOMEM;
	w->window = delta_window_new(s->list, &s->options, s->heights,
				     s->depths, w->reader);
	return w->window ? 0 : ERR_NOMEM;
}

static void worker_release(struct worker *w)
{
	delta_window_free(w->window);
	deflater_free(w->deflater);
	odb_reader_free(w->reader);
	buf_release(&w->scratch);
}

/*
 * Deflate the delta of an item and keep the bytes if the cache has room. When
 * the cache is full, later deltas are not deflated. Returns 0 or ERR_NOMEM.
 */
static int keep_bytes(struct search *s, struct worker *w,
		      struct packing_item *item, const void *delta)
{
	uint64_t limit = s->options.cache_size;
	size_t len;

	if ((limit && atomic_load(&s->kept) >= limit) ||
	    (s->options.cache_limit &&
	     item->delta_size > s->options.cache_limit))
		return 0;
	buf_reset(&w->scratch);
	if (deflater_append(w->deflater, &w->scratch, delta, item->delta_size) <
	    0)
		return ERR_NOMEM;
	len = w->scratch.len;
	if (len > UINT32_MAX)
		return 0;
	if (atomic_fetch_add(&s->kept, len) + len > limit && limit) {
		atomic_fetch_sub(&s->kept, len);
		return 0;
	}
	item->delta = mem_alloc(len, 1);
	if (!item->delta)
		return ERR_NOMEM;
	memcpy(item->delta, w->scratch.data, len);
	item->delta_len = (uint32_t)len;
	return 0;
}

static int keep(struct search *s, struct worker *w, uint32_t item_nr,
		const struct delta_found *found)
{
	struct packing_item *item = &s->list->items[item_nr];

	if (item->delta)
		atomic_fetch_sub(&s->kept, item->delta_len);
	free(item->delta);
	item->delta = NULL;
	item->how = PACKING_DELTA;
	item->base = found->base;
	item->delta_size = (uint32_t)found->len;
	return keep_bytes(s, w, item, found->delta);
}

static int search_segment(void *ctx, unsigned thread_nr, size_t task_nr,
			  struct error *err)
{
	struct search *s = ctx;
	struct worker *w = &s->workers[thread_nr];
	const struct delta_segment *seg = &s->order.segments[task_nr];
	struct delta_found found;

	if (worker_start(s, w) < 0)
		return error_nomem(err);
	for (size_t i = seg->first; i < seg->end; i++) {
		const struct delta_candidate *c = &s->order.candidates[i];
		int ret;

		if (c->is_skipped)
			continue;
		if (c->starts)
			delta_window_reset(w->window);
		ret = delta_window_slide(w->window, c->item, c->is_target,
					 &found, err);

		if (!ret && found.delta && keep(s, w, c->item, &found) < 0)
			ret = error_nomem(err);
		free(found.delta);
		if (!ret && c->is_target)
			ret = progress_step(&s->progress, 1, err);
		if (ret < 0)
			return ret;
	}
	delta_window_reset(w->window);
	return 0;
}

/* Make one pass over the candidates in their current order. */
static int search_pass(struct search *s, unsigned threads, bool is_first,
		       struct error *err)
{
	int ret = 0;

	if (!s->order.target_nr)
		return 0;
	s->heights = measure_heights(s->list, s->options.depth);
	if (s->heights && !is_first)
		s->depths = measure_depths(s);
	if (!s->heights || (!is_first && !s->depths))
		ret = error_nomem(err);
	progress_start(&s->progress, s->options.progress,
		       is_first && s->options.grouping == PATH_GROUP_PATH
			       ? "Compressing objects by path"
			       : "Compressing objects",
		       s->order.target_nr);
	if (!ret)
		ret = sys_parallel(threads, s->order.segment_nr, search_segment,
				   s, err);
	progress_stop(&s->progress);
	/*
	 * Free the windows of the threads first, because they borrow the
	 * tables.
	 */
	for (unsigned i = 0; i < threads; i++) {
		delta_window_free(s->workers[i].window);
		s->workers[i].window = NULL;
	}
	free(s->heights);
	free(s->depths);
	s->heights = s->depths = NULL;
	return ret;
}

static int search_all(struct search *s, struct error *err)
{
	static const enum delta_pass further[] = {
		DELTA_PASS_ROOTS,
		DELTA_PASS_ALL,
	};
	unsigned threads = s->options.threads ? s->options.threads
					      : sys_cpu_nr();
	size_t further_nr = s->options.grouping == PATH_GROUP_PATH
				    ? ARRAY_NR(further)
				    : 0;
	int ret;

	s->workers = mem_calloc(threads, sizeof(*s->workers));
	if (!s->workers)
		return error_nomem(err);
	for (unsigned i = 0; i < threads; i++)
		buf_init(&s->workers[i].scratch);
	ret = search_pass(s, threads, true, err);
	for (size_t i = 0; i < further_nr && !ret; i++) {
		ret = delta_order_pass(&s->order, s->list, &s->options,
				       further[i]);
		ret = ret < 0 ? error_nomem(err)
			      : search_pass(s, threads, false, err);
	}
	for (unsigned i = 0; i < threads; i++)
		worker_release(&s->workers[i]);
	free(s->workers);
	return ret;
}

/*
 * Exclude blobs from the delta search by their attributes. Attribute files are
 * read only if some object may become a delta.
 */
static int apply_attrs(struct search *s, struct error *err)
{
	int ret = s->order.target_nr ? names_apply_attrs(s->list, err) : 0;

	if (ret <= 0)
		return ret;
	delta_order_release(&s->order);
	ret = delta_order_init(&s->order, s->list, &s->options);
	return ret < 0 ? error_nomem(err) : 0;
}

int delta_search_run(struct packing_items *list,
		     const struct delta_search_options *options,
		     struct error *err)
{
	struct search s = {.list = list, .options = *options};
	int ret;

	if (!options->window || !options->depth)
		return 0;
	if (s.options.depth > DEPTH_MAX)
		s.options.depth = DEPTH_MAX;
	if (delta_order_init(&s.order, list, &s.options) < 0)
		return error_nomem(err);
	ret = apply_attrs(&s, err);
	if (s.options.window > s.order.nr)
		s.options.window = (unsigned)s.order.nr;
	if (!ret && s.order.nr)
		ret = search_all(&s, err);
	delta_order_release(&s.order);
	return ret;
}

/*
 * Make the delta of an item again, with the same bytes as the search made.
 * Returns 0, ERR_CORRUPT or ERR_NOMEM.
 */
static int make_again(const struct packing_item *item,
		      const struct odb_object *base,
		      const struct odb_object *target, void **delta,
		      struct error *err)
{
	struct delta_index *index = delta_index_new(base->data, base->len);
	size_t len;
	int ret;

	if (!index)
		return error_nomem(err);
	ret = delta_create(index, target->data, target->len, 0, delta, &len);
	delta_index_free(index);
	if (ret < 0)
		return error_nomem(err);
	if (len == item->delta_size)
		return 0;
	free(*delta);
	*delta = NULL;
	return error_set(err, ERR_CORRUPT,
			 "an object changed while it was packed");
}

static int deflate(const void *bytes, size_t len, int compression,
		   uint8_t **out, size_t *out_len, struct error *err)
{
	struct deflater *deflater = deflater_new(compression);
	struct buf buf = BUF_INIT;
	int ret = ERR_NOMEM;

	if (deflater)
		ret = deflater_append(deflater, &buf, bytes, len);
	if (!ret)
		*out = (uint8_t *)buf_detach(&buf, out_len);
	deflater_free(deflater);
	buf_release(&buf);
	return ret < 0 ? error_nomem(err) : 0;
}

int delta_search_remake(const struct packing_items *list, uint32_t item,
			struct odb_reader *reader, int compression,
			uint8_t **delta, size_t *delta_len, struct error *err)
{
	const struct packing_item *it = &list->items[item];
	struct odb_object base = ODB_OBJECT_INIT, target = ODB_OBJECT_INIT;
	void *made = NULL;
	int ret;

	ret = objspace_read(list->space, reader, list->items[it->base].obj_pos,
			    &base, err);
	if (ret < 0)
		return ret;
	ret = objspace_read(list->space, reader, it->obj_pos, &target, err);
	if (!ret)
		ret = make_again(it, &base, &target, &made, err);
	odb_object_release(reader, &target);
	odb_object_release(reader, &base);
	if (!ret)
		ret = deflate(made, it->delta_size, compression, delta,
			      delta_len, err);
	free(made);
	return ret;
}
