/* SPDX-License-Identifier: MIT */
/*
 * Parsing commits, trees and tags from their bytes.
 *
 * Nothing is copied: what is parsed points into the object's bytes and lives
 * as long as they do. Every function accepts arbitrary bytes and reports
 * ERR_CORRUPT for what is not an object.
 */
#ifndef OBJECT_PARSE_H
#define OBJECT_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cursor.h"
#include "base/error.h"
#include "object/oid.h"
#include "object/type.h"

/*
 * The header of a commit, as far as reachability needs it:
 *   tree <hex>\n (parent <hex>\n)* author ...\n committer ... <seconds> <tz>\n
 */
struct commit_view {
	struct oid tree;
	const char *parents;     /* first "parent " line, or NULL */
	size_t parent_nr;        /* lines of equal length follow each other */
	uint64_t committer_date; /* seconds since 1970; 0 when unreadable */
	const char *message; /* after the blank line; "" when there is none */
	size_t message_len;
};

/* A missing or odd committer line is not an error: the date is 0 then. */
int commit_parse(struct commit_view *view, const void *data, size_t len,
		 enum hash_algo algo, struct error *err);

/* The i-th parent, i < view->parent_nr. */
void commit_parent(struct oid *oid, const struct commit_view *view, size_t i,
		   enum hash_algo algo);

/* File mode bits of tree entries. */
enum {
	TREE_MODE_TYPE = 0170000,
	TREE_MODE_DIR = 0040000,
	TREE_MODE_GITLINK = 0160000,
};

/* One entry of a tree. */
struct tree_entry {
	const uint8_t *raw; /* the whole entry, from the mode's first digit */
	size_t raw_len;     /* mode, space, name, NUL, id */
	const char *name;   /* NUL-terminated, not empty, no '/' */
	size_t name_len;
	const uint8_t *oid; /* raw id, hash_len() bytes */
	uint32_t mode;
};

static inline bool tree_entry_is_dir(const struct tree_entry *e)
{
	return (e->mode & TREE_MODE_TYPE) == TREE_MODE_DIR;
}

static inline bool tree_entry_is_gitlink(const struct tree_entry *e)
{
	return (e->mode & TREE_MODE_TYPE) == TREE_MODE_GITLINK;
}

/*
 * Take the next entry of a tree's bytes. Returns 1, 0 at the end, or
 * ERR_CORRUPT (a mode that is no octal number, an empty name or one with a
 * slash, or an id cut short). Inline-fast: the hot loop of every walk.
 */
int tree_next(struct tree_entry *entry, struct cursor *c, enum hash_algo algo);

/*
 * Compare names in the order of tree entries, where a directory sorts as if
 * its name ended in '/'. <0, 0, >0. Equal only when both are directories or
 * both are not.
 */
int tree_name_cmp(const struct tree_entry *a, const struct tree_entry *b);

/* object <hex>\ntype <type>\ntag <name>\n... */
struct tag_view {
	struct oid target;
	enum object_type target_type;
	const char *name; /* not NUL-terminated */
	size_t name_len;
	uint64_t tagger_date; /* 0 when there is none */
};

int tag_parse(struct tag_view *view, const void *data, size_t len,
	      enum hash_algo algo, struct error *err);

/*
 * The name hash, version 1, of gitformat-bitmap(5): groups paths by their
 * last sixteen or so non-space characters for the delta search. For each
 * character c of `path` other than white space: h = (h >> 2) + (c << 24).
 * `h` starts at 0; feeding a path in pieces gives the same result.
 */
uint32_t name_hash_add(uint32_t h, const char *path, size_t len);

#endif
