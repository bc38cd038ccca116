/* SPDX-License-Identifier: MIT */
/*
 * A random repository, opened for walking. Include after cmocka.h.
 */
#ifndef T_UNIT_WALKREPO_H
#define T_UNIT_WALKREPO_H

#include "t/unit/randrepo.h"
#include "walk/walk.h"

struct walkrepo {
	struct randrepo r;
	struct odb *odb;
	struct walk walk;
};

/* `commits` commits: half of them packed, the others loose. */
static inline void walkrepo_init(struct walkrepo *w, enum hash_algo algo,
				 uint32_t commits, uint64_t *seed)
{
	randrepo_init(&w->r, algo, seed);
	randrepo_history(&w->r, commits / 2);
	randrepo_store_pack(&w->r);
	randrepo_history(&w->r, commits - commits / 2);
	randrepo_store(&w->r);
	assert_int_equal(odb_open(&w->odb, &w->r.t.repo, NULL, NULL), 0);
	assert_int_equal(walk_open(&w->walk, w->odb, NULL, 0, NULL), 0);
}

static inline void walkrepo_release(struct walkrepo *w)
{
	walk_close(&w->walk);
	odb_close(w->odb);
	randrepo_release(&w->r);
}

/* obj_pos of an object of the repository, by its number there. */
static inline uint32_t walkrepo_pos(struct walkrepo *w, uint32_t nr)
{
	uint32_t obj_pos = 0;

	assert_int_equal(objspace_add(&w->walk.space,
				      w->r.objects[nr].oid.bytes, &obj_pos),
			 0);
	return obj_pos;
}

/* The number of an object in the repository, by its obj_pos. */
static inline uint32_t walkrepo_nr(struct walkrepo *w, uint32_t obj_pos)
{
	struct oid oid;

	objspace_oid(&oid, &w->walk.space, obj_pos);
	return randrepo_find(&w->r, &oid);
}

/* A commit of the repository, added to the walk's history and parsed. */
static inline uint32_t walkrepo_commit(struct walkrepo *w, uint32_t nr)
{
	uint32_t commit_nr = 0;

	assert_int_equal(
		history_add(&w->walk.history, walkrepo_pos(w, nr), &commit_nr),
		0);
	assert_int_equal(history_parse(&w->walk.history, commit_nr, NULL), 0);
	return commit_nr;
}

#endif
