/* SPDX-License-Identifier: MIT */
/*
 * What commands that change refs put around a transaction: the committer, the
 * check that new values are objects that the ref may name, and the
 * reference-transaction hook.
 */
#ifndef BUILTIN_REF_CHANGE_H
#define BUILTIN_REF_CHANGE_H

#include <stdbool.h>

#include "builtin/store.h"
#include "refs/ref-transaction.h"

struct ref_changer {
	struct store *store;  /* borrowed */
	struct buf committer; /* set by the first transaction */
	bool keep_going;      /* of transactions begun from now on */
};

void ref_changer_init(struct ref_changer *changer, struct store *store);
void ref_changer_release(struct ref_changer *changer);

/*
 * Begin a transaction; 0 with *out owned by the caller, or a negative error.
 * New values have to exist, those of branches to be commits.
 */
int ref_changer_begin(struct ref_transaction **out, struct ref_changer *changer,
		      struct error *err);

#endif
