/* SPDX-License-Identifier: MIT */
/*
 * Reads the pseudo-merge section of a bitmap index file (gitformat-bitmap(5),
 * flag 0x20), and finds the pseudo-merges that a query can use (pseudo-fill.c).
 *
 * A pseudo-merge is a set of commits and their common closure: the closure that
 * a merge of all these commits would have, without the merge itself. A query
 * that reaches all commits of a pseudo-merge reaches all its objects. In
 * contrast to the rest of the file, commits are identified by bit_pos here.
 *
 *   pseudo-merges: { commits: EWAH, objects: EWAH } ...
 *   lookup: rows of { bit_pos: 4, offset: 8 }, by bit_pos
 *   extended: { how many: 4, offsets: 8 each } ...
 *   positions: an offset (8) for each pseudo-merge
 *   pseudo-merges: 4 | rows: 4 | section length up to lookup: 8
 *   | length of the section: 8
 *
 * Offsets count from the start of the file. The offset in a row is the offset
 * of a pseudo-merge. If the commit is in several pseudo-merges, the highest bit
 * is set, and the other bits are the offset of an extended entry.
 *
 * An example: a section that begins at 1000 hexadecimal, with two
 * pseudo-merges. The first has commits 0 and 1, which reach 0 to 3. The second
 * has commits 1 and 4, which reach 1 to 5:
 *
 *	00  00000002 00000002 00000002 00000000 00000000 00000003 00000000
 *	1c  00000004 00000002 00000002 00000000 00000000 0000000f 00000000
 *	38  00000005 00000002 00000002 00000000 00000000 00000012 00000000
 *	54  00000006 00000002 00000002 00000000 00000000 0000003e 00000000
 *	70  00000000 00000000 00001000      commit 0 is in the first,
 *	7c  00000001 80000000 00001094      1 in several: see 94,
 *	88  00000004 00000000 00001038      4 in the second
 *	94  00000002 00000000 00001000 00000000 00001038
 *	a8  00000000 00001000 00000000 00001038     positions of both
 *	b8  00000002 00000003               two, of three commits
 *	c0  00000000 00000070 00000000 000000d0
 */
#ifndef BITMAP_PSEUDO_MERGE_H
#define BITMAP_PSEUDO_MERGE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "ewah/bitset.h"
#include "ewah/ewah.h"

#define PSEUDO_MERGE_ROW_LEN 12 /* bytes of a lookup row */
#define PSEUDO_MERGE_FOOTER_LEN 24
#define PSEUDO_MERGE_EXTENDED (UINT64_C(1) << 63)

/*
 * A parsed pseudo-merge section. All fields are zero if the file has no
 * section. Immutable; borrows the file's bytes.
 */
struct pseudo_merges {
	const uint8_t *bytes; /* of the file */
	const char *name;     /* borrowed, for messages */
	/* offset of the section in the file */
	uint64_t start;
	/* offset of the lookup rows in the file */
	uint64_t lookup;
	/* offset of the extended entries in the file */
	uint64_t extended;
	/* offset in the file of the list of all pseudo-merges' offsets */
	uint64_t positions;
	uint32_t nr; /* number of pseudo-merges */
	/* number of commits that are in at least one pseudo-merge */
	uint32_t row_nr;
	/* number of objects in the pack */
	uint32_t object_nr;
};

/*
 * One pseudo-merge: its commits and their closure, two sets indexed by bit_pos.
 * Views of the file's bytes.
 */
struct pseudo_merge {
	struct ewah_view commits, objects;
};

/*
 * Parses the section that ends at offset `end` of the file, and begins at
 * `from` or later. Verifies all sizes. The targets of offsets are verified when
 * they are used. O(1). Returns 0 or ERR_CORRUPT. After an error, *pm is zeroed.
 */
int pseudo_merges_parse(struct pseudo_merges *pm, const void *bytes,
			uint64_t from, uint64_t end, uint32_t object_nr,
			const char *name, struct error *err);

