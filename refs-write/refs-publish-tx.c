/* SPDX-License-Identifier: MIT */
/*
 * Transactions with the option `publish`. The repository is a local copy of a
 * repository in a store. The function `publish` of the caller makes the changes
 * in the store.
 *
 * The changes are checked against a snapshot of the copy's tables. Nothing is
 * locked, because a request to a store takes long, and readers who refresh the
 * copy need the lock of its tables. The store compares the old values again.
 */
#include <string.h>

#include "refs-write/ref-transaction-internal.h"
#include "refs/refs-reftable.h"

static int publish_begin(struct ref_transaction *tx, struct error *err)
{
	if (tx->repo->ref_storage == REPO_REFS_REFTABLE)
		return 0;
	return error_set(err, ERR_UNSUPPORTED,
			 "refs that are published must be in tables");
}

static int publish_nothing(struct ref_transaction *tx, struct ref_item *item,
			   struct error *err)
{
	(void)tx;
	(void)item;
	(void)err;
	return 0;
}

/*
 * Rejects the update of a ref if its name and new value are too long for a
 * block of a reftable. Some repositories are in a store, and nodes have local
 * copies of them, with the refs in reftables. These tables are written only
 * after the change in the store is complete, and then it is too late to reject
 * the change. Returns 0 (also if an update is rejected) or a negative error
 * code.
 */
static int check_len(struct ref_transaction *tx, const struct ref_item *item,
		     size_t block_size, struct error *err)
{
	const struct ref_update *u = item->update;
	size_t target_len = u->new_target ? strlen(u->new_target) : 0;

	if (u->result != REF_OK || item->log_only || !item->writes ||
	    !ref_update_is_write(u) ||
	    reftable_writer_ref_size(strlen(item->name), target_len,
				     tx->repo->algo) <= block_size)
		return 0;
	return ref_update_reject(tx, item->update, REF_BAD_VALUE, err,
				 "ref '%.100s...' is too long for a reftable "
				 "block",
				 item->name);
}

static int check_lens(struct ref_transaction *tx, struct error *err)
{
	struct reftable_append_options options;
	/*
	 * Check that each ref fits into a block of `size` bytes: the default
	 * size, or the configured size if it is smaller. A larger configured
	 * size is not used. The reason: other machines also write these refs
	 * into tables, with the block size of their own configuration. A ref
	 * that needs a larger block might not fit there.
	 */
	size_t size = REFTABLE_BLOCK_SIZE_DEFAULT;
	int ret = refs_reftable_options(&options, tx->repo, err);

	if (!ret && options.block_size && options.block_size < size)
		size = options.block_size;
	for (size_t i = 0; !ret && i < tx->sorted_nr; i++)
		ret = check_len(tx, tx->sorted[i], size, err);
	return ret;
}

/*
 * Checks all updates of the transaction before they are published. The refs are
 * stored in reftables, so an update is rejected if its name and value are too
 * long for a block of a reftable. Two updates of the same ref are rejected too,
 * for instance one of its own name and one through a symbolic ref. Returns 0
 * (also if an update is rejected) or a negative error code.
 */
static int publish_ready(struct ref_transaction *tx, struct error *err)
{
	int ret = check_lens(tx, err);

	for (size_t i = 1; !ret && i < tx->sorted_nr; i++)
		if (tx->sorted[i - 1]->update->result == REF_OK &&
		    !strcmp(tx->sorted[i - 1]->name, tx->sorted[i]->name))
			ret = ref_update_reject(
				tx, tx->sorted[i]->update, REF_DUPLICATE, err,
				"multiple updates for ref '%s' not allowed",
				tx->sorted[i]->name);
	return ret;
}

static int publish_commit(struct ref_transaction *tx, struct error *err)
{
	return tx->update_nr ? tx->options.publish(tx->options.ctx, tx, err)
			     : 0;
}

static void publish_unlock(struct ref_transaction *tx)
{
	(void)tx;
}

const struct ref_tx_backend refs_publish_tx_backend = {
	.has_one_lock = true,
	.begin = publish_begin,
	.lock = publish_nothing,
	.conflict = refs_reftable_tx_conflict,
	.stage = publish_nothing,
	.ready = publish_ready,
	.commit = publish_commit,
	.unlock = publish_unlock,
};

/* ---- showing the changes to the function `publish` */

static int show(struct ref_transaction *tx, const struct ref_item *item,
		int (*fn)(void *ctx, const struct ref_effect *effect,
			  struct error *err),
		void *ctx, struct error *err)
{
	const struct ref_update *u = item->update;
	struct ref_effect effect = {.name = item->name, .update = item->update};
	struct ref ref;
	int ret = refs_read(tx->refs, item->name, &ref, err);

	/* A stored zero id also counts as an old value, and may be replaced. */
	if (ret < 0 && !(ret == ERR_CORRUPT && ref.is_zero))
		return ret;
	effect.old_target = ret ? ref.target : NULL;
	effect.old_oid = ret && !ref.target ? &ref.oid : NULL;
	effect.new_target = effect.old_target;
	effect.new_oid = effect.old_oid;
	if (ref_update_changes(u)) {
		effect.new_target = u->new_target;
		effect.new_oid = ref_update_is_write(u) && !u->new_target
					 ? &u->new_oid
					 : NULL;
	}
	return fn(ctx, &effect, err);
}

int ref_transaction_each_effect(struct ref_transaction *tx,
				int (*fn)(void *ctx,
					  const struct ref_effect *effect,
					  struct error *err),
				void *ctx, struct error *err)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < tx->sorted_nr; i++) {
		const struct ref_item *item = tx->sorted[i];

		if (!item->log_only && item->update->result == REF_OK)
			ret = show(tx, item, fn, ctx, err);
	}
	return ret;
}

int ref_transaction_reject(struct ref_transaction *tx,
			   struct ref_update *update, enum ref_result result,
			   const char *why, struct error *err)
{
	return ref_update_reject(tx, update, result, err, "%s", why);
}
