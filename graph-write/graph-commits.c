/* SPDX-License-Identifier: MIT */
/* Collects the commits of a commit-graph file. */
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "base/sort.h"
#include "graph-write/graph-content.h"
#include "graph/commit-graph-layer.h"

int graph_commits_open(struct graph_commits *c, const struct odb *odb,
		       const struct commit_graph *graph, uint32_t below_nr,
		       struct error *err)
{
	int ret;

	*c = (struct graph_commits){.graph = graph, .below_nr = below_nr};
	ret = walk_open(&c->walk, odb, NULL, 0, err);
	if (!ret)
		history_drop_graph(&c->walk.history);
	return ret;
}

void graph_commits_close(struct graph_commits *c)
{
	walk_close(&c->walk);
}

int graph_commits_add(struct graph_commits *c, const struct oid *oid,
		      enum graph_commits_missing missing, struct error *err)
{
	char hex[OID_MAX_HEX_LEN + 1];
	enum object_type type;
	struct oid peeled;
	int ret = odb_peel(c->walk.reader, oid, &peeled, &type, err);

	if (ret == ERR_MISSING) {
		if (missing == GRAPH_COMMITS_SKIP_MISSING)
			return 0;
		return error_set(err, ERR_INVALID, "invalid object: %s",
				 oid_to_hex(hex, oid, c->walk.odb->algo));
	}
	if (ret < 0 || type != OBJ_COMMIT)
		return ret < 0 ? ret : 0;
	ret = graph_commits_add_raw(c, peeled.bytes, err);
	return ret < 0 ? ret : 1;
}

int graph_commits_add_raw(struct graph_commits *c, const uint8_t *raw,
			  struct error *err)
{
	uint32_t obj_pos, commit_nr;

	if (objspace_add(&c->walk.space, raw, &obj_pos) < 0 ||
	    history_add(&c->walk.history, obj_pos, &commit_nr) < 0)
		return error_nomem(err);
	return 0;
}

int graph_commits_add_pack(struct graph_commits *c, struct pack *pack,
			   struct error *err)
{
	struct pack_reader *reader = pack_reader_new(1 << 20);
	struct progress meter;
	int ret = reader ? 0 : error_nomem(err);

	progress_start(&meter, c->progress,
		       "Finding commits for commit graph among packed objects",
		       pack->idx.nr);
	for (uint32_t i = 0; !ret && i < pack->idx.nr; i++) {
		enum object_type type;

		ret = pack_reader_info(reader, pack,
				       pack_idx_offset(&pack->idx, i), &type,
				       NULL, err);
		if (!ret && type == OBJ_COMMIT)
			ret = graph_commits_add_raw(
				c, pack_idx_oid(&pack->idx, i), err);
		progress_add(&meter, 1);
	}
	progress_stop(&meter);
	pack_reader_free(reader);
	return ret;
}

int graph_commits_add_graph(struct graph_commits *c,
			    const struct commit_graph *graph,
			    uint32_t graph_pos,
			    enum graph_commits_missing missing,
			    struct error *err)
{
	int ret = 0;

	for (; !ret && graph_pos < commit_graph_nr(graph); graph_pos++) {
		struct oid oid;

		oid_from_raw(&oid, commit_graph_oid_raw(graph, graph_pos),
			     c->walk.odb->algo);
		if (missing == GRAPH_COMMITS_REFUSE_MISSING ||
		    odb_reader_has(c->walk.reader, &oid))
			ret = graph_commits_add_raw(c, oid.bytes, err);
	}
	return ret;
}

/*
 * Sets *graph_pos to the position of a commit in the layers that the new chain
 * keeps. Returns false if none of these layers has the commit.
 */
static bool is_below(struct graph_commits *c, const struct oid *oid,
		     uint32_t *graph_pos)
{
	return c->below_nr &&
	       commit_graph_find(c->graph, oid->bytes, graph_pos) &&
	       *graph_pos < c->below_nr;
}

static void commit_oid(struct oid *oid, struct graph_commits *c,
		       uint32_t commit_nr)
{
	objspace_oid(oid, &c->walk.space,
		     c->walk.history.commits[commit_nr].obj_pos);
}

int graph_commits_reach(struct graph_commits *c, struct error *err)
{
	struct history *h = &c->walk.history;
	struct progress meter;
	uint32_t graph_pos;
	struct oid oid;
	int ret = 0;

	progress_start(&meter, c->progress,
		       "Expanding reachable commits in commit graph", 0);
	if (!c->below_nr)
		history_read_ahead(h);
	/*
	 * history_parse() appends the parents of each commit to h->commits. So
	 * the loop ends after it has parsed all ancestors.
	 */
	for (uint32_t i = 0; !ret && i < h->nr; i++) {
		if (h->commits[i].parsed)
			continue;
		commit_oid(&oid, c, i);
		if (is_below(c, &oid, &graph_pos))
			continue;
		ret = history_parse(h, i, err);
		progress_add(&meter, 1);
	}
	progress_stop(&meter);
	return ret;
}

