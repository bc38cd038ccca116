/* SPDX-License-Identifier: MIT */
/* Finds repositories that borrow from a fork network and are no members. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "network/network-borrowers.h"
#include "odb/odb-alternates.h"
#include "repo/repo.h"
#include "sys/io.h"

/* A directory that belongs to the network. */
struct place {
	char *path; /* owned, without symlinks */
	/* id of a member, or 0 for the store */
	uint32_t id;
};

struct places {
	struct place *places; /* owned; sorted by path after places_sort() */
	size_t nr, alloc;
};

struct search {
	const struct network_borrowers *how;
	/* the git directories and the object directories of the network */
	struct places git_dirs, object_dirs;
	/* the directory that is being searched */
	struct buf path;
	struct error *err;
};

/* ---- the directories of the network */

static void places_release(struct places *places)
{
	for (size_t i = 0; i < places->nr; i++)
		free(places->places[i].path);
	free(places->places);
}

static int cmp_path(const void *key, const void *item)
{
	const struct place *place = item;

	return strcmp(key, place->path);
}

/* Returns the place of a path in sorted places, or NULL. */
static const struct place *places_find(const struct places *places,
				       const char *path)
{
	return places->nr ? bsearch(path, places->places, places->nr,
				    sizeof(*places->places), cmp_path)
			  : NULL;
}

static int cmp_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	int cmp = strcmp(x->path, y->path);

	return cmp ? cmp : (x->id > y->id) - (x->id < y->id);
}

/*
 * Sort the places by path. If several places have the same path, keep only the
 * one with the smallest id.
 */
static void places_sort(struct places *places)
{
	struct place *all = places->places;
	size_t kept = 0;

	if (places->nr)
		qsort(all, places->nr, sizeof(*all), cmp_places);
	for (size_t i = 0; i < places->nr; i++)
		if (kept && !strcmp(all[kept - 1].path, all[i].path))
			free(all[i].path);
		else
			all[kept++] = all[i];
	places->nr = kept;
}

/* Add a directory if it exists. Returns 0 or ERR_NOMEM. */
static int places_add(struct places *places, const char *path, uint32_t id,
		      struct error *err)
{
	char *real = sys_realpath(path, NULL);

	if (!real)
		return 0;
	if (mem_grow(&places->places, &places->alloc, places->nr + 1,
		     sizeof(*places->places)) < 0) {
		free(real);
		return error_nomem(err);
	}
	places->places[places->nr++] = (struct place){real, id};
	return 0;
}

static void shorten(struct buf *path, size_t len)
{
	path->len = len;
	path->data[len] = '\0';
}

/*
 * Add the directories of a member: its git directory and its object directory,
 * at its path or in .git below it. Returns 0 or ERR_NOMEM.
 */
static int add_member(struct search *s, const struct network_entry *entry)
{
	static const char *const inner[] = {"/.git", ""};
	struct buf path = BUF_INIT;
	size_t len;
	int ret = network_path(&path, s->how->network, entry);

	len = path.len;
	for (size_t i = 0; i < ARRAY_NR(inner) && !ret; i++) {
		shorten(&path, len);
		ret = buf_append_str(&path, inner[i]);
		if (!ret)
			ret = places_add(&s->git_dirs, path.data, entry->id,
					 s->err);
		if (!ret)
			ret = buf_append_str(&path, "/objects");
		if (!ret)
			ret = places_add(&s->object_dirs, path.data, entry->id,
					 s->err);
	}
	buf_release(&path);
	return ret < 0 ? error_nomem(s->err) : 0;
}

static int add_network(struct search *s)
{
	const struct network *network = s->how->network;
	int ret = places_add(&s->git_dirs, network->store->git_dir, 0, s->err);

	if (!ret)
		ret = places_add(&s->object_dirs, network->object_dir, 0,
				 s->err);
	for (size_t i = 0; i < network->registry.nr && !ret; i++)
		ret = add_member(s, &network->registry.entries[i]);
	places_sort(&s->git_dirs);
	places_sort(&s->object_dirs);
	return ret;
}

/* ---- one repository */

/*
 * Append a component to the path of the searched directory. Returns 0 or
 * ERR_NOMEM.
 */
static int descend(struct search *s, const char *name)
{
	int ret = 0;

	if (s->path.data[s->path.len - 1] != '/')
		ret = buf_append_char(&s->path, '/');
	if (!ret)
		ret = buf_append_str(&s->path, name);
	return ret < 0 ? error_nomem(s->err) : 0;
}

/*
 * Returns 1 if `name` exists in the searched directory, 0 if not, or ERR_NOMEM.
 */
