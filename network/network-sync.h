/* SPDX-License-Identifier: MIT */
/*
 * Bringing what members have of their own into the store of their network.
 *
 * What a member's references reach and the store lacks becomes one pack of the
 * store, which keeps the store closed (islands/network.h): the pack is there
 * with its index, all at once. Where that is just what a pack of the member
 * has, the pack gets a second name instead of being copied.
 */
#ifndef NETWORK_NETWORK_SYNC_H
#define NETWORK_NETWORK_SYNC_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "islands/network-refs.h"
#include "islands/network.h"
#include "packs/newpack.h"
#include "packs/old-packs.h"

struct network_sync_report {
	uint32_t copied_nr; /* objects written into a new pack */
	uint32_t linked_nr; /* objects of packs that were linked */
	size_t ref_nr;      /* references that changed */
};

/* Options for packs of the store; as configured there, never split. */
int network_pack_options(struct newpack_options *options,
			 const struct network *network, struct error *err);

/*
 * Bring what `refs`, reflogs, HEADs and indexes of a repository that borrows
 * from the store reach. The caller has NETWORK_LOCK_OBJECTS. 0 or negative;
 * what came into the store until then is no harm.
 * Cost: a look-up in the store for each reference, unless the repository has
 * no objects of its own; what is new, and the trees that name it.
 */
int network_sync_objects(const struct network *network, const struct repo *repo,
			 const struct network_refs *refs,
			 const struct newpack_options *options,
			 struct network_sync_report *report, struct error *err);

/*
 * As network_sync_objects(), of what the store lacks without the packs that are
 * about to go: what has come to be needed since it was found that nothing needs
 * it. Looks at each reference, whether the repository has objects or not.
 */
int network_sync_rescue(const struct network *network, const struct repo *repo,
			const struct network_refs *refs,
			const struct old_packs *leaving,
			const struct newpack_options *options,
			struct error *err);

/*
 * How many objects network_sync_objects() would bring; each of them is found to
 * be there. The references are those of a member. ERR_MISSING when something
 * they reach is in neither place.
 */
int network_sync_count(uint32_t *nr, const struct network *network,
		       const struct repo *repo, const struct network_refs *refs,
		       const struct newpack_options *options,
		       struct error *err);

struct network_sync {
	const struct newpack_options *options; /* borrowed */
	/*
	 * Told of each member when its objects are in the store, or, with
	 * `report` NULL, why it could not be brought up to date; a nonzero
	 * return ends it all and is returned.
	 */
	int (*done)(void *ctx, uint32_t id,
		    const struct network_sync_report *report,
		    const struct error *failed);
	void *ctx;
};

/*
 * Bring members up to date: their objects, then their references, of many
 * members together. `ids` ascend. Takes the locks it needs. 0; what `done`
 * returned; or negative when references could not be written. A member that is
 * gone fails with ERR_MISSING, one that does not borrow from the store, or not
 * only, with ERR_INVALID.
 */
int network_sync(struct network *network, const uint32_t *ids, size_t nr,
		 const struct network_sync *sync, struct error *err);

/* The same for who has NETWORK_LOCK_OBJECTS. */
int network_sync_held(struct network *network, const uint32_t *ids, size_t nr,
		      const struct network_sync *sync, struct error *err);

/*
 * Make the repository at `path` a member, *id: it borrows from the store, and
 * the store gets what it has. One that was begun and killed is completed. 0;
 * ERR_INVALID for one that cannot be a member: it borrows from elsewhere, is
 * shallow or partial, or has another hash function; or another error.
 */
int network_add(uint32_t *id, struct network *network, const char *path,
		const struct newpack_options *options,
		struct network_sync_report *report, struct error *err);

/*
 * Fork a repository that borrows from the store, after bringing its objects
 * there. See network_fork().
 */
int network_fork_synced(uint32_t *id, struct network *network,
			const struct repo *source, const char *path,
			const struct newpack_options *options,
			struct error *err);

#endif
