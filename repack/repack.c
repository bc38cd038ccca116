/* SPDX-License-Identifier: MIT */
/* Repacks a repository, as `git repack` does. */
#include <string.h>

#include "base/mem.h"
#include "names/revname.h"
#include "odb/odb.h"
#include "packs/layered.h"
#include "packs/old-packs.h"
#include "packs/pack-job.h"
#include "packs/keep-deltas.h"
#include "packs/prepare.h"
#include "packs/roots.h"
#include "publish/publish.h"
#include "refs/refs.h"
#include "repack/cruft.h"
#include "repack/geometric.h"
#include "repack/loosen.h"
#include "repack/prune-packed.h"
#include "repack/repack-parts.h"
#include "repack/repack.h"
#include "repack/server-info.h"
#include "sys/clock.h"
#include "sys/io.h"
#include "sys/trace.h"
#include "walk/filter-walk.h"

struct run {
	const struct repo *repo;
	const struct repack_options *options;
	struct repack_result *result;
	struct pack_job_options job_options;
	struct pack_job job;
	struct unreachable unreachable;
	/*
	 * The packs to remove. Until spare_packs() runs, the list has all
	 * packs.
	 */
	struct old_packs old;
	/*
	 * With --geometric: the packs that are merged into one, also packs of
	 * alternates.
	 */
	struct strlist chosen;
	/* names of the new packs in `dir` */
	struct strlist made;
	struct refs *refs;
	struct odb *odb;
	char *dir; /* owned: "<objects>/pack" */
	/* owned: "<objects>/pack/pack" */
	char *base;
};

static void run_release(struct run *r)
{
	unreachable_release(&r->unreachable);
	pack_job_close(&r->job);
	odb_close(r->odb);
	refs_close(r->refs);
	old_packs_release(&r->old);
	strlist_release(&r->chosen);
	strlist_release(&r->made);
	free(r->dir);
	free(r->base);
}

/*
 * Returns whether the second pack, of objects that do not pass the filter, also
 * gets unreachable objects of removed packs.
 */
static bool saves_dropped(const struct repack_options *o)
{
	return o->all && o->remove_redundant && !filter_is_empty(o->filter) &&
	       o->unreachable != REPACK_KEEP;
}

/* Returns whether the options need a list of the unreachable objects. */
static bool wants_unreachable(const struct repack_options *o)
{
	if (!o->all)
		return false;
	if (o->unreachable == REPACK_DROP)
		return saves_dropped(o);
	return o->remove_redundant || o->unreachable == REPACK_CRUFT;
}

static void set_job_options(struct run *r)
{
	const struct repack_options *o = r->options;

	r->job_options = (struct pack_job_options){
		.newpack = &o->newpack,
		.dir = r->dir,
		.base = r->base,
		.loose_only = !o->all && !o->geometric,
		.local = o->local,
		.honor_keep = !o->pack_kept_objects,
		.keep_packs = o->keep_packs,
		.note_reached = wants_unreachable(o),
		.write_bitmap = o->write_bitmap && !o->write_midx,
		.bitmap_is_default = o->bitmap_is_default,
		.tip_island = o->all,
		.delta_islands = o->delta_islands,
		.heads = o->heads,
		.head_nr = o->head_nr,
		.all_refs = true,
		.filter = o->filter,
		.keep_rest = true,
		.exclude_promisor = true,
		.keep_promised = o->all,
	};
}

/*
 * Some packs must stay because of the options. Drop them from r->old, the list
 * of packs that will be removed. Returns 0 or a negative error code.
 */
static int spare_packs(struct run *r, struct error *err)
{
	const struct repack_options *o = r->options;

	old_packs_spare_kept(&r->old, r->odb);
	old_packs_spare_linked(&r->old, r->odb);
	for (size_t i = 0; o->keep_packs && i < o->keep_packs->nr; i++)
		old_packs_spare(&r->old, o->keep_packs->items[i]);
	for (uint32_t i = 0; i < r->odb->pack_nr; i++) {
		const struct pack *pack = r->odb->packs[i].pack;

		if (o->unreachable == REPACK_CRUFT && pack->is_cruft &&
		    o->combine_cruft_below &&
		    pack->file.len >= o->combine_cruft_below)
			old_packs_spare(&r->old, pack->name);
	}
	if (o->geometric && o->midx_layers)
		layered_spare(&r->old, r->odb, o->midx_new_layer_threshold);
	return o->geometric ? geometric_choose(&r->chosen, &r->old, r->odb,
					       o->geometric, o->local, err)
			    : 0;
}

