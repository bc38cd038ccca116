/* SPDX-License-Identifier: MIT */
/* Keeps the cache directory of a node within a budget. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "copies/copy.h"
#include "copies/trim.h"
#include "generations/names.h"
#include "repo/repo.h"
#include "stored/fetch.h"
#include "stored/successor.h"
#include "sys/clock.h"
#include "sys/io.h"
#include "sys/map.h"
#include "sys/rangelock.h"
#include "sys/tempdir.h"

/* A copy that may be removed. */
struct candidate {
	/*
	 * Owned: the directory of the copy, as a path relative to <dir>/repo/.
	 * It is the path of the repository followed by "/_" (copies/node.h).
	 */
	char *path;
	int64_t used_ns; /* time of the last use */
	/* bytes in the quarantines of running pushes into this copy */
	uint64_t pushed;
};

struct trim {
	struct stored_node *node;
	struct buf repo;          /* "<dir>/repo" */
	struct candidate *copies; /* owned */
	size_t nr, alloc;
	/*
	 * owned: stack of directories below <dir>/repo/ that are not listed yet
	 */
	char **dirs;
	size_t dir_nr, dir_alloc;
	/* the directory below <dir>/repo/ whose entries are being visited */
	const char *at;
};

static void trim_release(struct trim *t)
{
	for (size_t i = 0; i < t->nr; i++)
		free(t->copies[i].path);
	for (size_t i = 0; i < t->dir_nr; i++)
		free(t->dirs[i]);
	free(t->copies);
	free(t->dirs);
	buf_release(&t->repo);
}

/* ---- finding copies */

static int add_copy(struct trim *t, char *path)
{
	struct buf used = BUF_INIT;
	struct sys_stat st;
	int ret = mem_grow(&t->copies, &t->alloc, t->nr + 1,
			   sizeof(*t->copies));

	if (!ret)
		ret = buf_printf(&used, "%s/%s/%s", t->repo.data, path,
				 STORED_COPY_USED);
	if (ret < 0)
		free(path);
	else
		t->copies[t->nr++] = (struct candidate){
			path,
			sys_stat(&st, used.data, NULL) ? 0 : st.mtime_ns,
			0,
		};
	buf_release(&used);
	return ret;
}

static int add_entry(void *ctx, const char *name)
{
	struct trim *t = ctx;
	struct buf path = BUF_INIT;

	if (*name == '.')
		return 0;
	if (buf_printf(&path, "%s%s%s", t->at, *t->at ? "/" : "", name) < 0 ||
	    mem_grow(&t->dirs, &t->dir_alloc, t->dir_nr + 1, sizeof(*t->dirs)) <
		    0) {
		buf_release(&path);
		return ERR_NOMEM;
	}
	if (!strcmp(name, "_"))
		return add_copy(t, buf_detach(&path, NULL));
	t->dirs[t->dir_nr++] = buf_detach(&path, NULL);
	return 0;
}

/*
 * Lists the directory `dir` below t->repo. If another process removes the
 * directory meanwhile, this is no error.
 */
static int list_dir(struct trim *t, const char *dir, struct error *err)
{
	struct buf full = BUF_INIT;
	int ret = buf_printf(&full, "%s/%s", t->repo.data, dir);

	t->at = dir;
	ret = ret < 0 ? error_nomem(err)
		      : sys_dir_each(full.data, add_entry, t, err);
	buf_release(&full);
	return ret == ERR_MISSING ? 0 : ret;
}

static int find_copies(struct trim *t, struct error *err)
{
	int ret = list_dir(t, "", err);

	while (!ret && t->dir_nr) {
		char *dir = t->dirs[--t->dir_nr];

		ret = list_dir(t, dir, err);
		free(dir);
	}
	return ret;
}

static int cmp_used(const void *a, const void *b)
{
	const struct candidate *ca = a, *cb = b;

	return ca->used_ns < cb->used_ns ? -1 : ca->used_ns > cb->used_ns;
}

/* ---- removal of one copy */

/* Reads the marker. If it is missing or damaged, *m is empty. */
static void read_marker(struct stored_marker *m, const char *dir)
{
	char *path = stored_join(dir, REPO_COPY_MARKER, NULL);
	struct buf text = BUF_INIT;

	*m = (struct stored_marker){0};
	if (path && !sys_read_file(&text, path, NULL))
		stored_marker_parse(m, text.data, text.len, NULL);
	free(path);
	buf_release(&text);
}

