/* SPDX-License-Identifier: MIT */
/*
 * The files backend: creates lock files, "<ref>.lock", and writes the new
 * values into them.
 *
 * A process that changes a ref, or removes the ref's loose file after packing,
 * holds the ref's lock. A deletion also locks packed-refs, after all refs.
 */
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "refs-write/packed-rewrite.h"
#include "refs-write/refs-files-tx.h"
#include "refs/refs-loose.h"
#include "sys/cleanup.h"
#include "sys/io.h"
#include "sys/lockfile.h"
#include "sys/tempdir.h"

#define DEFAULT_LOCK_TIMEOUT_MS 100
#define LOCK_TRIES 3

int refs_files_lock_timeout(int64_t *ms, const struct config *config,
			    struct error *err)
{
	int ret;

	*ms = DEFAULT_LOCK_TIMEOUT_MS;
	ret = config_i64(config, "core.filesreflocktimeout", ms, err);
	return ret < 0 ? ret : 0;
}

int refs_files_tx_begin(struct ref_transaction *tx, struct error *err)
{
	int ret = repo_fsync_method(tx->repo, REPO_FSYNC_REFERENCE, &tx->method,
				    err);

	if (!ret)
		ret = refs_files_lock_timeout(&tx->lock_timeout_ms,
					      &tx->repo->config, err);
	return ret;
}

static int reject_lock(struct ref_transaction *tx, struct ref_item *item,
		       const struct error *why, struct error *err)
{
	bool held = why->code == ERR_DENIED;

	return ref_update_reject(
		tx, item->update, held ? REF_LOCKED : REF_FAILED, err,
		"cannot lock ref '%s': %s", item->update->name, why->msg);
}

/*
 * Creates the directory for tx->path, the path of a lock file. Returns 0 or a
 * negative error code.
 */
static int make_dirs(struct ref_transaction *tx, struct ref_item *item,
		     struct error *err)
{
	char *slash = strrchr(tx->path.data, '/');
	int ret;

	*slash = '\0';
	ret = sys_mkdir_shared(tx->path.data, tx->repo->share, err);
	*slash = '/';
	item->made_dirs = true;
	return ret;
}

/*
 * Creates the lock file at tx->path. Tries several times, because other
 * processes remove empty directories. Returns 0 or a negative error code.
 */
static int create_lock(struct ref_transaction *tx, struct ref_item *item,
		       struct error *why)
{
	int ret = ERR_IO;

	for (int i = 0; ret && i < LOCK_TRIES; i++) {
		ret = sys_lockfile_create_mode(&item->lock, tx->path.data,
					       0666 | tx->repo->share,
					       tx->lock_timeout_ms, why);
		if (ret &&
		    (why->sys_errno != ENOENT || make_dirs(tx, item, why) < 0))
			break;
	}
	return ret;
}

/*
 * Locks a ref. Sets tx->path to the path of the ref's file. Returns 0 (also if
 * the update is rejected) or a negative error code.
 */
int refs_files_tx_lock(struct ref_transaction *tx, struct ref_item *item,
		       struct error *err)
{
	struct ref_update *u = item->update;
	struct error why = ERROR_INIT;
	struct buf other = BUF_INIT;
	size_t len;
	int ret = 0;

	buf_reset(&tx->path);
	if (refs_loose_path(&tx->path, tx->repo, item->name) < 0)
		return error_nomem(err);
	len = tx->path.len;
	if (buf_append_str(&tx->path, ".lock") < 0)
		return error_nomem(err);
	if (!create_lock(tx, item, &why)) {
		buf_set_len(&tx->path, len);
		tx->path.data[len] = '\0';
		return 0;
	}
	if (why.sys_errno == ENOTDIR || why.sys_errno == EEXIST)
		ret = refs_files_conflict_above(tx, item->name, &other, err);
	if (ret > 0 && u->has_old && !oid_is_zero(&u->old_oid))
		ret = ref_update_reject(tx, u, REF_ABSENT, err,
					"cannot lock ref '%s': unable to "
					"resolve reference '%s'",
					u->name, item->name);
	else if (ret > 0)
		ret = ref_item_reject_conflict(tx, item, other.data, err);
	else if (!ret)
		ret = reject_lock(tx, item, &why, err);
	buf_release(&other);
	return ret;
}

/*
 * Sets item->is_dir to whether there is a directory at the path of the ref's
 * loose file. There may be one if the ref is only in packed-refs. Returns 0 or
 * ERR_NOMEM.
 */
static int look_for_dir(struct ref_transaction *tx, struct ref_item *item,
			struct error *err)
{
	struct sys_stat st;

	buf_reset(&tx->path);
	if (refs_loose_path(&tx->path, tx->repo, item->name) < 0)
		return error_nomem(err);
	item->is_dir = !sys_lstat(&st, tx->path.data, NULL) && st.is_dir;
	return 0;
}

/*
 * A directory may be at the path of the ref's loose file. Removes the directory
 * if it contains only directories. If it contains a file, rejects the update
 * now: renaming the lock file would fail, after other refs have changed.
 * Returns 0 (also if the update is rejected) or a negative error code.
 */
static int clear_dir(struct ref_transaction *tx, struct ref_item *item,
		     struct error *err)
{
	int ret;

