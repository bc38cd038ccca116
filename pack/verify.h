/* SPDX-License-Identifier: MIT */
/*
 * Checking a pack from end to end.
 *
 * Together with what pack_open() and pack_chains_init() check, success means:
 * both files have the checksums they claim, the entries fill the pack without
 * a gap, each has the CRC that the index notes, and each object is the one
 * whose id the index gives. Objects are not parsed: a malformed commit is a
 * matter for fsck.
 */
#ifndef PACK_VERIFY_H
#define PACK_VERIFY_H

#include "base/error.h"
#include "pack/chains.h"

/*
 * Check both files' checksums and the index's order only; objects are not
 * looked at. 0, ERR_CORRUPT or ERR_NOMEM.
 */
int pack_verify_files(const struct pack *pack, struct error *err);

/*
 * Check everything, with `threads` threads. Every object is inflated once:
 * families are walked depth first, so that of a family only the bases of the
 * object at hand that have further children are in memory. Returns 0,
 * ERR_CORRUPT (with pack and offset in the message) or ERR_NOMEM.
 */
int pack_verify(const struct pack_chains *chains, unsigned threads,
		struct error *err);

/* Who wants to see the objects while they are checked. */
struct pack_verify_hooks {
	/*
	 * An object that is what its id says; the bytes are valid during the
	 * call. `thread_nr` < threads. A negative return ends it all.
	 */
	int (*object)(void *ctx, unsigned thread_nr, uint32_t idx_pos,
		      enum object_type type, const void *data, size_t len,
		      struct error *err);
	/*
	 * An object that is not, or cannot be had. Those that are made from it
	 * are not heard of.
	 */
	int (*bad)(void *ctx, unsigned thread_nr, uint32_t idx_pos,
		   const struct error *why, struct error *err);
	void *ctx;
};

/*
 * Check all objects as pack_verify() does, but no checksums of files, and go
 * on after one that is wrong. Both hooks are needed. 0, or the first negative
 * return of a hook, or ERR_NOMEM.
 */
int pack_verify_objects(const struct pack_chains *chains, unsigned threads,
			const struct pack_verify_hooks *hooks,
			struct error *err);

#endif
