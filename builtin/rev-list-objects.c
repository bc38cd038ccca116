/* SPDX-License-Identifier: MIT */
/*
 * git rev-list: lists objects one by one, in Git's order: first the wanted
 * tags, trees and blobs, then the trees of the commits. Objects that are
 * missing or do not pass the filter are collected and printed at the end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "builtin/builtin.h"
#include "builtin/output.h"
#include "builtin/rev-list.h"
#include "object/parse.h"
#include "odb/odb-stored.h"
#include "trees/treewalk.h"
#include "walk/filter-walk.h"
#include "walk/filtered.h"

struct showing {
	struct rev_list_run *r;
	struct treewalk tree;
	/*
	 * the walk that knows the path of each object; used only if the filter
	 * depends on paths
	 */
	struct filter_walk paths;
	bool has_paths;
	/* the root of the tree that is walked now (obj_pos) */
	uint32_t root_pos;
	/*
	 * Used only if has_paths is true: a second walk, without the filter. It
	 * finds the objects that the filter leaves out.
	 */
	struct treewalk all;
};

static int add_disk_size(struct rev_list_run *r, const struct oid *oid)
{
	uint64_t len;
	const struct odb *odb = odb_reader_holder(r->walk.reader, oid);
	int ret = odb_stored_len(&len, odb, oid, r->err);

	if (!ret)
		r->disk_bytes += len;
	return ret;
}

/*
 * Add an object to the counts of --count and --disk-usage. Returns 1 if the
 * object must also be printed, 0 if not, or a negative error code.
 */
static int count_object(struct rev_list_run *r, uint32_t obj_pos)
{
	struct oid oid;

	r->shown++;
	if (!r->o.disk_usage)
		return !r->o.quiet && !r->o.count;
	objspace_oid(&oid, &r->walk.space, obj_pos);
	return add_disk_size(r, &oid);
}

static void print_id(struct rev_list_run *r, uint32_t obj_pos)
{
	char hex[OID_MAX_HEX_LEN + 1];
	struct oid oid;

	objspace_oid(&oid, &r->walk.space, obj_pos);
	oid_to_hex(hex, &oid, r->odb->algo);
	fwrite(hex, 1, hash_hex_len(r->odb->algo), stdout);
}

/* Returns whether --unpacked leaves out an object. */
static bool is_left_out(struct rev_list_run *r, uint32_t obj_pos)
{
	return r->o.unpacked && objspace_is_packed(&r->walk.space, obj_pos);
}

int rev_list_show(struct rev_list_run *r, uint32_t obj_pos, const char *name)
{
	int ret = is_left_out(r, obj_pos) ? 0 : count_object(r, obj_pos);

	if (ret <= 0)
		return ret;
	print_id(r, obj_pos);
	if (name && !r->o.no_object_names) {
		putchar(' ');
		/* As in stock Git, a name ends at its first newline. */
		fwrite(name, 1, strcspn(name, "\n"), stdout);
	}
	putchar('\n');
	return 0;
}

/* ---- missing objects */

/*
 * Append " path=<path>". The path is quoted if it contains a blank or a
 * character that needs an escape, such as a newline.
 */
static int append_path(struct buf *out, const char *path, size_t len)
{
	bool has_space = memchr(path, ' ', len);
	size_t start;

	if (buf_append_str(out, " path=") < 0)
		return ERR_NOMEM;
	start = out->len;
	if (output_append_path(out, path, len, true) < 0)
		return ERR_NOMEM;
	if (!has_space || out->data[start] == '"')
		return 0;
	if (buf_append_str(out, "\"\"") < 0)
		return ERR_NOMEM;
	memmove(out->data + start + 1, out->data + start, out->len - start - 2);
	out->data[start] = '"';
	return 0;
}

/*
 * Handle a missing object as --missing says: note it for the list of missing
 * objects, ignore it, or return an error. `type` is OBJ_NONE if only the id of
 * the object is known.
 */
static int note_missing(struct rev_list_run *r, uint32_t obj_pos,
			enum object_type type, const char *path,
			struct error *err)
{
	char hex[OID_MAX_HEX_LEN + 1];
	struct buf *out = &r->missing;
	struct oid oid;
	int ret = 0;

