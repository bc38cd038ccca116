/* SPDX-License-Identifier: MIT */
/*
 * Finds the objects of a request. find-boundary.c finds the objects that the
 * receiver has at the boundary. find-bases.c finds delta bases. find-packed.c
 * reads the stored facts about each object.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "base/sort.h"
#include "check/promisor.h"
#include "pack-bitmap-answer.h"
#include "packing/find-parts.h"
#include "packing/price.h"
#include "sys/thread.h"

/*
 * If at least one in LARGE_RATIO objects is sent, the bitmap index is verified
 * before its result is used. The verification costs little compared with
 * sending.
 */
#define LARGE_RATIO 16

/*
 * With a shallow history of at most this many commits, the trees of all these
 * commits are compared with the receiver's trees. With a longer history, only
 * the trees of the newest commits are compared.
 */
#define SHALLOW_FEW_MAX 64

/* The bit of an object that is not in the pack. */
#define NO_BIT UINT32_MAX

/*
 * If there are at least this many wants, their types are taken from the bitmap
 * index.
 */
#define MANY_WANTS 64

struct finding {
	struct found *f;
	const struct packing_send_options *options;
	struct walk_tips wants, haves;
	/* true: the types of the wants were taken from the bitmap index */
	bool wants_by_index;
	struct pack_bitmap_result result;
	/*
	 * The verification of the bitmap index, which runs in another thread;
	 * NULL: none runs.
	 */
	struct sys_loop *proof;
	struct error *warning;
	/* number of threads of a walk; 0: as many as processors */
	unsigned threads;
};

/*
 * Make tips from the wants. For a client without haves, wants are read only if
 * the bitmap index does not have them.
 */
static int read_wants(struct finding *g, struct error *err)
{
	const struct packing_request *r = g->f->request;
	int ret = 0;

	for (size_t i = 0; i < r->want_nr && !ret; i++)
		ret = r->have_nr ? walk_add_tip(&g->f->walk, &g->wants,
						&r->wants[i], false, err)
				 : walk_add_tip_unread(&g->f->walk, &g->wants,
						       &r->wants[i], err);
	return ret;
}

static int load_tips(struct finding *g, struct error *err)
{
	const struct packing_request *r = g->f->request;
	int ret;

	g->wants_by_index = g->f->pb && !r->have_nr && r->want_nr >= MANY_WANTS;
	ret = g->wants_by_index ? find_wants(g->f, &g->wants, err)
				: read_wants(g, err);
	for (size_t i = 0; i < r->have_nr && !ret; i++)
		ret = walk_add_tip(&g->f->walk, &g->haves, &r->haves[i], true,
				   err);
	return ret;
}

/*
 * Store the frontier of the walk as found->boundary. If the receiver has a
 * shallow boundary, the frontier may be far from the objects that the receiver
 * has. So the haves are added to found->boundary too. Returns 0 or ERR_NOMEM.
 */
static int keep_frontier(struct finding *g, const struct revwalk_result *revs)
{
	struct found *f = g->f;

	if (f->walk.shallow.nr &&
	    find_boundary_add(f, g->haves.commits, g->haves.commit_nr) < 0)
		return ERR_NOMEM;
	return find_boundary_add(f, revs->boundary, revs->boundary_nr);
}

/*
 * Remove objects from the list if the receiver has them in the trees of its
 * boundary commits, at the same or another path.
 */
static void drop_uninteresting(struct found *f)
{
	size_t kept = 0;

	for (size_t i = 0; i < f->objects.nr; i++)
		if (!bitset_get(&f->uninteresting, f->objects.items[i].obj_pos))
			f->objects.items[kept++] = f->objects.items[i];
	f->objects.nr = kept;
}

/*
 * found->uninteresting is the set of objects that the receiver has if its
 * earlier requests had no filter. If this request has a filter, earlier
 * requests probably had the same filter. So the receiver may lack objects that
 * this filter leaves out. In this case, reduce the set to the objects in the
 * list found->boundary_objects. If this filter may leave out objects of a type,
 * for example blobs, the list has no objects of this type (find_has_entries()).
 * So earlier requests with the same filter have sent all objects in the list,
 * and the receiver has them.
 */
