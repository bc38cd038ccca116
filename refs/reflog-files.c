/* SPDX-License-Identifier: MIT */
/*
 * The files backend: reads and rewrites reflogs. Each ref has one file below
 * logs/.
 *
 * A reflog changes under the lock of its ref. An edit writes a new file
 * "<log>.lock" and renames that file, so a reader sees the old or the new
 * reflog. Entries are appended under the same lock.
 *
 * A reflog that is a symbolic link belongs to another repository
 * (git-new-workdir makes such links). As in stock Git, such a reflog is read
 * and appended to, but does not exist for commands that edit or drop reflogs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "refs/reflog-backend.h"
#include "refs/reflog-write.h"
#include "refs/refs-loose.h"
#include "refs/refs.h"
#include "sys/io.h"
#include "sys/lockfile.h"
#include "sys/map.h"

enum {
	/* the default of core.filesRefLockTimeout, in milliseconds */
	LOCK_TIMEOUT_MS = 100,
	LOCK_TRIES = 3,
};

static bool is_editable(const char *path)
{
	struct sys_stat st;

	return sys_lstat(&st, path, NULL) == 0 && st.is_file;
}

static bool log_exists(const struct repo *repo, const char *name)
{
	struct buf path = BUF_INIT;
	bool found = refs_log_path(&path, repo, name) == 0 &&
		     is_editable(path.data);

	buf_release(&path);
	return found;
}

/*
 * Reads the reflog in the file at `path`. Returns 1 if read, 0 if there is no
 * reflog, or a negative error code.
 */
static int read_log(struct reflog *log, const char *path, enum hash_algo algo,
		    struct error *err)
{
	struct sys_stat st;
	int ret = sys_stat(&st, path, err);

	if (ret == ERR_MISSING || (!ret && st.is_dir))
		return 0;
	if (!ret)
		ret = sys_read_file(&log->bytes, path, err);
	if (!ret)
		ret = reflog_split(log, algo, err);
	return ret ? ret : 1;
}

static int read_named(struct reflog *log, const struct repo *repo,
		      const char *name, struct error *err)
{
	struct buf path = BUF_INIT;
	int ret = refs_log_path(&path, repo, name) < 0
			  ? error_nomem(err)
			  : read_log(log, path.data, repo->algo, err);

	buf_release(&path);
	return ret;
}

/* ---- editing */

/* An edit of one reflog. */
struct edit {
	const struct repo *repo;
	const struct reflog_edit *how;
	const char *name;
	struct buf ref_path, log_path, lock_path;
	struct sys_tempfile ref_lock, log_lock;
	struct refs_loose ref; /* the ref's stored value */
	struct oid tip;
	bool has_tip;
	struct reflog log;
	enum sys_fsync_method fsync;
};

static int say_locked(struct error *err, const char *what, const char *name,
		      const struct error *why)
{
	return error_set(err, why->code, "cannot lock %s '%s': %s", what, name,
			 why->msg);
}

/*
 * Creates the lock file "<path>.lock". Creates its directory if the directory
 * is missing. Returns 0 or a negative error code.
 */
static int lock(struct edit *e, struct sys_tempfile *file,
		const struct buf *path, int64_t timeout_ms, struct error *why)
{
	int ret = ERR_IO;

	buf_reset(&e->lock_path);
	if (buf_printf(&e->lock_path, "%s.lock", path->data) < 0)
		return error_nomem(why);
	for (int i = 0; ret && i < LOCK_TRIES; i++) {
		char *slash = strrchr(e->lock_path.data, '/');

		ret = sys_lockfile_create_mode(file, e->lock_path.data,
					       0666 | e->repo->share,
					       timeout_ms, why);
		if (ret && why->sys_errno != ENOENT)
			break;
		*slash = '\0';
		if (ret && sys_mkdir_shared(e->lock_path.data, e->repo->share,
					    why) < 0)
			break;
		*slash = '/';
	}
	return ret;
}

/*
 * Sets e->tip to the id of the ref whose reflog is edited. Sets e->has_tip to
 * false if the ref is symbolic, missing or broken. Returns 0 or a negative
 * error code.
 */
static int read_tip(struct edit *e, struct error *err)
{
	struct refs *refs;
	struct ref ref;
	int ret = refs_open(&refs, e->repo, err);

	if (ret < 0)
		return ret;
	ret = refs_read(refs, e->name, &ref, err);
	e->has_tip = ret > 0 && !ref.target;
	if (e->has_tip)
		e->tip = ref.oid;
	refs_close(refs);
	return ret < 0 && !ref.is_broken ? ret : 0;
}

static int lock_and_read(struct edit *e, struct error *err)
{
	int64_t timeout_ms = LOCK_TIMEOUT_MS;
	struct error why = ERROR_INIT;
	int ret = config_i64(&e->repo->config, "core.filesreflocktimeout",
			     &timeout_ms, err);

	if (ret >= 0)
		ret = repo_fsync_method(e->repo, REPO_FSYNC_REFERENCE,
					&e->fsync, err);
	if (ret < 0)
		return ret;
	if (refs_loose_path(&e->ref_path, e->repo, e->name) < 0 ||
	    refs_log_path(&e->log_path, e->repo, e->name) < 0)
		return error_nomem(err);
	if (!is_editable(e->log_path.data))
		return 0;
	if (lock(e, &e->ref_lock, &e->ref_path, timeout_ms, &why) < 0)
		return say_locked(err, "ref", e->name, &why);
	ret = read_tip(e, err);
	return ret < 0 ? ret
		       : read_log(&e->log, e->log_path.data, e->repo->algo,
				  err);
}

