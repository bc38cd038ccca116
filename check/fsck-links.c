/* SPDX-License-Identifier: MIT */
/* Finds reachable, missing and unreachable objects for fsck. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "check/fsck-objects.h"
#include "object/parse.h"

int fsck_links_init(struct fsck_links *l, struct walk *walk,
		    const struct fsck_scan *scan,
		    const struct fsck_links_events *events, struct error *err)
{
	*l = (struct fsck_links){
		.walk = walk,
		.scan = scan,
		.events = events,
	};
	history_drop_graph(&walk->history);
	if (bitset_init(&l->reached, scan->type_nr) < 0 ||
	    bitset_init(&l->promised, scan->type_nr) < 0)
		return error_nomem(err);
	return 0;
}

void fsck_links_release(struct fsck_links *l)
{
	bitset_release(&l->reached);
	bitset_release(&l->promised);
	free(l->roots.items);
	free(l->absent.items);
	free(l->stack);
}

/*
 * Adds an object to a set. Returns 1 if the object is new in the set, 0 if the
 * set had it already, or ERR_NOMEM.
 */
static int mark(struct bitset *set, uint32_t obj_pos)
{
	if (obj_pos >= set->bits && bitset_grow(set, (size_t)obj_pos + 1) < 0)
		return ERR_NOMEM;
	if (bitset_test(set, obj_pos))
		return 0;
	bitset_set(set, obj_pos);
	return 1;
}

static void describe(struct fsck_links_object *object, struct fsck_links *l,
		     uint32_t obj_pos, enum object_type type)
{
	objspace_oid(&object->oid, &l->walk->space, obj_pos);
	object->type = type;
}

/*
 * Returns the type of an object, or OBJ_NONE if the object is missing.
 * `expected` is the type that a link to the object requires. An object whose
 * header cannot be read counts as a blob if a link requires a blob, otherwise
 * as missing.
 */
static enum object_type type_of(const struct fsck_links *l, uint32_t obj_pos,
				enum object_type expected)
{
	enum object_type type = fsck_scan_type(l->scan, obj_pos);

	if (type != FSCK_UNKNOWN)
		return type;
	return expected == OBJ_BLOB ? OBJ_BLOB : OBJ_NONE;
}

int fsck_links_root(struct fsck_links *l, const struct oid *oid,
		    enum object_type expected, struct error *err)
{
	enum object_type type;
	uint32_t obj_pos;

	if (objspace_add(&l->walk->space, oid->bytes, &obj_pos) < 0)
		return error_nomem(err);
	type = type_of(l, obj_pos, expected);
	if (type == OBJ_NONE && expected == OBJ_NONE)
		return 0;
	if (walk_items_append(type == OBJ_NONE ? &l->absent : &l->roots,
			      obj_pos, type == OBJ_NONE ? expected : type,
			      0) < 0)
		return error_nomem(err);
	return type;
}

/* ---- the fast way, if nothing is missing */

/*
 * Marks an object as reached. Returns 0, ERR_MISSING if no object of this type
 * exists, or ERR_NOMEM.
 */
static int confirm(struct fsck_links *l, uint32_t obj_pos,
		   enum object_type type)
{
	int ret = type_of(l, obj_pos, type) == type ? mark(&l->reached, obj_pos)
						    : ERR_MISSING;

	return ret < 0 ? ret : 0;
}

static int confirm_all(struct fsck_links *l, const struct walk_result *result)
{
	const struct history *h = &l->walk->history;
	int ret = 0;

	for (size_t i = 0; !ret && i < result->revs.nr; i++)
		ret = confirm(l, h->commits[result->revs.commits[i]].obj_pos,
			      OBJ_COMMIT);
	for (size_t i = 0; !ret && i < result->objects.nr; i++)
		ret = confirm(l, result->objects.items[i].obj_pos,
			      (enum object_type)result->objects.items[i].type);
	return ret;
}

