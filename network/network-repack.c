/* SPDX-License-Identifier: MIT */
/* Repacks the store of a network, as `git network repack` does. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "config/config.h"
#include "islands/network-member.h"
#include "network/network-repack-parts.h"
#include "network/network-repack.h"
#include "network/network-sync.h"
#include "odb/odb.h"
#include "refs-write/ref-pack.h"
#include "refs/refs.h"
#include "repack/cruft.h"
#include "sys/clock.h"
#include "walk/ref-tips.h"

#define CACHE_BYTES ((size_t)4 << 20)

struct run {
	struct network *network;
	const struct network_repack *options;
	struct network_repack_report *report;
	/* owned: ids of the members */
	uint32_t *ids;
	size_t nr;
	/* owned: ids of the members that were synced */
	uint32_t *good;
	size_t good_nr;
	/* owned: objects that members need and that no reference reaches */
	struct oid *roots;
	size_t root_nr, root_alloc;
	struct network_heads heads;
	struct error *err;
};

static int add_root(void *ctx, const struct oid *oid)
{
	struct run *r = ctx;

	if (mem_grow(&r->roots, &r->root_alloc, r->root_nr + 1,
		     sizeof(*r->roots)) < 0)
		return error_nomem(r->err);
	r->roots[r->root_nr++] = *oid;
	return 0;
}

/*
 * Open a member. *out is NULL if the member no longer exists. Returns 0 or a
 * negative error code.
 */
static int open_member(struct repo **out, const struct run *r, uint32_t id,
		       struct error *err)
{
	const struct network_entry *entry = network_registry_find(
		&r->network->registry, id);

	*out = NULL;
	return entry ? network_member_open(out, r->network, entry, err) : 0;
}

/*
 * Add to r->roots the objects that a member needs even if its references in
 * the store do not reach them: the member's extra roots (walk/ref-tips.h). Also
 * add the member's own HEAD to r->heads. Returns 0 or a negative error code.
 */
static int add_roots(struct run *r, uint32_t id, struct error *err)
{
	struct repo *repo;
	int ret = open_member(&repo, r, id, err);

	if (!ret && repo)
		ret = ref_tips_each_extra(repo, add_root, r, err);
	if (!ret && repo)
		ret = network_heads_add(&r->heads, repo, err);
	repo_close(repo);
	return ret;
}

static int list_members(struct run *r)
{
	const struct network_registry *registry = &r->network->registry;

	r->ids = mem_alloc(registry->nr, sizeof(*r->ids));
	if (!r->ids)
		return error_nomem(r->err);
	for (size_t i = 0; i < registry->nr; i++)
		if (registry->entries[i].state == NETWORK_MEMBER)
			r->ids[r->nr++] = registry->entries[i].id;
		else if (r->options->prune)
			return error_set(
				r->err, ERR_DENIED,
				"member %u is in the state '%s': cannot prune "
				"before this operation ends",
				registry->entries[i].id,
				network_state_name(registry->entries[i].state));
	return 0;
}

/*
 * Called for each member after its sync, in the order of the ids. If the sync
 * succeeded, adds the member to `good`. Returns 0, or a negative error code
 * that stops the repack. A failed sync stops only a repack with `prune`.
 */
static int synced(void *ctx, uint32_t id,
		  const struct network_sync_report *report,
		  const struct error *failed)
{
	struct run *r = ctx;
	struct error err = ERROR_INIT;
	int ret = report ? add_roots(r, id, &err) : failed->code;

	if (ret)
		failed = report ? &err : failed;
	if (!ret)
		r->good[r->good_nr++] = id;
	else if (r->options->prune || ret == ERR_NOMEM)
		return error_set(r->err, (enum error_code)ret, "%s",
				 failed->msg);
	else if (r->options->warn)
		r->options->warn(r->options->ctx, failed);
	return 0;
}

static int sync_members(struct run *r)
{
	const struct network_sync sync = {
		.options = &r->options->newpack,
		.skip_gone = true,
		.done = synced,
		.ctx = r,
	};
	int ret;

	r->good = mem_alloc(r->nr, sizeof(*r->good));
	if (!r->good)
		return error_nomem(r->err);
	ret = network_sync_held(r->network, r->ids, r->nr, &sync, r->err);
	r->report->member_nr = (uint32_t)r->good_nr;
	return ret;
}

static bool is_any(void *ctx, const char *name)
{
	return true;
}

