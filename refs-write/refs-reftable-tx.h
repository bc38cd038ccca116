/* SPDX-License-Identifier: MIT */
/*
 * A transaction in reftables: locking and checking (refs-reftable-tx.c), and
 * writing the new tables (refs-reftable-stage.c).
 */
#ifndef REFS_WRITE_REFS_REFTABLE_TX_H
#define REFS_WRITE_REFS_REFTABLE_TX_H

#include "odb/odb.h"
#include "refs-write/ref-transaction-internal.h"
#include "refs/refs-reftable.h"

/* An item, and the name of its ref in the stack. */
struct refs_reftable_change {
	struct ref_item *item; /* borrowed */
	const char *name;      /* points into item->name */
};

/* A locked stack. */
struct refs_reftable_top {
	char *dir; /* owned */
	struct reftable_append append;
	/* owned; ordered when written */
	struct refs_reftable_change *changes;
	size_t nr, alloc;
};

struct refs_reftable_tx {
	struct reftable_append_options options;
	struct refs_reftable_top **tops; /* owned, and each stack */
	size_t nr, alloc;
	/* owned: for peeling tags, or NULL */
	struct odb *odb;
	struct odb_reader *reader; /* owned */
	/*
	 * Cache of the last peeled object. Often many refs in a row name one
	 * object.
	 */
	struct oid last_oid, last_peeled;
	enum reftable_value
		last_value; /* REFTABLE_DELETED: the cache is empty */
	struct buf dir;     /* scratch */
};

/*
 * Writes a stack's changes into a new table that readers do not see yet. Writes
 * nothing if the stack has no changes. Returns 0 or a negative error code.
 */
int refs_reftable_stage(struct ref_transaction *tx,
			struct refs_reftable_top *top, struct error *err);

#endif
