/* SPDX-License-Identifier: MIT */
/*
 * Changing references: all of a set of changes, or none of them.
 *
 *   new -> add ... add -> [prepare] -> commit
 *                               \-----> abort (or free)
 *
 * Preparing locks every ref that is concerned ("<ref>.lock"), compares its
 * value with what the change expects, and writes the new value into the lock
 * file; committing appends to reflogs and renames the lock files. A reader
 * that looks meanwhile may see some refs changed and others not yet.
 *
 * What a transaction does not do: look whether objects exist, and run hooks;
 * both are for the caller (`check_value`, `on_state`).
 *
 * Source: git-update-ref(1), gitrepository-layout(5), githooks(5).
 * One thread per transaction.
 */
#ifndef REFS_REF_TRANSACTION_H
#define REFS_REF_TRANSACTION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"
#include "object/oid.h"
#include "repo/repo.h"

struct ref_transaction;

/* What became of one change. */
enum ref_result {
	REF_OK,            /* done, or nothing against it so far */
	REF_LOCKED,        /* someone else holds its lock */
	REF_NAME_CONFLICT, /* refs/a stands in the way of refs/a/b, or twice */
	REF_EXISTS,        /* it has to be absent, and is not */
	REF_ABSENT,        /* it has to have an old value, and has none */
	REF_OLD_DIFFERS,   /* its old value is another one */
	REF_BAD_VALUE,     /* check_value is against its new value */
	REF_NOT_SYMBOLIC,  /* expected to be symbolic, and is not */
	REF_DUPLICATE,     /* another change is about the same ref */
	REF_BROKEN,        /* what is there cannot be read */
	REF_FAILED,        /* anything else; mostly the operating system */
};

/*
 * Git's words for a result as `update-ref --batch-updates` and receive-pack
 * report it ("reference already exists"), "" for REF_OK. Static.
 */
const char *ref_result_reason(enum ref_result result);

enum ref_change_flags {
	/* Change a symbolic ref itself, not the ref that it leads to. */
	REF_NO_DEREF = 1 << 0,
	/* Write a reflog entry even where there is no reflog yet. */
	REF_FORCE_REFLOG = 1 << 1,
	/* Write no reflog entry at all. */
	REF_NO_REFLOG = 1 << 2,
};

/*
 * A change that is asked for. All pointers are borrowed for the call. At most
 * one of new_oid and new_target, and one of old_oid and old_target, is given.
 */
struct ref_change {
	const char *name; /* full: "refs/heads/main", "HEAD" */
	unsigned flags;   /* of ref_change_flags */
	/* The value it gets. NULL: keeps its own (verify). Zero: delete. */
	const struct oid *new_oid;
	/* The value it has to have. NULL: any. Zero: must not exist. */
	const struct oid *old_oid;
	/* Make it a symbolic ref to this one. */
	const char *new_target;
	/* It has to be a symbolic ref to this one; see REF_NO_DEREF. */
	const char *old_target;
	/* For the reflog; NULL or "": none. Spaces and newlines are folded. */
	const char *message;
};

/* A change as the transaction keeps it; strings live as long as that. */
struct ref_update {
	char *name;
	unsigned flags;
	bool has_new, has_old; /* new_oid, old_oid were given */
	struct oid new_oid, old_oid;
	char *new_target, *old_target; /* or NULL */
	char *message;                 /* or NULL */
	enum ref_result result;
	char *error; /* Git's words for it, of a result that is not REF_OK */
};

/* Where a transaction stands, as githooks(5) names it. */
enum ref_state {
	REF_PREPARING, /* all changes are known, nothing is locked */
	REF_PREPARED,  /* all are locked, and nothing speaks against them */
	REF_COMMITTED, /* done */
	REF_ABORTED,   /* nothing was changed, the locks are gone */
};

/* "preparing", "prepared", "committed", "aborted". Static. */
const char *ref_state_name(enum ref_state state);

struct ref_transaction_options {
	/*
	 * Who does it, as reflogs have it: "Name <mail> <seconds> <zone>";
	 * copied. NULL: where an entry is called for, the transaction fails.
	 */
	const char *committer;
	/*
	 * The others go on when a change fails for a reason of its own (its
	 * value, its name, its lock); the system's failures and two changes
	 * of one ref still fail all.
	 */
	bool keep_going;
	/*
	 * Asked about each new value that is not zero, `name` with symbolic
	 * refs followed: ERR_INVALID with *err set rejects the change (that
	 * of "objects exist, and branches are commits"), another negative
	 * return fails the transaction. NULL: all values are good.
	 */
	int (*check_value)(void *ctx, const char *name,
			   const struct oid *new_oid, struct error *err);
	/*
	 * Told of each state, with the transaction to look at; a negative
	 * return for PREPARING and PREPARED aborts it and is returned (with
	 * *err set by the callee), and ABORTED is not told then. Not called
	 * when there are no changes. NULL: nobody listens.
	 */
	int (*on_state)(void *ctx, enum ref_state state,
			const struct ref_transaction *tx, struct error *err);
	void *ctx;
};

/*
 * Begin. `repo` is borrowed until it is freed, options are copied (NULL: no
 * committer, all or nothing). 0 with *out owned by the caller, or a negative
 * error.
 */
int ref_transaction_new(struct ref_transaction **out, const struct repo *repo,
			const struct ref_transaction_options *options,
			struct error *err);

/* Abort it if it is under way, and free it. NULL is accepted. */
void ref_transaction_free(struct ref_transaction *tx);

/*
 * Queue a change, which is copied. Nothing is looked up or locked yet. A name
 * that gets a value has to be well-formed. One that is deleted or verified has
 * to be that of a ref: of one level and capital letters, '-' and '_', or below
 * refs/ - there it may be ill-formed, so that what
 * came to be by accident can be removed. 0; ERR_INVALID ("refusing to update
 * ref with bad name '..'") with nothing queued; or ERR_NOMEM.
 */
int ref_transaction_add(struct ref_transaction *tx,
			const struct ref_change *change, struct error *err);

/*
 * Lock and check everything. 0, or a negative error after which nothing is
 * locked and the transaction is over: ERR_INVALID for a change that cannot be
 * made (its `result` and `error` say why, *err too, with Git's words),
 * ERR_IO, ERR_NOMEM, what on_state returned, or ERR_DENIED in a quarantine
 * (repo_check_quarantine()), also with keep_going or no changes. With
 * keep_going the changes that cannot be made are left out, and 0 is returned.
 * Cost: linear in the changes, some system calls each; no other ref is read
 * but with packed-refs, which is searched.
 */
int ref_transaction_prepare(struct ref_transaction *tx, struct error *err);

/*
 * Prepare if that was not done, and make the changes durable as core.fsync
 * says. Returns as ref_transaction_prepare(). A failure of the system half
 * way leaves the refs renamed so far changed, which *err names; all others
 * are as they were.
 */
int ref_transaction_commit(struct ref_transaction *tx, struct error *err);

/* Let go of the locks. 0, or what on_state returned. */
int ref_transaction_abort(struct ref_transaction *tx, struct error *err);

/* The changes in the order they were added. */
size_t ref_transaction_nr(const struct ref_transaction *tx);
const struct ref_update *ref_transaction_get(const struct ref_transaction *tx,
					     size_t i);

/*
 * Append the lines that the reference-transaction hook reads: "<old> SP
 * <new> SP <ref> LF" for each change that has not failed. Old is zero when
 * none was given. 0 or ERR_NOMEM.
 */
int ref_transaction_describe(struct buf *out, const struct ref_transaction *tx);

#endif
