/* SPDX-License-Identifier: MIT */
/*
 * What the parts of the indexer share; for indexer*.c only.
 *
 * `entry_nr` numbers entries in the order of the pack, those appended to a
 * thin pack last. The children of an entry (deltas made against it) are a
 * list linked through `next_sibling`. Children by OFS_DELTA are linked when
 * they are found. Those by REF_DELTA wait in a list per base id, which goes
 * to the first entry that turns out to have this id.
 */
#ifndef PACK_INDEXER_PARTS_H
#define PACK_INDEXER_PARTS_H

#include "base/sort.h"
#include "object/hash.h"
#include "pack/indexer.h"
#include "pack/inflate.h"

#define INDEXER_NONE UINT32_MAX /* no entry: the end of a list */

struct indexer_entry {
	uint64_t offset;
	uint32_t crc;
	uint32_t first_child;  /* entry_nr */
	uint32_t next_sibling; /* entry_nr */
	uint8_t stored;        /* enum object_type, as in the entry's header */
	uint8_t type;          /* what it is; OBJ_NONE: not resolved yet */
};

/* The deltas against one id. */
struct indexer_ref {
	struct oid base;
	uint32_t first;  /* entry_nr; NONE once an entry has taken the list.
			    Exchanged atomically while threads resolve */
	bool is_outside; /* the base was had from hooks.base */
};

struct pack_indexer {
	struct pack_indexer_config config;
	char *name; /* owned: path, for messages */
	int fd;     /* of the pack */
	bool owns_fd;
	struct sys_tempfile file; /* a received pack */
	uint64_t end;             /* offset of the trailer */
	struct oid checksum;

	struct indexer_entry *entries; /* owned */
	size_t nr, alloc;
	uint8_t *ids; /* owned: raw ids, by entry_nr */
	size_t ids_alloc;
	uint32_t delta_nr, appended_nr;

	/*
	 * Sorted by base, for binary search: these ids are whatever the peer
	 * says, so that a hash table keyed by them could be made slow.
	 */
	struct indexer_ref *refs; /* owned */
	size_t ref_nr, ref_alloc;

	uint32_t *large; /* owned: entry_nr of objects to compare later */
	size_t large_nr, large_alloc;

	struct pack_idx_entry *sorted; /* owned: by id */
	uint32_t *order;               /* owned: entry_nr, by id */
	struct sort_item *by_offset;   /* owned: offset, index into `sorted`;
					  for indexer-read.c, NULL before */
};

static inline uint8_t *indexer_id(const struct pack_indexer *ix, size_t nr)
{
	return ix->ids + nr * hash_len(ix->config.algo);
}

/* Offset where the entry's bytes end. */
static inline uint64_t indexer_entry_end(const struct pack_indexer *ix,
					 size_t nr)
{
	return nr + 1 < ix->nr ? ix->entries[nr + 1].offset : ix->end;
}

/* Whether missing bases may be asked for and appended. */
static inline bool indexer_may_append(const struct pack_indexer *ix)
{
	return ix->config.hooks.base && ix->file.fd >= 0;
}

/* Append an entry without children. 0 or ERR_NOMEM. */
int indexer_add_entry(struct pack_indexer *ix, uint64_t offset,
		      enum object_type stored);

/*
 * Whether to go on after an error, which whoever takes broken packs is told
 * of.
 */
static inline bool indexer_salvages(const struct pack_indexer *ix, bool is_end,
				    int ret, const struct error *what)
{
	const struct pack_indexer_hooks *hooks = &ix->config.hooks;

	if (ret != ERR_CORRUPT || !hooks->broken || ix->file.fd < 0)
		return false;
	return hooks->broken(hooks->broken_ctx, is_end, what) == 0;
}

/* An error about the pack's bytes at `offset`: ERR_CORRUPT. */
int indexer_corrupt(const struct pack_indexer *ix, uint64_t offset,
		    const char *what, struct error *err);

/* Parse all entries from `source`, to the trailer and its end. */
int indexer_parse(struct pack_indexer *ix, struct pack_source source,
		  struct error *err);

/*
 * Compare with an object that may be there already, and show it to who wants to
 * see it. 0 or negative.
 */
int indexer_check_known(struct pack_indexer *ix, unsigned thread_nr,
			const struct oid *oid, enum object_type type,
			const void *data, size_t len, struct error *err);

/*
 * Resolve the deltas whose bases are in the pack and then, if asked for,
 * those whose bases hooks.base knows. *left gets the number of others.
 */
int indexer_resolve_deltas(struct pack_indexer *ix, uint32_t *left,
			   struct error *err);

/* Sort all entries by id into ix->order and ix->sorted. */
int indexer_sort(struct pack_indexer *ix, struct error *err);

/*
 * Append the bases that were had from outside and are not in the pack, and
 * write header and trailer anew. Needs ix->order; leaves it without them.
 */
int indexer_append_bases(struct pack_indexer *ix, struct error *err);

/*
 * Make a pack of what was salvaged: entries that could not be made are
 * dropped, header and trailer written anew. Before indexer_sort().
 */
int indexer_drop_broken(struct pack_indexer *ix, struct error *err);

#endif
