/* SPDX-License-Identifier: MIT */
/* Selects refs by name, by the object that they point to, and by history. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/wildmatch.h"
#include "builtin/for-each-ref.h"
#include "builtin/options.h"
#include "object/parse.h"
#include "odb/odb-stored.h"
#include "repo/grafts.h"

void ref_filter_init(struct ref_filter *f)
{
	memset(f, 0, sizeof(*f));
}

void ref_filter_release(struct ref_filter *f)
{
	free(f->exclude.items);
	free(f->targets);
	free(f->merged.commit_nrs);
	free(f->no_merged.commit_nrs);
	if (f->walk_is_open) {
		reach_release(&f->containing);
		reach_release(&f->not_containing);
		bitset_release(&f->in_merged);
		bitset_release(&f->in_no_merged);
		walk_close(&f->walk);
	}
	ref_filter_init(f);
}

int ref_filter_add(struct ref_filter_list *list, const char *arg)
{
	if (arg == option_negated) {
		list->nr = 0;
		return 0;
	}
	if (mem_grow(&list->items, &list->alloc, list->nr + 1,
		     sizeof(*list->items)) < 0)
		return ERR_NOMEM;
	list->items[list->nr++] = arg;
	return 0;
}

/* ---- names */

/*
 * Returns whether a name matches a pattern. The pattern may be the whole name,
 * leading components of the name, or a glob pattern. `ignore_case` has an
 * effect only on glob patterns.
 */
static bool matches_pattern(const struct ref_filter *f, const char *name,
			    const char *pattern)
{
	size_t len = strlen(pattern);
	unsigned flags = WILDMATCH_PATHNAME;

	if (!strncmp(name, pattern, len) && (!name[len] || name[len] == '/' ||
					     (len && pattern[len - 1] == '/')))
		return true;
	if (f->ignore_case)
		flags |= WILDMATCH_ICASE;
	return wildmatch(pattern, name, flags);
}

bool ref_filter_takes_name(const struct ref_filter *f, const char *name)
{
	bool takes = !*f->patterns;

	for (const char **p = f->patterns; !takes && *p; p++)
		takes = matches_pattern(f, name, *p);
	for (size_t i = 0; takes && i < f->exclude.nr; i++)
		takes = !matches_pattern(f, name, f->exclude.items[i]);
	return takes;
}

/* ---- opening */

void ref_filter_open(struct ref_filter *f, const struct store *store)
{
	f->store = store;
}

int ref_filter_point_at(struct ref_filter *f, const char *name)
{
	struct error err = ERROR_INIT;
	struct oid oid;
	int ret = store_resolve(f->store, &oid, name, &err);

	if (ret == ERR_UNSUPPORTED)
		return builtin_not_ours(&err);
	if (ret == ERR_CORRUPT && !store_base_is_damaged(f->store, name))
		return builtin_fail(&err);
	if (ret == ERR_CORRUPT)
		builtin_error("%s", err.msg);
	if (ret < 0) {
		builtin_error("malformed object name '%s'", name);
		return 129;
	}
	if (mem_grow(&f->targets, &f->target_alloc, f->target_nr + 1,
		     sizeof(*f->targets)) < 0)
		return builtin_die("out of memory");
	f->targets[f->target_nr++] = oid;
	return 0;
}

void ref_filter_point_at_all(struct ref_filter *f)
{
	f->target_nr = 0;
}

/*
 * Replace the id and type of a tag by the id and type of the object that the
 * tag points to.
 */
static int next_target(struct oid *oid, enum object_type *type,
		       const struct store *store, struct error *err)
{
	struct odb_object obj;
	struct tag_view tag;
	int ret = odb_read(store->reader, oid, &obj, err);

	if (ret < 0)
		return ret;
	ret = tag_parse(&tag, obj.data, obj.len, store->odb->algo, err);
	if (!ret) {
		*oid = tag.target;
		*type = tag.target_type;
	}
	odb_object_release(store->reader, &obj);
	return ret;
}