/*
 * Returns whether the repack reads the references. A geometric repack finds the
 * objects in packs and loose files. It needs the references for delta islands
 * and bitmap indexes only.
 */
static bool needs_refs(const struct repack_options *o)
{
	return !o->geometric || o->delta_islands || o->write_bitmap;
}

/*
 * List the packs, then read the references, then open the packs. The order
 * matters, because a push may write a pack and then change a reference to use
 * it. All listed packs were written before the references are read. So if an
 * object of a listed pack is in use, the walk from the references finds the
 * object, and the repack keeps it.
 *
 * A push may write loose objects and then change a reference to use them. The
 * loose objects that a geometric repack packs are listed after the references
 * are read. So the packs have all objects that the bitmap index needs.
 *
 * Returns 0 or a negative error code.
 */
static int open_all(struct run *r, struct error *err)
{
	int ret;

	r->dir = repo_object_path(r->repo, "pack");
	r->base = repo_object_path(r->repo, "pack/pack");
	if (!r->dir || !r->base)
		return error_nomem(err);
	ret = sys_mkdir_shared(r->dir, r->repo->share, err);
	if (!ret)
		ret = old_packs_list(&r->old, r->dir, err);
	r->old.share = r->repo->share;
	if (!ret)
		ret = refs_open(&r->refs, r->repo, err);
	if (!ret && needs_refs(r->options))
		ret = refs_list_now(r->refs, err);
	if (!ret)
		ret = odb_open_whole(&r->odb, r->repo, err);
	if (!ret)
		ret = spare_packs(r, err);
	if (ret < 0)
		return ret;
	set_job_options(r);
	return pack_job_open(&r->job, r->odb, r->refs, &r->job_options, err);
}

static void take_result(struct run *r)
{
	const struct newpacks *np = &r->job.newpacks;

	r->result->warning = r->job.warning;
	r->result->report = np->report;
	r->result->is_new = np->nr || r->job.rest_packs.nr ||
			    r->result->promisor_nr;
	if (!np->nr)
		return;
	r->result->checksum = np->packs[0]->checksum;
	r->result->object_nr = (uint32_t)r->job.items.nr;
	r->result->bitmap_nr = np->packs[0]->bitmap_nr;
	r->result->bitmap_len = np->packs[0]->bitmap_len;
}

/*
 * Returns whether a local pack is about to be removed. Promisor packs do not
 * count: promisor_pack_write() packs all their objects again, so none is lost.
 */
static bool is_leaving(void *ctx, const struct pack *pack)
{
	return !pack->is_promisor && old_packs_has(ctx, pack);
}

/* Returns the expiry of unreachable objects: for unreachable_options.expiry. */
static int64_t expiry_of(const struct repack_options *o)
{
	if (o->unreachable == REPACK_KEEP)
		return 0;
	return o->unreachable == REPACK_DROP ? INT64_MAX : o->expiry;
}

/*
 * List the unreachable objects, also the loose ones. A loose copy may be newer
 * than the packed copy of the object. Then the object may be recent, and the
 * objects that it reaches are kept. Returns 0 or a negative error code.
 */
static int find_unreachable(struct run *r, struct error *err)
{
	struct unreachable_options options = {
		.is_leaving = is_leaving,
		.ctx = &r->old,
		.loose = true,
		.expiry = expiry_of(r->options),
	};
	int ret = unreachable_collect(&r->unreachable, &r->job.walk,
				      &r->job.reached, &options, err);

	r->unreachable.warn = r->options->warn;
	r->unreachable.warn_ctx = r->options->ctx;
	if (ret < 0 || r->options->unreachable == REPACK_DROP)
		return ret;
	return unreachable_keep(&r->unreachable, options.expiry, err);
}

/*
 * With -k, add the unreachable objects to the end of the list of objects to
 * pack. A damaged loose object stays loose. Returns 0 or a negative error
 * code.
 */