	objspace_oid(&oid, &r->walk.space, obj_pos);
	oid_to_hex(hex, &oid, r->odb->algo);
	if (r->o.exclude_promisor || r->o.missing == MISSING_ALLOW_PROMISOR) {
		ret = promisor_promises(&r->promisor, obj_pos, err);
		if (ret)
			return ret < 0 ? ret : 0;
	}
	if (r->o.missing == MISSING_ERROR ||
	    r->o.missing == MISSING_ALLOW_PROMISOR)
		return type == OBJ_TREE || type == OBJ_NONE
			       ? error_set(err, ERR_MISSING, "bad %sobject %s",
					   type == OBJ_TREE ? "tree " : "", hex)
			       : error_set(err, ERR_MISSING,
					   "%smissing %s object '%s'",
					   r->o.missing == MISSING_ERROR
						   ? ""
						   : "unexpected ",
					   object_type_name(type), hex);
	if (r->o.missing == MISSING_ALLOW_ANY)
		return 0;
	if (bitset_grow(&r->missed, (size_t)obj_pos + 1) < 0)
		return error_nomem(err);
	if (bitset_get(&r->missed, obj_pos))
		return 0;
	bitset_set(&r->missed, obj_pos);
	if (buf_printf(out, "?%s", hex) < 0)
		return error_nomem(err);
	if (r->o.missing == MISSING_PRINT_INFO && type != OBJ_NONE) {
		if (*path)
			ret = append_path(out, path, strlen(path));
		if (!ret)
			ret = buf_printf(out, " type=%s",
					 object_type_name(type));
	}
	if (ret < 0 || buf_append_char(out, '\n') < 0)
		return error_nomem(err);
	return 0;
}

/*
 * Find the missing object that is *oid itself, or to which the tag *oid leads.
 * Returns whether there is such an object, and sets *oid to its id. As in stock
 * Git, an object whose loose file is empty counts as missing; an error about
 * this file is printed.
 */
static bool find_missing(struct rev_list_run *r, struct oid *oid)
{
	struct odb_object obj = ODB_OBJECT_INIT;
	struct error why = ERROR_INIT;
	struct tag_view tag;
	int ret;

	while (!(ret = odb_read(r->walk.reader, oid, &obj, &why))) {
		bool is_tag = obj.type == OBJ_TAG &&
			      !tag_parse(&tag, obj.data, obj.len, r->odb->algo,
					 NULL);

		if (is_tag)
			*oid = tag.target;
		odb_object_release(r->walk.reader, &obj);
		if (!is_tag)
			return false;
	}
	if (ret == ERR_CORRUPT && odb_stored_is_empty(r->odb, oid)) {
		builtin_error("%s", why.msg);
		return true;
	}
	return ret == ERR_MISSING;
}

int rev_list_miss_tip(struct rev_list_run *r, const struct oid *oid,
		      bool is_excluded, int code)
{
	struct oid missing = *oid;
	uint32_t obj_pos;

	if (!find_missing(r, &missing))
		return code;
	*r->err = (struct error)ERROR_INIT;
	/*
	 * With --missing=allow-promisor, a tip, or the target of a tag, may be
	 * missing even if no remote has promised this object.
	 */
	if (r->o.missing == MISSING_ALLOW_ANY ||
	    r->o.missing == MISSING_ALLOW_PROMISOR ||
	    (is_excluded && !oid_equal(&missing, oid)))
		return 0;
	if (objspace_add(&r->walk.space, missing.bytes, &obj_pos) < 0)
		return error_nomem(r->err);
	return note_missing(r, obj_pos, OBJ_NONE, "", r->err);
}

/*
 * Check whether an object exists. A missing object is fetched if fetching is
 * allowed, and then exists. If the options allow missing objects, a tree that
 * is not in a pack is also read. If this tree is damaged, it counts as missing,
 * and an error is printed. As in stock Git, packed trees and objects of other
 * types are not read.
 *
 * Returns 1 if the object exists, 0 if not, or a negative error code.
 */
static int is_there(struct rev_list_run *r, uint32_t obj_pos,
		    enum object_type type, struct error *err)
{
	struct odb_object obj = ODB_OBJECT_INIT;
	struct error why = ERROR_INIT;
	struct oid oid;
	int ret;

	if (obj_pos < r->walk.space.packed_nr)
		return 1;
	objspace_oid(&oid, &r->walk.space, obj_pos);
	ret = odb_reader_need(r->walk.reader, &oid, err);
	if (ret <= 0 || type != OBJ_TREE || r->o.missing == MISSING_ERROR)
		return ret;
	ret = odb_read(r->walk.reader, &oid, &obj, &why);
	odb_object_release(r->walk.reader, &obj);
	if (ret == ERR_CORRUPT)
		builtin_error("%s", why.msg);
	return ret != ERR_CORRUPT;
}

