/* SPDX-License-Identifier: MIT */
/* Appends lines to the files of reflogs. */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/affix.h"
#include "base/mem.h"
#include "refs/reflog-write.h"
#include "refs/refs-loose.h"
#include "sys/io.h"

#define MAKE_TRIES 3

int reflog_policy(const struct repo *repo, enum reflog_policy *policy,
		  struct error *err)
{
	static const char key[] = "core.logallrefupdates";
	const char *value = config_string(&repo->config, key);
	bool on = !repo->is_bare;
	int ret;

	*policy = REFLOG_ALWAYS;
	if (value && !strcmp(value, "always"))
		return 0;
	ret = config_bool(&repo->config, key, &on, err);
	*policy = on ? REFLOG_USUAL : REFLOG_EXISTING;
	return ret < 0 ? ret : 0;
}

bool reflog_is_made(enum reflog_policy policy, const char *name)
{
	if (policy != REFLOG_USUAL)
		return policy == REFLOG_ALWAYS;
	return starts_with(name, "refs/heads/") ||
	       starts_with(name, "refs/remotes/") ||
	       starts_with(name, "refs/notes/") || !strcmp(name, "HEAD");
}

int reflog_clean_message(struct buf *out, const char *message)
{
	size_t start = out->len;

	while (*message) {
		size_t len = 0;

		while (isspace((unsigned char)*message))
			message++;
		while (message[len] && !isspace((unsigned char)message[len]))
			len++;
		if (!len)
			break;
		if (out->len > start && buf_append_char(out, ' ') < 0)
			return ERR_NOMEM;
		if (buf_append(out, message, len) < 0)
			return ERR_NOMEM;
		message += len;
	}
	return 0;
}

static int format_entry(struct buf *line, const struct reflog_entry *entry,
			enum hash_algo algo)
{
	char from[OID_MAX_HEX_LEN + 1], to[OID_MAX_HEX_LEN + 1];
	bool has_message = entry->message && *entry->message;

	return buf_printf(
		line, "%s %s %s%s%s\n", oid_to_hex(from, &entry->old_oid, algo),
		oid_to_hex(to, &entry->new_oid, algo), entry->committer,
		has_message ? "\t" : "", has_message ? entry->message : "");
}

/*
 * Creates the directory in which a file will be. Returns 0 or a negative error
 * code.
 */
static int make_parent(const char *path, unsigned share, struct error *err)
{
	const char *slash = strrchr(path, '/');
	char *dir = mem_strndup(path, (size_t)(slash - path));
	int ret = dir ? sys_mkdir_shared(dir, share, err) : error_nomem(err);

	free(dir);
	return ret;
}

/*
 * Appends a line to the file of a reflog. Creates the file and its directory
 * if they are missing. Another process may remove the new directory while it
 * is empty, so there are several attempts. Returns 0 or a negative error code.
 */
static int append_making(const char *path, const struct buf *line,
			 unsigned share, struct error *err)
{
	struct error io;

	for (int i = 0; i < MAKE_TRIES; i++) {
		bool fixed;
		int ret;

		io = (struct error)ERROR_INIT;
		ret = sys_append(path, line->data, line->len, 0666 | share,
				 &io);
		if (!ret)
			return 0;
		if (ret == ERR_MISSING)
			fixed = make_parent(path, share, &io) == 0;
		else
			fixed = io.sys_errno == EISDIR &&
				sys_rmdir_empty(path, NULL) > 0;
		if (!fixed)
			break;
	}
	errno = io.sys_errno;
	return error_set_errno(err, "unable to append to '%s'", path);
}

static void stat_log(struct reflog_before *before, const char *path)
{
	struct sys_stat st;

	before->existed = sys_stat(&st, path, NULL) == 0 && !st.is_dir;
	if (before->existed)
		before->len = st.size;
}

/*
 * Removes a partial line that was written before an error. The next line would
 * be appended to a partial line, and so would be lost.
 */
static void restore(const char *path, const char *name,
		    const struct reflog_before *before)
{
	if (before->existed) {
		sys_truncate(path, before->len, NULL);
	} else {
		sys_unlink(path, NULL);
		reflog_prune_dirs(path, name);
	}
}

int reflog_no_committer(const struct reflog_entry *entry, struct error *err)
{
	if (entry->no_committer)
		return error_set(err, ERR_INVALID, "%s", entry->no_committer);
	return error_set(err, ERR_INVALID,
			 "no committer for the reflog of '%s'", entry->name);
}

int reflog_append(const struct repo *repo, const struct reflog_entry *entry,
		  bool make, struct reflog_before *before, struct error *err)
{
	struct buf path = BUF_INIT, line = BUF_INIT;
	int ret = 0;

	*before = (struct reflog_before){0};
	if (refs_log_path(&path, repo, entry->name) < 0) {
		ret = error_nomem(err);
		goto out;
	}
	stat_log(before, path.data);
	if (!make && !before->existed)
		goto out;
	if (!entry->committer) {
		ret = reflog_no_committer(entry, err);
		goto out;
	}
	if (format_entry(&line, entry, repo->algo) < 0) {
		ret = error_nomem(err);
		goto out;
	}
	ret = append_making(path.data, &line, repo->share, err);
	if (ret < 0)
		restore(path.data, entry->name, before);
	before->is_appended = !ret;
out:
	buf_release(&path);
	buf_release(&line);
	return ret;
}

void reflog_take_back(const struct repo *repo, const char *name,
		      const struct reflog_before *before)
{
	struct buf path = BUF_INIT;

	if (before->is_appended && refs_log_path(&path, repo, name) == 0)
		restore(path.data, name, before);
	buf_release(&path);
}

void reflog_prune_dirs(const char *path, const char *name)
{
	size_t len = strlen(path), name_len = strlen(name);
	const char *slash = strchr(name, '/');
	size_t keep;
	char *dir;

	slash = slash ? strchr(slash + 1, '/') : NULL;
	if (!slash || len < name_len || strcmp(path + len - name_len, name))
		return;
	keep = len - name_len + (size_t)(slash - name);
	dir = mem_strdup(path);
	while (dir) {
		char *end = strrchr(dir, '/');

		if (end <= dir + keep)
			break;
		*end = '\0';
		if (sys_rmdir(dir, NULL) <= 0)
			break;
	}
	free(dir);
}

int reflog_remove(const struct repo *repo, const char *name, struct error *err)
{
	struct buf path = BUF_INIT;
	struct error io = ERROR_INIT;
	int ret = refs_log_path(&path, repo, name);

	if (ret < 0) {
		ret = error_nomem(err);
		goto out;
	}
	/*
	 * If there is a directory at this path, it contains reflogs of other
	 * refs, so it stays.
	 */
	ret = sys_unlink(path.data, &io);
	if (io.sys_errno == EISDIR || io.sys_errno == ENOTDIR)
		ret = 0;
	errno = io.sys_errno;
	if (ret < 0)
		ret = error_set_errno(err, "unable to unlink '%s'", path.data);
	else
		reflog_prune_dirs(path.data, name);
out:
	buf_release(&path);
	return ret;
}
