/* SPDX-License-Identifier: MIT */
/* Brings the directory of a local copy to a newer generation. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/affix.h"
#include "base/mem.h"
#include "copies/refresh.h"
#include "stored/cache.h"
#include "stored/fetch.h"
#include "stored/layout.h"
#include "stored/offer-list.h"
#include "stored/side.h"
#include "sys/io.h"
#include "sys/map.h"
#include "sys/tempdir.h"

/*
 * Milliseconds to wait for the lock that another program holds while it changes
 * refs. A lock that is still held after this time was left by a killed process.
 */
#define LOCK_WAIT_MS 1000

/* ---- which files are new */

static bool is_equal(const struct generation_file *a,
		     const struct generation_file *b)
{
	return !memcmp(a->sha256, b->sha256, sizeof(a->sha256)) &&
	       !memcmp(a->upload, b->upload, sizeof(a->upload));
}

/*
 * Returns the file of r->before that has the same path as a file of r->g, or
 * NULL. First compares the path at the same index in r->before, because most
 * files have the same index in both lists.
 */
static const struct generation_file *find_before(
	const struct stored_refresh *r, const struct generation_file *file)
{
	const struct generation *before = r->before;
	size_t nr = (size_t)(file - r->g->files);

	if (!before)
		return NULL;
	if (nr < before->file_nr && !strcmp(before->files[nr].path, file->path))
		return &before->files[nr];
	return generation_find_file(before, file->path);
}

/*
 * Returns 1 if a file of r->g must be put into the directory, 0 if not, or
 * ERR_NOMEM. If r->before has the same file, the file is put there only if the
 * directory lacks it.
 */
static int is_needed(const struct stored_refresh *r,
		     const struct generation_file *file, struct error *err)
{
	const struct generation_file *old = find_before(r, file);
	char *path;
	bool is_there;

	if (stored_offer_is_remote(file->path))
		return 0;
	/*
	 * A bundle contains other files of the generation. These files are put
	 * into the directory; the bundle is not. If r->before has the same
	 * bundle, the directory already has the files of the bundle.
	 */
	if (stored_side_is(file->path))
		return !old || !is_equal(old, file);
	if (!old || !is_equal(old, file))
		return 1;
	path = stored_join(r->dir, file->path, err);
	if (!path)
		return ERR_NOMEM;
	is_there = sys_exists(path);
	free(path);
	return !is_there;
}

/* Sets needed[i] to whether file i of r->g must be put into the directory. */
static int find_needed(bool *needed, const struct stored_refresh *r,
		       struct error *err)
{
	for (size_t i = 0; i < r->g->file_nr; i++) {
		int ret = is_needed(r, &r->g->files[i], err);

		if (ret < 0)
			return ret;
		needed[i] = ret;
	}
	return 0;
}

/* ---- downloading */

int stored_refresh_download_with(const struct stored_refresh *r,
				 int (*also)(void *ctx, struct error *err),
				 void *ctx, struct error *err)
{
	bool *needed = mem_calloc(r->g->file_nr + 1, sizeof(*needed));
	const struct stored_gather gather = {r->cache, r->place, r->g,
					     needed,   also,     ctx};
	int ret = needed ? find_needed(needed, r, err) : error_nomem(err);

	for (size_t i = 0; !ret && i < r->g->file_nr; i++)
		if (!stored_layout_allows(r->g->files[i].path))
			ret = error_set(err, ERR_CORRUPT,
					"a generation has the file '%s', which "
					"is not allowed",
					r->g->files[i].path);
	if (!ret)
		ret = stored_gather(&gather, err);
	free(needed);
	return ret;
}

int stored_refresh_download(const struct stored_refresh *r, struct error *err)
{
	return stored_refresh_download_with(r, NULL, NULL, err);
}

/* ---- links */

/*
 * The order in which files are made, so that no file refers to a missing one.
 * The files "multi-pack-index-chain" and "commit-graph-chain" list the layers
 * of a chain, so they are made after the layers and removed before them.
 */
enum rank {
	RANK_PACK,
	RANK_SIDE,
	RANK_IDX,
	/* layers and bitmaps of multi-pack-indexes */
	RANK_MIDX_PART,
	RANK_MIDX,
	RANK_MIDX_CHAIN,
	RANK_REST,
	RANK_GRAPH_CHAIN,
	RANK_NR,
};

static enum rank rank_of(const char *path)
{
	if (ends_with(path, "/commit-graph-chain"))
		return RANK_GRAPH_CHAIN;
	if (strncmp(path, "objects/pack/", strlen("objects/pack/")) != 0)
		return RANK_REST;
	if (ends_with(path, "/multi-pack-index-chain"))
		return RANK_MIDX_CHAIN;
	if (ends_with(path, "/multi-pack-index"))
		return RANK_MIDX;
	if (strstr(path, "multi-pack-index"))
		return RANK_MIDX_PART;
	if (ends_with(path, ".pack"))
		return RANK_PACK;
	return ends_with(path, ".idx") ? RANK_IDX : RANK_SIDE;
}

