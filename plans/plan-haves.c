/* SPDX-License-Identifier: MIT */
/* Removes each have that is a parent of another have. */
#include <stdlib.h>

#include "base/mem.h"
#include "object/parse.h"
#include "plans/plan.h"
#include "repo/grafts.h"
#include "repo/shallow.h"

/*
 * If a request has at most this number of haves, those that are parents of
 * other haves are removed. For this, the commits of the haves are read. If it
 * has more haves, all are kept: reading more commits would take longer than
 * most plans (cached responses) save. A client of stock Git sends 16 haves
 * first.
 */
#define HAVES_MAX 64

/*
 * Maximum size in bytes of a commit that is read. Clients choose the haves, so
 * without this limit they could make the server read large objects.
 */
#define COMMIT_MAX ((uint64_t)1 << 20)

static int stop(void *ctx, const struct oid *oid)
{
	return 1;
}

/*
 * Returns whether every commit has exactly the parents that are written in it:
 * the repository has no shallow boundary and no grafts.
 */
static bool has_all_parents(const struct repo *repo)
{
	struct buf grafts = BUF_INIT;
	bool ret = !repo_shallow_each(repo, stop, NULL, NULL) &&
		   !grafts_read(&grafts, repo, NULL) && !grafts.len;

	buf_release(&grafts);
	return ret;
}

static int compare(const void *a, const void *b)
{
	return oid_cmp(a, b);
}

/*
 * `haves` has `nr` commit ids, sorted. Sets is_parent[i] if haves[i] is a
 * parent of the commit `object`. Does nothing if `object` is not a valid
 * commit.
 */
static void mark_parents(bool *is_parent, const struct oid *haves, size_t nr,
			 const struct odb_object *object, enum hash_algo algo)
{
	struct commit_view view;

	if (object->type != OBJ_COMMIT ||
	    commit_parse(&view, object->data, object->len, algo, NULL) < 0)
		return;
	for (size_t i = 0; i < view.parent_nr; i++) {
		const struct oid *found;
		struct oid parent;

		commit_parent(&parent, &view, i, algo);
		found = bsearch(&parent, haves, nr, sizeof(parent), compare);
		if (found)
			is_parent[found - haves] = true;
	}
}

/* Returns whether a have is a commit that is small enough to be read. */
static bool is_readable(struct odb_reader *reader, const struct oid *have)
{
	enum object_type type;
	uint64_t size;

	return !odb_info(reader, have, &type, &size, NULL) &&
	       type == OBJ_COMMIT && size <= COMMIT_MAX;
}

static void mark_all(bool *is_parent, const struct oid *haves, size_t nr,
		     struct odb_reader *reader, enum hash_algo algo)
{
	for (size_t i = 0; i < nr; i++) {
		struct odb_object object = ODB_OBJECT_INIT;

		if (is_readable(reader, &haves[i]) &&
		    !odb_read(reader, &haves[i], &object, NULL))
			mark_parents(is_parent, haves, nr, &object, algo);
		odb_object_release(reader, &object);
	}
}

void plan_haves_reduce(struct oid *haves, size_t *nr, const struct odb *odb,
		       const struct packing_request *request)
{
	bool is_parent[HAVES_MAX] = {false};
	struct odb_reader *reader;
	size_t kept = 0;

	if (*nr < 2 || *nr > HAVES_MAX || request->shallow_nr ||
	    !request->knows_shallow || !has_all_parents(odb->repo))
		return;
	reader = odb_reader_new(odb, 0);
	if (!reader)
		return;
	mark_all(is_parent, haves, *nr, reader, odb->algo);
	odb_reader_free(reader);
	for (size_t i = 0; i < *nr; i++)
		if (!is_parent[i])
			haves[kept++] = haves[i];
	*nr = kept;
}
