/* SPDX-License-Identifier: MIT */
/* Makes a pack in a repository, from tips to installed files. */
#include <string.h>

#include "base/mem.h"
#include "object/parse.h"
#include "packs/pack-job-parts.h"
#include "packs/pack-job.h"
#include "packs/pseudo-tips.h"
#include "packs/roots.h"
#include "sys/clock.h"
#include "sys/process.h"
#include "sys/trace.h"
#include "trees/tree-closure.h"

/*
 * List the packs whose objects the options exclude from the new pack. Returns 0
 * or ERR_NOMEM.
 */
static int choose_packs(struct pack_job *job, const struct odb *odb,
			const struct pack_job_options *o)
{
	job->excluding = mem_alloc(odb->pack_nr, sizeof(*job->excluding));
	if (!job->excluding)
		return ERR_NOMEM;
	for (uint32_t i = 0; i < odb->pack_nr; i++) {
		const struct pack *pack = odb->packs[i].pack;

		if (pack->is_local
			    ? (o->honor_keep && pack->is_kept) ||
				      pack_names_has(o->keep_packs, pack->name)
			    : o->local && !(o->leaving &&
					    old_packs_has(o->leaving, pack)))
			job->excluding[job->excluding_nr++] = pack;
	}
	return 0;
}

static int add_loose_elsewhere(void *ctx, const struct oid *oid,
			       const char *path)
{
	struct pack_job *job = ctx;
	const char *own = job->walk.odb->dirs[0];
	size_t own_len = strlen(own);

	if (!strncmp(path, own, own_len) && path[own_len] == '/')
		return 0;
	return oidmap_put(&job->loose_elsewhere, oid, 0);
}

/*
 * List the packs and loose objects that must not go into the new pack, because
 * of the options. Returns 0 or a negative error code.
 */
static int choose_excluded(struct pack_job *job, struct error *err)
{
	const struct odb *odb = job->walk.odb;
	int ret = choose_packs(job, odb, job->options);

	if (!ret && job->options->local && odb->dir_nr > 1)
		ret = odb_each_loose(odb, false, add_loose_elsewhere, job, err);
	return ret == ERR_NOMEM ? error_nomem(err) : ret;
}

int pack_job_open(struct pack_job *job, const struct odb *odb,
		  struct refs *refs, const struct pack_job_options *options,
		  struct error *err)
{
	int ret;

	memset(job, 0, sizeof(*job));
	job->islands = (struct islands)ISLANDS_INIT;
	ret = walk_open(&job->walk, odb, options->shallow, options->shallow_nr,
			err);
	if (ret < 0)
		return ret;
	history_check_graph(&job->walk.history);
	job->options = options;
	job->refs = refs;
	packing_items_init(&job->items, &job->walk.space);
	packing_items_init(&job->rest, &job->walk.space);
	/*
	 * Read the configuration now, so that a wrong value fails before any
	 * work is done.
	 */
	if (options->exclude_promisor ||
	    options->missing == PACK_MISSING_PROMISED)
		ret = promisor_init(&job->promisor, &job->walk, err);
	if (!ret && options->write_bitmap)
		ret = pseudo_config_load(&job->pseudo, &odb->repo->config,
					 sys_clock_seconds(), &job->warning,
					 err);
	return ret < 0 ? ret : choose_excluded(job, err);
}

void pack_job_close(struct pack_job *job)
{
	if (!job->options)
		return;
	newpacks_release(&job->newpacks);
	newpacks_release(&job->rest_packs);
	bitset_release(&job->reached);
	bitset_release(&job->listed);
	bitset_release(&job->passed);
	packing_items_release(&job->items);
	packing_items_release(&job->rest);
	promisor_release(&job->promisor);
	islands_release(&job->islands);
	pseudo_config_release(&job->pseudo);
	walk_result_release(&job->found);
	walk_tips_release(&job->wants);
	walk_tips_release(&job->haves);
	walk_close(&job->walk);
	oidmap_release(&job->loose_elsewhere);
	free(job->excluding);
	job->excluding = NULL;
	job->options = NULL;
}

bool pack_job_wants(const struct pack_job *job, uint32_t obj_pos)
{
	struct objspace *space = (struct objspace *)&job->walk.space;
	uint32_t ignored;
	struct oid oid;

	if (obj_pos < space->packed_nr && job->options->loose_only)
		return false;
	if (!job->excluding_nr && !job->loose_elsewhere.nr)
		return true;
	objspace_oid(&oid, space, obj_pos);
	for (size_t i = 0; i < job->excluding_nr; i++)
		if (pack_idx_find(&job->excluding[i]->idx, oid.bytes, &ignored))
			return false;
	return !oidmap_get(&job->loose_elsewhere, &oid, &ignored);
}

