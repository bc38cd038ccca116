/* SPDX-License-Identifier: MIT */
/* Counts the commits that refs reach and a commit-graph does not have. */
#include <stdlib.h>

#include "base/mem.h"
#include "graph-write/commit-graph-write.h"
#include "graph/commit-graph.h"
#include "object/links.h"
#include "object/oidmap.h"
#include "refs/refs.h"

/* bytes of delta bases that the reader caches */
enum { READER_CACHE = 1 << 20 };

struct lacking {
	struct odb_reader *reader; /* owned */
	/* owned: the commit-graph; NULL: there is no usable graph */
	struct commit_graph *graph;
	enum hash_algo algo;
	uint64_t nr, limit; /* numbers of commits */
	struct oidmap seen;
	struct oid *stack; /* owned */
	size_t depth, alloc;
	struct error *err;
};

static int push(struct lacking *l, const struct oid *oid)
{
	uint32_t ignored;
	int ret;

	if (l->graph && commit_graph_find(l->graph, oid->bytes, &ignored))
		return 0;
	ret = oidmap_add(&l->seen, oid, 0, NULL);
	if (ret <= 0)
		return ret < 0 ? error_nomem(l->err) : 0;
	if (mem_grow(&l->stack, &l->alloc, l->depth + 1, sizeof(*l->stack)) < 0)
		return error_nomem(l->err);
	l->stack[l->depth++] = *oid;
	return 0;
}

static int push_link(void *ctx, const struct oid *to, enum object_type type,
		     struct error *err)
{
	(void)err;
	return type == OBJ_COMMIT || type == OBJ_TAG ? push(ctx, to) : 0;
}

/*
 * Visits an object: counts the object if it is a commit, and pushes the parents
 * of a commit or the target of a tag. Other objects are ignored. Returns 1 if
 * the limit is reached, 0 if not, or ERR_NOMEM.
 */
static int visit_object(struct lacking *l, const struct oid *oid)
{
	struct odb_object obj = ODB_OBJECT_INIT;
	enum object_type type;
	int ret = odb_info(l->reader, oid, &type, NULL, NULL);

	if (ret < 0 || (type != OBJ_COMMIT && type != OBJ_TAG))
		return 0;
	if (type == OBJ_COMMIT && ++l->nr >= l->limit)
		return 1;
	if (odb_read(l->reader, oid, &obj, NULL) < 0)
		return 0;
	ret = object_links_each(type, obj.data, obj.len, l->algo, push_link, l,
				NULL);
	odb_object_release(l->reader, &obj);
	return ret == ERR_NOMEM ? ret : 0;
}

static int visit_ref(void *ctx, const struct ref *ref)
{
	struct lacking *l = ctx;
	int ret = push(l, &ref->oid);

	while (!ret && l->depth) {
		struct oid oid = l->stack[--l->depth];

		ret = visit_object(l, &oid);
	}
	return ret;
}

int graph_lacks_commits(const struct repo *repo, uint64_t limit,
			struct error *err)
{
	struct lacking l = {
		.algo = repo->algo,
		.limit = limit,
		.seen = OIDMAP_INIT,
		.err = err,
	};
	struct refs *refs = NULL;
	struct odb *odb = NULL;
	int ret = refs_open(&refs, repo, err);

	if (!ret)
		ret = odb_open(&odb, repo, NULL, err);
	if (ret < 0)
		goto out;
	if (commit_graph_open(&l.graph, odb, NULL) < 0)
		l.graph = NULL;
	l.reader = odb_reader_new(odb, READER_CACHE);
	ret = l.reader ? refs_each(refs, "", visit_ref, &l, NULL, err)
		       : error_nomem(err);
out:
	odb_reader_free(l.reader);
	commit_graph_close(l.graph);
	odb_close(odb);
	refs_close(refs);
	oidmap_release(&l.seen);
	free(l.stack);
	return ret;
}
