/* SPDX-License-Identifier: MIT */
/*
 * Tests of deltas/names.c. Some objects of a list were found without their
 * paths. The tested code searches their paths in the trees of the list, and
 * sets their name hashes. Each name hash must be that of such a path.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "object/parse.h"
#include "deltas/names.h"
#include "t/unit/oldrepo.h"

struct naming {
	struct oldrepo *o;
	const bool *listed; /* indexed by object number */
	/*
	 * The name hash of each object; 0: none was found. Indexed like
	 * r.objects.
	 */
	const uint32_t *name_hash;
	bool *has_name, *is_right; /* indexed by object number */
};

/*
 * Visits all paths below `tree`. An object that is not in n->listed[] is
 * skipped, and so are the paths below it.
 */
static void visit(struct naming *n, uint32_t tree, const char *path)
{
	const struct randrepo_object *t = &n->o->r.objects[tree];
	struct cursor c = cursor_make(t->data.data, t->data.len);
	struct tree_entry e;

	while (tree_next(&e, &c, HASH_SHA1) > 0) {
		char below[256];
		struct oid oid;
		uint32_t nr;

		if (tree_entry_is_gitlink(&e))
			continue;
		oid_from_raw(&oid, e.oid, HASH_SHA1);
		nr = randrepo_find(&n->o->r, &oid);
		if (!n->listed[nr])
			continue;
		snprintf(below, sizeof(below), "%s%s%.*s", path,
			 *path ? "/" : "", (int)e.name_len, e.name);
		n->has_name[nr] = true;
		if (n->name_hash[nr] == name_hash_add(0, below, strlen(below)))
			n->is_right[nr] = true;
		if (tree_entry_is_dir(&e))
			visit(n, nr, below);
	}
}

static void check(struct oldrepo *o, const bool *listed,
		  const uint32_t *name_hash)
{
	struct naming n = {.o = o, .listed = listed, .name_hash = name_hash};

	n.has_name = calloc(RANDREPO_MAX, sizeof(bool));
	n.is_right = calloc(RANDREPO_MAX, sizeof(bool));
	assert_true(n.has_name && n.is_right);
	for (uint32_t i = 0; i < o->r.nr; i++)
		if (listed[i] && o->r.objects[i].type == OBJ_TREE)
			visit(&n, i, "");
	for (uint32_t i = 0; i < o->r.nr; i++) {
		if (name_hash[i])
			assert_true(n.is_right[i]);
		/*
		 * A blob must have a name hash if a path leads to it. A tree
		 * may lack a name hash, because it may also be the root tree of
		 * a commit.
		 */
		else if (n.has_name[i])
			assert_int_equal(o->r.objects[i].type, OBJ_TREE);
	}
	free(n.has_name);
	free(n.is_right);
}

static void named(void **state)
{
	uint32_t *name_hash = calloc(RANDREPO_MAX, sizeof(*name_hash));
	bool *listed = calloc(RANDREPO_MAX, sizeof(*listed));
	uint64_t seed = random_seed();
	struct oldrepo o;

	assert_true(name_hash && listed);
	oldrepo_init(&o, &seed, OLD_PACK | OLD_LOOSE);
	for (uint32_t share = 1; share <= 8; share++) {
		struct packing_items list;

		packing_items_init(&list, &o.w.space);
		memset(listed, 0, RANDREPO_MAX);
		memset(name_hash, 0, RANDREPO_MAX * sizeof(*name_hash));
		for (uint32_t i = 0; i < o.r.nr; i++) {
			listed[i] = randrepo_below(&o.r, 8) < share;
			if (listed[i])
				assert_int_equal(
					packing_items_append(
						&list, oldrepo_pos(&o, i),
						o.r.objects[i].type, 0, false),
					0);
		}
		assert_int_equal(names_fill(&list, PATH_GROUP_NONE, NULL), 0);
		for (size_t i = 0; i < list.nr; i++)
			name_hash[oldrepo_nr(&o, list.items[i].obj_pos)] =
				list.items[i].name_hash;
		check(&o, listed, name_hash);
		packing_items_release(&list);
	}
	oldrepo_release(&o);
	free(name_hash);
	free(listed);
}

/* Lists all objects, and returns how many of them get a name hash. */
static size_t count_named(struct oldrepo *o)
{
	struct packing_items list;
	size_t nr = 0;

	packing_items_init(&list, &o->w.space);
	for (uint32_t i = 0; i < o->r.nr; i++)
		assert_int_equal(packing_items_append(&list, oldrepo_pos(o, i),
						      o->r.objects[i].type, 0,
						      false),
				 0);
	assert_int_equal(names_fill(&list, PATH_GROUP_NONE, NULL), 0);
	for (size_t i = 0; i < list.nr; i++)
		nr += !!list.items[i].name_hash;
	packing_items_release(&list);
	return nr;
}

/* Trees deeper than core.maxTreeDepth are not read. */
static void deep_trees(void **state)
{
	uint64_t seed = random_seed();
	struct oldrepo o;
	size_t all, shallow;

	oldrepo_init(&o, &seed, OLD_PACK | OLD_LOOSE);
	all = count_named(&o);
	((struct odb *)o.w.odb)->max_tree_depth = 0;
	shallow = count_named(&o);
	assert_true(shallow > 0 && shallow < all);
	oldrepo_release(&o);
}

/*
 * With the attribute -delta on all paths, each blob that has a path is marked
 * no_delta, and no other object is.
 */
static void unset(void **state)
{
	bool *listed = calloc(RANDREPO_MAX, sizeof(*listed));
	bool *is_named = calloc(RANDREPO_MAX, sizeof(*is_named));
	bool *is_right = calloc(RANDREPO_MAX, sizeof(*is_right));
	uint32_t *none = calloc(RANDREPO_MAX, sizeof(*none));
	uint64_t seed = random_seed();
	struct packing_items list;
	struct oldrepo o;

	assert_true(listed && is_named && is_right && none);
	oldrepo_init(&o, &seed, OLD_PACK | OLD_LOOSE);
	packing_items_init(&list, &o.w.space);
	for (uint32_t i = 0; i < o.r.nr; i++) {
		listed[i] = randrepo_below(&o.r, 4) > 0;
		if (listed[i])
			assert_int_equal(packing_items_append(
						 &list, oldrepo_pos(&o, i),
						 o.r.objects[i].type, 0, false),
					 0);
	}
	assert_int_equal(names_apply_attrs(&list, NULL), 0);
	tmprepo_write(&o.r.t, "info/attributes", "* -delta");
	assert_int_equal(names_apply_attrs(&list, NULL), 1);
	for (uint32_t i = 0; i < o.r.nr; i++) {
		struct naming n = {&o, listed, none, is_named, is_right};

		if (listed[i] && o.r.objects[i].type == OBJ_TREE)
			visit(&n, i, "");
	}
	for (size_t i = 0; i < list.nr; i++) {
		uint32_t nr = oldrepo_nr(&o, list.items[i].obj_pos);

		assert_int_equal(list.items[i].no_delta,
				 is_named[nr] &&
					 o.r.objects[nr].type == OBJ_BLOB);
	}
	packing_items_release(&list);
	oldrepo_release(&o);
	free(listed);
	free(is_named);
	free(is_right);
	free(none);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(named),
		cmocka_unit_test(deep_trees),
		cmocka_unit_test(unset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
