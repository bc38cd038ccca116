/* SPDX-License-Identifier: MIT */
/* Lists and removes loose objects and temporary files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/affix.h"
#include "base/mem.h"
#include "repack/prune-parts.h"
#include "sys/io.h"
#include "sys/tempdir.h"

#define TEMP_PREFIX "tmp_"
#define TEMP_OBJECT_PREFIX "tmp_obj_"

struct listing {
	struct prune_files *files;
	enum hash_algo algo;
	const char *dir;
	/*
	 * The hexadecimal digits of a loose object's id. The first two digits
	 * are the name of the directory, the rest is the name of the file.
	 */
	char hex[OID_MAX_HEX_LEN + 1];
	struct error *err;
};

/*
 * Returns the path "<dir>/<name>", or NULL if there is no memory. The caller
 * frees the path.
 */
static char *join(const char *dir, const char *name)
{
	struct buf path = BUF_INIT;

	if (buf_printf(&path, "%s/%s", dir, name) == 0)
		return buf_detach(&path, NULL);
	buf_release(&path);
	return NULL;
}

static bool is_object(struct listing *l, const char *name, struct oid *oid)
{
	size_t hex_len = hash_hex_len(l->algo);

	if (strlen(name) != hex_len - 2)
		return false;
	memcpy(l->hex + 2, name, hex_len - 2);
	return oid_from_hex(oid, l->hex, hex_len, l->algo);
}

static int list_file(void *ctx, const char *name)
{
	struct listing *l = ctx;
	struct prune_files *files = l->files;
	struct prune_file file = {.path = join(l->dir, name)};
	struct sys_stat st;
	int ret = file.path ? sys_lstat(&st, file.path, l->err)
			    : error_nomem(l->err);

	if (!ret && mem_grow(&files->files, &files->alloc, files->nr + 1,
			     sizeof(*files->files)) < 0)
		ret = error_nomem(l->err);
	if (ret < 0) {
		free(file.path);
		return ret == ERR_MISSING ? 0 : ret;
	}
	file.mtime_ns = st.mtime_ns;
	if (is_object(l, name, &file.oid)) {
		free(file.path);
		file.path = NULL;
		files->object_nr++;
	}
	files->files[files->nr++] = file;
	return 0;
}

int prune_files_list(struct prune_files *files, const struct repo *repo,
		     struct error *err)
{
	struct listing l = {.files = files, .algo = repo->algo, .err = err};
	int ret = 0;

	*files = (struct prune_files){0};
	for (unsigned i = 0; i < 256 && !ret; i++) {
		char *dir;

		snprintf(l.hex, sizeof(l.hex), "%02x", i & 0xff);
		dir = repo_object_path(repo, l.hex);
		l.dir = dir;
		ret = dir ? sys_dir_each(dir, list_file, &l, err)
			  : error_nomem(err);
		if (ret == ERR_MISSING)
			ret = 0;
		free(dir);
	}
	return ret;
}

void prune_files_release(struct prune_files *files)
{
	while (files->nr)
		free(files->files[--files->nr].path);
	free(files->files);
	*files = (struct prune_files){0};
}

int prune_file_stale(const char *path, const struct prune_options *o,
		     struct error *err)
{
	struct sys_stat st;
	int ret = sys_lstat(&st, path, err);

	if (ret < 0)
		return ret == ERR_MISSING ? 0 : ret;
	if (st.mtime_ns / 1000000000 > o->expiry)
		return 0;
	if (o->hooks.stale)
		o->hooks.stale(o->hooks.ctx, path, st.is_dir);
	if (o->dry_run)
		return 0;
	return st.is_dir ? sys_tempdir_remove(path, err)
			 : sys_unlink(path, err);
}

int prune_file_other(const struct prune_file *file,
		     const struct prune_options *options, struct error *err)
{
	const struct prune_hooks *hooks = &options->hooks;

	if (starts_with(strrchr(file->path, '/') + 1, TEMP_OBJECT_PREFIX))
		return prune_file_stale(file->path, options, err);
	if (hooks->strange)
		hooks->strange(hooks->ctx, file->path);
	return 0;
}

struct stale {
	const char *dir;
	/* prefixes of names of temporary files; NULL ends the list */
	const char *const *prefixes;
	const struct prune_options *options;
	struct error *err;
};

static int visit(void *ctx, const char *name)
{
	const struct stale *s = ctx;
	const char *const *prefix = s->prefixes;
	char *path;
	int ret;

	while (*prefix && !starts_with(name, *prefix))
		prefix++;
	if (!*prefix)
		return 0;
	path = join(s->dir, name);
	ret = path ? prune_file_stale(path, s->options, s->err)
		   : error_nomem(s->err);
	free(path);
	return ret;
}

/*
 * Remove temporary files from `dir`, a path below the object directory, if
 * their names start with one of `prefixes`. If `dir` is NULL, remove from the
 * object directory itself. If the directory is missing, nothing is done.
 * Returns 0 or a negative error code.
 */
static int remove_from(const struct repo *repo, const char *dir,
		       const char *const *prefixes,
		       const struct prune_options *options, struct error *err)
{
	char *path = dir ? repo_object_path(repo, dir) : NULL;
	struct stale s = {path ? path : repo->object_dir, prefixes, options,
			  err};
	int ret = path || !dir ? sys_dir_each(s.dir, visit, &s, err)
			       : error_nomem(err);

	free(path);
	return ret == ERR_MISSING ? 0 : ret;
}

int prune_stale(const struct repo *repo, const struct prune_options *options,
		struct error *err)
{
	static const char *const all[] = {TEMP_PREFIX, NULL};
	/*
	 * Stock Git never removes files from objects/info and
	 * objects/info/commit-graphs. So in these directories, remove only the
	 * temporary files of this project, which have the following prefixes.
	 */
	static const char *const ours[] = {"tmp_prepared_", "tmp_info_", NULL};
	static const char *const graphs[] = {"tmp_graph_", NULL};
	int ret = remove_from(repo, NULL, all, options, err);

	if (!ret)
		ret = remove_from(repo, "pack", all, options, err);
	if (!ret)
		ret = remove_from(repo, "info", ours, options, err);
	return ret ? ret
		   : remove_from(repo, "info/commit-graphs", graphs, options,
				 err);
}
