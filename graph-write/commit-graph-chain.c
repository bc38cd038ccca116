/* SPDX-License-Identifier: MIT */
/*
 * Writes single commit-graph files and layers, and replaces and cleans up
 * chains.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "graph-write/commit-graph-chain.h"
#include "graph/commit-graph-parts.h"
#include "sys/clock.h"
#include "sys/io.h"
#include "sys/lockfile.h"
#include "sys/map.h"

#define FILE_MODE 0444
/*
 * Maximum number of layers below a layer. The number is stored in one byte of
 * the layer's file.
 */
#define BASES_MAX 255

/* ---- layers to merge */

static bool is_merged(const struct commit_graph_layer *layer, uint64_t nr,
		      const struct commit_graph_split_options *o)
{
	size_t most;

	if (o->max_commits && nr > o->max_commits)
		return true;
	return !mem_mul(&most, o->size_multiple ? o->size_multiple : 2, nr) ||
	       layer->nr <= most;
}

/*
 * Returns whether `graph` is a single file that is not in the object directory
 * `dir_nr`. Such a file cannot become a layer of the chain in `dir_nr`.
 */
static bool is_unfit(const struct commit_graph *graph, size_t dir_nr)
{
	return !graph->is_chain && graph->dir_nrs[0] != dir_nr;
}

size_t commit_graph_layers_kept(const struct commit_graph *graph, size_t dir_nr,
				uint64_t new_nr,
				const struct commit_graph_split_options *o)
{
	size_t kept = graph ? graph->layer_nr : 0;

	if (!graph || o->split == COMMIT_GRAPH_SPLIT_NONE ||
	    o->split == COMMIT_GRAPH_SPLIT_REPLACE || is_unfit(graph, dir_nr))
		return 0;
	while (kept && graph->dir_nrs[kept - 1] == dir_nr) {
		const struct commit_graph_layer *layer =
			&graph->layers[kept - 1];

		if (kept <= BASES_MAX &&
		    (o->split == COMMIT_GRAPH_SPLIT_NO_MERGE ||
		     !is_merged(layer, new_nr, o)))
			break;
		new_nr += layer->nr;
		kept--;
	}
	return kept <= BASES_MAX ? kept : 0;
}

/* ---- names */

static int chain_path(struct buf *out, const struct odb *odb, size_t dir_nr,
		      const char *name)
{
	buf_reset(out);
	return buf_printf(out, "%s/info/commit-graphs%s%s", odb->dirs[dir_nr],
			  *name ? "/" : "", name);
}

static int layer_path(struct buf *out, const struct commit_graph_chain *c,
		      const uint8_t *checksum)
{
	char name[OID_MAX_HEX_LEN + 16], hex[OID_MAX_HEX_LEN + 1];

	oid_raw_to_hex(hex, checksum, c->odb->algo);
	snprintf(name, sizeof(name), "graph-%s.graph", hex);
	return chain_path(out, c->odb, c->dir_nr, name);
}

/* ---- files */

int commit_graph_chain_lock(struct commit_graph_chain_lock *lock,
			    const struct odb *odb, size_t dir_nr, bool create,
			    struct error *err)
{
	struct buf path = BUF_INIT;
	struct sys_stat st;
	int ret = 0;

	if (chain_path(&path, odb, dir_nr, "") < 0)
		ret = error_nomem(err);
	if (!ret && create)
		ret = sys_mkdir_shared(path.data, odb->repo->share, err);
	else if (!ret && sys_stat(&st, path.data, NULL) == ERR_MISSING)
		ret = 1;
	if (!ret && chain_path(&path, odb, dir_nr, "commit-graph-chain") < 0)
		ret = error_nomem(err);
	if (!ret)
		ret = sys_lockfile_follow(&lock->file, &lock->path, path.data,
					  FILE_MODE | odb->repo->share, 0, err);
	buf_release(&path);
	return ret == 1 ? 0 : ret;
}

void commit_graph_chain_unlock(struct commit_graph_chain_lock *lock)
{
	sys_tempfile_abort(&lock->file);
	free(lock->path);
	lock->path = NULL;
}

/*
 * Writes the file of a layer. The file name contains the checksum of the layer.
 */
static int put_layer(const struct commit_graph_chain *c,
		     const uint8_t *checksum, const void *bytes, size_t len,
		     enum sys_fsync_method method, struct error *err)
{
	struct sys_tempfile file = SYS_TEMPFILE_INIT;
	struct buf path = BUF_INIT;
	int ret = chain_path(&path, c->odb, c->dir_nr, "") < 0
			  ? error_nomem(err)
			  : sys_tempfile_create(&file, path.data, "tmp_graph_",
						FILE_MODE | c->odb->repo->share,
						err);

	if (!ret)
		ret = sys_tempfile_write(&file, bytes, len, err);
	if (!ret && layer_path(&path, c, checksum) < 0)
		ret = error_nomem(err);
	if (!ret)
		ret = sys_tempfile_commit(&file, path.data, method, err);
	sys_tempfile_abort(&file);
	buf_release(&path);
	return ret;
}