/*
 * Sets the two views in *merge to the bitmaps of the pseudo-merge with the
 * number `nr`, which must be below pm->nr. Returns 0 or ERR_CORRUPT.
 */
int pseudo_merges_view(struct pseudo_merge *merge,
		       const struct pseudo_merges *pm, uint32_t nr,
		       struct error *err);

/*
 * Calls `fn` with the number of each pseudo-merge that contains a commit. If
 * `fn` returns a nonzero value, the loop stops and returns this value.
 * Otherwise returns 0, or ERR_CORRUPT for an invalid offset. Cost: the row of
 * the commit is searched in the look-up table, which has one row for each
 * commit in a pseudo-merge. This takes O(log rows). Then each call of `fn`
 * takes O(log pseudo-merges).
 *
 * Stock Git lists a pseudo-merge once for each reference to the commit, so the
 * file may repeat a number. Adjacent repetitions are skipped. Repetitions that
 * are not adjacent are passed to `fn` again, but no known writer makes them.
 */
int pseudo_merges_each_of(const struct pseudo_merges *pm, uint32_t bit_pos,
			  int (*fn)(void *ctx, uint32_t nr), void *ctx,
			  struct error *err);

/*
 * Verifies that the lookup rows, the extended entries and the commits of the
 * pseudo-merges agree. Returns 0, ERR_CORRUPT or ERR_NOMEM.
 */
int pseudo_merges_verify(const struct pseudo_merges *pm, struct error *err);

/* ---- using pseudo-merges in a query */

/*
 * Finds the pseudo-merges that a query can use: those whose commits are all
 * reached.
 *
 * A pseudo-merge is considered only if one of its commits was passed to
 * pseudo_fill_note(): a tip, or a commit that the walk has reached. For a
 * request with few tips this costs a few binary searches, for any number of
 * pseudo-merges.
 */

/*
 * A pseudo-merge that contains a noted commit (see pseudo_fill_note()), and
 * whose objects were not ORed yet.
 */
struct pseudo_candidate {
	uint32_t nr;
	/*
	 * bit_pos of a commit in the pseudo-merge; at the last try, the query
	 * did not reach this commit. UINT32_MAX: there was no try yet
	 */
	uint32_t lacking;
};

struct pseudo_fill {
	const struct pseudo_merges *pm; /* borrowed */
	struct bitset noted;            /* indexed by bit_pos */
	/*
	 * indexed by the number of a pseudo-merge: set when the pseudo-merge
	 * becomes a candidate, so that it is added only once
	 */
	struct bitset known;
	struct pseudo_candidate *candidates; /* owned */
	size_t nr, alloc;
	/*
	 * owned: numbers of the pseudo-merges that pseudo_fill_run() has ORed
	 */
	uint32_t *served;
	size_t served_alloc;
	/* number of elements of `served` */
	uint32_t used;
};

/*
 * Initialises *pf, which takes no memory until a commit is noted. The caller
 * releases *pf in any case.
 */
void pseudo_fill_init(struct pseudo_fill *pf, const struct pseudo_merges *pm);
void pseudo_fill_release(struct pseudo_fill *pf);

/*
 * Records that the query has reached a commit: a tip, or a commit that the walk
 * has visited. So pseudo-merges with this commit are considered. Returns 0 or a
 * negative error code.
 */
int pseudo_fill_note(struct pseudo_fill *pf, uint32_t bit_pos,
		     struct error *err);

/*
 * ORs into `reached` the objects of every candidate whose commits are all
 * reached. A commit is reached if it is in `reached`, or was passed to
 * pseudo_fill_note(). Each pseudo-merge is used once. Returns 0, ERR_CORRUPT or
 * ERR_NOMEM.
 */
int pseudo_fill_run(struct pseudo_fill *pf, struct bitset *reached,
		    struct error *err);

#endif
