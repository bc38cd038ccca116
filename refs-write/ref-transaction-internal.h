/* SPDX-License-Identifier: MIT */
/*
 * Types and functions that the parts of a transaction share: the queue
 * (ref-transaction.c), the affected refs (ref-items.c), locking and checking
 * one ref (ref-lock.c), and changing refs in one kind of storage (struct
 * ref_tx_backend).
 *
 * An update has one item for the ref that it changes. If the update reaches
 * this ref through symbolic refs, each symbolic ref has an item, too. Such a
 * symbolic ref does not change, and only its reflog is written. If the
 * transaction changes the ref that HEAD points to, HEAD also has an item, only
 * for its reflog.
 */
#ifndef REFS_WRITE_REF_TRANSACTION_INTERNAL_H
#define REFS_WRITE_REF_TRANSACTION_INTERNAL_H

#include "refs-write/packed-rewrite.h"
#include "refs-write/ref-transaction.h"
#include "refs/reflog-write.h"
#include "refs/refs.h"
#include "sys/tempfile.h"

/* A ref that a transaction locks, and the ref's reflog. */
struct ref_item {
	struct ref_update *update; /* borrowed */
	/* borrowed: the item of the symbolic ref's target, if log_only */
	struct ref_item *target;
	/*
	 * borrowed: the item of the symbolic ref through which this ref was
	 * reached; NULL: the change names this ref itself
	 */
	const struct ref_item *via;
	char *name; /* owned */
	/*
	 * the place in the queue of updates. An item for the target of a
	 * symbolic ref has a place after all queued updates
	 */
	size_t order;
	/* number of symbolic refs that were followed to this item */
	unsigned depth;
	/* true: the ref was locked, or locking it failed */
	bool is_visited;
	/* true: the ref is symbolic, and only its reflog is written */
	bool log_only;
	/* true: the ref had a value or a target when it was locked */
	bool existed;
	bool writes; /* a new value is staged */
	/*
	 * old and new id of the ref, after symbolic refs were followed; zero:
	 * no value
	 */
	struct oid old_oid, new_oid;
	/* The following fields are used by the files backend. */
	struct sys_tempfile lock;
	/* true: directories were created for the lock file */
	bool made_dirs;
	/* true: there was a directory at the path of the ref's file */
	bool is_dir;
	struct reflog_before log_before;
};

enum ref_phase {
	REF_PHASE_OPEN,
	REF_PHASE_PREPARED,
	REF_PHASE_CLOSED,
};

struct ref_transaction;

/* Functions by which a transaction changes refs in one kind of storage. */
struct ref_tx_backend {
	/*
	 * true: one lock covers all refs of a stack. A conflict between names,
	 * as of "refs/a" and "refs/a/b", is then found after the lock was
	 * taken, not when a single ref is locked. So the message about the
	 * conflict does not begin with "cannot lock ref". In this case, the
	 * message of stock Git does not begin with these words either.
	 */
	bool has_one_lock;
	/*
	 * Reads the settings of the storage. Returns 0 or a negative error
	 * code.
	 */
	int (*begin)(struct ref_transaction *tx, struct error *err);
	/*
	 * Locks the ref of an item. Returns 0 (also if the update is rejected)
	 * or a negative error code.
	 */
	int (*lock)(struct ref_transaction *tx, struct ref_item *item,
		    struct error *err);
	/*
	 * Looks for an existing ref whose name cannot exist together with the
	 * item's name, as "refs/a" and "refs/a/b" cannot. Returns 1 with the
	 * name of such a ref in *other, 0 if there is none, or a negative error
	 * code.
	 */
	int (*conflict)(struct ref_transaction *tx, struct ref_item *item,
			struct buf *other, struct error *err);
	/*
	 * Stages the new value of an item's ref: prepares the value, which
	 * readers do not see yet. Returns 0 (also if the update is rejected) or
	 * a negative error code.
	 */
	int (*stage)(struct ref_transaction *tx, struct ref_item *item,
		     struct error *err);
	/*
	 * Completes the preparation after all values are staged: writes
	 * everything that can be written without becoming visible to readers.
	 * Returns 0 or a negative error
	 * code.
	 */
	int (*ready)(struct ref_transaction *tx, struct error *err);
	/*
	 * Makes the changes visible to readers, deletions last. Returns 0 or a
	 * negative error code.
	 */
	int (*commit)(struct ref_transaction *tx, struct error *err);
	/* Removes all locks, and files that were not renamed into place. */
	void (*unlock)(struct ref_transaction *tx);
};

