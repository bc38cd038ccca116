/* SPDX-License-Identifier: MIT */
/*
 * Changes refs: a transaction makes all of its changes, or none.
 *
 *   new -> add ... add -> [prepare] -> commit
 *                               \-----> abort (or free)
 *
 * In files, preparing locks every affected ref ("<ref>.lock"), compares the
 * ref's value with the expected value, and writes the new value into the lock
 * file. Committing appends to reflogs and renames the lock files. While lock
 * files are being renamed, a reader may see some refs changed and others not.
 *
 * If the option `publish` is set, the transaction only checks the changes, and
 * the function `publish` makes them in another place. Such a transaction locks
 * nothing and writes nothing itself.
 *
 * A transaction does not check that objects exist, and does not run hooks. The
 * caller does both, in `check_value` and `on_state`.
 *
 * Source: git-update-ref(1), gitrepository-layout(5), githooks(5). Each
 * transaction is for use by one thread.
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
	/* the change was made, or has not failed so far */
	REF_OK,
	/* another process holds the lock of the ref */
	REF_LOCKED,
	/* the name conflicts with another ref, like refs/a with refs/a/b */
	REF_NAME_CONFLICT,
	/* the change requires that the ref does not exist, but it does */
	REF_EXISTS,
	/* the change requires that the ref has a value, but it has none */
	REF_ABSENT,
	/* the ref has another value than expected */
	REF_OLD_DIFFERS,
	/* check_value() has rejected the new value */
	REF_BAD_VALUE,
	/* the change requires that the ref is symbolic, but it is not */
	REF_NOT_SYMBOLIC,
	/* the transaction has another change of this ref */
	REF_DUPLICATE,
	/* the current value of the ref cannot be read */
	REF_BROKEN,
	/* any other failure, usually of the operating system */
	REF_FAILED,
};

/*
 * Returns Git's text for a result, as `update-ref --batch-updates` and
 * receive-pack report results ("reference already exists"). "" for REF_OK. The
 * string is static.
 */
const char *ref_result_reason(enum ref_result result);

enum ref_change_flags {
	/* Change the symbolic ref itself, and not the ref that it leads to. */
	REF_NO_DEREF = 1 << 0,
	/* Write a reflog entry even if there is no reflog yet. */
	REF_FORCE_REFLOG = 1 << 1,
	/* Never write a reflog entry. */
	REF_NO_REFLOG = 1 << 2,
};

/*
 * A requested change. All pointers are borrowed for the call. At most one of
 * new_oid and new_target may be set, and at most one of old_oid and old_target.
 */
struct ref_change {
	/* full name of the ref: "refs/heads/main", "HEAD" */
	const char *name;
	unsigned flags; /* of ref_change_flags */
	/*
	 * The new value of the ref. NULL: keep the value, and only verify it.
	 * Zero: delete the ref.
	 */
	const struct oid *new_oid;
	/*
	 * The expected old value. NULL: any value. Zero: the ref must not
	 * exist.
	 */
	const struct oid *old_oid;
	/* The new target, if the ref becomes symbolic; else NULL. */
	const char *new_target;
	/*
	 * The expected target, if the ref must be symbolic; else NULL. Requires
	 * REF_NO_DEREF.
	 */
	const char *old_target;
	/*
	 * The message for the reflog. NULL or "": no message. Each run of white
	 * space becomes one space.
	 */
	const char *message;
};

/*
 * A change in the queue of a transaction. Its strings are valid as long as the
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
	/* owned: Git's text for the result; NULL if the result is REF_OK */
	char *error;
	/*
	 * If the change was rejected: the name of the ref that was reached from
	 * `name` through symbolic refs. NULL: `name` itself. Borrowed from the
	 * transaction.
	 */
	const char *reached;
};

