/* SPDX-License-Identifier: MIT */
/* Loads commits into a history. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "object/parse.h"
#include "odb/odb-stored.h"
#include "sys/thread.h"
#include "walk/history.h"

int history_init(struct history *h, struct objspace *space,
		 struct odb_reader *reader, const struct oidmap *shallow,
		 struct error *err)
{
	*h = (struct history){
		.space = space,
		.reader = reader,
		.shallow = shallow,
	};
	if (commit_map_init(&h->map, space->packed_nr) < 0)
		return error_nomem(err);
	if (!shallow && commit_graph_open(&h->graph, space->odb, NULL) < 0)
		h->graph = NULL;
	return 0;
}

void history_check_graph(struct history *h)
{
	if (h->graph && commit_graph_verify(h->graph, NULL) < 0)
		history_drop_graph(h);
}

void history_drop_graph(struct history *h)
{
	commit_graph_close(h->graph);
	h->graph = NULL;
}

void history_release(struct history *h)
{
	progress_stop(&h->meter);
	commit_graph_close(h->graph);
	commit_ahead_free(h->ahead);
	free(h->commits);
	free(h->parents);
	commit_map_release(&h->map);
	free(h->graph_pos);
	free(h->by_graph);
	memset(h, 0, sizeof(*h));
}

uint32_t history_find(const struct history *h, uint32_t obj_pos)
{
	uint32_t value = commit_map_get(&h->map, obj_pos);

	return value ? value - 1 : HISTORY_NONE;
}

int history_add(struct history *h, uint32_t obj_pos, uint32_t *commit_nr)
{
	uint32_t *slot = commit_map_slot(&h->map, obj_pos);

	if (!slot)
		return ERR_NOMEM;
	if (!*slot) {
		if (mem_grow(&h->commits, &h->alloc, h->nr + 1,
			     sizeof(*h->commits)) < 0)
			return ERR_NOMEM;
		h->commits[h->nr] = (struct history_commit){
			.obj_pos = obj_pos,
			.generation = HISTORY_GENERATION_UNKNOWN,
		};
		*slot = (uint32_t)++h->nr;
	}
	*commit_nr = *slot - 1;
	return 0;
}

static int add_parent_nr(struct history *h, uint32_t commit_nr)
{
	if (mem_grow(&h->parents, &h->parent_alloc, h->parent_nr + 1,
		     sizeof(*h->parents)) < 0)
		return ERR_NOMEM;
	h->parents[h->parent_nr++] = commit_nr;
	return 0;
}

static int add_parent_pos(struct history *h, uint32_t obj_pos)
{
	uint32_t commit_nr;

	return history_add(h, obj_pos, &commit_nr) < 0
		       ? ERR_NOMEM
		       : add_parent_nr(h, commit_nr);
}

static int add_parent(struct history *h, const uint8_t *raw)
{
	uint32_t obj_pos;

	if (objspace_add(h->space, raw, &obj_pos) < 0)
		return ERR_NOMEM;
	return add_parent_pos(h, obj_pos);
}

/* ---- from the graph */

/* Up to this number of parents are read from the graph without malloc(). */
#define GRAPH_PARENTS_FEW 16

/*
 * A history records the positions of its commits in the commit-graph, in
 * h->graph_pos. If there are at most this many, they are searched one by one.
 * If there are more, the table h->by_graph is made, which has an element for
 * each commit of the graph. For small requests the table would be slower,
 * because its memory must be cleared first.
 */
#define FEW_NOTED 64

/*
 * Maps positions in the commit-graph to commits: fills h->by_graph from
 * h->graph_pos. Returns 0 or ERR_NOMEM.
 */
static int fill_by_graph(struct history *h)
{
	h->by_graph = mem_calloc(commit_graph_nr(h->graph),
				 sizeof(*h->by_graph));
	if (!h->by_graph)
		return ERR_NOMEM;
	for (size_t i = 0; i < h->graph_pos_nr; i++)
		if (h->graph_pos[i])
			h->by_graph[h->graph_pos[i] - 1] = (uint32_t)i + 1;
	return 0;
}

/*
 * Records the position of a commit in the commit-graph. Returns 0 or ERR_NOMEM.
 */