/* ---- objects that do not pass the filter */

static int note_omitted(struct rev_list_run *r, uint32_t obj_pos,
			struct error *err)
{
	char hex[OID_MAX_HEX_LEN + 1];
	struct oid oid;

	if (!r->o.print_omitted)
		return 0;
	objspace_oid(&oid, &r->walk.space, obj_pos);
	if (buf_printf(&r->omitted, "~%s\n",
		       oid_to_hex(hex, &oid, r->odb->algo)) < 0)
		return error_nomem(err);
	return 0;
}

/*
 * Find whether an object passes the filter. Returns 1 if so, 0 if not, or a
 * negative error code.
 */
static int passes(struct rev_list_run *r, uint32_t obj_pos,
		  enum object_type type, struct error *err)
{
	if (filter_is_empty(&r->filter.filter) ||
	    bitset_get(&r->unfiltered, obj_pos))
		return 1;
	return filter_takes(&r->filter.filter, &r->walk.space, r->walk.reader,
			    obj_pos, type, err);
}

/*
 * Returns whether --filter-print-omitted lists an object of this type that the
 * filter leaves out. An object that is left out because object:type names
 * another type is not listed.
 */
static bool is_omitted(const struct rev_list_run *r, enum object_type type)
{
	return r->filter.filter.types >> type & 1;
}

static int show_object(void *ctx, uint32_t obj_pos, enum object_type type,
		       const char *path, size_t path_len, struct error *err)
{
	struct showing *s = ctx;
	struct rev_list_run *r = s->r;
	int ret = passes(r, obj_pos, type, err);

	if (ret < 0)
		return ret;
	if (!ret)
		return is_omitted(r, type) ? note_omitted(r, obj_pos, err) : 0;
	ret = is_there(r, obj_pos, type, err);
	if (!ret)
		ret = note_missing(r, obj_pos, type, path, err);
	else if (ret > 0)
		return rev_list_show(r, obj_pos, path);
	return ret < 0 ? ret : 1;
}

/* ---- listing objects */

/* Show a tag object with the name that is stored in it. */
static int show_tag(struct showing *s, uint32_t obj_pos)
{
	struct rev_list_run *r = s->r;
	struct odb_object obj = ODB_OBJECT_INIT;
	struct tag_view tag;
	char *name = NULL;
	int ret = objspace_read(&r->walk.space, r->walk.reader, obj_pos, &obj,
				r->err);

	if (!ret)
		ret = tag_parse(&tag, obj.data, obj.len, r->odb->algo, r->err);
	if (!ret) {
		name = strndup(tag.name, tag.name_len);
		ret = name ? show_object(s, obj_pos, OBJ_TAG, name,
					 tag.name_len, r->err)
			   : error_nomem(r->err);
	}
	free(name);
	odb_object_release(r->walk.reader, &obj);
	return ret;
}

/* Returns whether the output depends on the content of trees. */
static bool needs_trees(const struct rev_list_run *r)
{
	return r->o.print_omitted ||
	       filter_takes_type(&r->filter.filter, OBJ_TREE) ||
	       filter_takes_type(&r->filter.filter, OBJ_BLOB);
}

/*
 * Show an object that the walk over a tree has met, if it passes the filter.
 * Usually, wants are shown without being filtered. But a want that is met as an
 * entry of another tree is filtered like other objects. Returns 1 if the walk
 * may skip the entries of a tree, because they cannot change the output;
 * otherwise 0 or a negative error code.
 */
static int show_met(void *ctx, uint32_t obj_pos, enum object_type type,
		    const char *path, size_t path_len, struct error *err)
{
	struct showing *s = ctx;
	struct rev_list_run *r = s->r;

	if (obj_pos != s->root_pos)
		filtered_unspare(&r->unfiltered, obj_pos);
	if (type == OBJ_TREE && !needs_trees(r) &&
	    !bitset_get(&r->unfiltered, obj_pos))
		return 1;
	return show_object(s, obj_pos, type, path, path_len, err);
}

static int show_tree(struct showing *s, uint32_t tree_pos, const char *path)
{
	struct rev_list_run *r = s->r;
	int ret;

	s->root_pos = tree_pos;
	if (!s->has_paths)
		return treewalk_run(&s->tree, tree_pos, path, show_met, s,
				    r->err);
	ret = filter_walk_run(&s->paths, tree_pos, path,
			      bitset_get(&r->unfiltered, tree_pos), show_object,
			      s, r->err);
	if (!ret && r->o.print_omitted)
		ret = treewalk_run(&s->all, tree_pos, path, NULL, NULL, r->err);
	return ret;
}