/*
 * Marks all objects that roots of the types commit and tag reach.
 * go_one_by_one() handles roots of other types. Returns 0, or a negative error
 * code if an object is missing or cannot be read.
 *
 * An enumeration takes the type of an object from the root or from the first
 * link that leads to the object. So if two links expect different types of one
 * object, the enumeration does not notice this.
 */
static int enumerate(struct fsck_links *l, struct error *err)
{
	const struct walk_options options = {
		.objects = true,
		.set_only = true,
		.threads = l->scan->threads,
	};
	struct walk_result result = WALK_RESULT_INIT;
	struct walk_tips wants = WALK_TIPS_INIT, haves = WALK_TIPS_INIT;
	int ret = 0;

	for (size_t i = 0; !ret && i < l->roots.nr; i++) {
		const struct walk_item *root = &l->roots.items[i];
		struct oid oid;

		if (root->type != OBJ_COMMIT && root->type != OBJ_TAG)
			continue;
		objspace_oid(&oid, &l->walk->space, root->obj_pos);
		ret = walk_add_tip(l->walk, &wants, &oid, false, err);
	}
	if (!ret)
		ret = walk_enumerate(&result, l->walk, &wants, &haves, &options,
				     err);
	if (!ret)
		ret = confirm_all(l, &result);
	walk_tips_release(&wants);
	walk_result_release(&result);
	return ret;
}

/* ---- one by one */

/*
 * Receives a link in the object `from`: the link refers to `to`, and expects
 * that `to` has the type `type`. `way` says where in `from` the link is.
 */
typedef int link_fn(struct fsck_links *l, const struct fsck_links_object *from,
		    const struct oid *to, enum object_type type,
		    const struct fsck_way *way, void *ctx, struct error *err);

static int commit_links(struct fsck_links *l,
			const struct fsck_links_object *from,
			const struct odb_object *obj, link_fn *fn, void *ctx,
			struct error *err)
{
	enum hash_algo algo = l->walk->odb->algo;
	struct fsck_way way = {.parent_nr = 0};
	struct commit_view view;
	struct oid parent;
	uint32_t value;
	int ret;

	if (commit_parse(&view, obj->data, obj->len, algo, NULL) < 0)
		/* fsck_scan_run() has reported this malformed commit already */
		return 0;
	ret = fn(l, from, &view.tree, OBJ_TREE, &way, ctx, err);
	if (oidmap_get(&l->walk->shallow, &from->oid, &value))
		return ret;
	for (size_t i = 0; !ret && i < view.parent_nr; i++) {
		commit_parent(&parent, &view, i, algo);
		way.parent_nr = i + 1;
		ret = fn(l, from, &parent, OBJ_COMMIT, &way, ctx, err);
	}
	return ret;
}

static int tree_links(struct fsck_links *l,
		      const struct fsck_links_object *from,
		      const struct odb_object *obj, link_fn *fn, void *ctx,
		      struct error *err)
{
	enum hash_algo algo = l->walk->odb->algo;
	struct cursor c = cursor_make(obj->data, obj->len);
	struct tree_entry entry;
	struct oid oid;
	int ret = 0;

	while (!ret && tree_next(&entry, &c, algo) > 0) {
		const struct fsck_way way = {
			.entry = entry.name,
			.entry_len = entry.name_len,
		};

		if (tree_entry_is_gitlink(&entry))
			continue;
		oid_from_raw(&oid, entry.oid, algo);
		ret = fn(l, from, &oid,
			 tree_entry_is_dir(&entry) ? OBJ_TREE : OBJ_BLOB, &way,
			 ctx, err);
	}
	return ret;
}

/*
 * Calls `fn` for each link of an object to another. A malformed object has no
 * links. Returns 0, or 1 with *why set if the object cannot be read, or the
 * first negative value of `fn`.
 */
