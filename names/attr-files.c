/* SPDX-License-Identifier: MIT */
/* Loads rules of attributes from all files that may have them. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "config/config.h"
#include "names/attrs.h"
#include "names/index-file.h"
#include "names/revname.h"
#include "object/oidmap.h"
#include "object/parse.h"
#include "sys/io.h"
#include "sys/map.h"

#define ATTR_FILE ".gitattributes"
/*
 * Maximum number of bytes of an attribute file; larger files are skipped, as
 * in stock Git.
 */
#define FILE_MAX_LEN ((uint64_t)100 << 20)

/*
 * Limits of the work for one tree as the source of attributes. A client may
 * have pushed this tree, and a small pack can hold a tree with billions of
 * paths. Reading a tree costs TREE_COST, and reading an attribute file costs
 * FILE_COST and one for each byte. So at most a million trees, 10,000 files and
 * 100 million bytes are read.
 */
enum {
	TREE_BUDGET = 100000000,
	TREE_COST = 100,
	FILE_COST = 10000,
};

struct loader {
	struct attrs *attrs;
	const struct odb *odb;
	const struct repo *repo;
	struct odb_reader *reader; /* owned */
	unsigned icase;            /* ATTRS_ICASE or 0 */
	/*
	 * path of the directory whose attribute file is read: "" or with a
	 * slash at the end
	 */
	struct buf dir;
	/* a tree as the source: the cost that may still be spent */
	uint64_t budget;
	/* number of attribute files found in trees so far */
	uint64_t found_nr;
	/*
	 * ids of trees that have no attribute file in any directory below them;
	 * the values are unused
	 */
	struct oidmap barren;
	struct error *err;
};

static int add_text(struct loader *l, const char *text, size_t len,
		    const char *dir)
{
	unsigned flags = l->icase | (*dir ? 0 : ATTRS_MACROS);

	if (len > FILE_MAX_LEN)
		return 0;
	return attrs_add(l->attrs, text, len, dir, flags) < 0
		       ? error_nomem(l->err)
		       : 0;
}

/*
 * Adds the rules of an attribute file. Returns 1 if the file exists, 0 if not,
 * or ERR_NOMEM.
 */
static int add_file(struct loader *l, const char *path, const char *dir)
{
	struct buf text = BUF_INIT;
	int ret = sys_read_any(&text, path, l->err);

	if (!ret)
		ret = add_text(l, text.data, text.len, dir);
	else if (ret != ERR_NOMEM)
		ret = 1;
	buf_release(&text);
	return ret < 0 ? ret : !ret;
}

static int add_blob(struct loader *l, const struct oid *oid)
{
	struct odb_object obj = ODB_OBJECT_INIT;
	int ret = odb_read(l->reader, oid, &obj, l->err);

	/*
	 * In a partial clone, the blob of the attribute file may be missing.
	 * The file then counts as empty.
	 */
	if (ret < 0)
		return ret == ERR_NOMEM ? ret : 0;
	if (obj.type == OBJ_BLOB)
		ret = add_text(l, (const char *)obj.data, obj.len, l->dir.data);
	odb_object_release(l->reader, &obj);
	return ret;
}

/* ---- a tree as the source */

/* Takes a cost from the budget. Returns false if too little is left. */
static bool spend(struct loader *l, uint64_t cost)
{
	bool fits = cost <= l->budget;

	l->budget = fits ? l->budget - cost : 0;
	return fits;
}

/*
 * Adds the rules of an attribute file in a tree, unless the file costs more
 * than the budget. Returns 0 or a negative error code.
 */
static int add_tree_file(struct loader *l, const struct oid *oid)
{
	uint64_t len;

	l->found_nr++;
	if (odb_info(l->reader, oid, NULL, &len, NULL) < 0 ||
	    len > FILE_MAX_LEN || !spend(l, FILE_COST + len))
		return 0;
	return add_blob(l, oid);
}

static int add_tree(struct loader *l, const struct oid *oid, unsigned depth);

/*
 * Adds the rules of the attribute files in one tree. If `dirs` is false, adds
 * only the rules of the .gitattributes file in the tree itself. If `dirs` is
 * true, adds those of the files in its subdirectories. The caller calls this
 * function with `dirs` false first, because the rules of subdirectories
 * override those of the tree. Returns 0 or a negative error code.
 */
