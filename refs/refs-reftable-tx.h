/* SPDX-License-Identifier: MIT */
/*
 * A transaction in reftables: locking and checking (refs-reftable-tx.c), and
 * the tables that it comes to (refs-reftable-stage.c).
 */
#ifndef REFS_REFS_REFTABLE_TX_H
#define REFS_REFS_REFTABLE_TX_H

#include "refs/ref-transaction-internal.h"
#include "refs/refs-reftable.h"

/* An item, and the name that its ref has in its stack. */
struct refs_reftable_change {
	struct ref_item *item; /* borrowed */
	const char *name;      /* points into item->name */
};

/* A stack that is locked. */
struct refs_reftable_top {
	char *dir; /* owned */
	struct reftable_append append;
	struct refs_reftable_change *changes; /* owned; by name at last */
	size_t nr, alloc;
};

struct refs_reftable_tx {
	struct reftable_append_options options;
	struct refs_reftable_top **tops; /* owned, and each */
	size_t nr, alloc;
	struct odb *odb;           /* owned: to peel tags, or NULL */
	struct odb_reader *reader; /* owned */
	/* What was peeled last: many refs of one object come together. */
	struct oid last_oid, last_peeled;
	enum reftable_value last_value; /* REFTABLE_DELETED: nothing yet */
	struct buf dir;                 /* scratch */
};

/*
 * Write the table of a stack's changes, out of sight. Nothing is written when
 * they come to nothing.
 */
int refs_reftable_stage(struct ref_transaction *tx,
			struct refs_reftable_top *top, struct error *err);

#endif
