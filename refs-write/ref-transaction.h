/* SPDX-License-Identifier: MIT */
/*
 * Changing refs: a transaction makes all of its changes, or none.
 *
 *   new -> add ... add -> [prepare] -> commit
 *                               \-----> abort (or free)
 *
 * In files, preparing locks every affected ref ("<ref>.lock"), compares the
 * ref's value with the expected value, and writes the new value into the lock
 * file. Committing appends to reflogs and renames the lock files. A reader at
 * that moment may see some refs changed and others not yet.
 *
 * A transaction does not check that objects exist, and does not run hooks. The
 * caller does both, in `check_value` and `on_state`.
 *
 * Source: git-update-ref(1), gitrepository-layout(5), githooks(5). One thread
 * per transaction.
 */
#ifndef REFS_WRITE_REF_TRANSACTION_H
#define REFS_WRITE_REF_TRANSACTION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"
#include "object/oid.h"
#include "repo/repo.h"

struct ref_transaction;

/* Result of one change. */
enum ref_result {
	/* made, or no failure so far */
	REF_OK,
	/* another process holds the lock of the ref */
	REF_LOCKED,
	/* refs/a conflicts with refs/a/b */
	REF_NAME_CONFLICT,
	/* the ref must not exist, but does */
	REF_EXISTS,
	/* the ref must have a value, but has none */
	REF_ABSENT,
	/* the ref has another value than expected */
	REF_OLD_DIFFERS,
	/* the new value is rejected */
	REF_BAD_VALUE,
	/* the ref must be symbolic, but is not */
	REF_NOT_SYMBOLIC,
	/* another change is for the same ref */
	REF_DUPLICATE,
	/* the present value cannot be read */
	REF_BROKEN,
	/* any other failure; mostly of the operating system */
	REF_FAILED,
};

/*
 * Returns Git's text for a result, as `update-ref --batch-updates` and
 * receive-pack report results ("reference already exists"). "" for REF_OK. The
 * string is static.
 */
const char *ref_result_reason(enum ref_result result);

enum ref_change_flags {
	/* Change a symbolic ref itself, not its target. */
	REF_NO_DEREF = 1 << 0,
	/* Write a reflog entry even if there is no reflog yet. */
	REF_FORCE_REFLOG = 1 << 1,
	/* Never write a reflog entry. */
	REF_NO_REFLOG = 1 << 2,
};

/*
 * A requested change. All pointers are borrowed for the call. At most one of
 * new_oid and new_target is set, and at most one of old_oid and old_target.
 */
struct ref_change {
	/* full name: "refs/heads/main", "HEAD" */
	const char *name;
	unsigned flags; /* of ref_change_flags */
	/*
	 * The new value. NULL: keep the value (verify). Zero: delete the ref.
	 */
	const struct oid *new_oid;
	/* The expected old value. NULL: any. Zero: the ref must not exist. */
	const struct oid *old_oid;
	/* Target, if the ref becomes symbolic. */
	const char *new_target;
	/* Expected target, if the ref must be symbolic; needs REF_NO_DEREF. */
	const char *old_target;
	/* Message for the reflog. NULL or "": none. White space is folded. */
	const char *message;
};

/*
 * A change in the queue of a transaction. Its strings live as long as the
 * transaction.
 */
struct ref_update {
	char *name;
	unsigned flags;
	bool has_new, has_old; /* new_oid, old_oid are set */
	struct oid new_oid, old_oid;
	char *new_target, *old_target; /* or NULL */
	char *message;                 /* or NULL */
	enum ref_result result;
	/* Git's text for a result that is not REF_OK */
	char *error;
	/*
	 * The last symbolic ref or ref that was reached from `name` when the
	 * change was rejected. NULL: `name` itself. Borrowed from the
	 * transaction.
	 */
	const char *reached;
};

/* State of a transaction, named as in githooks(5). */
enum ref_state {
	/* all changes are known, nothing is locked */
	REF_PREPARING,
	/* all refs are locked, and all checks have passed */
	REF_PREPARED,
	REF_COMMITTED, /* all changes are made */
	/* nothing was changed, the locks are removed */
	REF_ABORTED,
};

/*
 * Returns "preparing", "prepared", "committed" or "aborted". The string is
 * static.
 */
const char *ref_state_name(enum ref_state state);