/*
 * Returns 1 if a reached object exists, 0 if the object is missing and may be
 * left out, or a negative error code. Only blobs can be missing here, because
 * the enumeration has read all other objects.
 */
static int check_there(struct pack_job *job, const struct walk_item *item,
		       struct error *err)
{
	struct walk *w = &job->walk;
	struct oid oid;

	if (job->options->missing == PACK_MISSING_ERROR ||
	    item->type != OBJ_BLOB)
		return 1;
	if (job->options->missing == PACK_MISSING_PROMISED)
		return promisor_check(&job->promisor, item->obj_pos, OBJ_BLOB,
				      err);
	objspace_oid(&oid, &w->space, item->obj_pos);
	return item->obj_pos < w->space.packed_nr ||
	       odb_reader_has(w->reader, &oid);
}

static int add_item(struct pack_job *job, const struct walk_item *item,
		    struct error *err)
{
	uint32_t obj_pos = item->obj_pos;
	int ret = check_there(job, item, err);
	bool passes;

	if (ret <= 0) {
		job->left_out = true;
		return ret;
	}
	if (job->options->unpacked && obj_pos < job->walk.space.packed_nr) {
		job->left_out = true;
		return 0;
	}
	passes = filter_is_empty(job->options->filter) || job->walk_filtered ||
		 bitset_get(&job->passed, obj_pos);
	if (job->options->note_reached && (passes || job->options->keep_rest))
		bitset_set(&job->reached, obj_pos);
	if (!pack_job_wants(job, obj_pos)) {
		job->left_out = true;
		return 0;
	}
	if (passes) {
		ret = packing_items_add(&job->items, item);
	} else {
		job->left_out = true;
		ret = job->options->keep_rest
			      ? packing_items_add(&job->rest, item)
			      : 0;
	}
	return ret < 0 ? error_nomem(err) : 0;
}

static int load_items(struct pack_job *job, struct error *err)
{
	const struct history *h = &job->walk.history;
	int ret = 0;

	if (job->options->note_reached &&
	    bitset_init(&job->reached, objspace_end(&job->walk.space)) < 0)
		return error_nomem(err);
	/*
	 * Reserve memory for all items that were found. Some will be left out,
	 * but their part of the memory is never written, so the operating
	 * system need not provide it.
	 */
	if (packing_items_reserve(&job->items,
				  job->found.revs.nr + job->found.objects.nr) <
	    0)
		return error_nomem(err);
	for (size_t i = 0; i < job->found.revs.nr && !ret; i++) {
		uint32_t c = walk_result_commit(&job->found, i);
		const struct walk_item item = {
			.obj_pos = h->commits[c].obj_pos,
			.type = OBJ_COMMIT,
		};

		ret = add_item(job, &item, err);
	}
	for (size_t i = 0; i < job->found.objects.nr && !ret; i++)
		ret = add_item(job, &job->found.objects.items[i], err);
	if (ret < 0)
		return ret;
	free(job->found.objects.items);
	job->found.objects = (struct walk_items){0};
	return 0;
}

/* Returns whether the objects of promisor packs are left out. */
static bool is_local(const struct pack_job *job)
{
	return job->options->exclude_promisor && job->promisor.has_packs;
}

static int apply_filter(struct pack_job *job, struct error *err)
{
	const struct filter_split split = {
		.walk = &job->walk,
		.wants = &job->wants,
		.haves = &job->haves,
		.found = &job->found,
		.missing_blobs = job->options->missing != PACK_MISSING_ERROR,
		.promisor = is_local(job) ? &job->promisor : NULL,
	};

	if (filter_is_empty(job->options->filter))
		return 0;
	job->left_out |= job->walk_filtered;
	if (job->walk_filtered)
		return 0;
	return filter_split_passed(&job->passed, &split, job->options->filter,
				   err);
}

/*
 * List the objects to pack, without those of promisor packs. Used if is_local()
 * returns true. Returns 0 or a negative error code.
 */
static int enumerate_local(struct pack_job *job, struct error *err)
{
	const struct pack_job_options *o = job->options;

	job->left_out = true;
	return promisor_enumerate(&job->found, &job->promisor, &job->wants,
				  &job->haves, o->newpack->make.grouping,
				  o->keep_promised && job->promisor.has_others,
				  err);
}

/*
 * Returns whether the walk applies the filter itself. Then the walk does not
 * read trees that the filter leaves out: they may be damaged. If the repository
 * has a provider (a callback that gets missing objects, for example by a fetch
 * from a promisor remote), the provider gets only objects that pass the filter.
 */