/* Appends the content of the chain file: one checksum per line. */
static int put_lines(struct buf *out, const struct commit_graph_chain *c)
{
	char hex[OID_MAX_HEX_LEN + 1];

	for (size_t i = 0; i < c->kept; i++)
		if (buf_printf(out, "%s\n",
			       oid_raw_to_hex(hex, c->graph->layers[i].checksum,
					      c->odb->algo)) < 0)
			return ERR_NOMEM;
	return buf_printf(out, "%s\n",
			  oid_to_hex(hex, c->checksum, c->odb->algo));
}

/*
 * Writes the text of the new chain into the lock file of the chain, before the
 * layers are written. So after the layers were written, only a rename is left,
 * which needs no disk space.
 */
static int stage_chain(const struct commit_graph_chain *c,
		       struct commit_graph_chain_lock *lock,
		       enum sys_fsync_method method, struct error *err)
{
	struct buf text = BUF_INIT;
	int ret = put_lines(&text, c) < 0
			  ? error_nomem(err)
			  : sys_tempfile_write(&lock->file, text.data, text.len,
					       err);

	buf_release(&text);
	return ret ? ret : sys_tempfile_finish(&lock->file, method, err);
}

/* ---- cleanup */

struct tidying {
	const struct odb *odb;
	size_t dir_nr;
	/* text of the chain file after the change */
	const char *chain;
	/* text of the chain file before the change */
	const char *old;
	int64_t expiry;
	struct error *err;
};

/*
 * Removes the file of a layer that no chain uses, if its last change is old
 * enough.
 */
static int expire_layer(void *ctx, const char *name)
{
	static const char prefix[] = "graph-", suffix[] = ".graph";
	const struct tidying *t = ctx;
	size_t len = strlen(name), hex_len = hash_hex_len(t->odb->algo);
	char hex[OID_MAX_HEX_LEN + 1];
	struct buf path = BUF_INIT;
	struct sys_stat st;
	int ret = 0;

	if (len != strlen(prefix) + hex_len + strlen(suffix) ||
	    strncmp(name, prefix, strlen(prefix)) != 0 ||
	    strcmp(name + len - strlen(suffix), suffix) != 0)
		return 0;
	memcpy(hex, name + strlen(prefix), hex_len);
	hex[hex_len] = '\0';
	if (strstr(t->chain, hex))
		return 0;
	if (chain_path(&path, t->odb, t->dir_nr, name) < 0)
		return error_nomem(t->err);
	/*
	 * The old chain has this layer, the new one does not. Another process
	 * may have read the old chain, and may be about to open the layer. So
	 * the layer should stay for some time, counted from now: set its
	 * modification time to now. If t->expiry is in the past, the layer is
	 * not removed now. A later run removes it when its modification time is
	 * old enough.
	 */
	if (strstr(t->old, hex))
		ret = sys_set_mtime(path.data, sys_clock_seconds(), t->err);
	if (!ret && !sys_stat(&st, path.data, NULL) &&
	    st.mtime_ns / 1000000000 <= t->expiry)
		ret = sys_unlink(path.data, t->err);
	buf_release(&path);
	return ret;
}

static int expire_layers(struct tidying *t)
{
	struct buf dir = BUF_INIT;
	int ret = chain_path(&dir, t->odb, t->dir_nr, "") < 0
			  ? error_nomem(t->err)
			  : sys_dir_each(dir.data, expire_layer, t, t->err);

	buf_release(&dir);
	return ret == ERR_MISSING ? 0 : ret;
}

static int put_old_lines(struct buf *out, const struct commit_graph *graph)
{
	char hex[OID_MAX_HEX_LEN + 1];

	for (size_t i = 0; graph && i < graph->layer_nr; i++)
		if (buf_printf(out, "%s\n",
			       oid_raw_to_hex(hex, graph->layers[i].checksum,
					      graph->algo)) < 0)
			return ERR_NOMEM;
	return 0;
}

static int single_path(struct buf *out, const struct odb *odb, size_t dir_nr)
{
	return buf_printf(out, "%s/info/commit-graph", odb->dirs[dir_nr]);
}

/*
 * Removes the single commit-graph file that the new chain replaces. `single`:
 * the state of the file when the chain was installed. Another writer may have
 * replaced the file since then, without the lock of the chain. The other
 * writer's file stays. The caller holds the lock, because a writer that holds
 * it may replace the file and then remove the chain.
 */
static int remove_single(const struct commit_graph_chain *c,
			 const struct sys_stat *single, struct error *err)
{
	struct buf path = BUF_INIT;
	struct sys_stat now;
	int ret = single_path(&path, c->odb, c->dir_nr) < 0 ? error_nomem(err)
							    : 0;

	if (!ret && !sys_lstat(&now, path.data, NULL) &&
	    sys_is_same(&now, single) && now.mtime_ns == single->mtime_ns)
		ret = sys_unlink(path.data, err);
	buf_release(&path);
	return ret;
}

