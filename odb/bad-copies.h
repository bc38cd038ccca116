/* SPDX-License-Identifier: MIT */
/*
 * The set of object copies that a reader found damaged. A copy is identified by
 * its pack and offset. For one thread.
 *
 * A reader fills the set while it looks for another copy of a delta base. So
 * the reader never tries the same damaged copy twice, and the search ends. As
 * long as no copy is damaged, the set is empty.
 */
#ifndef ODB_BAD_COPIES_H
#define ODB_BAD_COPIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pack;

struct bad_copy {
	/*
	 * borrowed; only compared, never dereferenced; NULL: the slot is free
	 */
	const struct pack *pack;
	uint64_t offset;
	/*
	 * true: do not search for another copy of this object. Either there is
	 * no other copy that can be read, or the reader is in the middle of
	 * this search.
	 */
	bool is_alone;
};

struct bad_copies {
	/* owned array of `slot_nr` slots, a power of two */
	struct bad_copy *slots;
	size_t slot_nr, nr;
};

/* Frees the hash table and leaves an empty set. */
void bad_copies_reset(struct bad_copies *set);

/*
 * Returns the entry of a copy, or NULL if the copy is not in the set. The entry
 * is valid until a copy is added.
 */
struct bad_copy *bad_copies_find(const struct bad_copies *set,
				 const struct pack *pack, uint64_t offset);

/*
 * Returns the entry of a copy. A new entry is added if needed, with `is_alone`
 * false. Returns NULL if memory runs out. The entry is valid until another copy
 * is added.
 */
struct bad_copy *bad_copies_add(struct bad_copies *set, const struct pack *pack,
				uint64_t offset);

#endif
