/* SPDX-License-Identifier: MIT */
/*
 * Writes cruft packs: packs of unreachable objects. Each object has the time
 * when it was last known to be in use (gitformat-pack(5), "cruft packs").
 */
#ifndef REPACK_CRUFT_H
#define REPACK_CRUFT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "packs/newpacks.h"
#include "repack/unreachable.h"

struct cruft_options {
	const struct newpack_options *newpack; /* borrowed */
	/* Directory for temporary files, on the file system of `base`. */
	const char *dir;
	/* the pack is "<base>-<checksum>.pack" */
	const char *base;
	/*
	 * Seconds since 1970. An object that is older than `expiry` is kept if
	 * a recent object reaches it. The time of this older object in .mtimes
	 * is then `expiry`, as in stock Git.
	 */
	int64_t expiry;
	/*
	 * true: write the unreachable objects that have expired. false: write
	 * the unreachable objects that are kept.
	 */
	bool expired;
	/* Write a cruft pack even if it has no objects. */
	bool empty;
	/*
	 * Borrowed. If not NULL, the sink receives the objects as one pack. In
	 * this case, no file is installed, not even an .mtimes file.
	 */
	const struct pack_sink *sink;
};

/*
 * Returns whether a cruft pack of kept objects needs an object: the object is
 * kept, and has no other copy that stays.
 */
static inline bool cruft_wants(const struct unreachable_item *item)
{
	return item->is_kept && !item->is_safe;
}

/*
 * Put some objects of *u into packs and install the packs: the objects that
 * have expired if options->expired is true, otherwise the objects that are
 * kept. If there are no such objects, *np is empty, except with options->empty.
 * A damaged loose object without a packed copy is left out, and u->warn is
 * called. Returns 0 or a negative error code. The caller releases *np in any
 * case.
 */
int cruft_write(struct newpacks *np, struct unreachable *u,
		const struct cruft_options *options, struct error *err);

#endif
