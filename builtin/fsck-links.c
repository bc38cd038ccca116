/* SPDX-License-Identifier: MIT */
/*
 * fsck: collects the roots, and prints the problems that are found when the
 * links between objects are followed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "builtin/fsck-parts.h"
#include "names/index-file.h"
#include "object/hash.h"
#include "refs/reflog.h"
#include "repo/worktree.h"
#include "sys/io.h"
#include "sys/tempfile.h"

/* ---- printing */

bool fsck_is_promised(struct fsck_run *r, const struct oid *oid)
{
	uint32_t obj_pos;

	return r->s.repo->has_promisor &&
	       objspace_add(&r->walk.space, oid->bytes, &obj_pos) == 0 &&
	       promisor_promises(&r->promisor, obj_pos, NULL) > 0;
}

/*
 * Reads an object that the scan has not read, and checks its id. For example,
 * another process may have pushed the object after the scan. Returns 1 if the
 * object is sound, 0 if it does not exist, ERR_CORRUPT if it is damaged, or
 * another negative error code.
 */
static int read_now(struct fsck_run *r, const struct oid *oid,
		    struct error *why)
{
	char hex[OID_MAX_HEX_LEN + 1];
	struct odb_object obj = ODB_OBJECT_INIT;
	struct hash_ctx hash;
	struct oid actual;
	int ret;

	if (!odb_reader_has(r->s.reader, oid))
		return 0;
	ret = hash_init_checked(&hash, r->s.repo->algo);
	if (ret < 0)
		return ret;
	ret = odb_read(r->s.reader, oid, &obj, why);
	if (!ret) {
		hash_object(&hash, &actual, obj.type, obj.data, obj.len);
		ret = 1;
	}
	if (ret > 0 && !oid_equal(&actual, oid))
		ret = error_set(why, ERR_CORRUPT, "hash mismatch %s",
				oid_to_hex(hex, oid, r->s.repo->algo));
	odb_object_release(r->s.reader, &obj);
	hash_release(&hash);
	return ret;
}

/*
 * Returns whether an object is the empty tree, which every command can read
 * without a file.
 */
static bool is_built_in(const struct fsck_run *r, const struct oid *oid)
{
	return oid_equal(oid, oid_empty_tree(r->s.repo->algo));
}

/*
 * Called for an object that the scan has not found. Returns true if this is no
 * error, because a remote has promised the object, or because another process
 * has stored it since the scan. The empty tree must be stored like other
 * objects, because other Git implementations may read its file.
 */
static bool may_be_missing(struct fsck_run *r, const struct oid *oid)
{
	if (fsck_is_promised(r, oid))
		return true;
	return is_built_in(r, oid) ? odb_stores(r->s.odb, oid)
				   : read_now(r, oid, NULL) > 0;
}

/*
 * Returns the object's id as text, followed by the object's name if
 * --name-objects is given and the name is known. Valid until the next call.
 */
static const char *show(struct fsck_run *r, const struct oid *oid)
{
	const char *name = r->a.name_objects ? fsck_names_get(&r->names, oid)
					     : NULL;
	char hex[OID_MAX_HEX_LEN + 1];

	buf_reset(&r->shown);
	oid_to_hex(hex, oid, r->s.repo->algo);
	if (name)
		buf_printf(&r->shown, "%s (%s)", hex, name);
	else
		buf_append_str(&r->shown, hex);
	return r->shown.data;
}

static int on_broken(void *ctx, const struct fsck_links_object *from,
		     const struct fsck_links_object *to, struct error *err)
{
	struct fsck_run *r = ctx;

	if (is_built_in(r, &to->oid) || may_be_missing(r, &to->oid))
		return 0;
	printf("broken link from %7s %s\n", object_type_name(from->type),
	       show(r, &from->oid));
	printf("              to %7s %s\n", object_type_name(to->type),
	       show(r, &to->oid));
	r->found |= FSCK_FOUND_REACHABLE;
	return 0;
}

static int on_mistyped(void *ctx, const struct fsck_links_object *from,
		       const struct fsck_links_object *to,
		       enum object_type actual, struct error *err)
{
	struct fsck_run *r = ctx;