static int has(struct search *s, const char *name)
{
	size_t len = s->path.len;
	struct sys_stat st;
	int ret = descend(s, name);

	if (!ret)
		ret = !sys_lstat(&st, s->path.data, NULL);
	shorten(&s->path, len);
	return ret;
}

/*
 * `dirs` are the object directories that a repository uses: its own one, then
 * those of its alternates. Returns the first of them that belongs to the fork
 * network, or NULL if there is none. A fork network is a group of forks (the
 * members) and the repository that holds their shared objects (the store). The
 * repository's own directory is compared, too: it may be a symlink to a
 * directory of the network.
 */
static const struct place *first_of_network(const struct search *s,
					    char *const *dirs, size_t nr)
{
	const struct place *place = NULL;

	for (size_t i = 0; i < nr && !place; i++) {
		char *real = sys_realpath(dirs[i], NULL);

		if (real)
			place = places_find(&s->object_dirs, real);
		free(real);
	}
	return place;
}

static int check_repo(struct search *s, const struct repo *repo,
		      struct error *err)
{
	struct error warning = ERROR_INIT;
	const struct place *place = NULL;
	char **dirs = NULL;
	size_t nr = 0;
	int ret = odb_alternates_list(&dirs, &nr, repo, &warning, err);

	if (warning.code)
		s->how->unread(s->how->ctx, warning.msg);
	if (!ret)
		place = first_of_network(s, dirs, nr);
	for (size_t i = 0; i < nr; i++)
		free(dirs[i]);
	free(dirs);
	return place ? s->how->found(s->how->ctx, s->path.data, place->id)
		     : ret;
}

/*
 * Check the searched directory, which looks like a repository. Sets *is_repo to
 * whether it can be opened as one. Returns 0, a nonzero result of `found`, or
 * ERR_NOMEM.
 */
static int check_git_dir(struct search *s, bool *is_repo)
{
	struct repo_options options = {
		.path = s->path.data,
		.flags = REPO_OPEN_EXACT,
	};
	struct error own = ERROR_INIT;
	struct repo *repo = NULL;
	int ret;

	*is_repo = true;
	if (places_find(&s->git_dirs, s->path.data))
		return 0;
	ret = repo_open(&repo, &options, &own);
	*is_repo = !ret;
	if (!ret)
		ret = check_repo(s, repo, &own);
	repo_close(repo);
	if (ret == ERR_NOMEM)
		return error_nomem(s->err);
	if (ret < 0 && own.code) {
		s->how->unread(s->how->ctx, own.msg);
		ret = 0;
	}
	return ret;
}

/* ---- the search */

static int visit(struct search *s);

static int enter(void *ctx, const char *name)
{
	struct search *s = ctx;
	size_t len = s->path.len;
	struct sys_stat st;
	int ret = descend(s, name);

	if (!ret && !sys_lstat(&st, s->path.data, NULL) && st.is_dir)
		ret = visit(s);
	shorten(&s->path, len);
	return ret;
}

/*
 * Search the directory s->path. A directory that cannot be read is reported
 * and skipped. A directory that another process has removed is no error.
 * Returns 0, a nonzero result of `found`, or ERR_NOMEM.
 */
static int visit(struct search *s)
{
	struct error own = ERROR_INIT;
	bool is_repo = false;
	int ret = has(s, "HEAD");

	if (ret > 0)
		ret = has(s, "objects");
	/*
	 * The root of a work tree may have files named HEAD and objects, too.
	 * So check_git_dir() tries to open the directory as a repository.
	 */
	if (ret > 0)
		ret = check_git_dir(s, &is_repo);
	if (!ret && is_repo)
		ret = enter(s, "modules");
	if (is_repo)
		return ret ? ret : enter(s, "worktrees");
	if (!ret)
		ret = sys_dir_each(s->path.data, enter, s, &own);
	if (ret < 0 && own.code && own.code != ERR_MISSING)
		s->how->unread(s->how->ctx, own.msg);
	return own.code ? 0 : ret;
}

int network_borrowers(const struct network_borrowers *search, const char *dir,
		      struct error *err)
{
	struct error own = ERROR_INIT;
	struct search s = {.how = search, .err = err ? err : &own};
	char *real = sys_realpath(dir, NULL);
	int ret = real ? 0
		       : error_set(s.err, ERR_MISSING,
				   "cannot search '%s': no such directory",
				   dir);

	if (!ret)
		ret = add_network(&s);
	if (!ret && buf_append_str(&s.path, real) < 0)
		ret = error_nomem(s.err);
	if (!ret)
		ret = visit(&s);
	places_release(&s.git_dirs);
	places_release(&s.object_dirs);
	buf_release(&s.path);
	free(real);
	return ret;
}