/* States of a transaction, with the names of githooks(5). */
enum ref_state {
	/* all changes are known, and nothing is locked yet */
	REF_PREPARING,
	/* all refs are locked, and all checks have passed */
	REF_PREPARED,
	REF_COMMITTED, /* all changes are made */
	/* nothing was changed, and all locks are released */
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
	 * The error message of a transaction that needs a committer and has
	 * none. NULL: a standard message that names the ref. Borrowed until
	 * ref_transaction_free().
	 */
	const char *no_committer;
	/*
	 * Continue without a change that fails because of its value, its name
	 * or its lock. A failure of the system, or two changes of one ref,
	 * still fail the transaction.
	 */
	bool keep_going;
	/*
	 * Make a symbolic ref a symbolic link to its target
	 * (core.preferSymlinkRefs). If the file system refuses the link, or if
	 * refs are in reftables, this option has no effect.
	 */
	bool prefer_symlinks;
	/*
	 * Called for each new value that is not zero, when the change is added.
	 * If the change is for a symbolic ref, called a second time when the
	 * target of the ref is locked, with the name of the target. Returns 0,
	 * ERR_INVALID with *err set to reject the change, or another negative
	 * error code to fail the transaction. For instance, the function checks
	 * that objects exist and that branches are commits. NULL: all values
	 * are accepted.
	 */
	int (*check_value)(void *ctx, const char *name,
			   const struct oid *new_oid, struct error *err);
	/*
	 * Called when the transaction enters a state. For REF_PREPARING and
	 * REF_PREPARED, a negative return value (with *err set) aborts the
	 * transaction, which returns this value. Then on_state() is called with
	 * REF_ABORTED, too. Also called for a transaction without changes. May
	 * be NULL.
	 */
	int (*on_state)(void *ctx, enum ref_state state,
			const struct ref_transaction *tx, struct error *err);
	/*
	 * Called during ref_transaction_commit() with a text of one line, if
	 * the reflog of a deleted ref cannot be removed. The ref is deleted
	 * nevertheless. Called while refs are locked, so the function must not
	 * use the repository. NULL: nothing is reported.
	 */
	void (*warn)(void *ctx, const char *text);
	/*
	 * For a local copy of a repository in a store: makes the changes in the
	 * store, in one step. Called by ref_transaction_commit() when all
	 * checks have passed and on_state() has allowed REF_PREPARED. The
	 * function gets the changes from ref_transaction_each_effect(), and may
	 * reject single ones by ref_transaction_reject(). The old values in
	 * these changes come from a snapshot, so the function compares them
	 * with the store again.
	 *
	 * Returns 0 if all changes that are not rejected were made. A negative
	 * error code fails the transaction: nothing was changed, and
	 * REF_ABORTED is reported. ERR_PEER means that the outcome is unknown,
	 * and no state is reported.
	 *
	 * Refs must be in reftables. The transaction does not change the tables
	 * of this repository: the caller brings them up to date afterwards. No
	 * reflogs are written. NULL: the transaction changes the repository
	 * itself, and fails with ERR_DENIED in a copy (repo_check_copy()).
	 */
	int (*publish)(void *ctx, struct ref_transaction *tx,
		       struct error *err);
	void *ctx;
};

/*
 * Creates a transaction. `repo` is borrowed until the transaction is freed.
 * `options` are copied. If `options` is NULL, there is no committer, and the
 * transaction fails if any change fails. Returns 0 with *out owned by the
 * caller, or a negative error code.
 */
int ref_transaction_new(struct ref_transaction **out, const struct repo *repo,
			const struct ref_transaction_options *options,
			struct error *err);

/*
 * Frees the transaction. A prepared transaction is aborted. An open transaction
 * is closed without a call of on_state(). `tx` may be NULL.
 */
void ref_transaction_free(struct ref_transaction *tx);

/*
 * Adds a copy of a change to the queue. No ref is read or locked yet. The name
 * of a ref that gets a value must be well-formed. If the ref is only deleted or
 * verified, two kinds of names are allowed. One is a well-formed root name:
 * capital letters, '-' and '_' only, such as HEAD. The other is a name that
 * begins with "refs/". This name may be ill-formed, so that a stray file below
 * refs/ can be removed. But no part of the name may be empty, "." or "..".
 * FETCH_HEAD and MERGE_HEAD are never allowed.
 *
 * Calls check_value() for the new value. Returns 0 if the change is queued. In
 * all other cases, nothing is queued. If check_value() rejects the value,
 * returns 1 with keep_going (*err has the reason) and ERR_INVALID without
 * keep_going. If the name is bad, returns ERR_INVALID ("refusing to update ref
 * with bad name '..'"). Returns another negative error code after other errors.
 */
