/* SPDX-License-Identifier: MIT */
/*
 * An opened pack: the .pack, the .idx, and the reverse index if needed. The
 * .pack is opened at once and mapped when an entry is first read (sys/map.h).
 *
 * 	"PACK" | version 2 or 3 (be32) | number of objects (be32)
 * 	entries     header and zlib stream, see entry.h
 * 	checksum    of all bytes before it
 *
 * A pack that contains only the blob "hello\n":
 *
 * 	00  5041434b 00000002 00000001
 * 	0c  36                          blob (3), 6 bytes
 * 	0d  789ccb48 cdc9c9e7 0200084b 021f
 * 	1b  de041240 1f4a9e5f 05411f44 eaf9c86d 46096746
 *
 * After pack_open() a pack is immutable, and threads may share it. The reverse
 * index is made on first use, under a lock.
 */
#ifndef PACK_PACK_H
#define PACK_PACK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "pack/entry.h"
#include "pack/idx.h"
#include "pack/rev.h"
#include "sys/map.h"

/* length in bytes of the header of a .pack file */
#define PACK_HEADER_LEN 12

struct pack {
	/* owned: "<dir>/pack-<hex>", without extension */
	char *path;
	/* points into `path`: "pack-<hex>" */
	const char *name;
	enum hash_algo algo;
	struct sys_held file; /* the .pack */
	uint32_t version;     /* 2 or 3 */
	struct sys_map idx_map;
	struct pack_idx idx;
	struct oid checksum; /* the pack's trailer */
	/* modification time of the .pack file */
	int64_t mtime_ns;
	/*
	 * true: the pack is in the object directory of the repository; false:
	 * it is in an alternate
	 */
	bool is_local;
	bool is_kept; /* there is a .keep file */
	/* true: the pack has a .promisor file */
	bool is_promisor;
	bool is_cruft; /* there is a .mtimes file */
	/*
	 * true: the .rev file is not read; the caller sets this before using
	 * the pack
	 */
	bool ignores_rev;
	/*
	 * true: mapped pages are not released after their bytes were copied,
	 * since other threads copy the same bytes. Set by the caller before the
	 * pack is used.
	 */
	bool keeps_pages;
	/*
	 * true: the pack stays open until every response that uses it was sent.
	 * So pack_sink.put_pinned() may get bytes of the pack. Set by the
	 * caller before the pack is used.
	 */
	bool is_pinned;
	/* held while one of the fields below is created */
	pthread_mutex_t lock;
	struct sys_map rev_map;
	struct pack_rev rev_file; /* made from the .rev file */
	/*
	 * the reverse index computed by sorting, if the .rev file is unusable
	 */
	struct pack_rev rev_sorted;
	_Atomic(const struct pack_rev *) rev;        /* NULL until made */
	_Atomic(const struct pack_rev *) proven_rev; /* NULL until verified */
};

/*
 * Opens "<base>.pack" and "<base>.idx". Verifies the pack's header, the index
 * (pack_idx_parse()), that both have the same number of objects, and that the
 * index contains the pack's checksum.
 *
 * Returns 0 with *out owned by the caller. Returns ERR_MISSING if a file is
 * missing, ERR_CORRUPT, ERR_UNSUPPORTED, ERR_IO or ERR_NOMEM. After an error,
 * *out is NULL. `is_local`, `ignores_rev`, `keeps_pages` and `is_pinned` are
 * false; the caller may set them.
 */
int pack_open(struct pack **out, const char *base, enum hash_algo algo,
	      struct error *err);

/* The side files that a pack has. */
struct pack_side_files {
	bool has_keep, has_promisor, has_mtimes;
};

/*
 * Works like pack_open() for a caller that knows the side files of the pack. If
 * `side_files` is NULL, the function looks for them. Returns the codes of
 * pack_open().
 */
int pack_open_with(struct pack **out, const char *base, enum hash_algo algo,
		   const struct pack_side_files *side_files, struct error *err);

/*
 * Opens the pack file `path`, which has no index file and no side files yet.
 * `idx` has the `idx_len` bytes of the pack's index; they are borrowed until
 * pack_close(). Verifies the same as pack_open(), and returns the same codes.
 * pack->path is the whole path, so pack_open_file() finds no file.
 */
int pack_open_alone(struct pack **out, const char *path, const void *idx,
		    size_t idx_len, enum hash_algo algo, struct error *err);
void pack_close(struct pack *pack);

/*
 * Returns the reverse index, or NULL with *err set if memory runs out. The
 * index comes from "<base>.rev" if this file exists, is right and is not
 * ignored; otherwise the index is computed. The first call takes O(objects).
 * Thread-safe; the pack owns the index.
 */
const struct pack_rev *pack_get_rev(struct pack *pack, struct error *err);

/*
 * For a pack with at most this many objects, the reverse index is always
 * verified, which takes microseconds.
 */
#define PACK_REV_SMALL_NR 8192

