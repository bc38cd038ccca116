/* SPDX-License-Identifier: MIT */
/*
 * Copying runs of a stored pack.
 *
 * The wanted objects of one pack, as a bit set in pack order, are
 * copied in that order straight from the map. What lies between two changes is
 * one span: bytes are touched only where the distance of a delta to its base
 * has changed because something between them was left out, and there only the
 * entry's header.
 *
 * An object can be copied when it is no delta, when its base is copied too
 * (a base lies before its deltas, so that is known), or when a thin pack is
 * asked for and the receiver has the base. All others are left over, to be
 * sent some other way.
 */
#ifndef REPACK_REUSE_H
#define REPACK_REUSE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "ewah/bitset.h"
#include "pack/pack.h"
#include "pack/writer.h"
#include "sys/progress.h"

struct reuse_request {
	const struct pack *pack;    /* borrowed */
	const struct pack_rev *rev; /* borrowed: of the pack */
	const struct bitset *want;  /* pack_pos to send */
	const struct bitset *had;   /* pack_pos that the receiver has, for
				       thin bases; NULL: none */
	bool ofs_delta;             /* else bases are named by id */
	struct progress *progress;  /* counts objects; NULL: none */
};

struct reuse_report {
	uint32_t objects;        /* copied */
	uint64_t bytes_verbatim; /* of entries copied */
};

/*
 * Copy into *writer. Bits of `want` that could not be copied are set in
 * *left_over, which is initialised here and the caller's to release, also on
 * failure.
 */
int reuse_write(struct bitset *left_over, const struct reuse_request *request,
		struct pack_writer *writer, struct reuse_report *report,
		struct error *err);

#endif
