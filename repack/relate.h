/* SPDX-License-Identifier: MIT */
/*
 * Deltas against versions that the receiver is known to have: each against one
 * base, without a search for the best of many.
 */
#ifndef REPACK_RELATE_H
#define REPACK_RELATE_H

#include "base/error.h"
#include "repack/find.h"
#include "repack/items.h"

/*
 * Make planned items that would be sent whole deltas against the versions that
 * `found` knows for them, where that is at most half their size; these are
 * appended to the items, as external ones. Others stay as they are. 0 or
 * ERR_NOMEM.
 */
int relate_versions(struct repack_items *items, struct found *found,
		    int compression, struct error *err);

#endif
