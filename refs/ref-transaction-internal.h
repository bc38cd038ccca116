/* SPDX-License-Identifier: MIT */
/*
 * What the parts of a transaction share: the queue (ref-transaction.c), which
 * refs it comes to (ref-items.c), locking and checking one of them
 * (ref-lock.c), and how a store does all that (struct ref_tx_backend).
 *
 * An update comes to one item for the ref that changes, and one for each
 * symbolic ref on the way to it, of which only the reflog is written. HEAD has
 * such an item, too, when the ref that it leads to changes.
 */
#ifndef REFS_REF_TRANSACTION_INTERNAL_H
#define REFS_REF_TRANSACTION_INTERNAL_H

#include "refs/packed-rewrite.h"
#include "refs/ref-transaction.h"
#include "refs/reflog-write.h"
#include "refs/refs.h"
#include "sys/tempfile.h"

/* One ref to lock, and its reflog. */
struct ref_item {
	struct ref_update *update;  /* borrowed */
	struct ref_item *target;    /* borrowed: where a log_only one leads */
	const struct ref_item *via; /* borrowed: the one that led here */
	char *name;                 /* owned */
	unsigned depth;             /* symbolic refs followed to get here */
	bool is_visited;            /* locked, or tried to */
	bool log_only;              /* a symbolic ref that was followed */
	bool existed;               /* it has a value, or a target */
	bool writes;                /* its new value is staged */
	/* Symbolic refs followed; zero: none. */
	struct oid old_oid, new_oid;
	/* In files: */
	struct sys_tempfile lock;
	bool made_dirs; /* directories were made for it */
	bool is_dir;    /* there is an empty directory instead of the ref */
	struct reflog_before log_before;
};

enum ref_phase {
	REF_PHASE_OPEN,
	REF_PHASE_PREPARED,
	REF_PHASE_CLOSED,
};

struct ref_transaction;

/* Functions by which a transaction changes one kind of storage. */
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
	struct ref_update **updates; /* owned, and each of them */
	size_t update_nr, update_alloc;
	struct ref_item **items; /* owned, and each; as they came up */
	size_t item_nr, item_alloc;
	struct ref_item **sorted; /* owned array: items by name */
	size_t sorted_nr;
	char *checked_dir; /* owned: no ref of the store is above it, or NULL */
	struct refs *refs; /* owned: to read with */
	enum reflog_policy policy;
	char *head_target; /* owned: what HEAD leads to, or NULL */
	/* In reftables: */
	struct refs_reftable_tx *tables; /* owned: see refs-reftable-tx.c */
	/* In files: */
	struct packed_rewrite *rw; /* owned: when something is deleted */
	enum sys_fsync_method method;
	int64_t lock_timeout_ms;
	struct buf path; /* scratch: file of a ref */
};

static inline bool ref_update_is_delete(const struct ref_update *u)
{
	return u->has_new && oid_is_zero(&u->new_oid);
}

/* Whether a ref gets a value by it. */
static inline bool ref_update_is_write(const struct ref_update *u)
{
	return u->new_target || (u->has_new && !oid_is_zero(&u->new_oid));
}

static inline bool ref_update_changes(const struct ref_update *u)
{
	return u->has_new || u->new_target;
}

/*
 * Record why an update cannot be made. 0 when the others go on without it;
 * when they do not, ERR_INVALID, or ERR_IO for REF_FAILED; or ERR_NOMEM.
 */
int ref_update_reject(struct ref_transaction *tx, struct ref_update *update,
		      enum ref_result result, struct error *err,
		      const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

/* Make an item; `name` is copied. */
int ref_items_add(struct ref_transaction *tx, struct ref_update *update,
		  const char *name, unsigned depth, struct error *err);

/*
 * Bring `sorted` up to date with the items: HEAD's joins where it has to; two
 * for one name are told. 0 or negative.
 */
int ref_items_sort(struct ref_transaction *tx, struct error *err);

/*
 * An item of the transaction whose ref cannot be together with one of this
 * name, as one would be a directory of the other; or NULL.
 */
const struct ref_item *ref_items_conflict(const struct ref_transaction *tx,
					  const char *name);

/* Whether the store has a ref of that name: 1 or 0, or negative. */
typedef int ref_exists_fn(struct refs *refs, const char *name,
			  struct error *err);

/*
 * Look for a ref of the store where a directory of the name is to be; a
 * directory that was clear the last time is not looked at again. 1 with its
 * name in *other, 0, or negative.
 */
int ref_items_find_above(struct ref_transaction *tx, const char *name,
			 ref_exists_fn *exists, struct buf *other,
			 struct error *err);

/* Another ref, which exists, is in the way of an item's. */
int ref_item_reject_conflict(struct ref_transaction *tx, struct ref_item *item,
			     const char *other, struct error *err);

/*
 * Lock an item, look at its value, and stage the new one.
 * A symbolic ref that is to be followed becomes log_only, and gets an item
 * for its target. 0 (also for an update that is rejected) or negative.
 */
int ref_item_lock(struct ref_transaction *tx, struct ref_item *item,
		  struct error *err);

/* The item whose ref changes: itself, or where a log_only one leads. */
const struct ref_item *ref_item_final(const struct ref_item *item);

/*
 * Whether an item that is changed or log_only has an entry to write; *entry
 * borrows its strings. `make`: even if the ref has no reflog yet.
 */
bool ref_item_log(const struct ref_transaction *tx, const struct ref_item *item,
		  struct reflog_entry *entry, bool *make);

/* Forget the items. */
void ref_items_free(struct ref_transaction *tx);

#endif