	buf_reset(&tx->path);
	if (refs_loose_path(&tx->path, tx->repo, item->name) < 0)
		return error_nomem(err);
	ret = sys_rmdir_empty(tx->path.data, err);
	if (ret)
		return ret < 0 ? ret : 0;
	return ref_update_reject(tx, item->update, REF_NAME_CONFLICT, err,
				 "cannot lock ref '%s': there is a non-empty "
				 "directory '%s/%s' blocking reference '%s'",
				 item->update->name,
				 tx->repo->is_bare ? "." : ".git", item->name,
				 item->name);
}

/*
 * Replaces an item's lock file by a symbolic link to the new target. So
 * renaming the lock file gives readers the old or the new ref, never none. The
 * link is made at "<ref>~link.lock". No ref's name contains "~", so this path
 * is not the lock file of another ref. Only the holder of the lock uses this
 * path, so a file at this path was left by a killed process. If the link
 * cannot be made, the lock file keeps its text. Returns 0 or ERR_NOMEM.
 */
static int link_lock(struct ref_transaction *tx, const struct ref_item *item,
		     struct error *err)
{
	const char *target = item->update->new_target;
	struct sys_hold hold;

	buf_reset(&tx->path);
	if (refs_loose_path(&tx->path, tx->repo, item->name) < 0 ||
	    buf_append_str(&tx->path, "~link.lock") < 0)
		return error_nomem(err);
	sys_hold_signals(&hold);
	sys_unlink(tx->path.data, NULL);
	if (!sys_symlink(target, tx->path.data, NULL)) {
		if (!sys_rename(tx->path.data, item->lock.path, NULL))
			tx->symlink_nr++;
		else
			sys_unlink(tx->path.data, NULL);
	}
	sys_release_signals(&hold);
	return 0;
}

int refs_files_tx_stage(struct ref_transaction *tx, struct ref_item *item,
			struct error *err)
{
	char hex[OID_MAX_HEX_LEN + 1];
	const struct ref_update *u = item->update;
	struct buf text = BUF_INIT;
	int ret = item->existed ? look_for_dir(tx, item, err) : 0;

	if (!ret && item->is_dir)
		ret = clear_dir(tx, item, err);
	if (ret < 0 || u->result != REF_OK)
		return ret;
	if (u->new_target)
		ret = buf_printf(&text, "ref: %s\n", u->new_target);
	else
		ret = buf_printf(&text, "%s\n",
				 oid_to_hex(hex, &u->new_oid, tx->repo->algo));
	if (ret < 0)
		error_nomem(err);
	else
		ret = sys_tempfile_write(&item->lock, text.data, text.len, err);
	if (!ret)
		ret = sys_tempfile_finish(&item->lock, tx->method, err);
	if (!ret && u->new_target && tx->options.prefer_symlinks)
		ret = link_lock(tx, item, err);
	if (ret == ERR_IO)
		error_set(err, ret, "cannot update ref '%s': %s", item->name,
			  err ? err->msg : "");
	buf_release(&text);
	return ret;
}

/*
 * Removes the lock file of an item's ref, and directories that are then empty.
 */
static void unlock(struct ref_transaction *tx, struct ref_item *item)
{
	if (!item->lock.path)
		return;
	sys_tempfile_abort(&item->lock);
	if (!item->made_dirs)
		return;
	buf_reset(&tx->path);
	if (!refs_loose_path(&tx->path, tx->repo, item->name))
		reflog_prune_dirs(tx->path.data, item->name);
}

static void unlock_rejected(struct ref_transaction *tx)
{
	for (size_t i = 0; i < tx->item_nr; i++)
		if (tx->items[i]->update->result != REF_OK)
			unlock(tx, tx->items[i]);
}

/*
 * Prepares the commit of a transaction, in two steps:
 * - Removes the lock files of rejected updates, and directories that are then
 *   empty. This is necessary because such a directory could be at the path to
 *   which the commit moves the file of another ref.
 * - If the transaction deletes refs, locks packed-refs and writes a new
 *   packed-refs file without these refs. Readers do not see the new file yet.
 * Returns 0 or a negative error code.
 */
int refs_files_tx_ready(struct ref_transaction *tx, struct error *err)
{
	int ret = 0;

	unlock_rejected(tx);
	for (size_t i = 0; ret >= 0 && i < tx->sorted_nr; i++) {
		const struct ref_item *item = tx->sorted[i];

		if (item->log_only || item->update->result != REF_OK ||
		    !ref_update_is_delete(item->update))
			continue;
		if (!tx->rw) {
			tx->rw = mem_calloc(1, sizeof(*tx->rw));
			if (!tx->rw)
				return error_nomem(err);
			ret = packed_rewrite_begin(tx->rw, tx->repo, err);
		}
		if (ret >= 0)
			ret = packed_rewrite_delete(tx->rw, item->name, err);
	}
	if (ret >= 0 && tx->rw)
		ret = packed_rewrite_finish(tx->rw, err);
	return ret < 0 ? ret : 0;
}

void refs_files_tx_unlock(struct ref_transaction *tx)
{
	for (size_t i = 0; i < tx->item_nr; i++)
		unlock(tx, tx->items[i]);
	if (tx->rw)
		packed_rewrite_release(tx->rw);
	free(tx->rw);
	tx->rw = NULL;
}
