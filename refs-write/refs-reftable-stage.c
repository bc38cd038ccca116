/* SPDX-License-Identifier: MIT */
/*
 * The reftable backend: writing the changes of a transaction as one table. The
 * records of refs come first, then the records of reflogs, both ordered by
 * name.
 *
 * A tag is stored with its peeled id, so objects are read. A deletion record
 * hides the ref's record in older tables. Deletion records also hide each entry
 * of the ref's reflog.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "refs-write/refs-reftable-tx.h"

#define CACHE_LIMIT (1 << 20) /* bytes; tags are small */

static int cmp_changes(const void *a, const void *b)
{
	const struct refs_reftable_change *ca = a, *cb = b;

	return strcmp(ca->name, cb->name);
}

/* "HEAD" and "main-worktree/HEAD" may be the same ref. */
static int sort_changes(struct ref_transaction *tx,
			struct refs_reftable_top *top, struct error *err)
{
	int ret = 0;

	if (top->nr)
		qsort(top->changes, top->nr, sizeof(*top->changes),
		      cmp_changes);
	for (size_t i = 1; !ret && i < top->nr; i++)
		if (!cmp_changes(&top->changes[i - 1], &top->changes[i]))
			ret = ref_update_reject(
				tx, top->changes[i].item->update, REF_DUPLICATE,
				err,
				"multiple updates for ref '%s' not allowed",
				top->changes[i].name);
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
	t->reader = odb_reader_new(t->odb, CACHE_LIMIT);
	return t->reader ? 0 : error_nomem(err);
}

/* Peels t->last_oid. A missing object is stored without a peeled id. */
static int peel_last(struct refs_reftable_tx *t, struct error *err)
{
	enum object_type type;
	int ret;

	t->last_value = REFTABLE_OID;
	if (odb_info(t->reader, &t->last_oid, &type, NULL, NULL) < 0 ||
	    type != OBJ_TAG)
		return 0;
	ret = odb_peel(t->reader, &t->last_oid, &t->last_peeled, NULL, NULL);
	if (!ret)
		t->last_value = REFTABLE_TAG;
	return ret == ERR_NOMEM ? error_nomem(err) : 0;
}

/* Sets the value of a ref that names an object. */
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

/* An iterator over the existing reflogs of the stack. */
struct logs {
	struct reftable_merged merged;
	struct buf key;
};

/*
 * Finds the newest entry of the ref's reflog, or the first entry after that
 * place. Returns 1, 0 at the end, or a negative error code.
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
		return error_set(err, ERR_INVALID,
				 "no committer for the reflog of '%s'", name);
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

int refs_reftable_stage(struct ref_transaction *tx,
			struct refs_reftable_top *top, struct error *err)
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