static bool filters_by_walk(const struct pack_job *job)
{
	const struct pack_job_options *o = job->options;

	return !filter_is_empty(o->filter) && !o->keep_rest &&
	       o->missing == PACK_MISSING_ERROR && !is_local(job);
}

int pack_job_enumerate(struct pack_job *job, struct error *err)
{
	struct walk_options options = {
		.objects = true,
		.exclude_boundary = job->haves.commit_nr,
		.keep_lists = job->options->write_bitmap ||
			      job->options->delta_islands,
		.missing_blobs = job->options->missing != PACK_MISSING_ERROR,
		.grouping = job->options->newpack->make.grouping,
		.threads = job->options->newpack->make.threads,
		.memory_limit = job->options->write_bitmap
					? newpack_bitmap_memory(
						  job->options->newpack,
						  job->walk.odb)
					: 0,
		.progress = job->options->newpack->make.progress,
	};
	struct trace *trace = job->walk.odb->repo->trace;
	int ret = job->options->delta_islands
			  ? island_marks_tell(&job->walk, job->refs,
					      options.progress, err)
			  : 0;

	if (ret < 0)
		return ret;
	job->walk_filtered = filters_by_walk(job);
	if (job->walk_filtered)
		options.filter = job->options->filter;
	trace_region_enter(trace, "pack-objects", "enumerate-objects");
	ret = is_local(job)
		      ? enumerate_local(job, err)
		      : walk_enumerate(&job->found, &job->walk, &job->wants,
				       &job->haves, &options, err);
	trace_region_leave(trace, "pack-objects", "enumerate-objects");
	if (!ret && (job->haves.commit_nr || job->haves.others.nr))
		job->left_out = true;
	else if (!ret)
		job->found_all = job->options->all_refs;
	if (!ret)
		ret = apply_filter(job, err);
	if (!ret)
		ret = load_items(job, err);
	if (job->options->write_bitmap)
		sys_memory_trim();
	return ret;
}

/*
 * Add the object `oid`, which the caller of the pack job has listed, to the
 * items. The caller has set all fields of `item` except obj_pos and type.
 * Returns 0 or a negative error code: ERR_MISSING if the object does not
 * exist.
 */
static int add_listed(struct pack_job *job, const struct oid *oid,
		      struct walk_item item, struct error *err)
{
	struct walk *w = &job->walk;
	char hex[OID_MAX_HEX_LEN + 1];
	enum object_type type;
	int ret;

	if (objspace_add(&w->space, oid->bytes, &item.obj_pos) < 0)
		return error_nomem(err);
	ret = objspace_info(&w->space, w->reader, item.obj_pos, &type, NULL,
			    err);
	if (ret == ERR_MISSING)
		return error_set(err, ERR_MISSING, "unable to read %s",
				 oid_to_hex(hex, oid, w->odb->algo));
	/*
	 * The listed objects may reach objects that are not in the list. So the
	 * pack gets no bitmap index.
	 */
	job->left_out = true;
	item.type = (uint8_t)type;
	if (ret < 0 || !pack_job_wants(job, item.obj_pos))
		return ret;
	if (item.obj_pos >= job->listed.bits &&
	    bitset_grow(&job->listed, 2 * (size_t)objspace_end(&w->space)) < 0)
		return error_nomem(err);
	/* A list may name an object twice, but a pack must have it once. */
	if (bitset_get(&job->listed, item.obj_pos))
		return 0;
	bitset_set(&job->listed, item.obj_pos);
	return packing_items_add(&job->items, &item) < 0 ? error_nomem(err) : 0;
}

int pack_job_add(struct pack_job *job, const struct oid *oid,
		 uint32_t name_hash, struct error *err)
{
	return add_listed(job, oid, (struct walk_item){.name_hash = name_hash},
			  err);
}

int pack_job_add_named(struct pack_job *job, const struct oid *oid,
		       const char *path, struct error *err)
{
	size_t len = strlen(path);
	const struct walk_item item = {
		.name_hash = name_hash_add(0, path, len),
		.group = path_group_path(job->options->newpack->make.grouping,
					 path, len),
	};

	return add_listed(job, oid, item, err);
}

int pack_job_add_pos(struct pack_job *job, uint32_t obj_pos,
		     enum object_type type, uint32_t name_hash)
{
	if (!pack_job_wants(job, obj_pos))
		return 0;
	return packing_items_append(&job->items, obj_pos, type, name_hash,
				    false);
}

