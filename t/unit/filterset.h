/* SPDX-License-Identifier: MIT */
/*
 * A slow computation of the objects of a random repository that pass an object
 * filter. The depth, type and size of every object are known. Tests compare the
 * result with the objects that pass the program's filters. Include this header
 * after cmocka.h.
 */
#ifndef T_UNIT_FILTERSET_H
#define T_UNIT_FILTERSET_H

#include "t/unit/randrepo.h"
#include "walk/walk.h"

#define FILTERSET_MAX_WANTS 6

/*
 * A request: the wanted objects (indexes in r->objects[]), its filter, and
 * properties of each object of the repository.
 */
struct filterset {
	uint32_t wants[FILTERSET_MAX_WANTS];
	uint32_t want_nr;
	struct walk_tips tips;
	struct filter filter;
	bool filter_wants;
	/*
	 * Indexed like r->objects. 0: the wants do not reach the object.
	 * Otherwise the smallest depth at which the wants reach the object,
	 * plus two; see walk/filter.h. So 2 stands for the depth 0, which the
	 * root tree of a commit has.
	 *
	 * The entries of a wanted tree that is exempt from the filter
	 * (`spared`) have the depth 0. The tree itself is one level above its
	 * entries. So it has the depth -1, which is stored as 1. A wanted tag
	 * has the value 1, too.
	 */
	uint32_t *levels;
	/*
	 * Indexed like r->objects: the object is a want, or a want is a tag
	 * that leads to the object. Such an object always passes the filter,
	 * unless filter_wants is set.
	 *
	 * But a walk applies the filter to some of these objects. For these,
	 * filterset_walk() sets the elements to false.
	 */
	bool *spared;
};

/*
 * Add a want. If the want is a tag, all objects of the chain of tags are
 * wanted, up to the object to which the tag peels.
 */
static inline void filterset_want(struct filterset *s, struct randrepo *r,
				  struct walk *w, uint32_t nr)
{
	s->wants[s->want_nr++] = nr;
	assert_int_equal(
		walk_add_tip(w, &s->tips, &r->objects[nr].oid, false, NULL), 0);
	s->spared[nr] = true;
	while (r->objects[nr].type == OBJ_TAG) {
		nr = r->objects[nr].refs[0];
		s->spared[nr] = true;
	}
}

/*
 * Set s->levels for object `nr` and for all objects that it reaches. `level` is
 * the value of s->levels for object `nr`.
 */
static inline void filterset_find(struct filterset *s, const struct randrepo *r,
				  uint32_t nr, uint32_t level)
{
	const struct randrepo_object *o = &r->objects[nr];

	if (s->levels[nr] && s->levels[nr] <= level)
		return;
	s->levels[nr] = level;
	for (uint32_t i = 0; i < o->ref_nr; i++) {
		bool is_tree = o->type == OBJ_TREE;

		filterset_find(s, r, o->refs[i], is_tree ? level + 1 : 2);
	}
}

/* Set s->levels of all objects. */
static inline void filterset_find_all(struct filterset *s,
				      const struct randrepo *r)
{
	memset(s->levels, 0, RANDREPO_MAX * sizeof(*s->levels));
	for (uint32_t i = 0; i < s->want_nr; i++) {
		uint32_t nr = s->wants[i];

		while (r->objects[nr].type == OBJ_TAG) {
			s->levels[nr] = 1;
			nr = r->objects[nr].refs[0];
		}
		/*
		 * If a wanted tree is exempt from the filter (s->spared), its
		 * entries have the depth 0, so the tree gets the depth -1. Any
		 * other wanted tree gets the depth 0, like the root tree of a
		 * commit. s->levels stores the depth plus two.
		 */
		filterset_find(s, r, nr,
			       r->objects[nr].type == OBJ_TREE &&
					       s->spared[nr] && !s->filter_wants
				       ? 1
				       : 2);
	}
}

static inline void filterset_random_spec(struct randrepo *r, char *out,
					 size_t len, bool with_depth)
{
	static const char *const types[] = {"blob", "tree", "commit", "tag"};

	switch (randrepo_below(r, with_depth ? 6 : 4)) {
	case 0:
		snprintf(out, len, "blob:none");
		break;
	case 1:
		snprintf(out, len, "blob:limit=%u", randrepo_below(r, 300));
		break;
	case 2:
		snprintf(out, len, "object:type=%s",
			 types[randrepo_below(r, 4)]);
		break;
	case 3:
		snprintf(out, len, "tree:0");
		break;
	default:
		snprintf(out, len, "tree:%u", randrepo_below(r, 6));
	}
}

/*
 * Make a random request with a filter of one or two random parts. Filters by
 * depth (tree:<n> with n > 0) are chosen only if `with_depth` is true.
 */
static inline void filterset_init(struct filterset *s, struct randrepo *r,
				  struct walk *w, bool with_depth)
{
	char spec[64];
	struct error err = ERROR_INIT;

