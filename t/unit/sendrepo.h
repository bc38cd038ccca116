/* SPDX-License-Identifier: MIT */
/*
 * Random requests for packs of random repositories, and the objects that the
 * packs must and may contain. Include this header after cmocka.h.
 */
#ifndef T_UNIT_SENDREPO_H
#define T_UNIT_SENDREPO_H

#include "packing/send.h"
#include "t/unit/bitmaprepo.h"
#include "t/unit/packread.h"
#include "t/unit/taglist.h"

#define SENDREPO_TIPS 6
#define SENDREPO_TAGS 400

struct sendrepo {
	struct randrepo r;
	struct odb *odb;
	struct packing_send_options options;
	struct packing_request request;
	struct oid wants[SENDREPO_TIPS], haves[SENDREPO_TIPS];
	struct oid shallow[SENDREPO_TIPS];
	struct packing_tag tags[SENDREPO_TAGS];
	struct taglist taglist; /* those of `tags` */
	/*
	 * indexed by the number of an object: the closure of the wants, the
	 * closure of the haves, the commits at the shallow boundary
	 */
	bool *want, *had, *cut;
};

/* Returns the number of the object at the end of a chain of tags. */
static inline uint32_t sendrepo_peel(const struct randrepo *r, uint32_t nr)
{
	while (r->objects[nr].type == OBJ_TAG)
		nr = r->objects[nr].refs[0];
	return nr;
}

/*
 * Make a repository with a pack of deltas with bitmaps, a second pack, and
 * loose objects.
 */
static inline void sendrepo_init(struct sendrepo *s, uint64_t *seed)
{
	struct repack_options options;
	struct repack_result result;

	memset(s, 0, sizeof(*s));
	randrepo_init(&s->r, HASH_SHA1, seed);
	randrepo_history(&s->r, 80);
	randrepo_store_pack(&s->r);
	randrepo_all_refs(&s->r);
	bitmaprepo_options(&options, &s->r.t.repo);
	options.newpack.make.reuse_delta = false;
	assert_int_equal(repack_run(&result, &s->r.t.repo, &options, NULL), 0);
	bitmaprepo_thin_out(&s->r, 4, true, true);
	randrepo_history(&s->r, 10);
	randrepo_store_pack(&s->r);
	randrepo_history(&s->r, 6);
	randrepo_store(&s->r);
	assert_int_equal(odb_open(&s->odb, &s->r.t.repo, NULL, NULL), 0);
	assert_int_equal(
		packing_send_options_load(&s->options, &s->r.t.repo, NULL), 0);
	for (uint32_t i = 0; i < s->r.nr; i++) {
		uint32_t target = sendrepo_peel(&s->r, i);

		if (s->r.objects[i].type != OBJ_TAG)
			continue;
		assert_true(s->taglist.nr < SENDREPO_TAGS);
		s->tags[s->taglist.nr++] = (struct packing_tag){
			s->r.objects[i].oid, s->r.objects[target].oid};
	}
	s->taglist.tags = s->tags;
	s->want = calloc(RANDREPO_MAX, sizeof(bool));
	s->had = calloc(RANDREPO_MAX, sizeof(bool));
	s->cut = calloc(RANDREPO_MAX, sizeof(bool));
	assert_true(s->want && s->had && s->cut);
}

static inline void sendrepo_release(struct sendrepo *s)
{
	odb_close(s->odb);
	randrepo_release(&s->r);
	free(s->want);
	free(s->had);
	free(s->cut);
}

/* Works like randrepo_reach(), but the commits in s->cut have no parents. */
static inline void sendrepo_reach(const struct sendrepo *s, bool *set,
				  uint32_t from)
{
	const struct randrepo_object *o = &s->r.objects[from];
	uint32_t ref_nr = o->type == OBJ_COMMIT && s->cut[from] ? 1 : o->ref_nr;

	if (set[from])
		return;
	set[from] = true;
	for (uint32_t i = 0; i < ref_nr; i++)
		sendrepo_reach(s, set, o->refs[i]);
}

static inline uint32_t sendrepo_some(struct sendrepo *s)
{
	uint32_t kind = randrepo_below(&s->r, 8);

	if (kind < 3)
		return s->r.commits[randrepo_below(&s->r, s->r.commit_nr)];
	if (kind < 6)
		return s->r.commits[s->r.commit_nr - 1 -
				    randrepo_below(&s->r, 12)];
	return randrepo_below(&s->r, s->r.nr);
}

static inline size_t sendrepo_tips(struct sendrepo *s, struct oid *oids,
				   bool *set, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		uint32_t at = sendrepo_some(s);

		oids[i] = s->r.objects[at].oid;
		sendrepo_reach(s, set, at);
	}
	return nr;
}

/* Make a random request. If `shallow` is true, the request has no haves. */
static inline void sendrepo_request(struct sendrepo *s, bool shallow)
{
	struct packing_request *q = &s->request;

	memset(s->want, 0, RANDREPO_MAX);
	memset(s->had, 0, RANDREPO_MAX);
	memset(s->cut, 0, RANDREPO_MAX);
	*q = (struct packing_request){
		.wants = s->wants,
		.haves = s->haves,
		.shallow = s->shallow,
		.tags = {randrepo_below(&s->r, 2) ? taglist_each : NULL,
			 &s->taglist},
		.thin = randrepo_below(&s->r, 2),
		.knows_shallow = true,
		.ofs_delta = randrepo_below(&s->r, 2),
		.use_bitmap = randrepo_below(&s->r, 4) > 0,
	};
	for (; shallow && q->shallow_nr < SENDREPO_TIPS; q->shallow_nr++) {
		uint32_t nr =
			s->r.commits[randrepo_below(&s->r, s->r.commit_nr)];

		s->cut[nr] = true;
		s->shallow[q->shallow_nr] = s->r.objects[nr].oid;
	}
	q->want_nr = sendrepo_tips(s, s->wants, s->want,
				   randrepo_below(&s->r, SENDREPO_TIPS) + 1);
	if (!shallow)
		q->have_nr = sendrepo_tips(
			s, s->haves, s->had,
			randrepo_below(&s->r, SENDREPO_TIPS));
}

/*
 * Check the objects that were sent. Objects that the wants reach and the haves
 * do not reach must be sent. Objects that the wants do not reach must not be
 * sent. Objects that both reach may be sent, but not if bitmaps are used. Tags
 * of sent objects may have to be sent, too.
 */
static inline void sendrepo_check(const struct sendrepo *s, const bool *sent,
				  bool used_bitmap)
{
	const struct packing_request *q = &s->request;
	bool *tag = calloc(RANDREPO_MAX, sizeof(*tag));

	assert_non_null(tag);
	for (size_t i = 0; q->tags.each && i < s->taglist.nr; i++) {
		uint32_t nr = randrepo_find(&s->r, &s->tags[i].tag);
		bool due = sent[sendrepo_peel(&s->r, nr)];

		if (due && !s->had[nr])
			assert_true(sent[nr]);
		/*
		 * If a tag is sent, the tags between it and its target are
		 * sent, too.
		 */
		for (; due && s->r.objects[nr].type == OBJ_TAG;
		     nr = s->r.objects[nr].refs[0])
			tag[nr] = true;
	}
	for (uint32_t i = 0; i < s->r.nr; i++) {
		if (s->want[i] && !s->had[i])
			assert_true(sent[i]);
		if (sent[i])
			assert_true(s->want[i] || tag[i]);
		if (sent[i] && (used_bitmap || !q->have_nr))
			assert_false(s->had[i]);
	}
	free(tag);
}

#endif