static void ignore_broken(void *ctx, const char *name)
{
}

static int pack_refs(struct run *r)
{
	struct ref_pack_options options = {
		.wants = is_any,
		.broken = ignore_broken,
		.prune = true,
	};
	struct odb_reader *reader = NULL;
	struct odb *odb;
	int ret = odb_open(&odb, r->network->store, NULL, r->err);

	if (!ret) {
		reader = odb_reader_new(odb, CACHE_BYTES);
		ret = reader ? ref_pack(r->network->store, reader, &options,
					r->err)
			     : error_nomem(r->err);
	}
	odb_reader_free(reader);
	odb_close(odb);
	return ret;
}

/*
 * Choose the HEADs that the store's pack is optimised for. If repack.tipIsland
 * is set, that key chooses the commits, and no HEAD is used. Returns 0 or a
 * negative error code.
 */
static int choose_heads(struct run *r)
{
	if (config_find(&r->network->store->config, "repack.tipisland"))
		network_heads_release(&r->heads);
	return network_heads_choose(&r->heads, r->err);
}

/* Returns whether a value of pack.islandCore is an id, but not of a member. */
static bool is_gone(const struct run *r, const char *core)
{
	uint64_t id;

	if (config_parse_u64(&id, core) < 0)
		return false;
	for (size_t i = 0; i < r->nr; i++)
		if (r->ids[i] == id)
			return false;
	return true;
}

static int stop_visit(void *ctx, const struct ref *ref)
{
	return 1;
}

/*
 * Sets *id to the smallest id of a member with refs in the store, or to 0 if
 * there is none. Returns 0 or a negative error code.
 */
static int first_with_refs(uint32_t *id, const struct run *r)
{
	struct buf prefix = BUF_INIT;
	struct refs *refs;
	int ret = refs_open(&refs, r->network->store, r->err);

	*id = 0;
	for (size_t i = 0; i < r->nr && !ret; i++) {
		buf_reset(&prefix);
		ret = network_prefix(&prefix, r->ids[i]) < 0
			      ? error_nomem(r->err)
			      : refs_each(refs, prefix.data, stop_visit, NULL,
					  NULL, r->err);
		if (ret > 0)
			*id = r->ids[i];
	}
	buf_release(&prefix);
	refs_close(refs);
	return ret < 0 ? ret : 0;
}

/*
 * If the member that pack.islandCore names is gone, chooses the member with the
 * smallest id among those with refs: its objects come first in the pack.
 * Changes the configuration in memory, not the file. Returns 0 or a negative
 * error code.
 */
static int choose_core(struct run *r)
{
	struct config *config = &r->network->store->config;
	const char *core = config_string(config, "pack.islandcore");
	struct buf text = BUF_INIT;
	uint32_t id;
	int ret;

	if (!core || !is_gone(r, core))
		return 0;
	ret = first_with_refs(&id, r);
	if (ret < 0 || !id)
		return ret;
	ret = buf_printf(&text, "[pack]\nislandCore = %" PRIu32 "\n", id) < 0
		      ? error_nomem(r->err)
		      : config_parse(config, text.data, text.len,
				     CONFIG_COMMAND, NULL, NULL, r->err);
	buf_release(&text);
	return ret;
}

static int rescue_member(struct run *r, uint32_t id,
			 const struct old_packs *leaving, struct error *err)
{
	struct network_refs refs = NETWORK_REFS_INIT;
	struct repo *repo;
	int ret = open_member(&repo, r, id, err);

	if (!ret && repo)
		ret = network_refs_read(&refs, repo, "refs/", true, err);
	if (!ret && repo)
		ret = network_sync_rescue(r->network, repo, &refs, leaving,
					  &r->options->newpack, err);
	network_refs_release(&refs);
	repo_close(repo);
	return ret;
}

/*
 * Called before the repack removes the packs `leaving` from the store. Copies
 * to a new pack of the store the objects that members need and that only these
 * packs have. The repack found no reference that reaches these objects when it
 * copied the objects of members to the store (sync_members()). But pushes to
 * members do not wait for the repack. So a later push may have made a reference
 * of a member that reaches such an object. Returns 0 or a negative error code.
 */
static int rescue(void *ctx, const struct old_packs *leaving, struct error *err)
{
	struct run *r = ctx;
	int ret = 0;

	for (size_t i = 0; i < r->good_nr && !ret; i++)
		ret = rescue_member(r, r->good[i], leaving, err);
	return ret;
}

