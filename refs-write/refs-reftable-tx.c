/* SPDX-License-Identifier: MIT */
/*
 * Transactions in reftables.
 *
 * The lock of a stack covers all of its refs, so a transaction locks stacks
 * before it reads refs. It locks the stacks of the shared refs and of this work
 * tree at the beginning. It locks the stack of another work tree when it meets
 * a ref of that work tree.
 *
 * The changes of a stack are written as one table. The records of refs come
 * first, then the records of reflogs, both ordered by name. A tag is stored
 * with its peeled id, so objects are read. A deletion record hides the ref's
 * record in older tables. Deletion records also hide each entry of the ref's
 * reflog.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "odb/odb.h"
#include "refs-write/ref-transaction-internal.h"
#include "refs/refs-reftable.h"
#include "sys/cleanup.h"

/*
 * A change that goes into a stack: an item of the transaction, and the name of
 * its ref in the stack.
 */
struct refs_reftable_change {
	struct ref_item *item; /* borrowed */
	const char *name;      /* points into item->name */
};

/* A locked stack. */
struct refs_reftable_top {
	char *dir; /* owned */
	struct reftable_append append;
	/*
	 * owned: the changes of refs in this stack; sorted by name before they
	 * are written
	 */
	struct refs_reftable_change *changes;
	size_t nr, alloc;
};

struct refs_reftable_tx {
	struct reftable_append_options options;
	struct refs_reftable_top **tops; /* owned array of owned stacks */
	size_t nr, alloc;
	/* owned: opened when a tag must be peeled, else NULL */
	struct odb *odb;
	struct odb_reader *reader; /* owned */
	/*
	 * The object that was peeled last, and its peeled id. The result is
	 * kept, because often many refs in a row name the same object.
	 */
	struct oid last_oid, last_peeled;
	/*
	 * the kind of record in which the id last_oid is stored: with or
	 * without a peeled id; REFTABLE_DELETED: last_oid is not set yet
	 */
	enum reftable_value last_value;
	struct buf dir; /* scratch */
};

/* ---- locking stacks of reftables, and conflicts between names of refs */

static void top_free(struct refs_reftable_top *top)
{
	if (top->append.dir)
		reftable_append_release(&top->append);
	free(top->changes);
	free(top->dir);
	free(top);
}

/*
 * Locks the stack in the directory t->dir, and adds it to the list of locked
 * stacks. Returns 0 or a negative error code.
 */
static int lock_stack(struct ref_transaction *tx,
		      struct refs_reftable_top **out, struct error *err)
{
	struct refs_reftable_tx *t = tx->tables;
	struct refs_reftable_top *top;
	int ret;

	if (mem_grow(&t->tops, &t->alloc, t->nr + 1, sizeof(*t->tops)) < 0)
		return error_nomem(err);
	top = mem_calloc(1, sizeof(*top));
	if (!top)
		return error_nomem(err);
	top->dir = mem_strdup(t->dir.data);
	ret = top->dir ? reftable_append_begin(&top->append, top->dir,
					       &t->options, err)
		       : error_nomem(err);
	if (ret < 0) {
		top->append.dir = NULL;
		top_free(top);
		if (ret == ERR_DENIED && err)
			error_set(err, ret, "cannot lock references\n\n%s",
				  err->msg);
		return ret;
	}
	*out = t->tops[t->nr++] = top;
	return 0;
}

/*
 * Sets *top to the locked stack of a ref; locks the stack if needed. Sets
 * *inner to the ref's name in the stack. Returns 0 or a negative error code.
 */
static int find_top(struct ref_transaction *tx, const char *name,
		    struct refs_reftable_top **top, const char **inner,
		    struct error *err)
{
	struct refs_reftable_tx *t = tx->tables;

	buf_reset(&t->dir);
	*inner = refs_reftable_place(&t->dir, tx->repo, name);
	if (!*inner)
		return error_nomem(err);
	for (size_t i = 0; i < t->nr; i++)
		if (!strcmp(t->tops[i]->dir, t->dir.data)) {
			*top = t->tops[i];
			return 0;
		}
	return lock_stack(tx, top, err);
}

static int tx_begin(struct ref_transaction *tx, struct error *err)
{
	struct refs_reftable_top *top;
	const char *inner;
	int ret;

	tx->tables = mem_calloc(1, sizeof(*tx->tables));
	if (!tx->tables)
		return error_nomem(err);
	buf_init(&tx->tables->dir);
	ret = refs_reftable_options(&tx->tables->options, tx->repo, err);
	if (!ret && tx->update_nr)
		ret = find_top(tx, "refs/", &top, &inner, err);
	if (!ret && tx->update_nr)
		ret = find_top(tx, "HEAD", &top, &inner, err);
	return ret;
}

