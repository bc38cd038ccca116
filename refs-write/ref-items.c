/* SPDX-License-Identifier: MIT */
/*
 * The items of a transaction, ordered by name. Finds names that conflict with
 * each other or with existing refs.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "refs-write/ref-transaction-internal.h"

int ref_items_add(struct ref_transaction *tx, struct ref_update *update,
		  const char *name, unsigned depth, struct error *err)
{
	struct ref_item *item;

	if (mem_grow(&tx->items, &tx->item_alloc, tx->item_nr + 1,
		     sizeof(*tx->items)) < 0)
		return error_nomem(err);
	item = mem_calloc(1, sizeof(*item));
	if (!item)
		return error_nomem(err);
	item->lock = (struct sys_tempfile)SYS_TEMPFILE_INIT;
	item->update = update;
	item->depth = depth;
	item->order = tx->item_nr;
	item->name = mem_strdup(name);
	if (!item->name) {
		free(item);
		return error_nomem(err);
	}
	tx->items[tx->item_nr++] = item;
	return 0;
}

int ref_update_reject(struct ref_transaction *tx, struct ref_update *update,
		      enum ref_result result, struct error *err,
		      const char *fmt, ...)
{
	struct buf words = BUF_INIT;
	va_list ap;
	int ret;

	if (update->result != REF_OK)
		return 0;
	va_start(ap, fmt);
	ret = buf_vprintf(&words, fmt, ap);
	va_end(ap);
	update->error = ret ? NULL : buf_detach(&words, NULL);
	buf_release(&words);
	if (!update->error)
		return error_nomem(err);
	update->result = result;
	if (tx->options.keep_going && result != REF_DUPLICATE &&
	    result != REF_FAILED)
		return 0;
	return error_set(err, result == REF_FAILED ? ERR_IO : ERR_INVALID, "%s",
			 update->error);
}

int ref_item_reject_conflict(struct ref_transaction *tx, struct ref_item *item,
			     const char *other, struct error *err)
{
	if (tx->backend->has_one_lock)
		return ref_update_reject(tx, item->update, REF_NAME_CONFLICT,
					 err, "'%s' exists; cannot create '%s'",
					 other, item->name);
	return ref_update_reject(tx, item->update, REF_NAME_CONFLICT, err,
				 "cannot lock ref '%s': '%s' exists; cannot "
				 "create '%s'",
				 item->update->name, other, item->name);
}

static int cmp_items(const void *a, const void *b)
{
	const struct ref_item *const *ia = a, *const *ib = b;

	return strcmp((*ia)->name, (*ib)->name);
}

/*
 * Returns the index in tx->sorted of the first item whose name is not less than
 * `name`.
 */
