/* SPDX-License-Identifier: MIT */
/*
 * Checks refs: calls the checks for the repository's kind of storage. This
 * file contains the checks of refs in files: names, types and contents of
 * files below refs/, and of HEAD and other root refs. Lock files are skipped.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "refs/refs-check.h"
#include "refs/refs-loose.h"
#include "refs/refs.h"
#include "repo/worktree.h"
#include "sys/io.h"
#include "sys/map.h"

/* ---- contents */

/* Returns the length of the text without white space at its end. */
static size_t trimmed_len(const char *text)
{
	size_t len = strlen(text);

	while (len && isspace((unsigned char)text[len - 1]))
		len--;
	return len;
}

/*
 * Checks the target in the file of a symbolic ref: the text after "ref:".
 * Returns 0 or ERR_NOMEM.
 */
static int check_symbolic(struct refs_check *c, const char *name,
			  const char *text, struct error *err)
{
	size_t len, trimmed;
	char *target;
	int ret = 0;

	while (isspace((unsigned char)*text))
		text++;
	len = strlen(text);
	trimmed = trimmed_len(text);
	if (len == trimmed || text[len - 1] != '\n')
		ret = refs_check_complain(c, name, FSCK_REF_MISSING_NEWLINE,
					  err, "misses LF at the end");
	if (!ret && len > trimmed + 1)
		ret = refs_check_complain(c, name, FSCK_TRAILING_REF_CONTENT,
					  err,
					  "has trailing whitespaces or "
					  "newlines");
	if (ret < 0)
		return ret;
	target = mem_strndup(text, trimmed);
	ret = target ? refs_check_target(c, name, target, err)
		     : error_nomem(err);
	free(target);
	return ret;
}

int refs_check_loose(struct refs_check *c, const char *name, const char *bytes,
		     enum hash_algo algo, struct error *err)
{
	size_t len = strlen(bytes), hex_len = hash_hex_len(algo);
	const char *rest = bytes + hex_len;
	struct oid oid;

	if (!strncmp(bytes, "ref:", 4))
		return check_symbolic(c, name, bytes + 4, err);
	if (len < hex_len || !oid_from_hex(&oid, bytes, len, algo) ||
	    (*rest && !isspace((unsigned char)*rest)))
		return refs_check_complain(c, name, FSCK_BAD_REF_CONTENT, err,
					   "%.*s", (int)trimmed_len(bytes),
					   bytes);
	if (!*rest)
		return refs_check_complain(c, name, FSCK_REF_MISSING_NEWLINE,
					   err, "misses LF at the end");
	if (strcmp(rest, "\n") != 0)
		return refs_check_complain(c, name, FSCK_TRAILING_REF_CONTENT,
					   err, "has trailing garbage: '%s'",
					   rest);
	if (oid_is_zero(&oid))
		return refs_check_complain(c, name, FSCK_BAD_REF_OID, err,
					   "points to invalid object ID '%.*s'",
					   (int)hex_len, bytes);
	return 0;
}

/* ---- files */

/* A walk over the refs of one work tree. */
struct walker {
	struct refs_check *c;
	const struct repo *repo;
	/* path of the directory that contains refs/ and HEAD */
	const char *dir;
	/* prefix of the names in reports: "worktrees/<id>/" or "" */
	const char *prefix;
	struct buf path, name; /* of the present file */
	struct error *err;
};

static int check_file(struct walker *w)
{
	struct buf bytes = BUF_INIT;
	int ret = sys_read_file(&bytes, w->path.data, w->err);

	if (!ret)
		ret = refs_check_loose(w->c, w->name.data, bytes.data,
				       w->repo->algo, w->err);
	buf_release(&bytes);
	/*
	 * If the file is missing, another process has packed the ref and
	 * removed the file.
	 */
	return ret == ERR_MISSING ? 0 : ret;
}

/*
 * Sets *out, which is empty, to the absolute path to which the symbolic link at
 * `path` leads. `text` is the stored target of the link. A relative target
 * starts in the link's directory. The file at the target need not exist. If the
 * target's directory exists, symbolic links in the path of the target are
 * resolved. Returns 0 or ERR_NOMEM.
 */
