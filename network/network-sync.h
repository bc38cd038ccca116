/* SPDX-License-Identifier: MIT */
/*
 * Copies the objects of members into the store of their network ("sync").
 *
 * Objects that a member's references reach and the store lacks become one pack
 * of the store. The pack and its index appear at once, so that the store stays
 * closed under reachability (islands/network.h). If a pack of the member has
 * just these objects, the pack is hard-linked into the store instead of being
 * copied.
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
	/* number of objects that were written into a new pack */
	uint32_t copied_nr;
	/* of the objects in linked packs, the number that the store lacked */
	uint32_t linked_nr;
	/* number of references that changed */
	size_t ref_nr;
};

/*
 * Load the options for packs of the store from the store's configuration. Packs
 * of the store are never split. Returns 0 or a negative error code.
 */
int network_pack_options(struct newpack_options *options,
			 const struct network *network, struct error *err);

/*
 * Check that a repository is not shallow or partial, so that its objects may be
 * copied to the store. The store has, with each object, all objects that this
 * object reaches. A shallow or partial repository lacks some of these objects.
 * A member may have become shallow or partial by a push or a fetch. Returns 0,
 * ERR_INVALID if the repository is shallow or partial, or another negative
 * error code.
 */
int network_sync_check(const struct repo *repo, struct error *err);

/*
 * Copy to the store all objects that a repository reaches from `refs`, reflogs,
 * HEADs and indexes and that the store lacks. The repository must borrow from
 * the store, and the caller must hold NETWORK_LOCK_OBJECTS. Returns 0 or a
 * negative error code; objects that were copied before a failure do no harm.
 * ERR_INVALID: the repository is shallow or partial (network_sync_check()).
 * Cost: a look-up in the store for each reference, and reading the new objects
 * and the trees that name them. A repository without own objects costs nothing.
 */
int network_sync_objects(const struct network *network, const struct repo *repo,
			 const struct network_refs *refs,
			 const struct newpack_options *options,
			 struct network_sync_report *report, struct error *err);

/*
 * Called before a repack of the store removes the old packs `leaving`. The
 * repack has found some objects of these packs unreachable, and has not put
 * them into the new packs. Since then, a reference of the member `repo` may
 * have made some of these objects reachable again. This function saves them.
 *
 * Works like network_sync_objects(), with one difference: an object that only
 * the packs `leaving` have counts as missing in the store. So if a reference of
 * `repo` reaches the object, it is copied into a new pack of the store. Returns
 * 0 or a negative error code. All references are examined, even if the
 * repository has no objects of its own.
 */
int network_sync_rescue(const struct network *network, const struct repo *repo,
			const struct network_refs *refs,
			const struct old_packs *leaving,
			const struct newpack_options *options,
			struct error *err);

/*
 * Count the objects that network_sync_objects() would copy, and check that
 * each exists. `refs` has the references of the repository, which is a member.
 * Returns 0, ERR_MISSING if an object is neither in the store nor in the
 * repository, or another negative error code.
 */
int network_sync_count(uint32_t *nr, const struct network *network,
		       const struct repo *repo, const struct network_refs *refs,
		       const struct newpack_options *options,
		       struct error *err);

struct network_sync {
	const struct newpack_options *options; /* borrowed */
	/*
	 * true: the ids are those of all members at an earlier time. A member
	 * that has left the network since then is skipped, and `done` is not
	 * called for it.
	 */
	bool skip_gone;
	/*
	 * Called for each member when its objects are in the store. If the
	 * member could not be synced, `report` is NULL and `failed` says why. A
	 * nonzero return value stops network_sync(), which returns that value.
	 */
	int (*done)(void *ctx, uint32_t id,
		    const struct network_sync_report *report,
		    const struct error *failed);
	void *ctx;
};

/*
 * Sync members: copy their objects, then write their references, for many
 * members at a time. `ids` must ascend. This function takes the locks that it
 * needs. Returns 0, the nonzero value that `done` returned, or a negative error
 * code if references could not be written. If a member no longer exists, `done`
 * gets ERR_MISSING in `failed`. The objects/info/alternates of a member must
 * list the store and nothing else. Otherwise `done` gets ERR_INVALID.
 */
int network_sync(struct network *network, const uint32_t *ids, size_t nr,
		 const struct network_sync *sync, struct error *err);

/*
 * Sync members like network_sync(), but the caller already holds
 * NETWORK_LOCK_OBJECTS. Returns 0, the nonzero value that `done` returned, or a
 * negative error code.
 */
int network_sync_held(struct network *network, const uint32_t *ids, size_t nr,
		      const struct network_sync *sync, struct error *err);

/*
 * Make the repository at `path` a member: copy its objects to the store and let
 * it borrow from the store. *id receives the member's id. If an earlier add of
 * the repository was interrupted, the add is completed. Returns 0 or a negative
 * error code: ERR_INVALID if the repository borrows from another repository, is
 * shallow or partial, or has another hash function.
 */
int network_add(uint32_t *id, struct network *network, const char *path,
		const struct newpack_options *options,
		struct network_sync_report *report, struct error *err);

/*
 * Fork `source`, a repository that borrows objects from the store of the
 * network. The fork gets the references that a fetch from `source` lists,
 * without those that transfer.hideRefs and uploadpack.hideRefs hide. First
 * copies into the store the objects of these references that only `source` has.
 * Then makes the fork with network_fork(). Returns 0 or a negative error code.
 */
int network_fork_synced(uint32_t *id, struct network *network,
			const struct repo *source, const char *path,
			const struct newpack_options *options,
			struct error *err);

#endif
