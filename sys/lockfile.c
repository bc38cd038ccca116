/* SPDX-License-Identifier: MIT */
/* Creates lock files, and waits for lock files of other processes. */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "sys/clock.h"
#include "sys/io.h"
#include "sys/lockfile.h"
#include "sys/map.h"
#include "sys/process.h"
#include "sys/share.h"

#define MS UINT64_C(1000000)
#define FIRST_WAIT_NS MS
#define LONGEST_WAIT_NS (64 * MS)
#define SUFFIX ".lock"

/*
 * Returns a random time between 0.5 and 1.5 times `wait_ns`. Different
 * processes that wait for the same lock then retry at different moments.
 */
static uint64_t spread(uint64_t wait_ns)
{
	return wait_ns / 2 + sys_clock_ns() % wait_ns;
}

/*
 * Appends "<x>~pid.lock", the name of the PID file of the lock file "<x>.lock".
 */
static int pid_path(struct buf *out, const char *path)
{
	size_t len = strlen(path), suffix_len = strlen(SUFFIX);

	if (len < suffix_len || strcmp(path + len - suffix_len, SUFFIX) != 0)
		return ERR_INVALID;
	if (buf_append(out, path, len - suffix_len) < 0)
		return ERR_NOMEM;
	return buf_append_str(out, "~pid" SUFFIX);
}

/*
 * Writes the PID file of a lock that this process holds. Ignores errors,
 * because the lock is valid without the file.
 */
static void record_holder(struct sys_tempfile *lock, unsigned mode)
{
	struct sys_tempfile *file = mem_calloc(1, sizeof(*file));
	struct buf path = BUF_INIT, text = BUF_INIT;
	int ret = file && !pid_path(&path, lock->path) &&
				  !buf_printf(&text, "pid %ld\n",
					      sys_process_id())
			  ? 0
			  : ERR_NOMEM;

	/*
	 * A killed process may have left a PID file. This process has the lock
	 * now, so the old PID file is removed.
	 */
	if (!ret)
		ret = sys_unlink(path.data, NULL);
	if (!ret)
		ret = sys_tempfile_create_exact(file, path.data, mode, NULL);
	if (!ret) {
		ret = sys_tempfile_write(file, text.data, text.len, NULL);
		if (!ret)
			ret = sys_tempfile_finish(file, SYS_FSYNC_NONE, NULL);
		if (ret < 0)
			sys_tempfile_abort(file);
	}
	if (ret < 0)
		free(file);
	else
		lock->companion = file;
	buf_release(&path);
	buf_release(&text);
}

enum sys_lockfile_holder sys_lockfile_holder(long *pid, const char *path)
{
	enum sys_lockfile_holder holder = SYS_LOCKFILE_UNKNOWN;
	struct buf name = BUF_INIT, text = BUF_INIT;
	char *end;

	*pid = 0;
	if (!pid_path(&name, path) && !sys_read_file(&text, name.data, NULL) &&
	    text.len && !strncmp(text.data, "pid ", 4)) {
		*pid = strtol(text.data + 4, &end, 10);
		/*
		 * A PID file without a newline may be incomplete, so its number
		 * is not used.
		 */
		if (*pid <= 0 || strcmp(end, "\n") != 0 ||
		    end + 1 != text.data + text.len)
			*pid = 0;
	}
	if (*pid)
		holder = !kill((pid_t)*pid, 0) || errno == EPERM
				 ? SYS_LOCKFILE_RUNNING
				 : SYS_LOCKFILE_GONE;
	buf_release(&name);
	buf_release(&text);
	return holder;
}

int sys_lockfile_describe(struct buf *out, const char *path)
{
	long pid;

	switch (sys_lockfile_holder(&pid, path)) {
	case SYS_LOCKFILE_RUNNING:
		return buf_printf(out,
				  "Process %ld took this lock, and a process "
				  "with that number runs now.\n"
				  "If that process is no git command, remove "
				  "the lock file.",
				  pid);
	case SYS_LOCKFILE_GONE:
		return buf_printf(out,
				  "Process %ld took this lock, and no process "
				  "with that number runs on this host.\n"
				  "Remove the lock file unless another host "
				  "works in this repository.",
				  pid);
	case SYS_LOCKFILE_UNKNOWN:
		break;
	}
	return buf_append_str(out, "Another git process seems to be running in "
				   "this repository, or the lock file may be "
				   "stale");
}

int sys_lockfile_remove(const char *path, struct error *err)
{
	struct buf name = BUF_INIT;
	int ret = pid_path(&name, path);

	if (ret < 0)
		ret = error_set(err, (enum error_code)ret,
				"'%s' is not a lock file", path);
	/*
	 * The PID file is removed last. If the PID file were removed first, a
	 * kill between both steps would leave a lock file without a PID file.
	 */
	else
		ret = sys_unlink(path, err);
	if (!ret)
		ret = sys_unlink(name.data, err);
	buf_release(&name);
	return ret;
}

static int report_held(const char *path, struct error *err)
{
	struct buf text = BUF_INIT;
	int ret = sys_lockfile_describe(&text, path) < 0
			  ? error_nomem(err)
			  : error_set(err, ERR_DENIED,
				      "Unable to create '%s': File exists."
				      "\n\n%s",
				      path, text.data);

	buf_release(&text);
	return ret;
}

int sys_lockfile_create(struct sys_tempfile *lock, const char *path,
			int64_t timeout_ms, struct error *err)
{
	return sys_lockfile_create_mode(lock, path, 0666, timeout_ms, err);
}

int sys_lockfile_create_mode(struct sys_tempfile *lock, const char *path,
			     unsigned mode, int64_t timeout_ms,
			     struct error *err)
{
	struct error io = ERROR_INIT;
	uint64_t wait_ns = FIRST_WAIT_NS;
	uint64_t start = timeout_ms > 0 ? sys_clock_ns() : 0;

	for (;;) {
		if (!sys_tempfile_create_exact(lock, path, mode, &io)) {
			if (mode & SYS_SHARE_PID)
				record_holder(lock, mode);
			return 0;
		}
		if (io.sys_errno != EEXIST || !timeout_ms)
			break;
		if (timeout_ms > 0 &&
		    (sys_clock_ns() - start) / MS >= (uint64_t)timeout_ms)
			break;
		sys_sleep_ns(spread(wait_ns));
		if (wait_ns < LONGEST_WAIT_NS)
			wait_ns *= 2;
	}
	if (io.sys_errno == EEXIST)
		return report_held(path, err);
	if (err)
		*err = io;
	return io.code;
}

int sys_lockfile_follow(struct sys_tempfile *lock, char **target,
			const char *path, unsigned mode, int64_t timeout_ms,
			struct error *err)
{
	struct buf name = BUF_INIT;
	char *file;
	int ret = sys_follow_links(&file, path, err);

	*target = NULL;
	*lock = (struct sys_tempfile)SYS_TEMPFILE_INIT;
	if (!ret && buf_printf(&name, "%s" SUFFIX, file) < 0)
		ret = error_nomem(err);
	if (!ret)
		ret = sys_lockfile_create_mode(lock, name.data, mode,
					       timeout_ms, err);
	if (!ret)
		*target = file;
	else
		free(file);
	buf_release(&name);
	return ret;
}
