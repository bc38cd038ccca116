/* SPDX-License-Identifier: MIT */
/*
 * Object filters, as `git rev-list --filter=<spec>` and partial clones name
 * them:
 *
 *	blob:none               no blobs
 *	blob:limit=<n>[kmg]     no blobs of n bytes or more
 *	tree:<depth>            no trees and blobs at this depth or deeper; a
 *	                        commit's tree is at depth 0, and so is what is
 *	                        in a tree that was asked for by itself. What is
 *	                        found at several depths is at the least of them
 *	object:type=<type>      no objects of other types
 *	sparse:oid=<blob-ish>   no blobs outside the sparse checkout that the
 *	                        blob describes (sparse.h)
 *	combine:<spec>+<spec>   what all of them let through; the parts are
 *	                        percent-encoded
 *
 * A filter keeps its parts as they were named, and what they come to together.
 * Objects that were asked for by themselves are let through by whoever asks a
 * filter: it does not know them.
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
	FILTER_COMBINE, /* of no part, only in filter_kind_name() */
};

struct filter_part {
	enum filter_kind kind;
	uint64_t number;       /* of BLOB_LIMIT (bytes) and TREE (depth) */
	enum object_type type; /* of OBJECT_TYPE */
	char *name;            /* owned: of SPARSE_OID, else NULL */
};

/* Parts of one filter: a peer may name them. */
#define FILTER_PARTS_MAX 1024

struct sparse;

struct filter {
	struct filter_part *parts; /* owned; none: everything passes */
	size_t nr, alloc;
	bool is_combined; /* "combine:" was said */
	/* What the parts come to: */
	uint64_t blob_limit; /* blobs have fewer bytes; UINT64_MAX: no limit */
	uint64_t depth;      /* trees and blobs lie above; UINT64_MAX: any */
	unsigned types;      /* 1 << enum object_type that OBJECT_TYPE parts
				let through */
	/* Owned: of each SPARSE_OID part, once filter_load_sparse() was. */
	struct sparse **sparse;
	size_t sparse_nr;
};

void filter_init(struct filter *filter);
void filter_release(struct filter *filter);

/* Whether it lets everything through. NULL is a filter that does. */
static inline bool filter_is_empty(const struct filter *filter)
{
	return !filter || !filter->nr;
}

/*
 * Parse a specification and add it: what passed before and does not pass the
 * new one passes no more. 0, ERR_NOMEM, or ERR_INVALID with Git's words
 * ("invalid filter-spec '<spec>'"), the filter as before.
 */
int filter_add(struct filter *filter, const char *spec, struct error *err);

/*
 * Append the specification, with numbers written out and nested combinations
 * resolved: "blob:limit=1024", "combine:tree:2+blob:none". 0 or ERR_NOMEM.
 */
int filter_print(struct buf *out, const struct filter *filter);

/* The name in uploadpackfilter.<filter>.allow: "blob:none", "tree", ... */
const char *filter_kind_name(enum filter_kind kind);

/* Whether any object of this type can pass. */
bool filter_takes_type(const struct filter *filter, enum object_type type);

/* Whether all objects of this type pass. */
bool filter_takes_all(const struct filter *filter, enum object_type type);

/* Whether blobs' sizes decide. */
static inline bool filter_needs_size(const struct filter *filter)
{
	return filter->blob_limit && filter->blob_limit != UINT64_MAX &&
	       filter_takes_type(filter, OBJ_BLOB);
}

/*
 * Whether it depends on where in a tree an object is found. Otherwise it is
 * a question of type and size, whichever way objects are found.
 */
bool filter_needs_paths(const struct filter *filter);

#endif
