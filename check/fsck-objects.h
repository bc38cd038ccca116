/* SPDX-License-Identifier: MIT */
/*
 * The checks of objects that `git fsck` makes:
 *
 *   fsck-scan.c   reads all objects: is each one well-formed, with its id?
 *   fsck-names.c  names objects in messages by a path from a root
 *   fsck-links.c  checks reachability: do all reachable objects exist?
 */
#ifndef CHECK_FSCK_OBJECTS_H
#define CHECK_FSCK_OBJECTS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "check/promisor.h"
#include "ewah/bitset.h"
#include "object/fsck.h"
#include "odb/fsck-blob.h"
#include "sys/progress.h"
#include "trees/objspace.h"
#include "walk/walk.h"

/* ---- the scan of all objects */

/*
 * The scan reads all objects of a repository once. It checks whether the id of
 * each object is right and whether the object is well-formed (object/fsck.h),
 * and records the type of the object.
 *
 * All threads read the packs by delta trees, depth first. So each entry is
 * inflated once, and each delta is applied once. Loose objects are divided
 * among threads by the first byte of their ids. The thread that finds a problem
 * reports it. Reports do not overlap.
 */

/*
 * Callbacks of fsck_scan_run(). Two callbacks never run at the same time. A
 * negative return value ends the scan.
 */
struct fsck_scan_events {
	/* Receives a message about an object (`report` of struct fsck). */
	int (*report)(void *ctx, const struct fsck_report *report,
		      struct error *err);
	/*
	 * Receives an object that cannot be read, or whose content does not
	 * have the id `oid`; *why has the reason. The object is in the pack
	 * `pack`, or in the file `path` if `pack` is NULL.
	 */
	int (*corrupt)(void *ctx, const struct oid *oid,
		       const struct pack *pack, const char *path,
		       const struct error *why, struct error *err);
	/*
	 * Receives each readable object, with its type and content. May be
	 * NULL.
	 */
	int (*object)(void *ctx, const struct oid *oid, enum object_type type,
		      const void *data, size_t len, struct error *err);
	void *ctx;
};

/*
 * The type that fsck_scan_list() gives a loose object whose header cannot be
 * read. No type of Git has this number.
 */
#define FSCK_UNKNOWN ((enum object_type)5)

struct fsck_scan {
	struct objspace *space;                /* borrowed */
	const struct fsck_rules *rules;        /* borrowed */
	const struct fsck_scan_events *events; /* borrowed */
	/* number of threads; 0: one per processor */
	unsigned threads;
	/*
	 * scan only loose objects, of the repository and its alternates, and no
	 * packs (--no-full)
	 */
	bool loose_only;
	/* borrowed; NULL: no progress is shown */
	const struct progress_out *progress;
	/*
	 * This field and all fields below are the results of the scan.
	 *
	 * The element types[obj_pos] is the type of the object, or OBJ_NONE.
	 * OBJ_NONE means that there is no object, or that no copy of it is
	 * readable. Several copies of an object have several positions. Then
	 * only the position that objspace_find() returns has a type.
	 */
	uint8_t *types; /* owned */
	size_t type_nr, type_alloc;
	/*
	 * Owned set, indexed by obj_pos. If has_checked is set, these objects
	 * were checked. Otherwise all objects that have a type in `types` were
	 * checked.
	 */
	struct bitset checked;
	/*
	 * whether the scan has left out packs, so that `checked` is used
	 */
	bool has_checked;
	/*
	 * true: fsck_scan_list() made the results; false: fsck_scan_run() did
	 */
	bool is_list;
	/*
	 * ids of the blobs that trees name .gitmodules or .gitattributes, and
	 * that were not checked yet
	 */
	struct fsck_blobs blobs;
	/* true: at least one message was an error; false: at most warnings */
	bool has_errors;
	/* The following fields are private to the scan. */
	/*
	 * held while a callback of `events` runs, and while `types` is used at
	 * index packed_nr or above
	 */
	pthread_mutex_t lock;
};