	builtin_error("object %s is a %s, not a %s", show(r, &to->oid),
		      object_type_name(actual), object_type_name(to->type));
	printf("broken link from %7s %s\n", object_type_name(from->type),
	       show(r, &from->oid));
	printf("              to %7s %s\n", object_type_name(to->type),
	       show(r, &to->oid));
	r->found |= FSCK_FOUND_REACHABLE;
	if (!r->a.connectivity_only)
		r->found |= FSCK_FOUND_OBJECT;
	return 0;
}

static int on_missing(void *ctx, const struct fsck_links_object *object,
		      struct error *err)
{
	struct fsck_run *r = ctx;

	if (may_be_missing(r, &object->oid))
		return 0;
	printf("missing %s %s\n", object_type_name(object->type),
	       show(r, &object->oid));
	r->found |= FSCK_FOUND_REACHABLE;
	return 0;
}

static int on_unreadable(void *ctx, const struct fsck_links_object *object,
			 const struct error *why, struct error *err)
{
	builtin_error("%s", why->msg);
	return 0;
}

/*
 * Read an object again to find out why its type is unknown, and print the
 * reason.
 */
static void tell_unknown(struct fsck_run *r, const struct oid *oid)
{
	struct error why = ERROR_INIT;

	if (read_now(r, oid, &why) < 0)
		builtin_error("%s", why.msg);
	r->found |= FSCK_FOUND_OBJECT;
}

/*
 * Write an object to the directory lost-found. The file of a blob has its
 * content. The file of any other object has only its id and a newline.
 */
static int save(struct fsck_run *r, const struct fsck_links_object *object,
		const char *hex)
{
	struct sys_tempfile tf = SYS_TEMPFILE_INIT;
	struct odb_object obj = ODB_OBJECT_INIT;
	struct buf dir = BUF_INIT, path = BUF_INIT;
	int ret;

	if (buf_printf(&dir, "%s/lost-found/%s", r->s.repo->git_dir,
		       object->type == OBJ_COMMIT ? "commit" : "other") < 0 ||
	    buf_printf(&path, "%s/%s", dir.data, hex) < 0) {
		ret = error_nomem(r->err);
		goto out;
	}
	ret = sys_mkdir_shared(dir.data, r->s.repo->share, r->err);
	if (!ret && object->type == OBJ_BLOB)
		ret = odb_read(r->s.reader, &object->oid, &obj, r->err);
	if (!ret)
		ret = sys_tempfile_create(&tf, dir.data, "tmp_",
					  0666 | r->s.repo->share, r->err);
	if (!ret && object->type == OBJ_BLOB)
		ret = sys_tempfile_write(&tf, obj.data, obj.len, r->err);
	else if (!ret)
		ret = sys_tempfile_write(&tf, hex, strlen(hex), r->err);
	if (!ret && object->type != OBJ_BLOB)
		ret = sys_tempfile_write(&tf, "\n", 1, r->err);
	if (!ret)
		ret = sys_tempfile_commit(&tf, path.data, SYS_FSYNC_NONE,
					  r->err);
out:
	sys_tempfile_abort(&tf);
	odb_object_release(r->s.reader, &obj);
	buf_release(&dir);
	buf_release(&path);
	return ret;
}

static int on_unreachable(void *ctx, const struct fsck_links_object *object,
			  bool used, struct error *err)
{
	struct fsck_run *r = ctx;
	bool is_known = object->type != FSCK_UNKNOWN;
	const char *type = is_known ? object_type_name(object->type)
				    : "unknown";
	char hex[OID_MAX_HEX_LEN + 1];

	oid_to_hex(hex, &object->oid, r->s.repo->algo);
	if (!is_known)
		tell_unknown(r, &object->oid);
	if (r->a.unreachable) {
		printf("unreachable %s %s\n", type, hex);
		return 0;
	}
	if (used)
		return 0;
	if (r->a.dangling)
		printf("dangling %s %s\n", type, hex);
	return r->a.lost_found ? save(r, object, hex) : 0;
}

/* ---- roots */

struct roots {
	struct fsck_run *r;
	struct fsck_links *l;
	/* number of refs whose object exists */
	size_t ref_nr;
	/* number of arguments of the command that name an existing object */
	size_t named_nr;
	struct oidmap
		/*
		 * owned: ids from HEADs and reflogs that were already added as
		 * roots
		 */
		added;
	/* how names of index files are shortened; used with --name-objects */
	struct shown_path shown;
};

