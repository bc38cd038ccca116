/* SPDX-License-Identifier: MIT */
/* The files gc.pid and gc.log. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "builtin/gc-parts.h"
#include "sys/cleanup.h"
#include "sys/clock.h"
#include "sys/io.h"
#include "sys/lockfile.h"
#include "sys/map.h"
#include "sys/process.h"

#define VALID_S (12 * 60 * 60)
#define STALE_LOCK_S 60
#define LOCK_TIMEOUT_MS 1000
#define NS_PER_S INT64_C(1000000000)

static int path_of(struct buf *out, const struct repo *repo, const char *name)
{
	return buf_printf(out, "%s/%s", repo->git_dir, name);
}

/*
 * Returns whether the process that gc.pid names is still running. `text`: the
 * content of gc.pid. Sets *pid and `host` from the text.
 */
static bool is_running(const char *text, long *pid, char host[256])
{
	struct buf ours = BUF_INIT;
	bool is_here;

	if (sscanf(text, "%ld %255s", pid, host) != 2 || *pid <= 0)
		return false;
	is_here = sys_host_name(&ours, NULL) == 0 && !strcmp(ours.data, host);
	buf_release(&ours);
	return !is_here || kill((pid_t)*pid, 0) == 0 || errno == EPERM;
}

/*
 * Look for another gc that runs. Returns 1 if there is one, and sets *other to
 * a text with its host and process id. Returns 0 if there is none, or a
 * negative error code.
 */
static int look_for_other(const char *path, struct buf *other,
			  struct error *err)
{
	struct buf text = BUF_INIT;
	struct sys_stat st;
	char host[256];
	long pid;
	int ret = sys_stat(&st, path, NULL);

	if (ret < 0 || sys_clock_seconds() - st.mtime_ns / NS_PER_S > VALID_S)
		return 0;
	ret = sys_read_file(&text, path, err);
	if (!ret && text.len && is_running(text.data, &pid, host) &&
	    pid != sys_process_id())
		ret = buf_printf(other, "machine '%s' pid %ld", host, pid) < 0
			      ? error_nomem(err)
			      : 1;
	buf_release(&text);
	return ret == ERR_MISSING ? 0 : ret;
}

static int write_pid(struct sys_tempfile *pid, struct sys_tempfile *lock,
		     const char *path, struct error *err)
{
	struct buf text = BUF_INIT;
	struct sys_hold hold;
	int ret = buf_printf(&text, "%ld ", sys_process_id()) < 0
			  ? error_nomem(err)
			  : sys_host_name(&text, err);

	if (!ret)
		ret = sys_tempfile_write(lock, text.data, text.len, err);
	sys_hold_signals(&hold);
	if (!ret)
		ret = sys_tempfile_commit(lock, path, SYS_FSYNC_NONE, err);
	if (!ret)
		ret = sys_tempfile_adopt(pid, path, err);
	sys_release_signals(&hold);
	buf_release(&text);
	return ret;
}

/*
 * Take a lock that processes hold only for a moment. If the lock file is old, a
 * killed process has left it behind, so it is removed.
 */
static int lock_briefly(struct sys_tempfile *lock, const char *path,
			unsigned mode, struct error *err)
{
	struct sys_stat st;
	int ret = sys_lockfile_create_mode(lock, path, mode, LOCK_TIMEOUT_MS,
					   err);

	if (ret != ERR_DENIED || sys_stat(&st, path, NULL) < 0 ||
	    sys_clock_seconds() - st.mtime_ns / NS_PER_S < STALE_LOCK_S)
		return ret;
	sys_lockfile_remove(path, NULL);
	return sys_lockfile_create_mode(lock, path, mode, LOCK_TIMEOUT_MS, err);
}

int gc_lock_take(struct sys_tempfile *pid, const struct repo *repo, bool force,
		 struct buf *other, struct error *err)
{
	struct sys_tempfile lock = SYS_TEMPFILE_INIT;
	struct buf path = BUF_INIT, lock_path = BUF_INIT;
	int ret = 0;

	*pid = (struct sys_tempfile)SYS_TEMPFILE_INIT;
	if (path_of(&path, repo, "gc.pid") < 0 ||
	    path_of(&lock_path, repo, "gc.pid.lock") < 0)
		ret = error_nomem(err);
	/*
	 * Hold the lock while gc.pid is checked, so that only one of two
	 * processes finds gc.pid free.
	 */
	if (!ret)
		ret = lock_briefly(&lock, lock_path.data, 0666 | repo->share,
				   err);
	if (!ret && !force)
		ret = look_for_other(path.data, other, err);
	if (!ret)
		ret = write_pid(pid, &lock, path.data, err);
	sys_tempfile_abort(&lock);
	buf_release(&path);
	buf_release(&lock_path);
	return ret;
}

int gc_log_read(struct buf *text, const struct repo *repo, int64_t expiry,
		struct error *err)
{
	struct buf path = BUF_INIT;
	struct sys_stat st;
	int ret = path_of(&path, repo, "gc.log") < 0
			  ? error_nomem(err)
			  : sys_stat(&st, path.data, err);

	if (!ret && st.mtime_ns / NS_PER_S >= expiry)
		ret = sys_read_file(text, path.data, err);
	buf_release(&path);
	return ret == ERR_MISSING ? 0 : ret < 0 ? ret : text->len > 0;
}

int gc_log_open(struct sys_tempfile *log, const struct repo *repo,
		struct error *err)
{
	struct buf path = BUF_INIT;
	int ret = path_of(&path, repo, "gc.log.lock") < 0
			  ? error_nomem(err)
			  : sys_lockfile_create_mode(
				    log, path.data, 0666 | repo->share, 0, err);

	/*
	 * Remove the old lock on gc.log. The process that took it is not
	 * running any more, because this process holds gc.pid.
	 */
	if (ret == ERR_DENIED) {
		sys_lockfile_remove(path.data, NULL);
		ret = sys_lockfile_create_mode(log, path.data,
					       0666 | repo->share, 0, err);
	}
	buf_release(&path);
	if (!ret && dup2(log->fd, STDERR_FILENO) < 0)
		ret = error_set_errno(err, "cannot write to gc.log");
	return ret;
}

int gc_log_close(struct sys_tempfile *log, const struct repo *repo,
		 struct error *err)
{
	struct buf path = BUF_INIT;
	struct sys_stat st;
	int ret;

	fflush(stderr);
	if (path_of(&path, repo, "gc.log") < 0) {
		ret = error_nomem(err);
	} else {
		ret = sys_stat(&st, log->path, err);
		if (!ret && st.size)
			ret = sys_tempfile_commit(log, path.data,
						  SYS_FSYNC_NONE, err);
	}
	sys_tempfile_abort(log);
	buf_release(&path);
	return ret;
}

void gc_log_remove(const struct repo *repo)
{
	struct buf path = BUF_INIT;

	if (path_of(&path, repo, "gc.log") == 0)
		sys_unlink(path.data, NULL);
	buf_release(&path);
}
