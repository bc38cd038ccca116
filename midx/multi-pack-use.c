/* SPDX-License-Identifier: MIT */
/*
 * Removes packs that the multi-pack-index does not need, and packs the objects
 * of small packs together.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/sort.h"
#include "midx/multi-pack.h"
#include "odb/freshen.h"
#include "odb/odb-midx.h"
#include "pack/pack-name.h"
#include "packs/pack-job.h"

/*
 * Returns how many objects the multi-pack-index takes from each pack. The array
 * is indexed by the pack's number in the snapshot. NULL: no memory.
 */
static uint32_t *count_taken(const struct odb *odb, const struct odb_midx *om)
{
	uint32_t *taken = mem_calloc(odb->pack_nr, sizeof(*taken));

	for (uint32_t i = 0; i < om->midx.nr && taken; i++) {
		uint32_t midx_pack = pack_midx_pack(&om->midx, i);

		if (midx_pack < om->midx.pack_nr)
			taken[om->pack_nrs[midx_pack]]++;
	}
	return taken;
}

struct expiry {
	const struct odb *odb;
	const struct odb_midx *om;
	/*
	 * owned: for each pack of the snapshot, the number of objects that the
	 * multi-pack-index takes from it
	 */
	uint32_t *taken;
	/*
	 * owned: for each pack of the snapshot, whether its time was set to the
	 * present. A pack that stays gets the present time if it is older than
	 * a removed pack: an object that both have must not appear older
	 * afterwards, because unreachable objects expire by their age.
	 */
	enum freshen_state *freshness;
	/* names of the packs to remove */
	struct strlist names;
	struct error *err;
};

/*
 * Returns whether an object of the pack `leaving` is also in a pack that is not
 * removed and that the multi-pack-index covers. Packs with a temporary name do
 * not count, because stock Git may rename or remove them. If `leaving` is a
 * promisor pack, only other promisor packs count: objects of a promisor pack
 * may refer to missing objects, but objects of any other pack may not.
 */
static bool is_elsewhere(const struct expiry *e, const struct pack *leaving,
			 const uint8_t *raw)
{
	for (uint32_t i = 0; i < e->om->midx.pack_nr; i++) {
		uint32_t nr = e->om->pack_nrs[i];
		const struct pack *pack = e->odb->packs[nr].pack;

		if (e->taken[nr] && !pack_name_is_temporary(pack->name) &&
		    pack->is_promisor >= leaving->is_promisor &&
		    pack_holds(pack, raw) &&
		    freshen_pack(&e->freshness[nr], pack, leaving->mtime_ns))
			return true;
	}
	return false;
}

/*
 * Returns whether each object of a pack is also in a pack that stays. The
 * function reads the .idx files of these packs, because the multi-pack-index
 * may be wrong.
 */
static bool is_redundant(const struct expiry *e, const struct pack *pack)
{
	for (uint32_t i = 0; i < pack->idx.nr; i++)
		if (!is_elsewhere(e, pack, pack_idx_oid(&pack->idx, i)))
			return false;
	return true;
}

static int choose_one(struct expiry *e, uint32_t pack_nr)
{
	const struct pack *pack = e->odb->packs[pack_nr].pack;

	if (e->taken[pack_nr] || pack->is_kept || pack->is_cruft ||
	    pack_name_is_temporary(pack->name) || !is_redundant(e, pack))
		return 0;
	return strlist_add(&e->names, pack->name) < 0 ? error_nomem(e->err) : 0;
}

static int choose(struct expiry *e, const struct progress_out *progress)
{
	struct progress meter;
	int ret = 0;

	e->taken = count_taken(e->odb, e->om);
	e->freshness = mem_calloc(e->odb->pack_nr, sizeof(*e->freshness));
	if (!e->taken || !e->freshness)
		return error_nomem(e->err);
	progress_start(&meter, progress,
		       "Finding and deleting unreferenced packfiles",
		       e->om->midx.pack_nr);
	for (uint32_t i = 0; i < e->om->midx.pack_nr && !ret; i++) {
		ret = choose_one(e, e->om->pack_nrs[i]);
		progress_add(&meter, 1);
	}
	progress_stop(&meter);
	return ret;
}

/*
 * List the names of the packs that the old multi-pack-index covers and that
 * stay. The new multi-pack-index must not cover any other pack. Returns 0 or
 * ERR_NOMEM.
 */