/* Returns whether a file is a pack or belongs to one. */
static bool is_of_pack(const char *path)
{
	return rank_of(path) <= RANK_IDX;
}

/*
 * Returns whether a file refers to other files of its directory: a
 * multi-pack-index, or the list of a chain. Such a file must be removed before
 * the others.
 */
static bool goes_first(const char *path)
{
	enum rank rank = rank_of(path);

	return rank == RANK_MIDX || rank == RANK_MIDX_CHAIN ||
	       rank == RANK_GRAPH_CHAIN;
}

static int make_parent(const char *path, struct error *err)
{
	char *dir = mem_strndup(path, (size_t)(strrchr(path, '/') - path));
	int ret = dir ? sys_mkdir_p(dir, err) : error_nomem(err);

	free(dir);
	return ret;
}

/*
 * Makes or replaces a file of the directory. `scratch` is a name that nobody
 * else uses.
 */
static int put_file(const struct stored_refresh *r, const char *scratch,
		    const struct generation_file *file, struct error *err)
{
	char *path = stored_join(r->dir, file->path, err);
	int ret = path ? make_parent(path, err) : ERR_NOMEM;

	if (!ret)
		ret = sys_unlink(scratch, err);
	if (!ret)
		ret = stored_cache_link(r->cache, scratch, r->place, file, err);
	if (!ret)
		ret = sys_rename(scratch, path, err);
	/*
	 * Remove the scratch name if it still exists: rename(2) leaves both
	 * names if they are links to the same file.
	 */
	if (!ret)
		ret = sys_unlink(scratch, err);
	free(path);
	return ret;
}

static int put_files(const struct stored_refresh *r, struct error *err)
{
	bool *needed = mem_calloc(r->g->file_nr + 1, sizeof(*needed));
	char *scratch = stored_join(r->dir, "store-scratch", err);
	int ret = !scratch  ? ERR_NOMEM
		  : !needed ? error_nomem(err)
			    : find_needed(needed, r, err);

	for (int rank = 0; !ret && rank < RANK_NR; rank++)
		for (size_t i = 0; !ret && i < r->g->file_nr; i++)
			if (needed[i] && !stored_side_is(r->g->files[i].path) &&
			    (int)rank_of(r->g->files[i].path) == rank)
				ret = put_file(r, scratch, &r->g->files[i],
					       err);
	free(needed);
	free(scratch);
	return ret;
}

/* ---- removal */

/*
 * One pass over the files in a directory of the copy. Some passes delete files,
 * others only search for a file.
 */
struct visit {
	const struct stored_refresh *r;
	/* the visited directory, with a slash at the end, or "" */
	const char *sub;
	/*
	 * For passes that delete files. A directory has two such passes. true:
	 * the first pass, which deletes only files that must be deleted before
	 * all others: indexes of packs, and files for which goes_first() is
	 * true. false: the second pass, which deletes the rest.
	 */
	bool is_first;
	const char *list;
	/*
	 * owned: the sorted paths of the files of r->g; NULL: memory ran out,
	 * and each search compares all files
	 */
	const char **paths;
	struct error *err;
};