static void forget_undecided(struct found *f)
{
	if (filter_is_empty(f->request->filter))
		return;
	bitset_clear(&f->uninteresting);
	for (size_t i = 0; i < f->boundary_objects.nr; i++)
		bitset_set(&f->uninteresting,
			   f->boundary_objects.items[i].obj_pos);
}

/*
 * If the walk has found few commits, store them in f->walked_few. This is done
 * for a shallow history. The tree of each of these commits may have objects of
 * which the receiver has other versions.
 */
static void keep_few(struct found *f, struct revwalk_result *revs)
{
	if (revs->nr > SHALLOW_FEW_MAX)
		return;
	f->walked_few = revs->commits;
	f->walked_few_nr = revs->nr;
	revs->commits = NULL;
	revs->nr = revs->alloc = 0;
}

/*
 * Returns the i-th commit of a walk's result. The order is that of commits in a
 * pack if the walk has computed this order, otherwise newest first.
 */
static uint32_t commit_at(const struct walk_result *result, size_t i)
{
	return result->parents_first ? walk_result_commit(result, i)
				     : result->revs.commits[i];
}

static int take_walked(struct finding *g, struct walk_result *result,
		       struct error *err)
{
	struct found *f = g->f;
	const struct history *h = &f->walk.history;

	for (size_t i = 0; i < result->revs.nr; i++)
		if (walk_items_append(&f->objects,
				      h->commits[commit_at(result, i)].obj_pos,
				      OBJ_COMMIT, 0) < 0)
			return error_nomem(err);
	for (size_t i = 0; i < result->objects.nr; i++) {
		const struct walk_item *item = &result->objects.items[i];

		if (walk_items_add(&f->objects, item) < 0)
			return error_nomem(err);
	}
	return 0;
}

/*
 * Set f->uninteresting to the objects that the receiver has. If the walk has
 * not found all of these objects, read the trees at the frontier of the walk.
 * Returns 0 or a negative error code.
 */
static int take_uninteresting(struct finding *g, struct walk_result *result,
			      struct error *err)
{
	struct found *f = g->f;
	int ret;

	if (keep_frontier(g, &result->revs) < 0)
		return error_nomem(err);
	if (result->uninteresting.bits) {
		f->uninteresting = result->uninteresting;
		f->knows_all_uninteresting = true;
		result->uninteresting = (struct bitset)BITSET_INIT;
		return 0;
	}
	ret = find_boundary_collect_near(f, &g->wants, err);
	if (ret < 0)
		return ret;
	drop_uninteresting(f);
	forget_undecided(f);
	return 0;
}

/*
 * Remove blobs that are missing and were promised by a remote
 * (check/promisor.h). Returns 0 or a negative error code: ERR_MISSING if a
 * missing blob was not promised.
 */
static int drop_promised(struct walk_items *objects, struct walk *walk,
			 struct error *err)
{
	struct promisor promisor;
	size_t kept = 0;
	int ret = promisor_init(&promisor, walk, err);

	for (size_t i = 0; ret >= 0 && i < objects->nr; i++) {
		const struct walk_item *item = &objects->items[i];

		ret = 1;
		if (item->obj_pos >= walk->space.packed_nr &&
		    item->type == OBJ_BLOB)
			ret = promisor_check(&promisor, item->obj_pos, OBJ_BLOB,
					     err);
		if (ret > 0)
			objects->items[kept++] = *item;
	}
	if (ret >= 0)
		objects->nr = kept;
	promisor_release(&promisor);
	return ret < 0 ? ret : 0;
}

/*
 * Find the objects to send by a walk.
 *
 * Normally the walk compares the trees of each commit with the trees of its
 * parents. With a shallow boundary, the walk does not compare trees, but reads
 * the trees of each commit to send. The reason: the parents of the boundary
 * commits are not sent, so their trees would have to be read only for the
 * comparison. In a clone of depth 1, all commits to send are boundary commits.
 *
 * For a thin pack, take_uninteresting() leaves out the objects in the trees of
 * boundary commits, and keeps them as delta bases.
 */
