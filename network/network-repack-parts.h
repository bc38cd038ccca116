/* SPDX-License-Identifier: MIT */
/*
 * Declarations of three files that network_repack() uses. A network consists of
 * a store (an object pool) and its members: forks, which borrow objects from
 * the store.
 *
 * network-heads.c chooses the HEADs that the store's pack is optimised for.
 * network-graph.c keeps the commit-graphs. network-drop.c removes from members
 * the objects that the store has.
 */
#ifndef NETWORK_NETWORK_REPACK_PARTS_H
#define NETWORK_NETWORK_REPACK_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "islands/network.h"
#include "object/oid.h"
#include "packs/newpack.h"
#include "repo/repo.h"

/*
 * ---- network-heads.c
 *
 * Collects the HEAD commits of the members. Often such a commit is the only one
 * that a client wants: in a clone of one branch, or in a clone of depth 1.
 *
 * A fork keeps the HEAD that it was made with, so there may be as many
 * different HEADs as members. The pack of the store is optimised for a few of
 * them. The first member's HEAD comes first, because most clients ask for it.
 * The other HEADs are sorted by the number of members that have them.
 */

/*
 * Maximum number of HEADs that the store's pack is optimised for. Each HEAD
 * costs a walk of its tree in every repack, and makes some deltas impossible.
 */
#define NETWORK_HEADS_MAX 8

struct network_heads {
	/* owned: the HEADs of the members that were added */
	struct oid *heads;
	size_t nr, alloc;
};

void network_heads_release(struct network_heads *heads);

/*
 * Add the HEAD of a member to the end of the list. An unborn HEAD is ignored.
 * The first call must be for the first member of the network, because the HEAD
 * of this member must come first in the list. Returns 0 or a negative error
 * code.
 */
int network_heads_add(struct network_heads *heads, const struct repo *member,
		      struct error *err);

/*
 * Reduce the list to at most NETWORK_HEADS_MAX HEADs without duplicates: the
 * first member's HEAD, then the most frequent HEADs of members. Returns 0 or
 * ERR_NOMEM.
 */
int network_heads_choose(struct network_heads *heads, struct error *err);

/*
 * ---- network-graph.c
 *
 * Keeps the commit-graphs of a network. Members read the store's commit-graph
 * through their alternates. A commit-graph with commits that no longer exist is
 * removed: for such a commit-graph, `git fsck` reports an error.
 */

/*
 * Write a commit-graph of all commits that the store's references reach. The
 * commit-graph is a chain, so that commit-graphs of members can build on its
 * layers. If `anew` is true, the chain gets one layer with only reachable
 * commits: do this before unreachable objects are pruned. Otherwise layers are
 * added and merged, and some commits may be unreachable. Does nothing if
 * core.commitGraph or gc.writeCommitGraph is false. Returns 0 or a negative
 * error code.
 */
int network_graph_write(const struct repo *store, bool anew, struct error *err);

/*
 * Remove the commit-graph of a member. The member must have been synced before
 * the store's commit-graph was written, so that the store's commit-graph has
 * all commits of the member. Does nothing if the store has no commit-graph
 * chain. Returns 0 or a negative error code.
 */
int network_graph_drop(const struct repo *store, const struct repo *member,
		       struct error *err);

/*
 * Remove the commit-graph of a repository if one of its commits exists neither
 * in the repository nor in its alternates. Returns 1 if the commit-graph was
 * removed, 0 if not, or a negative error code. Cost: one look-up for each
 * commit of the commit-graph.
 */
int network_graph_clean(const struct repo *repo, struct error *err);

/*
 * ---- network-drop.c
 *
 * Removes from a member the objects that the store has. The member's packs are
 * removed. Their objects that the store lacks are packed into one new pack.
 * Loose objects that the store has are removed too.
 */

struct network_drop_report {
	uint32_t pack_nr; /* number of removed packs */
	/* number of objects that the store lacks and that were packed again */
	uint32_t kept_nr;
	/*
	 * If packs were removed without the lock of the member's
	 * multi-pack-index: one line that names the lock file. Otherwise the
	 * code is 0.
	 */
	struct error held;
};

/*
 * Remove objects from a member that borrows from the store, if the store has
 * them. Other members are not changed. The caller holds NETWORK_LOCK_OBJECTS,
 * so that the store keeps its objects during the call. This function takes the
 * lock of the member. Packs with .keep stay. A cruft pack stays unless the
 * store has all its objects. Returns 0, a negative error code of
 * old_packs_remove() or another one; on failure, the store has all objects that
 * were removed. Cost: proportional to the number
 * of the member's own objects.
 */
int network_drop(struct network *network, uint32_t id,
		 const struct newpack_options *options,
		 struct network_drop_report *report, struct error *err);

#endif
