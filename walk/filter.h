/* SPDX-License-Identifier: MIT */
/*
 * Object filters of `git rev-list --filter=<spec>` and of partial clones:
 *
 *	blob:none               no blobs
 *	blob:limit=<n>[kmg]     no blobs of n bytes or more
 *	tree:<depth>            no trees and blobs at this depth or deeper. A
 *	                        commit's tree is at depth 0, and the entries of
 *	                        this tree are at depth 1. A tree that is itself
 *	                        a want passes and has no depth: its entries are
 *	                        at depth 0. If an object has several depths,
 *	                        the least counts
 *	object:type=<type>      no objects of other types
 *	sparse:oid=<blob-ish>   no blobs outside the sparse checkout that the
 *	                        blob describes (sparse.h)
 *	combine:<spec>+<spec>   objects that pass all parts; the parts are
 *	                        percent-encoded
 *
 * A struct filter keeps the parts as they were given, and their combined
 * effect. A filter does not know the wants. Callers let the wants themselves
 * pass.
 */
#ifndef WALK_FILTER_H
#define WALK_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "object/type.h"

enum filter_kind {
	FILTER_BLOB_NONE,
	FILTER_BLOB_LIMIT,
	FILTER_TREE,
	FILTER_OBJECT_TYPE,
	FILTER_SPARSE_OID,
	/*
	 * A combination of filters ("combine:"). Only filter_kind_name() takes
	 * this value; no part of a filter has it.
	 */
	FILTER_COMBINE,
};

struct filter_part {
	enum filter_kind kind;
	/*
	 * the number in the specification: bytes of a BLOB_LIMIT part, depth of
	 * a TREE part
	 */
	uint64_t number;
	/* of an OBJECT_TYPE part: the type that the specification names */
	enum object_type type;
	/* owned: the <blob-ish> of a SPARSE_OID part; NULL for other parts */
	char *name;
};

/*
 * Maximum number of parts in a filter. A client chooses the filter, so its
 * memory must be limited.
 */
#define FILTER_PARTS_MAX 1024

struct sparse;

struct filter {
	/* owned: the parts of the filter; without parts every object passes */
	struct filter_part *parts;
	size_t nr, alloc;
	/* true: the filter was given as "combine:<spec>+<spec>" */
	bool is_combined;
	/* The fields from here on are the combined effect of all parts. */
	/* only blobs with fewer bytes pass the filter; UINT64_MAX: no limit */
	uint64_t blob_limit;
	/*
	 * only trees and blobs at a smaller depth pass the filter; UINT64_MAX:
	 * no limit
	 */
	uint64_t depth;
	/*
	 * bit mask of the types of objects that pass all OBJECT_TYPE parts: 1
	 * << enum object_type
	 */
	unsigned types;
	/*
	 * Owned: patterns of each SPARSE_OID part; NULL before
	 * filter_load_sparse().
	 */
	struct sparse **sparse;
	size_t sparse_nr;
};

void filter_init(struct filter *filter);
void filter_release(struct filter *filter);

/*
 * Returns whether every object passes the filter. A NULL filter lets every
 * object pass.
 */
static inline bool filter_is_empty(const struct filter *filter)
{
	return !filter || !filter->nr;
}

/*
 * Returns whether the filter has a SPARSE_OID part, which names a blob with
 * sparse patterns. Returns false for a NULL filter.
 */
bool filter_has_sparse(const struct filter *filter);

/*
 * Parses a specification and adds it to the filter: an object then passes if it
 * passes both the filter so far and the new specification. Returns 0,
 * ERR_NOMEM, or ERR_INVALID with stock Git's message ("invalid filter-spec
 * '<spec>'"). On failure the filter is unchanged.
 */
int filter_add(struct filter *filter, const char *spec, struct error *err);

/*
 * Appends the filter's specification to `out`, like "blob:limit=1024" or
 * "combine:tree:2+blob:none". Numbers have no unit suffix, and nested
 * combinations become one. Returns 0 or ERR_NOMEM.
 */
int filter_print(struct buf *out, const struct filter *filter);

/*
 * Returns the name that the configuration has for a kind of filter in
 * uploadpackfilter.<filter>.allow: "blob:none", "tree", ...
 */
const char *filter_kind_name(enum filter_kind kind);

/* Returns whether an object of this type can pass the filter. */
bool filter_takes_type(const struct filter *filter, enum object_type type);

/* Returns whether all objects of this type pass the filter. */
bool filter_takes_all(const struct filter *filter, enum object_type type);

/* Returns whether the filter has a limit on the size of blobs. */
static inline bool filter_needs_size(const struct filter *filter)
{
	return filter->blob_limit && filter->blob_limit != UINT64_MAX &&
	       filter_takes_type(filter, OBJ_BLOB);
}

/*
 * Returns whether the filter depends on paths. If not, only types and sizes
 * matter.
 */
bool filter_needs_paths(const struct filter *filter);

#endif
