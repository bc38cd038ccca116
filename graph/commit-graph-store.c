/* SPDX-License-Identifier: MIT */
/* Puts a commit-graph file in place. */
#include "graph/commit-graph-store.h"
#include "sys/io.h"
#include "sys/lockfile.h"

#define FILE_MODE 0444

/* Writes, syncs and renames the file. */
static int write_locked(struct sys_tempfile *lock, const char *path,
			const struct buf *bytes, enum sys_fsync_method method,
			struct error *err)
{
	int ret = sys_tempfile_write(lock, bytes->data, bytes->len, err);

	if (!ret)
		ret = sys_tempfile_commit(lock, path, method, err);
	sys_tempfile_abort(lock);
	return ret;
}

int commit_graph_install(const struct repo *repo, const char *dir,
			 const struct buf *bytes, struct error *err)
{
	struct buf info = BUF_INIT, path = BUF_INIT, lock_path = BUF_INIT;
	struct sys_tempfile lock = SYS_TEMPFILE_INIT;
	enum sys_fsync_method method;
	int ret = repo_fsync_method(repo, REPO_FSYNC_COMMIT_GRAPH, &method,
				    err);

	if (!ret && (buf_printf(&info, "%s/info", dir) < 0 ||
		     buf_printf(&path, "%s/commit-graph", info.data) < 0 ||
		     buf_printf(&lock_path, "%s.lock", path.data) < 0))
		ret = error_nomem(err);
	if (!ret)
		ret = sys_mkdir_shared(info.data, repo->share, err);
	if (!ret)
		ret = sys_lockfile_create_mode(&lock, lock_path.data,
					       FILE_MODE | repo->share, 0, err);
	if (!ret)
		ret = write_locked(&lock, path.data, bytes, method, err);
	buf_release(&info);
	buf_release(&path);
	buf_release(&lock_path);
	return ret;
}