/* Initialises a scan. The caller then sets the fields above `types`. */
void fsck_scan_init(struct fsck_scan *scan);
void fsck_scan_release(struct fsck_scan *scan);

/* Reads all objects. Returns 0 or a negative error code. */
int fsck_scan_run(struct fsck_scan *scan, struct error *err);

/*
 * Lists objects and their types without reading whole objects
 * (--connectivity-only). Only headers of entries and the first bytes of loose
 * objects are read. A loose object whose header cannot be read has the type
 * FSCK_UNKNOWN. Returns 0 or a negative error code.
 */
int fsck_scan_list(struct fsck_scan *scan, struct error *err);

/*
 * Returns the type that the scan has found for an object, or OBJ_NONE if there
 * is no readable copy.
 */
static inline enum object_type fsck_scan_type(const struct fsck_scan *scan,
					      uint32_t obj_pos)
{
	return obj_pos < scan->type_nr ? scan->types[obj_pos] : OBJ_NONE;
}

/*
 * Returns whether the scan has checked (or listed) an object. After
 * fsck_scan_run() with loose_only, returns false for packed objects, although
 * scan->types has their types.
 */
static inline bool fsck_scan_has_checked(const struct fsck_scan *scan,
					 size_t obj_pos)
{
	return obj_pos < scan->type_nr && scan->types[obj_pos] != OBJ_NONE &&
	       (!scan->has_checked || bitset_get(&scan->checked, obj_pos));
}

/* ---- names of objects in messages */

/*
 * Names objects by a path of links from a root, in the syntax of
 * git-rev-parse(1): "HEAD@{1234567890}~25^2:src/". The caller names roots.
 * Other objects get a name from an object with a link to them. An object keeps
 * its first name.
 *
 * Only one thread may use the struct. Memory: one string per named object.
 */

struct fsck_names {
	struct objspace *space; /* borrowed */
	/*
	 * array and strings are owned; indexed by obj_pos; NULL: the object has
	 * no name
	 */
	char **names;
	size_t alloc;
};

void fsck_names_init(struct fsck_names *n, struct objspace *space);
void fsck_names_release(struct fsck_names *n);

/*
 * The place of a link in the object that has the link: a parent of a commit, or
 * an entry of a tree.
 */
struct fsck_way {
	/* number of the parent, from 1 on; 0: not a parent */
	size_t parent_nr;
	/* name of the tree entry, with entry_len bytes */
	const char *entry;
	size_t entry_len;
};

