/* SPDX-License-Identifier: MIT */
/*
 * Locks a ref of a transaction, compares its value with the expected value, and
 * stages the new value.
 *
 * The value that is read under the lock cannot change, because every process
 * that changes a ref holds the ref's lock.
 */
#include <string.h>

#include "base/mem.h"
#include "refs-write/ref-transaction-internal.h"
#include "sys/io.h"

static int check_old_target(struct ref_transaction *tx, struct ref_item *item,
			    const char *target, struct error *err)
{
	struct ref_update *u = item->update;

	if (!item->existed)
		return ref_update_reject(tx, u, REF_ABSENT, err,
					 "cannot lock ref '%s': unable to "
					 "resolve reference '%s'",
					 u->name, item->name);
	if (!target)
		return ref_update_reject(tx, u, REF_NOT_SYMBOLIC, err,
					 "cannot lock ref '%s': expected "
					 "symref with target '%s': but is a "
					 "regular ref",
					 u->name, u->old_target);
	if (strcmp(target, u->old_target))
		return ref_update_reject(tx, u, REF_OLD_DIFFERS, err,
					 "verifying symref target: '%s': is at "
					 "%s but expected %s",
					 u->name, target, u->old_target);
	return 0;
}

/*
 * Compares the current value of a ref, item->old_oid, with the value that the
 * change expects. Rejects the update if they differ. Returns 0 (also if the
 * update is rejected) or a negative error code.
 */
static int check_old_oid(struct ref_transaction *tx, struct ref_item *item,
			 bool is_symbolic, struct error *err)
{
	char is[OID_MAX_HEX_LEN + 1], expected[OID_MAX_HEX_LEN + 1];
	struct ref_update *u = item->update;

	bool is_zero = oid_is_zero(&u->old_oid);

	/*
	 * The change requires that the ref does not exist. A dangling symbolic
	 * ref has no value, but exists: the change would overwrite the target
	 * that is stored in it.
	 */
	if (is_zero && is_symbolic && oid_is_zero(&item->old_oid))
		return ref_update_reject(tx, u, REF_EXISTS, err,
					 "cannot lock ref '%s': dangling "
					 "symref already exists",
					 u->name);
	if (oid_equal(&u->old_oid, &item->old_oid))
		return 0;
	if (is_zero)
		return ref_update_reject(tx, u, REF_EXISTS, err,
					 "cannot lock ref '%s': reference "
					 "already exists",
					 u->name);
	if (oid_is_zero(&item->old_oid) && item->existed)
		return ref_update_reject(
			tx, u, REF_ABSENT, err,
			"cannot lock ref '%s': reference is missing but "
			"expected %s",
			u->name,
			oid_to_hex(expected, &u->old_oid, tx->repo->algo));
	if (oid_is_zero(&item->old_oid))
		return ref_update_reject(tx, u, REF_ABSENT, err,
					 "cannot lock ref '%s': unable to "
					 "resolve reference '%s'",
					 u->name, item->name);
	return ref_update_reject(
		tx, u, REF_OLD_DIFFERS, err,
		"cannot lock ref '%s': is at %s but expected %s", u->name,
		oid_to_hex(is, &item->old_oid, tx->repo->algo),
		oid_to_hex(expected, &u->old_oid, tx->repo->algo));
}

/*
 * Rejects `item`, whose name conflicts with the name of `other`, an item of the
 * same transaction. As in stock Git, the message begins with "cannot lock ref"
 * in one case only: refs are stored in files, and the update of `other` was
 * queued before that of `item`.
 */
static int reject_among(struct ref_transaction *tx, const struct ref_item *item,
			const struct ref_item *other, struct error *err)
{
	if (tx->backend->has_one_lock || item->order < other->order)
		return ref_update_reject(tx, item->update, REF_NAME_CONFLICT,
					 err,
					 "cannot process '%s' and '%s' at the "
					 "same time",
					 item->name, other->name);
	return ref_update_reject(tx, item->update, REF_NAME_CONFLICT, err,
				 "cannot lock ref '%s': cannot process '%s' "
				 "and '%s' at the same time",
				 item->update->name, item->name, other->name);
}