/* For repack_options.warn. */
static void note(void *ctx, const char *message)
{
	const struct network_repack *o = ((struct run *)ctx)->options;

	if (o->note)
		o->note(o->ctx, message);
}

static int repack_store(struct run *r)
{
	struct repack_options options = {
		.newpack = r->options->store,
		.cruft = r->options->store,
		.unreachable = REPACK_CRUFT,
		.expiry = r->options->prune ? r->options->expiry : 0,
		.all = true,
		.remove_redundant = true,
		.write_bitmap = true,
		.pack_kept_objects = true,
		.delta_islands = true,
		.roots = r->roots,
		.root_nr = r->root_nr,
		.heads = r->heads.heads,
		.head_nr = r->heads.nr,
		.before_removal = r->options->prune ? rescue : NULL,
		.warn = note,
		.ctx = r,
		.precious_too = true,
	};

	options.cruft.make.progress = NULL;
	return repack_run(&r->report->store, r->network->store, &options,
			  r->err);
}

/*
 * Run the steps during which the store must keep its objects, under
 * NETWORK_LOCK_OBJECTS. Returns 0 or a negative error code.
 */
static int run_locked(struct run *r)
{
	int ret = network_reload(r->network, r->err);

	if (!ret)
		ret = list_members(r);
	if (!ret)
		ret = sync_members(r);
	if (!ret)
		ret = pack_refs(r);
	if (!ret)
		ret = network_graph_write(r->network->store, r->options->prune,
					  r->err);
	if (!ret)
		ret = choose_heads(r);
	if (!ret)
		ret = choose_core(r);
	return ret < 0 ? ret : repack_store(r);
}

static int clean_member(struct run *r, uint32_t id)
{
	struct repo *repo;
	int ret = open_member(&repo, r, id, r->err);

	if (!ret && repo)
		ret = network_graph_clean(repo, r->err);
	repo_close(repo);
	return ret < 0 ? ret : 0;
}

/*
 * Remove the commit-graphs of the store and of members if they name commits
 * that were pruned. Returns 0 or a negative error code.
 */
static int clean_graphs(struct run *r)
{
	int ret = network_graph_clean(r->network->store, r->err);

	for (size_t i = 0; i < r->good_nr && ret >= 0; i++)
		ret = clean_member(r, r->good[i]);
	return ret < 0 ? ret : 0;
}

static int drop(struct run *r)
{
	int ret = network_lock(r->network, NETWORK_LOCK_OBJECTS, true, true,
			       r->err);

	for (size_t i = 0; i < r->good_nr && !ret; i++) {
		struct network_drop_report report;

		ret = network_drop(r->network, r->good[i], &r->options->newpack,
				   &report, r->err);
		r->report->pack_nr += report.pack_nr;
		if (report.held.code)
			note(r, report.held.msg);
		if (!ret || ret == ERR_NOMEM || !r->options->warn)
			continue;
		r->options->warn(r->options->ctx, r->err);
		ret = 0;
	}
	return ret;
}

/*
 * Settle (complete or undo) interrupted operations on the network. Returns 0
 * or a negative error code. If an operation cannot be settled, a repack that
 * prunes stops; other repacks warn and go on.
 */
static int settle(struct network *network, const struct network_repack *options,
		  struct error *err)
{
	struct error why = ERROR_INIT;
	int ret = network_settle(network, &options->newpack, &why);

	if (ret && ret != ERR_NOMEM && !options->prune && options->warn) {
		options->warn(options->ctx, &why);
		return 0;
	}
	if (ret && err)
		*err = why;
	return ret;
}

int network_repack(struct network_repack_report *report,
		   struct network *network,
		   const struct network_repack *options, struct error *err)
{
	struct run r = {
		.network = network,
		.options = options,
		.report = report,
		.err = err,
	};
	int ret = settle(network, options, err);

	*report = (struct network_repack_report){.member_nr = 0};
	if (!ret)
		ret = network_lock(network, NETWORK_LOCK_OBJECTS,
				   !options->prune, true, err);
	if (!ret)
		ret = run_locked(&r);
	if (!ret && options->prune)
		ret = clean_graphs(&r);
	if (!ret && !options->keep)
		ret = drop(&r);
	network_unlock(network, NETWORK_LOCK_OBJECTS);
	free(r.ids);
	free(r.good);
	free(r.roots);
	network_heads_release(&r.heads);
	return ret;
}