static int find_trees(struct walk_items *found, struct bitset *seen,
		      struct pack_job *job, const struct oid *trees, size_t nr,
		      struct error *err)
{
	const struct tree_closure_options options = {
		.threads = job->options->newpack->make.threads,
	};
	struct objspace *space = &job->walk.space;
	uint32_t *tops = mem_alloc(nr, sizeof(*tops));
	size_t top_nr = 0;
	int ret = tops ? 0 : error_nomem(err);

	for (size_t i = 0; i < nr && !ret; i++)
		if (!odb_reader_has(job->walk.reader, &trees[i]))
			continue;
		else if (objspace_add(space, trees[i].bytes, &tops[top_nr]) < 0)
			ret = error_nomem(err);
		else
			top_nr++;
	if (!ret && bitset_init(seen, objspace_end(space)) < 0)
		ret = error_nomem(err);
	if (!ret)
		ret = tree_closure_find(found, seen, space, tops, top_nr,
					&options, err);
	free(tops);
	return ret;
}

int pack_job_leave_out_trees(struct pack_job *job, const struct oid *trees,
			     size_t nr, struct error *err)
{
	struct packing_items *list = &job->items;
	struct walk_items found = {0};
	struct bitset seen = BITSET_INIT;
	size_t kept = 0;
	int ret;

	if (!nr)
		return 0;
	ret = find_trees(&found, &seen, job, trees, nr, err);
	if (!ret) {
		for (size_t i = 0; i < list->nr; i++)
			if (!bitset_get(&seen, list->items[i].obj_pos))
				list->items[kept++] = list->items[i];
		list->nr = kept;
		job->left_out = true;
	}
	bitset_release(&seen);
	free(found.items);
	return ret;
}

/* Adding tags. */
struct tagging {
	struct pack_job *job;
	/* the objects to be packed, as a set by obj_pos */
	struct bitset packed;
	struct error *err;
};

/*
 * Add a tag to the objects to be packed, unless it is among them already.
 * Returns 0 or ERR_NOMEM.
 */
static int add_tag(struct tagging *t, uint32_t obj_pos)
{
	if (bitset_get(&t->packed, obj_pos))
		return 0;
	if (bitset_grow(&t->packed, (size_t)obj_pos + 1) < 0 ||
	    pack_job_add_pos(t->job, obj_pos, OBJ_TAG, 0) < 0)
		return error_nomem(t->err);
	bitset_set(&t->packed, obj_pos);
	return 0;
}

/*
 * Visit a tag. If its final target (the object at the end of a chain of tags)
 * is to be packed, add all tags of the chain. Returns 0 or a negative error
 * code.
 */
static int take_tag(void *ctx, const struct packing_tag *tag)
{
	struct tagging *t = ctx;
	struct walk *w = &t->job->walk;
	struct walk_tips chain = WALK_TIPS_INIT;
	uint32_t target;
	int ret;

	if (!objspace_find(&w->space, tag->target.bytes, &target) ||
	    !bitset_get(&t->packed, target))
		return 0;
	ret = walk_add_tip(w, &chain, &tag->tag, false, t->err);
	for (size_t i = 0; i < chain.others.nr && !ret; i++)
		if (chain.others.items[i].type == OBJ_TAG)
			ret = add_tag(t, chain.others.items[i].obj_pos);
	walk_tips_release(&chain);
	return ret;
}

int pack_job_add_tags(struct pack_job *job, const struct packing_tags *tags,
		      struct error *err)
{
	struct tagging t = {job, BITSET_INIT, err};
	const struct packing_items *list = &job->items;
	int ret = 0;

	if (!list->nr)
		return 0;
	if (bitset_init(&t.packed, objspace_end(&job->walk.space)) < 0)
		ret = error_nomem(err);
	for (size_t i = 0; i < list->nr && !ret; i++)
		bitset_set(&t.packed, list->items[i].obj_pos);
	if (!ret)
		ret = tags->each(tags->ctx, take_tag, &t, err);
	bitset_release(&t.packed);
	return ret;
}

bool pack_job_can_have_bitmap(struct pack_job *job)
{
	/*
	 * Refuse a bitmap index if the pack is not closed under reachability.
	 * Also refuse in a shallow repository: commits of the boundary get
	 * parents when the history is deepened.
	 */
	const char *why = job->left_out          ? "some objects are not being "
						   "packed"
			  : job->walk.shallow.nr ? "the repository is shallow"
						 : NULL;

	/*
	 * A bitmap index covers one pack only. Because of a limit of the pack
	 * size, there are several packs.
	 */
	if (job->newpacks.nr > 1)
		why = "packs are split due to pack.packSizeLimit";
	if (why && !job->options->bitmap_is_default)
		error_set(&job->warning, ERR_INVALID,
			  "disabling bitmap writing, as %s", why);
	return !why;
}

