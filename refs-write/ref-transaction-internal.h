/* SPDX-License-Identifier: MIT */
/*
 * Types and functions that the parts of a transaction share: the queue
 * (ref-transaction.c), the affected refs (ref-items.c), locking and checking
 * one ref (ref-lock.c), and changing refs in one kind of storage (struct
 * ref_tx_backend).
 *
 * An update has one item for the ref that changes, and one for each symbolic
 * ref that is followed to that ref. Only the reflog of a followed symbolic ref
 * is written. HEAD has such an item, too, if the ref that HEAD leads to
 * changes.
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
	/* borrowed: target of a log_only item */
	struct ref_item *target;
	/* borrowed: item whose target this is */
	const struct ref_item *via;
	char *name; /* owned */
	/* number of symbolic refs followed to this item */
	unsigned depth;
	/* it was locked, or locking failed */
	bool is_visited;
	/* only the reflog is written; the ref is symbolic */
	bool log_only;
	/* the ref has a value or a target */
	bool existed;
	bool writes; /* a new value is staged */
	/* Ids with symbolic refs followed. Zero: no value. */
	struct oid old_oid, new_oid;
	/* Used by the files backend: */
	struct sys_tempfile lock;
	/* parent directories were created */
	bool made_dirs;
	/* an empty directory is at the path of the ref */
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
	/* Reads the settings. Returns 0 or a negative error code. */
	int (*begin)(struct ref_transaction *tx, struct error *err);
	/*
	 * Locks the ref of an item. Returns 0, also if the update is rejected,
	 * or a negative error code.
	 */
	int (*lock)(struct ref_transaction *tx, struct ref_item *item,
		    struct error *err);
	/*
	 * Looks for an existing ref whose name is a directory of the item's
	 * name, or the reverse. Returns 1 with the name of such a ref in
	 * *other, 0 if there is none, or a negative error code.
	 */
	int (*conflict)(struct ref_transaction *tx, struct ref_item *item,
			struct buf *other, struct error *err);
	/* Stages the new value. Returns 0 or a negative error code. */
	int (*stage)(struct ref_transaction *tx, struct ref_item *item,
		     struct error *err);
	/*
	 * Writes all that can be written before readers see a change. Returns
	 * 0 or a negative error code.
	 */
	int (*ready)(struct ref_transaction *tx, struct error *err);
	/*
	 * Makes the changes visible, deletions last. Returns 0 or a negative
	 * error code.
	 */
	int (*commit)(struct ref_transaction *tx, struct error *err);
	/* Removes all locks, and files that were not renamed into place. */
	void (*unlock)(struct ref_transaction *tx);
};

extern const struct ref_tx_backend refs_files_tx_backend;
extern const struct ref_tx_backend refs_reftable_tx_backend;

struct ref_transaction {
	const struct repo *repo; /* borrowed */
	const struct ref_tx_backend *backend;
	struct ref_transaction_options options;
	char *committer; /* owned: options.committer */
	enum ref_phase phase;
	struct ref_update **updates; /* owned, and each update */
	size_t update_nr, update_alloc;
	/* owned, and each; in order of creation */
	struct ref_item **items;
	size_t item_nr, item_alloc;
	/* owned array: items by name */
	struct ref_item **sorted;
	size_t sorted_nr;
	/* owned: no ref is here or above; or NULL */
	char *checked_dir;
	/* owned: a snapshot for reading */
	struct refs *refs;
	enum reflog_policy policy;
	/* owned: target of a symbolic HEAD, or NULL */
	char *head_target;
	/* Used by the reftable backend: */
	/* owned: see refs-reftable-tx.c */
	struct refs_reftable_tx *tables;
	/* Used by the files backend: */
	/* owned: set if a ref is deleted */
	struct packed_rewrite *rw;
	enum sys_fsync_method method;
	int64_t lock_timeout_ms;
	/* scratch: path of a ref's file */
	struct buf path;
};

static inline bool ref_update_is_delete(const struct ref_update *u)
{
	return u->has_new && oid_is_zero(&u->new_oid);
}

/* Whether the update gives a ref a value. */
static inline bool ref_update_is_write(const struct ref_update *u)
{
	return u->new_target || (u->has_new && !oid_is_zero(&u->new_oid));
}

static inline bool ref_update_changes(const struct ref_update *u)
{
	return u->has_new || u->new_target;
}

/*
 * Records why an update cannot be made. Returns 0 if the update had failed
 * before or the other updates go on. Otherwise returns ERR_INVALID, ERR_IO for
 * REF_FAILED, or ERR_NOMEM.
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
 * needed, and rejects a second update of one name. Returns 0 or a negative
 * error code.
 */
int ref_items_sort(struct ref_transaction *tx, struct error *err);

/*
 * Returns an item of the transaction whose name is a directory of `name` or the
 * reverse, or NULL.
 */
const struct ref_item *ref_items_conflict(const struct ref_transaction *tx,
					  const char *name);

/*
 * Whether the storage has a ref of that name: 1, 0, or a negative error code.
 */
typedef int ref_exists_fn(struct refs *refs, const char *name,
			  struct error *err);

/*
 * Looks for an existing ref whose name is a directory of `name`. The directory
 * of the previous call is cached and not checked again. Returns 1 with the
 * ref's name in *other, 0 if there is none, or a negative error code.
 */
int ref_items_find_above(struct ref_transaction *tx, const char *name,
			 ref_exists_fn *exists, struct buf *other,
			 struct error *err);

/*
 * Rejects the update of an item because the existing ref `other` conflicts with
 * the item's name. Returns as ref_update_reject().
 */
int ref_item_reject_conflict(struct ref_transaction *tx, struct ref_item *item,
			     const char *other, struct error *err);

/*
 * Locks the ref of an item, compares the value and stages the new value. A
 * symbolic ref to be followed becomes log_only, and its target gets a new item.
 * Returns 0, also if the update is rejected, or a negative error code.
 */
int ref_item_lock(struct ref_transaction *tx, struct ref_item *item,
		  struct error *err);

/*
 * Returns the item whose ref changes: `item` itself, or the last target of a
 * log_only item.
 */
const struct ref_item *ref_item_final(const struct ref_item *item);

/*
 * Whether the item's ref gets a reflog entry. If so, sets *entry, which borrows
 * strings, and *make: whether to create a missing reflog.
 */
bool ref_item_log(const struct ref_transaction *tx, const struct ref_item *item,
		  struct reflog_entry *entry, bool *make);

/* Frees all items and sorted lists. Locks must have been released. */
void ref_items_free(struct ref_transaction *tx);

#endif