static int add_unreachable(struct run *r, struct error *err)
{
	for (size_t i = 0; i < r->unreachable.nr; i++) {
		const struct unreachable_item *item = &r->unreachable.items[i];
		enum object_type type;
		int ret;

		if (item->is_safe)
			continue;
		ret = unreachable_type(&r->unreachable, item, &type, err);
		if (ret < 0)
			return ret;
		if (!ret &&
		    pack_job_add_pos(&r->job, item->obj_pos, type, 0) < 0)
			return error_nomem(err);
	}
	return 0;
}

/*
 * With a filter, no packed object is deleted, as in stock Git. The repack then
 * makes a second pack, with the objects that the filter leaves out of the main
 * pack (r->job.rest). Add an unreachable object to the second pack if a pack
 * that is about to be removed has the object, and no other copy of the object
 * stays. Leave out objects that are made loose or put into a cruft pack.
 * Returns 0 or a negative error code.
 */
static int add_dropped(struct run *r, struct error *err)
{
	for (size_t i = 0; i < r->unreachable.nr; i++) {
		const struct unreachable_item *item = &r->unreachable.items[i];
		enum object_type type;
		int ret;

		if (!item->is_packed || item->is_safe || item->is_kept)
			continue;
		ret = unreachable_type(&r->unreachable, item, &type, err);
		if (ret < 0)
			return ret;
		if (packing_items_append(&r->job.rest, item->obj_pos, type, 0,
					 false) < 0)
			return error_nomem(err);
	}
	return 0;
}

static int add_given_roots(struct run *r, struct error *err)
{
	const struct repack_options *o = r->options;
	int ret = 0;

	for (size_t i = 0; i < o->root_nr && !ret; i++) {
		ret = walk_add_tip(&r->job.walk, &r->job.wants, &o->roots[i],
				   false, err);
		if (ret == ERR_MISSING)
			ret = 0;
	}
	return ret;
}

static int resolve(void *ctx, const char *name, struct oid *oid)
{
	struct run *r = ctx;

	return revname_resolve(oid, name, r->refs, r->job.walk.reader, r->odb,
			       NULL);
}

static int load_filter(struct run *r, struct error *err)
{
	struct filter *filter = r->options->filter;

	if (filter_is_empty(filter))
		return 0;
	return filter_load_sparse(filter, r->job.walk.reader, resolve, r, err);
}

static int find_tips(struct run *r, struct error *err)
{
	int ret;

	odb_set_provider(r->odb, r->options->tip_provider);
	ret = roots_add(&r->job.walk, &r->job.wants, r->refs,
			ROOTS_ALL | ROOTS_STRICT_INDEXES, err);
	odb_set_provider(r->odb, NULL);
	return ret;
}

/* Find the objects to pack. Returns 0 or a negative error code. */
static int find_objects(struct run *r, struct error *err)
{
	int ret = open_all(r, err);

	if (!ret && r->options->geometric)
		return geometric_collect(&r->job, &r->chosen,
					 r->options->remove_redundant, err);
	if (!ret)
		ret = load_filter(r, err);
	if (!ret)
		ret = find_tips(r, err);
	if (!ret)
		ret = add_given_roots(r, err);
	if (!ret)
		ret = pack_job_enumerate(&r->job, err);
	if (!ret && wants_unreachable(r->options))
		ret = find_unreachable(r, err);
	if (!ret && wants_unreachable(r->options) &&
	    r->options->unreachable == REPACK_KEEP)
		ret = add_unreachable(r, err);
	if (!ret && saves_dropped(r->options))
		ret = add_dropped(r, err);
	return ret;
}

/*
 * Find the objects to pack. If an object is missing, open newer packs and try
 * again: a reference that moved meanwhile may name an object that only a newer
 * pack has. Returns 0 or a negative error code.
 */
static int find_objects_again(struct run *r, struct error *err)
{
	struct run fresh = {
		.repo = r->repo,
		.options = r->options,
		.result = r->result,
	};

	run_release(r);
	*r = fresh;
	return find_objects(r, err);
}

static int write_cruft(struct run *r, const char *dir, const char *base,
		       bool expired, uint32_t *nr, struct error *err)
{
	struct cruft_options options = {
		.newpack = &r->options->cruft,
		.dir = dir,
		.base = base,
		.expiry = r->options->expiry,
		.expired = expired,
	};
	struct newpacks np;
	int ret = cruft_write(&np, &r->unreachable, &options, err);

	if (!ret && base == r->base && newpacks_names(&r->made, &np) < 0)
		ret = error_nomem(err);
	*nr = np.report.objects;
	newpacks_release(&np);
	return ret;
}