static void remove_empty_parents(const struct trim *t, char *dir)
{
	char *slash;

	while ((slash = strrchr(dir, '/')) && slash > dir + t->repo.len) {
		*slash = '\0';
		if (sys_rmdir(dir, NULL) != 1)
			return;
	}
}

/*
 * Removes a copy that nobody uses: moves it to tmp/, and then deletes it.
 * Returns 1 if the copy was removed, with its marker in *m; 0 if it is in use;
 * or a negative error code.
 */
static int remove_copy(struct trim *t, struct stored_marker *m, char *dir,
		       const char *name, struct error *err)
{
	struct sys_tempdir td = SYS_TEMPDIR_INIT;
	char *tmp = stored_join(t->node->dir, "tmp", err), *old = NULL;
	int locks = tmp ? stored_node_locks(t->node, err) : ERR_NOMEM;
	int ret = locks < 0 ? locks : sys_mkdir_p(tmp, err);

	if (!ret)
		ret = sys_rangelock_take(locks, stored_node_use_lock(name),
					 false, false, err);
	if (!ret)
		ret = sys_tempdir_create(&td, tmp, "evict_", err);
	if (!ret) {
		read_marker(m, dir);
		old = stored_join(td.path, "old", err);
		ret = old ? sys_rename(dir, old, err) : ERR_NOMEM;
	}
	sys_close(locks);
	if (!ret) {
		remove_empty_parents(t, dir);
		ret = sys_tempdir_drop(&td, err);
	}
	sys_tempdir_release(&td);
	free(old);
	free(tmp);
	return ret == ERR_DENIED ? 0 : ret ? ret : 1;
}

/*
 * Subtracts removed bytes from out->bytes. The result is at least 0: the sum
 * was computed earlier, and does not include files that came later.
 */
static void lower(struct stored_trim *out, uint64_t bytes)
{
	out->bytes -= bytes < out->bytes ? bytes : out->bytes;
}

/*
 * Evicts a copy, and subtracts the bytes of the removed files from out->bytes.
 */
static int evict(struct trim *t, struct stored_trim *out,
		 const struct candidate *c, struct error *err)
{
	struct buf dir = BUF_INIT, hint = BUF_INIT, name = BUF_INIT;
	struct stored_marker m = {0};
	int ret = buf_printf(&dir, "%s/%s", t->repo.data, c->path);

	ret |= buf_printf(&hint, "hint/%s", c->path);
	ret = ret < 0 ? error_nomem(err)
		      : generation_hint_repository(&name, hint.data, err);
	/*
	 * If `ret` is 1, no store can have a repository of this name. So the
	 * directory is not a copy, and is not removed.
	 */
	if (ret > 0)
		ret = 0;
	else if (!ret)
		ret = remove_copy(t, &m, dir.data, name.data, err);
	if (ret > 0) {
		out->evicted++;
		lower(out, c->pushed);
	}
	/*
	 * Some of these files may have come after the sum was computed, so that
	 * the sum does not include them. lower() then keeps the sum at 0 or
	 * above.
	 */
	for (size_t i = 0; ret > 0 && i < m.g.file_nr; i++)
		lower(out, stored_cache_drop(t->node->cache, &m.g.files[i]));
	stored_marker_release(&m);
	buf_release(&dir);
	buf_release(&hint);
	buf_release(&name);
	return ret < 0 ? ret : 0;
}

/* ---- leftovers of killed processes */

struct leftovers {
	const char *dir;
	int64_t old_ns;
};

static int remove_if_old(void *ctx, const char *name)
{
	const struct leftovers *l = ctx;
	char *path = stored_join(l->dir, name, NULL);
	struct sys_stat st;

	if (path && !sys_lstat(&st, path, NULL) && st.mtime_ns < l->old_ns)
		sys_tempdir_remove(path, NULL);
	free(path);
	return 0;
}

static void remove_leftovers(const struct stored_node *node)
{
	char *tmp = stored_join(node->dir, "tmp", NULL);
	struct leftovers l = {
		tmp,
		(sys_clock_seconds() - STORED_CACHE_AGE) * 1000000000,
	};

	if (tmp)
		sys_dir_each(tmp, remove_if_old, &l, NULL);
	free(tmp);
}

/* ---- quarantines of pushes, in copies */

/*
 * The total size of a directory with everything below it, and the newest
 * modification time of these entries.
 */
struct sum {
	const char *dir;
	uint64_t bytes;
	int64_t newest_ns; /* modification time */
};

