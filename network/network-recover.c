/* SPDX-License-Identifier: MIT */
/*
 * Finds and removes the files that a command leaves in the store of a network
 * when it is killed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/affix.h"
#include "base/mem.h"
#include "network/network-repack.h"
#include "pack/pack-name.h"
#include "repack/prune-parts.h"
#include "sys/clock.h"
#include "sys/io.h"
#include "sys/lockfile.h"

/*
 * Age in seconds above which a lock file that records no process is removed as
 * left behind.
 */
#define UNKNOWN_S (60 * 60)

#define NS_PER_S INT64_C(1000000000)

struct recovering {
	struct network *network;
	/* the directory that is being listed */
	const char *dir;
	bool recursive;
	struct error *err;
};

/* ---- locks */

static bool is_left_behind(const char *path, const struct sys_stat *st,
			   long *pid)
{
	switch (sys_lockfile_holder(pid, path)) {
	case SYS_LOCKFILE_GONE:
		return true;
	case SYS_LOCKFILE_RUNNING:
		return false;
	case SYS_LOCKFILE_UNKNOWN:
		break;
	}
	return sys_clock_seconds() - st->mtime_ns / NS_PER_S > UNKNOWN_S;
}

static int check_lock(const struct recovering *r, const char *path,
		      const struct sys_stat *st)
{
	char text[ERROR_MESSAGE_MAX];
	long pid;
	int ret;

	if (!is_left_behind(path, st, &pid))
		return 0;
	ret = sys_lockfile_remove(path, r->err);
	if (!ret && pid)
		snprintf(text, sizeof(text),
			 "removed the lock '%s' of process %ld, which no "
			 "longer runs",
			 path, pid);
	else if (!ret)
		snprintf(text, sizeof(text),
			 "removed the lock '%s', which is older than an hour",
			 path);
	if (!ret)
		network_warn(r->network, text);
	return ret;
}

static int list_locks(struct network *network, const char *dir, bool recursive,
		      struct error *err);

static int visit(void *ctx, const char *name)
{
	const struct recovering *r = ctx;
	struct buf path = BUF_INIT;
	struct sys_stat st;
	int ret = buf_printf(&path, "%s/%s", r->dir, name) < 0
			  ? error_nomem(r->err)
			  : 0;
	bool is_lock = ends_with(name, ".lock") &&
		       !ends_with(name, "~pid.lock");

	if (!ret && (is_lock || r->recursive) &&
	    !sys_lstat(&st, path.data, NULL)) {
		if (st.is_dir && r->recursive)
			ret = list_locks(r->network, path.data, true, r->err);
		else if (!st.is_dir && is_lock)
			ret = check_lock(r, path.data, &st);
	}
	buf_release(&path);
	return ret;
}

static int list_locks(struct network *network, const char *dir, bool recursive,
		      struct error *err)
{
	struct recovering r = {network, dir, recursive, err};
	int ret = sys_dir_each(dir, visit, &r, err);

	return ret == ERR_MISSING ? 0 : ret;
}

static int remove_locks(struct network *network, struct error *err)
{
	static const struct {
		const char *dir;
		bool recursive;
	} places[] = {
		{"refs", true},
		{"logs", true},
		{"reftable", false},
		{"objects", false},
		{"objects/info", false},
		{"objects/info/commit-graphs", false},
		{"objects/pack", false},
		{"objects/pack/multi-pack-index.d", false},
	};
	int ret = list_locks(network, network->store->common_dir, false, err);

	for (size_t i = 0; i < ARRAY_NR(places) && !ret; i++) {
		char *dir = repo_common_path(network->store, places[i].dir);

		ret = dir ? list_locks(network, dir, places[i].recursive, err)
			  : error_nomem(err);
		free(dir);
	}
	return ret;
}

/* ---- packs */

/*
 * Removes a file of a pack that has no .idx. A command gives the .idx its final
 * name last, so the command that wrote the pack was killed before that. Returns
 * 0 or a negative error code.
 */
static int visit_pack(void *ctx, const char *name)
{
	const struct recovering *r = ctx;
	size_t len = pack_name_len(name);
	struct buf path = BUF_INIT, idx = BUF_INIT;
	int ret = 0;

	if (!len || !strcmp(name + len, ".idx"))
		return 0;
	if (buf_printf(&path, "%s/%s", r->dir, name) < 0 ||
	    buf_printf(&idx, "%s/%.*s.idx", r->dir, (int)len, name) < 0)
		ret = error_nomem(r->err);
	else if (!sys_exists(idx.data))
		ret = sys_unlink(path.data, r->err);
	buf_release(&path);
	buf_release(&idx);
	return ret;
}

static int remove_parts(struct network *network, struct error *err)
{
	const struct prune_options now = {.expiry = sys_clock_seconds()};
	char *dir = repo_object_path(network->store, "pack");
	struct recovering r = {network, dir, false, err};
	int ret = dir ? prune_stale(network->store, &now, err)
		      : error_nomem(err);

	if (!ret)
		ret = sys_dir_each(dir, visit_pack, &r, err);
	free(dir);
	return ret == ERR_MISSING ? 0 : ret;
}

int network_recover(struct network *network, struct error *err)
{
	int ret = network_lock_all(network, err);

	/*
	 * If another process holds a lock of the network, do nothing. A later
	 * command will remove the files.
	 */
	if (ret)
		return ret == ERR_DENIED ? 0 : ret;
	ret = remove_locks(network, err);
	if (!ret)
		ret = remove_parts(network, err);
	network_unlock_all(network);
	return ret;
}
