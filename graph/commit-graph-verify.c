/* SPDX-License-Identifier: MIT */
/*
 * Verifies commit-graphs.
 *
 * If the table of ids of a layer is wrong, the commits of this layer are not
 * checked. Otherwise all processors read the commits of the layer, in the order
 * in which packs store them. The messages are then printed in the order of the
 * commits' ids.
 */
#include <stdarg.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "base/sort.h"
#include "graph/commit-graph-parts.h"
#include "graph/commit-graph-verify.h"
#include "sys/thread.h"

/* number of commits in a task; a thread takes one task at a time */
#define TASK_COMMITS 512
/* bytes of each thread's object cache */
#define READER_CACHE ((size_t)16 << 20)

/* The errors that a thread found in a commit. */
struct remark {
	uint32_t layer_pos;
	struct buf lines; /* each line ends in a NUL */
};

struct remarks {
	struct remark *items; /* owned */
	size_t nr, alloc;
};

struct verifying {
	const struct odb *odb;
	const struct commit_graph_verify_options *o;
	const struct commit_graph *graph;
	const struct commit_graph_layer *layer;
	/*
	 * positions of the layer's commits, in the order in which packs store
	 * the commits
	 */
	struct sort_item *order;
	struct odb_reader **readers; /* indexed by thread */
	struct remarks *remarks;     /* indexed by thread */
	unsigned thread_nr;
	struct progress meter;
	struct error *err;
	int found;
};

/*
 * Reports an error with options->complain(), and adds the bits `found`
 * (COMMIT_GRAPH_*) to v->found. Returns 0 or ERR_NOMEM.
 */