static int add_entries(struct loader *l, struct cursor c, bool dirs,
		       unsigned depth)
{
	size_t dir_len = l->dir.len;
	struct tree_entry e;
	struct oid oid;
	int ret = 0;

	while (!ret && tree_next(&e, &c, l->odb->algo) > 0) {
		oid_from_raw(&oid, e.oid, l->odb->algo);
		if (!dirs && (e.mode & TREE_MODE_TYPE) == TREE_MODE_FILE &&
		    !strcmp(e.name, ATTR_FILE))
			ret = add_tree_file(l, &oid);
		if (!dirs || !tree_entry_is_dir(&e) || ret < 0)
			continue;
		if (buf_append(&l->dir, e.name, e.name_len) < 0 ||
		    buf_append_char(&l->dir, '/') < 0)
			return error_nomem(l->err);
		ret = add_tree(l, &oid, depth + 1);
		buf_set_len(&l->dir, dir_len);
	}
	return ret;
}

static int read_tree(struct loader *l, const struct oid *oid, unsigned depth)
{
	struct odb_object obj = ODB_OBJECT_INIT;
	int ret = odb_read(l->reader, oid, &obj, l->err);

	if (ret < 0)
		return ret == ERR_NOMEM ? ret : 0;
	if (obj.type == OBJ_TREE && !odb_is_too_deep(l->odb, depth)) {
		struct cursor c = cursor_make(obj.data, obj.len);

		ret = add_entries(l, c, false, depth);
		if (!ret)
			ret = add_entries(l, c, true, depth);
	}
	odb_object_release(l->reader, &obj);
	return ret;
}

/*
 * Adds the rules of the attribute files in a tree and in its subdirectories. A
 * tree that is known to have none is not read again, and no tree is read when
 * the budget is spent. Returns 0 or a negative error code.
 */
static int add_tree(struct loader *l, const struct oid *oid, unsigned depth)
{
	uint64_t found_before = l->found_nr;
	uint32_t unused;
	int ret;

	if (oidmap_get(&l->barren, oid, &unused) || !spend(l, TREE_COST))
		return 0;
	ret = read_tree(l, oid, depth);
	if (!ret && l->found_nr == found_before &&
	    oidmap_add(&l->barren, oid, 0, NULL) < 0)
		ret = error_nomem(l->err);
	return ret;
}

/*
 * Finds the tree to which a revision name refers. Returns 1 if there is such a
 * tree, 0 if there is none, or a negative error code.
 */
static int find_tree(struct loader *l, struct oid *tree, const char *name)
{
	struct buf spec = BUF_INIT;
	struct refs *refs = NULL;
	int ret = refs_open(&refs, l->repo, l->err);

	if (!ret && buf_printf(&spec, "%s^{tree}", name) < 0)
		ret = error_nomem(l->err);
	if (!ret && revname_resolve(tree, spec.data, refs, l->reader, l->odb,
				    NULL) == 0)
		ret = 1;
	refs_close(refs);
	buf_release(&spec);
	return ret;
}

/*
 * Adds the attribute rules in the tree that GIT_ATTR_SOURCE or attr.tree names.
 * Returns 1 if a tree is named, 0 if not, or a negative error code.
 */
static int add_named_tree(struct loader *l)
{
	const char *env = getenv("GIT_ATTR_SOURCE");
	const char *name = config_string(&l->repo->config, "attr.tree");
	struct oid tree;
	int ret;

	if (env)
		name = env;
	if (!name)
		return 0;
	ret = find_tree(l, &tree, name);
	if (!ret && env)
		return error_set(l->err, ERR_INVALID,
				 "bad --attr-source or GIT_ATTR_SOURCE");
	if (ret > 0)
		ret = add_tree(l, &tree, 0);
	return ret < 0 ? ret : 1;
}

/* ---- a work tree */

/*
 * A directory of the work tree, and the id of its .gitattributes file in the
 * index, if the index has such a file.
 */