static int resolve_link(struct buf *out, const char *path, const char *text)
{
	const char *slash = strrchr(path, '/');
	char *real, *last;
	int ret = 0;

	if (*text != '/')
		ret = buf_printf(out, "%.*s/", (int)(slash - path), path);
	if (!ret)
		ret = buf_append_str(out, text);
	if (ret < 0)
		return ret;
	real = sys_realpath(out->data, NULL);
	if (real) {
		buf_reset(out);
		ret = buf_append_str(out, real);
	} else {
		last = mem_strdup(strrchr(out->data, '/'));
		buf_set_len(out, out->len - strlen(strrchr(out->data, '/')));
		real = sys_realpath(out->data, NULL);
		if (real)
			buf_reset(out);
		if (!last || (real && buf_append_str(out, real) < 0) ||
		    buf_append_str(out, last) < 0)
			ret = ERR_NOMEM;
		free(last);
	}
	free(real);
	return ret;
}

/*
 * Checks a symbolic link at the path of a ref. Such a link is an old form of a
 * symbolic ref: the target of the link is the path of another ref in the git
 * directory. Returns 0 or a negative error code.
 */
static int check_link(struct walker *w)
{
	struct buf text = BUF_INIT, target = BUF_INIT;
	const char *name = w->name.data;
	char *dir = sys_realpath(w->dir, w->err);
	int ret = dir ? sys_readlink(&text, w->path.data, w->err) : ERR_IO;
	size_t dir_len;

	if (!ret)
		ret = refs_check_complain(w->c, name, FSCK_SYMLINK_REF, w->err,
					  "use deprecated symbolic link for "
					  "symref");
	if (!ret && resolve_link(&target, w->path.data, text.data) < 0)
		ret = error_nomem(w->err);
	if (!ret) {
		dir_len = strlen(dir);
		if (strncmp(target.data, dir, dir_len) != 0 ||
		    target.data[dir_len] != '/')
			dir_len = 0;
		else
			dir_len++;
		ret = refs_check_target(w->c, name, target.data + dir_len,
					w->err);
	}
	free(dir);
	buf_release(&text);
	buf_release(&target);
	return ret;
}

static int check_ref(struct walker *w, const struct sys_stat *st)
{
	const char *name = w->name.data;
	int ret = 0;

	if (w->c->looking)
		w->c->looking(w->c->ctx, name);
	if (!refs_name_is_valid(name))
		ret = refs_check_complain(w->c, name, FSCK_BAD_REF_NAME, w->err,
					  "invalid refname format");
	if (ret < 0)
		return ret;
	return st->is_link ? check_link(w) : check_file(w);
}

static bool is_lock(const char *file)
{
	size_t len = strlen(file);

	return len > 5 && !strcmp(file + len - 5, ".lock");
}

static int entry(void *ctx, const char *file)
{
	struct walker *w = ctx;
	size_t path_len = w->path.len, name_len = w->name.len;
	struct sys_stat st;
	int ret;

	if (buf_printf(&w->path, "/%s", file) < 0 ||
	    buf_printf(&w->name, "/%s", file) < 0)
		return error_nomem(w->err);
	ret = sys_lstat(&st, w->path.data, w->err);
	if (!ret && st.is_dir)
		ret = sys_dir_each(w->path.data, entry, w, w->err);
	else if (!ret && is_lock(file))
		ret = 0;
	else if (!ret && (st.is_file || st.is_link))
		ret = check_ref(w, &st);
	else if (!ret)
		ret = refs_check_complain(w->c, w->name.data,
					  FSCK_BAD_REF_FILETYPE, w->err,
					  "unexpected file type");
	buf_set_len(&w->path, path_len);
	buf_set_len(&w->name, name_len);
	return ret == ERR_MISSING ? 0 : ret;
}

/*
 * Checks a file in the git directory if its name is that of a root ref.
 * Returns 0 or a negative error code.
 */
