/* SPDX-License-Identifier: MIT */
/*
 * The files backend: visits the objects that must be kept because reflogs,
 * HEADs or per-worktree refs name them.
 *
 * A reflog is a file below logs/, with one line per change:
 *
 *   <old hex> SP <new hex> SP <name> SP <email> SP <seconds> SP <zone> TAB ...
 *
 * Malformed lines are skipped.
 */
#include <errno.h>
#include <string.h>

#include "refs/refs-files.h"
#include "refs/refs-loose.h"
#include "repo/worktree.h"
#include "sys/io.h"
#include "sys/map.h"

/* A walk over directories, and the function that is called for each file. */
struct keeper {
	const struct repo *repo;
	int (*file)(struct keeper *k, const char *path);
	int (*fn)(void *ctx, const struct oid *oid);
	void *ctx;
	const char *dir; /* the present directory */
	struct error *err;
};

static int report(struct keeper *k, const struct oid *oid)
{
	return oid_is_zero(oid) ? 0 : k->fn(k->ctx, oid);
}

static int reflog_line(struct keeper *k, const char *line, size_t len)
{
	size_t hex_len = hash_hex_len(k->repo->algo);
	struct oid from, to;
	int ret;

	if (len < 2 * hex_len + 2 || line[hex_len] != ' ' ||
	    line[2 * hex_len + 1] != ' ')
		return 0;
	if (!oid_from_hex(&from, line, len, k->repo->algo) ||
	    !oid_from_hex(&to, line + hex_len + 1, len - hex_len - 1,
			  k->repo->algo))
		return 0;
	ret = report(k, &from);
	return ret ? ret : report(k, &to);
}

static int reflog_file(struct keeper *k, const char *path)
{
	struct sys_map map;
	const char *p, *end;
	int ret = sys_map_open(&map, path, k->err);

	if (ret < 0)
		return ret == ERR_MISSING ? 0 : ret;
	p = (const char *)map.data;
	end = p + map.len;
	while (!ret && p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		const char *line_end = nl ? nl : end;

		ret = reflog_line(k, p, (size_t)(line_end - p));
		p = nl ? nl + 1 : end;
	}
	sys_map_close(&map);
	return ret;
}

/*
 * Passes the id in the file of a ref to the visitor. A symbolic ref has no id.
 * Its target is another ref, whose id is passed when that ref is visited.
 * Returns 0, the first nonzero result of the visitor, or a negative error
 * code.
 */
static int ref_file(struct keeper *k, const char *path)
{
	struct refs_loose ref;
	int ret = refs_loose_read_file(&ref, path, k->repo->algo, k->err);

	if (ret <= 0)
		return ret;
	ret = ref.kind == REFS_LOOSE_OID ? report(k, &ref.oid) : 0;
	refs_loose_release(&ref);
	return ret;
}

static int walk(struct keeper *k, const char *dir);

static int walk_entry(void *ctx, const char *name)
{
	struct keeper *k = ctx;
	struct buf path = BUF_INIT;
	struct sys_stat st;
	int ret;

	if (buf_printf(&path, "%s/%s", k->dir, name) < 0) {
		ret = error_nomem(k->err);
		goto out;
	}
	ret = sys_stat(&st, path.data, k->err);
	if (ret == ERR_MISSING)
		ret = 0;
	else if (!ret && st.is_dir)
		ret = walk(k, path.data);
	else if (!ret && st.is_file)
		ret = k->file(k, path.data);
out:
	buf_release(&path);
	return ret;
}

/*
 * Calls k->file for each file below `dir`. A missing directory counts as
 * empty. Returns 0 or a negative error code.
 */
static int walk(struct keeper *k, const char *dir)
{
	const char *outer = k->dir;
	int ret;

	k->dir = dir;
	ret = sys_dir_each(dir, walk_entry, k, k->err);
	k->dir = outer;
	return ret == ERR_MISSING ? 0 : ret;
}

/*
 * Calls the callback `file` for each file below "<git_dir>/<name>". Returns 0
 * or a negative error code.
 */
static int keep_below(struct keeper *k, const char *git_dir, const char *name,
		      int (*file)(struct keeper *k, const char *path))
{
	struct buf path = BUF_INIT;
	int ret;

	k->file = file;
	if (buf_printf(&path, "%s/%s", git_dir, name) < 0)
		ret = error_nomem(k->err);
	else
		ret = walk(k, path.data);
	buf_release(&path);
	return ret;
}

/*
 * Visits HEAD, per-worktree refs and reflogs of one git directory. The caller
 * calls this function for all work trees, because refs_each() visits
 * per-worktree refs of one work tree only. Returns 0, the first nonzero result
 * of the visitor, or a negative error code.
 */
static int walk_git_dir(struct keeper *k, const char *git_dir)
{
	struct buf path = BUF_INIT;
	int ret;

	if (buf_printf(&path, "%s/HEAD", git_dir) < 0)
		ret = error_nomem(k->err);
	else
		ret = ref_file(k, path.data);
	buf_release(&path);
	for (size_t i = 0; i < REFS_LOOSE_PRIVATE_NR && !ret; i++)
		ret = keep_below(k, git_dir, refs_loose_private[i], ref_file);
	return ret ? ret : keep_below(k, git_dir, "logs", reflog_file);
}

static int walk_worktree(void *ctx, const char *name, const char *git_dir)
{
	(void)name;
	return walk_git_dir(ctx, git_dir);
}

int refs_files_each_kept(const struct repo *repo,
			 int (*fn)(void *ctx, const struct oid *oid), void *ctx,
			 struct error *err)
{
	struct keeper k = {.repo = repo, .fn = fn, .ctx = ctx, .err = err};
	int ret = walk_git_dir(&k, repo_refs_common_dir(repo));

	return ret ? ret : worktree_each_refs(repo, walk_worktree, &k, err);
}
