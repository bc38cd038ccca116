/* SPDX-License-Identifier: MIT */
/*
 * Finds all object directories of a repository: the repository's own directory,
 * and the alternates.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/quote.h"
#include "odb/odb-alternates.h"
#include "sys/io.h"
#include "sys/map.h"

#define DEPTH_MAX 5

struct finder {
	char **dirs; /* owned: the result */
	/*
	 * owned: real paths of the directories in `dirs`. reals[0] is NULL
	 * until an alternate is compared with the first directory.
	 */
	char **reals;
	size_t nr, dirs_alloc, reals_alloc;
	struct error *warning, *err;
};

bool odb_alternates_next(struct buf *path, const char **list, char sep,
			 int *ret)
{
	const char *start = *list;
	const char *end;
	int quoted;

	buf_reset(path);
	if (!*start)
		return false;
	quoted = quote_undo_c(path, start, &end);
	if (quoted == ERR_NOMEM) {
		*ret = quoted;
		return false;
	}
	/*
	 * If the path begins with a quote but is not a correct C string, the
	 * path is used as it is written.
	 */
	if (quoted < 0) {
		buf_reset(path);
		end = strchrnul(start, sep);
		if (*start != '#' &&
		    buf_append(path, start, (size_t)(end - start)) < 0) {
			*ret = ERR_NOMEM;
			return false;
		}
	}
	*list = *end == sep ? end + 1 : end;
	return true;
}

/*
 * Sets reals[0] to the real path of the repository's own object directory. The
 * directory need not exist yet. Returns 0 or ERR_NOMEM.
 */
static int resolve_own(struct finder *f)
{
	if (!f->reals[0])
		f->reals[0] = sys_realpath(f->dirs[0], NULL);
	if (!f->reals[0])
		f->reals[0] = mem_strdup(f->dirs[0]);
	return f->reals[0] ? 0 : error_nomem(f->err);
}

/* Returns 1 if `real` is already in the list, 0 if not, or ERR_NOMEM. */
static int has_dir(struct finder *f, const char *real)
{
	if (resolve_own(f) < 0)
		return ERR_NOMEM;
	for (size_t i = 0; i < f->nr; i++)
		if (!strcmp(f->reals[i], real))
			return 1;
	return 0;
}

/*
 * Adds an object directory to the list. Takes ownership of `real`, its real
 * path. Returns 0 or ERR_NOMEM.
 */
static int add_dir(struct finder *f, const char *dir, char *real)
{
	if (mem_grow(&f->dirs, &f->dirs_alloc, f->nr + 1, sizeof(*f->dirs)) <
		    0 ||
	    mem_grow(&f->reals, &f->reals_alloc, f->nr + 1, sizeof(*f->reals)) <
		    0)
		goto nomem;
	f->dirs[f->nr] = mem_strdup(dir);
	if (!f->dirs[f->nr])
		goto nomem;
	f->reals[f->nr++] = real;
	return 0;
nomem:
	free(real);
	return error_nomem(f->err);
}

static int add_list(struct finder *f, const char *list, char sep,
		    const char *base, unsigned depth);

/*
 * Adds the alternates of the object directory `dir`, and their alternates in
 * turn. `depth` is the nesting level of `dir`. Returns 0 or a negative error
 * code.
 */
static int add_alternates_of(struct finder *f, const char *dir, unsigned depth)
{
	struct buf name = BUF_INIT, text = BUF_INIT;
	int ret;

	if (buf_printf(&name, "%s/info/alternates", dir) < 0) {
		ret = error_nomem(f->err);
		goto out;
	}
	ret = sys_read_file(&text, name.data, f->err);
	if (ret == ERR_MISSING)
		ret = 0;
	else if (!ret)
		ret = add_list(f, text.data, '\n', dir, depth);
out:
	buf_release(&name);
	buf_release(&text);
	return ret;
}

static int add_alternate(struct finder *f, const char *path, const char *base,
			 unsigned depth)
{
	struct sys_stat st;
	struct buf full = BUF_INIT;
	char *real = NULL;
	int ret = 0;

	if (depth > DEPTH_MAX) {
		error_set(f->warning, ERR_INVALID,
			  "%s: ignoring alternate object stores, nesting too "
			  "deep",
			  base);
		return 0;
	}
	if (path[0] != '/' && base)
		ret = buf_printf(&full, "%s/", base);
	if (ret < 0 || buf_append_str(&full, path) < 0) {
		ret = error_nomem(f->err);
		goto out;
	}
	real = sys_realpath(full.data, NULL);
	if (!real || sys_stat(&st, real, NULL) < 0 || !st.is_dir) {
		error_set(f->warning, ERR_MISSING,
			  "object directory %s does not exist; check "
			  ".git/objects/info/alternates",
			  full.data);
		free(real);
		goto out;
	}
	ret = has_dir(f, real);
	if (ret) {
		free(real);
		ret = ret < 0 ? ret : 0;
		goto out;
	}
	ret = add_dir(f, real, real);
	if (!ret)
		ret = add_alternates_of(f, f->dirs[f->nr - 1], depth + 1);
out:
	buf_release(&full);
	return ret;
}

static int add_list(struct finder *f, const char *list, char sep,
		    const char *base, unsigned depth)
{
	struct buf path = BUF_INIT;
	int ret = 0;

	while (!ret && odb_alternates_next(&path, &list, sep, &ret))
		if (path.len)
			ret = add_alternate(f, path.data, base, depth);
	if (ret == ERR_NOMEM)
		error_nomem(f->err);
	buf_release(&path);
	return ret;
}

int odb_alternates_list(char ***dirs, size_t *dir_nr, const struct repo *repo,
			struct error *warning, struct error *err)
{
	struct finder f = {.warning = warning, .err = err};
	size_t i;
	int ret = add_dir(&f, repo->object_dir, NULL);

	if (!ret && repo->alternate_object_dirs)
		ret = add_list(&f, repo->alternate_object_dirs, ':', NULL, 0);
	if (!ret)
		ret = add_alternates_of(&f, repo->object_dir, 0);
	for (i = 0; i < f.nr; i++) {
		free(f.reals[i]);
		if (ret < 0)
			free(f.dirs[i]);
	}
	free(f.reals);
	if (ret < 0) {
		free(f.dirs);
		f.dirs = NULL;
		f.nr = 0;
	}
	*dirs = f.dirs;
	*dir_nr = f.nr;
	return ret;
}
