/* SPDX-License-Identifier: MIT */
/*
 * The multi-pack-indexes of a snapshot of objects, and how their positions
 * and the snapshot's go together.
 *
 * Only one that names nothing but packs of the snapshot is used. Immutable but
 * for a table that is made on first use, under a lock; threads may share it.
 */
#ifndef REPO_ODB_MIDX_H
#define REPO_ODB_MIDX_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "pack/midx.h"
#include "repo/odb.h"
#include "sys/map.h"

struct odb_midx {
	char *path; /* owned: of the file */
	struct sys_map map;
	struct pack_midx midx;
	uint32_t *pack_nrs;   /* owned: index into odb->packs by midx_pack */
	pthread_mutex_t lock; /* guards making `odb_pos` */
	_Atomic(uint32_t *) odb_pos; /* owned: by midx_pos; NULL until made */
};

/* "<pack_dir>/multi-pack-index", malloc()ed; NULL when out of memory. */
char *odb_midx_path(const char *pack_dir);

/*
 * Of a file that belongs to it, "<pack_dir>/multi-pack-index-<checksum>.<ext>";
 * the same.
 */
char *odb_midx_part_path(const struct odb_midx *om, const char *ext);

/*
 * Map and parse the file of an object directory. Returns 0 with *out owned by
 * the caller, ERR_MISSING when there is none, or another error with *out NULL.
 */
int odb_midx_open(struct odb_midx **out, const char *object_dir,
		  enum hash_algo algo, struct error *err);
void odb_midx_close(struct odb_midx *om);

/*
 * One that is not on disk yet: `bytes` are borrowed, `path` is where it will
 * be. As odb_midx_open().
 */
int odb_midx_parse(struct odb_midx **out, const void *bytes, size_t len,
		   const char *path, enum hash_algo algo, struct error *err);

/*
 * Find its packs in the snapshot, whose packs have their numbers. ERR_MISSING
 * when one is not there.
 */
int odb_midx_link(struct odb_midx *om, const struct odb *odb,
		  const char *object_dir, struct error *err);

/*
 * The canonical odb_pos of an object; false when its pack does not have it (a
 * corrupt file). A search in the pack's index, or a load from the table.
 */
bool odb_midx_pos(const struct odb *odb, const struct odb_midx *om,
		  uint32_t midx_pos, uint32_t *odb_pos);

/*
 * What odb_open() does last: give up the multi-pack-indexes that name missing
 * packs, and list what is to be searched. 0, or ERR_NOMEM.
 */
int odb_sources_init(struct odb *odb, struct error *warning, struct error *err);

#define ODB_MIDX_WRONG UINT32_MAX

/*
 * All of them by midx_pos, ODB_MIDX_WRONG where odb_midx_pos() says false.
 * Made on first use in one pass over the indexes of its packs; thread-safe;
 * owned by *om. NULL when out of memory.
 */
const uint32_t *odb_midx_table(const struct odb *odb, struct odb_midx *om);

#endif
