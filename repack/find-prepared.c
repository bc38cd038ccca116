/* SPDX-License-Identifier: MIT */
/* Answers that were prepared (repack/prepared.h). */
#include "repack/find-parts.h"

/* Fewer objects are hashed sooner than a file is opened. */
#define PREPARED_MIN 512

/* The only want, if it is a commit, of a client that gets no parents of it. */
static bool is_depth_1(const struct found *f, const struct walk_tips *wants)
{
	const struct repack_request *r = f->request;
	uint32_t ignored;

	return r->want_nr == 1 && !r->have_nr && wants->commit_nr == 1 &&
	       !wants->others.nr && filter_is_empty(r->filter) &&
	       !f->walk.odb->replaced &&
	       oidmap_get(&f->walk.shallow, &r->wants[0], &ignored);
}

/* Make the answer what was found. */
static int take(struct found *f, const struct prepared_answer *answer,
		struct error *err)
{
	const struct odb_pack *pack = f->prepared.pack;
	const struct pack_rev *rev = find_order(pack->pack, answer->object_nr,
						err);

	if (!rev)
		return ERR_NOMEM;
	if (bitset_init(&f->packed, pack->pack->idx.nr) < 0)
		return error_nomem(err);
	f->space = bitmap_space_of_pack(f->walk.odb, pack, rev);
	ewah_or_into(&f->packed, &answer->objects);
	return 1;
}

int find_prepared(struct found *f, const struct walk_tips *wants,
		  struct error *err)
{
	const struct odb *odb = f->walk.odb;

	if (!is_depth_1(f, wants))
		return 0;
	for (size_t i = 0; i < odb->dir_nr; i++) {
		const struct prepared_answer *answer = NULL;
		int ret = prepared_open(&f->prepared, odb, i, NULL);

		if (ret == ERR_NOMEM)
			return error_nomem(err);
		if (ret > 0)
			answer = prepared_of_commit(&f->prepared,
						    &f->request->wants[0]);
		if (answer)
			return take(f, answer, err);
		prepared_close(&f->prepared);
	}
	return 0;
}

/* Whether a file has the answer, of the pack that was asked. */
static bool look_up(struct oid *checksum, const struct prepared *p,
		    const struct found *f, size_t nr)
{
	const struct prepared_answer *answer = NULL;

	if (p->pack && p->pack == f->space.pack)
		answer = prepared_of_set(p, &f->packed, nr);
	if (answer)
		*checksum = answer->checksum;
	return answer != NULL;
}

bool found_checksum(const struct found *f, struct oid *checksum)
{
	const struct odb *odb = f->walk.odb;
	size_t nr = bitset_count(&f->packed);
	bool is_there = false;

	if (f->objects.nr || !f->space.pack || nr < PREPARED_MIN)
		return false;
	if (f->prepared.nr)
		return look_up(checksum, &f->prepared, f, nr);
	for (size_t i = 0; i < odb->dir_nr && !is_there; i++) {
		struct prepared p;

		if (prepared_open(&p, odb, i, NULL) <= 0)
			continue;
		is_there = look_up(checksum, &p, f, nr);
		prepared_close(&p);
	}
	return is_there;
}