	*s = (struct filterset){.tips = WALK_TIPS_INIT};
	s->levels = calloc(RANDREPO_MAX, sizeof(*s->levels));
	s->spared = calloc(RANDREPO_MAX, sizeof(*s->spared));
	assert_true(s->levels && s->spared);
	s->filter_wants = !randrepo_below(r, 3);
	filter_init(&s->filter);
	for (uint32_t i = randrepo_below(r, 3) ? 1 : 2; i-- > 0;) {
		filterset_random_spec(r, spec, sizeof(spec), with_depth);
		if (filter_add(&s->filter, spec, &err) < 0)
			fail_msg("%s: %s", spec, err.msg);
	}
	for (uint32_t i = 1 + randrepo_below(r, FILTERSET_MAX_WANTS); i-- > 0;)
		filterset_want(
			s, r, w,
			randrepo_below(r, 3)
				? r->commits[randrepo_below(r, r->commit_nr)]
				: randrepo_below(r, r->nr));
	filterset_find_all(s, r);
}

/* ---- requests that are answered by a walk */

/* Mark in `met` the root trees of all commits that the wants reach. */
static inline void filterset_meet_roots(const struct filterset *s,
					const struct randrepo *r, bool *met)
{
	for (uint32_t nr = 0; nr < r->nr; nr++) {
		const struct randrepo_object *o = &r->objects[nr];

		if (o->type != OBJ_COMMIT || !s->levels[nr])
			continue;
		for (uint32_t i = 0; i < o->ref_nr; i++)
			if (r->objects[o->refs[i]].type == OBJ_TREE)
				met[o->refs[i]] = true;
	}
}

/*
 * Mark in `met` the entries that a filtered walk over a tree meets. `depth` is
 * the depth of the entries.
 */
static inline void filterset_meet_entries(const struct filterset *s,
					  const struct randrepo *r, uint32_t nr,
					  uint64_t depth, bool *met)
{
	const struct randrepo_object *o = &r->objects[nr];
	bool is_deep = filter_takes_type(&s->filter, OBJ_TREE) ||
		       filter_takes_type(&s->filter, OBJ_BLOB) ||
		       filter_needs_paths(&s->filter);

	if (depth && (!is_deep || depth > s->filter.depth))
		return;
	for (uint32_t i = 0; i < o->ref_nr; i++) {
		met[o->refs[i]] = true;
		filterset_meet_entries(s, r, o->refs[i], depth + 1, met);
	}
}

/*
 * Change s->spared to what a walk exempts from the filter. A wanted tree or
 * blob is exempt only if the walk has not met this object before. The walk may
 * have met the object as the root tree of a commit, or as an entry of a tree
 * that is an earlier want. In this case, the filter applies to the object.
 */
static inline void filterset_walk(struct filterset *s, const struct randrepo *r)
{
	bool *met = calloc(RANDREPO_MAX, sizeof(*met));
	bool *done = calloc(RANDREPO_MAX, sizeof(*done));

	assert_true(met && done);
	filterset_meet_roots(s, r, met);
	for (uint32_t i = 0; i < s->want_nr; i++) {
		uint32_t nr = s->wants[i];

		while (r->objects[nr].type == OBJ_TAG)
			nr = r->objects[nr].refs[0];
		if (done[nr] || r->objects[nr].type == OBJ_COMMIT)
			continue;
		done[nr] = true;
		s->spared[nr] = !met[nr];
		if (r->objects[nr].type == OBJ_TREE)
			filterset_meet_entries(s, r, nr, met[nr], met);
	}
	filterset_find_all(s, r);
	free(met);
	free(done);
}

static inline void filterset_release(struct filterset *s)
{
	walk_tips_release(&s->tips);
	filter_release(&s->filter);
	free(s->levels);
	free(s->spared);
}

/* Returns whether the result of the filtered request must contain an object. */
static inline bool filterset_has(const struct filterset *s,
				 const struct randrepo *r, uint32_t nr)
{
	const struct randrepo_object *o = &r->objects[nr];
	bool is_deep = o->type == OBJ_TREE || o->type == OBJ_BLOB;

	if (!s->levels[nr])
		return false;
	if (s->spared[nr] && !s->filter_wants)
		return true;
	for (size_t i = 0; i < s->filter.nr; i++) {
		const struct filter_part *part = &s->filter.parts[i];

		switch (part->kind) {
		case FILTER_BLOB_NONE:
			if (o->type == OBJ_BLOB)
				return false;
			break;
		case FILTER_BLOB_LIMIT:
			if (o->type == OBJ_BLOB && o->data.len >= part->number)
				return false;
			break;
		case FILTER_TREE:
			if (is_deep && s->levels[nr] - 2 >= part->number)
				return false;
			break;
		default:
			if (o->type != part->type)
				return false;
		}
	}
	return true;
}

#endif