/*
 * Returns whether stock Git treats the damaged object `oid` as missing: its
 * header cannot be read, or its file is empty. Also returns true if `oid` is a
 * tag that leads to an object whose file is empty.
 */
static bool counts_as_missing(const struct ref_filter *f, struct oid oid)
{
	enum object_type type;
	uint64_t len;

	if (odb_info(f->walk.reader, &oid, &type, NULL, NULL) < 0)
		return true;
	do {
		if (!odb_stored_len(&len, f->store->odb, &oid, NULL) && !len)
			return true;
	} while (!next_target(&oid, &type, f->store, NULL));
	return false;
}

/*
 * Set *commit_nr to the commit `oid`, or to the commit that a tag `oid` leads
 * to. Returns 1 if there is such a commit, 0 if not, or a negative error code.
 * Prints an error and returns 0 if the object counts as missing because it is
 * damaged.
 */
static int find_commit(uint32_t *commit_nr, struct ref_filter *f,
		       const struct oid *oid, struct error *err)
{
	enum object_type type;
	struct oid peeled;
	uint32_t obj_pos;
	int ret = odb_peel(f->walk.reader, oid, &peeled, &type, err);

	if (ret == ERR_CORRUPT && counts_as_missing(f, *oid)) {
		builtin_error("%s", err->msg);
		return 0;
	}
	if (ret < 0)
		return ret;
	if (type != OBJ_COMMIT)
		return 0;
	if (objspace_add(&f->walk.space, peeled.bytes, &obj_pos) < 0 ||
	    history_add(&f->walk.history, obj_pos, commit_nr) < 0)
		return error_nomem(err);
	return 1;
}

/*
 * Print an error if the object `oid` exists and is not a commit, or if it is a
 * tag of a missing object.
 */
static void complain_of_type(const struct ref_filter *f, const struct oid *oid)
{
	const enum hash_algo algo = f->store->odb->algo;
	char hex[OID_MAX_HEX_LEN + 1];
	enum object_type type;
	struct oid peeled;

	if (!odb_peel(f->walk.reader, oid, &peeled, &type, NULL))
		builtin_error("object %s is a %s, not a commit",
			      oid_to_hex(hex, oid, algo),
			      object_type_name(type));
	else if (!odb_peel_tag(f->walk.reader, oid, &peeled, NULL))
		builtin_error("Could not read %s",
			      oid_to_hex(hex, &peeled, algo));
}

/*
 * Returns whether three conditions are met: the object `oid` is damaged, its
 * stored form has at least one byte, and `name` has a suffix with ~ or ^. With
 * such a suffix, the object was found as the parent of a commit. Stock Git then
 * reads the whole object, and fails. If `name` has no such suffix, stock Git
 * treats a damaged object like an object that is no commit.
 */
static bool is_damaged_parent(const struct ref_filter *f, const char *name,
			      const struct oid *oid, struct error *err)
{
	return strpbrk(name, "~^") &&
	       odb_info(f->walk.reader, oid, NULL, NULL, err) == ERR_CORRUPT &&
	       !odb_stored_is_empty(f->store->odb, oid);
}

/*
 * Resolve an argument to a commit; NULL means HEAD. The errors are those of
 * stock Git: for the option `option`, or for --contains if `option` is NULL.
 */
static int resolve_commit(uint32_t *commit_nr, struct ref_filter *f,
			  const char *name, const char *option)
{
	struct error err = ERROR_INIT;
	struct oid oid;
	int ret;

	if (!name)
		name = "HEAD";
	ret = store_resolve(f->store, &oid, name, &err);
	if (ret == ERR_UNSUPPORTED)
		return builtin_not_ours(&err);
	if (ret == ERR_CORRUPT && !store_base_is_damaged(f->store, name))
		return builtin_fail(&err);
	if (ret == ERR_CORRUPT)
		builtin_error("%s", err.msg);
	if (ret < 0) {
		if (option)
			return builtin_die("malformed object name %s", name);
		builtin_error("malformed object name %s", name);
		return 129;
	}
	if (is_damaged_parent(f, name, &oid, &err))
		return builtin_fail(&err);
	ret = find_commit(commit_nr, f, &oid, &err);
	if (ret > 0)
		return 0;
	if (ret < 0 && ret != ERR_MISSING)
		return builtin_fail(&err);
	complain_of_type(f, &oid);
	if (option)
		builtin_error("option `%s' must point to a commit", option);
	else
		builtin_error("no such commit %s", name);
	return 129;
}

