/* SPDX-License-Identifier: MIT */
/*
 * A new pack on disk: pack, index, reverse index, bitmap index, and the times
 * of objects if it is a cruft pack.
 *
 * All files are written under temporary names, and renamed when all are
 * complete: the pack first, the index last. So a pack is whole, or has no index
 * and is ignored. A killed process leaves only temporary files, or parts of a
 * pack without index.
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
	/* threads, search, compression */
	struct packing_send_options make;
	bool ofs_delta;
	uint64_t max_pack_size; /* bytes; 0: no limit */
	struct pack_idx_format idx_format;
	bool write_rev;
	/*
	 * Remove other files of a pack of the same name: it may have been a
	 * cruft pack, or had a bitmap index.
	 */
	bool replace;
	bool hash_cache;    /* in the bitmap index */
	bool lookup_table;  /* in the bitmap index */
	bool pseudo_merges; /* in the bitmap index */
	/* Bytes for building it, see newpack_bitmap_memory(). */
	uint64_t bitmap_memory;
	/* permissions of the files: sys/share.h */
	unsigned share;
	enum sys_fsync_method fsync_pack, fsync_metadata;
};

/* A value of bitmap_memory: chosen by the size of the repository. */
#define NEWPACK_BITMAP_MEMORY_AUTO UINT64_MAX

/*
 * Load the defaults, with pack.*, core.* and repack.* configuration applied.
 * Returns 0 or a negative error code.
 */
int newpack_options_load(struct newpack_options *options,
			 const struct repo *repo, struct error *err);

/*
 * Bytes for building the bitmap index of a repository, see pack_bitmap_write;
 * 0: no limit.
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

/* A pack in the making. One thread. */
struct newpack {
	const struct newpack_options *options; /* borrowed */
	struct packing_items *items;           /* borrowed */
	struct packs packs;
	/* owned: items in pack order (bit_pos) */
	uint32_t *order;
	size_t nr;
	/* Items in `order` after the first nr, for further packs. */
	size_t rest_nr;
	/* owned: by bit_pos, once indexed */
	uint32_t *idx_pos;
	struct oid checksum;
	struct sys_tempfile files[NEWPACK_PART_NR];
	struct write_report report;
	bool is_installed;
	uint32_t bitmap_nr; /* commits with bitmaps */
	/* bytes of the bitmap index */
	uint64_t bitmap_len;
};

/*
 * Plan, search and write the items into a temporary pack in directory `dir`. If
 * not all fit into max_pack_size, np->rest_nr of them remain. Release in any
 * case; that removes files that were not installed. Returns 0 or a negative
 * error code.
 */
int newpack_make(struct newpack *np, struct packing_items *items,
		 const char *dir, const struct newpack_options *options,
		 struct error *err);
void newpack_release(struct newpack *np);

/*
 * Make another pack of the items that remain of *np. *np must be indexed first,
 * because both share the items. Returns 0 or a negative error code.
 */
int newpack_continue(struct newpack *next, struct newpack *np, const char *dir,
		     struct error *err);

/*
 * Write the pack into a sink. It cannot be indexed or installed. Returns 0 or a
 * negative error code.
 */
int newpack_send(struct newpack *np, struct packing_items *items,
		 struct pack_sink sink, const struct newpack_options *options,
		 struct error *err);

/*
 * Write the index and, if the options say so, the reverse index. Returns 0 or a
 * negative error code.
 */
int newpack_index(struct newpack *np, const char *dir, struct error *err);

/*
 * Write the times of the objects, `mtimes` by item. The pack becomes a cruft
 * pack. Returns 0 or a negative error code.
 */
int newpack_mtimes(struct newpack *np, const char *dir, const uint32_t *mtimes,
		   struct error *err);

/*
 * Mark the pack as a promisor pack, by an empty file. Returns 0 or a negative
 * error code.
 */
int newpack_promisor(struct newpack *np, const char *dir, struct error *err);

/* The input for a bitmap index. All borrowed. */
struct newpack_bitmap_input {
	struct walk *walk;
	/* With the lists of all commits of the pack. */
	const struct walk_result *enumerated;
	/* by commit_nr: enum select_tip */
	const uint8_t *is_tip;
	const struct pseudo_tips *pseudo; /* NULL: no pseudo-merges */
};

/*
 * Write a bitmap index. Returns 0 or a negative error code: ERR_MISSING if the
 * pack does not hold the closure of its commits.
 */
int newpack_bitmap(struct newpack *np, const char *dir,
		   const struct newpack_bitmap_input *input, struct error *err);

/*
 * Make all files durable and rename them to "<base>-<checksum>.<ext>". Existing
 * files of these names are replaced. An existing pack has the same bytes,
 * because its name is its checksum. Returns 0 or a negative error code.
 */
int newpack_install(struct newpack *np, const char *base, struct error *err);

#endif
