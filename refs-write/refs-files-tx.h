/* SPDX-License-Identifier: MIT */
/*
 * The files backend of transactions. Parts: locking and staging
 * (refs-files-lock.c), conflicts of names with directories
 * (refs-files-conflict.c), and renaming lock files (refs-files-commit.c, which
 * also has the table of functions).
 */
#ifndef REFS_WRITE_REFS_FILES_TX_H
#define REFS_WRITE_REFS_FILES_TX_H

#include "refs-write/ref-transaction-internal.h"

/*
 * Sets *ms to the milliseconds to wait for the lock of a ref: the value of
 * core.filesRefLockTimeout, or 100. Returns 0 or ERR_INVALID.
 */
int refs_files_lock_timeout(int64_t *ms, const struct config *config,
			    struct error *err);

/* The functions of refs_files_tx_backend, see struct ref_tx_backend. */
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
 * Looks for a loose ref whose name is a directory of `name` ("refs/a" for
 * "refs/a/b"). Returns 1 with the ref's name in *other, 0 if there is none, or
 * a negative error code.
 */
int refs_files_conflict_above(struct ref_transaction *tx, const char *name,
			      struct buf *other, struct error *err);

#endif