struct ref_transaction_options {
	/*
	 * Name and time for reflogs: "Name <mail> <seconds> <zone>"; copied.
	 * NULL: the transaction fails if it must write a reflog entry.
	 */
	const char *committer;
	/*
	 * Keep going if a change fails because of its value, its name or its
	 * lock. A failure of the system, or two changes of one ref, still fail
	 * the transaction.
	 */
	bool keep_going;
	/*
	 * Called for each new value that is not zero; `name` is the ref after
	 * symbolic refs were followed. Returns 0, or ERR_INVALID with *err set
	 * to reject the change, or another negative error code to fail the
	 * transaction. For instance, it checks that objects exist and that
	 * branches are commits. NULL: all values are accepted.
	 */
	int (*check_value)(void *ctx, const char *name,
			   const struct oid *new_oid, struct error *err);
	/*
	 * Called when the transaction enters a state. For PREPARING and
	 * PREPARED, a negative return (with *err set) aborts the transaction
	 * and is returned; the state ABORTED is then not reported. Not called
	 * for a transaction without changes. NULL: no calls.
	 */
	int (*on_state)(void *ctx, enum ref_state state,
			const struct ref_transaction *tx, struct error *err);
	void *ctx;
};

/*
 * Creates a transaction. `repo` is borrowed until the transaction is freed.
 * `options` are copied (NULL: no committer, all or nothing). Returns 0 with
 * *out owned by the caller, or a negative error code.
 */
int ref_transaction_new(struct ref_transaction **out, const struct repo *repo,
			const struct ref_transaction_options *options,
			struct error *err);

/*
 * Aborts the transaction if it is still open, and frees it. NULL is accepted.
 */
void ref_transaction_free(struct ref_transaction *tx);

/*
 * Copies a change into the queue. Reads and locks nothing yet. The name of a
 * ref that gets a value must be well-formed. The name of a ref that is deleted
 * or verified must be a root name of capital letters, '-' and '_', or below
 * refs/. A name below refs/ may then be ill-formed, so that stray files can be
 * removed. Returns 0; ERR_INVALID ("refusing to update ref with bad name '..'")
 * with nothing queued; or ERR_NOMEM.
 */
int ref_transaction_add(struct ref_transaction *tx,
			const struct ref_change *change, struct error *err);

/*
 * Locks all refs and checks all changes. Returns 0 or a negative error code.
 * After an error nothing is locked and the transaction is closed. Errors:
 *
 * - ERR_INVALID: a change cannot be made. `result` and `error` of the change
 *   and *err have Git's text.
 * - ERR_DENIED: another process has the lock of packed-refs or of a stack of
 *   tables.
 * - ERR_CORRUPT: packed-refs or a table is damaged.
 * - ERR_IO, ERR_NOMEM, or the return value of on_state.
 * - ERR_DENIED: the repository is in a quarantine (repo_check_quarantine()),
 *   also with keep_going or without changes.
 *
 * With keep_going, failed changes are left out and 0 is returned. Cost: linear
 * in the changes, some system calls each. Other refs are not read, except in
 * packed-refs, which is searched.
 */
int ref_transaction_prepare(struct ref_transaction *tx, struct error *err);

/*
 * Prepares the transaction if needed, and makes the changes durable as
 * core.fsync says. Returns as ref_transaction_prepare(). If the system fails
 * half way, the refs that were renamed before stay changed, and all other refs
 * are unchanged. *err then names the ref of the failure.
 */
int ref_transaction_commit(struct ref_transaction *tx, struct error *err);

/*
 * Releases the locks and closes the transaction. Returns 0, or the return value
 * of on_state.
 */
int ref_transaction_abort(struct ref_transaction *tx, struct error *err);

/*
 * The number of changes, and the change of index i, in the order they were
 * added.
 */
size_t ref_transaction_nr(const struct ref_transaction *tx);
const struct ref_update *ref_transaction_get(const struct ref_transaction *tx,
					     size_t i);

/*
 * Appends the lines that the reference-transaction hook reads: "<old> SP <new>
 * SP <ref> LF" for each change that has not failed. <old> is zero if no old
 * value was given. Returns 0 or ERR_NOMEM.
 */
int ref_transaction_describe(struct buf *out, const struct ref_transaction *tx);

#endif
