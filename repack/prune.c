/* SPDX-License-Identifier: MIT */
/* Removes unreachable loose objects, as `git prune` does. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "check/promisor.h"
#include "packs/roots.h"
#include "repack/prune-packed.h"
#include "repack/prune-parts.h"
#include "repack/prune.h"
#include "repack/unreachable.h"
#include "repo/shallow.h"
#include "sys/io.h"
#include "walk/ref-tips.h"

struct run {
	const struct repo *repo;
	const struct prune_options *options;
	struct prune_files files;
	struct prune_unnamed unnamed;
	/* the shallow file before the references were read */
	struct repo_shallow_stamp shallow;
	struct refs *refs; /* owned */
	struct odb *odb;   /* owned */
	struct walk walk;  /* open when `is_walking` */
	struct walk_tips tips;
	struct bitset reached; /* indexed by obj_pos */
	struct unreachable unreachable;
	bool is_walking;
	/* set if the walk left out objects that promisor packs reach */
	bool has_promised;
};

static void release_walk(struct run *r)
{
	unreachable_release(&r->unreachable);
	bitset_release(&r->reached);
	walk_tips_release(&r->tips);
	if (r->is_walking)
		walk_close(&r->walk);
	odb_close(r->odb);
	refs_close(r->refs);
	r->is_walking = false;
	r->odb = NULL;
	r->refs = NULL;
}

/*
 * Read the references, then open the packs. In this order, the packs have all
 * objects that the references name. Returns 0 or a negative error code.
 */
static int open_all(struct run *r, struct error *err)
{
	int ret = refs_open(&r->refs, r->repo, err);

	if (!ret)
		ret = refs_list_now(r->refs, err);
	if (!ret)
		ret = odb_open_whole(&r->odb, r->repo, err);
	if (!ret)
		ret = walk_open(&r->walk, r->odb, NULL, 0, err);
	r->is_walking = !ret;
	return ret;
}

static int mark_reached(struct run *r, const struct walk_result *found,
			struct error *err)
{
	const struct history *h = &r->walk.history;

	if (bitset_init(&r->reached, objspace_end(&r->walk.space)) < 0)
		return error_nomem(err);
	for (size_t i = 0; i < found->revs.nr; i++)
		bitset_set(&r->reached,
			   h->commits[found->revs.commits[i]].obj_pos);
	for (size_t i = 0; i < found->objects.nr; i++)
		bitset_set(&r->reached, found->objects.items[i].obj_pos);
	return 0;
}

/*
 * Find the objects that must not be pruned: the reachable objects. In a partial
 * clone, the walk does not enter objects of promisor packs: the packs keep
 * these objects, so loose copies of them are not needed. A promised object is
 * one to which an object of a promisor pack has a link. The walk also starts at
 * each promised object outside of promisor packs, so these objects count as
 * reachable. A missing blob is no error, as in stock Git: it links to no
 * objects, so nothing else could be lost. Returns 0 or a negative error code.
 */
static int enumerate(struct run *r, struct walk_result *found,
		     struct error *err)
{
	const struct walk_options options = {
		.objects = true,
		.set_only = true,
		.missing_blobs = true,
		.progress = r->options->progress,
	};
	const struct walk_tips none = WALK_TIPS_INIT;
	struct promisor promisor;
	int ret = promisor_init(&promisor, &r->walk, err);

	if (!ret)
		ret = promisor.has_packs
			      ? promisor_enumerate(found, &promisor, &r->tips,
						   &none, PATH_GROUP_NONE, true,
						   err)
			      : walk_enumerate(found, &r->walk, &r->tips, &none,
					       &options, err);
	r->has_promised = promisor.has_packs;
	promisor_release(&promisor);
	return ret;
}