/*
 * Returns the directory part of a base name, for temporary files. The caller
 * frees the string.
 */
static char *dir_of(const char *base)
{
	const char *slash = strrchr(base, '/');

	return slash ? mem_strndup(base, (size_t)(slash - base) + 1)
		     : mem_strdup(".");
}

/*
 * Write the expired unreachable objects into a cruft pack at `expire_to`.
 * Returns 0 or a negative error code.
 */
static int write_expired(struct run *r, struct error *err)
{
	const char *base = r->options->expire_to;
	char *dir = dir_of(base);
	uint32_t nr;
	int ret = dir ? write_cruft(r, dir, base, true, &nr, err)
		      : error_nomem(err);

	free(dir);
	return ret;
}

static int write_filtered(struct run *r, struct error *err)
{
	const char *base = r->options->filter_to;
	char *dir = base ? dir_of(base) : NULL;
	int ret;

	if (base && !dir)
		return error_nomem(err);
	ret = pack_job_run_rest(&r->job, base ? dir : r->dir,
				base ? base : r->base, err);
	if (!ret && !base && newpacks_names(&r->made, &r->job.rest_packs) < 0)
		ret = error_nomem(err);
	r->result->filtered_nr = r->job.rest_packs.report.objects;
	free(dir);
	return ret;
}

/*
 * Write the unreachable objects that are kept: as loose objects, or into cruft
 * packs. Returns 0 or a negative error code.
 */
static int save_unreachable(struct run *r, struct error *err)
{
	const struct repack_options *o = r->options;
	int ret = 0;

	if (o->unreachable == REPACK_LOOSEN)
		return loosen_write(&r->result->loosened_nr, &r->unreachable,
				    err);
	if (o->unreachable != REPACK_CRUFT)
		return 0;
	ret = write_cruft(r, r->dir, r->base, false, &r->result->cruft_nr, err);
	return ret || !o->expire_to ? ret : write_expired(r, err);
}

/*
 * Write a multi-pack-index of the packs that exist now and will not be removed.
 * Returns 0 or a negative error code.
 */
static int write_midx(struct run *r, struct error *err)
{
	const struct repack_options *o = r->options;
	bool leaves = o->geometric || (o->remove_redundant && o->all);
	const struct repack_midx_request rq = {
		.repo = r->repo,
		.refs = r->refs,
		.newpack = &o->newpack,
		.leaving = leaves ? &r->old : NULL,
		.preferred = r->job.newpacks.nr && !o->geometric
				     ? &r->result->checksum
				     : NULL,
		.bitmap = o->write_bitmap,
		.bitmap_is_default = o->bitmap_is_default,
		.must_contain_cruft = o->midx_must_contain_cruft,
		.layers = o->midx_layers,
		.leave_kept = o->geometric && !o->pack_kept_objects,
		.keep_packs = o->keep_packs,
		.split_factor = o->geometric ? o->midx_split_factor : 0,
	};

	/*
	 * A geometric repack drops no object, so a broken ref is no error here.
	 * The bitmap index covers the other refs.
	 */
	if (o->geometric)
		refs_leave_out_broken(r->refs);
	return repack_midx_write(r->result, &rq, err);
}

/*
 * For old_packs_guard.may_age: returns whether the listed pack `name` has
 * objects whose time this repack keeps. Only unreachable objects have a time.
 */
static bool may_age(void *ctx, const char *name)
{
	const struct run *r = ctx;

	return r->options->geometric ||
	       (wants_unreachable(r->options) &&
		unreachable_in_pack(&r->unreachable, name));
}

/*
 * Returns whether this repack may have left out objects because `pack`, which
 * stays, has them. If the repack looks for unreachable objects, this is true
 * for all packs: an unreachable object may need no other copy than the one in
 * such a pack (unreachable_item.is_safe).
 */
static bool relies_on(void *ctx, const struct pack *pack)
{
	const struct run *r = ctx;
	const struct repack_options *o = r->options;

	if (o->geometric)
		return !pack->is_cruft;
	return wants_unreachable(o) ||
	       (!o->pack_kept_objects &&
		(pack->is_kept || pack_names_has(o->keep_packs, pack->name)));
}