static int find_by_walk(struct finding *g, struct error *err)
{
	struct found *f = g->f;
	bool is_shallow = f->walk.shallow.nr;
	struct walk_result result = WALK_RESULT_INIT;
	struct walk_options options = {
		.objects = true,
		.set_only = is_shallow,
		.exclude_boundary = is_shallow || !f->request->thin,
		.exclude_uninteresting = is_shallow &&
					 filter_is_empty(f->request->filter),
		.use_tree_changes = true,
		.threads = g->threads,
		.progress = g->options->progress,
		.filter = f->request->filter,
		.spare_nested = !f->request->filter_nested,
		.grouping = f->grouping,
		.missing_blobs = f->request->promised_missing,
	};
	int ret = walk_enumerate(&result, &f->walk, &g->wants, &g->haves,
				 &options, err);

	if (!ret && f->request->promised_missing)
		ret = drop_promised(&result.objects, &f->walk, err);
	f->commits_walked = (uint32_t)result.revs.nr;
	f->unnamed = is_shallow && !result.parents_first;
	if (!ret)
		ret = take_walked(g, &result, err);
	if (!ret && f->request->thin)
		ret = take_uninteresting(g, &result, err);
	if (!ret && is_shallow)
		keep_few(f, &result.revs);
	walk_result_release(&result);
	return ret ? ret : found_include_tags(f, err);
}

/* Move the result of the bitmap query into *f. Returns 0 or ERR_NOMEM. */
static int take_result(struct finding *g)
{
	struct found *f = g->f;

	f->space = f->pb->space;
	f->packed = g->result.packed;
	f->packed_uninteresting = g->result.uninteresting;
	f->objects = g->result.others;
	f->bitmaps_used = g->result.bitmaps_used;
	f->pseudo_merges_used = g->result.pseudo_merges_used;
	f->commits_walked = g->result.commits_walked;
	g->result = (struct pack_bitmap_result)PACK_BITMAP_RESULT_INIT;
	return find_boundary_add(f, g->haves.commits, g->haves.commit_nr);
}

/* Undo take_result(): remove the result of the bitmap query from *f. */
static void forget_result(struct found *f)
{
	find_forget_objects(f);
	f->bitmaps_used = f->pseudo_merges_used = 0;
}

static int run_proof(void *ctx, unsigned thread_nr, size_t task_nr,
		     struct error *err)
{
	return pack_bitmap_prove(ctx, err);
}

static int start_proof(struct finding *g, struct error *err)
{
	unsigned threads = g->options->threads;

	return sys_loop_start(&g->proof, threads ? threads : sys_cpu_nr(), 1,
			      run_proof, g->f->pb, err);
}

/*
 * Returns whether the response is likely to be large: a client without haves
 * wants commits. A client that fetches missing trees and blobs wants no
 * commits.
 */
static bool is_clone(const struct finding *g)
{
	return !g->f->request->have_nr && g->wants.commit_nr;
}

/*
 * Add tags to a large response while another thread verifies the bitmap index.
 * Adding tags and verifying the index take time that grows with the repository,
 * and the client waits for both. ERR_CORRUPT in *why means that the index is
 * wrong and its result must not be used.
 */
static int complete_proven(struct finding *g, struct error *why,
			   struct error *err)
{
	struct error tags_err = ERROR_INIT;
	int ret = g->proof ? 0 : start_proof(g, err), tags;

	if (ret < 0)
		return ret;
	tags = found_include_tags(g->f, &tags_err);
	ret = sys_loop_finish(g->proof, why);
	g->proof = NULL;
	if (ret < 0 || !tags)
		return ret;
	if (err)
		*err = tags_err;
	return tags;
}

/*
 * Accept the result of the bitmap index. If much will be sent, verify the index
 * first. Returns 0 or a negative error code. An error of the index is in *why,
 * any other error is in *err.
 */