static int note_graph_pos(struct history *h, uint32_t commit_nr,
			  uint32_t graph_pos)
{
	size_t old = h->graph_pos_nr;

	if (commit_nr >= old) {
		if (mem_grow(&h->graph_pos, &h->graph_pos_alloc, h->nr,
			     sizeof(*h->graph_pos)) < 0)
			return ERR_NOMEM;
		memset(h->graph_pos + old, 0,
		       (h->nr - old) * sizeof(*h->graph_pos));
		h->graph_pos_nr = h->nr;
	}
	h->graph_pos[commit_nr] = graph_pos + 1;
	if (h->by_graph)
		h->by_graph[graph_pos] = commit_nr + 1;
	else if (h->graph_pos_nr > FEW_NOTED)
		return fill_by_graph(h);
	return 0;
}

/*
 * Finds the commit whose recorded position in the commit-graph is `graph_pos`.
 * Returns false if there is none.
 */
static bool find_noted(const struct history *h, uint32_t graph_pos,
		       uint32_t *commit_nr)
{
	size_t i = 0;

	if (h->by_graph) {
		*commit_nr = h->by_graph[graph_pos] - 1;
		return h->by_graph[graph_pos];
	}
	while (i < h->graph_pos_nr && h->graph_pos[i] != graph_pos + 1)
		i++;
	*commit_nr = (uint32_t)i;
	return i < h->graph_pos_nr;
}

/*
 * Adds a parent of the commit that is being parsed. The parent is known by its
 * position in the commit-graph. The parent's id is looked up only the first
 * time. Returns 0 or ERR_NOMEM.
 */
static int add_graph_parent(struct history *h, uint32_t graph_pos)
{
	uint32_t obj_pos, commit_nr;

	if (find_noted(h, graph_pos, &commit_nr))
		return add_parent_nr(h, commit_nr);
	if (objspace_add(h->space, commit_graph_oid_raw(h->graph, graph_pos),
			 &obj_pos) < 0 ||
	    history_add(h, obj_pos, &commit_nr) < 0 ||
	    note_graph_pos(h, commit_nr, graph_pos) < 0)
		return ERR_NOMEM;
	return add_parent_nr(h, commit_nr);
}

/*
 * Looks for a commit in the commit-graph. Returns 1 with *graph_pos set, 0 if
 * the graph does not have the commit, or ERR_NOMEM.
 */
static int find_in_graph(struct history *h, uint32_t commit_nr,
			 uint32_t *graph_pos)
{
	struct oid oid;

	if (!h->graph)
		return 0;
	if (history_graph_pos(h, commit_nr, graph_pos))
		return 1;
	objspace_oid(&oid, h->space, h->commits[commit_nr].obj_pos);
	if (!commit_graph_find(h->graph, oid.bytes, graph_pos))
		return 0;
	return note_graph_pos(h, commit_nr, *graph_pos) < 0 ? ERR_NOMEM : 1;
}

/*
 * Reads the positions of a commit's parents in the commit-graph. On entry,
 * *parents is an array of GRAPH_PARENTS_FEW elements. If the commit has more
 * parents, *parents becomes a new array, which the caller frees. Returns the
 * number of parents, ERR_CORRUPT if the commit's entry is damaged, or
 * ERR_NOMEM.
 */
static int read_graph_parents(const struct history *h, uint32_t graph_pos,
			      uint32_t **parents)
{
	int nr = commit_graph_parents(h->graph, graph_pos, *parents,
				      GRAPH_PARENTS_FEW, NULL);

	if (nr <= GRAPH_PARENTS_FEW)
		return nr;
	*parents = mem_alloc((size_t)nr, sizeof(**parents));
	if (!*parents)
		return ERR_NOMEM;
	return commit_graph_parents(h->graph, graph_pos, *parents, (size_t)nr,
				    NULL);
}

