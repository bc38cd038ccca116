/* SPDX-License-Identifier: MIT */
/*
 * The multi-pack-indexes of a snapshot (struct odb: the packs that were found
 * when the object database was opened). For each multi-pack-index, two arrays
 * convert its numbers of packs and its positions of objects to those of the
 * snapshot.
 *
 * A pack directory has either one file or a chain of files, called layers
 * (technical/multi-pack-index). No layer contains packs or objects of the
 * layers below it:
 *
 *   multi-pack-index                             the one file, or
 *   multi-pack-index.d/multi-pack-index-chain    checksums, lowest layer first
 *   multi-pack-index.d/multi-pack-index-<checksum>.midx     the layers
 *
 * A chain is represented by its top layer. A `midx_pos` is a position in one
 * layer. For positions in the whole chain, midx.base_nr is the first position
 * of a layer.
 *
 * A multi-pack-index is used only if the snapshot has all the packs that it
 * names. If the snapshot lacks a pack of a layer, only the layers below are
 * used. A multi-pack-index is immutable, except for a table that is made under
 * a lock on first use. Threads may share it.
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

/*
 * Limit of layers in a chain. Stock Git has no limit, but merges layers long
 * before a chain has so many.
 */
#define ODB_MIDX_LAYERS_MAX 4096

/* One multi-pack-index file. */
struct odb_midx {
	char *path; /* owned: path of the file */
	bool in_chain;
	/* owned: the next lower layer; NULL: this is the lowest */
	struct odb_midx *base;
	struct sys_map map;
	struct pack_midx midx;
	/* owned array, indexed by midx_pack: the pack's index in odb->packs */
	uint32_t *pack_nrs;
	pthread_mutex_t lock; /* guards making `odb_pos` */
	/*
	 * owned array, indexed by midx_pos: the odb_pos of the object; NULL
	 * until it is needed
	 */
	_Atomic(uint32_t *) odb_pos;
};

/*
 * Returns the path "<pack_dir>/multi-pack-index", malloc()ed, or NULL if memory
 * runs out.
 */
char *odb_midx_path(const char *pack_dir);

/*
 * Returns the path "<pack_dir>/multi-pack-index.d/<name>", malloc()ed, or NULL
 * if memory runs out.
 */
char *odb_midx_chain_path(const char *pack_dir, const char *name);

/*
 * Returns the path of a layer or of a side file of a layer:
 * "<pack_dir>/multi-pack-index.d/multi-pack-index-<checksum>.<ext>". The path
 * is malloc()ed; NULL if memory runs out.
 */
char *odb_midx_layer_path(const char *pack_dir, const uint8_t *checksum,
			  enum hash_algo algo, const char *ext);

/*
 * Returns the path of a side file of `om`: "multi-pack-index-<checksum>.<ext>"
 * in the same directory. The path is malloc()ed; NULL if memory runs out.
 */
char *odb_midx_part_path(const struct odb_midx *om, const char *ext);

/*
 * Maps and parses the multi-pack-index of an object directory. If there is no
 * single file, opens the chain. Returns 0 with *out owned by the caller,
 * ERR_MISSING if there is neither a file nor a chain, or another error code.
 * After an error, *out is NULL.
 *
 * If a layer of a chain is unusable, returns 0 with the layers below it in
 * *out. *err then describes the unusable layer (err->code is not 0).
 */
int odb_midx_open(struct odb_midx **out, const char *object_dir,
		  enum hash_algo algo, struct error *err);

/* Closes all layers. */
void odb_midx_close(struct odb_midx *om);

/* Closes the top layer of a chain. Returns the layer below it, or NULL. */
struct odb_midx *odb_midx_pop(struct odb_midx *om);

/*
 * Parses the bytes of a multi-pack-index that is not on disk yet. `bytes` are
 * borrowed; `path` is the future path of the file. Returns 0 or an error code.
 * After an error, *out is NULL.
 */
int odb_midx_parse(struct odb_midx **out, const void *bytes, size_t len,
		   const char *path, enum hash_algo algo, struct error *err);

/*
 * Puts the multi-pack-index `om` on top of the chain `base`, and takes
 * ownership of the chain. Returns 0, or ERR_UNSUPPORTED with nothing changed if
 * the chain would have too many objects.
 */
int odb_midx_stack(struct odb_midx *om, struct odb_midx *base,
		   struct error *err);

/* Returns the number of objects in all layers of a chain. */
static inline uint32_t odb_midx_nr(const struct odb_midx *om)
{
	return om->midx.base_nr + om->midx.nr;
}

/* Returns the number of layers of a chain; 0 for NULL. */
size_t odb_midx_layer_nr(const struct odb_midx *om);

/*
 * Finds each pack of the multi-pack-index among the packs of `odb`, and stores
 * its number. Returns 0, ERR_MISSING if the snapshot lacks a pack, or
 * ERR_NOMEM.
 */
int odb_midx_link(struct odb_midx *om, const struct odb *odb,
		  const char *object_dir, struct error *err);

/*
 * Finds the odb_pos of the object at a midx_pos, in the pack that the
 * multi-pack-index has chosen. Returns false if the multi-pack-index is
 * corrupt: the pack that it names lacks the object. Costs a binary search in
 * the pack's index, or one memory access after odb_midx_table() was called.
 */
bool odb_midx_pos(const struct odb *odb, const struct odb_midx *om,
		  uint32_t midx_pos, uint32_t *odb_pos);

/*
 * The last step of odb_open(): drops multi-pack-indexes that name missing
 * packs, and lists the indexes to search. Returns 0 or ERR_NOMEM.
 */
int odb_sources_init(struct odb *odb, struct error *warning, struct error *err);

/*
 * Describes an unusable multi-pack-index in *warning. If *warning has a warning
 * about a pack already, the warning stays, because it is more important.
 */
void odb_warn_of_midx(struct odb *odb, const struct error *why,
		      struct error *warning);

#define ODB_MIDX_WRONG UINT32_MAX

/*
 * Returns a table that gives the odb_pos for each midx_pos. If the
 * multi-pack-index names a pack that lacks the object (odb_midx_pos() returns
 * false), the value is ODB_MIDX_WRONG. The first call makes the table by one
 * pass over the indexes of the packs. *om owns the table. Returns NULL if
 * memory runs out. Thread-safe.
 */
const uint32_t *odb_midx_table(const struct odb *odb, struct odb_midx *om);

#endif