int ref_transaction_add(struct ref_transaction *tx,
			const struct ref_change *change, struct error *err);

/*
 * Locks all refs and checks all changes. Returns 0 or a negative error code.
 * After an error nothing is locked and the transaction is closed. With
 * keep_going, failed changes are left out and 0 is returned. Errors:
 *
 * - ERR_INVALID: a change cannot be made. The field `result` of the change says
 *   why. Its field `error` and *err have Git's text.
 * - ERR_DENIED: another process has the lock of packed-refs or of a stack of
 *   tables.
 * - ERR_DENIED, even with keep_going or without changes: the repository is in a
 *   quarantine (repo_check_quarantine()), or is a local copy of a repository in
 *   a store (repo_check_copy()) and options.publish is NULL.
 * - ERR_CORRUPT: packed-refs or a table is damaged.
 * - ERR_IO, ERR_NOMEM, or the return value of on_state.
 * - ERR_UNSUPPORTED: options.publish is set, and refs are not in tables.
 *
 * Cost: some system calls for each change. Other refs are not read, except that
 * packed-refs is searched.
 */
int ref_transaction_prepare(struct ref_transaction *tx, struct error *err);

/*
 * Prepares the transaction if this was not done, and makes the changes durable
 * as core.fsync says. Returns 0 or a negative error code, see
 * ref_transaction_prepare(). If a system call fails in the middle, refs whose
 * lock files were already renamed stay changed, and all other refs are
 * unchanged. *err then names the ref at which the call failed.
 */
int ref_transaction_commit(struct ref_transaction *tx, struct error *err);

/*
 * Releases the locks, closes the transaction, and calls on_state() with
 * REF_ABORTED. Does nothing if the transaction is closed. Returns 0, or the
 * value that on_state returned.
 */
int ref_transaction_abort(struct ref_transaction *tx, struct error *err);

/*
 * ref_transaction_nr() returns the number of changes. ref_transaction_get()
 * returns the i-th change in the order in which they were added.
 */
size_t ref_transaction_nr(const struct ref_transaction *tx);
const struct ref_update *ref_transaction_get(const struct ref_transaction *tx,
					     size_t i);

/* Returns how many symbolic refs are symbolic links (prefer_symlinks). */
size_t ref_transaction_symlink_nr(const struct ref_transaction *tx);

/* What a transaction does to one ref, after symbolic refs were followed. */
struct ref_effect {
	const char *name;
	/*
	 * the ids of the ref before and after the change; NULL: the ref has no
	 * id at that time, because it does not exist or is symbolic
	 */
	const struct oid *old_oid, *new_oid;
	/*
	 * the targets of the ref before and after the change; NULL: the ref is
	 * not symbolic at that time
	 */
	const char *old_target, *new_target;
	/* borrowed from the transaction: for ref_transaction_reject() */
	struct ref_update *update;
};

/*
 * Calls `fn` for each ref that a prepared transaction changes or verifies, but
 * not for rejected changes. The refs are visited in the order of their names
 * (strcmp). For a ref that is only verified, the old and the
 * new value are equal. The pointers of the effect are valid during the call.
 * Returns 0, the first value of `fn` that is not 0, or a negative error code.
 */
int ref_transaction_each_effect(struct ref_transaction *tx,
				int (*fn)(void *ctx,
					  const struct ref_effect *effect,
					  struct error *err),
				void *ctx, struct error *err);

/*
 * Rejects one change of a prepared transaction. `why` is the text for the user.
 * Returns 0 if the transaction continues without this change (keep_going), or
 * ERR_INVALID or ERR_NOMEM.
 */
int ref_transaction_reject(struct ref_transaction *tx,
			   struct ref_update *update, enum ref_result result,
			   const char *why, struct error *err);

/*
 * Appends the lines that the reference-transaction hook reads: "<old> SP <new>
 * SP <ref> LF" for each change that has not failed. <old> is zero if the change
 * expects no old value. Returns 0 or ERR_NOMEM.
 */
int ref_transaction_describe(struct buf *out, const struct ref_transaction *tx);

#endif