static int name_root(struct fsck_run *r, const struct oid *oid,
		     const char *name)
{
	if (!r->a.name_objects)
		return 0;
	return fsck_names_root(&r->names, oid, "%s", name) < 0
		       ? error_nomem(r->err)
		       : 0;
}

/*
 * Give the object of an index entry a name: ":<path>", or "<index>:<path>" if
 * the index belongs to another work tree. As in stock Git, the index is named
 * by its whole path if the user gave GIT_DIR as an absolute path.
 */
static int name_indexed(struct roots *roots, const struct index_entry *entry)
{
	struct fsck_run *r = roots->r;
	const char *own = r->s.repo->git_dir, *given = getenv("GIT_DIR");
	const char *index = entry->index, *ignored;
	size_t len = strlen(own);

	if (!strncmp(index, own, len) && !strcmp(index + len, "/index"))
		index = "";
	else if (!given || *given != '/')
		index = shown_path_get(&roots->shown, index, &ignored);
	return fsck_names_root(&r->names, &entry->oid, "%s:%s", index,
			       entry->path) < 0
		       ? error_nomem(r->err)
		       : 0;
}

/*
 * Records the name by which messages mention the object `oid`. The id comes
 * from the reflog of `name`, and the name of the object is "<name>@{<time>}". A
 * missing object gets no name here. It is named later, by an object that refers
 * to it.
 */
static int name_logged_id(struct fsck_run *r, const struct oid *oid,
			  const char *name, int64_t time)
{
	uint32_t obj_pos;

	if (!objspace_find(&r->walk.space, oid->bytes, &obj_pos) ||
	    fsck_scan_type(&r->scan, obj_pos) == OBJ_NONE)
		return 0;
	return fsck_names_root(&r->names, oid, "%s@{%" PRId64 "}", name, time) <
			       0
		       ? error_nomem(r->err)
		       : 0;
}

/*
 * Give a name to both ids of each line of a reflog. The names contain the time
 * of the line.
 */
static int name_logged(void *ctx, const char *name)
{
	struct reflog log = REFLOG_INIT;
	struct fsck_run *r = ctx;
	int ret = reflog_read(&log, r->s.repo, name, r->err);

	for (size_t i = 0; i < log.nr && ret >= 0; i++) {
		const struct reflog_line *line = &log.lines[i];

		ret = name_logged_id(r, &line->old_oid, name, line->time);
		if (!ret)
			ret = name_logged_id(r, &line->new_oid, name,
					     line->time);
	}
	reflog_release(&log);
	return ret < 0 ? ret : 0;
}

/*
 * Returns whether a root is damaged. If it is, prints the reason. Needed for
 * --connectivity-only, because with this option the scan reads no objects.
 */
static bool is_damaged(struct fsck_run *r, const struct oid *oid)
{
	struct error why = ERROR_INIT;

	if (read_now(r, oid, &why) >= 0)
		return false;
	builtin_error("%s", why.msg);
	return true;
}

/*
 * Add a root. Sets *is_bad if the root is damaged, or if it is missing and must
 * exist. Returns the root's type, 0 if the root is missing or damaged, or a
 * negative error code.
 */
static int add_root(struct roots *roots, const struct oid *oid,
		    enum object_type expected, bool *is_bad)
{
	struct fsck_run *r = roots->r;
	int type = 0;

	*is_bad = !is_built_in(r, oid) && r->a.connectivity_only &&
		  is_damaged(r, oid);
	if (!*is_bad)
		type = fsck_links_root(roots->l, oid, expected, r->err);
	if (!*is_bad && !type)
		*is_bad = !may_be_missing(r, oid);
	return type;
}

static int add_ref(void *ctx, const struct ref *ref)
{
	struct roots *roots = ctx;
	struct fsck_run *r = roots->r;
	char hex[OID_MAX_HEX_LEN + 1];
	bool is_bad;
	int type = add_root(roots, &ref->oid, OBJ_NONE, &is_bad);

	if (type > 0 && name_root(r, &ref->oid, ref->name) < 0)
		return ERR_NOMEM;
	if (type < 0)
		return type;
	roots->ref_nr += !is_bad;
	if (is_bad) {
		builtin_error("%s: invalid sha1 pointer %s", ref->name,
			      oid_to_hex(hex, &ref->oid, r->s.repo->algo));
		r->found |= FSCK_FOUND_REACHABLE;
	}
	if (type && type != OBJ_COMMIT &&
	    (!strncmp(ref->name, "refs/heads/", strlen("refs/heads/")) ||
	     !strcmp(ref->name, "HEAD"))) {
		builtin_error("%s: not a commit", ref->name);
		r->found |= FSCK_FOUND_REFS;
	}
	return 0;
}

