/* SPDX-License-Identifier: MIT */
/* Members that go. */
#ifndef ISLANDS_NETWORK_DELETE_H
#define ISLANDS_NETWORK_DELETE_H

#include <stdint.h>

#include "base/error.h"
#include "islands/network.h"

/*
 * Delete a member and its repository, in whatever state it is:
 *
 *	registry: "deleting"  ->  the repository out of sight, then gone
 *	  ->  its references leave the store  ->  it leaves the registry
 *
 * What it shares with others stays in the store; what it had alone goes when
 * that is pruned. Takes the member's lock. 0; ERR_MISSING when there is no such
 * member; ERR_INVALID, with nothing changed, for a repository with a work tree
 * and for one that does not borrow from the store: it may be another by now.
 * One that is gone already is only forgotten.
 */
int network_delete(struct network *network, uint32_t id, struct error *err);

/*
 * The last two steps, for a member whose lock is held and whose repository
 * needs the store no longer.
 */
int network_part(struct network *network, uint32_t id, struct error *err);

#endif
