/* SPDX-License-Identifier: MIT */
/*
 * Random requests for packs of random repositories, and a check of the packs
 * that were sent. Include this header after cmocka.h.
 */
#ifndef T_UNIT_ASKING_H
#define T_UNIT_ASKING_H

#include "packing/send.h"
#include "t/unit/bitmaprepo.h"
#include "t/unit/sentpack.h"
#include "t/unit/taglist.h"

#define ASKING_MAX_TIPS 5

/* A random request, and the objects that the sent pack must have. */
struct asking {
	struct randrepo *r;
	struct packing_request request;
	struct oid wants[ASKING_MAX_TIPS], haves[ASKING_MAX_TIPS],
		shallow[ASKING_MAX_TIPS];
	struct packing_tag *tags;
	struct taglist taglist; /* lists `tags` */
	/*
	 * Indexed like r->objects: whether the commit is on the shallow
	 * boundary of this request. The parents of such a commit are ignored.
	 */
	bool *is_shallow;
	/*
	 * Indexed like r->objects. want[i]: the wants reach object i.
	 * uninteresting[i]: the haves reach object i.
	 */
	bool *want, *uninteresting;
};

static inline void asking_init(struct asking *a, struct randrepo *r)
{
	memset(a, 0, sizeof(*a));
	a->r = r;
	a->is_shallow = calloc(RANDREPO_MAX, sizeof(bool));
	a->want = calloc(RANDREPO_MAX, sizeof(bool));
	a->uninteresting = calloc(RANDREPO_MAX, sizeof(bool));
	a->tags = calloc(RANDREPO_MAX, sizeof(*a->tags));
	assert_true(a->is_shallow && a->want && a->uninteresting && a->tags);
}

static inline void asking_release(struct asking *a)
{
	free(a->is_shallow);
	free(a->want);
	free(a->uninteresting);
	free(a->tags);
}

/*
 * Set set[i] for each object that the object `from` reaches. Does not follow
 * the parents of shallow commits.
 */
static inline void asking_reach(const struct asking *a, bool *set,
				uint32_t from)
{
	const struct randrepo_object *o = &a->r->objects[from];

	if (set[from])
		return;
	set[from] = true;
	/*
	 * The first object to which a commit refers is its tree; the others are
	 * its parents. Parents of a shallow commit are not followed.
	 */
	for (uint32_t i = 0; i < (a->is_shallow[from] ? 1 : o->ref_nr); i++)
		asking_reach(a, set, o->refs[i]);
}

/*
 * Returns the index of a random object in r->objects[]. Three of eight times,
 * the object is one of the newest ten commits.
 */
static inline uint32_t asking_object(const struct asking *a)
{
	struct randrepo *r = a->r;
	uint32_t kind = randrepo_below(r, 8);

	if (kind < 2)
		return randrepo_below(r, r->nr);
	if (kind < 5)
		return r->commits[r->commit_nr - 1 - randrepo_below(r, 10)];
	return r->commits[randrepo_below(r, r->commit_nr)];
}

static inline size_t asking_tips(const struct asking *a, struct oid *tips,
				 bool *set, size_t min)
{
	size_t nr = min + randrepo_below(a->r, ASKING_MAX_TIPS - (uint32_t)min);

	memset(set, 0, RANDREPO_MAX);
	for (size_t i = 0; i < nr; i++) {
		uint32_t from = asking_object(a);

		tips[i] = a->r->objects[from].oid;
		asking_reach(a, set, from);
	}
	return nr;
}

static inline uint32_t asking_peel(const struct randrepo *r, uint32_t nr)
{
	while (r->objects[nr].type == OBJ_TAG)
		nr = r->objects[nr].refs[0];
	return nr;
}

static inline void asking_list_tags(struct asking *a)
{
	size_t nr = 0;

	for (uint32_t i = 0; i < a->r->nr; i++)
		if (a->r->objects[i].type == OBJ_TAG)
			a->tags[nr++] = (struct packing_tag){
				a->r->objects[i].oid,
				a->r->objects[asking_peel(a->r, i)].oid,
			};
	a->taglist = (struct taglist){a->tags, nr};
}

/*
 * Make a random request. Wants and haves are random objects. If `with_shallow`
 * is true, three random commits are on the shallow boundary.
 */
static inline void asking_random(struct asking *a, bool with_shallow)
{
	struct packing_request *q = &a->request;
	uint32_t flags = randrepo_below(a->r, 16);

	*q = (struct packing_request){
		.wants = a->wants,
		.haves = a->haves,
		.shallow = a->shallow,
		.thin = flags & 1,
		.knows_shallow = true,
		.ofs_delta = flags & 2,
		.tags = {flags & 4 ? taglist_each : NULL, &a->taglist},
		.use_bitmap = flags & 8,
	};
	memset(a->is_shallow, 0, RANDREPO_MAX);
	for (; with_shallow && q->shallow_nr < 3; q->shallow_nr++) {
		uint32_t nr =
			a->r->commits[randrepo_below(a->r, a->r->commit_nr)];

		a->shallow[q->shallow_nr] = a->r->objects[nr].oid;
		a->is_shallow[nr] = true;
	}
	q->want_nr = asking_tips(a, a->wants, a->want, 1);
	q->have_nr = asking_tips(a, a->haves, a->uninteresting, 0);
	asking_list_tags(a);
}

/*
 * Returns whether the pack `sent` should have the tag `nr` because of
 * include-tag: the request has this capability, and the pack has the tag's
 * target.
 */
static inline bool asking_comes_along(const struct asking *a, const bool *sent,
				      uint32_t nr)
{
	return a->request.tags.each && a->r->objects[nr].type == OBJ_TAG &&
	       sent[asking_peel(a->r, nr)];
}

/*
 * Check that the pack has the tags to include, and all objects that the wants
 * reach and the haves do not reach. Any other object must be one that the wants
 * reach. If `exact` is true and a bitmap index was used, there must be no other
 * object.
 */
static inline void asking_check(const struct asking *a,
				const struct sentpack *s,
				const struct packing_report *report, bool exact)
{
	for (uint32_t i = 0; i < a->r->nr; i++) {
		bool due = a->want[i] && !a->uninteresting[i];

		if (due || asking_comes_along(a, s->sent, i))
			assert_true(s->sent[i]);
		else if (s->sent[i])
			assert_true(a->want[i] &&
				    !(exact && report->used_bitmap));
	}
	assert_int_equal(report->objects, s->nr);
	if (!a->request.ofs_delta)
		assert_int_equal(s->ofs, 0);
	assert_true(a->request.thin || !s->external);
}

/*
 * Make a repository that has a pack with a bitmap index, another pack, and
 * loose objects.
 */
static inline void asking_repo(struct randrepo *r, enum hash_algo algo,
			       uint64_t *seed)
{
	randrepo_init(r, algo, seed);
	randrepo_history(r, 60);
	randrepo_store_pack(r);
	randrepo_all_refs(r);
	bitmaprepo_repack(r, true, true);
	randrepo_history(r, 12);
	randrepo_store_pack(r);
	randrepo_history(r, 5);
	randrepo_store(r);
}

#endif