static int tx_lock(struct ref_transaction *tx, struct ref_item *item,
		   struct error *err)
{
	struct refs_reftable_top *top;
	struct refs_reftable_change *change;
	const char *inner;
	int ret;

	ret = find_top(tx, item->name, &top, &inner, err);
	if (ret < 0)
		return ret;
	if (mem_grow(&top->changes, &top->alloc, top->nr + 1,
		     sizeof(*top->changes)) < 0)
		return error_nomem(err);
	change = &top->changes[top->nr++];
	change->item = item;
	change->name = item->name + (inner - item->name);
	return 0;
}

/*
 * Returns 1 if there is a ref of this name, 0 if not, or a negative error code.
 * A broken ref is a ref too.
 */
static int is_taken(struct refs *refs, const char *name, struct error *err)
{
	struct ref ref;
	int ret = refs_read(refs, name, &ref, err);

	return ret == ERR_CORRUPT ? 1 : ret;
}

int refs_reftable_tx_conflict(struct ref_transaction *tx, struct ref_item *item,
			      struct buf *other, struct error *err)
{
	struct buf dir = BUF_INIT;
	int ret = ref_items_find_above(tx, item->name, is_taken, other, err);

	if (!ret && buf_printf(&dir, "%s/", item->name) < 0)
		ret = error_nomem(err);
	if (!ret)
		ret = refs_reftable_find_below(tx->refs, dir.data, other, err);
	buf_release(&dir);
	return ret;
}

/* ---- writing the new table of a stack */

static int cmp_changes(const void *a, const void *b)
{
	const struct refs_reftable_change *ca = a, *cb = b;

	return strcmp(ca->name, cb->name);
}

/*
 * Returns whether two changes with the same name are one entry of a reflog. If
 * HEAD is symbolic, an update of "main-worktree/HEAD" makes two such changes of
 * HEAD's reflog: one for this name, and one because HEAD's branch changes.
 */
static bool is_same_log(const struct refs_reftable_change *a,
			const struct refs_reftable_change *b)
{
	return a->item->log_only && b->item->log_only &&
	       a->item->update == b->item->update;
}

/*
 * Sorts the changes by name. Removes the second of two changes that are one
 * entry of a reflog. Rejects other changes of one ref under two names, such as
 * "HEAD" and "main-worktree/HEAD". Returns 0 (also if an update is rejected) or
 * a negative error code.
 */
static int sort_changes(struct ref_transaction *tx,
			struct refs_reftable_top *top, struct error *err)
{
	struct refs_reftable_change *c = top->changes;
	size_t nr = 0;
	int ret = 0;

	if (top->nr)
		qsort(c, top->nr, sizeof(*c), cmp_changes);
	for (size_t i = 0; !ret && i < top->nr; i++) {
		bool twice = nr && !cmp_changes(&c[nr - 1], &c[i]);

		if (twice && is_same_log(&c[nr - 1], &c[i]))
			continue;
		c[nr++] = c[i];
		if (twice)
			ret = ref_update_reject(tx, c[i].item->update,
						REF_DUPLICATE, err,
						"multiple updates for ref '%s' "
						"not allowed",
						c[i].name);
	}
	top->nr = nr;
	return ret;
}

static bool is_alive(const struct refs_reftable_change *change)
{
	return change->item->update->result == REF_OK;
}

static bool is_deletion(const struct refs_reftable_change *change)
{
	return is_alive(change) && !change->item->log_only &&
	       ref_update_is_delete(change->item->update);
}

static int open_objects(struct refs_reftable_tx *t, const struct repo *repo,
			struct error *err)
{
	int ret;

	if (t->reader)
		return 0;
	ret = odb_open(&t->odb, repo, NULL, err);
	if (ret < 0)
		return ret;
	t->reader = odb_reader_new(t->odb, ODB_PEELED_CACHE_LIMIT);
	return t->reader ? 0 : error_nomem(err);
}

/*
 * Peels t->last_oid. If the object is missing, the ref is stored without a
 * peeled id. Returns 0 or a negative error code.
 */
static int peel_last(struct refs_reftable_tx *t, struct error *err)
{
	int ret = odb_find_peeled(t->reader, &t->last_oid, &t->last_peeled,
				  err);

	t->last_value = ret == ODB_PEELED_TAG ? REFTABLE_TAG : REFTABLE_OID;
	return ret < 0 ? ret : 0;
}

/*
 * Sets the value of a ref to an id, with the peeled id if the object is a tag.
 * Returns 0 or a negative error code.
 */