extern const struct ref_tx_backend refs_files_tx_backend;
extern const struct ref_tx_backend refs_reftable_tx_backend;
/* Functions of transactions with the option `publish` (refs-publish-tx.c). */
extern const struct ref_tx_backend refs_publish_tx_backend;

/*
 * Implements ref_tx_backend.conflict for refs in reftables, with the same
 * return values. The caller need not lock a stack.
 */
int refs_reftable_tx_conflict(struct ref_transaction *tx, struct ref_item *item,
			      struct buf *other, struct error *err);

struct ref_transaction {
	const struct repo *repo; /* borrowed */
	const struct ref_tx_backend *backend;
	struct ref_transaction_options options;
	char *committer; /* owned: options.committer */
	enum ref_phase phase;
	struct ref_update **updates; /* owned array of owned updates */
	size_t update_nr, update_alloc;
	/*
	 * Owned: the items, in the order of their creation. Each item is owned,
	 * too.
	 */
	struct ref_item **items;
	size_t item_nr, item_alloc;
	/* owned array of borrowed items: all items, ordered by name */
	struct ref_item **sorted;
	size_t sorted_nr;
	/*
	 * owned: the directory that was checked last, for instance
	 * "refs/heads". No existing ref has the name of this directory or of a
	 * directory above it. NULL: no directory was checked.
	 */
	char *checked_dir;
	/* owned: a snapshot, to read refs */
	struct refs *refs;
	enum reflog_policy policy;
	/* owned: the target of HEAD if HEAD is symbolic, else NULL */
	char *head_target;
	/* The following field is used by the reftable backend. */
	/* owned: the locked stacks (refs-reftable-tx.c) */
	struct refs_reftable_tx *tables;
	/* The following fields are used by the files backend. */
	/* owned: the new packed-refs file; NULL if no ref is deleted */
	struct packed_rewrite *rw;
	enum sys_fsync_method method;
	int64_t lock_timeout_ms;
	/* number of lock files that are symbolic links */
	size_t symlink_nr;
	/* scratch memory: path of the file of the current ref */
	struct buf path;
};

static inline bool ref_update_is_delete(const struct ref_update *u)
{
	return u->has_new && oid_is_zero(&u->new_oid);
}

/* Returns whether the update gives a ref a value or a target. */
static inline bool ref_update_is_write(const struct ref_update *u)
{
	return u->new_target || (u->has_new && !oid_is_zero(&u->new_oid));
}

static inline bool ref_update_changes(const struct ref_update *u)
{
	return u->has_new || u->new_target;
}

/*
 * Records why an update cannot be made. Returns 0 if the transaction continues
 * without this update, or if the update was already rejected. Otherwise the
 * transaction fails, and the function returns ERR_IO (for REF_FAILED),
 * ERR_INVALID (for other results) or ERR_NOMEM.
 */