/*
 * Returns a reverse index for a few lookups, without verifying it. This takes
 * constant time if there is a .rev file. If the file is damaged, results of
 * lookups may be wrong, but are in range. After pack_get_rev() has noticed the
 * damage, this function returns the computed index. For a pack of at most
 * PACK_REV_SMALL_NR objects, the reverse index is verified.
 */
const struct pack_rev *pack_get_rev_unproven(struct pack *pack,
					     struct error *err);

/*
 * Verifies the checksum of the file from which `rev` was made: the .rev file,
 * or the index. `rev` comes from pack_get_rev_unproven(). A .rev file with the
 * right checksum counts as verified afterwards, unless pack_get_rev() has found
 * its order wrong before. Returns 0, ERR_CORRUPT if the checksum or the order
 * is wrong, or ERR_NOMEM. This takes less than half the time of a check that
 * all entries are in the order of their offsets. Thread-safe.
 */
int pack_check_rev(struct pack *pack, const struct pack_rev *rev,
		   struct error *err);

/*
 * Verifies the checksum of the .rev file like pack_check_rev(), and the
 * checksum of another file, whose `len` bytes are at `bytes`. Hashing both
 * files at once takes less time (hash_check_two()). Returns 1 if both
 * checksums are right. Returns 0 if a checksum is wrong, there is no .rev file,
 * or pack_get_rev() has found its order wrong. Otherwise returns ERR_NOMEM.
 */
int pack_check_rev_with(struct pack *pack, const struct pack_rev *rev,
			const void *bytes, size_t len);

/*
 * Parses the entry header at `offset`. Verifies that the offset, and the base
 * of an OFS_DELTA, are between header and trailer. Returns 0, ERR_CORRUPT with
 * a message that contains pack and offset, or an error of pack_bytes().
 */
int pack_entry_at(struct pack_entry *entry, const struct pack *pack,
		  uint64_t offset, struct error *err);

/*
 * Returns the `file.len` bytes of the .pack file. Returns NULL and sets *err if
 * mapping fails; this cannot happen after an entry was parsed.
 */
static inline const uint8_t *pack_bytes(const struct pack *pack,
					struct error *err)
{
	return sys_held_bytes(&pack->file, pack->path, err);
}

/*
 * Prefetches the memory of the entry at `offset`, if the .pack file is mapped.
 */
static inline void pack_prefetch(const struct pack *pack, uint64_t offset)
{
	const uint8_t *bytes = sys_held_mapped(&pack->file);

	if (bytes && offset < pack->file.len)
		__builtin_prefetch(bytes + offset);
}

/*
 * Finds the base of the entry at `offset`, in the same pack. *entry is the
 * header of the entry, parsed by pack_entry_at(). Returns 1 with *base_offset
 * set, 0 if the entry is not a delta, or ERR_CORRUPT if the base of a REF_DELTA
 * is not in the pack. The base is not read; pack_entry_at() verifies its
 * offset.
 */
int pack_entry_base(uint64_t *base_offset, const struct pack *pack,
		    uint64_t offset, const struct pack_entry *entry,
		    struct error *err);

/*
 * Works like pack_entry_base(), but sets *base_idx_pos to the position of the
 * base in the index. Uses the unverified reverse index, and the verified one if
 * the base is not found. Returns 1, 0 if the entry is not a delta, ERR_CORRUPT
 * if no object begins where the base should be, or ERR_NOMEM.
 */
int pack_entry_base_pos(uint32_t *base_idx_pos, struct pack *pack,
			uint64_t offset, const struct pack_entry *entry,
			struct error *err);

/*
 * pack_chain_ends() follows at most this number of deltas. Stock Git makes
 * chains of at most 4,095 deltas.
 */
#define PACK_CHAIN_MAX 4096

/*
 * Returns whether the delta chain of an object ends at an object that is stored
 * whole. Call this before another copy of the object is removed. Reads the
 * headers of the entries, and inflates nothing.
 *
 * A pack of an older version or of stock Git may have a chain that is a cycle:
 * an object is a REF_DELTA against itself, or two objects are each other's
 * base. No reader can read these objects from the pack.
 *
 * Returns false if the chain has more than PACK_CHAIN_MAX deltas, or if one of
 * its entries cannot be read. Also returns false if the index has the object,
 * or the base of a REF_DELTA, twice: readers may then follow different chains.
 */
bool pack_chain_ends(const struct pack *pack, uint32_t idx_pos);

/*
 * Returns whether the pack has the object, and its delta chain ends
 * (pack_chain_ends()).
 */
bool pack_holds(const struct pack *pack, const uint8_t *raw);

/*
 * Opens the .pack file again, for sending parts of it with system calls.
 * Returns a descriptor that the caller closes, or -1 if the file was removed or
 * replaced.
 */
int pack_open_file(const struct pack *pack);

/*
 * Verifies the checksum of the whole .pack file. Returns 0, ERR_CORRUPT or
 * ERR_NOMEM.
 */
int pack_verify_checksum(const struct pack *pack, struct error *err);

#endif