/*
 * Add the object `oid` as a root, because its id is in the reflog of the ref
 * `name`. If `name` is NULL, the id is that of the HEAD or a private ref of a
 * work tree.
 */
static int add_kept(struct roots *roots, const struct oid *oid,
		    const char *name)
{
	struct fsck_run *r = roots->r;
	char hex[OID_MAX_HEX_LEN + 1];
	int type = fsck_links_root(roots->l, oid, OBJ_NONE, r->err);

	if (!type && !may_be_missing(r, oid)) {
		builtin_error("%s%sinvalid reflog entry %s", name ? name : "",
			      name ? ": " : "",
			      oid_to_hex(hex, oid, r->s.repo->algo));
		r->found |= FSCK_FOUND_REACHABLE;
	}
	return type < 0 ? type : 0;
}

static int add_logged_id(struct roots *roots, const struct oid *oid,
			 const char *name)
{
	if (oid_is_zero(oid))
		return 0;
	if (oidmap_add(&roots->added, oid, 0, NULL) < 0)
		return error_nomem(roots->r->err);
	return add_kept(roots, oid, name);
}

static int add_log(void *ctx, const char *name)
{
	struct reflog log = REFLOG_INIT;
	struct roots *roots = ctx;
	int ret = reflog_read(&log, roots->r->s.repo, name, roots->r->err);

	for (size_t i = 0; i < log.nr && ret >= 0; i++) {
		ret = add_logged_id(roots, &log.lines[i].old_oid, name);
		if (!ret)
			ret = add_logged_id(roots, &log.lines[i].new_oid, name);
	}
	reflog_release(&log);
	return ret < 0 ? ret : 0;
}

/* Add an id as a root, unless it was added before. */
static int add_other(void *ctx, const struct oid *oid)
{
	struct roots *roots = ctx;
	uint32_t ignored;

	return oidmap_get(&roots->added, oid, &ignored)
		       ? 0
		       : add_kept(roots, oid, NULL);
}

static int add_indexed(void *ctx, const struct index_entry *entry)
{
	struct roots *roots = ctx;
	struct fsck_run *r = roots->r;
	char hex[OID_MAX_HEX_LEN + 1];
	int type = fsck_links_root(roots->l, &entry->oid, OBJ_BLOB, r->err);

	if (type > 0 && type != OBJ_BLOB)
		builtin_error("object %s is a %s, not a blob",
			      oid_to_hex(hex, &entry->oid, r->s.repo->algo),
			      object_type_name((enum object_type)type));
	if (type < 0)
		return type;
	return r->a.name_objects ? name_indexed(roots, entry) : 0;
}

/*
 * Add as a root a tree that the cache-tree of an index names. If the tree is
 * missing, the trees below it are not added, as in stock Git.
 */
static int add_cached(void *ctx, struct index_tree *tree)
{
	struct roots *roots = ctx;
	struct fsck_run *r = roots->r;
	char hex[OID_MAX_HEX_LEN + 1];
	bool is_bad;
	int type;

	/*
	 * The empty tree may be missing, because Git can read it without a
	 * file. If it is missing, fsck_check_links() reports this later.
	 */
	if (is_built_in(r, &tree->oid)) {
		type = fsck_links_root(roots->l, &tree->oid, OBJ_TREE, r->err);
		return type < 0 ? type : 0;
	}
	type = add_root(roots, &tree->oid, OBJ_NONE, &is_bad);
	oid_to_hex(hex, &tree->oid, r->s.repo->algo);
	if (is_bad) {
		builtin_error("%s: invalid sha1 pointer in cache-tree of %s",
			      hex, tree->index);
		r->found |= FSCK_FOUND_REFS;
		tree->skips_subtrees = true;
	}
	if (type > 0 && type != OBJ_TREE) {
		builtin_error("object %s is a %s, not a tree", hex,
			      object_type_name((enum object_type)type));
		r->found |= FSCK_FOUND_OBJECT;
	}
	return type > 0 ? name_root(r, &tree->oid, ":") : type;
}

/*
 * Add as a root an object that the resolve-undo extension of an index names.
 */