/*
 * Parse a commit of the history. A missing commit is reported and is treated as
 * a root.
 */
static int parse_if_there(struct history *h, uint32_t commit_nr,
			  struct error *err)
{
	char hex[OID_MAX_HEX_LEN + 1];
	struct oid oid;
	int ret;

	h->allow_missing = true;
	ret = history_parse(h, commit_nr, err);
	h->allow_missing = false;
	if (ret < 0 || !h->commits[commit_nr].missing)
		return ret;
	objspace_oid(&oid, h->space, h->commits[commit_nr].obj_pos);
	builtin_error("Could not read %s",
		      oid_to_hex(hex, &oid, h->space->odb->algo));
	return 0;
}

/* Set the bits of a commit and of all its ancestors. */
static int mark_ancestors(struct bitset *set, struct history *h,
			  uint32_t commit_nr, struct error *err)
{
	uint32_t *stack = NULL;
	size_t depth = 0, alloc = 0;
	uint32_t next = commit_nr;
	int ret = 0;

	for (;;) {
		if (h->nr > set->bits && bitset_grow(set, 2 * h->nr) < 0) {
			ret = error_nomem(err);
			break;
		}
		if (!bitset_test(set, next)) {
			uint32_t nr;

			bitset_set(set, next);
			ret = parse_if_there(h, next, err);
			if (ret < 0)
				break;
			nr = h->commits[next].parent_nr;
			if (mem_grow(&stack, &alloc, depth + nr,
				     sizeof(*stack)) < 0) {
				ret = error_nomem(err);
				break;
			}
			if (nr)
				memcpy(stack + depth, history_parents(h, next),
				       nr * sizeof(*stack));
			depth += nr;
		}
		if (!depth)
			break;
		next = stack[--depth];
	}
	free(stack);
	return ret;
}

static int mark_all(struct bitset *set, struct ref_filter *f,
		    const struct ref_filter_commits *commits, struct error *err)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < commits->nr; i++)
		ret = mark_ancestors(set, &f->walk.history,
				     commits->commit_nrs[i], err);
	return ret;
}

int ref_filter_walk(struct ref_filter *f)
{
	struct error err = ERROR_INIT;
	int ret = mark_all(&f->in_merged, f, &f->merged, &err);

	if (!ret)
		ret = mark_all(&f->in_no_merged, f, &f->no_merged, &err);
	return ret < 0 ? builtin_fail(&err) : 0;
}

int ref_filter_refuse_grafts(const struct store *store)
{
	struct error err = ERROR_INIT;
	int ret = grafts_exist(store->repo, &err);

	if (ret < 0)
		return builtin_fail(&err);
	if (!ret)
		return 0;
	error_set(&err, ERR_UNSUPPORTED,
		  "parents in info/grafts are not supported yet");
	return builtin_not_ours(&err);
}

static int open_walk(struct ref_filter *f)
{
	struct error err = ERROR_INIT;
	int ret = ref_filter_refuse_grafts(f->store);

	if (ret)
		return ret;
	if (walk_open(&f->walk, f->store->odb, NULL, 0, &err) < 0)
		return builtin_fail(&err);
	f->walk_is_open = true;
	reach_init(&f->containing, &f->walk.history);
	reach_init(&f->not_containing, &f->walk.history);
	f->containing.ignores_dates = f->not_containing.ignores_dates = true;
	f->containing.needs_all = f->not_containing.needs_all = true;
	return 0;
}