static int complain(struct verifying *v, int found, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static int complain(struct verifying *v, int found, const char *fmt, ...)
{
	struct buf line = BUF_INIT;
	va_list ap;
	int ret;

	va_start(ap, fmt);
	ret = buf_vprintf(&line, fmt, ap);
	va_end(ap);
	if (!ret)
		v->o->complain(v->o->ctx, line.data);
	v->found |= found;
	buf_release(&line);
	return ret < 0 ? error_nomem(v->err) : 0;
}

/* ---- the table of ids */

static int check_order(struct verifying *v, uint32_t layer_pos)
{
	const struct commit_graph_layer *layer = v->layer;
	char before[OID_MAX_HEX_LEN + 1], hex[OID_MAX_HEX_LEN + 1];
	const uint8_t *last, *id = pack_ids_at(&layer->ids, layer_pos);

	if (!layer_pos)
		return 0;
	last = pack_ids_at(&layer->ids, layer_pos - 1);
	if (memcmp(last, id, hash_len(layer->algo)) < 0)
		return 0;
	return complain(v, COMMIT_GRAPH_IS_WRONG,
			"commit-graph has incorrect OID order: %s then %s",
			oid_raw_to_hex(before, last, layer->algo),
			oid_raw_to_hex(hex, id, layer->algo));
}

/*
 * Checks fanout entries, of which entry b is the number of ids whose first byte
 * is at most b. `nr` ids were visited, and the next id begins with the byte
 * `end`. So each entry from *byte up to `end` (excluded) must have the value
 * `nr`. A wrong entry is reported by complain(). Sets *byte to `end`. Returns
 * 0, also after a report, or ERR_NOMEM.
 */
static int check_fanout(struct verifying *v, unsigned *byte, unsigned end,
			uint32_t nr)
{
	int ret = 0;

	for (; !ret && *byte < end; ++*byte) {
		uint32_t n = load_be32(v->layer->ids.fanout +
				       (size_t)4 * *byte);

		if (n != nr)
			ret = complain(v, COMMIT_GRAPH_IS_WRONG,
				       "commit-graph has incorrect fanout "
				       "value: fanout[%u] = %u != %u",
				       *byte, (unsigned)n, (unsigned)nr);
	}
	return ret;
}

static int check_ids(struct verifying *v)
{
	const struct commit_graph_layer *layer = v->layer;
	unsigned byte = 0;
	int ret = 0;

	for (uint32_t i = 0; !ret && i < layer->nr; i++) {
		ret = check_order(v, i);
		if (!ret)
			ret = check_fanout(v, &byte,
					   pack_ids_at(&layer->ids, i)[0], i);
	}
	return ret ? ret : check_fanout(v, &byte, 256, layer->nr);
}

/* ---- the commits */

/*
 * Returns a sort key for the place where a commit is stored: pack by pack, then
 * loose objects.
 */
static uint64_t place_of(const struct odb *odb, const uint8_t *raw)
{
	const struct odb_pack *pack;
	uint32_t odb_pos, idx_pos;

	if (!odb_find_raw(odb, raw, &odb_pos))
		return UINT64_MAX;
	pack = odb_locate(odb, odb_pos, &idx_pos);
	return (uint64_t)(pack - odb->packs) << 48 |
	       (pack_idx_offset(&pack->pack->idx, idx_pos) &
		((UINT64_C(1) << 48) - 1));
}

static int sort_commits(struct verifying *v)
{
	const struct commit_graph_layer *layer = v->layer;

	v->order = mem_alloc(layer->nr, sizeof(*v->order));
	if (!v->order)
		return error_nomem(v->err);
	for (uint32_t i = 0; i < layer->nr; i++)
		v->order[i] = (struct sort_item){
			place_of(v->odb, pack_ids_at(&layer->ids, i)), i};
	return sort_items(v->order, layer->nr) < 0 ? error_nomem(v->err) : 0;
}

static int add_remark(struct remarks *remarks, uint32_t layer_pos,
		      struct buf *lines)
{
	if (mem_grow(&remarks->items, &remarks->alloc, remarks->nr + 1,
		     sizeof(*remarks->items)) < 0)
		return ERR_NOMEM;
	remarks->items[remarks->nr++] = (struct remark){layer_pos, *lines};
	buf_init(lines);
	return 0;
}

static int run_task(void *ctx, unsigned thread_nr, size_t task_nr,
		    struct error *err)
{
	struct verifying *v = ctx;
	size_t start = task_nr * TASK_COMMITS, end = start + TASK_COMMITS;
	struct buf lines = BUF_INIT;
	int ret = 0;

	if (end > v->layer->nr)
		end = v->layer->nr;
	for (size_t i = start; !ret && i < end; i++) {
		uint32_t layer_pos = v->order[i].value;

		ret = commit_graph_compare(&lines, v->graph,
					   v->layer->below_nr + layer_pos,
					   v->readers[thread_nr]);
		if (!ret && lines.len)
			ret = add_remark(&v->remarks[thread_nr], layer_pos,
					 &lines);
	}
	progress_add(&v->meter, end - start);
	buf_release(&lines);
	return ret < 0 ? error_nomem(err) : 0;
}

static void say_lines(struct verifying *v, const struct buf *lines)
{
	for (const char *p = lines->data; p < lines->data + lines->len;
	     p += strlen(p) + 1)
		v->o->complain(v->o->ctx, p);
	v->found |= COMMIT_GRAPH_IS_WRONG;
}

/* Reports the errors that the threads found, in the order of the commits. */
static int say_remarks(struct verifying *v)
{
	struct sort_item *items;
	size_t nr = 0;
	int ret;

	for (unsigned t = 0; t < v->thread_nr; t++)
		nr += v->remarks[t].nr;
	items = mem_alloc(nr, sizeof(*items));
	if (!items)
		return error_nomem(v->err);
	nr = 0;
	for (unsigned t = 0; t < v->thread_nr; t++)
		for (size_t i = 0; i < v->remarks[t].nr; i++)
			items[nr++] = (struct sort_item){
				(uint64_t)v->remarks[t].items[i].layer_pos
						<< 32 |
					t,
				(uint32_t)i};
	ret = sort_items(items, nr);
	for (size_t i = 0; !ret && i < nr; i++) {
		const struct remarks *r = &v->remarks[(uint32_t)items[i].key];

		say_lines(v, &r->items[items[i].value].lines);
	}
	free(items);
	return ret < 0 ? error_nomem(v->err) : 0;
}

static void release_layer(struct verifying *v)
{
	for (unsigned t = 0; v->remarks && t < v->thread_nr; t++) {
		for (size_t i = 0; i < v->remarks[t].nr; i++)
			buf_release(&v->remarks[t].items[i].lines);
		free(v->remarks[t].items);
	}
	free(v->remarks);
	free(v->order);
	v->remarks = NULL;
	v->order = NULL;
}

static int check_commits(struct verifying *v)
{
	size_t task_nr = (v->layer->nr + TASK_COMMITS - 1) / TASK_COMMITS;
	int ret = sort_commits(v);

	v->remarks = mem_calloc(v->thread_nr, sizeof(*v->remarks));
	if (!v->remarks)
		ret = error_nomem(v->err);
	if (!ret)
		ret = sys_parallel(v->thread_nr, task_nr, run_task, v, v->err);
	if (!ret)
		ret = say_remarks(v);
	release_layer(v);
	return ret;
}

/* ---- layers and graphs */

static int check_layer(struct verifying *v)
{
	struct error why = ERROR_INIT;
	int found = v->found;
	int ret = commit_graph_layer_verify(v->layer, &why);

	v->found = 0;
	if (ret == ERR_CORRUPT)
		ret = complain(v, COMMIT_GRAPH_BAD_CHECKSUM,
			       "the commit-graph file has incorrect checksum "
			       "and is likely corrupt");
	if (!ret)
		ret = check_ids(v);
	if (!ret && commit_graph_layer_verify_filters(v->layer, &why) < 0)
		ret = complain(v, COMMIT_GRAPH_IS_WRONG, "%s", why.msg);
	if (!ret && !(v->found & COMMIT_GRAPH_IS_WRONG))
		ret = check_commits(v);
	/* A wrong checksum is reported only if the layer has no other error. */
	if (v->found & COMMIT_GRAPH_IS_WRONG)
		v->found &= ~COMMIT_GRAPH_BAD_CHECKSUM;
	v->found |= found;
	return ret;
}

static int open_readers(struct verifying *v)
{
	v->readers = mem_calloc(v->thread_nr, sizeof(struct odb_reader *));
	for (unsigned t = 0; v->readers && t < v->thread_nr; t++) {
		v->readers[t] = odb_reader_new(v->odb, READER_CACHE);
		if (!v->readers[t])
			return error_nomem(v->err);
	}
	return v->readers ? 0 : error_nomem(v->err);
}

static void close_readers(struct verifying *v)
{
	for (unsigned t = 0; v->readers && t < v->thread_nr; t++)
		odb_reader_free(v->readers[t]);
	free(v->readers);
}

/*
 * Checks the layers, the topmost layer first, as stock Git does. With the
 * option `shallow`, checks only the topmost layer.
 */
static int check_graph(struct verifying *v)
{
	const struct commit_graph *graph = v->graph;
	size_t lowest = v->o->shallow ? graph->layer_nr - 1 : 0;
	int ret = open_readers(v);

	progress_start(&v->meter, v->o->progress,
		       "Verifying commits in commit graph",
		       graph->nr - graph->layers[lowest].below_nr);
	for (size_t i = graph->layer_nr; !ret && i-- > lowest;) {
		v->layer = &graph->layers[i];
		ret = check_layer(v);
	}
	progress_stop(&v->meter);
	close_readers(v);
	return ret;
}

/* Reports an error that occurred when the commit-graph was opened. */
static int check_open(struct verifying *v, const struct error *why)
{
	int ret = 0;

	if (why->code && why->code != ERR_MISSING)
		ret = complain(v, COMMIT_GRAPH_IS_WRONG, "error: %s", why->msg);
	if (!ret &&
	    (v->graph ? v->graph->incomplete : why->code == ERR_MISSING))
		ret = complain(v, COMMIT_GRAPH_IS_WRONG,
			       "warning: unable to find all commit-graph "
			       "files");
	return ret;
}

int commit_graph_verify_dir(const struct odb *odb,
			    const struct commit_graph_verify_options *options,
			    struct error *err)
{
	struct verifying v = {.odb = odb, .o = options, .err = err};
	struct error why = ERROR_INIT;
	struct commit_graph *graph;
	int ret = commit_graph_open_dir(&graph, odb, options->dir_nr, &why);

	if (!ret)
		return 0;
	if (ret == ERR_NOMEM)
		return error_nomem(err);
	v.graph = graph;
	v.thread_nr = options->threads ? options->threads : sys_cpu_nr();
	ret = check_open(&v, &why);
	if (!ret && graph)
		ret = check_graph(&v);
	if (!ret && graph && graph->incomplete)
		ret = complain(&v, COMMIT_GRAPH_IS_WRONG,
			       "error: one or more commit-graph chain files "
			       "could not be loaded");
	commit_graph_close(graph);
	return ret < 0 ? ret : v.found;
}
