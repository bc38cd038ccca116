/* SPDX-License-Identifier: MIT */
/*
 * The files backend: commits a prepared transaction.
 *
 * New values come first: the entries of all reflogs, then the renames.
 * Deletions come last. A deletion removes the ref's record from packed-refs
 * before the loose file. So after a crash each ref has its old or its new
 * value, never an older value that packed-refs had.
 *
 * As in stock Git, the reflogs of deleted refs are removed before any of these
 * refs. After a crash in between, a ref may have no reflog. In the other order,
 * a reflog could stay without a ref: "logs/refs/a" blocks the reflog of
 * "refs/a/b". All reflogs change while the refs are locked. So another process
 * that makes a ref again gets a new reflog, which nobody removes.
 *
 * Appending entries needs disk space, and renaming does not. If the disk is
 * full, the entries are removed again, and no ref has changed.
 *
 * Signals are held until the commit is complete. Otherwise stopping a server
 * could leave half of a transaction.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "refs-write/refs-files-tx.h"
#include "refs/refs-loose.h"
#include "sys/cleanup.h"
#include "sys/io.h"

#define PLACE_TRIES 3

static int item_path(struct ref_transaction *tx, const struct ref_item *item,
		     struct error *err)
{
	buf_reset(&tx->path);
	if (refs_loose_path(&tx->path, tx->repo, item->name) < 0)
		return error_nomem(err);
	return 0;
}

static int log_item(struct ref_transaction *tx, struct ref_item *item,
		    struct error *err)
{
	struct reflog_entry entry;
	bool make;

	if (!ref_item_log(tx, item, &entry, &make))
		return 0;
	return reflog_append(tx->repo, &entry, make, &item->log_before, err);
}

/*
 * Renames the lock file of a ref to the ref's file. Another process may have
 * made a directory at this path, for the lock of a ref below it. The directory
 * is removed if it is empty. Returns 0 or a negative error code. If the rename
 * has failed, the ref stays locked.
 */
static int put_in_place(struct ref_transaction *tx, struct ref_item *item,
			struct error *err)
{
	struct error why = ERROR_INIT;
	int ret = item_path(tx, item, err);

	if (ret < 0)
		return ret;
	for (int i = 0; i < PLACE_TRIES; i++) {
		ret = sys_tempfile_place(&item->lock, tx->path.data, tx->method,
					 &why);
		if (!ret || why.sys_errno != EISDIR ||
		    sys_rmdir_empty(tx->path.data, NULL) <= 0)
			break;
	}
	if (ret < 0 && err)
		*err = why;
	return ret;
}

static int fail(struct ref_update *update, int code, struct error *err)
{
	update->result = REF_FAILED;
	return error_set(err, code, "cannot update ref '%s': %s", update->name,
			 err ? err->msg : "");
}

static int commit_logs(struct ref_transaction *tx, struct error *err)
{
	for (size_t i = 0; i < tx->sorted_nr; i++) {
		struct ref_item *item = tx->sorted[i];
		int ret = 0;

		if (item->update->result == REF_OK &&
		    (item->log_only || item->writes))
			ret = log_item(tx, item, err);
		if (ret < 0)
			return fail(item->update, ret, err);
	}
	return 0;
}

static int commit_values(struct ref_transaction *tx, struct error *err)
{
	int ret = commit_logs(tx, err);

	for (size_t i = 0; !ret && i < tx->sorted_nr; i++) {
		struct ref_item *item = tx->sorted[i];

		if (item->update->result != REF_OK || !item->writes)
			continue;
		ret = put_in_place(tx, item, err);
		if (ret < 0)
			ret = fail(item->update, ret, err);
	}
	return ret;
}

/* Returns whether the transaction deletes the ref of this item. */
static bool is_deletion(const struct ref_item *item)
{
	return !item->log_only && item->update->result == REF_OK &&
	       ref_update_is_delete(item->update);
}

/*
 * Removes the reflogs of the deleted refs. A reflog that cannot be removed is
 * reported, and stays: as in stock Git, its ref is deleted nevertheless.
 */
static void remove_logs(struct ref_transaction *tx)
{
	for (size_t i = 0; i < tx->sorted_nr; i++) {
		struct error why = ERROR_INIT;

		if (is_deletion(tx->sorted[i]) &&
		    reflog_remove(tx->repo, tx->sorted[i]->name, &why) < 0 &&
		    tx->options.warn)
			tx->options.warn(tx->options.ctx, why.msg);
	}
}

static int delete_loose(struct ref_transaction *tx, struct ref_item *item,
			struct error *err)
{
	struct error io = ERROR_INIT;
	int ret = item_path(tx, item, err);

	if (ret < 0)
		return ret;
	/*
	 * For a ref that is only in packed-refs, there may be an empty
	 * directory at the path of the loose file. So EISDIR is not an error.
	 */
	ret = item->existed ? sys_unlink(tx->path.data, &io) : 0;
	if (ret < 0 && io.sys_errno != EISDIR) {
		if (err)
			*err = io;
		return ret;
	}
	sys_tempfile_abort(&item->lock);
	reflog_prune_dirs(tx->path.data, item->name);
	return 0;
}

static int commit_deletions(struct ref_transaction *tx, struct error *err)
{
	int ret;

	remove_logs(tx);
	ret = tx->rw ? packed_rewrite_commit(tx->rw, err) : 0;
	for (size_t i = 0; !ret && i < tx->sorted_nr; i++) {
		struct ref_item *item = tx->sorted[i];

		if (!is_deletion(item))
			continue;
		ret = delete_loose(tx, item, err);
		if (ret < 0)
			return fail(item->update, ret, err);
	}
	return ret;
}

/*
 * Removes the new entries from the reflogs of refs that have not changed. The
 * locks of these refs are still held.
 */
static void take_back_logs(struct ref_transaction *tx)
{
	for (size_t i = 0; i < tx->sorted_nr; i++) {
		const struct ref_item *item = tx->sorted[i];

		if (ref_item_final(item)->lock.path)
			reflog_take_back(tx->repo, item->name,
					 &item->log_before);
	}
}

static int commit(struct ref_transaction *tx, struct error *err)
{
	struct error why = ERROR_INIT;
	struct sys_hold hold;
	int ret;

	sys_hold_signals(&hold);
	ret = commit_values(tx, &why);
	if (!ret)
		ret = commit_deletions(tx, &why);
	if (ret < 0)
		take_back_logs(tx);
	refs_files_tx_unlock(tx);
	sys_release_signals(&hold);
	if (ret < 0 && err)
		*err = why;
	return ret;
}

const struct ref_tx_backend refs_files_tx_backend = {
	.begin = refs_files_tx_begin,
	.lock = refs_files_tx_lock,
	.conflict = refs_files_tx_conflict,
	.stage = refs_files_tx_stage,
	.ready = refs_files_tx_ready,
	.commit = commit,
	.unlock = refs_files_tx_unlock,
};
