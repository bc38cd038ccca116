/* SPDX-License-Identifier: MIT */
/* Writes the objects of promisor packs into one pack. */
#include "repack/repack-parts.h"

/*
 * Add to the items (the objects to pack) the objects of a pack that are not in
 * `listed`. Returns 0 or a negative error code.
 */
static int add_pack(struct packing_items *items, struct bitset *listed,
		    struct pack_job *job, const struct odb_pack *pack,
		    struct error *err)
{
	struct walk *w = &job->walk;

	for (uint32_t i = 0; i < pack->pack->idx.nr; i++) {
		const uint8_t *raw = odb_oid_raw(w->odb, pack->first_pos + i);
		enum object_type type;
		uint32_t obj_pos;
		int ret;

		if (objspace_add(&w->space, raw, &obj_pos) < 0)
			return error_nomem(err);
		if (bitset_test(listed, obj_pos))
			continue;
		bitset_set(listed, obj_pos);
		ret = objspace_info(&w->space, w->reader, obj_pos, &type, NULL,
				    err);
		if (ret < 0)
			return ret;
		if (packing_items_append(items, obj_pos, type, 0, false) < 0)
			return error_nomem(err);
	}
	return 0;
}

static int list_objects(struct packing_items *items, struct pack_job *job,
			const struct old_packs *old, struct error *err)
{
	const struct odb *odb = job->walk.odb;
	struct bitset listed = BITSET_INIT;
	int ret = bitset_init(&listed, odb->packed_nr) < 0 ? error_nomem(err)
							   : 0;

	for (uint32_t i = 0; i < odb->pack_nr && !ret; i++) {
		const struct pack *pack = odb->packs[i].pack;

		if (pack->is_local && pack->is_promisor &&
		    old_packs_has(old, pack))
			ret = add_pack(items, &listed, job, &odb->packs[i],
				       err);
	}
	bitset_release(&listed);
	return ret;
}

int promisor_pack_write(uint32_t *nr, struct strlist *made,
			struct pack_job *job, const struct old_packs *old,
			struct error *err)
{
	const struct pack_job_options *o = job->options;
	struct packing_items items;
	struct newpacks np = {0};
	int ret;

	*nr = 0;
	if (!job->promisor.has_packs)
		return 0;
	packing_items_init(&items, &job->walk.space);
	ret = list_objects(&items, job, old, err);
	if (!ret && items.nr) {
		ret = newpacks_make(&np, &items, NULL, o->dir, o->newpack, err);
		if (!ret)
			ret = newpacks_promisor(&np, o->dir, err);
		if (!ret)
			ret = newpacks_install(&np, o->base, err);
		if (!ret && newpacks_names(made, &np) < 0)
			ret = error_nomem(err);
	}
	*nr = np.report.objects;
	newpacks_release(&np);
	packing_items_release(&items);
	return ret;
}