static int confirm(void *ctx, struct error *why, struct error *err)
{
	struct finding *g = ctx;
	struct found *f = g->f;

	if (take_result(g) < 0)
		return error_nomem(err);
	if (bitset_count(&f->packed) <= f->packed.bits / LARGE_RATIO)
		return found_include_tags(f, err);
	return complete_proven(g, why, err);
}

/*
 * Do not use the bitmap index: close it, and remove its result from the found
 * objects. Returns 0 or a negative error code.
 */
static int set_aside(struct finding *g, struct error *err)
{
	struct found *f = g->f;

	pack_bitmap_result_release(&g->result);
	forget_result(f);
	pack_bitmap_close(f->pb);
	f->pb = NULL;
	if (!g->wants_by_index)
		return 0;
	walk_tips_release(&g->wants);
	g->wants = (struct walk_tips)WALK_TIPS_INIT;
	return read_wants(g, err);
}

/* Open the bitmap index if the request can use one. Returns 0 or ERR_NOMEM. */
static int open_index(struct finding *g, struct error *err)
{
	struct found *f = g->f;
	int ret;

	if (!f->request->use_bitmap)
		f->no_bitmap = "bitmaps are not to be used";
	else if (f->request->shallow_nr)
		f->no_bitmap = "the client's history is shallow";
	if (f->no_bitmap)
		return 0;
	ret = pack_bitmap_answer_open(&f->pb, &f->no_bitmap, &f->walk,
				      f->request->filter, g->warning);
	return ret == ERR_NOMEM ? error_nomem(err) : 0;
}

/*
 * Find the objects by a query of the bitmap index. Returns 1 if the index has
 * answered, 0 if a walk is needed, or a negative error code.
 */
static int find_by_bitmap(struct finding *g, struct error *err)
{
	struct found *f = g->f;
	const struct pack_bitmap_ask ask = {
		.pb = f->pb,
		.wants = &g->wants,
		.haves = &g->haves,
		.filter = f->request->filter,
		.inexact = !g->options->exact,
		.plan = &f->plan,
		.confirm = confirm,
		.ctx = g,
	};
	struct error why = ERROR_INIT;
	int ret;

	if (!f->pb)
		return 0;
	ret = is_clone(g) ? start_proof(g, err) : 0;
	if (!ret)
		ret = pack_bitmap_try(&g->result, &f->walk, &ask, &why, err);
	sys_loop_cancel(g->proof);
	if (ret)
		return ret;
	if (why.code == ERR_CORRUPT)
		*g->warning = why;
	if (why.code == ERR_UNSUPPORTED)
		f->no_bitmap = f->plan.reason;
	return set_aside(g, err);
}

/*
 * Use the prepared answer (stored response) to the request. Returns 1 if a
 * prepared answer is used, 0 if there is none for this request, or a negative
 * error code.
 */
static int find_by_preparation(struct finding *g, struct error *err)
{
	struct found *f = g->f;
	const struct packing_request *r = f->request;

	if (!g->options->use_prepared || !packing_copies_spans(g->options) ||
	    !r->use_bitmap || !r->ofs_delta ||
	    (r->elsewhere && r->elsewhere->nr))
		return 0;
	return find_prepared(f, g->options, err);
}

/*
 * Called if no prepared answer (stored response) is used. The receiver may have
 * offered to download a whole pack from another place (packfile-uris). Tell the
 * receiver that there is no such pack: the response itself contains all
 * objects. This message must be at the beginning of the response, and progress
 * can be sent only after it. So the message is sent before the search for
 * objects.
 *
 * If the receiver can get single objects from another place (e->nr), nothing is
 * done here. Returns 0 or the error of tell().
 */
static int tell_none(struct finding *g, struct error *err)
{
	const struct packing_elsewhere *e = g->f->request->elsewhere;

	if (!e || e->nr)
		return 0;
	g->f->has_told = true;
	return e->tell(e->ctx, NULL, NULL, err);
}

const struct pack_rev *find_order(struct pack *pack, size_t wanted,
				  struct error *err)
{
	const struct pack_rev *rev = pack_get_rev_unproven(pack, err);

