/* SPDX-License-Identifier: MIT */
/* Lists unreachable objects for `git pack-objects`. */
#include "repack/leftovers.h"

static bool is_leaving(void *ctx, const struct pack *pack)
{
	const struct pack_job *job = ctx;

	return !pack->is_kept &&
	       !pack_names_has(job->options->keep_packs, pack->name);
}

int leftovers_list(struct unreachable *u, struct pack_job *job, int64_t expiry,
		   struct error *err)
{
	struct unreachable_options options = {
		.is_leaving = is_leaving,
		.ctx = job,
		.loose = true,
		.expiry = expiry,
	};
	int ret = unreachable_collect(u, &job->walk, &job->reached, &options,
				      err);

	return ret < 0 ? ret : unreachable_keep(u, expiry, err);
}

int leftovers_add(struct pack_job *job, struct unreachable *u, bool packed,
		  bool loose, struct error *err)
{
	for (size_t i = 0; i < u->nr; i++) {
		const struct unreachable_item *item = &u->items[i];
		enum object_type type;
		int ret;

		if (!(packed && item->is_packed) && !(loose && item->is_loose))
			continue;
		ret = unreachable_type(u, item, &type, err);
		if (ret < 0)
			return ret;
		if (!ret && pack_job_add_pos(job, item->obj_pos, type, 0) < 0)
			return error_nomem(err);
	}
	return 0;
}

/*
 * Context of the callback is_going(). `parts` is indexed by the number of a
 * pack in the snapshot `odb`. The callback gets a struct pack, and searches the
 * snapshot for the number of this pack.
 */
struct going {
	const struct odb *odb;
	const enum rollup_part *parts;
};

static bool is_going(void *ctx, const struct pack *pack)
{
	const struct going *g = ctx;

	for (uint32_t i = 0; i < g->odb->pack_nr; i++)
		if (g->odb->packs[i].pack == pack)
			return g->parts[i] == ROLLUP_INCLUDE;
	return false;
}

/*
 * Mark as reached each object of a pack that stays in the repository. Returns 0
 * or ERR_NOMEM.
 */
static int mark_staying(struct pack_job *job, const enum rollup_part *parts,
			struct error *err)
{
	const struct odb *odb = job->walk.odb;
	uint32_t obj_pos;

	if (bitset_init(&job->reached, objspace_end(&job->walk.space)) < 0)
		return error_nomem(err);
	for (uint32_t i = 0; i < odb->pack_nr; i++) {
		const struct odb_pack *p = &odb->packs[i];

		if (parts[i] == ROLLUP_INCLUDE)
			continue;
		for (uint32_t k = 0; k < p->pack->idx.nr; k++)
			if (odb_find_raw(odb, pack_idx_oid(&p->pack->idx, k),
					 &obj_pos))
				bitset_set(&job->reached, obj_pos);
	}
	return 0;
}

int leftovers_list_cruft(struct unreachable *u, struct pack_job *job,
			 const enum rollup_part *parts, int64_t expiry,
			 struct error *err)
{
	struct going going = {job->walk.odb, parts};
	struct unreachable_options options = {
		.is_leaving = is_going,
		.ctx = &going,
		.loose = true,
		.expiry = expiry,
	};
	int ret = mark_staying(job, parts, err);

	if (!ret)
		ret = unreachable_collect(u, &job->walk, &job->reached,
					  &options, err);
	for (size_t i = 0; i < u->nr && !ret; i++)
		u->items[i].is_safe = !pack_job_wants(job, u->items[i].obj_pos);
	return ret < 0 ? ret : unreachable_keep(u, expiry, err);
}
