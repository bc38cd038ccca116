/* SPDX-License-Identifier: MIT */
/*
 * The multi-pack-indexes of a snapshot of objects, and how their positions
 * and the snapshot's go together.
 *
 * A pack directory has one file, or a chain of them (technical/
 * multi-pack-index), of which each covers packs and objects that those below do
 * not:
 *
 *   multi-pack-index                             the one file, or
 *   multi-pack-index.d/multi-pack-index-chain    checksums, lowest layer first
 *   multi-pack-index.d/multi-pack-index-<checksum>.midx     the layers
 *
 * A chain is known by its top layer. A `midx_pos` is one of a layer; where
 * positions run through the chain, midx.base_nr is where those of a layer
 * begin.
 *
 * Only one that names nothing but packs of the snapshot is used, and of a chain
 * what is below one that does not. Immutable but for a table that is made on
 * first use, under a lock; threads may share it.
 */
#ifndef ODB_ODB_MIDX_H
#define ODB_ODB_MIDX_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "odb/odb.h"
#include "pack/midx.h"
#include "sys/map.h"

/* Stock Git has no limit; a chain is merged long before. */
#define ODB_MIDX_LAYERS_MAX 4096

/* A file. */
struct odb_midx {
	char *path; /* owned: of the file */
	bool in_chain;
	struct odb_midx *base; /* owned: the layer below; NULL: none */
	struct sys_map map;
	struct pack_midx midx;
	uint32_t *pack_nrs;   /* owned: index into odb->packs by midx_pack */
	pthread_mutex_t lock; /* guards making `odb_pos` */
	_Atomic(uint32_t *) odb_pos; /* owned: by midx_pos; NULL until made */
};

/* "<pack_dir>/multi-pack-index", malloc()ed; NULL when out of memory. */
char *odb_midx_path(const char *pack_dir);

/* "<pack_dir>/multi-pack-index.d/<name>", the same. */
char *odb_midx_chain_path(const char *pack_dir, const char *name);

/* The same for a layer or a file of it: "multi-pack-index-<checksum>.<ext>". */
char *odb_midx_layer_path(const char *pack_dir, const uint8_t *checksum,
			  enum hash_algo algo, const char *ext);

/*
 * Of a file that belongs to it, "multi-pack-index-<checksum>.<ext>" beside it;
 * the same.
 */
char *odb_midx_part_path(const struct odb_midx *om, const char *ext);

/*
 * Map and parse the file of an object directory, or where there is none its
 * chain. Returns 0 with *out owned by the caller, ERR_MISSING when there is
 * neither, or another error with *out NULL. With 0, err->code is not 0 when
 * *out is what is below a layer that cannot be used, and why.
 */
int odb_midx_open(struct odb_midx **out, const char *object_dir,
		  enum hash_algo algo, struct error *err);

/* With all layers. */
void odb_midx_close(struct odb_midx *om);

/* The top layer alone; returns what was below it. */
struct odb_midx *odb_midx_pop(struct odb_midx *om);

/*
 * One that is not on disk yet: `bytes` are borrowed, `path` is where it will
 * be. As odb_midx_open().
 */
int odb_midx_parse(struct odb_midx **out, const void *bytes, size_t len,
		   const char *path, enum hash_algo algo, struct error *err);

/*
 * Put a file on top of a chain, which it owns from then on. ERR_UNSUPPORTED,
 * and nothing is done, when that would be too many objects.
 */
int odb_midx_stack(struct odb_midx *om, struct odb_midx *base,
		   struct error *err);

/* Objects in all layers. */
static inline uint32_t odb_midx_nr(const struct odb_midx *om)
{
	return om->midx.base_nr + om->midx.nr;
}

/* Number of layers; of NULL 0. */
size_t odb_midx_layer_nr(const struct odb_midx *om);

/*
 * Find the packs of a file in the snapshot, whose packs have their numbers.
 * ERR_MISSING when one is not there.
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

/* Describe one that is left out; a warning of what is worse stays. */
void odb_warn_of_midx(struct odb *odb, const struct error *why,
		      struct error *warning);

#define ODB_MIDX_WRONG UINT32_MAX

/*
 * All of a file by midx_pos, ODB_MIDX_WRONG where odb_midx_pos() says false.
 * Made on first use in one pass over the indexes of its packs; thread-safe;
 * owned by *om. NULL when out of memory.
 */
const uint32_t *odb_midx_table(const struct odb *odb, struct odb_midx *om);

#endif