/*
 * Finds updates of the same transaction whose names conflict with the name of
 * `item`, as "a" and "a/b" do. If two updates conflict, one of the two is
 * rejected:
 * - If refs are stored in files, the update of `item` is rejected.
 * - If refs are stored in reftables, the update that was queued first is
 *   rejected.
 * The search ends when no conflict is left, or when the update of `item` is
 * rejected. Returns 0 (also if updates are rejected) or a negative error code.
 */
static int check_among(struct ref_transaction *tx, struct ref_item *item,
		       struct error *err)
{
	const struct ref_item *other;
	int ret = 0;

	while (!ret && item->update->result == REF_OK &&
	       (other = ref_items_conflict(tx, item->name)))
		ret = tx->backend->has_one_lock && other->order < item->order
			      ? reject_among(tx, other, item, err)
			      : reject_among(tx, item, other, err);
	return ret;
}

/*
 * Looks for existing refs whose names conflict with a new ref. Rejects the
 * update if there is one. Returns 0 (also if the update is rejected) or a
 * negative error code.
 */
static int check_conflict(struct ref_transaction *tx, struct ref_item *item,
			  struct error *err)
{
	struct buf other = BUF_INIT;
	int ret = tx->backend->conflict(tx, item, &other, err);

	if (ret > 0)
		ret = ref_item_reject_conflict(tx, item, other.data, err);
	buf_release(&other);
	return ret;
}

int ref_items_recheck_among(struct ref_transaction *tx, size_t limit,
			    int failed, struct error *err)
{
	if (tx->backend->has_one_lock)
		return failed;
	for (size_t i = 0; i < tx->item_nr && tx->items[i]->order < limit;
	     i++) {
		const struct ref_item *item = tx->items[i], *other;
		int ret;

		if (item->existed || item->log_only || !item->is_visited ||
		    item->update->result != REF_OK)
			continue;
		other = ref_items_conflict(tx, item->name);
		if (other && other->order < item->order &&
		    strlen(other->name) > strlen(item->name)) {
			ret = reject_among(tx, item, other, err);
			return ret ? ret : failed;
		}
	}
	return failed;
}

int ref_items_check_names(struct ref_transaction *tx, struct error *err)
{
	struct ref_item **items = tx->backend->has_one_lock ? tx->items
							    : tx->sorted;
	int ret = 0;

	for (size_t i = 0; !ret && i < tx->item_nr; i++) {
		struct ref_item *item = items[i];

		if (item->existed || item->log_only ||
		    item->update->result != REF_OK)
			continue;
		if (tx->backend->has_one_lock)
			ret = check_conflict(tx, item, err);
		if (!ret)
			ret = check_among(tx, item, err);
	}
	return ret;
}

/*
 * Checks the new value for a ref to which a symbolic ref leads. The value was
 * already checked for the ref that the change names.
 */
static int check_value(struct ref_transaction *tx, struct ref_item *item,
		       struct error *err)
{
	struct ref_update *u = item->update;
	struct error why = ERROR_INIT;
	int ret;

	if (!tx->options.check_value || u->new_target || !item->depth)
		return 0;
	ret = tx->options.check_value(tx->options.ctx, item->name, &u->new_oid,
				      &why);
	if (ret == ERR_INVALID)
		return ref_update_reject(tx, u, REF_BAD_VALUE, err, "%s",
					 why.msg);
	if (ret < 0 && err)
		*err = why;
	return ret;
}

/*
 * Sets the new id for the reflog of a symbolic ref: the id of its new target,
 * or zero if the ref will dangle. Returns 0 or a negative error code.
 */
static int resolve_target(struct ref_transaction *tx, struct ref_item *item,
			  struct error *err)
{
	struct ref ref;
	int ret = refs_lookup(tx->refs, item->update->new_target, &ref, err);

