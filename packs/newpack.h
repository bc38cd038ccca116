/* SPDX-License-Identifier: MIT */
/*
 * A new pack on disk: .pack, .idx, .rev and .bitmap, and .mtimes if it is a
 * cruft pack.
 *
 * All files are written under temporary names, and renamed when all are
 * complete: the .pack first, the .idx last. A pack without .idx is ignored, so
 * readers never see an incomplete pack. A killed process leaves only temporary
 * files, or files of a pack without .idx.
 */
#ifndef PACKS_NEWPACK_H
#define PACKS_NEWPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "bitmap/pseudo-select.h"
#include "deltas/items.h"
#include "packing/packs.h"
#include "packing/send.h"
#include "packing/write.h"
#include "sys/tempfile.h"
#include "walk/walk.h"

struct newpack_options {
	/* number of threads, parameters of the delta search, zlib level */
	struct packing_send_options make;
	bool ofs_delta;
	/* maximum bytes of a pack; 0: no limit */
	uint64_t max_pack_size;
	struct pack_idx_format idx_format;
	bool write_rev;
	/*
	 * If a pack of the same name exists, remove its files that the new pack
	 * does not have, for example .mtimes or .bitmap. A .keep file stays.
	 */
	bool replace;
	/*
	 * Borrowed; content of a .keep file, which the pack gets before its
	 * .idx file. So no other repack removes the pack. The caller removes
	 * the .keep file. If a pack of the same name has a .keep file already,
	 * that file stays. NULL: the pack gets no .keep file.
	 */
	const char *keep;
	/* store path hashes in the bitmap index */
	bool hash_cache;
	/* store a lookup table in the bitmap index */
	bool lookup_table;
	/* store pseudo-merges in the bitmap index */
	bool pseudo_merges;
	/*
	 * Maximum number of bytes of memory for building the bitmap index, see
	 * newpack_bitmap_memory().
	 */
	uint64_t bitmap_memory;
	/*
	 * limit of the bytes of the bitmap index; 0: a limit that depends on
	 * the number of objects (bitmap/choose.h)
	 */
	uint64_t bitmap_budget;
	/* permissions of the files (sys/share.h) */
	unsigned share;
	enum sys_fsync_method fsync_pack, fsync_metadata;
};

/* A value of bitmap_memory: the limit depends on the number of objects. */
#define NEWPACK_BITMAP_MEMORY_AUTO UINT64_MAX

/*
 * Set *options to the defaults, then apply the configuration: pack.*, core.*
 * and repack.*. Returns 0 or a negative error code.
 */
int newpack_options_load(struct newpack_options *options,
			 const struct repo *repo, struct error *err);

/*
 * Works like newpack_options_load(), but loads only the options for writing a
 * bitmap index of existing packs. Of the keys pack.*, only pack.threads and the
 * keys for bitmap indexes are read. A wrong value of pack.threads is ignored.
 * Returns 0 or a negative error code.
 */
int newpack_bitmap_options_load(struct newpack_options *options,
				const struct repo *repo, struct error *err);

/*
 * Returns the maximum number of bytes of memory for building the bitmap index
 * of a repository (pack_bitmap_write.memory_limit). 0: no limit.
 */
uint64_t newpack_bitmap_memory(const struct newpack_options *options,
			       const struct odb *odb);

enum newpack_part {
	NEWPACK_PACK,
	NEWPACK_REV,
	NEWPACK_BITMAP,
	NEWPACK_MTIMES,
	NEWPACK_PROMISOR,
	NEWPACK_KEEP,
	/* the .idx, which is installed last */
	NEWPACK_IDX,
	NEWPACK_PART_NR,
};

/* A pack that is being made. Used by one thread. */
struct newpack {
	const struct newpack_options *options; /* borrowed */
	struct packing_items *items;           /* borrowed */
	struct packs packs;
	/* owned: item numbers in the order of the pack (bit_pos) */
	uint32_t *order;
	size_t nr;
	/*
	 * The number of items behind the first `nr` in `order`. These items did
	 * not fit into this pack, and go into further packs.
	 */
	size_t rest_nr;
	/*
	 * owned array, indexed by bit_pos: the idx_pos of each object; NULL
	 * until newpack_index()
	 */
	uint32_t *idx_pos;
	struct oid checksum;
	struct sys_tempfile files[NEWPACK_PART_NR];
	struct write_report report;
	bool is_installed;
	/* number of commits with bitmaps */
	uint32_t bitmap_nr;
	/* bytes of the bitmap index */
	uint64_t bitmap_len;
};

/*
 * Plan the pack, search deltas, and write the items into a temporary pack in
 * directory `dir`. If not all items fit into max_pack_size, np->rest_nr items
 * remain. Release *np in any case; releasing removes files that were not
 * installed. Returns 0 or a negative error code.
 */
int newpack_make(struct newpack *np, struct packing_items *items,
		 const char *dir, const struct newpack_options *options,
		 struct error *err);
void newpack_release(struct newpack *np);

/*
 * Make another pack of the items that did not fit into *np. First call
 * newpack_index() for *np: newpack_index() reads the offsets of entries from
 * the items, and the next pack overwrites these offsets. Returns 0 or a
 * negative error code.
 */
int newpack_continue(struct newpack *next, struct newpack *np, const char *dir,
		     struct error *err);

/*
 * Write the pack into a sink. Such a pack has no files, and cannot be indexed
 * or installed. Returns 0 or a negative error code.
 */
int newpack_send(struct newpack *np, struct packing_items *items,
		 struct pack_sink sink, const struct newpack_options *options,
		 struct error *err);

/*
 * Write the .idx file and, if the options say so, the .rev and .keep files.
 * Returns 0 or a negative error code.
 */
int newpack_index(struct newpack *np, const char *dir, struct error *err);

/*
 * Write the .mtimes file, which makes the pack a cruft pack. mtimes[i] is the
 * modification time of item i. Returns 0 or a negative error code.
 */
int newpack_mtimes(struct newpack *np, const char *dir, const uint32_t *mtimes,
		   struct error *err);

/*
 * Write an empty .promisor file, which makes the pack a promisor pack. Returns
 * 0 or a negative error code.
 */
int newpack_promisor(struct newpack *np, const char *dir, struct error *err);

/*
 * The input for making the bitmap index of a new pack. All pointers are
 * borrowed.
 */
struct newpack_bitmap_input {
	struct walk *walk;
	/*
	 * The walk's result, which has the new-object list of each commit in
	 * the pack.
	 */
	const struct walk_result *enumerated;
	/*
	 * indexed by commit_nr: the kind of tip that the commit is (enum
	 * select_tip)
	 */
	const uint8_t *is_tip;
	const struct pseudo_tips *pseudo; /* NULL: no pseudo-merges */
};

/*
 * Write the bitmap index of a new pack. Returns 0 or a negative error code:
 * ERR_MISSING if a commit in the pack reaches an object that is not in the
 * pack.
 */
int newpack_bitmap(struct newpack *np, const char *dir,
		   const struct newpack_bitmap_input *input, struct error *err);

/*
 * Make all files of the pack durable and rename them to
 * "<base>-<checksum>.<ext>". Existing files of these names are replaced. An
 * existing .pack has the same bytes, because its name is its checksum. Waits
 * while another process has the lock of the directory (sys/dirlock.h). Returns
 * 0; ERR_DENIED if the pack exists and another process keeps the lock, because
 * that process may be removing the existing pack; or another negative error
 * code.
 */
int newpack_install(struct newpack *np, const char *base, struct error *err);

#endif