static int write_bitmap(struct pack_job *job, struct error *err)
{
	struct pseudo_tips pseudo = PSEUDO_TIPS_INIT;
	uint8_t *is_tip = NULL;
	int ret;

	if (!pack_job_can_have_bitmap(job))
		return 0;
	ret = roots_mark_tips(&is_tip, &job->walk, job->refs, true, err);
	if (!ret && job->options->newpack->pseudo_merges)
		ret = pseudo_tips_load(&pseudo, &job->walk, job->refs,
				       &job->pseudo, err);
	if (!ret) {
		struct newpack_bitmap_input input = {
			.walk = &job->walk,
			.enumerated = &job->found,
			.is_tip = is_tip,
			.pseudo = pseudo.nr ? &pseudo : NULL,
		};

		ret = newpack_bitmap(job->newpacks.packs[0], job->options->dir,
				     &input, err);
	}
	free(is_tip);
	pseudo_tips_release(&pseudo);
	return ret;
}

/*
 * Set job->warning if a value of repack.tipIsland or pack.islandCore matches no
 * reference. Such a value is probably a mistake. Returns 0 or a negative error
 * code.
 */
static int check_islands(struct pack_job *job, struct error *err)
{
	const struct repo *repo = job->walk.odb->repo;
	const char *idle = NULL,
		   *core = config_string(&repo->config, "pack.islandcore");
	int ret = job->options->tip_island
			  ? roots_find_idle_island(&idle, repo, job->refs, err)
			  : 0;

	if (idle)
		error_set(&job->warning, ERR_INVALID,
			  "repack.tipIsland: no ref matches '%s'", idle);
	else if (job->options->delta_islands && core &&
		 job->islands.core == ISLANDS_NO_CORE)
		error_set(&job->warning, ERR_INVALID,
			  "pack.islandCore: no ref is in the island '%s'",
			  core);
	return ret;
}

static int mark_islands(struct pack_job *job, struct error *err)
{
	const struct pack_job_options *o = job->options;
	const struct island_marks marks = {
		.walk = &job->walk,
		.refs = job->refs,
		.items = &job->items,
		.found = job->found_all ? &job->found : NULL,
		.promisor = is_local(job) ? &job->promisor : NULL,
		.heads = o->heads,
		.head_nr = o->head_nr,
		.threads = o->newpack->make.threads,
		.progress = o->newpack->make.progress,
	};
	bool any = false;
	int ret = 0;

	/*
	 * In a partial clone there is no tip island (the trees at chosen tips),
	 * because some of these trees may be missing.
	 */
	if (o->tip_island && !job->promisor.has_packs)
		ret = island_marks_add_tip(&job->islands, &any, &marks, err);
	if (!ret && o->delta_islands)
		ret = island_marks_add_references(&job->islands, &marks, err);
	if (any || o->delta_islands)
		job->items.islands = &job->islands;
	return ret ? ret : check_islands(job, err);
}

int pack_job_run(struct pack_job *job, struct error *err)
{
	const struct pack_job_options *o = job->options;
	struct trace *trace = job->walk.odb->repo->trace;
	int ret = mark_islands(job, err);

	if (!ret)
		ret = newpacks_make(&job->newpacks, &job->items, NULL, o->dir,
				    o->newpack, err);
	if (!ret && o->promisor)
		ret = newpacks_promisor(&job->newpacks, o->dir, err);
	if (!ret && o->write_bitmap) {
		trace_region_enter(trace, "pack-bitmap-write",
				   "building_bitmaps_total");
		ret = write_bitmap(job, err);
		trace_region_leave(trace, "pack-bitmap-write",
				   "building_bitmaps_total");
	}
	return ret < 0 ? ret : newpacks_install(&job->newpacks, o->base, err);
}

int pack_job_run_rest(struct pack_job *job, const char *dir, const char *base,
		      struct error *err)
{
	const struct newpack_options *newpack = job->options->newpack;
	int ret;

	if (!job->rest.nr)
		return 0;
	job->rest.islands = job->items.islands;
	ret = newpacks_make(&job->rest_packs, &job->rest, NULL, dir, newpack,
			    err);
	return ret < 0 ? ret : newpacks_install(&job->rest_packs, base, err);
}

int pack_job_send(struct pack_job *job, struct pack_sink sink,
		  struct error *err)
{
	int ret = mark_islands(job, err);

	return ret < 0 ? ret
		       : newpacks_send(&job->newpacks, &job->items, sink,
				       job->options->newpack, err);
}