static int peel(struct ref_transaction *tx, struct reftable_ref *ref,
		struct error *err)
{
	struct refs_reftable_tx *t = tx->tables;
	int ret = open_objects(t, tx->repo, err);

	if (!ret && (t->last_value == REFTABLE_DELETED ||
		     !oid_equal(&t->last_oid, &ref->oid))) {
		t->last_oid = ref->oid;
		ret = peel_last(t, err);
	}
	ref->value = t->last_value;
	ref->peeled = t->last_peeled;
	return ret;
}

static int put_ref(struct ref_transaction *tx, struct refs_reftable_top *top,
		   const struct refs_reftable_change *change, struct error *err)
{
	const struct ref_item *item = change->item;
	const struct ref_update *u = item->update;
	struct reftable_ref ref = {
		.name = change->name,
		.name_len = strlen(change->name),
		.update_index = top->append.index,
	};
	int ret = 0;

	if (is_deletion(change)) {
		if (!item->existed)
			return 0;
		ref.value = REFTABLE_DELETED;
	} else if (!is_alive(change) || !item->writes) {
		return 0;
	} else if (u->new_target) {
		ref.value = REFTABLE_SYMBOLIC;
		ref.target = u->new_target;
		ref.target_len = strlen(u->new_target);
	} else {
		ref.oid = u->new_oid;
		ret = peel(tx, &ref, err);
	}
	return ret ? ret
		   : reftable_writer_add_ref(top->append.writer, &ref, err);
}

/* An iterator over the existing reflog entries of a stack. */
struct logs {
	struct reftable_merged merged;
	struct buf key;
};

/*
 * Finds the newest entry of a ref's reflog. If the ref has no reflog, finds the
 * first entry of the next ref by name. Returns 1 if an entry was found, 0 at
 * the end of all entries, or a negative error code.
 */
static int seek_log(struct logs *logs, const char *name,
		    const struct reftable_iter **it, struct error *err)
{
	int ret;

	buf_reset(&logs->key);
	if (reftable_log_key(&logs->key, name, strlen(name), UINT64_MAX) < 0)
		return error_nomem(err);
	ret = reftable_merged_seek(&logs->merged, REFTABLE_LOGS, logs->key.data,
				   logs->key.len, err);
	return ret ? ret : reftable_merged_next(&logs->merged, it, err);
}

static bool is_log_of(const struct reftable_iter *it, const char *name)
{
	return it->log.name_len == strlen(name) &&
	       !memcmp(it->log.name, name, it->log.name_len);
}

static int delete_logs(struct refs_reftable_top *top, struct logs *logs,
		       const char *name, struct error *err)
{
	const struct reftable_iter *it;
	int ret = seek_log(logs, name, &it, err);

	while (ret > 0 && is_log_of(it, name)) {
		struct reftable_log log = {
			.name = name,
			.name_len = strlen(name),
			.update_index = it->log.update_index,
			.is_deleted = true,
		};

		ret = reftable_writer_add_log(top->append.writer, &log, err);
		if (!ret)
			ret = reftable_merged_next(&logs->merged, &it, err);
	}
	return ret < 0 ? ret : 0;
}

static int put_entry(struct refs_reftable_top *top, const char *name,
		     const struct reflog_entry *entry, struct error *err)
{
	struct buf message = BUF_INIT;
	struct reftable_log log = {
		.name = name,
		.name_len = strlen(name),
		.update_index = top->append.index,
		.old_oid = entry->old_oid,
		.new_oid = entry->new_oid,
	};
	int ret = 0;

	if (!entry->committer)
		return reflog_no_committer(entry, err);
	if (!refs_reftable_take_committer(&log, entry->committer))
		return error_set(err, ERR_INVALID, "bad committer '%s'",
				 entry->committer);
	if (buf_printf(&message, "%s\n", entry->message ? entry->message : "") <
	    0)
		ret = error_nomem(err);
	log.message.p = message.data;
	log.message.len = message.len;
	if (!ret)
		ret = reftable_writer_add_log(top->append.writer, &log, err);
	buf_release(&message);
	return ret;
}

static int put_log(struct ref_transaction *tx, struct refs_reftable_top *top,
		   const struct refs_reftable_change *change, struct logs *logs,
		   struct error *err)
{
	const struct ref_item *item = change->item;
	const struct reftable_iter *it;
	struct reflog_entry entry;
	bool make;
	int ret;

	if (is_deletion(change))
		return delete_logs(top, logs, change->name, err);
	if (!is_alive(change) || (!item->log_only && !item->writes) ||
	    !ref_item_log(tx, item, &entry, &make))
		return 0;
	if (!make) {
		ret = seek_log(logs, change->name, &it, err);
		if (ret <= 0)
			return ret;
		if (!is_log_of(it, change->name))
			return 0;
	}
	return put_entry(top, change->name, &entry, err);
}