static int show_other(struct showing *s, size_t i)
{
	struct rev_list_run *r = s->r;
	const struct walk_item *item = &r->wants.others.items[i];
	const char *path = r->want_paths[i] ? r->want_paths[i] : "";

	if (item->type == OBJ_TREE)
		return show_tree(s, item->obj_pos, path);
	if (item->type == OBJ_BLOB && s->has_paths &&
	    !bitset_get(&r->unfiltered, item->obj_pos))
		return filter_walk_blob(&s->paths, item->obj_pos, path,
					show_object, s, r->err);
	switch (treewalk_see(&s->tree, item->obj_pos)) {
	case 0:
		return 0;
	case 1:
		return item->type == OBJ_TAG
			       ? show_tag(s, item->obj_pos)
			       : show_object(s, item->obj_pos, item->type, path,
					     strlen(path), r->err);
	default:
		return error_nomem(r->err);
	}
}

static int exclude_trees(struct showing *s, const uint32_t *boundary, size_t nr)
{
	struct rev_list_run *r = s->r;
	const struct history_commit *commits = r->walk.history.commits;
	int ret = 0;

	for (size_t i = 0; i < r->haves.others.nr && !ret; i++) {
		const struct walk_item *item = &r->haves.others.items[i];

		if (item->type == OBJ_TREE)
			ret = treewalk_run(&s->tree, item->obj_pos, "", NULL,
					   NULL, r->err);
		else if (treewalk_see(&s->tree, item->obj_pos) < 0)
			ret = error_nomem(r->err);
	}
	for (size_t i = 0; i < nr && !ret; i++) {
		const struct history_commit *c = &commits[boundary[i]];
		uint32_t tree_pos;

		if (!c->parsed || c->missing)
			continue;
		ret = history_tree(&r->walk.history, boundary[i], &tree_pos,
				   r->err);
		if (!ret)
			ret = treewalk_run(&s->tree, tree_pos, "", NULL, NULL,
					   r->err);
	}
	return ret;
}

static bool is_boundary(const struct rev_list_run *r, uint32_t commit_nr)
{
	return r->history.simplify &&
	       simplify_is_boundary(r->history.simplify, commit_nr);
}

/*
 * Add a commit to the counts of --count. As in stock Git, a boundary commit is
 * counted even if --unpacked would leave it out.
 */
static int count_commit(struct rev_list_run *r, uint32_t commit_nr)
{
	uint32_t obj_pos = r->walk.history.commits[commit_nr].obj_pos;
	uint64_t before = r->shown;
	int ret = is_left_out(r, obj_pos) && !is_boundary(r, commit_nr)
			  ? 0
			  : count_object(r, obj_pos);

	if (r->shown != before)
		rev_list_count_side(r, commit_nr);
	return ret;
}

/* Print " <id>" for each commit in a list. */
static void print_ids(struct rev_list_run *r,
		      const struct simplify_commits *list)
{
	for (size_t i = 0; i < list->nr; i++) {
		putchar(' ');
		print_id(r, r->walk.history.commits[list->items[i]].obj_pos);
	}
}

/*
 * Print the ids of parents or children after a commit's id (--parents,
 * --children).
 */
static void print_relatives(struct rev_list_run *r, uint32_t commit_nr)
{
	const struct simplify *s = r->history.simplify;
	struct simplify_commits list;

	if (r->history.print_parents) {
		list = simplify_parents(s, commit_nr);
		print_ids(r, &list);
	} else if (r->history.o.children) {
		list = simplify_children(s, commit_nr);
		print_ids(r, &list);
	}
}

int rev_list_show_commit(struct rev_list_run *r, uint32_t commit_nr)
{
	const struct history_commit *c = &r->walk.history.commits[commit_nr];
	int ret;

	if (c->missing)
		return note_missing(r, c->obj_pos, OBJ_COMMIT, "", r->err);
	ret = passes(r, c->obj_pos, OBJ_COMMIT, r->err);
	if (ret > 0)
		ret = count_commit(r, commit_nr);
	if (ret <= 0)
		return ret;
	if (is_boundary(r, commit_nr))
		putchar('-');
	else
		rev_list_print_side(r, commit_nr);
	print_id(r, c->obj_pos);
	if (r->history.simplify)
		print_relatives(r, commit_nr);
	putchar('\n');
	return 0;
}