/* Gives a name to a root, formatted like printf(). Returns 0 or ERR_NOMEM. */
int fsck_names_root(struct fsck_names *n, const struct oid *oid,
		    const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/*
 * Gives a name to the object `to`, made from the name of `from`, which has a
 * link to it. `from_type` is the type of `from`, and `type` is the type that
 * the link states for `to`. Returns 0 or ERR_NOMEM.
 */
int fsck_names_link(struct fsck_names *n, const struct oid *from,
		    enum object_type from_type, const struct oid *to,
		    enum object_type type, const struct fsck_way *way);

/* Returns the name of an object, or NULL if it has none. */
const char *fsck_names_get(const struct fsck_names *n, const struct oid *oid);

/* ---- reachability */

/*
 * Checks reachability: which objects the roots reach, which of these are
 * missing, and which existing objects nothing reaches. Runs after the scan,
 * which knows which objects exist.
 *
 * A repository without missing objects is enumerated by tree diffs (newobj.h),
 * with all processors. If an object is missing or has another type than a link
 * to it says, the objects are visited one by one. So each broken link can be
 * named.
 *
 * In a partial clone, the search does not go beyond promised objects. Objects
 * that promised objects reach are promised too, and may be missing.
 *
 * The commit-graph is not used. Only one thread may call these functions.
 */

/* An object in a report about links. */
struct fsck_links_object {
	struct oid oid;
	/*
	 * the object's type; for a missing object, the type that the link
	 * expects
	 */
	enum object_type type;
};

struct fsck_links_events {
	/* Receives a broken link: `from` refers to `to`, which is missing. */
	int (*broken)(void *ctx, const struct fsck_links_object *from,
		      const struct fsck_links_object *to, struct error *err);
	/*
	 * Receives a link with a wrong type. The object `to` has the type
	 * `actual`, but the link in `from` requires another type. Objects that
	 * only this link reaches do not count as reached.
	 */
	int (*mistyped)(void *ctx, const struct fsck_links_object *from,
			const struct fsck_links_object *to,
			enum object_type actual, struct error *err);
	/* Receives a reachable object that is missing. */
	int (*missing)(void *ctx, const struct fsck_links_object *object,
		       struct error *err);
	/*
	 * Receives an object that exists and that no root reaches. `used`:
	 * another unreachable object has a link to this object. The type of the
	 * object may be FSCK_UNKNOWN.
	 */
	int (*unreachable)(void *ctx, const struct fsck_links_object *object,
			   bool used, struct error *err);
	void *ctx;
	/*
	 * Receives a reachable object whose links cannot be followed, because
	 * reading it fails; *why has the reason. missing() receives the object,
	 * too. May be NULL.
	 */
	int (*unreadable)(void *ctx, const struct fsck_links_object *object,
			  const struct error *why, struct error *err);
};

struct fsck_links {
	struct walk *walk;                      /* borrowed */
	const struct fsck_scan *scan;           /* borrowed */
	const struct fsck_links_events *events; /* borrowed */
	/*
	 * Borrowed; may be set by the caller. Objects that are visited one by
	 * one get names, starting at the roots. NULL: no names.
	 */
	struct fsck_names *names;
	/*
	 * Borrowed; may be set by the caller in a partial clone. Links of
	 * promised objects are not followed. NULL: all links are followed.
	 */
	struct promisor *promisor;
	/* owned set, indexed by obj_pos: the objects that the roots reach */
	struct bitset reached;
	/*
	 * owned set, indexed by obj_pos: the promised objects that were
	 * reached; their links were not followed
	 */
	struct bitset promised;
	struct walk_items roots; /* owned: existing roots */
	/* owned: objects that are reached but missing */
	struct walk_items absent;
	/* owned: obj_pos of objects to visit one by one */
	uint32_t *stack;
	size_t stack_nr, stack_alloc;
};

/*
 * Initialises *l. `scan` must be complete. It must use the same struct objspace
 * as `walk`, so that both give an object the same number (obj_pos). Returns 0
 * or a negative error code. The caller releases *l in any case.
 */
int fsck_links_init(struct fsck_links *l, struct walk *walk,
		    const struct fsck_scan *scan,
		    const struct fsck_links_events *events, struct error *err);
void fsck_links_release(struct fsck_links *l);

/*
 * Adds a root. Returns the root's type, or 0 if the root is missing, or a
 * negative error code. A missing root is reported once as missing at the end,
 * unless `expected` is OBJ_NONE. A root of the type FSCK_UNKNOWN is a loose
 * object that exists, but whose header cannot be read. Such a root counts as a
 * blob if `expected` is OBJ_BLOB, otherwise as missing.
 */
int fsck_links_root(struct fsck_links *l, const struct oid *oid,
		    enum object_type expected, struct error *err);

/*
 * Finds all objects that the roots reach, and reports missing objects and
 * broken links. Returns 0 or a negative error code.
 */
int fsck_links_reach(struct fsck_links *l, struct error *err);

/*
 * Reports all objects that the scan has checked and that no root reaches, in
 * the order of obj_pos. The parameter `used` of the callback is true if another
 * unreachable object has a link to the object. If the scan was made by
 * fsck_scan_run(), `used` is also true if a promised object has a link to the
 * object. If the scan was made by fsck_scan_list(), links of promised objects
 * do not count, as in stock Git. Returns 0 or a negative error code.
 */
int fsck_links_leftover(struct fsck_links *l, struct error *err);

#endif
