/* SPDX-License-Identifier: MIT */
/*
 * An opened pack: the .pack, which is held open and mapped when an entry is
 * first looked at (sys/held.h), the .idx, and the reverse index when asked for.
 *
 *	"PACK" | version 2 or 3 (be32) | number of objects (be32)
 *	entries     header and zlib stream, see entry.h
 *	checksum    of all before it
 *
 * A pack that holds nothing but the blob "hello\n":
 *
 *	00  5041434b 00000002 00000001
 *	0c  36                          blob (3), 6 bytes
 *	0d  789ccb48 cdc9c9e7 0200084b 021f
 *	1b  de041240 1f4a9e5f 05411f44 eaf9c86d 46096746
 *
 * Immutable and shareable between threads after pack_open(); the reverse
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
#include "sys/held.h"
#include "sys/map.h"

/* Bytes before the first entry. */
#define PACK_HEADER_LEN 12

struct pack {
	char *path;       /* owned: "<dir>/pack-<hex>", no extension */
	const char *name; /* points into path: "pack-<hex>" */
	enum hash_algo algo;
	struct sys_held file; /* the .pack */
	uint32_t version;     /* 2 or 3 */
	struct sys_map idx_map;
	struct pack_idx idx;
	struct oid checksum;  /* the pack's trailer */
	int64_t mtime_ns;     /* of the .pack file */
	bool is_local;        /* in the repository's own object directory */
	bool is_kept;         /* has a .keep file */
	bool is_promisor;     /* has a .promisor file */
	bool is_cruft;        /* has a .mtimes file */
	bool ignores_rev;     /* a .rev file is not read; the caller's to set
				 before the pack is used */
	pthread_mutex_t lock; /* guards making what follows */
	struct sys_map rev_map;
	struct pack_rev rev_file;             /* of the .rev file */
	struct pack_rev rev_sorted;           /* when that cannot be used */
	_Atomic(const struct pack_rev *) rev; /* NULL until made */
	_Atomic(const struct pack_rev *) proven_rev; /* NULL until proven */
};

/*
 * Open "<base>.pack" and "<base>.idx". Checks the pack's header, the index
 * (pack_idx_parse), that object counts agree and that the index names this
 * pack's checksum. Returns 0, ERR_MISSING when a file is not there,
 * ERR_CORRUPT, ERR_UNSUPPORTED, ERR_IO or ERR_NOMEM with *out NULL. The
 * caller owns *out. `is_local` and `ignores_rev` are left false: only the
 * caller knows.
 */
int pack_open(struct pack **out, const char *base, enum hash_algo algo,
	      struct error *err);

/* What other files say of a pack. */
struct pack_beside {
	bool has_keep, has_promisor, has_mtimes;
};

/* The same for who knows what is beside it; NULL: it is looked for. */
int pack_open_beside(struct pack **out, const char *base, enum hash_algo algo,
		     const struct pack_beside *beside, struct error *err);
void pack_close(struct pack *pack);

/*
 * The reverse index: from "<base>.rev" when that is there, right and not to be
 * ignored, else computed; O(objects) the first time. Thread-safe; owned by the
 * pack. NULL (and *err) when out of memory.
 */
const struct pack_rev *pack_get_rev(struct pack *pack, struct error *err);

/* Packs that have no more objects are proven in microseconds. */
#define PACK_REV_SMALL_NR 8192

/*
 * The same for few look-ups: in constant time if there is a .rev file, which
 * may have been damaged (pack_rev_parse()). Of a small pack it is proven.
 */
const struct pack_rev *pack_get_rev_unproven(struct pack *pack,
					     struct error *err);

/*
 * Check the file that `rev`, which pack_get_rev_unproven() gave, was made of
 * against its checksum: the .rev file, or the index. 0 or ERR_CORRUPT. A .rev
 * file that is as it was written is taken as proven from then on, in less than
 * half of the time that a look at the order takes. Thread-safe.
 */
int pack_check_rev(struct pack *pack, const struct pack_rev *rev,
		   struct error *err);

/*
 * The same for another file as well, in less time than for one after the other
 * (hash_check_two()): 1 when both are as they were written, 0 when one is not,
 * or there is no .rev file; or ERR_NOMEM.
 */
int pack_check_rev_with(struct pack *pack, const struct pack_rev *rev,
			const void *bytes, size_t len);

/*
 * Parse the entry header at `offset`. Checks that the offset lies between
 * header and trailer and an OFS_DELTA's base does too. 0, ERR_CORRUPT with a
 * message that names pack and offset, or that of pack_bytes().
 */
int pack_entry_at(struct pack_entry *entry, const struct pack *pack,
		  uint64_t offset, struct error *err);

/*
 * The bytes of the .pack, `file.len` of them. NULL and *err when it cannot be
 * mapped; not after an entry was parsed.
 */
static inline const uint8_t *pack_bytes(const struct pack *pack,
					struct error *err)
{
	return sys_held_bytes(&pack->file, pack->path, err);
}

/* Announce that the entry at `offset` will be looked at. */
static inline void pack_prefetch(const struct pack *pack, uint64_t offset)
{
	const uint8_t *bytes = sys_held_mapped(&pack->file);

	if (bytes && offset < pack->file.len)
		__builtin_prefetch(bytes + offset);
}

/*
 * Where the base of the entry at `offset`, parsed by pack_entry_at(), lies in
 * the same pack. Returns 1 with *base_offset set, 0 when the entry is no
 * delta, or ERR_CORRUPT when a REF_DELTA's base is not in the pack. The base
 * is not looked at: pack_entry_at() checks its offset.
 */
int pack_entry_base(uint64_t *base_offset, const struct pack *pack,
		    uint64_t offset, const struct pack_entry *entry,
		    struct error *err);

/*
 * Open the .pack file again, for who lets the system send parts of it. -1 when
 * it is gone, or another one by now. The caller closes it.
 */
int pack_open_file(const struct pack *pack);

/* Recompute the checksum over the whole file. 0, ERR_CORRUPT, ERR_NOMEM. */
int pack_verify_checksum(const struct pack *pack, struct error *err);

#endif