static size_t seek(const struct ref_transaction *tx, const char *name,
		   size_t len)
{
	size_t low = 0, high = tx->sorted_nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const char *at = tx->sorted[mid]->name;

		if (packed_refs_name_cmp(at, strlen(at), name, len) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static struct ref_item *find_len(const struct ref_transaction *tx,
				 const char *name, size_t len)
{
	size_t i = seek(tx, name, len);

	if (i == tx->sorted_nr || strncmp(tx->sorted[i]->name, name, len) ||
	    tx->sorted[i]->name[len])
		return NULL;
	return tx->sorted[i];
}

struct ref_item *ref_items_find(const struct ref_transaction *tx,
				const char *name)
{
	return find_len(tx, name, strlen(name));
}

const struct ref_item *ref_items_conflict(const struct ref_transaction *tx,
					  const char *name)
{
	const struct ref_item *item;
	size_t i, len = strlen(name);

	for (const char *slash = strchr(name, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		item = find_len(tx, name, (size_t)(slash - name));
		if (item && item->update->result == REF_OK)
			return item;
	}
	/*
	 * Names such as "<name>-x" sort between "<name>" and "<name>/". The
	 * loop skips them.
	 */
	for (i = seek(tx, name, len); i < tx->sorted_nr; i++) {
		item = tx->sorted[i];
		if (strncmp(item->name, name, len) != 0 ||
		    (unsigned char)item->name[len] > '/')
			break;
		if (item->name[len] == '/' && item->update->result == REF_OK)
			return item;
	}
	return NULL;
}

int ref_items_find_above(struct ref_transaction *tx, const char *name,
			 ref_exists_fn *exists, struct buf *other,
			 struct error *err)
{
	const char *slash = strrchr(name, '/');
	size_t dir_len = slash ? (size_t)(slash - name) : 0;
	int ret = 0;

	if (tx->checked_dir && strlen(tx->checked_dir) == dir_len &&
	    !memcmp(tx->checked_dir, name, dir_len))
		return 0;
	for (slash = strchr(name, '/'); slash && !ret;
	     slash = strchr(slash + 1, '/')) {
		buf_reset(other);
		if (buf_append(other, name, (size_t)(slash - name)) < 0)
			return error_nomem(err);
		ret = exists(tx->refs, other->data, err);
	}
	if (ret)
		return ret;
	free(tx->checked_dir);
	tx->checked_dir = mem_strndup(name, dir_len);
	return tx->checked_dir ? 0 : error_nomem(err);
}

static int sort_all(struct ref_transaction *tx, struct error *err)
{
	struct ref_item **sorted = mem_alloc(tx->item_nr, sizeof(*sorted));

	if (!sorted)
		return error_nomem(err);
	memcpy(sorted, tx->items, tx->item_nr * sizeof(*sorted));
	qsort(sorted, tx->item_nr, sizeof(*sorted), cmp_items);
	free(tx->sorted);
	tx->sorted = sorted;
	tx->sorted_nr = tx->item_nr;
	return 0;
}

/*
 * If a change updates the ref that HEAD points to, adds an item for HEAD's
 * reflog, and sets *added to true. Returns 0 or a negative error code.
 */
static int add_head(struct ref_transaction *tx, bool *added, struct error *err)
{
	struct ref_item *item = NULL;
	int ret;

	*added = false;
	if (tx->head_target)
		item = ref_items_find(tx, tx->head_target);
	if (!item || !ref_update_changes(item->update) ||
	    ref_items_find(tx, "HEAD"))
		return 0;
	ret = ref_items_add(tx, item->update, "HEAD", 0, err);
	if (ret < 0)
		return ret;
	tx->items[tx->item_nr - 1]->log_only = true;
	tx->items[tx->item_nr - 1]->target = item;
	*added = true;
	return 0;
}

int ref_item_check_head(struct ref_transaction *tx, const struct ref_item *item,
			struct error *err)
{
	const struct ref_item *head;

	if (!tx->head_target || strcmp(item->name, tx->head_target) != 0)
		return 0;
	head = ref_items_find(tx, "HEAD");
	if (!head || head->update == item->update ||
	    (!(head->update->flags & REF_NO_DEREF) &&
	     head->order < item->order) ||
	    (tx->options.keep_going && head->update->result != REF_OK))
		return 0;
	return ref_update_reject(tx, item->update, REF_NAME_CONFLICT, err,
				 "multiple updates for 'HEAD' (including one "
				 "via its referent '%s') are not allowed",
				 tx->head_target);
}

int ref_item_reject_via(struct ref_transaction *tx, const struct ref_item *item,
			struct error *err)
{
	item->update->reached = item->via->name;
	return ref_update_reject(tx, item->update, REF_NAME_CONFLICT, err,
				 "multiple updates for '%s' (including one "
				 "via symref '%s') are not allowed",
				 item->name, item->via->name);
}

/*
 * Rejects one of two updates of the same ref: the update whose ref is not
 * locked yet. Returns 0 (also after a rejection) or a negative error code.
 */
static int reject_twice(struct ref_transaction *tx, const struct ref_item *a,
			const struct ref_item *b, struct error *err)
{
	const struct ref_item *late = a->via && !a->is_visited ? a : b;

	if (late->update->result != REF_OK || (a->is_visited && b->is_visited))
		return 0;
	if (!late->via)
		return ref_update_reject(tx, b->update, REF_DUPLICATE, err,
					 "multiple updates for ref '%s' not "
					 "allowed",
					 b->name);
	return ref_item_reject_via(tx, late, err);
}

static int check_twice(struct ref_transaction *tx, struct error *err)
{
	int ret = 0;

	for (size_t i = 1; !ret && i < tx->sorted_nr; i++)
		if (!strcmp(tx->sorted[i - 1]->name, tx->sorted[i]->name))
			ret = reject_twice(tx, tx->sorted[i - 1], tx->sorted[i],
					   err);
	return ret;
}

int ref_items_sort(struct ref_transaction *tx, struct error *err)
{
	bool added = false;
	int ret = sort_all(tx, err);

	if (!ret)
		ret = add_head(tx, &added, err);
	if (!ret && added)
		ret = sort_all(tx, err);
	if (!ret)
		ret = check_twice(tx, err);
	return ret;
}

const struct ref_item *ref_item_final(const struct ref_item *item)
{
	while (item->target)
		item = item->target;
	return item;
}

bool ref_item_log(const struct ref_transaction *tx, const struct ref_item *item,
		  struct reflog_entry *entry, bool *make)
{
	const struct ref_item *final = ref_item_final(item);
	const struct ref_update *u = item->update;

	if ((u->flags & REF_NO_REFLOG) || !ref_update_changes(u))
		return false;
	/*
	 * If a symbolic ref leads to a missing ref, there is no new id, and the
	 * reflog gets no entry.
	 */
	if (u->new_target && oid_is_zero(&final->new_oid))
		return false;
	*entry = (struct reflog_entry){
		.name = item->name,
		.old_oid = final->old_oid,
		.new_oid = final->new_oid,
		.committer = tx->committer,
		.no_committer = tx->options.no_committer,
		.message = u->message,
	};
	/*
	 * REF_FORCE_REFLOG creates no reflog for a deletion. For instance,
	 * deleting the branch of HEAD does not create HEAD's reflog.
	 */
	*make = ((u->flags & REF_FORCE_REFLOG) &&
		 !oid_is_zero(&final->new_oid)) ||
		reflog_is_made(tx->policy, item->name);
	return true;
}

void ref_items_free(struct ref_transaction *tx)
{
	for (size_t i = 0; i < tx->item_nr; i++) {
		free(tx->items[i]->name);
		free(tx->items[i]);
	}
	free(tx->items);
	free(tx->sorted);
	free(tx->checked_dir);
	tx->items = tx->sorted = NULL;
	tx->checked_dir = NULL;
	tx->item_nr = tx->item_alloc = tx->sorted_nr = 0;
}