struct work_dir {
	/* owned: the directory's path, "" or with a slash at the end */
	char *path;
	struct oid oid;
	bool is_indexed; /* `oid` is set */
};

struct work_tree {
	struct loader *l;
	struct work_dir *dirs; /* owned */
	size_t nr, alloc;
};

/*
 * Adds the current directory to the list of directories that are searched for
 * attribute files. Returns 0 or a negative error code.
 */
static int note_dir(struct work_tree *w)
{
	struct work_dir dir = {.path = mem_strdup(w->l->dir.data)};

	if (!dir.path ||
	    mem_grow(&w->dirs, &w->alloc, w->nr + 1, sizeof(dir)) < 0) {
		free(dir.path);
		return error_nomem(w->l->err);
	}
	w->dirs[w->nr++] = dir;
	return 0;
}

/*
 * Returns the length of the path of the deepest directory that contains both
 * the directory `dir` and the file `path`.
 */
static size_t same_dirs(const struct buf *dir, const char *path)
{
	size_t same = 0;

	for (size_t i = 0; i < dir->len && dir->data[i] == path[i]; i++)
		if (path[i] == '/')
			same = i + 1;
	return same;
}

/*
 * Makes the directory of the file `path` the current directory l->dir. Adds
 * this directory and its parents to the list, except those that are in the list
 * already. Returns 0 or a negative error code.
 */
static int enter_dirs(struct work_tree *w, const char *path)
{
	struct buf *dir = &w->l->dir;
	const char *slash;
	int ret = 0;

	buf_set_len(dir, same_dirs(dir, path));
	while (!ret && (slash = strchr(path + dir->len, '/')) != NULL) {
		size_t len = (size_t)(slash + 1 - path) - dir->len;

		ret = buf_append(dir, path + dir->len, len) < 0
			      ? error_nomem(w->l->err)
			      : note_dir(w);
	}
	return ret;
}

static int note_entry(void *ctx, const struct index_entry *entry)
{
	struct work_tree *w = ctx;
	int ret = enter_dirs(w, entry->path);

	if (ret < 0 || strcmp(entry->path + w->l->dir.len, ATTR_FILE) != 0 ||
	    (entry->mode & TREE_MODE_TYPE) != TREE_MODE_FILE)
		return ret;
	/*
	 * enter_dirs() has listed the directory already. That item stands for
	 * the .gitattributes file in the work tree. List the directory a second
	 * time, with the id of the blob that the index has for its
	 * .gitattributes file. The blob is read if the work tree lacks the
	 * file.
	 */
	ret = note_dir(w);
	if (ret < 0)
		return ret;
	w->dirs[w->nr - 1].oid = entry->oid;
	w->dirs[w->nr - 1].is_indexed = true;
	return 0;
}

/*
 * Compares directories by path, so that a directory comes before its
 * subdirectories. The list may have two items for a directory: one for the
 * .gitattributes file in the work tree, and one with the id of the
 * .gitattributes file in the index. Of these two, the item with the id comes
 * last, because it is used only if the work tree lacks the file. Returns a
 * negative number if *a comes first, 0 if both are equal, or a positive number.
 */
static int by_path(const void *a, const void *b)
{
	const struct work_dir *x = a, *y = b;
	int order = strcmp(x->path, y->path);

	return order ? order : (int)x->is_indexed - (int)y->is_indexed;
}

/*
 * Adds the rules of the .gitattributes file in the directory l->dir of the work
 * tree. Returns 1 if the file exists, 0 if not, or ERR_NOMEM.
 */
static int add_work_file(struct loader *l)
{
	struct buf path = BUF_INIT;
	struct sys_stat st;
	int ret = 0;

	if (buf_printf(&path, "%s/%s%s", l->repo->worktree, l->dir.data,
		       ATTR_FILE) < 0)
		ret = error_nomem(l->err);
	else if (!sys_lstat(&st, path.data, NULL))
		/*
		 * A .gitattributes file that is a symlink is not read. In this
		 * case, the version in the index is not read, either.
		 */
		ret = st.is_file ? add_file(l, path.data, l->dir.data) : 1;
	buf_release(&path);
	return ret;
}