	if (!rev || find_is_few(pack, wanted) ||
	    (!rev->owned && !pack_check_rev(pack, rev, NULL)))
		return rev;
	return pack_get_rev(pack, err);
}

static const struct odb_pack *largest_pack(const struct odb *odb)
{
	const struct odb_pack *largest = odb->pack_nr ? &odb->packs[0] : NULL;

	for (uint32_t i = 1; i < odb->pack_nr; i++)
		if (odb->packs[i].pack->idx.nr > largest->pack->idx.nr)
			largest = &odb->packs[i];
	return largest;
}

/*
 * For each object in the list found->objects, find its bit: the position in the
 * pack. NO_BIT: the object is not in the pack. Most of the objects are stored
 * next to each other. So they are searched in the order of the pack, which
 * costs a few steps for each.
 */
static int find_bits(uint32_t *bits, const struct found *f)
{
	const struct odb_pack *pack = f->space.pack;
	const struct pack_idx *idx = &pack->pack->idx;
	struct sort_item *order = mem_alloc(f->objects.nr, sizeof(*order));
	uint32_t near = 0;
	size_t nr = 0;
	int ret = order || !f->objects.nr ? 0 : ERR_NOMEM;

	for (size_t i = 0; i < f->objects.nr && !ret; i++) {
		uint32_t obj_pos = f->objects.items[i].obj_pos;
		uint32_t idx_pos = obj_pos - pack->first_pos;

		bits[i] = NO_BIT;
		if (!f->bits.nr && idx_pos < idx->nr)
			order[nr++] = (struct sort_item){
				pack_idx_offset(idx, idx_pos), (uint32_t)i};
		else
			found_bit(f, obj_pos, &bits[i]);
	}
	if (!ret)
		ret = sort_items(order, nr);
	for (size_t i = 0; i < nr && !ret; i++)
		if (pack_rev_find_near(f->space.rev, near, order[i].key,
				       &bits[order[i].value]))
			near = bits[order[i].value];
	free(order);
	return ret;
}

/*
 * Move those objects of the list found->objects that are in the pack into the
 * set found->packed.
 */
static int split_objects(struct found *f)
{
	uint32_t *bits = mem_alloc(f->objects.nr, sizeof(*bits));
	int ret = bits || !f->objects.nr ? find_bits(bits, f) : ERR_NOMEM;
	size_t kept = 0;

	for (size_t i = 0; i < f->objects.nr && !ret; i++) {
		struct walk_item *item = &f->objects.items[i];

		if (bits[i] == NO_BIT) {
			f->objects.items[kept++] = *item;
			continue;
		}
		bitset_set(&f->packed, bits[i]);
		ret = walk_items_add(&f->walked, item);
	}
	if (!ret)
		f->objects.nr = kept;
	free(bits);
	return ret;
}

/*
 * Returns whether some of the found objects are in a pack. If many objects were
 * found, returns true without a check.
 */
static bool has_some(const struct found *f, const struct odb_pack *pack)
{
	const struct odb *odb = f->walk.odb;
	uint32_t idx_pos;

	if (!find_is_few(pack->pack, f->objects.nr))
		return true;
	for (size_t i = 0; i < f->objects.nr; i++) {
		uint32_t obj_pos = f->objects.items[i].obj_pos;

		if (obj_pos >= odb->packed_nr)
			continue;
		if (obj_pos - pack->first_pos < pack->pack->idx.nr ||
		    pack_idx_find(&pack->pack->idx, odb_oid_raw(odb, obj_pos),
				  &idx_pos))
			return true;
	}
	return false;
}

/*
 * Divide the objects that a walk has found, as a bitmap query does: objects of
 * the largest pack become bits of f->packed, and all others stay in the list
 * f->objects. Returns 0 or ERR_NOMEM.
 */
