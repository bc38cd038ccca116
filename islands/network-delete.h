/* SPDX-License-Identifier: MIT */
/* Deletes members (repositories) of a fork network. */
#ifndef ISLANDS_NETWORK_DELETE_H
#define ISLANDS_NETWORK_DELETE_H

#include <stdint.h>

#include "base/error.h"
#include "islands/network.h"

/*
 * Deletes a member of a network and its repository, in any state of the member:
 *
 * registry: "deleting"  ->  the repository is renamed away, then removed
 *   ->  its references leave the store  ->  it leaves the registry
 *
 * Shared objects stay in the store. Objects that only this member had are
 * removed when the store is pruned. Takes the member's lock. If the repository
 * is gone already, the member is only removed from the network. The same holds
 * if a deletion was interrupted, and another repository that does not need the
 * store is at the member's path now.
 *
 * Returns 0 or a negative error code. ERR_MISSING: there is no such member.
 * ERR_INVALID, with nothing changed: the repository has a work tree, or it may
 * not be the member. A member borrows from the store. If a fork or a deletion
 * of the member was interrupted, its repository must also be marked
 * (network_is_marked()).
 */
int network_delete(struct network *network, uint32_t id, struct error *err);

/*
 * Removes a member's references from the shared store, and the member from the
 * registry. The caller holds the member's lock. The member's repository must
 * not need the store any more. Returns 0 or a negative error code.
 */
int network_part(struct network *network, uint32_t id, struct error *err);

#endif