static int root_entry(void *ctx, const char *file)
{
	struct walker *w = ctx;
	struct sys_stat st;
	int ret;

	if (!refs_name_is_root(file))
		return 0;
	buf_reset(&w->path);
	buf_reset(&w->name);
	if (buf_printf(&w->path, "%s/%s", w->dir, file) < 0 ||
	    buf_printf(&w->name, "%s%s", w->prefix, file) < 0)
		return error_nomem(w->err);
	ret = sys_lstat(&st, w->path.data, w->err);
	if (ret < 0 || !st.is_file)
		return ret == ERR_MISSING ? 0 : ret;
	if (w->c->looking)
		w->c->looking(w->c->ctx, w->name.data);
	return check_file(w);
}

static int check_dir(struct refs_check *c, const struct repo *repo,
		     const char *dir, const char *prefix, struct error *err)
{
	struct walker w = {
		.c = c,
		.repo = repo,
		.dir = dir,
		.prefix = prefix,
		.path = BUF_INIT,
		.name = BUF_INIT,
		.err = err,
	};
	int ret = 0;

	if (c->looking)
		c->looking(c->ctx, "references consistency");
	if (buf_printf(&w.path, "%s/refs", dir) < 0 ||
	    buf_printf(&w.name, "%srefs", prefix) < 0)
		ret = error_nomem(err);
	if (!ret)
		ret = sys_dir_each(w.path.data, entry, &w, err);
	if (!ret || ret == ERR_MISSING)
		ret = sys_dir_each(dir, root_entry, &w, err);
	buf_release(&w.path);
	buf_release(&w.name);
	return ret == ERR_MISSING ? 0 : ret;
}

/* ---- all of them */

static int check_packed(struct refs_check *c, const struct repo *repo,
			const char *path, struct error *err)
{
	struct sys_stat st;
	struct buf at = BUF_INIT, bytes = BUF_INIT;
	int ret = sys_lstat(&st, path, err);

	if (c->looking && !buf_printf(&at, "packed-refs file %s", path))
		c->looking(c->ctx, at.data);
	buf_release(&at);
	if (ret < 0)
		return ret == ERR_MISSING ? 0 : ret;
	if (st.is_link)
		return refs_check_complain(c, "packed-refs",
					   FSCK_BAD_REF_FILETYPE, err,
					   "not a regular file but a symlink");
	if (!st.is_file)
		return refs_check_complain(c, "packed-refs",
					   FSCK_BAD_REF_FILETYPE, err,
					   "not a regular file");
	ret = sys_read_file(&bytes, path, err);
	if (!ret)
		ret = refs_check_packed(c, bytes.data, bytes.len, repo->algo,
					err);
	buf_release(&bytes);
	return ret == ERR_MISSING ? 0 : ret;
}

/* The context of visiting the work trees to check their refs. */
struct files_check {
	struct refs_check *c;
	const struct repo *repo;
	struct error *err;
};

static int check_worktree(void *ctx, const char *id, const char *git_dir)
{
	const struct files_check *k = ctx;
	struct buf prefix = BUF_INIT;
	int ret;

	if (buf_printf(&prefix, "worktrees/%s/", id) < 0)
		ret = error_nomem(k->err);
	else
		ret = check_dir(k->c, k->repo, git_dir, prefix.data, k->err);
	buf_release(&prefix);
	return ret;
}

int refs_check_files(struct refs_check *c, const struct repo *repo,
		     struct error *err)
{
	struct files_check k = {c, repo, err};
	char *packed = repo_refs_common_path(repo, "packed-refs");
	int ret = packed ? check_dir(c, repo, repo_refs_common_dir(repo), "",
				     err)
			 : error_nomem(err);

	if (!ret)
		ret = check_packed(c, repo, packed, err);
	if (!ret)
		ret = worktree_each_refs(repo, check_worktree, &k, err);
	free(packed);
	return ret;
}

int refs_check_run(struct refs_check *c, const struct repo *repo,
		   struct error *err)
{
	return repo->ref_storage == REPO_REFS_REFTABLE
		       ? refs_check_reftable(c, repo, err)
		       : refs_check_files(c, repo, err);
}