static int add_undo(void *ctx, const struct oid *oid, const char *index)
{
	struct roots *roots = ctx;
	struct fsck_run *r = roots->r;
	char hex[OID_MAX_HEX_LEN + 1];
	bool is_bad;
	int type = add_root(roots, oid, OBJ_NONE, &is_bad);

	if (is_bad) {
		builtin_error("%s: invalid sha1 pointer in resolve-undo of %s",
			      oid_to_hex(hex, oid, r->s.repo->algo), index);
		r->found |= FSCK_FOUND_REFS;
	}
	return type < 0 ? type : 0;
}

/*
 * Add the entries, the cached trees and the resolved conflicts of all index
 * files as roots. A damaged index file ends the check.
 */
static int add_indexes(struct roots *roots)
{
	struct fsck_run *r = roots->r;
	struct error why = ERROR_INIT;
	const struct index_callbacks on = {
		.entry = add_indexed,
		.tree = add_cached,
		.undo = add_undo,
		.ctx = roots,
	};
	int ret = index_file_check_each(r->s.repo, &on, &why);

	if (ret >= 0)
		return ret;
	if (ret != ERR_CORRUPT && ret != ERR_UNSUPPORTED)
		return error_set(r->err, ret, "%s", why.msg);
	builtin_error("%s", why.msg);
	return error_set(r->err, ret, "index file corrupt");
}

static int add_broken(void *ctx, const char *name, enum refs_flaw flaw)
{
	const struct roots *roots = ctx;
	struct fsck_run *r = roots->r;
	char hex[OID_MAX_HEX_LEN + 1];

	builtin_error(
		"%s: invalid sha1 pointer %s", name,
		oid_to_hex(hex, &(struct oid)OID_ZERO_INIT, r->s.repo->algo));
	r->found |= FSCK_FOUND_REACHABLE;
	return 0;
}

/* Add the HEAD of a work tree as a root. A broken HEAD is no error. */
static int add_head(struct roots *roots, const char *name)
{
	struct fsck_run *r = roots->r;
	struct ref head;
	int ret = refs_lookup(r->s.refs, name, &head, NULL);

	if (ret > 0 && oidmap_add(&roots->added, &head.oid, 0, NULL) < 0)
		return error_nomem(r->err);
	head.name = name;
	if (ret > 0)
		ret = add_ref(roots, &head);
	return ret == ERR_NOMEM ? ret : 0;
}

static int add_worktree_head(void *ctx, const char *id, const char *git_dir)
{
	struct roots *roots = ctx;
	const struct repo *repo = roots->r->s.repo;
	struct buf name = BUF_INIT;
	int ret = 0;

	(void)git_dir;
	if (buf_printf(&name, "worktrees/%s/HEAD", id) < 0)
		ret = error_nomem(roots->r->err);
	else if (strcmp(git_dir, repo->git_dir) != 0)
		ret = add_head(roots, name.data);
	buf_release(&name);
	return ret;
}

/* Add refs and HEADs. */
static int add_refs(struct roots *roots)
{
	struct fsck_run *r = roots->r;
	int ret = refs_each_or_broken(r->s.refs, "", add_ref, add_broken, roots,
				      r->err);

	if (!ret)
		ret = add_head(roots, "HEAD");
	return ret ? ret
		   : worktree_each(r->s.repo, add_worktree_head, roots, r->err);
}

/* Add the ids in reflogs, and in private refs of work trees, as roots. */
static int add_logs(struct roots *roots)
{
	struct fsck_run *r = roots->r;
	int ret = reflog_each(r->s.repo, true, add_log, roots, r->err);

	if (!ret && r->a.name_objects)
		ret = reflog_each(r->s.repo, true, name_logged, r, r->err);
	return ret ? ret
		   : refs_each_reflog_oid(r->s.repo, add_other, roots, r->err);
}

/*
 * Resolve an argument of the command. If there is no object of this name,
 * prints an error and returns 0 with is_known false. Returns a negative error
 * code if the command must end.
 */