/* Sets the fields of a commit from its entry in the commit-graph. */
static int take_graph_entry(struct history *h, uint32_t commit_nr,
			    const struct commit_graph_entry *entry,
			    const uint32_t *parents, int nr)
{
	struct history_commit *c = &h->commits[commit_nr];
	uint32_t tree_pos = HISTORY_NONE;

	if (!h->lazy_trees &&
	    objspace_add(h->space, entry->tree, &tree_pos) < 0)
		return ERR_NOMEM;
	c->tree_pos = tree_pos;
	c->date = entry->date;
	c->generation = entry->generation ? entry->generation
					  : HISTORY_GENERATION_UNKNOWN;
	c->first_parent = (uint32_t)h->parent_nr;
	c->parent_nr = (uint32_t)nr;
	for (int i = 0; i < nr; i++)
		if (add_graph_parent(h, parents[i]) < 0)
			return ERR_NOMEM;
	return 0;
}

/*
 * Parses a commit from its entry in the commit-graph. Returns 1 if parsed, 0 if
 * the commit object must be read instead, or a negative error code.
 */
static int parse_from_graph(struct history *h, uint32_t commit_nr,
			    struct error *err)
{
	uint32_t few[GRAPH_PARENTS_FEW], *parents = few;
	struct commit_graph_entry entry;
	uint32_t graph_pos;
	int ret = find_in_graph(h, commit_nr, &graph_pos);
	int nr;

	if (ret <= 0)
		return ret < 0 ? error_nomem(err) : 0;
	nr = read_graph_parents(h, graph_pos, &parents);
	if (nr == ERR_NOMEM) {
		ret = error_nomem(err);
	} else if (nr < 0 ||
		   commit_graph_entry(&entry, h->graph, graph_pos, NULL) < 0) {
		/*
		 * The commit's entry in the commit-graph is damaged, so the
		 * commit object is read instead.
		 */
		h->lacks_generations = true;
		ret = 0;
	} else if (take_graph_entry(h, commit_nr, &entry, parents, nr) < 0) {
		ret = error_nomem(err);
	}
	if (parents != few)
		free(parents);
	return ret;
}

int history_tree(struct history *h, uint32_t commit_nr, uint32_t *tree_pos,
		 struct error *err)
{
	struct commit_graph_entry entry;
	uint32_t graph_pos;
	int ret;

	*tree_pos = h->commits[commit_nr].tree_pos;
	if (*tree_pos != HISTORY_NONE ||
	    !history_graph_pos(h, commit_nr, &graph_pos))
		return 0;
	ret = commit_graph_entry(&entry, h->graph, graph_pos, err);
	if (!ret && objspace_add(h->space, entry.tree, tree_pos) < 0)
		ret = error_nomem(err);
	if (!ret)
		h->commits[commit_nr].tree_pos = *tree_pos;
	return ret;
}

/* ---- parsing a commit that was decoded ahead, or the commit object */

/*
 * Copies the data of a commit from h->ahead, if the commit was decoded ahead.
 * Returns 1 if so, 0 if the commit was not decoded ahead, or a negative error
 * code.
 */
static int parse_from_ahead(struct history *h, uint32_t commit_nr,
			    struct error *err)
{
	struct history_commit *c = &h->commits[commit_nr];
	struct ahead_commit known;

	if (!h->ahead || !commit_ahead_get(h->ahead, c->obj_pos, &known))
		return 0;
	c->tree_pos = known.tree_pos;
	c->date = known.date;
	c->first_parent = (uint32_t)h->parent_nr;
	c->parent_nr = known.parent_nr;
	for (uint32_t i = 0; i < known.parent_nr; i++)
		if (add_parent_pos(h, known.parents[i]) < 0)
			return error_nomem(err);
	return 1;
}

static int parse_view(struct history *h, uint32_t commit_nr,
		      const struct commit_view *view, bool is_shallow)
{
	struct history_commit *c = &h->commits[commit_nr];
	uint32_t tree_pos;

	if (objspace_add(h->space, view->tree.bytes, &tree_pos) < 0)
		return ERR_NOMEM;
	c->tree_pos = tree_pos;
	c->date = view->committer_date;
	c->first_parent = (uint32_t)h->parent_nr;
	c->parent_nr = is_shallow ? 0 : (uint32_t)view->parent_nr;
	for (size_t i = 0; !is_shallow && i < view->parent_nr; i++) {
		struct oid parent;

		commit_parent(&parent, view, i, h->space->odb->algo);
		if (add_parent(h, parent.bytes) < 0)
			return ERR_NOMEM;
	}
	return 0;
}

