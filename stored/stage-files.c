/* SPDX-License-Identifier: MIT */
/* The files of a stage that are those of the source. */
#include <string.h>

#include "base/mem.h"
#include "graph/commit-graph.h"
#include "odb/odb.h"
#include "stored/fetch.h"
#include "stored/stage.h"
#include "sys/io.h"

/* A directory of the source whose files are linked. */
struct linking {
	const char *from, *to; /* the directories; borrowed */
	/* returns whether to link a file; NULL: all */
	bool (*wants)(const char *from, const char *name);
	struct error *err;
};

/*
 * Returns 0, also if there is no such file, or a negative error code. A file
 * that vanishes now belongs to a pack that is being replaced.
 */
static int link_file(const char *from, const char *to, struct error *err)
{
	struct sys_stat st;
	char *real;
	int ret = sys_stat(&st, from, err);

	if (ret == ERR_MISSING || (!ret && !st.is_file))
		return 0;
	if (ret)
		return ret;
	/* The link of a symlink would be a symlink with a relative path. */
	real = sys_realpath(from, err);
	if (!real)
		return error_recorded(err, ERR_IO);
	ret = sys_link(real, to, err);
	/* Links to files of another user may be forbidden, too. */
	if (ret)
		ret = sys_symlink(real, to, err);
	free(real);
	return ret;
}

static int link_one(void *ctx, const char *name)
{
	const struct linking *l = ctx;
	char *from, *to;
	int ret = ERR_NOMEM;

	if (*name == '.' || (l->wants && !l->wants(l->from, name)))
		return 0;
	from = stored_join(l->from, name, l->err);
	to = from ? stored_join(l->to, name, l->err) : NULL;
	if (to)
		ret = link_file(from, to, l->err);
	free(from);
	free(to);
	return ret;
}

/* Links the files of the directory `name`, which may be missing. */
static int link_dir(const char *to_top, const char *from_top,
		    const char *to_name, const char *from_name,
		    bool (*wants)(const char *from, const char *name),
		    struct error *err)
{
	char *from = stored_join(from_top, from_name, err);
	char *to = from ? stored_join(to_top, to_name, err) : NULL;
	struct linking l = {from, to, wants, err};
	int ret = ERR_NOMEM;

	if (to && !sys_exists(from))
		ret = 0;
	else if (to)
		ret = sys_mkdir_p(to, err);
	if (to && !ret && sys_exists(from))
		ret = sys_dir_each(from, link_one, &l, err);
	free(from);
	free(to);
	return ret;
}

/* ---- which files */

static bool has_ending(const char *name, const char *const *endings)
{
	const char *dot = strrchr(name, '.');

	for (; dot && *endings; endings++)
		if (!strcmp(dot + 1, *endings))
			return true;
	return false;
}

/*
 * Temporary files have other endings. A .keep file stands for a running push or
 * for a wish of the operator about repacks of the source, and a .promisor file
 * for a partial clone. Neither belongs to the content.
 */
static bool wants_pack_file(const char *from, const char *name)
{
	static const char *const endings[] = {"pack",   "idx",    "rev",
					      "bitmap", "mtimes", NULL};

	(void)from;
	return !strcmp(name, "multi-pack-index") ||
	       ((!strncmp(name, "pack-", 5) ||
		 !strncmp(name, "multi-pack-index-", 17)) &&
		has_ending(name, endings));
}

static bool wants_hook(const char *from, const char *name)
{
	static const char *const endings[] = {"sample", NULL};
	char *path = stored_join(from, name, NULL);
	struct sys_stat st;
	bool is_run = path && !sys_stat(&st, path, NULL) && st.is_file &&
		      (st.mode & 0111);

	free(path);
	return is_run && !has_ending(name, endings);
}

/* Files of objects/info that belong to the packs. */
static bool wants_info(const char *from, const char *name)
{
	(void)from;
	return !strcmp(name, "commit-graph") || !strcmp(name, "prepared") ||
	       !strcmp(name, "prepared-wants") || !strcmp(name, "deltas");
}

