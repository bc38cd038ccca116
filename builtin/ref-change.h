/* SPDX-License-Identifier: MIT */
/*
 * Ref transactions as commands use them. The transaction gets the committer. A
 * check ensures that new values are objects that the ref may point to. The
 * reference-transaction hook runs.
 */
#ifndef BUILTIN_REF_CHANGE_H
#define BUILTIN_REF_CHANGE_H

#include <stdbool.h>

#include "builtin/store.h"
#include "refs/ref-transaction.h"

struct ref_changer {
	struct store *store; /* borrowed */
	/* set by the first transaction */
	struct buf committer;
	/* for transactions that begin later */
	bool keep_going;
};

void ref_changer_init(struct ref_changer *changer, struct store *store);
void ref_changer_release(struct ref_changer *changer);

/*
 * Begin a transaction. New values must exist, and those of branches must be
 * commits. Returns 0 with *out owned by the caller, or a negative error code.
 */
int ref_changer_begin(struct ref_transaction **out, struct ref_changer *changer,
		      struct error *err);

#endif