static int add_commit(struct ref_filter_commits *commits, uint32_t commit_nr)
{
	if (mem_grow(&commits->commit_nrs, &commits->alloc, commits->nr + 1,
		     sizeof(*commits->commit_nrs)) < 0)
		return builtin_die("out of memory");
	commits->commit_nrs[commits->nr++] = commit_nr;
	return 0;
}

static int add_target(struct reach *reach, uint32_t commit_nr)
{
	struct error err = ERROR_INIT;

	return reach_add_target(reach, commit_nr, &err) < 0 ? builtin_fail(&err)
							    : 0;
}

int ref_filter_relate(struct ref_filter *f, enum ref_filter_relation relation,
		      const char *name)
{
	/*
	 * The names of the options, for the error message if `name` is no
	 * commit. NULL: as in stock Git, the message for --contains and
	 * --no-contains does not name the option.
	 */
	static const char *const names[] = {"merged", "no-merged", NULL, NULL};
	uint32_t nr;
	int ret = f->walk_is_open ? 0 : open_walk(f);

	if (!ret)
		ret = resolve_commit(&nr, f, name, names[relation]);
	if (ret)
		return ret;
	switch (relation) {
	case REF_FILTER_MERGED:
		return add_commit(&f->merged, nr);
	case REF_FILTER_NO_MERGED:
		return add_commit(&f->no_merged, nr);
	case REF_FILTER_CONTAINS:
		return add_target(&f->containing, nr);
	default:
		return add_target(&f->not_containing, nr);
	}
}

/* ---- objects */

static bool is_target(const struct ref_filter *f, const struct oid *oid)
{
	for (size_t i = 0; i < f->target_nr; i++)
		if (oid_equal(&f->targets[i], oid))
			return true;
	return false;
}

/*
 * Find whether a ref points to one of the objects of --points-at, directly or
 * through a chain of tags. The object at the end of the chain need not exist.
 * Returns 1 if the ref points to one of the objects. Also returns 1 if
 * --points-at is not given. Returns 0 if the ref does not point to any of them,
 * or a negative error code.
 */
static int points_at(struct ref_filter *f, struct ref_atom_subject *subject,
		     struct error *err)
{
	struct oid oid = subject->self.oid;
	enum object_type type;
	int ret;

	if (!f->target_nr || is_target(f, &oid))
		return 1;
	ret = odb_info(f->store->reader, &oid, &type, NULL, err);
	while (!ret && type == OBJ_TAG) {
		ret = next_target(&oid, &type, f->store, err);
		if (!ret && is_target(f, &oid))
			return 1;
	}
	if (ret == ERR_MISSING)
		return error_set(err, ret, "malformed object at '%s'",
				 subject->refname);
	return ret;
}

static int takes_history(struct ref_filter *f, const struct oid *oid,
			 struct error *err)
{
	uint32_t nr;
	int ret = find_commit(&nr, f, oid, err);

	/*
	 * The object to which the ref or its tag points is missing. Leave out
	 * the ref.
	 */
	if (ret == ERR_MISSING)
		return 0;
	if (ret <= 0)
		return ret;
	if (f->merged.nr && !bitset_get(&f->in_merged, nr))
		return 0;
	if (f->no_merged.nr && bitset_get(&f->in_no_merged, nr))
		return 0;
	if (f->containing.target_nr)
		ret = reach_all(&f->containing, &nr, 1, err);
	if (ret <= 0 || !f->not_containing.target_nr)
		return ret;
	ret = reach_all(&f->not_containing, &nr, 1, err);
	return ret < 0 ? ret : !ret;
}

int ref_filter_takes(struct ref_filter *f, struct ref_atom_subject *subject,
		     struct error *err)
{
	int ret = points_at(f, subject, err);

	if (ret <= 0 || !f->walk_is_open)
		return ret;
	return takes_history(f, &subject->self.oid, err);
}
