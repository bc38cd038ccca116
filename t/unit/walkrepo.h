/* SPDX-License-Identifier: MIT */
/*
 * A random repository with directory trees (randtree.h), opened for walks.
 * Include this header after cmocka.h.
 */
#ifndef T_UNIT_WALKREPO_H
#define T_UNIT_WALKREPO_H

#include "base/mem.h"
#include "t/unit/randtree.h"
#include "walk/walk.h"

struct walkrepo {
	struct randhist h;
	struct odb *odb;
	struct walk w;
};

static inline void walkrepo_open(struct walkrepo *f)
{
	struct error err = ERROR_INIT;

	if (odb_open(&f->odb, &f->h.r.t.repo, NULL, &err) < 0 ||
	    walk_open(&f->w, f->odb, NULL, 0, &err) < 0)
		fail_msg("%s", err.msg);
}

static inline void walkrepo_close(struct walkrepo *f)
{
	walk_close(&f->w);
	odb_close(f->odb);
}

/* Close the walk and open a new one, which has not parsed any commit. */
static inline void walkrepo_reopen(struct walkrepo *f)
{
	walkrepo_close(f);
	walkrepo_open(f);
}

/*
 * Make and open a history of `packed` commits in packs and `loose` further
 * commits as loose objects.
 */
static inline void walkrepo_init(struct walkrepo *f, enum hash_algo algo,
				 uint64_t *seed, uint32_t packed,
				 uint32_t loose)
{
	randhist_init(&f->h, algo, seed);
	for (uint32_t i = 0; i < 2; i++) {
		randhist_grow_by(&f->h, (packed + i) / 2, true);
		randtree_store_packs(&f->h.r);
	}
	randhist_grow_by(&f->h, loose, true);
	randrepo_store(&f->h.r);
	walkrepo_open(f);
}

static inline void walkrepo_release(struct walkrepo *f)
{
	walkrepo_close(f);
	randhist_release(&f->h);
}

/*
 * Returns the obj_pos that the object r.objects[nr] has in the walk.
 * walkrepo_nr() is the inverse.
 */
static inline uint32_t walkrepo_pos(struct walkrepo *f, uint32_t nr)
{
	uint32_t obj_pos;

	assert_int_equal(objspace_add(&f->w.space, f->h.r.objects[nr].oid.bytes,
				      &obj_pos),
			 0);
	return obj_pos;
}

static inline uint32_t walkrepo_nr(struct walkrepo *f, uint32_t obj_pos)
{
	struct oid oid;

	objspace_oid(&oid, &f->w.space, obj_pos);
	return randrepo_find(&f->h.r, &oid);
}

/*
 * Returns the commit_nr that the commit r.objects[nr] has in the history of the
 * walk. The commit need not be parsed.
 */
static inline uint32_t walkrepo_commit(struct walkrepo *f, uint32_t nr)
{
	uint32_t commit_nr;

	assert_int_equal(
		history_add(&f->w.history, walkrepo_pos(f, nr), &commit_nr), 0);
	return commit_nr;
}

/* Returns the index in r.objects[] of the commit with the commit_nr `c`. */
static inline uint32_t walkrepo_commit_obj(struct walkrepo *f, uint32_t c)
{
	return walkrepo_nr(f, f->w.history.commits[c].obj_pos);
}

/*
 * Returns the index in r.objects[] of a random commit, most often of a recent
 * one.
 */
static inline uint32_t walkrepo_some_commit(struct walkrepo *f)
{
	struct randrepo *r = &f->h.r;
	uint32_t back = randrepo_below(
		r,
		randrepo_below(r, 3) && r->commit_nr > 20 ? 20 : r->commit_nr);

	return r->commits[r->commit_nr - 1 - back];
}

/* Returns an empty set of objects, which the caller frees. */
static inline bool *walkrepo_set(void)
{
	bool *set = calloc(RANDREPO_MAX, sizeof(*set));

	assert_non_null(set);
	return set;
}

#endif