static int show_others(struct showing *s)
{
	int ret = 0;

	if (filtered_may_nest(&s->r->wants))
		s->paths.spared = &s->r->unfiltered;
	for (size_t i = 0; s->r->o.objects && i < s->r->wants.others.nr && !ret;
	     i++)
		ret = show_other(s, i);
	s->paths.spared = NULL;
	return ret;
}

static int show_tree_of(struct showing *s, uint32_t commit_nr)
{
	struct rev_list_run *r = s->r;
	const struct history_commit *c = &r->walk.history.commits[commit_nr];
	uint32_t tree_pos;
	int ret;

	if (!r->o.objects || c->missing || !c->parsed || !needs_trees(r) ||
	    is_left_out(r, c->obj_pos))
		return 0;
	ret = history_tree(&r->walk.history, commit_nr, &tree_pos, r->err);
	return ret < 0 ? ret : show_tree(s, tree_pos, "");
}

/*
 * Show the objects that the wants reach. Wants that are not commits, such as
 * tags and blobs, come before the first tree, also with --in-commit-order.
 */
static int show_all(struct showing *s, const uint32_t *commits, size_t nr)
{
	bool in_order = s->r->o.in_commit_order;
	int ret = 0;

	if (in_order && nr)
		ret = rev_list_show_commit(s->r, commits[0]);
	if (!ret)
		ret = show_others(s);
	for (size_t i = 0; i < nr && !ret; i++) {
		if (in_order && i)
			ret = rev_list_show_commit(s->r, commits[i]);
		if (!ret)
			ret = show_tree_of(s, commits[i]);
	}
	return ret;
}

/*
 * Add objects to the list of omitted objects: those that were found by the walk
 * without a filter, but not by the walk with the filter.
 */
static int note_rest(struct showing *s)
{
	struct rev_list_run *r = s->r;
	struct bitset *met = &s->all.seen;
	int ret = 0;

	for (size_t i = bitset_next(met, 0); i < met->bits && !ret;
	     i = bitset_next(met, i + 1))
		if (!bitset_get(&s->paths.excluded, i) &&
		    !bitset_get(&s->tree.seen, i))
			ret = note_omitted(r, (uint32_t)i, r->err);
	return ret;
}

/*
 * By default, the filter does not apply to a tree that the arguments name.
 * Apply the filter to such a tree if it is also the root tree of a commit in
 * `commits`. Returns 0 or a negative error code.
 */
static int filter_roots(struct rev_list_run *r, const uint32_t *commits,
			size_t nr)
{
	if (!r->filter.filter.nr || !r->wants.others.nr)
		return 0;
	return filtered_unspare_roots(&r->unfiltered, &r->walk, commits, nr,
				      r->err);
}

static int start_paths(struct showing *s)
{
	struct rev_list_run *r = s->r;
	int ret = filter_walk_init(&s->paths, &r->filter.filter, &s->tree,
				   r->err);

	s->has_paths = true;
	if (!ret &&
	    (treewalk_init(&s->all, &r->walk.space, r->walk.reader) < 0 ||
	     bitset_copy(&s->all.seen, &s->tree.seen) < 0))
		ret = error_nomem(r->err);
	return ret;
}

int rev_list_show_objects(struct rev_list_run *r, const uint32_t *commits,
			  size_t nr, const uint32_t *boundary,
			  size_t boundary_nr)
{
	struct showing s = {.r = r};
	int ret = treewalk_init(&s.tree, &r->walk.space, r->walk.reader);

	if (!ret && r->o.exclude_promisor && r->promisor.has_packs)
		ret = bitset_copy(&s.tree.seen, &r->promisor.packed);
	ret = ret < 0 ? error_nomem(r->err)
		      : exclude_trees(&s, boundary, boundary_nr);
	if (!ret && filter_needs_paths(&r->filter.filter))
		ret = start_paths(&s);
	s.tree.paths = r->history.o.paths;
	if (!ret)
		ret = filter_roots(r, commits, nr);
	if (!ret)
		ret = show_all(&s, commits, nr);
	if (!ret && s.has_paths && r->o.print_omitted)
		ret = note_rest(&s);
	if (s.has_paths) {
		filter_walk_release(&s.paths);
		treewalk_release(&s.all);
	}
	treewalk_release(&s.tree);
	return ret;
}
