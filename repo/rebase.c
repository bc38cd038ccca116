/* SPDX-License-Identifier: MIT */
/* Reads the files of stopped rebases. */
#include "base/buf.h"
#include "base/mem.h"
#include "repo/rebase.h"
#include "repo/worktree.h"
#include "sys/map.h"

static const char *const files[] = {
	"rebase-merge/orig-head",
	"rebase-merge/autostash",
	"rebase-apply/orig-head",
	"rebase-apply/autostash",
};

struct visit {
	int (*fn)(void *ctx, const struct oid *oid);
	void *ctx;
	enum hash_algo algo;
	struct error *err;
};

static int visit_file(const struct visit *v, const char *path)
{
	size_t hex_len = hash_hex_len(v->algo);
	struct buf text = BUF_INIT;
	struct oid oid;
	int ret = sys_read_file(&text, path, v->err);

	if (!ret && text.len >= hex_len &&
	    oid_from_hex(&oid, text.data, hex_len, v->algo))
		ret = v->fn(v->ctx, &oid);
	else if (ret == ERR_MISSING)
		ret = 0;
	buf_release(&text);
	return ret;
}

static int visit_worktree(void *ctx, const char *name, const char *git_dir)
{
	const struct visit *v = ctx;
	int ret = 0;

	(void)name;
	for (size_t i = 0; i < ARRAY_NR(files) && !ret; i++) {
		struct buf path = BUF_INIT;

		if (buf_printf(&path, "%s/%s", git_dir, files[i]) < 0)
			ret = error_nomem(v->err);
		else
			ret = visit_file(v, path.data);
		buf_release(&path);
	}
	return ret;
}

int rebase_each_oid(const struct repo *repo,
		    int (*fn)(void *ctx, const struct oid *oid), void *ctx,
		    struct error *err)
{
	struct visit v = {fn, ctx, repo->algo, err};
	int ret = visit_worktree(&v, "", repo->common_dir);

	return ret ? ret : worktree_each(repo, visit_worktree, &v, err);
}
