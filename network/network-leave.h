/* SPDX-License-Identifier: MIT */
/* Members that go on by themselves. */
#ifndef NETWORK_NETWORK_LEAVE_H
#define NETWORK_NETWORK_LEAVE_H

#include <stdint.h>

#include "base/error.h"
#include "islands/network.h"
#include "packs/newpack.h"

/*
 * Make a member a repository of its own:
 *
 *	all that it needs into one pack of its own  ->  see that all is there
 *	  ->  registry: "leaving"  ->  its alternate goes
 *	  ->  its references leave the store  ->  it leaves the registry
 *
 * Takes the locks it needs. 0; ERR_MISSING when there is no such member, or
 * something it needs is missing; or another error. Until its alternate goes it
 * is a member, and after that it is whole.
 */
int network_leave(struct network *network, uint32_t id, struct error *err);

#endif
