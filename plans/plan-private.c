/* SPDX-License-Identifier: MIT */
/*
 * Makes and removes the directory of plans of one server.
 *
 * A directory without the file "owner" is not removed: another server is making
 * it. A directory with this file is removed if nobody holds the lock on the
 * file. The server of the directory has then usually ended. Or this server has
 * just made the file, and has not taken the lock yet. In this case it finds the
 * lock taken or the directory gone, and makes another directory.
 */
#include <stdlib.h>
#include <string.h>

#include "base/affix.h"
#include "base/buf.h"
#include "plans/plan-private.h"
#include "sys/io.h"
#include "sys/process.h"
#include "sys/rangelock.h"
#include "sys/tempdir.h"

#define PREFIX "gitreachd-plans-"

/*
 * Number of attempts to make a directory. An attempt fails if another server
 * removes the new directory before its lock is taken.
 */
#define TRIES 3

/* Opens the lock of a directory. Returns a descriptor or a negative code. */
static int open_lock(const char *dir, bool is_new, struct error *err)
{
	struct buf path = BUF_INIT;
	int ret = buf_printf(&path, "%s/owner", dir);

	if (ret < 0)
		ret = error_nomem(err);
	else if (!is_new && !sys_exists(path.data))
		ret = error_set(err, ERR_MISSING, "there is no '%s'",
				path.data);
	else
		ret = sys_rangelock_open_private(path.data, err);
	buf_release(&path);
	return ret;
}

static void remove_if_left(const char *dir)
{
	struct sys_stat st;
	int lock;

	if (sys_lstat(&st, dir, NULL) < 0 || !st.is_dir || st.uid != sys_euid())
		return;
	lock = open_lock(dir, false, NULL);
	if (lock < 0)
		return;
	if (!sys_rangelock_take_all(lock, NULL))
		sys_tempdir_remove(dir, NULL);
	sys_close(lock);
}

static int visit(void *ctx, const char *name)
{
	struct buf path = BUF_INIT;

	if (starts_with(name, PREFIX) &&
	    !buf_printf(&path, "%s/%s", (const char *)ctx, name))
		remove_if_left(path.data);
	buf_release(&path);
	return 0;
}

/*
 * Makes the directory. A signal that ends this process does not remove the
 * directory. Otherwise a signal to a worker, which is a fork of this process,
 * would remove the directory, too.
 */
static int make(struct plan_private *p, const char *parent, struct error *err)
{
	struct sys_tempdir dir;
	struct buf path = BUF_INIT;
	int ret = sys_tempdir_create(&dir, parent, PREFIX, err);

	if (ret < 0)
		return ret;
	if (buf_append_str(&path, dir.path) < 0) {
		sys_tempdir_release(&dir);
		return error_nomem(err);
	}
	sys_tempdir_keep(&dir);
	p->path = buf_detach(&path, NULL);
	p->pid = sys_process_id();
	return 0;
}

/*
 * Takes the lock of the directory. Returns 0 if the lock was taken, 1 if
 * another server has removed the directory or is removing it, or a negative
 * error code.
 */
static int take(struct plan_private *p, struct error *err)
{
	int ret;

	p->lock = open_lock(p->path, true, err);
	if (p->lock < 0)
		return sys_exists(p->path) ? p->lock : 1;
	ret = sys_rangelock_take(p->lock, 0, false, false, err);
	if (ret < 0 && ret != ERR_DENIED)
		return ret;
	return ret || !sys_exists(p->path);
}

int plan_private_open(struct plan_private *p, const char *parent,
		      struct error *err)
{
	int ret = 1;

	*p = (struct plan_private)PLAN_PRIVATE_INIT;
	sys_dir_each(parent, visit, (void *)parent, NULL);
	for (int i = 0; ret > 0 && i < TRIES; i++) {
		plan_private_close(p);
		ret = make(p, parent, err);
		if (!ret)
			ret = take(p, err);
	}
	if (ret > 0)
		ret = error_set(err, ERR_IO,
				"other processes keep removing the new "
				"directories of plans in '%s'",
				parent);
	if (ret < 0)
		plan_private_close(p);
	return ret;
}

void plan_private_close(struct plan_private *p)
{
	if (p->path && p->pid == sys_process_id())
		sys_tempdir_remove(p->path, NULL);
	sys_close(p->lock);
	free(p->path);
	*p = (struct plan_private)PLAN_PRIVATE_INIT;
}