static int names_of(struct strlist *names, const struct odb_midx *om)
{
	int ret = 0;

	for (uint32_t i = 0; i < om->midx.pack_nr && !ret; i++)
		ret = pack_names_add(names, om->midx.names[i]);
	return ret;
}

static int rewrite_and_remove(struct expiry *e, bool *outdated, size_t dir_nr)
{
	struct strlist only = {0};
	const struct multi_pack_options o = {
		.dir_nr = dir_nr,
		.only = &only,
		.but = &e->names,
		.removes_but = true,
	};
	struct multi_pack_result result = {.warning = ERROR_INIT};
	int ret = names_of(&only, e->om);

	ret = ret < 0 ? error_nomem(e->err)
		      : multi_pack_write(&result, e->odb, &o, e->err);
	*outdated = result.outdated;
	strlist_release(&only);
	return ret;
}

int multi_pack_expire(bool *outdated, const struct odb *odb, size_t dir_nr,
		      const struct progress_out *progress, struct error *err)
{
	struct expiry e = {.odb = odb, .om = odb->midxes[dir_nr], .err = err};
	int ret;

	*outdated = false;
	if (!e.om)
		return 0;
	if (e.om->in_chain)
		return error_set(err, ERR_UNSUPPORTED,
				 "cannot expire packs from an incremental "
				 "multi-pack-index");
	ret = choose(&e, progress);
	if (!ret && e.names.nr) {
		ret = rewrite_and_remove(&e, outdated, dir_nr);
		if (!ret)
			ret = (int)e.names.nr;
	}
	strlist_release(&e.names);
	free(e.taken);
	free(e.freshness);
	return ret;
}

struct batch {
	const struct odb *odb;
	const struct odb_midx *om;
	/*
	 * packs are chosen until the sum of their expected sizes in bytes
	 * reaches this value; 0: all packs are chosen
	 */
	uint64_t size;
	bool pack_kept_objects;
	/*
	 * true: only promisor packs are chosen, and the new pack is a promisor
	 * pack; false: only other packs are chosen
	 */
	bool is_promisor;
	/*
	 * owned: for each pack of the snapshot, the number of objects that the
	 * multi-pack-index takes from it
	 */
	uint32_t *taken;
	/*
	 * owned: which packs were chosen, by the pack's number in the snapshot
	 */
	bool *chosen;
	unsigned chosen_nr;
};

/*
 * Returns the estimated number of bytes in a pack that belong to objects for
 * which the multi-pack-index names this pack.
 */
static uint64_t expected_size(const struct batch *b, uint32_t pack_nr)
{
	const struct pack *pack = b->odb->packs[pack_nr].pack;

	if (!pack->idx.nr)
		return 0;
	return (uint64_t)((double)pack->file.len * b->taken[pack_nr] /
			  pack->idx.nr);
}

static int choose_batch(struct batch *b)
{
	uint32_t nr = b->om->midx.pack_nr;
	struct sort_item *items = mem_alloc(nr, sizeof(*items));
	uint64_t total = 0;
	int ret = items ? 0 : ERR_NOMEM;

	for (uint32_t i = 0; i < nr && !ret; i++) {
		uint32_t pack_nr = b->om->pack_nrs[i];

		items[i] = (struct sort_item){
			(uint64_t)b->odb->packs[pack_nr].pack->mtime_ns,
			pack_nr};
	}
	if (!ret)
		ret = sort_items(items, nr);
	for (uint32_t i = 0; i < nr && !ret; i++) {
		uint32_t pack_nr = items[i].value;
		const struct pack *pack = b->odb->packs[pack_nr].pack;
		uint64_t size = expected_size(b, pack_nr);

		if (b->size && total >= b->size)
			break;
		if ((pack->is_kept && !b->pack_kept_objects) ||
		    pack->is_cruft || pack->is_promisor != b->is_promisor ||
		    (b->size && size >= b->size))
			continue;
		b->chosen[pack_nr] = true;
		b->chosen_nr++;
		total += size;
	}
	free(items);
	return ret;
}

/*
 * Add the objects that the multi-pack-index takes from the chosen packs.
 * Returns 0 or a negative error code.
 */