/*
 * Writes the new reflog: the lines that are not dropped. Sets *last to the new
 * id of the last of these lines, or to zero if there is none. Returns 0 or a
 * negative error code.
 */
static int write_lines(struct edit *e, struct oid *last, struct error *err)
{
	enum hash_algo algo = e->repo->algo;
	char from[OID_MAX_HEX_LEN + 1], to[OID_MAX_HEX_LEN + 1];
	struct buf out = BUF_INIT;
	int ret = 0;

	*last = (struct oid)OID_ZERO_INIT;
	for (size_t i = 0; i < e->log.nr && !ret; i++) {
		const struct reflog_line *line = &e->log.lines[i];
		const struct oid *old = &line->old_oid;

		if (line->drop)
			continue;
		oid_to_hex(from, e->how->rewrite ? last : old, algo);
		oid_to_hex(to, &line->new_oid, algo);
		ret = buf_printf(&out, "%s %s", from, to);
		if (!ret)
			ret = buf_append(&out, line->text, line->text_len);
		/*
		 * A tab precedes the message of a line. A line without a
		 * message may lack the tab. As stock Git does, a rewrite adds
		 * the tab.
		 */
		if (!ret && !memchr(line->text, '\t', line->text_len))
			ret = buf_append_char(&out, '\t');
		if (!ret)
			ret = buf_append_char(&out, '\n');
		*last = line->new_oid;
	}
	if (ret < 0)
		ret = error_nomem(err);
	else
		ret = sys_tempfile_write(&e->log_lock, out.data, out.len, err);
	buf_release(&out);
	return ret;
}

static int update_ref(struct edit *e, const struct oid *last, struct error *err)
{
	char hex[OID_MAX_HEX_LEN + 2];
	size_t len = hash_hex_len(e->repo->algo);
	int ret = repo_check_quarantine(e->repo, err);

	if (ret < 0)
		return ret;
	oid_to_hex(hex, last, e->repo->algo);
	hex[len] = '\n';
	return sys_tempfile_write(&e->ref_lock, hex, len + 1, err);
}

static int write_log(struct edit *e, struct error *err)
{
	struct error why = ERROR_INIT;
	struct oid last;
	bool updates;
	int ret = lock(e, &e->log_lock, &e->log_path, 0, &why);

	if (ret < 0)
		return say_locked(err, "the reflog of", e->name, &why);
	ret = write_lines(e, &last, err);
	updates = e->how->update_ref && e->has_tip && !oid_is_zero(&last) &&
		  !oid_equal(&last, &e->tip);
	if (!ret && updates)
		ret = update_ref(e, &last, err);
	/*
	 * The reflog is renamed first, and the ref last. After a crash between
	 * the two, the ref still has its old value.
	 */
	if (!ret)
		ret = sys_tempfile_commit(&e->log_lock, e->log_path.data,
					  e->fsync, err);
	if (!ret && updates)
		ret = sys_tempfile_commit(&e->ref_lock, e->ref_path.data,
					  e->fsync, err);
	return ret;
}

static int edit(struct edit *e, struct error *err)
{
	int ret = lock_and_read(e, err);

	if (ret <= 0)
		return ret;
	ret = e->how->decide(e->how->ctx, e->name, e->has_tip ? &e->tip : NULL,
			     &e->log, err);
	return ret < 0 || e->how->dry_run ? ret : write_log(e, err);
}

static int edit_log(const struct repo *repo, const char *name,
		    const struct reflog_edit *how, struct error *err)
{
	struct edit e = {
		.repo = repo,
		.how = how,
		.name = name,
		.ref_path = BUF_INIT,
		.log_path = BUF_INIT,
		.lock_path = BUF_INIT,
		.ref_lock = SYS_TEMPFILE_INIT,
		.log_lock = SYS_TEMPFILE_INIT,
		.log = REFLOG_INIT,
	};
	int ret = edit(&e, err);

	sys_tempfile_abort(&e.log_lock);
	sys_tempfile_abort(&e.ref_lock);
	/*
	 * A packed ref needs no directory for a loose file. If there is such a
	 * directory, it was created for the lock file of this edit. So empty
	 * directories are removed.
	 */
	if (e.ref_path.len)
		reflog_prune_dirs(e.ref_path.data, name);
	reflog_release(&e.log);
	buf_release(&e.ref_path);
	buf_release(&e.log_path);
	buf_release(&e.lock_path);
	return ret < 0 ? ret : 0;
}

/*
 * Removes a reflog unless it is a symbolic link, and then all empty directories
 * above it, including "logs". (If a ref is deleted, its reflog is removed too,
 * but then "logs/refs/heads" is kept.) Returns 0 or a negative error code.
 */
static int drop_log(const struct repo *repo, const char *name,
		    struct error *err)
{
	struct buf path = BUF_INIT;
	int ret = refs_log_path(&path, repo, name) < 0 ? error_nomem(err) : 0;

	if (ret < 0 || !is_editable(path.data))
		goto out;
	ret = reflog_remove(repo, name, err);
	if (ret < 0)
		goto out;
	for (const char *end = name; end; end = strchr(end + 1, '/')) {
		*strrchr(path.data, '/') = '\0';
		if (sys_rmdir(path.data, NULL) <= 0)
			break;
	}
out:
	buf_release(&path);
	return ret;
}

const struct reflog_backend reflog_files_backend = {
	.exists = log_exists,
	.read = read_named,
	.list = reflog_files_list,
	.edit = edit_log,
	.drop = drop_log,
};
