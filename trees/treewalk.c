/* SPDX-License-Identifier: MIT */
/* The plain depth-first walk over trees. */
#include "object/parse.h"
#include "trees/treewalk.h"

struct visit {
	struct treewalk *w;
	treewalk_fn fn;
	void *ctx;
};

int treewalk_init(struct treewalk *w, struct objspace *space,
		  struct odb_reader *reader)
{
	*w = (struct treewalk){
		.space = space,
		.reader = reader,
		.kinds = ITEM_KINDS_INIT,
		.path = BUF_INIT,
	};
	return bitset_init(&w->seen, objspace_end(space));
}

void treewalk_release(struct treewalk *w)
{
	bitset_release(&w->seen);
	item_kinds_release(&w->kinds);
	buf_release(&w->path);
}

int treewalk_see(struct treewalk *w, uint32_t obj_pos)
{
	if (obj_pos >= w->seen.bits &&
	    bitset_grow(&w->seen, (size_t)obj_pos + obj_pos / 2 + 64) < 0)
		return ERR_NOMEM;
	if (bitset_test(&w->seen, obj_pos))
		return 0;
	bitset_set(&w->seen, obj_pos);
	return 1;
}

int treewalk_enter(struct treewalk *w, const struct tree_entry *entry)
{
	if (w->path.len && buf_append_char(&w->path, '/') < 0)
		return ERR_NOMEM;
	return buf_append(&w->path, entry->name, entry->name_len);
}

static int deliver(const struct visit *v, uint32_t obj_pos,
		   enum object_type type, struct error *err)
{
	if (!v->fn)
		return 0;
	return v->fn(v->ctx, obj_pos, type, v->w->path.data, v->w->path.len,
		     err);
}

static int visit_tree(const struct visit *v, uint32_t tree_pos, unsigned depth,
		      struct error *err);

/*
 * Matches an entry against the pathspec. Returns 1 if the pathspec matches the
 * entry or can match a path below it, 0 if not, or ERR_NOMEM.
 */
static int is_chosen(struct treewalk *w, const struct tree_entry *entry)
{
	size_t path_len = w->path.len;
	bool chosen;

	if (treewalk_enter(w, entry) < 0)
		return ERR_NOMEM;
	chosen = tree_entry_is_dir(entry)
			 ? pathspec_lists(w->paths, w->path.data, w->path.len)
			 : pathspec_takes(w->paths, w->path.data, w->path.len,
					  false);
	buf_set_len(&w->path, path_len);
	return chosen;
}

static int note_kind(const struct visit *v, uint32_t obj_pos,
		     enum object_type type, struct error *err)
{
	struct treewalk *w = v->w;

	return v->fn ? item_kinds_add(&w->kinds, w->space, obj_pos, type, err)
		     : 0;
}

static int visit_entry(const struct visit *v, const struct tree_entry *entry,
		       unsigned depth, struct error *err)
{
	struct treewalk *w = v->w;
	size_t path_len = w->path.len;
	uint32_t obj_pos;
	int ret;

	if (tree_entry_is_gitlink(entry))
		return 0;
	if (w->paths && v->fn) {
		ret = is_chosen(w, entry);
		if (ret <= 0)
			return ret < 0 ? error_nomem(err) : 0;
	}
	if (objspace_add(w->space, entry->oid, &obj_pos) < 0)
		return error_nomem(err);
	ret = note_kind(v, obj_pos,
			tree_entry_is_dir(entry) ? OBJ_TREE : OBJ_BLOB, err);
	if (ret < 0)
		return ret;
	ret = treewalk_see(w, obj_pos);
	if (ret <= 0)
		return ret < 0 ? error_nomem(err) : 0;
	if (treewalk_enter(w, entry) < 0)
		return error_nomem(err);
	if (tree_entry_is_dir(entry))
		ret = visit_tree(v, obj_pos, depth + 1, err);
	else
		ret = deliver(v, obj_pos, OBJ_BLOB, err);
	buf_set_len(&w->path, path_len);
	return ret < 0 ? ret : 0;
}

static int visit_entries(const struct visit *v, const struct odb_object *tree,
			 unsigned depth, struct error *err)
{
	enum hash_algo algo = v->w->space->odb->algo;
	struct cursor c = cursor_make(tree->data, tree->len);
	struct tree_entry entry;
	int ret;

	while ((ret = tree_next(&entry, &c, algo)) > 0) {
		ret = visit_entry(v, &entry, depth, err);
		if (ret < 0)
			return ret;
	}
	return ret;
}

int treewalk_malformed(struct treewalk *w, uint32_t tree_pos, struct error *err)
{
	return objspace_error(w->space, tree_pos, ERR_CORRUPT, "malformed tree",
			      err);
}

int treewalk_read(struct treewalk *w, uint32_t tree_pos, unsigned depth,
		  struct odb_object *tree, struct error *err)
{
	if (odb_is_too_deep(w->space->odb, depth))
		return objspace_error(w->space, tree_pos, ERR_CORRUPT,
				      ODB_TOO_DEEP, err);
	return objspace_read_tree(w->space, w->reader, tree_pos, tree, err);
}

static int visit_tree(const struct visit *v, uint32_t tree_pos, unsigned depth,
		      struct error *err)
{
	struct treewalk *w = v->w;
	struct odb_object tree = ODB_OBJECT_INIT;
	struct error inner = ERROR_INIT;
	int ret = deliver(v, tree_pos, OBJ_TREE, err);

	if (ret)
		return ret < 0 ? ret : 0;
	ret = treewalk_read(w, tree_pos, depth, &tree, err);
	if (ret == ERR_MISSING && (!v->fn || w->skips_missing))
		return 0;
	if (ret < 0)
		return ret;
	ret = visit_entries(v, &tree, depth, &inner);
	/*
	 * The error of a malformed entry does not name the tree, so the tree's
	 * id is added here.
	 */
	if (ret < 0 && !inner.code)
		ret = treewalk_malformed(w, tree_pos, err);
	else if (ret < 0 && err)
		*err = inner;
	odb_object_release(w->reader, &tree);
	return ret;
}

int treewalk_run(struct treewalk *w, uint32_t tree_pos, const char *path,
		 treewalk_fn fn, void *ctx, struct error *err)
{
	struct visit v = {w, fn, ctx};
	int ret = note_kind(&v, tree_pos, OBJ_TREE, err);

	if (ret < 0)
		return ret;
	ret = treewalk_see(w, tree_pos);
	if (ret <= 0)
		return ret < 0 ? error_nomem(err) : 0;
	buf_reset(&w->path);
	if (buf_append_str(&w->path, path) < 0)
		return error_nomem(err);
	return visit_tree(&v, tree_pos, 0, err);
}
