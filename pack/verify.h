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

#endif
