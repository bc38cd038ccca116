/* SPDX-License-Identifier: MIT */
/*
 * Looks up refs in the tables of a generation, while a record is made
 * (generation_change.find_ref). The tables that were read last stay open,
 * because most generations have the same tables as the generation before.
 */
#ifndef STORED_FINDER_H
#define STORED_FINDER_H

#include "stored/tables.h"

/* Open tables. Only one thread may use them at a time. */
struct stored_finder {
	struct stored_cache *cache;           /* borrowed */
	const struct generation_place *place; /* borrowed */
	/*
	 * owned: the tables that are open now, and the generation that they
	 * belong to
	 */
	struct generation tables_of;
	struct stored_tables tables;
	bool has_tables;
};

void stored_finder_release(struct stored_finder *finder);

/*
 * Finds the value of a ref in the tables of the generation `g`. Called while
 * the record of the next generation is made (a record is the file that lists
 * what a generation has). Works like generation_change.find_ref, with the same
 * arguments and results; `ctx` is a struct stored_finder.
 */
int stored_finder_find(void *ctx, struct buf *value, const struct generation *g,
		       const struct generation_change *change, const char *ref,
		       struct error *err);

#endif
