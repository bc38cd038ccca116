/* SPDX-License-Identifier: MIT */
/*
 * Reads all objects of a repository once. Checks whether the id of each object
 * is right and whether the object is well-formed (object/fsck.h), and records
 * its type.
 *
 * All threads read the packs by delta trees, depth first. So each stored byte
 * is inflated once, and each base is applied once per child. Loose objects are
 * divided among threads by the first byte of their ids. The thread that finds a
 * problem reports it; reports do not overlap.
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

/*
 * The reports of a scan. Calls do not overlap. A negative result ends the scan.
 */
struct fsck_scan_events {
	/* A message about an object (`report` of struct fsck). */
	int (*report)(void *ctx, const struct fsck_report *report,
		      struct error *err);
	/*
	 * An object that cannot be read, or whose content has another id, as
	 * *why says. The object is in the pack `pack`, or if `pack` is NULL in
	 * the file `path`.
	 */
	int (*corrupt)(void *ctx, const struct oid *oid,
		       const struct pack *pack, const char *path,
		       const struct error *why, struct error *err);
	/* A readable object. NULL: not called. */
	int (*object)(void *ctx, const struct oid *oid, enum object_type type,
		      const void *data, size_t len, struct error *err);
	void *ctx;
};

struct fsck_scan {
	struct objspace *space;                /* borrowed */
	const struct fsck_rules *rules;        /* borrowed */
	const struct fsck_scan_events *events; /* borrowed */
	unsigned threads;                      /* 0: one per processor */
	/* without packs and alternates (--no-full) */
	bool local_loose_only;
	const struct progress_out *progress; /* borrowed, or NULL */
	/*
	 * Results. `types` has by obj_pos the type of each object with at least
	 * one readable copy; OBJ_NONE: no object, or none readable. An object
	 * with several copies has only the obj_pos that objspace_find()
	 * returns.
	 */
	uint8_t *types; /* owned */
	size_t type_nr, type_alloc;
	struct fsck_blobs
		blobs;   /* .gitmodules and .gitattributes files found */
	bool has_errors; /* a report was an error */
	/* Private to the scan. */
	pthread_mutex_t
		lock; /* guards calls of events, and types from packed_nr on */
};

/* Initializes a scan. The caller then sets the fields before the results. */
void fsck_scan_init(struct fsck_scan *scan);
void fsck_scan_release(struct fsck_scan *scan);

/* Reads all objects. Returns 0 or a negative error code. */
int fsck_scan_run(struct fsck_scan *scan, struct error *err);

/*
 * Lists objects and their types without reading whole objects
 * (--connectivity-only). Only headers of entries and the first bytes of loose
 * objects are read. Returns 0 or a negative error code.
 */
int fsck_scan_list(struct fsck_scan *scan, struct error *err);

/* Returns the type of an object, or OBJ_NONE if there is none. */
static inline enum object_type fsck_scan_type(const struct fsck_scan *scan,
					      uint32_t obj_pos)
{
	return obj_pos < scan->type_nr ? scan->types[obj_pos] : OBJ_NONE;
}

#endif
