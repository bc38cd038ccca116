/* SPDX-License-Identifier: MIT */
/* Lays out a generation as a bare repository in a directory. */
#include <string.h>

#include "base/affix.h"
#include "base/mem.h"
#include "stored/fetch.h"
#include "stored/layout.h"
#include "stored/offer-list.h"
#include "stored/side.h"
#include "sys/io.h"
#include "sys/thread.h"

static const char stub_head[] = "ref: refs/heads/.invalid\n";
static const char stub_heads[] = "this repository uses the reftable format\n";

bool stored_layout_allows(const char *path)
{
	static const char *const files[] = {
		"config",
		"config.worktree",
		"description",
		"shallow",
		"git-daemon-export-ok",
		"info/attributes",
		"info/grafts",
		"objects/info/commit-graph",
		"objects/info/prepared",
		"objects/info/prepared-wants",
		"objects/info/deltas",
		STORED_OFFER_LIST,
	};
	/*
	 * In these directories, a generation may have files of any name, but no
	 * subdirectories.
	 */
	static const char *const dirs[] = {
		"hooks/",
		"objects/pack/",
		"objects/pack/multi-pack-index.d/",
		"objects/info/commit-graphs/",
		STORED_OFFER_DIR,
		GENERATION_TABLES,
	};
	const char *name = strrchr(path, '/');
	size_t len = name ? (size_t)(++name - path) : 0;

	for (size_t i = 0; i < ARRAY_NR(files); i++)
		if (!strcmp(path, files[i]))
			return true;
	for (size_t i = 0; len && i < ARRAY_NR(dirs); i++)
		if (len == strlen(dirs[i]) && starts_with(path, dirs[i]))
			return *name && *name != '.' &&
			       !ends_with(name, ".lock") &&
			       strcmp(path, "reftable/tables.list") != 0;
	return false;
}

/* ---- the files of the record */

struct putting {
	const char *dir;
	const struct generation *g;
	const struct stored_layout *how;
};

static int put_one(void *ctx, unsigned thread_nr, size_t nr, struct error *err)
{
	const struct putting *p = ctx;
	const struct generation_file *file = &p->g->files[nr];
	char *path;
	int ret;

	(void)thread_nr;
	if (stored_side_is(file->path) || stored_offer_is_remote(file->path))
		return 0;
	path = stored_join(p->dir, file->path, err);
	ret = path ? p->how->put(p->how->ctx, file, path, err) : ERR_NOMEM;
	free(path);
	return ret;
}

/* Makes the directory of a file. */
static int make_parent(const char *dir, const char *file, struct error *err)
{
	char *path = stored_join(dir, file, err);
	int ret;

	if (!path)
		return ERR_NOMEM;
	*strrchr(path, '/') = '\0';
	ret = sys_mkdir_p(path, err);
	free(path);
	return ret;
}

static int put_files(const char *dir, const struct generation *g,
		     const struct stored_layout *how, struct error *err)
{
	struct putting p = {dir, g, how};
	int ret = 0;

	for (size_t i = 0; !ret && i < g->file_nr; i++) {
		if (!stored_layout_allows(g->files[i].path))
			return error_set(err, ERR_CORRUPT,
					 "a generation has the file '%s', "
					 "which is not allowed",
					 g->files[i].path);
		if (stored_offer_is_remote(g->files[i].path))
			continue;
		ret = make_parent(dir, g->files[i].path, err);
	}
	return ret ? ret
		   : sys_parallel(how->threads, g->file_nr, put_one, &p, err);
}

/* ---- the files that are not in the record */

static int put_text(const char *dir, const char *name, const char *text,
		    size_t len, enum sys_fsync_method method, struct error *err)
{
	char *path = stored_join(dir, name, err);
	int ret = path ? sys_tempfile_replace(path, text, len, method, err)
		       : ERR_NOMEM;

	free(path);
	return ret;
}

int stored_layout_frame(const char *dir, enum sys_fsync_method method,
			struct error *err)
{
	static const char *const parts[] = {
		"refs/x",
		"reftable/x",
		"objects/info/x",
		"objects/pack/x",
	};
	int ret = 0;

	for (size_t i = 0; !ret && i < ARRAY_NR(parts); i++)
		ret = make_parent(dir, parts[i], err);
	if (!ret)
		ret = put_text(dir, "HEAD", stub_head, strlen(stub_head),
			       method, err);
	if (!ret)
		ret = put_text(dir, "refs/heads", stub_heads,
			       strlen(stub_heads), method, err);
	return ret;
}

int stored_layout_make(const char *dir, const struct generation *g,
		       const struct stored_layout *how, struct error *err)
{
	int ret = put_files(dir, g, how, err);

	if (!ret)
		ret = stored_layout_frame(dir, how->method, err);
	return ret ? ret : stored_updates_install(dir, g, how->method, 0, err);
}