static int add_taken(const struct batch *b, struct pack_job *job,
		     struct error *err)
{
	const struct pack_midx *midx = &b->om->midx;
	int ret = 0;

	for (uint32_t i = 0; i < midx->nr && !ret; i++) {
		uint32_t midx_pack = pack_midx_pack(midx, i);
		struct oid oid;

		if (midx_pack >= midx->pack_nr)
			return error_set(err, ERR_CORRUPT,
					 "%s: bad pack of object %u",
					 midx->name, i);
		if (!b->chosen[b->om->pack_nrs[midx_pack]])
			continue;
		oid_from_raw(&oid, pack_midx_oid(midx, i), midx->algo);
		ret = pack_job_add(job, &oid, 0, err);
	}
	return ret;
}

/*
 * Add all objects of the chosen packs. Returns 0 or a negative error code.
 */
static int add_all(const struct batch *b, struct pack_job *job,
		   struct error *err)
{
	int ret = 0;

	for (uint32_t nr = 0; nr < b->odb->pack_nr; nr++) {
		const struct pack_idx *idx = &b->odb->packs[nr].pack->idx;

		for (uint32_t i = 0; b->chosen[nr] && i < idx->nr && !ret;
		     i++) {
			struct oid oid;

			oid_from_raw(&oid, pack_idx_oid(idx, i), idx->algo);
			ret = pack_job_add(job, &oid, 0, err);
		}
	}
	return ret;
}

/*
 * Add the objects to pack. A promisor pack can only be removed if all its
 * objects are in another promisor pack (multi_pack_expire()). So a new promisor
 * pack also gets the objects that the multi-pack-index takes from other packs.
 * Returns 0 or a negative error code.
 */
static int add_objects(const struct batch *b, struct pack_job *job,
		       struct error *err)
{
	return b->is_promisor ? add_all(b, job, err) : add_taken(b, job, err);
}

static int pack_batch(const struct batch *b,
		      const struct newpack_options *newpack, struct error *err)
{
	const struct repo *repo = b->odb->repo;
	char *dir = repo_object_path(repo, "pack");
	char *base = repo_object_path(repo, "pack/pack");
	const struct pack_job_options o = {
		.newpack = newpack,
		.dir = dir,
		.base = base,
		.promisor = b->is_promisor,
	};
	struct pack_job job = {0};
	int ret;

	if (!dir || !base)
		ret = error_nomem(err);
	else
		ret = pack_job_open(&job, b->odb, NULL, &o, err);
	if (!ret)
		ret = add_objects(b, &job, err);
	if (!ret && job.items.nr) {
		ret = pack_job_run(&job, err);
		if (!ret)
			ret = 1;
	}
	pack_job_close(&job);
	free(dir);
	free(base);
	return ret;
}

/*
 * Choose a batch of packs, and pack its objects. If `newpack` is NULL, only
 * choose the packs. Returns 1 if there is something to pack, 0 if not, or a
 * negative error code.
 */
static int repack_batch(struct batch *b, const struct newpack_options *newpack,
			struct error *err)
{
	int ret = 0;

	b->taken = count_taken(b->odb, b->om);
	b->chosen = mem_calloc(b->odb->pack_nr, sizeof(*b->chosen));
	if (!b->taken || !b->chosen || choose_batch(b) < 0)
		ret = error_nomem(err);
	if (!ret && b->chosen_nr > 1)
		ret = newpack ? pack_batch(b, newpack, err) : 1;
	free(b->taken);
	free(b->chosen);
	return ret;
}

int multi_pack_repack(const struct odb *odb, uint64_t batch_size,
		      bool pack_kept_objects,
		      const struct newpack_options *newpack, struct error *err)
{
	const struct odb_midx *om = odb->midxes[0];
	int packed = 0, ret = 0;

	if (!om)
		return 0;
	if (om->in_chain)
		return error_set(err, ERR_UNSUPPORTED,
				 "cannot repack an incremental "
				 "multi-pack-index");
	for (int is_promisor = 0; is_promisor < 2 && ret >= 0; is_promisor++) {
		struct batch b = {
			.odb = odb,
			.om = om,
			.size = batch_size,
			.pack_kept_objects = pack_kept_objects,
			.is_promisor = is_promisor,
		};

		ret = repack_batch(&b, newpack, err);
		packed |= ret > 0;
	}
	return ret < 0 ? ret : packed;
}
