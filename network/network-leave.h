/* SPDX-License-Identifier: MIT */
/*
 * Lets member repositories leave a fork network, so that they are independent
 * of its store.
 */
#ifndef NETWORK_NETWORK_LEAVE_H
#define NETWORK_NETWORK_LEAVE_H

#include <stdint.h>

#include "base/error.h"
#include "islands/network.h"
#include "packs/newpack.h"

/*
 * Make a member an independent repository:
 *
 *	pack all objects that it needs into its own pack  ->  check the pack
 *	  ->  registry: "leaving"  ->  remove info/alternates
 *	  ->  check again (if objects are missing: borrow again, start again)
 *	  ->  remove core.alternateRefsPrefixes
 *	  ->  delete its references in the store  ->  remove its entry
 *
 * This function takes the locks that it needs. Returns 0 or a negative error
 * code: ERR_MISSING if there is no such member, or if an object that the member
 * needs is missing. If the function fails before the second check has passed,
 * the repository is still a member, perhaps in the state "leaving". If the
 * function fails later, the repository is complete without the store.
 */
int network_leave(struct network *network, uint32_t id, struct error *err);

#endif
