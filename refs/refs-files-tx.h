/* SPDX-License-Identifier: MIT */
/*
 * The files backend of transactions, in parts: locking and staging
 * (refs-files-lock.c), D/F conflicts (refs-files-conflict.c), and renaming into
 * place (refs-files-commit.c, which also has the table of functions).
 */
#ifndef REFS_REFS_FILES_TX_H
#define REFS_REFS_FILES_TX_H

#include "refs/ref-transaction-internal.h"

/* Members of refs_files_tx_backend, see struct ref_tx_backend. */
int refs_files_tx_begin(struct ref_transaction *tx, struct error *err);
int refs_files_tx_lock(struct ref_transaction *tx, struct ref_item *item,
		       struct error *err);
int refs_files_tx_conflict(struct ref_transaction *tx, struct ref_item *item,
			   struct buf *other, struct error *err);
int refs_files_tx_stage(struct ref_transaction *tx, struct ref_item *item,
			struct error *err);
int refs_files_tx_ready(struct ref_transaction *tx, struct error *err);
void refs_files_tx_unlock(struct ref_transaction *tx);

/*
 * Whether a loose ref is in place of a directory that a new ref needs: 0, or 1
 * with its name in *other, or negative.
 */
int refs_files_conflict_above(struct ref_transaction *tx, const char *name,
			      struct buf *other, struct error *err);

#endif