/*
 * Adds the size of an entry, and of everything below it, to sum->bytes. Raises
 * sum->newest_ns to their newest modification time. The size of a file with
 * several hard links is not added, because it is counted as a file of the
 * cache.
 */
static int add_up(void *ctx, const char *name)
{
	struct sum *sum = ctx, below = {0};
	struct sys_stat st;

	below.dir = stored_join(sum->dir, name, NULL);
	if (below.dir && !sys_lstat(&st, below.dir, NULL)) {
		below.bytes = st.is_file && st.link_nr == 1 ? st.size : 0;
		below.newest_ns = st.mtime_ns;
		if (st.is_dir)
			sys_dir_each(below.dir, add_up, &below, NULL);
		sum->bytes += below.bytes;
		if (below.newest_ns > sum->newest_ns)
			sum->newest_ns = below.newest_ns;
	}
	free((char *)below.dir);
	return 0;
}

/* A visit of the quarantines in the directory objects/ of a copy. */
struct pushes {
	const char *dir;
	int64_t old_ns;
	uint64_t bytes;
};

static int visit_quarantine(void *ctx, const char *name)
{
	struct pushes *p = ctx;
	struct sum sum = {.dir = p->dir};
	char *path;

	if (strncmp(name, REPO_QUARANTINE_PREFIX,
		    strlen(REPO_QUARANTINE_PREFIX)) != 0)
		return 0;
	add_up(&sum, name);
	if (sum.newest_ns >= p->old_ns) {
		p->bytes += sum.bytes;
		return 0;
	}
	path = stored_join(p->dir, name, NULL);
	if (path)
		sys_tempdir_remove(path, NULL);
	free(path);
	return 0;
}

/*
 * Removes quarantines of killed pushes. Returns the total size of the
 * quarantines of running pushes.
 */
static uint64_t visit_pushes(const struct trim *t, const char *copy)
{
	struct buf dir = BUF_INIT;
	struct pushes p = {
		.old_ns = (sys_clock_seconds() - STORED_SESSION_MAX) *
			  1000000000,
	};

	if (!buf_printf(&dir, "%s/%s/objects", t->repo.data, copy)) {
		p.dir = dir.data;
		sys_dir_each(p.dir, visit_quarantine, &p, NULL);
	}
	buf_release(&dir);
	return p.bytes;
}

/* ---- all of it */

static int trim_to(struct trim *t, struct stored_trim *out, uint64_t budget,
		   struct error *err)
{
	int ret = 0;

	if (t->nr)
		qsort(t->copies, t->nr, sizeof(*t->copies), cmp_used);
	/*
	 * After an error, try the other copies, too, and report the first
	 * error.
	 */
	for (size_t i = 0; i < t->nr && out->bytes > budget; i++) {
		int one = evict(t, out, &t->copies[i], ret ? NULL : err);

		if (!ret)
			ret = one;
	}
	return ret;
}

static int trim_locked(struct stored_trim *out, struct stored_node *node,
		       uint64_t budget, struct error *err)
{
	struct trim t = {.node = node, .repo = BUF_INIT};
	int ret;

	remove_leftovers(node);
	ret = stored_cache_sweep(&out->bytes, node->cache, err);
	if (!ret && buf_printf(&t.repo, "%s/repo", node->dir) < 0)
		ret = error_nomem(err);
	if (!ret)
		ret = find_copies(&t, err);
	for (size_t i = 0; !ret && i < t.nr; i++) {
		t.copies[i].pushed = visit_pushes(&t, t.copies[i].path);
		out->bytes += t.copies[i].pushed;
	}
	if (!ret && budget && out->bytes > budget)
		ret = trim_to(&t, out, budget, err);
	trim_release(&t);
	return ret;
}

int stored_trim_run(struct stored_trim *out, struct stored_node *node,
		    uint64_t budget, struct error *err)
{
	int locks = stored_node_locks(node, err);
	int ret;

	*out = (struct stored_trim){0};
	if (locks < 0)
		return locks;
	ret = sys_rangelock_take(locks, STORED_LOCK_TRIM, false, false, err);
	if (ret == ERR_DENIED) {
		out->is_busy = true;
		ret = 0;
	} else if (!ret) {
		ret = trim_locked(out, node, budget, err);
		if (!ret)
			stored_counts_trim(node->counts, out->bytes,
					   out->evicted);
	}
	sys_close(locks);
	return ret;
}
