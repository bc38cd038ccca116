/* SPDX-License-Identifier: MIT */
/* Answers that were prepared (repack/prepared.h). */
#include "repack/find-parts.h"

/* Fewer objects are hashed sooner than a file is opened. */
#define PREPARED_MIN 512

/*
 * Whether a clone is asked for, of which all or nothing is cut: no history, or
 * the parents of each want.
 */
static bool is_clone(const struct found *f)
{
	const struct repack_request *r = f->request;
	bool is_cut = f->walk.shallow.nr;
	uint32_t ignored;

	if (!r->want_nr || r->have_nr || !filter_is_empty(r->filter) ||
	    f->walk.odb->replaced)
		return false;
	for (size_t i = 0; is_cut && i < r->want_nr; i++)
		if (!oidmap_get(&f->walk.shallow, &r->wants[i], &ignored))
			return false;
	return true;
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
	f->answer = answer;
	f->space = bitmap_space_of_pack(f->walk.odb, pack, rev);
	ewah_or_into(&f->packed, &answer->objects);
	return 1;
}

int find_prepared(struct found *f, struct error *err)
{
	const struct repack_request *r = f->request;
	const struct odb *odb = f->walk.odb;
	struct prepared_request request;
	int ret = 0;

	if (!is_clone(f))
		return 0;
	for (size_t i = 0; i < odb->dir_nr && ret != ERR_NOMEM; i++) {
		const struct prepared_answer *answer;

		ret = prepared_open(&f->prepared, odb, i, NULL);
		if (ret <= 0)
			continue;
		ret = prepared_request(&request, odb->algo, f->walk.shallow.nr,
				       r->wants, r->want_nr);
		answer = ret < 0 ? NULL : prepared_find(&f->prepared, &request);
		if (answer)
			return take(f, answer, err);
		prepared_close(&f->prepared);
	}
	return ret == ERR_NOMEM ? error_nomem(err) : 0;
}

/* Whether a file has the answer, of the pack that was asked. */
static bool look_up(struct oid *checksum, const struct prepared *p,
		    const struct found *f, size_t nr)
{
	const struct oid *known = NULL;

	if (p->pack == f->space.pack)
		known = prepared_checksum(p, &f->packed, nr);
	if (known)
		*checksum = *known;
	return known != NULL;
}

bool found_checksum(const struct found *f, struct oid *checksum)
{
	const struct odb *odb = f->walk.odb;
	size_t nr = bitset_count(&f->packed);
	bool is_there = false;

	if (f->request->have_nr || f->objects.nr || !f->space.pack ||
	    nr < PREPARED_MIN)
		return false;
	if (f->answer)
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
