/* SPDX-License-Identifier: MIT */
/* The steps of `git repack`. */
#include <string.h>

#include "base/mem.h"
#include "repack/old-packs.h"
#include "repack/repack.h"
#include "repack/roots.h"
#include "repack/server-info.h"
#include "repo/odb.h"
#include "repo/refs.h"

struct run {
	const struct repo *repo;
	const struct repack_options *options;
	struct repack_result *result;
	struct old_packs old;
	struct refs *refs;
	struct odb *odb;
	struct walk walk;
	struct walk_tips tips;
	struct walk_result found;
	struct repack_items items;
	struct newpack newpack;
	char *pack_dir; /* owned: "<objects>/pack" */
	bool has_walk;
	bool want_bitmap;
	bool left_out; /* reachable objects that are not packed */
};

static void run_release(struct run *r)
{
	newpack_release(&r->newpack);
	repack_items_release(&r->items);
	walk_result_release(&r->found);
	walk_tips_release(&r->tips);
	if (r->has_walk)
		walk_close(&r->walk);
	odb_close(r->odb);
	refs_close(r->refs);
	old_packs_release(&r->old);
	free(r->pack_dir);
}

static void warn(struct run *r, const struct error *warning)
{
	if (warning->code && !r->result->warning.code)
		r->result->warning = *warning;
}

/*
 * The order matters: packs are listed before references are read, references
 * before the objects they name are looked for.
 */
static int open_all(struct run *r, struct error *err)
{
	struct error warning = ERROR_INIT;
	int ret;

	r->pack_dir = repo_object_path(r->repo, "pack");
	if (!r->pack_dir)
		return error_nomem(err);
	ret = old_packs_list(&r->old, r->pack_dir, err);
	if (!ret)
		ret = refs_open(&r->refs, r->repo, err);
	if (!ret)
		ret = odb_open(&r->odb, r->repo, &warning, err);
	/* A pack that cannot be read may hold what refs need: do not go on. */
	if (!ret && warning.code)
		ret = error_set(err, warning.code, "%s", warning.msg);
	if (!ret)
		ret = walk_open(&r->walk, r->odb, NULL, 0, err);
	r->has_walk = !ret;
	return ret;
}

static int enumerate(struct run *r, struct error *err)
{
	static const struct walk_tips none = WALK_TIPS_INIT;
	struct error warning = ERROR_INIT;
	struct walk_options options = {
		.objects = true,
		.keep_lists = r->want_bitmap,
		.threads = r->options->newpack.make.threads,
		.progress = r->options->newpack.make.progress,
	};
	int ret = roots_add(&r->walk, &r->tips, r->refs, true, &warning, err);

	warn(r, &warning);
	if (!ret)
		ret = walk_enumerate(&r->found, &r->walk, &r->tips, &none,
				     &options, err);
	return ret;
}

/* Whether a reachable object belongs into the new pack. */
static bool is_wanted(const struct run *r, uint32_t obj_pos)
{
	const struct odb_pack *pack;
	uint32_t idx_pos;

	if (obj_pos >= r->odb->packed_nr)
		return true;
	if (!r->options->all)
		return false;
	pack = odb_locate(r->odb, obj_pos, &idx_pos);
	if (r->options->local && !pack->pack->is_local)
		return false;
	return r->options->pack_kept_objects || !pack->pack->is_kept;
}

static int add_item(struct run *r, uint32_t obj_pos, enum object_type type,
		    uint32_t name_hash)
{
	if (!is_wanted(r, obj_pos)) {
		r->left_out = true;
		return 0;
	}
	return repack_items_append(&r->items, obj_pos, type, name_hash, false);
}

static int load_items(struct run *r, struct error *err)
{
	const struct history *h = &r->walk.history;

	repack_items_init(&r->items, &r->walk.space);
	for (size_t i = 0; i < r->found.revs.nr; i++)
		if (add_item(r, h->commits[r->found.revs.commits[i]].obj_pos,
			     OBJ_COMMIT, 0) < 0)
			return error_nomem(err);
	for (size_t i = 0; i < r->found.objects.nr; i++) {
		const struct walk_item *item = &r->found.objects.items[i];

		if (add_item(r, item->obj_pos, item->type, item->name_hash) < 0)
			return error_nomem(err);
	}
	free(r->found.objects.items);
	r->found.objects = (struct walk_items){0};
	return 0;
}

static int write_bitmap(struct run *r, struct error *err)
{
	uint8_t *is_tip = NULL;
	int ret;

	if (r->left_out) {
		struct error warning = ERROR_INIT;

		error_set(&warning, ERR_INVALID,
			  "disabling bitmap writing, as some objects are not "
			  "being packed");
		if (!r->options->bitmap_is_default)
			warn(r, &warning);
		return 0;
	}
	ret = roots_mark_tips(&is_tip, &r->walk, r->refs, err);
	if (!ret)
		ret = newpack_bitmap(&r->newpack, r->pack_dir, &r->walk,
				     &r->found, is_tip, err);
	free(is_tip);
	return ret;
}

static int make_pack(struct run *r, struct error *err)
{
	struct buf base = BUF_INIT;
	int ret = newpack_make(&r->newpack, &r->items, r->pack_dir,
			       &r->options->newpack, err);

	if (!ret)
		ret = newpack_index(&r->newpack, r->pack_dir, err);
	if (!ret && r->want_bitmap)
		ret = write_bitmap(r, err);
	if (!ret && buf_printf(&base, "%s/pack", r->pack_dir) < 0)
		ret = error_nomem(err);
	if (!ret)
		ret = newpack_install(&r->newpack, base.data, err);
	buf_release(&base);
	if (ret < 0)
		return ret;
	r->result->is_new = true;
	r->result->checksum = r->newpack.checksum;
	r->result->object_nr = (uint32_t)r->newpack.nr;
	r->result->report = r->newpack.report;
	r->result->bitmap_nr = r->newpack.bitmap_nr;
	r->result->bitmap_len = r->newpack.bitmap_len;
	return 0;
}

static int remove_redundant(struct run *r, struct error *err)
{
	int ret = 0;

	if (r->options->all)
		ret = old_packs_remove(&r->old,
				       r->result->is_new ? &r->result->checksum
							 : NULL,
				       r->repo->algo, err);
	if (!ret)
		ret = old_packs_prune_loose(r->repo, err);
	return ret;
}

int repack_run(struct repack_result *result, const struct repo *repo,
	       const struct repack_options *options, struct error *err)
{
	struct run r = {.repo = repo,
			.options = options,
			.result = result,
			.want_bitmap = options->write_bitmap};
	int ret;

	*result = (struct repack_result){.warning = ERROR_INIT};
	ret = open_all(&r, err);
	if (!ret)
		ret = enumerate(&r, err);
	if (!ret)
		ret = load_items(&r, err);
	if (!ret && r.items.nr)
		ret = make_pack(&r, err);
	if (!ret && options->remove_redundant)
		ret = remove_redundant(&r, err);
	if (!ret && options->update_server_info)
		ret = server_info_update(repo, r.refs, err);
	run_release(&r);
	return ret;
}