	if (ret > 0)
		item->new_oid = ref.oid;
	return ret < 0 && ret != ERR_CORRUPT ? ret : 0;
}

/*
 * Stages the new value of a ref: writes the value to a place where readers do
 * not see it yet. Does nothing if the ref already has this value. Returns 0
 * (also if an update is rejected) or a negative error code.
 */
static int stage(struct ref_transaction *tx, struct ref_item *item,
		 bool is_symbolic, struct error *err)
{
	struct ref_update *u = item->update;
	int ret;

	if (u->new_target) {
		ret = resolve_target(tx, item, err);
		if (ret < 0)
			return ret;
	} else {
		item->new_oid = u->new_oid;
		if (!is_symbolic && oid_equal(&u->new_oid, &item->old_oid))
			return 0;
	}
	ret = tx->backend->stage(tx, item, err);
	item->writes = !ret && u->result == REF_OK;
	return ret;
}

/*
 * Adds an item for the ref `target` to the transaction. The ref of `item` is
 * symbolic and leads to `target`. Returns 0 (also if an update is rejected) or
 * a negative error code.
 */
static int follow(struct ref_transaction *tx, struct ref_item *item,
		  const char *target, struct error *err)
{
	int ret;

	if (item->depth == REFS_SYMREF_MAX_DEPTH)
		return ref_update_reject(tx, item->update, REF_BROKEN, err,
					 "cannot lock ref '%s': unable to "
					 "resolve reference '%s': too many "
					 "levels of symbolic refs",
					 item->update->name, item->name);
	ret = ref_items_add(tx, item->update, target, item->depth + 1, err);
	if (!ret) {
		item->log_only = true;
		item->target = tx->items[tx->item_nr - 1];
		item->target->via = item;
		item->target->order = tx->update_nr + item->order;
		item->update->reached = item->target->name;
	}
	if (!ret && ref_items_find(tx, target))
		ret = ref_item_reject_via(tx, item->target, err);
	return ret;
}

/*
 * HEAD was locked so that its reflog gets an entry. Verifies that HEAD still
 * leads to the ref to which it led before. Otherwise rejects the update.
 * Returns 0 (also if the update is rejected) or a negative error code.
 */
static int recheck_head(struct ref_transaction *tx, struct ref_item *item,
			const char *target, struct error *err)
{
	if (target && !strcmp(target, tx->head_target))
		return 0;
	return ref_update_reject(tx, item->update, REF_LOCKED, err,
				 "cannot lock ref '%s': HEAD has changed "
				 "meanwhile",
				 item->update->name);
}

/*
 * For a change of a symbolic ref itself: sets item->old_oid to the id that the
 * symbolic ref leads to, if there is one.
 *
 * The symbolic ref may lead to a broken ref, whose id cannot be read. If the
 * change expects an old value, the update is then rejected. Two cases are no
 * errors, and leave item->old_oid as it is: the change expects no old value, or
 * the value of the broken ref is an id of zeros.
 *
 * Returns 0 (also if the update is rejected and the transaction continues
 * without it) or a negative error code.
 */
static int resolve_old(struct ref_transaction *tx, struct ref_item *item,
		       struct error *err)
{
	struct ref_update *u = item->update;
	struct ref ref;
	int ret = refs_lookup(tx->refs, item->name, &ref, err);

	if (ret > 0)
		item->old_oid = ref.oid;
	if (ret != ERR_CORRUPT)
		return ret < 0 ? ret : 0;
	if (ref.is_zero || (!u->has_old && !u->old_target))
		return 0;
	return ref_update_reject(tx, u, REF_FAILED, err,
				 "cannot lock ref '%s': error reading "
				 "reference",
				 u->name);
}

/*
 * Compares the ref of an item with the old value that the change expects,
 * checks the new value, and stages it. Returns 0 (also if the update is
 * rejected) or a negative error code.
 */
