/* SPDX-License-Identifier: MIT */
/*
 * Deltas against objects that the receiver is known to have or to get: each
 * against one base, without a search for the best of many.
 */
#ifndef PACKING_FALLBACK_DELTA_H
#define PACKING_FALLBACK_DELTA_H

#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "pack/inflate.h"
#include "packing/find.h"
#include "packing/items.h"

/* What makes such deltas. */
struct fallback_deltas {
	struct packing_items *items; /* borrowed */
	struct odb_reader *reader;   /* borrowed */
	struct deflater *deflater;   /* owned */
	struct buf stream;
	uint64_t kept; /* bytes of deltas that were made */
};

/* An item, and the object that it is like. */
struct fallback_pair {
	uint32_t item;
	uint32_t base;        /* item; PACKING_NO_ITEM: none yet for `old` */
	struct walk_item old; /* the base's object */
};

/* 0 or ERR_NOMEM; release in any case. */
int fallback_deltas_init(struct fallback_deltas *r, struct packing_items *items,
			 struct odb_reader *reader, int compression);
void fallback_deltas_release(struct fallback_deltas *r);

/*
 * Make a planned item a delta against the other of its pair, where that is at
 * most max_len bytes, the id of the base included; if there is no item for that
 * one, an external one is appended and noted in the pair. An item for which
 * this will not do, or that cannot be read, stays as it is. 0 or ERR_NOMEM.
 */
int fallback_delta_make(struct fallback_deltas *r, struct fallback_pair *pair,
			uint64_t max_len);

/*
 * Make planned items that would be sent whole deltas against the versions that
 * `found` knows for them, where that is at most half their size. 0 or
 * ERR_NOMEM.
 */
int fallback_delta_versions(struct packing_items *items, struct found *found,
			    int compression, struct error *err);

#endif
