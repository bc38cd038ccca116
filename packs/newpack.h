/* SPDX-License-Identifier: MIT */
/*
 * A new pack on disk: its pack, index, reverse index, bitmap index, and the
 * times of its objects if it is a cruft pack.
 *
 * All files are written under temporary names and renamed when all are
 * complete: pack first, index last, so that a pack is either whole or, without
 * its index, not there. A process that is killed leaves temporary files or
 * parts of a pack without index, and nothing else.
 */
#ifndef PACKS_NEWPACK_H
#define PACKS_NEWPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "bitmap/pseudo-select.h"
#include "packing/items.h"
#include "packing/packs.h"
#include "packing/send.h"
#include "packing/write.h"
#include "sys/tempfile.h"
#include "walk/walk.h"

struct newpack_options {
	struct packing_send_options make; /* threads, search, compression */
	bool ofs_delta;
	uint64_t max_pack_size; /* bytes; 0: no limit */
	struct pack_idx_format idx_format;
	bool write_rev;
	bool replace;    /* remove what else a pack of the same name has: it may
			    have been a cruft pack, or had a bitmap index */
	bool hash_cache; /* in the bitmap index */
	bool lookup_table;      /* in the bitmap index */
	bool pseudo_merges;     /* in the bitmap index */
	uint64_t bitmap_memory; /* bytes for building it, see
				   newpack_bitmap_memory() */
	unsigned share;         /* of its files: sys/share.h */
	enum sys_fsync_method fsync_pack, fsync_metadata;
};

/* As bitmap_memory: as much as the repository's size asks for. */
#define NEWPACK_BITMAP_MEMORY_AUTO UINT64_MAX

/* pack.*, core.* and repack.* configuration applied. */
int newpack_options_load(struct newpack_options *options,
			 const struct repo *repo, struct error *err);

/*
 * Bytes for building the bitmap index of a repository, see
 * pack_bitmap_write; 0: no limit.
 */
uint64_t newpack_bitmap_memory(const struct newpack_options *options,
			       const struct odb *odb);

enum newpack_part {
	NEWPACK_PACK,
	NEWPACK_REV,
	NEWPACK_BITMAP,
	NEWPACK_MTIMES,
	NEWPACK_PROMISOR,
	NEWPACK_IDX, /* installed last */
	NEWPACK_PART_NR,
};

/* A pack in the making; one thread. */
struct newpack {
	const struct newpack_options *options; /* borrowed */
	struct packing_items *items;           /* borrowed */
	struct packs packs;
	uint32_t *order; /* owned: items in pack order (bit_pos) */
	size_t nr;
	size_t rest_nr;    /* items in `order` after these, for further packs */
	uint32_t *idx_pos; /* owned: by bit_pos, once indexed */
	struct oid checksum;
	struct sys_tempfile files[NEWPACK_PART_NR];
	struct write_report report;
	bool is_installed;
	uint32_t bitmap_nr;  /* commits with bitmaps */
	uint64_t bitmap_len; /* bytes of the bitmap index */
};

/*
 * Plan, search and write the items into a temporary pack in directory `dir`.
 * When they do not all fit into max_pack_size np->rest_nr of them are left.
 * Release in any case; that removes what was not installed.
 */
int newpack_make(struct newpack *np, struct packing_items *items,
		 const char *dir, const struct newpack_options *options,
		 struct error *err);
void newpack_release(struct newpack *np);

/*
 * Another pack, of the rest that *np has left. The same items must be indexed
 * for *np first.
 */
int newpack_continue(struct newpack *next, struct newpack *np, const char *dir,
		     struct error *err);

/* The same bytes into a sink: nothing to index or install. */
int newpack_send(struct newpack *np, struct packing_items *items,
		 struct pack_sink sink, const struct newpack_options *options,
		 struct error *err);

/* Write index and, if wanted, reverse index. */
int newpack_index(struct newpack *np, const char *dir, struct error *err);

/* Write the times of the objects, `mtimes` by item: it is a cruft pack. */
int newpack_mtimes(struct newpack *np, const char *dir, const uint32_t *mtimes,
		   struct error *err);

/* Mark the pack as one whose objects a remote has promised: an empty file. */
int newpack_promisor(struct newpack *np, const char *dir, struct error *err);

/* What a bitmap index is made from. All borrowed. */
struct newpack_bitmap_input {
	struct walk *walk;
	const struct walk_result *enumerated; /* with the lists of all commits
						 of the pack */
	const uint8_t *is_tip;            /* by commit_nr: enum select_tip */
	const struct pseudo_tips *pseudo; /* NULL: no pseudo-merges */
};

/*
 * Write a bitmap index. ERR_MISSING when the pack does not hold everything its
 * commits reach.
 */
int newpack_bitmap(struct newpack *np, const char *dir,
		   const struct newpack_bitmap_input *input, struct error *err);

/*
 * Make everything durable and visible as "<base>-<checksum>.<ext>". What exists
 * under these names is replaced: the pack by the same bytes, of which the name
 * is the checksum.
 */
int newpack_install(struct newpack *np, const char *base, struct error *err);

#endif
