/* SPDX-License-Identifier: MIT */
/*
 * Links or copies files of a source repository into a stage: a temporary
 * repository with the files of a new generation.
 */
#include <string.h>

#include "base/mem.h"
#include "graph/commit-graph.h"
#include "odb/odb.h"
#include "pack/pack-name.h"
#include "stored/fetch.h"
#include "stored/stage.h"
#include "sys/io.h"
#include "sys/map.h"

/* The state of linking or copying the files of one directory. */
struct linking {
	/* borrowed: the directory of the source, and that of the stage */
	const char *from, *to;
	/*
	 * true: programs replace these files and never write to them, so hard
	 * links to them are safe
	 */
	bool are_replaced;
	/*
	 * Returns whether the new directory gets the file (as a link or a
	 * copy). NULL: it gets all files.
	 */
	bool (*wants)(const char *from, const char *name);
	struct error *err;
};

static bool has_ending(const char *name, const char *const *endings)
{
	const char *dot = strrchr(name, '.');

	for (; dot && *endings; endings++)
		if (!strcmp(dot + 1, *endings))
			return true;
	return false;
}

/* endings of files whose content never changes under one name */
static const char *const fixed_endings[] = {"pack",   "idx",    "rev",
					    "bitmap", "mtimes", NULL};

static int copy_file(const char *from, const char *to, struct error *err)
{
	struct sys_map map;
	int ret = sys_map_open(&map, from, err);

	if (ret)
		return ret;
	ret = sys_tempfile_replace(to, map.data, map.len, SYS_FSYNC_NONE, err);
	sys_map_close(&map);
	return ret;
}

/*
 * Makes a hard link to the file `from`. If this is impossible, and the content
 * of this file never changes (as for a pack), makes a symlink to it. A symlink
 * to any other file would show later changes. Returns 0, 1 if the file must be
 * copied, or a negative error code.
 */
static int link_file(const char *from, const char *to, struct error *err)
{
	/*
	 * Link to the file at the end of all symlinks. A hard link to a symlink
	 * would be a symlink, and its relative path could be wrong.
	 */
	char *real = sys_realpath(from, err);
	int ret = real ? sys_link(real, to, err) : error_recorded(err, ERR_IO);

	/*
	 * If ret is 1, no hard link is possible: the target is on another file
	 * system, or the system forbids hard links to files of other users.
	 */
	if (ret > 0 && has_ending(from, fixed_endings))
		ret = sys_symlink(real, to, err);
	free(real);
	return ret;
}

/* Links or copies a file, if it exists. Returns 0 or a negative error code. */
static int take_file(const struct linking *l, const char *from, const char *to)
{
	struct sys_stat st;
	int ret = sys_stat(&st, from, l->err);

	if (ret == ERR_MISSING || (!ret && !st.is_file))
		return 0;
	if (!ret)
		ret = l->are_replaced ? link_file(from, to, l->err) : 1;
	if (ret > 0)
		ret = copy_file(from, to, l->err);
	/*
	 * If the file does not exist any more, this is no error: it was
	 * deleted, for example with a pack that a repack replaced.
	 */
	return ret && !sys_exists(from) ? 0 : ret;
}

static int take_one(void *ctx, const char *name)
{
	const struct linking *l = ctx;
	char *from, *to;
	int ret = ERR_NOMEM;

	if (*name == '.' || (l->wants && !l->wants(l->from, name)))
		return 0;
	from = stored_join(l->from, name, l->err);
	to = from ? stored_join(l->to, name, l->err) : NULL;
	if (to)
		ret = take_file(l, from, to);
	free(from);
	free(to);
	return ret;
}

/*
 * A directory of the source. The stage gets the files for which `wants` returns
 * true, in the directory `to`. `from` is relative to `top`, and `to` is
 * relative to the stage. `are_replaced`: see struct linking.
 */
struct source_dir {
	const char *top, *to, *from;
	bool are_replaced;
	bool (*wants)(const char *from, const char *name);
};

/* Links or copies the files of a directory. The directory may be missing. */
static int take_dir(const char *to_top, const struct source_dir *d,
		    struct error *err)
{
	char *from = stored_join(d->top, d->from, err);
	char *to = from ? stored_join(to_top, d->to, err) : NULL;
	struct linking l = {from, to, d->are_replaced, d->wants, err};
	int ret = ERR_NOMEM;

	if (to && !sys_exists(from))
		ret = 0;
	else if (to)
		ret = sys_mkdir_p(to, err);
	if (to && !ret && sys_exists(from))
		ret = sys_dir_each(from, take_one, &l, err);
	free(from);
	free(to);
	return ret;
}

/* ---- which files */

/*
 * Returns whether a stage gets this file of objects/pack. A stage gets no .keep
 * and .promisor files, because they are not part of the content. A .keep file
 * belongs to a running push or is a setting for repacks of the source. A
 * .promisor file belongs to a partial clone. Temporary files have other
 * endings, so a stage does not get them.
 */
static bool wants_pack_file(const char *from, const char *name)
{
	(void)from;
	return !strcmp(name, "multi-pack-index") ||
	       ((pack_name_len(name) ||
		 !strncmp(name, "multi-pack-index-", 17)) &&
		has_ending(name, fixed_endings));
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

/*
 * Returns whether a file of objects/info belongs to the packs, so that a stage
 * gets it.
 */
static bool wants_info(const char *from, const char *name)
{
	(void)from;
	return !strcmp(name, "commit-graph") || !strcmp(name, "prepared") ||
	       !strcmp(name, "prepared-wants") || !strcmp(name, "deltas");
}

/*
 * Returns whether the stage (the new temporary repository) gets a copy of this
 * file from the git directory of the source. Only these files are copied
 * unchanged from the top of the git directory. Other functions write the HEAD
 * and the config of the stage. All other files at the top are left out.
 */
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

int stored_stage_take(const char *dir, const struct repo *source,
		      struct error *err)
{
	const char *objects = source->object_dir, *common = source->common_dir;
	const struct source_dir dirs[] = {
		{objects, "objects/pack", "pack", true, wants_pack_file},
		{objects, "objects/pack/multi-pack-index.d",
		 "pack/multi-pack-index.d", true, NULL},
		{objects, "objects/info", "info", true, wants_info},
		{objects, "objects/info/commit-graphs", "info/commit-graphs",
		 true, NULL},
		{common, "hooks", "hooks", false, wants_hook},
		{common, "info", "info", false, wants_attributes},
		{common, ".", ".", false, wants_top},
	};
	int ret = 0;

	for (size_t i = 0; !ret && i < ARRAY_NR(dirs); i++)
		ret = take_dir(dir, &dirs[i], err);
	return ret;
}

/* ---- files that refer to objects or packs outside of the stage */

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

/*
 * Returns 1 if all commits of the commit-graph are in packs. Returns 0 if not,
 * or if the graph cannot be opened.
 */
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