static int parse_from_object(struct history *h, uint32_t commit_nr,
			     const struct oid *oid, struct error *err)
{
	char hex[OID_MAX_HEX_LEN + 1];
	enum hash_algo algo = h->space->odb->algo;
	struct odb_object obj = ODB_OBJECT_INIT;
	struct commit_view view;
	uint32_t ignored;
	bool is_shallow = h->shallow && oidmap_get(h->shallow, oid, &ignored);
	int ret = objspace_read(h->space, h->reader,
				h->commits[commit_nr].obj_pos, &obj, err);

	if (ret < 0)
		return ret;
	if (obj.type != OBJ_COMMIT)
		ret = error_set(err, ERR_CORRUPT, "object %s is not a commit",
				oid_to_hex(hex, oid, algo));
	else
		ret = commit_parse(&view, obj.data, obj.len, algo, err);
	if (!ret && parse_view(h, commit_nr, &view, is_shallow) < 0)
		ret = error_nomem(err);
	odb_object_release(h->reader, &obj);
	return ret;
}

void history_poll(struct history *h, const struct progress_out *out)
{
	if (!out || !out->poll)
		return;
	h->poll = *out;
	/*
	 * Commits get no progress line, as in stock Git. The meter still calls
	 * the callback `poll`, which may cancel the walk.
	 */
	h->poll.put = NULL;
	progress_start(&h->meter, &h->poll, "Reading commits", 0);
}

/*
 * Extends the error for a missing commit, which odb_read() has set. The new
 * error also names a child: a commit that has the missing commit as a parent.
 * The search for the child is slow, but the command fails anyway.
 */
static int report_missing(const struct history *h, uint32_t missing_nr,
			  struct error *err)
{
	struct error why = ERROR_INIT;
	char hex[OID_MAX_HEX_LEN + 1];
	struct oid oid;

	if (err)
		why = *err;
	for (uint32_t i = 0; i < h->nr; i++) {
		const struct history_commit *c = &h->commits[i];

		for (uint32_t p = 0; c->parsed && p < c->parent_nr; p++) {
			if (h->parents[c->first_parent + p] != missing_nr)
				continue;
			objspace_oid(&oid, h->space, c->obj_pos);
			oid_to_hex(hex, &oid, h->space->odb->algo);
			return error_set(err, ERR_MISSING,
					 "Failed to traverse parents of commit "
					 "%s: %s",
					 hex, why.msg);
		}
	}
	return ERR_MISSING;
}

int history_parse(struct history *h, uint32_t commit_nr, struct error *err)
{
	struct oid oid;
	int ret;

	if (h->commits[commit_nr].parsed)
		return 0;
	ret = parse_from_ahead(h, commit_nr, err);
	if (!ret)
		ret = parse_from_graph(h, commit_nr, err);
	if (!ret) {
		objspace_oid(&oid, h->space, h->commits[commit_nr].obj_pos);
		ret = parse_from_object(h, commit_nr, &oid, err);
		if (ret == ERR_CORRUPT &&
		    odb_stored_is_empty(h->space->odb, &oid))
			ret = error_recode(err, ERR_MISSING);
	}
	if (ret == ERR_MISSING && h->allow_missing) {
		h->commits[commit_nr].missing = true;
		ret = 0;
	}
	if (ret == ERR_MISSING)
		return report_missing(h, commit_nr, err);
	if (ret < 0)
		return ret;
	h->commits[commit_nr].parsed = true;
	return progress_step(&h->meter, 1, err);
}

void history_read_ahead(struct history *h)
{
	unsigned threads = h->threads ? h->threads : sys_cpu_nr();
	uint32_t *from;
	size_t nr = 0;

	if (threads < 2 || h->ahead || h->graph)
		return;
	from = mem_alloc(h->nr, sizeof(*from));
	if (!from)
		return;
	for (size_t i = 0; i < h->nr; i++)
		if (!h->commits[i].parsed)
			from[nr++] = h->commits[i].obj_pos;
	objspace_accelerate(h->space);
	h->ahead = commit_ahead_new(h->space, h->shallow, from, nr, threads);
	free(from);
}