static int cmp_path(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/*
 * Prepares visits of directories: sets v->paths to the sorted paths of the
 * files of r->g, in which is_wanted() searches. If memory runs out, v->paths is
 * NULL, and the searches are slower.
 */
static void visit_begin(struct visit *v)
{
	const struct generation *g = v->r->g;

	v->paths = mem_alloc(g->file_nr, sizeof(*v->paths));
	for (size_t i = 0; v->paths && i < g->file_nr; i++)
		v->paths[i] = g->files[i].path;
	if (v->paths && g->file_nr)
		qsort(v->paths, g->file_nr, sizeof(*v->paths), cmp_path);
}

static void visit_end(struct visit *v)
{
	free(v->paths);
	v->paths = NULL;
}

static bool is_wanted(const struct visit *v, const char *path)
{
	const struct generation *g = v->r->g;

	if (!v->paths)
		return generation_find_file(g, path) != NULL;
	return g->file_nr && bsearch(&path, v->paths, g->file_nr,
				     sizeof(*v->paths), cmp_path);
}

/*
 * Removes a file of the copy. Also removes it from the cache if no other copy
 * has it.
 */
static int remove_path(const struct visit *v, const char *path)
{
	const struct generation *before = v->r->before;
	const struct generation_file *file =
		before ? generation_find_file(before, path) : NULL;
	char *full = stored_join(v->r->dir, path, v->err);
	struct sys_stat st;
	int ret = full ? 0 : ERR_NOMEM;

	/*
	 * Do not remove a directory: "multi-pack-index.d", for example, may
	 * have this path.
	 */
	if (full && (sys_lstat(&st, full, NULL) || !st.is_dir))
		ret = sys_unlink(full, v->err);
	if (!ret && file)
		stored_cache_drop(v->r->cache, file);
	free(full);
	return ret;
}

static int visit_dir(struct visit *v, const char *sub,
		     int (*fn)(void *ctx, const char *name))
{
	char *dir = stored_join(v->r->dir, sub, v->err);
	int ret = dir ? 0 : ERR_NOMEM;

	v->sub = sub;
	if (!ret)
		ret = sys_dir_each(dir, fn, v, v->err);
	free(dir);
	return ret == ERR_MISSING ? 0 : ret;
}

/*
 * Removes a file of the visited directory if two conditions hold: the
 * generation r->g does not have the file, and the path of the file is one that
 * a generation may have (stored_layout_allows()). So files that exist only in
 * local copies, such as lock files, are not removed.
 */
static int remove_other(void *ctx, const char *name)
{
	const struct visit *v = ctx;
	struct buf path = BUF_INIT;
	int ret = 0;

	if (buf_printf(&path, "%s%s", v->sub, name) < 0)
		ret = error_nomem(v->err);
	else if (stored_layout_allows(path.data) && !is_wanted(v, path.data) &&
		 !is_of_pack(path.data) && goes_first(path.data) == v->is_first)
		ret = remove_path(v, path.data);
	buf_release(&path);
	return ret;
}

/*
 * Directories in which remove_others() removes files that r->g does not have,
 * in this order. It does not remove packs, their .idx files, and reftables.
 * stored_refresh_tidy() removes these later, after the multi-pack-indexes that
 * refer to the packs.
 */
static const char *const file_dirs[] = {
	"",
	"hooks/",
	"info/",
	"objects/info/",
	"objects/info/commit-graphs/",
	"objects/pack/",
	"objects/pack/multi-pack-index.d/",
};

/* index in `file_dirs` of the first directory below "objects/" */
#define FIRST_OF_OBJECTS 3

/*
 * Removes the files that r->g lacks from the directories file_dirs[first] and
 * later. In each directory, files that refer to others are removed first.
 */
static int remove_others(const struct stored_refresh *r, size_t first,
			 struct error *err)
{
	struct visit v = {.r = r, .err = err};
	int ret = 0;

	visit_begin(&v);
	for (size_t i = first; !ret && i < ARRAY_NR(file_dirs); i++) {
		v.is_first = true;
		ret = visit_dir(&v, file_dirs[i], remove_other);
		v.is_first = false;
		if (!ret)
			ret = visit_dir(&v, file_dirs[i], remove_other);
	}
	visit_end(&v);
	return ret;
}

int stored_refresh_files(const struct stored_refresh *r, struct error *err)
{
	char *lock = stored_join(r->dir, "reftable/tables.list.lock", err);
	int ret = lock ? put_files(r, err) : ERR_NOMEM;

	if (!ret)
		ret = stored_layout_frame(r->dir, SYS_FSYNC_NONE, err);
	if (!ret)
		ret = stored_updates_install(r->dir, r->g, SYS_FSYNC_NONE,
					     LOCK_WAIT_MS, err);
	/*
	 * ERR_DENIED: the file tables.list.lock exists. A process that changes
	 * the refs of a copy holds the lock CHANGE while this file exists. This
	 * process holds CHANGE now, so no other process is changing refs: a
	 * killed process has left the file behind. Remove it, and try again.
	 */
	if (ret == ERR_DENIED) {
		ret = sys_unlink(lock, err);
		if (!ret)
			ret = stored_updates_install(r->dir, r->g,
						     SYS_FSYNC_NONE, 0, err);
	}
	if (!ret)
		ret = remove_others(r, 0, err);
	free(lock);
	return ret;
}

static int remove_pack(void *ctx, const char *name)
{
	const struct visit *v = ctx;
	struct buf path = BUF_INIT;
	int ret = 0;

	if (buf_printf(&path, "%s%s", v->sub, name) < 0)
		ret = ERR_NOMEM;
	else if (ends_with(name, ".idx") == v->is_first &&
		 rank_of(path.data) != RANK_MIDX && !is_wanted(v, path.data))
		remove_path(v, path.data);
	buf_release(&path);
	return ret;
}

/* Removes packs that r->g lacks, indexes first. */
static void remove_packs(const struct stored_refresh *r)
{
	struct visit v = {.r = r};

	visit_begin(&v);
	for (int i = 0; i < 2; i++) {
		v.is_first = !i;
		visit_dir(&v, "objects/pack/", remove_pack);
	}
	visit_end(&v);
}

/*
 * Removes the reftable `name` if tables.list does not name it. Also removes
 * temporary files.
 */
static int remove_table(void *ctx, const char *name)
{
	const struct visit *v = ctx;
	struct buf path = BUF_INIT, line = BUF_INIT;
	int ret = 0;

	if (buf_printf(&path, "%s%s", v->sub, name) < 0 ||
	    buf_printf(&line, "\n%s\n", name) < 0)
		ret = ERR_NOMEM;
	else if (ends_with(name, ".ref") ? !strstr(v->list, line.data)
					 : !strncmp(name, "tmp_", 4))
		remove_path(v, path.data);
	buf_release(&path);
	buf_release(&line);
	return ret;
}

static void tidy_tables(const struct stored_refresh *r)
{
	char *path = stored_join(r->dir, "reftable/tables.list", NULL);
	struct visit v = {.r = r};
	struct buf list = BUF_INIT;

	if (path && !buf_append_char(&list, '\n') &&
	    !sys_read_file(&list, path, NULL)) {
		v.list = list.data;
		visit_dir(&v, "reftable/", remove_table);
	}
	free(path);
	buf_release(&list);
}

void stored_refresh_tidy(const struct stored_refresh *r)
{
	remove_packs(r);
	tidy_tables(r);
}

/* ---- objects that the generation lacks */

#define ALTERNATES "objects/info/alternates"

/* Returns whether an entry of objects/ is a directory of loose objects. */
static bool is_fanout(const char *name)
{
	return strlen(name) == 2 && isxdigit((unsigned char)name[0]) &&
	       isxdigit((unsigned char)name[1]);
}

/*
 * Returns whether a file below "objects/" may let readers of the copy find
 * objects that are not in r->g, the generation of the copy. There are three
 * kinds of such files:
 * - the list of alternates;
 * - a file of a pack, if r->g does not contain this file;
 * - a file at another path at which a generation is allowed to have a file
 *   (stored_layout_allows()), for example a multi-pack-index, if r->g does not
 *   contain this file.
 */
static bool gives_objects(const struct visit *v, const char *path)
{
	if (!strcmp(path, ALTERNATES))
		return true;
	return !is_wanted(v, path) &&
	       (stored_layout_allows(path) || is_of_pack(path));
}

/*
 * Checks the entry `name` of the visited directory of the copy. Through some
 * entries, readers of the copy may find objects that the generation r->g does
 * not contain. Such an entry is a directory of loose objects, or a file for
 * which gives_objects() is true. Returns 1 for such an entry, which ends the
 * visit; 0 for any other entry; or ERR_NOMEM.
 */
static int find_other(void *ctx, const char *name)
{
	const struct visit *v = ctx;
	struct buf path = BUF_INIT, full = BUF_INIT;
	struct sys_stat st;
	int ret = 0;

	if (!strcmp(v->sub, "objects/"))
		return is_fanout(name);
	if (buf_printf(&path, "%s%s", v->sub, name) < 0 ||
	    buf_printf(&full, "%s/%s", v->r->dir, path.data) < 0)
		ret = error_nomem(v->err);
	else if (gives_objects(v, path.data))
		ret = !sys_lstat(&st, full.data, NULL) && !st.is_dir;
	buf_release(&path);
	buf_release(&full);
	return ret;
}

int stored_refresh_has_others(const struct stored_refresh *r, struct error *err)
{
	struct visit v = {.r = r, .err = err};
	int ret = visit_dir(&v, "objects/", find_other);

	visit_begin(&v);
	for (size_t i = FIRST_OF_OBJECTS; !ret && i < ARRAY_NR(file_dirs); i++)
		ret = visit_dir(&v, file_dirs[i], find_other);
	visit_end(&v);
	return ret;
}

static int remove_fanout(void *ctx, const char *name)
{
	const struct visit *v = ctx;
	struct buf path = BUF_INIT;
	int ret = 0;

	if (!is_fanout(name))
		return 0;
	if (buf_printf(&path, "%s/%s%s", v->r->dir, v->sub, name) < 0)
		ret = error_nomem(v->err);
	else
		ret = sys_tempdir_remove(path.data, v->err);
	buf_release(&path);
	return ret;
}

int stored_refresh_purge(const struct stored_refresh *r, struct error *err)
{
	char *alternates = stored_join(r->dir, ALTERNATES, err);
	struct visit v = {.r = r, .err = err};
	int ret = alternates ? sys_unlink(alternates, err) : ERR_NOMEM;

	if (!ret)
		ret = visit_dir(&v, "objects/", remove_fanout);
	if (!ret)
		ret = remove_others(r, FIRST_OF_OBJECTS, err);
	if (!ret) {
		remove_packs(r);
		ret = stored_refresh_has_others(r, err);
	}
	if (ret > 0)
		ret = error_set(err, ERR_IO,
				"cannot remove foreign objects from '%s'",
				r->dir);
	free(alternates);
	return ret;
}