/* For old_packs_guard.check: calls loosen_check() if objects are made loose. */
static int check_loose(void *ctx, struct error *err)
{
	const struct run *r = ctx;

	return r->options->unreachable == REPACK_LOOSEN
		       ? loosen_check(&r->unreachable, err)
		       : 0;
}

/*
 * Call options->before_removal. The list of packs to remove may have packs that
 * stay, for example a pack with the same name as the new pack. Take such packs
 * off the list first. Returns 0, the negative result of the callback, or
 * another negative error code.
 */
static int ask_before_removal(struct run *r, struct error *err)
{
	struct strlist names = STRLIST_INIT;
	int ret = old_packs_names(&names, &r->old) < 0 ? error_nomem(err) : 0;

	if (!ret) {
		old_packs_retain(&r->old, &names);
		ret = r->options->before_removal(r->options->ctx, &r->old, err);
	}
	strlist_release(&names);
	return ret;
}

/*
 * Remove the packs that are listed. If another process has removed a pack or a
 * loose object on which this repack relies, there is a warning. Returns 0 or a
 * negative error code.
 */
static int remove_old(struct run *r, const struct old_packs_guard *guard,
		      struct error *err)
{
	struct error why = ERROR_INIT;
	int ret = old_packs_remove(&r->old, guard, &why);

	if (ret == ERR_MISSING) {
		r->result->warning = why;
		return 0;
	}
	if (ret < 0 && err)
		*err = why;
	return ret;
}

/* For old_packs_guard.held: passes the message to options->warn. */
static void warn_held(void *ctx, const char *message)
{
	const struct repack_options *o = ((struct run *)ctx)->options;

	if (o->warn)
		o->warn(o->ctx, message);
}

static int remove_redundant(struct run *r, struct error *err)
{
	const struct repack_options *o = r->options;
	const struct prune_packed_options loose = {.warn = o->warn,
						   .ctx = o->ctx};
	const struct old_packs_guard guard = {
		.odb = r->odb,
		.relies_on = relies_on,
		.may_age = may_age,
		.held = warn_held,
		.made = &r->made,
		.check = check_loose,
		.ctx = r,
	};
	int ret = newpacks_names(&r->made, &r->job.newpacks) < 0
			  ? error_nomem(err)
			  : 0;

	if (!ret && o->before_removal)
		ret = old_packs_spare_freshened(&r->old, &guard, err);
	if (!ret && o->before_removal)
		ret = ask_before_removal(r, err);
	if (!ret && (o->all || o->geometric))
		ret = remove_old(r, &guard, err);
	return ret < 0 ? ret : prune_packed(r->repo, &loose, err);
}

/*
 * Write prepared answers (stored responses to the most frequent requests) for
 * the new pack, because the answers for the removed packs are gone. If the
 * file cannot be written (ERR_IO), there is only a warning, and the result is
 * 0: clones take longer, but the repack is complete. Returns 0 or another
 * negative error code.
 */
static int prepare(struct run *r, struct error *err)
{
	const struct newpacks *np = &r->job.newpacks;
	const struct prepare_options options = {
		.checksum = np->nr ? &np->packs[0]->checksum : NULL,
		.heads = r->options->heads,
		.head_nr = r->options->head_nr,
		.threads = r->options->newpack.make.threads,
	};
	struct error why = ERROR_INIT;
	int ret = np->nr == 1
			  ? prepare_answers(r->repo, r->refs, &options, &why)
			  : 0;

	if (ret == ERR_IO) {
		r->result->warning = why;
		return 0;
	}
	if (ret < 0 && err)
		*err = why;
	return ret;
}

/*
 * Write kept deltas: deltas of the newest versions of files against older
 * versions, for clients that have the older versions. If the file cannot be
 * written (ERR_IO), there is a warning, and the result is 0. The only harm is
 * that the responses to some fetches are larger than with the file. Returns 0
 * or another negative error code.
 */
