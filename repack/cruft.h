/* SPDX-License-Identifier: MIT */
/*
 * Cruft packs: what nothing reaches, with the time when each object was last
 * known to be in use (gitformat-pack(5), "cruft packs").
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
	const char *dir;  /* for temporary files, on the file system of: */
	const char *base; /* "<base>-<checksum>.pack" is written */
	/*
	 * What is older than this and kept for the sake of another object is
	 * noted to be from then, as stock Git does.
	 */
	int64_t expiry;
	bool expired; /* those that are not kept; else those that are */
	bool empty;   /* write a pack without objects too */
	/*
	 * Not NULL: one pack goes there and nothing is installed; the times
	 * are lost. Borrowed.
	 */
	const struct pack_sink *sink;
};

/*
 * Whether an object goes into the cruft pack of those that are kept: nothing
 * else that stays has it.
 */
static inline bool cruft_wants(const struct unreachable_item *item)
{
	return item->is_kept && !item->is_safe;
}

/*
 * Put objects of *u into packs and install them. Without objects *np is empty.
 * Release *np in any case.
 */
int cruft_write(struct newpacks *np, struct unreachable *u,
		const struct cruft_options *options, struct error *err);

/*
 * newpack options with repack.cruftWindow, cruftWindowMemory, cruftDepth and
 * cruftThreads of the configuration applied.
 */
int cruft_options_load(struct newpack_options *options, const struct repo *repo,
		       struct error *err);

#endif