/*
 * Cleans up when the new chain *c is in place: removes the single commit-graph
 * file that the chain replaces, and layers that the chain does not use. Takes
 * the lock of the chain again: another writer may be about to commit a chain
 * that names new layers, or to remove the chain.
 *
 * If another process has the lock, or has changed the chain, this writer leaves
 * the files. The next writer of a chain removes them. Until then, readers use
 * the single file and ignore the chain. Returns 0 or a negative error code.
 */
static int tidy_up(const struct commit_graph_chain *c,
		   const struct sys_stat *single, struct error *err)
{
	struct commit_graph_chain_lock lock = COMMIT_GRAPH_CHAIN_LOCK_INIT;
	struct buf chain = BUF_INIT, old = BUF_INIT, now = BUF_INIT;
	struct tidying t = {
		.odb = c->odb,
		.dir_nr = c->dir_nr,
		.expiry = c->expiry,
		.err = err,
	};
	int ret = put_lines(&chain, c);

	if (!ret)
		ret = put_old_lines(&old, c->graph);
	if (ret < 0)
		error_nomem(err);
	if (!ret)
		ret = commit_graph_chain_lock(&lock, c->odb, c->dir_nr, false,
					      err);
	if (lock.file.path && !ret)
		ret = sys_read_file(&now, lock.path, err);
	if (now.len && !strcmp(now.data, chain.data)) {
		t.chain = chain.data;
		t.old = old.data;
		ret = remove_single(c, single, err);
		if (!ret)
			ret = expire_layers(&t);
	}
	commit_graph_chain_unlock(&lock);
	buf_release(&chain);
	buf_release(&old);
	buf_release(&now);
	return ret == ERR_DENIED || ret == ERR_MISSING ? 0 : ret;
}

/* Sets *single to zero if there is no single commit-graph file. */
static int stat_single(struct sys_stat *single,
		       const struct commit_graph_chain *c, struct error *err)
{
	struct buf path = BUF_INIT;
	int ret = single_path(&path, c->odb, c->dir_nr) < 0
			  ? error_nomem(err)
			  : sys_lstat(single, path.data, err);

	if (ret == ERR_MISSING)
		*single = (struct sys_stat){0};
	buf_release(&path);
	return ret == ERR_MISSING ? 0 : ret;
}

int commit_graph_chain_install(const struct commit_graph_chain *c,
			       struct commit_graph_chain_lock *lock,
			       struct error *err)
{
	enum sys_fsync_method method;
	struct sys_stat single;
	int ret = repo_fsync_method(c->odb->repo, REPO_FSYNC_COMMIT_GRAPH,
				    &method, err);

	if (!ret && !lock->file.path)
		ret = commit_graph_chain_lock(lock, c->odb, c->dir_nr, true,
					      err);
	if (!ret)
		ret = stage_chain(c, lock, method, err);
	if (!ret)
		ret = stat_single(&single, c, err);
	/*
	 * A single commit-graph file that stays below the new layer becomes the
	 * lowest layer of the chain.
	 */
	if (!ret && c->kept && !c->graph->is_chain) {
		const struct commit_graph_layer *layer = &c->graph->layers[0];

		ret = put_layer(c, layer->checksum, layer->map.data,
				layer->map.len, method, err);
	}
	if (!ret)
		ret = put_layer(c, c->checksum->bytes, c->bytes->data,
				c->bytes->len, method, err);
	if (!ret)
		ret = sys_tempfile_commit(&lock->file, lock->path, method, err);
	commit_graph_chain_unlock(lock);
	return ret < 0 ? ret : tidy_up(c, &single, err);
}

int commit_graph_chain_remove(const struct commit_graph_chain_lock *lock,
			      const struct odb *odb, size_t dir_nr,
			      int64_t expiry, struct error *err)
{
	struct tidying t = {
		.odb = odb,
		.dir_nr = dir_nr,
		.chain = "",
		.old = "",
		.expiry = expiry,
		.err = err,
	};
	struct buf path = BUF_INIT;
	int ret;

	if (!lock->file.path)
		return 0;
	ret = chain_path(&path, odb, dir_nr, "commit-graph-chain") < 0
		      ? error_nomem(err)
		      : sys_unlink(path.data, err);
	buf_release(&path);
	return ret < 0 ? ret : expire_layers(&t);
}

/* ---- single files */

/* Writes `bytes` to the lock file, syncs it, and renames it to `path`. */
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
	struct buf info = BUF_INIT, path = BUF_INIT;
	char *target = NULL;
	struct sys_tempfile lock = SYS_TEMPFILE_INIT;
	enum sys_fsync_method method;
	int ret = repo_fsync_method(repo, REPO_FSYNC_COMMIT_GRAPH, &method,
				    err);

	if (!ret && (buf_printf(&info, "%s/info", dir) < 0 ||
		     buf_printf(&path, "%s/commit-graph", info.data) < 0))
		ret = error_nomem(err);
	if (!ret)
		ret = sys_mkdir_shared(info.data, repo->share, err);
	if (!ret)
		ret = sys_lockfile_follow(&lock, &target, path.data,
					  FILE_MODE | repo->share, 0, err);
	if (!ret)
		ret = write_locked(&lock, target, bytes, method, err);
	buf_release(&info);
	buf_release(&path);
	free(target);
	return ret;
}