static int each_link(struct fsck_links *l, uint32_t obj_pos, link_fn *fn,
		     void *ctx, struct error *why, struct error *err)
{
	const struct fsck_way way = {.parent_nr = 0};
	struct fsck_links_object from;
	struct odb_object obj;
	struct tag_view tag;
	int ret = 0;

	describe(&from, l, obj_pos, fsck_scan_type(l->scan, obj_pos));
	if (from.type == OBJ_BLOB || from.type == FSCK_UNKNOWN)
		return 0;
	if (objspace_read(&l->walk->space, l->walk->reader, obj_pos, &obj,
			  why) < 0)
		return 1;
	if (obj.type == OBJ_COMMIT)
		ret = commit_links(l, &from, &obj, fn, ctx, err);
	else if (obj.type == OBJ_TREE)
		ret = tree_links(l, &from, &obj, fn, ctx, err);
	else if (obj.type == OBJ_TAG &&
		 !tag_parse(&tag, obj.data, obj.len, l->walk->odb->algo, NULL))
		ret = fn(l, &from, &tag.target, tag.target_type, &way, ctx,
			 err);
	odb_object_release(l->walk->reader, &obj);
	return ret;
}

/*
 * Adds an object to the stack of objects whose links are followed, unless the
 * object is promised. Returns 0 or a negative error code.
 */
static int push(struct fsck_links *l, uint32_t obj_pos, struct error *err)
{
	int ret = l->promisor ? promisor_promises(l->promisor, obj_pos, err)
			      : 0;

	if (ret < 0)
		return ret;
	if (ret)
		return mark(&l->promised, obj_pos) < 0 ? error_nomem(err) : 0;
	if (mem_grow(&l->stack, &l->stack_alloc, l->stack_nr + 1,
		     sizeof(*l->stack)) < 0)
		return error_nomem(err);
	l->stack[l->stack_nr++] = obj_pos;
	return 0;
}

/*
 * Follows a link of a reached object: marks the target as reached, and reports
 * it if it is missing or has another type. Returns 0, a negative result of a
 * callback, or another negative error code.
 */
static int reach_link(struct fsck_links *l,
		      const struct fsck_links_object *from,
		      const struct oid *to, enum object_type type,
		      const struct fsck_way *way, void *ctx, struct error *err)
{
	const struct fsck_links_events *e = l->events;
	struct fsck_links_object child = {*to, type};
	enum object_type actual;
	uint32_t obj_pos;
	int ret = objspace_add(&l->walk->space, to->bytes, &obj_pos);

	actual = ret ? OBJ_NONE : type_of(l, obj_pos, type);
	if (actual != OBJ_NONE && actual != type)
		return e->mistyped(e->ctx, from, &child, actual, err);
	if (!ret)
		ret = mark(&l->reached, obj_pos);
	if (ret > 0 && l->names &&
	    fsck_names_link(l->names, &from->oid, from->type, to, type, way) <
		    0)
		ret = ERR_NOMEM;
	if (ret <= 0)
		return ret < 0 ? error_nomem(err) : 0;
	ret = actual == OBJ_NONE ? e->broken(e->ctx, from, &child, err) : 0;
	if (ret)
		return ret;
	if (actual != OBJ_NONE)
		return push(l, obj_pos, err);
	return walk_items_append(&l->absent, obj_pos, type, 0) < 0
		       ? error_nomem(err)
		       : 0;
}

/*
 * Reports an object that was reached, but cannot be read. Returns 0, a
 * negative result of a callback, or another negative error code.
 */
static int tell_unreadable(struct fsck_links *l, uint32_t obj_pos,
			   const struct error *why, struct error *err)
{
	const struct fsck_links_events *e = l->events;
	enum object_type type = fsck_scan_type(l->scan, obj_pos);
	struct fsck_links_object object;

	describe(&object, l, obj_pos, type);
	if (walk_items_append(&l->absent, obj_pos, type, 0) < 0)
		return error_nomem(err);
	return e->unreadable ? e->unreadable(e->ctx, &object, why, err) : 0;
}

static int follow_links(struct fsck_links *l, uint32_t obj_pos,
			struct error *err)
{
	struct error why = ERROR_INIT;
	int ret = each_link(l, obj_pos, reach_link, NULL, &why, err);

	return ret > 0 ? tell_unreadable(l, obj_pos, &why, err) : ret;
}