static int add_noted(struct work_tree *w)
{
	struct loader *l = w->l;
	int has_file = 0, ret = 0;

	qsort(w->dirs, w->nr, sizeof(*w->dirs), by_path);
	for (size_t i = 0; i < w->nr && ret >= 0; i++) {
		const struct work_dir *dir = &w->dirs[i];

		buf_reset(&l->dir);
		if (buf_append_str(&l->dir, dir->path) < 0)
			return error_nomem(l->err);
		if (!dir->is_indexed)
			ret = has_file = add_work_file(l);
		else if (!has_file)
			ret = add_blob(l, &dir->oid);
	}
	return ret < 0 ? ret : 0;
}

static int add_work_tree(struct loader *l)
{
	struct work_tree w = {.l = l};
	int ret;

	if (!l->repo->worktree)
		return 0;
	ret = note_dir(&w);
	if (!ret)
		ret = index_file_each(l->repo, note_entry, &w, l->err);
	if (!ret)
		ret = add_noted(&w);
	for (size_t i = 0; i < w.nr; i++)
		free(w.dirs[i].path);
	free(w.dirs);
	return ret;
}

/* ---- all sources */

int attr_files_user_path(char **out, const struct config *config,
			 struct error *err)
{
	const char *value = config_string(config, "core.attributesfile");
	const char *home = getenv("HOME"), *xdg = getenv("XDG_CONFIG_HOME");
	struct buf path = BUF_INIT;
	int ret = 0;

	*out = NULL;
	if (value) {
		/* No file is read if the home directory is unknown. */
		(void)config_path(out, value, NULL);
		return 0;
	}
	if (xdg && *xdg)
		ret = buf_printf(&path, "%s/git/attributes", xdg);
	else if (home)
		ret = buf_printf(&path, "%s/.config/git/attributes", home);
	if (!ret && path.len)
		*out = buf_detach(&path, NULL);
	buf_release(&path);
	return ret < 0 ? error_nomem(err) : 0;
}

static int add_outer_files(struct loader *l)
{
	int skip_system = config_env_bool("GIT_ATTR_NOSYSTEM", false, l->err);
	char *user;
	int ret = skip_system < 0 ? skip_system
				  : attr_files_user_path(
					    &user, &l->repo->config, l->err);

	if (ret < 0)
		return ret;
	if (!skip_system)
		ret = add_file(l, "/etc/gitattributes", "");
	if (ret >= 0 && user)
		ret = add_file(l, user, "");
	free(user);
	return ret < 0 ? ret : 0;
}

static int add_all(struct loader *l)
{
	static const char built_in[] = "[attr]binary -diff -merge -text\n";
	char *info = repo_common_path(l->repo, "info/attributes");
	int ret = info ? add_text(l, built_in, sizeof(built_in) - 1, "")
		       : error_nomem(l->err);

	if (!ret)
		ret = add_outer_files(l);
	if (!ret)
		ret = add_named_tree(l);
	if (!ret)
		ret = add_work_tree(l);
	buf_reset(&l->dir);
	if (ret >= 0)
		ret = add_file(l, info, "");
	free(info);
	return ret < 0 ? ret : attrs_settle(l->attrs, l->err);
}

int attr_files_load(struct attrs **out, const char *name, const struct odb *odb,
		    struct error *err)
{
	struct loader l = {
		.attrs = attrs_new(name),
		.odb = odb,
		.repo = odb->repo,
		.reader = odb_reader_new(odb, (size_t)1 << 20),
		.dir = BUF_INIT,
		.budget = TREE_BUDGET,
		.barren = OIDMAP_INIT,
		.err = err,
	};
	bool icase = false;
	int ret = l.attrs && l.reader ? 0 : error_nomem(err);

	if (!ret)
		ret = config_bool(&odb->repo->config, "core.ignorecase", &icase,
				  err);
	l.icase = icase ? ATTRS_ICASE : 0;
	if (ret >= 0)
		ret = add_all(&l);
	odb_reader_free(l.reader);
	buf_release(&l.dir);
	oidmap_release(&l.barren);
	if (ret < 0) {
		attrs_free(l.attrs);
		return ret;
	}
	*out = l.attrs;
	return 0;
}
