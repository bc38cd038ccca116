/* SPDX-License-Identifier: MIT */
/*
 * All objects of a repository, read once: is each what its id says, is each
 * well-formed (object/fsck.h), and of which type is it.
 *
 * Packs are read family by family, depth first, by all threads, so that each
 * stored byte is inflated once and each base applied once per child; loose
 * objects are shared out by the first byte of their ids. What is found wrong
 * goes to the caller, by whichever thread found it, one call at a time.
 */
#ifndef CHECK_FSCK_SCAN_H
#define CHECK_FSCK_SCAN_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "object/fsck.h"
#include "odb/fsck-blob.h"
#include "sys/progress.h"
#include "walk/objspace.h"

/* What a scan has to say. Calls do not overlap. A negative return ends it. */
struct fsck_scan_events {
	/* A message about an object (struct fsck's `report`). */
	int (*report)(void *ctx, const struct fsck_report *report,
		      struct error *err);
	/*
	 * An object, in the pack `pack` or (NULL) in the file `path`, that
	 * cannot be read, or whose content has another id than its name:
	 * *why says it.
	 */
	int (*corrupt)(void *ctx, const struct oid *oid,
		       const struct pack *pack, const char *path,
		       const struct error *why, struct error *err);
	/* An object that could be read. NULL: not wanted. */
	int (*object)(void *ctx, const struct oid *oid, enum object_type type,
		      const void *data, size_t len, struct error *err);
	void *ctx;
};

struct fsck_scan {
	struct objspace *space;                /* borrowed */
	const struct fsck_rules *rules;        /* borrowed */
	const struct fsck_scan_events *events; /* borrowed */
	unsigned threads;                      /* 0: as many as processors */
	bool local_loose_only; /* no packs, no alternates (--no-full) */
	const struct progress_out *progress; /* borrowed, or NULL */
	/*
	 * Results. By obj_pos: the type of an object that could be read in one
	 * place at least; OBJ_NONE: none, or one that could not. An object in
	 * several places counts at one obj_pos, that of objspace_find().
	 */
	uint8_t *types; /* owned */
	size_t type_nr, type_alloc;
	struct fsck_blobs blobs; /* .gitmodules and .gitattributes found */
	bool has_errors;         /* some report was an error */
	/* The scan's own. */
	pthread_mutex_t lock; /* guards types past packed_nr and events */
};

/* The caller sets the fields before the results after this. */
void fsck_scan_init(struct fsck_scan *scan);
void fsck_scan_release(struct fsck_scan *scan);

/* Read everything. 0 or a negative error. */
int fsck_scan_run(struct fsck_scan *scan, struct error *err);

/*
 * Note which objects there are, and the types of packed ones, without reading
 * them (--connectivity-only): entry headers and the first bytes of loose
 * objects.
 */
int fsck_scan_list(struct fsck_scan *scan, struct error *err);

/* The type of an object, OBJ_NONE when there is none. */
static inline enum object_type fsck_scan_type(const struct fsck_scan *scan,
					      uint32_t obj_pos)
{
	return obj_pos < scan->type_nr ? scan->types[obj_pos] : OBJ_NONE;
}

#endif
