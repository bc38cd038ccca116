/* SPDX-License-Identifier: MIT */
/*
 * Removes from a member repository the objects that the store (the object pool)
 * has. The steps, in order: list the member's packs, open all packs, decide
 * which packs are removed. A pack that arrives after the first step is not on
 * the list, and stays.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "islands/network-member.h"
#include "network/network-repack-parts.h"
#include "packs/old-packs.h"
#include "packs/pack-job.h"
#include "repack/prune-packed.h"
#include "repack/rollup.h"

struct drop {
	struct repo *repo;
	struct network_drop_report *report;
	struct old_packs old;
	struct odb *odb;
	/*
	 * owned array, indexed by the pack's number in the snapshot: how the
	 * objects of the pack are handled
	 */
	enum rollup_part *parts;
	struct pack_job_options options;
	struct pack_job job;
	/* owned: "<objects>/pack" */
	char *dir;
	/*
	 * owned: beginning of the paths of new pack files:
	 * "<objects>/pack/pack"
	 */
	char *base;
	struct error *err;
};

static void drop_release(struct drop *d)
{
	pack_job_close(&d->job);
	odb_close(d->odb);
	old_packs_release(&d->old);
	free(d->parts);
	free(d->dir);
	free(d->base);
	repo_close(d->repo);
}

static bool store_has(const struct odb *odb, const uint8_t *raw)
{
	uint32_t ignored;

	for (uint32_t i = 0; i < odb->pack_nr; i++)
		if (!odb->packs[i].pack->is_local &&
		    pack_idx_find(&odb->packs[i].pack->idx, raw, &ignored))
			return true;
	return false;
}

static bool store_has_all(const struct odb *odb, const struct pack *pack)
{
	for (uint32_t i = 0; i < pack->idx.nr; i++)
		if (!store_has(odb, pack_idx_oid(&pack->idx, i)))
			return false;
	return true;
}

static void choose_part(struct drop *d, uint32_t nr)
{
	const struct pack *pack = d->odb->packs[nr].pack;
	enum rollup_part part = ROLLUP_EXCLUDE;

	if (!pack->is_local)
		part = ROLLUP_SUFFICE;
	else if (!old_packs_has(&d->old, pack))
		part = ROLLUP_EXCLUDE;
	else if (store_has_all(d->odb, pack))
		part = ROLLUP_UNLISTED;
	else if (!pack->is_cruft)
		part = ROLLUP_INCLUDE;
	else
		old_packs_spare(&d->old, pack->name);
	d->parts[nr] = part;
}

static int open_all(struct drop *d, const struct newpack_options *options)
{
	int ret;

	d->dir = repo_object_path(d->repo, "pack");
	d->base = repo_object_path(d->repo, "pack/pack");
	if (!d->dir || !d->base)
		return error_nomem(d->err);
	ret = old_packs_list(&d->old, d->dir, d->err);
	d->old.share = d->repo->share;
	if (!ret)
		ret = odb_open_whole(&d->odb, d->repo, d->err);
	if (ret < 0)
		return ret;
	old_packs_spare_kept(&d->old, d->odb);
	d->options = (struct pack_job_options){
		.newpack = options,
		.dir = d->dir,
		.base = d->base,
		.local = true,
	};
	d->parts = mem_calloc(d->odb->pack_nr, sizeof(*d->parts));
	return d->parts ? pack_job_open(&d->job, d->odb, NULL, &d->options,
					d->err)
			: error_nomem(d->err);
}

/*
 * Put those objects of the member that the store lacks into one new pack of
 * the member. Returns 0 or a negative error code.
 */
static int pack_rest(struct drop *d)
{
	struct rollup_options options = {.parts = d->parts, .removes = true};
	int ret;

	for (uint32_t i = 0; i < d->odb->pack_nr; i++)
		choose_part(d, i);
	ret = rollup_add(&d->job, &options, d->err);
	if (!ret && d->job.items.nr)
		ret = pack_job_run(&d->job, d->err);
	d->report->kept_nr = (uint32_t)d->job.items.nr;
	return ret;
}

/* For old_packs_guard.held. */
static void note_held(void *ctx, const char *message)
{
	struct drop *d = ctx;

	error_set(&d->report->held, ERR_DENIED, "%s", message);
}

/*
 * Remove the listed packs. The new pack may lack objects that the member's
 * other packs have. So if one of the other packs has disappeared, no pack is
 * removed. Returns 0 or a negative error code.
 */
static int remove_old(struct drop *d)
{
	struct strlist made = STRLIST_INIT;
	const struct old_packs_guard guard = {
		.odb = d->odb,
		.made = &made,
		.held = note_held,
		.ctx = d,
	};
	int ret = newpacks_names(&made, &d->job.newpacks);

	ret = ret < 0 ? error_nomem(d->err)
		      : old_packs_remove(&d->old, &guard, d->err);
	strlist_release(&made);
	if (!ret)
		d->report->pack_nr = (uint32_t)d->old.nr;
	return ret;
}

int network_drop(struct network *network, uint32_t id,
		 const struct newpack_options *options,
		 struct network_drop_report *report, struct error *err)
{
	const struct prune_packed_options loose = {.dry_run = false};
	struct drop d = {.report = report, .err = err};
	const struct network_entry *entry;
	enum network_link link = NETWORK_LINK_NONE;
	int ret = network_lock(network, NETWORK_LOCK_MEMBERS + id, false, true,
			       err);

	*report = (struct network_drop_report){0};
	if (!ret)
		ret = network_reload(network, err);
	entry = ret ? NULL : network_registry_find(&network->registry, id);
	if (entry && entry->state == NETWORK_MEMBER)
		ret = network_member_open(&d.repo, network, entry, err);
	if (d.repo)
		ret = network_link_check(&link, network, d.repo, err);
	/*
	 * Remove objects only if the member still borrows from the store.
	 * Otherwise the member needs all its objects.
	 */
	if (!ret && link == NETWORK_LINK_STORE) {
		ret = repo_check_precious(d.repo, "delete packs", err);
		if (!ret)
			ret = open_all(&d, options);
		if (!ret)
			ret = pack_rest(&d);
		if (!ret)
			ret = remove_old(&d);
		if (!ret)
			ret = prune_packed(d.repo, &loose, err);
		if (!ret)
			ret = network_graph_drop(network->store, d.repo, err);
	}
	drop_release(&d);
	network_unlock(network, NETWORK_LOCK_MEMBERS + id);
	return ret;
}