static int put_logs(struct ref_transaction *tx, struct refs_reftable_top *top,
		    struct error *err)
{
	const struct reftable_stack *stack = &top->append.stack;
	struct logs logs = {.key = BUF_INIT};
	int ret = reftable_merged_init(&logs.merged, stack->tables, stack->nr,
				       false, err);

	if (ret < 0)
		return ret;
	for (size_t i = 0; !ret && i < top->nr; i++)
		ret = put_log(tx, top, &top->changes[i], &logs, err);
	reftable_merged_release(&logs.merged);
	buf_release(&logs.key);
	return ret;
}

static int stage_all(struct ref_transaction *tx, struct refs_reftable_top *top,
		     struct error *err)
{
	struct reftable_append *append = &top->append;
	bool any = false;
	int ret = sort_changes(tx, top, err);

	for (size_t i = 0; i < top->nr; i++)
		any |= is_deletion(&top->changes[i]) ||
		       (is_alive(&top->changes[i]) &&
			(top->changes[i].item->writes ||
			 top->changes[i].item->log_only));
	if (ret < 0 || !any)
		return ret;
	ret = reftable_append_start(append, 1, err);
	for (size_t i = 0; !ret && i < top->nr; i++)
		ret = put_ref(tx, top, &top->changes[i], err);
	if (!ret)
		ret = put_logs(tx, top, err);
	if (!ret && !reftable_writer_is_empty(append->writer))
		ret = reftable_append_finish(append, err);
	return ret;
}

/* ---- the steps of a transaction after locking */

static int tx_stage(struct ref_transaction *tx, struct ref_item *item,
		    struct error *err)
{
	/*
	 * tx_ready() writes all values, because a table needs them in the order
	 * of names.
	 */
	(void)tx;
	(void)item;
	(void)err;
	return 0;
}

static int tx_ready(struct ref_transaction *tx, struct error *err)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < tx->tables->nr; i++)
		ret = stage_all(tx, tx->tables->tops[i], err);
	return ret;
}

/*
 * Commits the new table of one stack, so that readers see the changes. Returns
 * 0 or a negative error code.
 */
static int commit_top(struct ref_transaction *tx, struct refs_reftable_top *top,
		      struct error *err)
{
	struct error why = ERROR_INIT;
	int ret = reftable_append_commit(&top->append, &why);

	if (ret < 0) {
		for (size_t i = 0; i < top->nr; i++)
			if (top->changes[i].item->update->result == REF_OK)
				top->changes[i].item->update->result =
					REF_FAILED;
		return error_set(err, ret, "cannot update references: %s",
				 why.msg);
	}
	return 0;
}

/*
 * Commits all stacks. Signals are held until all are committed, because a
 * process that ends after the first stack would leave half of a transaction.
 * Returns 0 or a negative error code.
 */
static int commit_tops(struct ref_transaction *tx, struct error *err)
{
	struct sys_hold hold;
	int ret = 0;

	sys_hold_signals(&hold);
	for (size_t i = 0; !ret && i < tx->tables->nr; i++)
		ret = commit_top(tx, tx->tables->tops[i], err);
	sys_release_signals(&hold);
	return ret;
}

/*
 * Compacts stacks that have too many tables. The commit is complete, so errors
 * are ignored.
 */
static void compact_full(struct ref_transaction *tx)
{
	for (size_t i = 0; i < tx->tables->nr; i++) {
		struct refs_reftable_top *top = tx->tables->tops[i];

		if (reftable_append_is_full(&top->append) > 0)
			reftable_compact_auto(top->dir, &tx->tables->options,
					      NULL);
	}
}

static void tx_unlock(struct ref_transaction *tx)
{
	struct refs_reftable_tx *t = tx->tables;

	if (!t)
		return;
	while (t->nr)
		top_free(t->tops[--t->nr]);
	free(t->tops);
	odb_reader_free(t->reader);
	odb_close(t->odb);
	buf_release(&t->dir);
	free(t);
	tx->tables = NULL;
}

static int tx_commit(struct ref_transaction *tx, struct error *err)
{
	int ret = commit_tops(tx, err);

	if (!ret)
		compact_full(tx);
	tx_unlock(tx);
	return ret;
}

const struct ref_tx_backend refs_reftable_tx_backend = {
	.has_one_lock = true,
	.begin = tx_begin,
	.lock = tx_lock,
	.conflict = refs_reftable_tx_conflict,
	.stage = tx_stage,
	.ready = tx_ready,
	.commit = tx_commit,
	.unlock = tx_unlock,
};