/* Files that the operator of the repository has made. */
static bool wants_top(const char *from, const char *name)
{
	(void)from;
	return !strcmp(name, "description") || !strcmp(name, "shallow") ||
	       !strcmp(name, "config.worktree") ||
	       !strcmp(name, "git-daemon-export-ok");
}

static bool wants_attributes(const char *from, const char *name)
{
	(void)from;
	return !strcmp(name, "attributes") || !strcmp(name, "grafts");
}

int stored_stage_link(const char *dir, const struct repo *source,
		      struct error *err)
{
	const struct {
		const char *top, *to, *from;
		bool (*wants)(const char *from, const char *name);
	} dirs[] = {
		{source->object_dir, "objects/pack", "pack", wants_pack_file},
		{source->object_dir, "objects/pack/multi-pack-index.d",
		 "pack/multi-pack-index.d", NULL},
		{source->object_dir, "objects/info", "info", wants_info},
		{source->object_dir, "objects/info/commit-graphs",
		 "info/commit-graphs", NULL},
		{source->common_dir, "hooks", "hooks", wants_hook},
		{source->common_dir, "info", "info", wants_attributes},
		{source->common_dir, ".", ".", wants_top},
	};
	int ret = 0;

	for (size_t i = 0; !ret && i < ARRAY_NR(dirs); i++)
		ret = link_dir(dir, dirs[i].top, dirs[i].to, dirs[i].from,
			       dirs[i].wants, err);
	return ret;
}

/* ---- files that refer to what is not here */

static int remove_from(const char *dir, const char *const *names,
		       struct error *err)
{
	int ret = 0;

	for (; !ret && *names; names++) {
		char *path = stored_join(dir, *names, err);

		ret = path ? sys_tempdir_remove(path, err) : ERR_NOMEM;
		free(path);
	}
	return ret;
}

struct bitmaps {
	const char *dir;
	struct error *err;
};

static int remove_midx_bitmap(void *ctx, const char *name)
{
	const struct bitmaps *b = ctx;
	const char *const names[] = {name, NULL};

	return !strncmp(name, "multi-pack-index-", 17)
		       ? remove_from(b->dir, names, b->err)
		       : 0;
}

static int drop_midx(const struct repo *repo, struct error *err)
{
	static const char *const names[] = {"multi-pack-index",
					    "multi-pack-index.d", NULL};
	char *dir = repo_object_path(repo, "pack");
	struct bitmaps b = {dir, err};
	int ret = dir ? remove_from(dir, names, err) : error_nomem(err);

	if (!ret)
		ret = sys_dir_each(dir, remove_midx_bitmap, &b, err);
	free(dir);
	return ret;
}

/* Returns 1 if all commits of the commit-graph are in packs, 0 if not. */
static int is_graph_whole(const struct odb *odb)
{
	struct commit_graph *graph = NULL;
	struct error why = ERROR_INIT;
	uint32_t nr, odb_pos;
	int ret = commit_graph_open(&graph, odb, &why);

	if (ret <= 0)
		return 0;
	nr = commit_graph_nr(graph);
	for (uint32_t i = 0; i < nr && ret; i++)
		ret = odb_find_raw(odb, commit_graph_oid_raw(graph, i),
				   &odb_pos);
	commit_graph_close(graph);
	return ret;
}

static int drop_graph(const struct repo *repo, struct error *err)
{
	static const char *const names[] = {"commit-graph", "commit-graphs",
					    NULL};
	char *dir = repo_object_path(repo, "info");
	int ret = dir ? remove_from(dir, names, err) : error_nomem(err);

	free(dir);
	return ret;
}

int stored_stage_drop_strays(const struct repo *repo, struct error *err)
{
	struct error warning = ERROR_INIT;
	struct odb *odb = NULL;
	int ret = odb_open(&odb, repo, &warning, err);

	if (!ret && warning.code && !odb->warns_of_midx) {
		ret = warning.code;
		if (err)
			*err = warning;
	}
	if (!ret && odb->warns_of_midx)
		ret = drop_midx(repo, err);
	if (!ret && !is_graph_whole(odb))
		ret = drop_graph(repo, err);
	odb_close(odb);
	return ret;
}