static int check_and_stage(struct ref_transaction *tx, struct ref_item *item,
			   const char *target, struct error *err)
{
	struct ref_update *u = item->update;
	int ret = target ? resolve_old(tx, item, err) : 0;

	if (!ret && u->old_target)
		ret = check_old_target(tx, item, target, err);
	if (!ret && u->has_old)
		ret = check_old_oid(tx, item, target != NULL, err);
	if (!ret && u->result == REF_OK && !item->existed &&
	    !tx->backend->has_one_lock)
		ret = check_conflict(tx, item, err);
	if (ret || u->result != REF_OK || !ref_update_is_write(u))
		return ret;
	ret = check_value(tx, item, err);
	if (!ret && u->result == REF_OK)
		ret = stage(tx, item, target != NULL, err);
	return ret;
}

static int reject_broken(struct ref_transaction *tx,
			 const struct ref_item *item, struct error *err)
{
	return ref_update_reject(tx, item->update, REF_BROKEN, err,
				 "cannot lock ref '%s': unable to resolve "
				 "reference '%s': reference broken",
				 item->update->name, item->name);
}

/*
 * Handles a symbolic ref whose target cannot exist. A change of the symbolic
 * ref itself is rejected if it states an old value, even a zero id; without an
 * old value, the change replaces or removes the symbolic ref. A write to the
 * target is rejected, because the path of the target may lead out of the
 * repository. A deletion or verification of the target is rejected if it
 * expects an old value; without an old value, nothing changes. Returns 0 (also
 * if the update is rejected) or a negative error code.
 */
static int stage_nowhere(struct ref_transaction *tx, struct ref_item *item,
			 struct error *err)
{
	struct ref_update *u = item->update;
	bool has_old = u->old_target ||
		       (u->has_old && !oid_is_zero(&u->old_oid));

	item->existed = true;
	if ((u->flags & REF_NO_DEREF) && (u->has_old || u->old_target))
		return ref_update_reject(tx, u, REF_FAILED, err,
					 "cannot lock ref '%s': error reading "
					 "reference",
					 u->name);
	if (u->flags & REF_NO_DEREF)
		return check_and_stage(tx, item, NULL, err);
	if (has_old || ref_update_is_write(u))
		return reject_broken(tx, item, err);
	item->log_only = true;
	u->flags |= REF_NO_REFLOG;
	return 0;
}

static int read_and_stage(struct ref_transaction *tx, struct ref_item *item,
			  struct error *err)
{
	struct ref_update *u = item->update;
	char *target = NULL;
	struct ref ref;
	int ret = refs_read(tx->refs, item->name, &ref, err);

	/* A stored zero id counts as a missing value, and may be replaced. */
	if (ret == ERR_CORRUPT && ref.is_zero)
		ret = 1;
	if (ret == ERR_CORRUPT)
		return reject_broken(tx, item, err);
	if (ret < 0)
		return ret;
	if (ref.leads_nowhere && !item->log_only)
		return stage_nowhere(tx, item, err);
	item->existed = ret > 0;
	item->old_oid = ref.oid;
	if (ref.target) {
		target = mem_strdup(ref.target);
		if (!target)
			return error_nomem(err);
	}
	if (item->log_only)
		ret = recheck_head(tx, item, target, err);
	else if (target && !(u->flags & REF_NO_DEREF))
		ret = follow(tx, item, target, err);
	else
		ret = check_and_stage(tx, item, target, err);
	free(target);
	return ret;
}

int ref_item_lock(struct ref_transaction *tx, struct ref_item *item,
		  struct error *err)
{
	int ret = 0;

	if (item->update->result == REF_OK)
		ret = ref_item_check_head(tx, item, err);
	if (!ret && item->update->result == REF_OK)
		ret = tx->backend->lock(tx, item, err);
	if (!ret && item->update->result == REF_OK)
		ret = read_and_stage(tx, item, err);
	/*
	 * A transaction may have more lock files than a process may have open
	 * descriptors. So the descriptor of each lock file is closed.
	 */
	if (item->lock.fd >= 0) {
		sys_close(item->lock.fd);
		item->lock.fd = -1;
	}
	return ret;
}