uint32_t graph_commits_nr(struct graph_commits *c)
{
	const struct history *h = &c->walk.history;
	uint32_t nr = 0;

	for (size_t i = 0; i < h->nr; i++)
		nr += h->commits[i].parsed;
	return nr;
}

/* ---- records */

void graph_records_release(struct graph_records *r)
{
	free(r->records);
	free(r->commit_nrs);
	free(r->parents);
	*r = (struct graph_records)GRAPH_RECORDS_INIT;
}

/* Returns the id of a commit, for sort_items_by_bytes(). */
static const uint8_t *id_of(const void *ctx, uint32_t commit_nr)
{
	const struct graph_commits *c = ctx;

	return objspace_raw(&c->walk.space,
			    c->walk.history.commits[commit_nr].obj_pos);
}

/* Puts the parsed commits of the history into `items`, sorted by id. */
static int sort_commits(struct sort_item *items, const struct graph_commits *c)
{
	const struct history *h = &c->walk.history;
	size_t nr = 0;

	for (uint32_t i = 0; i < h->nr; i++)
		if (h->commits[i].parsed)
			items[nr++] = (struct sort_item){0, i};
	return sort_items_by_bytes(items, nr, id_of, c,
				   hash_len(c->walk.odb->algo));
}

static void fill_record(struct commit_graph_record *r, struct graph_commits *c,
			uint32_t commit_nr)
{
	const struct history_commit *commit =
		&c->walk.history.commits[commit_nr];

	*r = (struct commit_graph_record){
		.date = commit->date,
		.first_parent = commit->first_parent,
		.parent_nr = commit->parent_nr,
	};
	commit_oid(&r->oid, c, commit_nr);
	objspace_oid(&r->tree, &c->walk.space, commit->tree_pos);
}

/*
 * Sets places[commit_nr] to the position (graph_pos) that each commit of the
 * history has in the new chain. The commit is in a lower layer that is kept, or
 * in the new layer.
 */
static int place_commits(uint32_t *places, const struct graph_records *r,
			 struct graph_commits *c, struct error *err)
{
	const struct history *h = &c->walk.history;

	for (uint32_t i = 0; i < r->nr; i++)
		places[r->commit_nrs[i]] = c->below_nr + i;
	for (uint32_t i = 0; i < h->nr; i++) {
		struct oid oid;

		if (h->commits[i].parsed)
			continue;
		commit_oid(&oid, c, i);
		if (!is_below(c, &oid, &places[i]))
			return error_set(err, ERR_INVALID,
					 "commits were not followed");
	}
	return 0;
}

static int alloc_records(struct graph_records *r, struct graph_commits *c,
			 struct error *err)
{
	r->nr = graph_commits_nr(c);
	if (r->nr >= COMMIT_GRAPH_NO_PARENT - c->below_nr)
		return error_set(err, ERR_UNSUPPORTED,
				 "too many commits to write graph");
	r->records = mem_alloc(r->nr, sizeof(*r->records));
	r->commit_nrs = mem_alloc(r->nr, sizeof(*r->commit_nrs));
	r->parents = mem_alloc(c->walk.history.parent_nr, sizeof(*r->parents));
	if (!r->records || !r->commit_nrs || !r->parents)
		return error_nomem(err);
	return 0;
}

int graph_commits_records(struct graph_records *r, struct graph_commits *c,
			  struct error *err)
{
	const struct history *h = &c->walk.history;
	struct sort_item *items = NULL;
	uint32_t *places = NULL;
	int ret = alloc_records(r, c, err);

	if (ret < 0)
		return ret;
	items = mem_alloc(r->nr, sizeof(*items));
	places = mem_alloc(h->nr, sizeof(*places));
	if (!items || !places || sort_commits(items, c) < 0) {
		ret = error_nomem(err);
		goto out;
	}
	for (uint32_t i = 0; i < r->nr; i++) {
		r->commit_nrs[i] = items[i].value;
		fill_record(&r->records[i], c, items[i].value);
	}
	ret = place_commits(places, r, c, err);
	for (size_t i = 0; !ret && i < h->parent_nr; i++)
		r->parents[i] = places[h->parents[i]];
out:
	free(items);
	free(places);
	return ret;
}
