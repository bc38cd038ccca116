/* SPDX-License-Identifier: MIT */
/*
 * Copies of objects that a reader found damaged: a set of (pack, offset).
 *
 * A reader fills the set while it looks for another copy of a delta base, so
 * that it does not try the same damaged copy twice, and so that the search
 * ends. The set is empty as long as nothing is damaged. One thread.
 */
#ifndef ODB_BAD_COPIES_H
#define ODB_BAD_COPIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pack;

struct bad_copy {
	const struct pack *pack; /* borrowed, only compared; NULL: free slot */
	uint64_t offset;
	bool is_alone; /* no other copy of the object can be read, or the
			  search for one is under way */
};

struct bad_copies {
	struct bad_copy *slots; /* owned; slot_nr of them, a power of two */
	size_t slot_nr, nr;
};

/* Free the table and leave an empty set. */
void bad_copies_reset(struct bad_copies *set);

/* The entry of a copy, valid until one is added; NULL: not in the set. */
struct bad_copy *bad_copies_find(const struct bad_copies *set,
				 const struct pack *pack, uint64_t offset);

/*
 * The entry of a copy, added if needed with is_alone false; valid until the
 * next is added. NULL: out of memory.
 */
struct bad_copy *bad_copies_add(struct bad_copies *set, const struct pack *pack,
				uint64_t offset);

#endif