static int keep(struct run *r, struct error *err)
{
	const struct newpacks *np = &r->job.newpacks;
	struct dropped_deltas dropped = DROPPED_DELTAS_INIT;
	struct keep_trees trees;
	struct keep_tips tips;
	struct error why = ERROR_INIT;
	int ret = 0;

	if (np->nr == 1) {
		const struct keep_options options = {
			.checksum = &np->packs[0]->checksum,
			.trees = &trees,
			.dropped = &dropped,
			.tips = &tips,
			.all_copies = !r->options->newpack.make.reuse_delta,
		};

		ret = keep_trees_find(&trees, &r->job.walk, r->refs, &why);
		if (!ret)
			ret = keep_tips_find(&tips, &r->job.walk, r->refs,
					     &why);
		if (!ret)
			ret = dropped_deltas_find(&dropped, &r->job.walk,
						  &r->job.islands, &why);
		if (!ret)
			ret = keep_deltas(r->repo, &options, &why);
		dropped_deltas_release(&dropped);
	}
	if (ret == ERR_IO) {
		r->result->warning = why;
		return 0;
	}
	if (ret < 0 && err)
		*err = why;
	return ret;
}

/*
 * Publish the new pack for downloads from a web server, if the repository
 * publishes packs. A failure gives only a warning, because clones can still get
 * all objects from the Git server. Returns 0 or ERR_NOMEM.
 */
static int publish(struct run *r, struct error *err)
{
	const struct publish_options options = {.now = sys_clock_seconds()};
	struct published_config config;
	struct error why = ERROR_INIT;
	int ret = published_config_load(&config, r->repo, &why);

	if (!ret && config.dir)
		ret = publish_run(r->repo, &config, &options, &why);
	published_config_release(&config);
	if (ret == ERR_NOMEM)
		return error_nomem(err);
	if (ret < 0 && ret != ERR_UNSUPPORTED && !r->result->warning.code)
		r->result->warning = why;
	return 0;
}

/*
 * Run one step of the repack, as a region in the trace. Returns the result of
 * the step.
 */
static int step(struct run *r, const char *label,
		int (*run)(struct run *r, struct error *err), struct error *err)
{
	int ret;

	trace_region_enter(r->repo->trace, "repack", label);
	ret = run(r, err);
	trace_region_leave(r->repo->trace, "repack", label);
	return ret;
}

/*
 * Write the files that dumb clients read. As in stock Git, a damaged object of
 * a ref is an error, though the repack is complete. A missing object is no
 * error.
 */
static int update_info(struct run *r, struct error *err)
{
	struct error why = ERROR_INIT;
	int ret = server_info_update(r->repo, r->refs, &why);

	r->result->info_refs_is_old = ret == SERVER_INFO_INCOMPLETE;
	if (r->result->info_refs_is_old)
		return 0;
	if (ret && err)
		*err = why;
	return ret == SERVER_INFO_DAMAGED ? ERR_CORRUPT : ret;
}

int repack_run(struct repack_result *result, const struct repo *repo,
	       const struct repack_options *options, struct error *err)
{
	struct run r = {.repo = repo, .options = options, .result = result};
	int ret;

	*result = (struct repack_result){.warning = ERROR_INIT};
	if (options->remove_redundant && !options->precious_too) {
		ret = repo_check_precious(repo, "delete packs", err);
		if (ret < 0)
			return ret;
	}
	ret = options->write_bitmap ? prepare_is_wanted(repo, err) : 0;
	if (ret >= 0)
		ret = find_objects(&r, err);
	if (ret == ERR_MISSING)
		ret = find_objects_again(&r, err);
	if (!ret && (options->all || options->geometric))
		ret = promisor_pack_write(&result->promisor_nr, &r.made, &r.job,
					  &r.old, err);
	if (!ret && r.job.items.nr)
		ret = pack_job_run(&r.job, err);
	else if (!ret && r.job_options.write_bitmap)
		pack_job_can_have_bitmap(&r.job);
	if (!ret)
		ret = write_filtered(&r, err);
	if (!ret)
		take_result(&r);
	if (!ret && wants_unreachable(options))
		ret = step(&r, "save-unreachable", save_unreachable, err);
	if (!ret && options->write_midx)
		ret = step(&r, "write-midx", write_midx, err);
	if (!ret && options->remove_redundant)
		ret = step(&r, "remove-redundant", remove_redundant, err);
	if (!ret && options->all && options->write_bitmap)
		ret = step(&r, "prepare-answers", prepare, err);
	if (!ret && options->all && options->write_bitmap)
		ret = step(&r, "keep-deltas", keep, err);
	if (!ret && options->all && options->write_bitmap)
		ret = step(&r, "publish", publish, err);
	if (!ret && options->update_server_info)
		ret = update_info(&r, err);
	run_release(&r);
	return ret;
}
