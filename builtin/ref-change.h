/* SPDX-License-Identifier: MIT */
/*
 * The parts of update-ref and symbolic-ref: ref-change.c makes transactions and
 * runs their hooks, and update-ref-stdin.c carries out the commands of
 * update-ref --stdin.
 */
#ifndef BUILTIN_REF_CHANGE_H
#define BUILTIN_REF_CHANGE_H

#include <stdbool.h>

#include "builtin/store.h"
#include "refs-write/ref-transaction.h"

/*
 * Makes the ref transactions of a command. A transaction checks that the ref
 * may point to the object of the new value. It records the committer in
 * reflogs, and runs the reference-transaction hook.
 */
struct ref_changer {
	struct store *store; /* borrowed */
	/* the committer line for reflogs; set by the first transaction */
	struct buf committer;
	/*
	 * The error that says why there is no committer. Code 0: there is a
	 * committer. Set by the first transaction.
	 */
	struct error no_committer;
	/*
	 * true: an update that is refused does not end its transaction
	 * (update-ref --batch-updates). Has an effect on transactions that
	 * begin later.
	 */
	bool keep_going;
	/* true: the advice about core.preferSymlinkRefs was printed already */
	bool has_advised;
	/* the advice about hooks that was printed already */
	struct buf advice;
	/* true: a reference-transaction hook has refused a transaction */
	bool was_refused;
};

void ref_changer_init(struct ref_changer *changer, struct store *store);
void ref_changer_release(struct ref_changer *changer);

/*
 * Begin a transaction. The objects of new values must exist. A branch may only
 * point to a commit. Returns 0 with *out owned by the caller, or a negative
 * error code.
 */
int ref_changer_begin(struct ref_transaction **out, struct ref_changer *changer,
		      struct error *err);

/*
 * Report that a transaction failed: print `prefix` and the error. If a hook has
 * refused the transaction, print the error alone, as stock Git does. Returns
 * 128.
 */
int ref_changer_fail(const struct ref_changer *changer, const char *prefix,
		     const struct error *err);

/*
 * Runs the reference-transaction hooks. `describe_changes` appends the lines
 * that hooks read. `advice` collects the advice about hooks that was printed,
 * so that no advice is printed twice.
 *
 * Returns 0 if no hook has refused. Returns 1 if a hook has refused; *err then
 * has the message of stock Git. Otherwise returns a negative error code. In the
 * states "committed" and "aborted", no hook can refuse: prints errors and
 * returns 0.
 */
int ref_hook_run(const struct repo *repo, enum ref_state state,
		 int (*describe_changes)(void *ctx, struct buf *out), void *ctx,
		 struct buf *advice, struct error *err);

/* The options of update-ref that apply to each change. */
struct update_ref_args {
	struct ref_changer changer;
	const char *message; /* -m, or NULL */
	/* flags of enum ref_change_flags */
	unsigned flags;
};

/*
 * Sets *out to the object that a value on the command line names. If
 * `may_be_empty` is set, "" means the zero id. Returns 1 if the name names an
 * object, 0 if not, or a negative error code.
 */
int update_ref_value(struct oid *out, const struct store *store,
		     const char *name, bool may_be_empty, struct error *err);

/*
 * Carry out the commands on standard input. `nul`: NUL ends each argument,
 * otherwise a newline ends each command. Prints errors. Returns the exit code.
 */
int update_ref_stdin(struct update_ref_args *args, bool nul);

#endif
