/* SPDX-License-Identifier: MIT */
/* Answers that were prepared (repack/prepared.h). */
#include "repack/find-parts.h"
#include "sys/thread.h"

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

/* Make the answer what was found, by this order of the pack. 0 or ERR_NOMEM. */
static int take(struct found *f, const struct pack_rev *rev, struct error *err)
{
	const struct odb_pack *pack = f->prepared.pack;

	if (!rev)
		return ERR_NOMEM;
	bitset_release(&f->packed);
	f->objects.nr = 0;
	if (bitset_init(&f->packed, pack->pack->idx.nr) < 0)
		return error_nomem(err);
	f->space = bitmap_space_of_pack(f->walk.odb, pack, rev);
	ewah_or_into(&f->packed, &f->answer->objects);
	return 0;
}

static int check_order(void *ctx, unsigned thread_nr, size_t task_nr,
		       struct error *err)
{
	const struct found *f = ctx;

	return pack_check_rev(f->prepared.pack->pack, f->space.rev, err);
}

/*
 * Add tags to the answer while the order of the pack is looked at. They are
 * looked for again, by another order, if it was wrong.
 */
static int complete(struct found *f, struct error *err)
{
	struct pack *pack = f->prepared.pack->pack;
	struct error tags_err = ERROR_INIT;
	struct sys_loop *proof;
	int ret, tags;

	if (f->space.rev->owned || find_is_few(pack, f->answer->object_nr))
		return found_include_tags(f, err);
	ret = sys_loop_start(&proof, sys_cpu_nr(), 1, check_order, f, err);
	if (ret < 0)
		return ret;
	tags = found_include_tags(f, &tags_err);
	ret = sys_loop_finish(proof, NULL);
	if (!ret) {
		if (tags && err)
			*err = tags_err;
		return tags;
	}
	ret = take(f, pack_get_rev(pack, err), err);
	return ret < 0 ? ret : found_include_tags(f, err);
}

int find_prepared(struct found *f, struct error *err)
{
	const struct repack_request *r = f->request;
	int ret;

	if (!is_clone(f))
		return 0;
	ret = prepared_open_for(&f->prepared, &f->answer, f->walk.odb,
				f->walk.shallow.nr, r->wants, r->want_nr);
	if (ret <= 0)
		return ret < 0 ? error_nomem(err) : 0;
	ret = take(f, pack_get_rev_unproven(f->prepared.pack->pack, err), err);
	if (!ret)
		ret = complete(f, err);
	return ret < 0 ? ret : 1;
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