static int find_reached(struct run *r, struct error *err)
{
	struct walk_result found = WALK_RESULT_INIT;
	int ret = open_all(r, err);

	if (!ret)
		ret = roots_add(&r->walk, &r->tips, r->refs,
				ROOTS_ALL | ROOTS_STRICT_REBASES, err);
	if (ret < 0)
		ref_tips_reword(&r->walk, r->refs, err);
	for (size_t i = 0; !ret && i < r->options->head_nr; i++)
		ret = walk_add_tip(&r->walk, &r->tips, &r->options->heads[i],
				   false, err);
	if (!ret)
		ret = enumerate(r, &found, err);
	if (!ret)
		ret = mark_reached(r, &found, err);
	walk_result_release(&found);
	return ret;
}

static bool stays(void *ctx, const struct pack *pack)
{
	return false;
}

static int find_kept(struct run *r, struct error *err)
{
	const struct unreachable_options options = {
		.is_leaving = stays,
		.loose = true,
	};
	int ret = find_reached(r, err);

	/*
	 * A reference may have moved to an object that only a newer pack has.
	 * So the search starts again with newer packs.
	 */
	if (ret == ERR_MISSING) {
		release_walk(r);
		ret = find_reached(r, err);
	}
	if (!ret)
		ret = unreachable_collect(&r->unreachable, &r->walk,
					  &r->reached, &options, err);
	return ret < 0 ? ret
		       : unreachable_keep(&r->unreachable, r->options->expiry,
					  err);
}

/* Returns whether a root or a recent object reaches the object. */
static bool is_wanted(struct run *r, uint32_t obj_pos)
{
	const struct unreachable_item *item;

	if (bitset_get(&r->reached, obj_pos))
		return true;
	item = unreachable_find(&r->unreachable, obj_pos);
	return item && item->is_kept;
}

/*
 * Returns whether a loose object may be removed. An object that has no number
 * in the walk stays.
 */
static bool may_go(struct run *r, const struct oid *oid)
{
	uint32_t obj_pos;

	return r->is_walking &&
	       objspace_find(&r->walk.space, oid->bytes, &obj_pos) &&
	       unreachable_find(&r->unreachable, obj_pos) &&
	       !is_wanted(r, obj_pos);
}

/*
 * Returns whether an object of a pack that has no final name yet may still be
 * needed. If it may be needed, the pack must stay. If the repository has
 * promisor packs, the result is always true.
 *
 * If there are no promisor packs, the walk has read packs without a final name,
 * too (odb/odb.h). The walk starts from the refs and other roots. After the
 * walk, unreachable objects are looked at, to find the recent ones. Each object
 * that was seen has got a number in the space of the walk. There are three
 * cases:
 * - An object without a number was not seen. It is unreachable, and not needed.
 * - An object in the list r->unreachable has a number, but no root reaches it.
 *   The object is needed only if it, or an object that reaches it, is recent
 *   (is_wanted()).
 * - Any other object with a number counts as needed.
 */
static bool may_be_asked_for(void *ctx, const uint8_t *raw)
{
	struct run *r = ctx;
	uint32_t obj_pos;

	if (r->has_promised)
		return true;
	if (!objspace_find(&r->walk.space, raw, &obj_pos))
		return false;
	return is_wanted(r, obj_pos) ||
	       !unreachable_find(&r->unreachable, obj_pos);
}

static void tell_object(struct run *r, const struct oid *oid)
{
	const struct prune_hooks *hooks = &r->options->hooks;
	enum object_type type;

	if (!hooks->object)
		return;
	if (odb_info(r->walk.reader, oid, &type, NULL, NULL) < 0)
		type = OBJ_NONE;
	hooks->object(hooks->ctx, oid, type);
}

static int prune_object(struct run *r, const struct prune_file *file,
			struct error *err)
{
	struct buf path = BUF_INIT;
	struct sys_stat st;
	int ret = odb_loose_path(&path, r->odb, r->odb->dirs[0], &file->oid) < 0
			  ? error_nomem(err)
			  : 0;

	if (!ret && sys_stat(&st, path.data, NULL) == 0 &&
	    st.mtime_ns == file->mtime_ns) {
		tell_object(r, &file->oid);
		if (!r->options->dry_run)
			ret = sys_unlink(path.data, err);
	}
	buf_release(&path);
	return ret;
}

