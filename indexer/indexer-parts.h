/* SPDX-License-Identifier: MIT */
/*
 * Internal to the indexer: declarations that the indexer*.c files share.
 *
 * `entry_nr` numbers entries in the order of the pack; bases that are appended
 * to a thin pack come last. The children of an entry are the deltas against it,
 * a list linked through `next_sibling`. An OFS_DELTA becomes a child as soon as
 * it is parsed. REF_DELTAs with the same base id are in a list of their own.
 * The first entry that has this id takes the whole list as its children.
 */
#ifndef INDEXER_INDEXER_PARTS_H
#define INDEXER_INDEXER_PARTS_H

#include "base/buf.h"
#include "base/sort.h"
#include "object/hash.h"
#include "indexer/indexer.h"
#include "pack/inflate.h"

/* the end of a list: no entry */
#define INDEXER_NONE UINT32_MAX

struct indexer_entry {
	uint64_t offset;
	uint32_t crc;
	/* entry_nr of the first delta against this entry (its first child) */
	uint32_t first_child;
	/* entry_nr of the next delta against the same base */
	uint32_t next_sibling;
	/*
	 * type in the entry's header (enum object_type), which may be a delta
	 * type
	 */
	uint8_t stored;
	/* type of the object; OBJ_NONE: the delta is not resolved yet */
	uint8_t type;
};

/* A list of REF_DELTAs that have the same base id. */
struct indexer_ref {
	struct oid base;
	/*
	 * entry_nr of the first delta in the list; INDEXER_NONE: a thread has
	 * taken the list to resolve its deltas
	 */
	_Atomic uint32_t first;
	/*
	 * If the content of the base came from the callback hooks.base:
	 * entry_nr of the first delta in the list; otherwise INDEXER_NONE. The
	 * pack may have the base, too.
	 */
	uint32_t outside_first;
};

struct pack_indexer {
	struct pack_indexer_config config;
	/* owned: path of the pack, for messages */
	char *name;
	int fd; /* descriptor of the pack */
	bool owns_fd;
	/* the file of a received pack */
	struct sys_tempfile file;
	uint64_t end; /* offset of the trailer */
	/*
	 * number of bytes that were inflated or made by deltas, by all threads
	 */
	_Atomic uint64_t work;
	struct oid checksum;

	struct indexer_entry *entries; /* owned */
	size_t nr, alloc;
	/* owned array of raw ids, indexed by entry_nr */
	uint8_t *ids;
	size_t ids_alloc;
	uint32_t delta_nr, appended_nr;

	/*
	 * Sorted by base, for binary search. The peer chooses these ids, so it
	 * could slow down a hash table keyed by them.
	 */
	struct indexer_ref *refs; /* owned */
	size_t ref_nr, ref_alloc;

	/* owned: entry_nr of objects that are compared after parsing */
	uint32_t *large;
	size_t large_nr, large_alloc;

	/* owned: the entries, sorted by id */
	struct pack_idx_entry *sorted;
	/* owned: entry_nr of all entries, sorted by id */
	uint32_t *order;
	/*
	 * the bytes of the pack's index, which pack_indexer_open_pack() makes
	 */
	struct buf idx;
};

static inline uint8_t *indexer_id(const struct pack_indexer *ix, size_t nr)
{
	return ix->ids + nr * hash_len(ix->config.algo);
}

/* Returns the offset at which the bytes of an entry end. */
static inline uint64_t indexer_entry_end(const struct pack_indexer *ix,
					 size_t nr)
{
	return nr + 1 < ix->nr ? ix->entries[nr + 1].offset : ix->end;
}

/*
 * Returns whether missing delta bases may be appended to the pack, which makes
 * a thin pack complete.
 */
static inline bool indexer_may_append(const struct pack_indexer *ix)
{
	return ix->config.hooks.base && ix->file.fd >= 0;
}

/* Adds an entry without children. Returns 0 or ERR_NOMEM. */
int indexer_add_entry(struct pack_indexer *ix, uint64_t offset,
		      enum object_type stored);