static int resolve_named(struct fsck_run *r, struct fsck_named *named,
			 const char *name)
{
	struct oid *oid = &named->oid;
	int ret = store_resolve(&r->s, oid, name, r->err);

	if (ret == ERR_UNSUPPORTED)
		ret = store_resolve_by_stock(r->s.repo, oid, name, r->err);
	/*
	 * The argument has a form that only stock Git resolves, and stock Git
	 * has failed with a fatal error. So end the command, too.
	 */
	if (ret == ERR_UNSUPPORTED)
		return ret;
	if (ret < 0) {
		builtin_error("invalid parameter: expected sha1, got '%s'",
			      name);
		r->found |= FSCK_FOUND_OBJECT;
	}
	named->is_known = !ret;
	return 0;
}

int fsck_resolve(struct fsck_run *r, const char **names, int name_nr)
{
	int ret = 0;

	r->named = mem_calloc((size_t)name_nr + 1, sizeof(*r->named));
	if (!r->named)
		return error_nomem(r->err);
	for (int i = 0; !ret && i < name_nr; i++)
		ret = resolve_named(r, &r->named[i], names[i]);
	return ret;
}

/*
 * Add as a root the object that an argument of the command names. Does nothing
 * if the name is unknown.
 */
static int add_named(struct roots *roots, const char *name,
		     const struct fsck_named *named)
{
	struct fsck_run *r = roots->r;
	struct oid oid = named->oid;
	char hex[OID_MAX_HEX_LEN + 1];
	bool is_bad;
	int type;

	if (!named->is_known)
		return 0;
	type = add_root(roots, &oid, is_built_in(r, &oid) ? OBJ_TREE : OBJ_NONE,
			&is_bad);
	if (is_bad && !is_built_in(r, &oid)) {
		builtin_error("%s: invalid sha1 pointer %s", name,
			      oid_to_hex(hex, &oid, r->s.repo->algo));
		r->found |= FSCK_FOUND_REACHABLE;
		return 0;
	}
	roots->named_nr++;
	if (type > 0 && type != OBJ_COMMIT &&
	    !strncmp(name, "refs/heads/", strlen("refs/heads/"))) {
		builtin_error("%s: not a commit", name);
		r->found |= FSCK_FOUND_REFS;
	}
	return type < 0 ? type : name_root(r, &oid, name);
}

/*
 * Add all roots. The order decides which name an object gets: the name of a
 * ref, then that of a reflog entry, then that of an index entry.
 */
static int add_roots(struct roots *roots, const char **names, int name_nr)
{
	struct fsck_run *r = roots->r;
	int ret = 0;

	for (int i = 0; !ret && i < name_nr; i++)
		ret = add_named(roots, names[i], &r->named[i]);
	if (!ret && !name_nr)
		ret = add_refs(roots);
	if (!ret && !name_nr && r->a.reflogs)
		ret = add_logs(roots);
	/*
	 * If no named object and no ref was found, nearly all objects are
	 * unreachable. Ignore --unreachable, which would print all of them.
	 */
	if (!ret && !(name_nr ? roots->named_nr : roots->ref_nr)) {
		fprintf(stderr, "notice: No default references\n");
		r->a.unreachable = false;
	}
	if (ret || (name_nr && !r->a.cache))
		return ret;
	return add_indexes(roots);
}

int fsck_check_links(struct fsck_run *r, const char **names, int name_nr)
{
	const struct fsck_links_events events = {
		on_broken,      on_mistyped, on_missing,
		on_unreachable, r,           on_unreadable,
	};
	struct fsck_links l;
	struct roots roots = {.r = r, .l = &l, .added = OIDMAP_INIT};
	struct progress meter;
	int ret = fsck_links_init(&l, &r->walk, &r->scan, &events, r->err);

	fsck_names_init(&r->names, &r->walk.space);
	if (r->a.name_objects)
		l.names = &r->names;
	if (r->s.repo->has_promisor)
		l.promisor = &r->promisor;
	if (!ret)
		ret = shown_path_init(&roots.shown, r->s.repo, r->err);
	if (!ret)
		ret = add_roots(&roots, names, name_nr);
	progress_start(&meter, r->progress, "Checking connectivity", 0);
	if (!ret)
		ret = fsck_links_reach(&l, r->err);
	if (!ret)
		progress_set(&meter, bitset_count(&l.reached));
	progress_stop(&meter);
	if (!ret && (r->a.unreachable || r->a.dangling || r->a.lost_found))
		ret = fsck_links_leftover(&l, r->err);
	oidmap_release(&roots.added);
	shown_path_release(&roots.shown);
	fsck_names_release(&r->names);
	fsck_links_release(&l);
	return ret;
}