static int prune_objects(struct run *r, struct error *err)
{
	const struct prune_options *o = r->options;
	int ret = 0;

	for (size_t i = 0; i < r->files.nr && !ret; i++) {
		const struct prune_file *file = &r->files.files[i];

		if (file->path)
			ret = prune_file_other(file, o, err);
		else if (may_go(r, &file->oid))
			ret = prune_object(r, file, err);
	}
	return ret;
}

static int find_shallow(void *ctx, const struct oid *oid)
{
	return 1;
}

/*
 * Returns whether a commit stays in the shallow boundary: it is reachable, or
 * is kept although it is unreachable. In a partial clone, every packed commit
 * stays, because the walk skips promised objects and may miss reachable
 * commits.
 */
static bool keeps_shallow(void *ctx, const struct oid *oid)
{
	struct run *r = ctx;
	uint32_t obj_pos;

	if (objspace_find(&r->walk.space, oid->bytes, &obj_pos) &&
	    is_wanted(r, obj_pos))
		return true;
	return r->has_promised && odb_find_raw(r->odb, oid->bytes, &obj_pos);
}

static int tell_shallow(void *ctx, const struct oid *oid)
{
	const struct run *r = ctx;
	const struct prune_hooks *hooks = &r->options->hooks;

	if (hooks->shallow && !keeps_shallow(ctx, oid))
		hooks->shallow(hooks->ctx, oid);
	return 0;
}

static int prune_shallow(struct run *r, struct error *err)
{
	return r->options->dry_run
		       ? repo_shallow_each(r->repo, tell_shallow, r, err)
		       : repo_shallow_retain(r->repo, &r->shallow,
					     keeps_shallow, r, err);
}

/*
 * Find the files that may be removed, and remove them. Finding the reachable
 * objects is slow. It is skipped if the time of expiry keeps everything, or if
 * nothing depends on reachability: there are no loose objects, no shallow
 * boundary, no packs without their final names, and no heads in the options.
 * Returns 0 or a negative error code.
 */
static int prune(struct run *r, struct error *err)
{
	const struct prune_options *o = r->options;
	const struct prune_packed_options packed = {
		.removing = o->hooks.packed,
		.warn = o->hooks.warn,
		.ctx = o->hooks.ctx,
		.dry_run = o->dry_run,
		.progress = o->packed_progress,
	};
	int ret = prune_files_list(&r->files, r->repo, err);
	int shallow = 0;

	if (!ret)
		ret = prune_unnamed_list(&r->unnamed, r->repo, o, err);
	if (!ret)
		ret = repo_shallow_stamp_take(&r->shallow, r->repo, err);
	if (!ret)
		shallow = repo_shallow_each(r->repo, find_shallow, NULL, err);
	if (shallow < 0)
		return shallow;
	if (!ret && o->expiry > 0 &&
	    (r->files.object_nr || shallow || o->head_nr ||
	     prune_unnamed_asks(&r->unnamed)))
		ret = find_kept(r, err);
	if (!ret)
		ret = prune_objects(r, err);
	if (!ret)
		ret = prune_packed(r->repo, &packed, err);
	if (!ret)
		ret = prune_stale(r->repo, o, err);
	if (!ret)
		ret = prune_unnamed_remove(&r->unnamed,
					   r->is_walking ? r->odb : NULL,
					   may_be_asked_for, r, o, err);
	if (!ret && shallow && r->is_walking)
		ret = prune_shallow(r, err);
	return ret;
}

int prune_run(const struct repo *repo, const struct prune_options *options,
	      struct error *err)
{
	struct run r = {
		.repo = repo,
		.options = options,
		.tips = WALK_TIPS_INIT,
	};
	int ret = repo_check_precious(repo, "prune", err);

	if (!ret)
		ret = prune(&r, err);
	release_walk(&r);
	prune_unnamed_release(&r.unnamed);
	prune_files_release(&r.files);
	return ret;
}
