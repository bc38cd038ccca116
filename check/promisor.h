/* SPDX-License-Identifier: MIT */
/*
 * What a remote has promised to a partial clone (gitrepository-layout(5),
 * technical/partial-clone): the objects of packs with a .promisor file, and
 * what these name. They may be missing; nothing here fetches them.
 *
 * What such packs have is read from their indexes. What is named by it is only
 * known once the commits, trees and tags among it were read: that is done when
 * somebody asks about an object that they do not have.
 *
 * One thread, like the walk.
 */
#ifndef CHECK_PROMISOR_H
#define CHECK_PROMISOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "ewah/bitset.h"
#include "walk/walk.h"

struct promisor {
	struct walk *walk;    /* borrowed */
	struct bitset packed; /* by obj_pos: a promisor pack has it */
	struct bitset named;  /* by obj_pos: one of these names it */
	bool has_packs;       /* there is a promisor pack */
	bool has_others;      /* there is another pack of the repository's own
			       */
	bool is_loaded;       /* `named` is complete */
};

/* Look at the packs. 0 or negative; release in any case. */
int promisor_init(struct promisor *p, struct walk *walk, struct error *err);
void promisor_release(struct promisor *p);

/* Whether an object is in a promisor pack. */
static inline bool promisor_has(const struct promisor *p, uint32_t obj_pos)
{
	return bitset_get(&p->packed, obj_pos);
}

/*
 * Whether an object was promised: 1, 0 or negative. The first time that it is
 * asked about one that promisor packs do not have costs reading their commits,
 * trees and tags.
 */
int promisor_promises(struct promisor *p, uint32_t obj_pos, struct error *err);

/* Whether the object is in the snapshot's packs or loose. */
bool promisor_is_there(const struct promisor *p, uint32_t obj_pos);

/*
 * What to do about an object that was met: 1 when it is there, 0 when it is
 * missing and was promised, ERR_MISSING when it should be there.
 */
int promisor_check(struct promisor *p, uint32_t obj_pos, enum object_type type,
		   struct error *err);

/*
 * Enumerate what `wants` reach and promisor packs do not have, as
 * walk_enumerate() does with objects; result->lists stays empty. The walk ends
 * at objects of promisor packs, and at what is missing and was promised. With
 * `haves`, it ends also at what these reach, as far as it is there.
 *
 * With `keep_promised` what is here, was promised and is in no promisor pack is
 * wanted as well: somebody has it who relies on it, though the remote does too.
 */
int promisor_enumerate(struct walk_result *result, struct promisor *p,
		       const struct walk_tips *wants,
		       const struct walk_tips *haves,
		       enum name_grouping grouping, bool keep_promised,
		       struct error *err);

#endif