int ref_update_reject(struct ref_transaction *tx, struct ref_update *update,
		      enum ref_result result, struct error *err,
		      const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

/*
 * Adds an item for the ref `name`; the name is copied. Returns 0 or ERR_NOMEM.
 */
int ref_items_add(struct ref_transaction *tx, struct ref_update *update,
		  const char *name, unsigned depth, struct error *err);

/*
 * Makes tx->sorted the list of all items, ordered by name. Adds HEAD's item if
 * needed. If two updates are for the same ref, rejects one of the two. Returns
 * 0 (also after a rejection) or a negative error code.
 */
int ref_items_sort(struct ref_transaction *tx, struct error *err);

/* Returns the item in tx->sorted that has this name, or NULL. */
struct ref_item *ref_items_find(const struct ref_transaction *tx,
				const char *name);

/*
 * Returns an item of the transaction whose name cannot exist together with
 * `name`, as "refs/a" and "refs/a/b" cannot. Returns NULL if there is none.
 */
const struct ref_item *ref_items_conflict(const struct ref_transaction *tx,
					  const char *name);

/*
 * Returns 1 if the storage has a ref of that name, 0 if not, or a negative
 * error code.
 */
typedef int ref_exists_fn(struct refs *refs, const char *name,
			  struct error *err);

/*
 * Looks for an existing ref whose name is a directory of `name`: "refs/a" for
 * "refs/a/b". Skips tx->checked_dir, the directory that the previous call has
 * checked. Returns 1 with the ref's name in *other, 0 if there is none, or a
 * negative error code.
 */
int ref_items_find_above(struct ref_transaction *tx, const char *name,
			 ref_exists_fn *exists, struct buf *other,
			 struct error *err);

/*
 * Rejects the update of an item, because its name conflicts with the existing
 * ref `other`. Returns 0 if the transaction continues without this update, or a
 * negative error code.
 */
int ref_item_reject_conflict(struct ref_transaction *tx, struct ref_item *item,
			     const char *other, struct error *err);

/*
 * Locks the ref of an item, compares its value with the expected value, and
 * stages the new value. If the ref is symbolic and is followed, the item
 * becomes log_only, and the target gets a new item. Returns 0 (also if the
 * update is rejected) or a negative error code.
 */
int ref_item_lock(struct ref_transaction *tx, struct ref_item *item,
		  struct error *err);

/*
 * Call this before the ref of `item` is locked. Rejects the update of `item` if
 * HEAD points to the ref of `item`, and another update changes or verifies
 * HEAD. Exception: if the update of HEAD was queued first and has no
 * REF_NO_DEREF, this function does nothing. The update of HEAD is for the same
 * ref then, and is rejected instead (ref_item_reject_via()). Returns 0 (also if
 * the update of `item` is rejected) or a negative error code.
 */
int ref_item_check_head(struct ref_transaction *tx, const struct ref_item *item,
			struct error *err);

/*
 * Rejects the update of `item`, which was reached through a symbolic ref,
 * because another update names the ref of `item`. Returns 0 or a negative error
 * code, as ref_update_reject().
 */
int ref_item_reject_via(struct ref_transaction *tx, const struct ref_item *item,
			struct error *err);

/*
 * Looks for new refs whose names conflict with names of other items, and
 * rejects updates until there is no conflict. If one lock covers all refs, also
 * rejects new refs whose names conflict with existing refs. Call this function
 * after all refs are locked and compared with their expected values. An update
 * that one of these steps has already rejected is ignored: it does not count as
 * a conflict with another update. Returns 0 (also if updates are rejected) or a
 * negative error code.
 */
int ref_items_check_names(struct ref_transaction *tx, struct error *err);

/*
 * Call this if a transaction fails with the error code `failed`, because the
 * item whose `order` is `limit` was rejected. If refs are stored in files,
 * looks for two conflicting items of a lower order, the first one with the
 * longer name: "refs/a/b" and then "refs/a". The lock file of "refs/a/b" needs
 * a directory "refs/a". If there are such items, rejects the update of "refs/a"
 * and sets *err. Returns the error code of the transaction.
 */
int ref_items_recheck_among(struct ref_transaction *tx, size_t limit,
			    int failed, struct error *err);

/*
 * Returns the item whose ref changes. If `item` is log_only, its ref is
 * symbolic, and the result is the item at the end of the chain of symbolic
 * refs. Otherwise the result is `item` itself.
 */
const struct ref_item *ref_item_final(const struct ref_item *item);

/*
 * Returns whether the item's ref gets a reflog entry. If so, sets *entry, whose
 * strings are borrowed, and sets *make to whether a missing reflog is created.
 */
bool ref_item_log(const struct ref_transaction *tx, const struct ref_item *item,
		  struct reflog_entry *entry, bool *make);

/*
 * Frees all items and the list of sorted items. Locks must have been released.
 */
void ref_items_free(struct ref_transaction *tx);

#endif