static int split_packed(struct found *f, struct error *err)
{
	const struct odb *odb = f->walk.odb;
	const struct odb_pack *pack = largest_pack(odb);
	const struct pack_rev *rev;
	uint32_t nr;

	if (!pack || !has_some(f, pack))
		return 0;
	nr = pack->pack->idx.nr;
	rev = find_order(pack->pack, f->objects.nr, err);
	if (!rev)
		return ERR_NOMEM;
	f->space = bitmap_space_of_pack(odb, pack, rev);
	if (!find_is_few(pack->pack, f->objects.nr) &&
	    bitmap_space_table_init(&f->bits, &f->space) < 0)
		return error_nomem(err);
	if (bitset_init(&f->packed, nr) < 0 ||
	    bitset_init(&f->packed_uninteresting, nr) < 0 ||
	    split_objects(f) < 0)
		return error_nomem(err);
	for (size_t at = bitset_next(&f->uninteresting, 0);
	     at < f->uninteresting.bits;
	     at = bitset_next(&f->uninteresting, at + 1)) {
		uint32_t bit;

		if (found_bit(f, (uint32_t)at, &bit))
			bitset_set(&f->packed_uninteresting, bit);
	}
	return 0;
}

static int admit_walk(struct finding *g, struct error *err)
{
	struct found *f = g->f;
	uint64_t price = packing_price_walk(f->request, &f->plan,
					    f->walk.odb->packed_nr);
	int ret = packing_admit(&g->threads, g->options, price, err);

	if (g->threads)
		f->walk.history.threads = g->threads;
	return ret;
}

/*
 * Find the objects by a query of the bitmap index, or by a walk. Returns 1 if
 * the index has answered, 0 after a walk, or a negative error code.
 */
static int find_by_search(struct finding *g, struct error *err)
{
	int ret = open_index(g, err);

	if (!ret)
		ret = load_tips(g, err);
	if (!ret)
		ret = find_by_bitmap(g, err);
	if (!ret)
		ret = admit_walk(g, err);
	return ret ? ret : find_by_walk(g, err);
}

int found_open(struct found *found, const struct odb *odb,
	       const struct packing_request *request,
	       const struct packing_send_options *options,
	       struct error *warning, struct error *err)
{
	struct finding g = {
		.f = found,
		.options = options,
		.wants = WALK_TIPS_INIT,
		.haves = WALK_TIPS_INIT,
		.result = PACK_BITMAP_RESULT_INIT,
		.warning = warning,
	};
	int ret;

	*found = (struct found){
		.request = request,
		.grouping = options->grouping,
		.plan = {.strategy = options->strategy},
		.kept = KEPT_DELTAS_INIT,
	};
	ret = walk_open(&found->walk, odb, request->shallow,
			request->shallow_nr, err);
	if (ret < 0)
		return ret;
	if (options->threads)
		found->walk.history.threads = options->threads;
	history_poll(&found->walk.history, options->progress);
	ret = find_by_preparation(&g, err);
	if (!ret) {
		ret = tell_none(&g, err);
		if (!ret)
			ret = find_by_search(&g, err);
	}
	if (ret >= 0 && !found->space.odb && !found->content)
		ret = split_packed(found, err);
	if (found->pb)
		found->grouping = PATH_GROUP_NONE;
	found->wants = g.wants.commits;
	found->want_nr = g.wants.commit_nr;
	g.wants.commits = NULL;
	walk_tips_release(&g.wants);
	walk_tips_release(&g.haves);
	pack_bitmap_result_release(&g.result);
	if (ret < 0)
		found_close(found);
	return ret < 0 ? ret : 0;
}

void found_close(struct found *found)
{
	pack_bitmap_close(found->pb);
	prepared_close(&found->prepared);
	kept_deltas_close(&found->kept);
	bitmap_space_table_release(&found->bits);
	bitset_release(&found->packed);
	bitset_release(&found->packed_uninteresting);
	free(found->objects.items);
	free(found->walked.items);
	free(found->boundary_objects.items);
	free(found->versions);
	free(found->wants);
	free(found->walked_few);
	free(found->boundary);
	bitset_release(&found->uninteresting);
	walk_close(&found->walk);
}