/*
 * Returns whether the indexer continues after an error. `ret` is the code of
 * the error, and `what` describes it. `is_end` is true if all later entries are
 * lost too. Damage (ERR_CORRUPT) of a pack that is being received is passed to
 * the callback hooks.broken, which decides. After any other error, or without
 * the callback, the indexer stops.
 */
static inline bool indexer_salvages(const struct pack_indexer *ix, bool is_end,
				    int ret, const struct error *what)
{
	const struct pack_indexer_hooks *hooks = &ix->config.hooks;

	if (ret != ERR_CORRUPT || !hooks->broken || ix->file.fd < 0)
		return false;
	return hooks->broken(hooks->broken_ctx, is_end, what) == 0;
}

/*
 * Counts `len` bytes that are inflated or made by a delta. The limit is
 * config.max_work, plus PACK_INDEXER_WORK_FACTOR bytes for each of the
 * `pack_len` bytes of the pack that have arrived. Returns 0, or ERR_DENIED if
 * the limit is exceeded.
 */
int indexer_work(struct pack_indexer *ix, uint64_t len, uint64_t pack_len,
		 struct error *err);

/*
 * Sets an error message about the bytes of the pack at `offset`. Returns
 * ERR_CORRUPT.
 */
int indexer_corrupt(const struct pack_indexer *ix, uint64_t offset,
		    const char *what, struct error *err);

/*
 * Parses all entries of the pack from `source`, and the pack's trailer. With
 * source.must_end, verifies that no bytes follow. Returns 0 or a negative error
 * code.
 */
int indexer_parse(struct pack_indexer *ix, struct pack_source source,
		  struct error *err);

/*
 * Compares an object with an existing one of the same id, if there is one, and
 * calls hooks.object. Returns 0 or a negative error code.
 */
int indexer_check_known(struct pack_indexer *ix, unsigned thread_nr,
			const struct oid *oid, enum object_type type,
			const void *data, size_t len, struct error *err);

/*
 * Resolves the deltas whose bases are in the pack. Then resolves the deltas
 * whose bases come from hooks.base, if bases may be appended. *left is set to
 * the number of unresolved deltas. Returns 0 or a negative error code.
 */
int indexer_resolve_deltas(struct pack_indexer *ix, uint32_t *left,
			   struct error *err);

/*
 * Sorts all entries by id: makes ix->order and ix->sorted. Returns 0 or a
 * negative error code.
 */
int indexer_sort(struct pack_indexer *ix, struct error *err);

/*
 * Searches the first `sorted_nr` entries of ix->order (the entries sorted by
 * id) for an id. Returns whether an entry has the id, with its position in
 * ix->order in *order_pos.
 */
bool indexer_find_sorted(const struct pack_indexer *ix, size_t sorted_nr,
			 const struct oid *oid, size_t *order_pos);

/*
 * Returns the list of the deltas whose base has this id, or NULL if there are
 * none.
 */
struct indexer_ref *indexer_find_ref(const struct pack_indexer *ix,
				     const uint8_t *id);

/*
 * Checks that a reader of the pack finds an end of each delta chain. Requires
 * that all deltas are resolved, and requires ix->order. Returns 0, ERR_CORRUPT
 * if a delta chain is a cycle, or ERR_NOMEM. Time and memory: linear in the
 * number of entries, and none if no entry is a REF_DELTA.
 */
int indexer_refuse_cycles(const struct pack_indexer *ix, struct error *err);

/*
 * Appends the delta bases that came from hooks.base and are not in the pack.
 * Then rewrites the header and the trailer of the pack. Requires ix->order (the
 * entries sorted by id), which does not get the new entries. Returns 0 or a
 * negative error code.
 */
int indexer_append_bases(struct pack_indexer *ix, struct error *err);

/*
 * Makes a valid pack of the undamaged entries: drops deltas that could not be
 * resolved, and rewrites the header and the trailer of the pack. Call this
 * before indexer_sort(). Returns 0 or a negative error code.
 */
int indexer_drop_broken(struct pack_indexer *ix, struct error *err);

#endif
