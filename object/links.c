/* SPDX-License-Identifier: MIT */
/* Links between objects. */
#include "object/links.h"
#include "object/parse.h"

struct visit {
	const void *data;
	size_t len;
	enum hash_algo algo;
	object_link_fn *fn;
	void *ctx;
	struct error *err;
};

static int of_commit(const struct visit *v)
{
	struct commit_view view;
	struct oid parent;
	int ret = commit_parse(&view, v->data, v->len, v->algo, v->err);

	if (!ret)
		ret = v->fn(v->ctx, &view.tree, OBJ_TREE, v->err);
	for (size_t i = 0; !ret && i < view.parent_nr; i++) {
		commit_parent(&parent, &view, i, v->algo);
		ret = v->fn(v->ctx, &parent, OBJ_COMMIT, v->err);
	}
	return ret;
}

static int of_tree(const struct visit *v)
{
	struct cursor c = cursor_make(v->data, v->len);
	struct tree_entry entry;
	int more, ret = 0;

	while (!ret && (more = tree_next(&entry, &c, v->algo)) > 0) {
		struct oid oid;

		if (tree_entry_is_gitlink(&entry))
			continue;
		oid_from_raw(&oid, entry.oid, v->algo);
		ret = v->fn(v->ctx, &oid,
			    tree_entry_is_dir(&entry) ? OBJ_TREE : OBJ_BLOB,
			    v->err);
	}
	if (!ret && more < 0)
		ret = error_set(v->err, more, "malformed tree");
	return ret;
}

static int of_tag(const struct visit *v)
{
	struct tag_view view;
	int ret = tag_parse(&view, v->data, v->len, v->algo, v->err);

	return ret < 0 ? ret
		       : v->fn(v->ctx, &view.target, view.target_type, v->err);
}

int object_links_each(enum object_type type, const void *data, size_t len,
		      enum hash_algo algo, object_link_fn *fn, void *ctx,
		      struct error *err)
{
	const struct visit v = {data, len, algo, fn, ctx, err};

	switch (type) {
	case OBJ_COMMIT:
		return of_commit(&v);
	case OBJ_TREE:
		return of_tree(&v);
	case OBJ_TAG:
		return of_tag(&v);
	default:
		return 0;
	}
}