/*
 * Marks the missing roots as reached, so that each is reported once. Returns 0
 * or ERR_NOMEM.
 */
static int mark_absent(struct fsck_links *l, struct error *err)
{
	size_t nr = 0;

	for (size_t i = 0; i < l->absent.nr; i++) {
		int ret = mark(&l->reached, l->absent.items[i].obj_pos);

		if (ret < 0)
			return error_nomem(err);
		if (ret)
			l->absent.items[nr++] = l->absent.items[i];
	}
	l->absent.nr = nr;
	return 0;
}

/*
 * Visits all roots that were not reached yet, and follows links from object to
 * object. Returns 0, a negative result of a callback, or another negative error
 * code.
 */
static int go_one_by_one(struct fsck_links *l, struct error *err)
{
	int ret = 0;

	for (size_t i = 0; i < l->roots.nr; i++) {
		ret = mark(&l->reached, l->roots.items[i].obj_pos);
		if (ret < 0)
			return error_nomem(err);
		if (ret)
			ret = push(l, l->roots.items[i].obj_pos, err);
		if (ret < 0)
			return ret;
	}
	ret = mark_absent(l, err);
	while (!ret && l->stack_nr)
		ret = follow_links(l, l->stack[--l->stack_nr], err);
	return ret;
}

int fsck_links_reach(struct fsck_links *l, struct error *err)
{
	struct error why = ERROR_INIT;
	/*
	 * enumerate() would follow links of promised objects, so it is not used
	 * in a partial clone.
	 */
	int ret = l->promisor ? ERR_MISSING : enumerate(l, &why);

	if (ret == ERR_NOMEM)
		return error_nomem(err);
	if (ret < 0)
		bitset_clear(&l->reached);
	ret = go_one_by_one(l, err);
	for (size_t i = 0; !ret && i < l->absent.nr; i++) {
		struct fsck_links_object object;

		describe(&object, l, l->absent.items[i].obj_pos,
			 (enum object_type)l->absent.items[i].type);
		ret = l->events->missing(l->events->ctx, &object, err);
	}
	return ret;
}

/* ---- unreachable objects */

static int use_link(struct fsck_links *l, const struct fsck_links_object *from,
		    const struct oid *to, enum object_type type,
		    const struct fsck_way *way, void *ctx, struct error *err)
{
	uint32_t obj_pos;

	(void)way;
	/*
	 * Skip an object that the repository does not have: it has no obj_pos.
	 */
	if (objspace_find(&l->walk->space, to->bytes, &obj_pos) &&
	    mark(ctx, obj_pos) < 0)
		return error_nomem(err);
	return 0;
}

static bool is_leftover(const struct fsck_links *l, size_t obj_pos)
{
	return fsck_scan_has_checked(l->scan, obj_pos) &&
	       !bitset_get(&l->reached, obj_pos);
}

/*
 * Returns whether the links of an object make their targets "used". An
 * unreachable object that is not used is reported as dangling.
 */
static bool is_user(const struct fsck_links *l, size_t obj_pos)
{
	return is_leftover(l, obj_pos) ||
	       (!l->scan->is_list && bitset_get(&l->promised, obj_pos) &&
		fsck_scan_has_checked(l->scan, obj_pos));
}

int fsck_links_leftover(struct fsck_links *l, struct error *err)
{
	size_t nr = l->scan->type_nr;
	struct bitset used;
	int ret = 0;

	if (bitset_init(&used, nr) < 0)
		return error_nomem(err);
	for (size_t i = 0; ret >= 0 && i < nr; i++)
		if (is_user(l, i))
			ret = each_link(l, (uint32_t)i, use_link, &used, NULL,
					err);
	if (ret > 0)
		ret = 0;
	for (size_t i = 0; !ret && i < nr; i++) {
		struct fsck_links_object object;

		if (!is_leftover(l, i))
			continue;
		describe(&object, l, (uint32_t)i, l->scan->types[i]);
		ret = l->events->unreachable(l->events->ctx, &object,
					     bitset_get(&used, i), err);
	}
	bitset_release(&used);
	return ret;
}
