/* SPDX-License-Identifier: MIT */
/* Decides whether visible refs reach an object. */
#include <stdlib.h>

#include "base/mem.h"
#include "islands/network.h"
#include "pack-bitmap-answer.h"
#include "wire/oidset.h"
#include "wire/visible.h"

enum {
	/*
	 * Maximum number of walks that each look for one commit. After that,
	 * one walk marks all visible commits.
	 */
	WALKS_MAX = 4,
	HINTS_MAX = 16, /* maximum number of hints */
};

/*
 * Which objects have been marked as visible so far. Each value includes the
 * objects of the values above it.
 */
enum extent {
	EXTENT_NONE,
	/* the objects that refs point to */
	EXTENT_TIPS,
	/*
	 * all objects that HEAD reaches; without a bitmap index, only the
	 * objects of EXTENT_TIPS
	 */
	EXTENT_HEAD,
	/* all commits that refs reach */
	EXTENT_COMMITS,
	EXTENT_ALL,
};

struct visible {
	const struct repo *repo; /* borrowed */
	const char *namespace;   /* borrowed, or NULL */
	const struct odb *odb;   /* borrowed; may be own_odb */
	struct odb *own_odb;     /* owned, or NULL */
	/* borrowed; may be &own_refs */
	struct refview *refs;
	struct refview own_refs;
	bool own_refs_are_open;
	bool hidden_too, use_bitmaps;
	enum extent extent;
	/* the objects that refs point to */
	struct oidset tips;
	struct walk walk;
	bool walk_is_open;
	/* the tip of HEAD */
	struct walk_tips head;
	struct walk_tips from; /* `tips`, by type */
	struct oidset hints;
	bool has_head; /* hints.oids[0] is HEAD */
	bool hints_are_done;
	/* number of walks so far, each of which looked for a single commit */
	unsigned walk_nr;
	/* indexed by obj_pos: visible objects that are not in `answer` */
	struct bitset found;
	struct pack_bitmap *pb; /* owned, or NULL */
	struct pack_bitmap_answer answer;
	bool has_answer;
};

int visible_is_limit(bool *is_limit, const struct repo *repo, struct error *err)
{
	char *store;
	int ret;

	if (config_find(&repo->config, VISIBLE_LIMIT_KEY)) {
		ret = config_bool(&repo->config, VISIBLE_LIMIT_KEY, is_limit,
				  err);
		return ret < 0 ? ret : 0;
	}
	ret = network_find(&store, repo, err);
	free(store);
	*is_limit = ret > 0;
	return ret < 0 ? ret : 0;
}

/*
 * Load the uploadpack.allow*InWant keys. If one of them is true, clients may
 * also fetch objects that only hidden refs reach. Returns 0 or a negative error
 * code.
 */
static int load_config(struct visible *v, struct error *err)
{
	static const char *const keys[] = {
		"uploadpack.allowtipsha1inwant",
		"uploadpack.allowreachablesha1inwant",
		"uploadpack.allowanysha1inwant",
	};
	const struct config *config = &v->repo->config;
	int ret = 0;

	v->use_bitmaps = true;
	for (size_t i = 0; ret >= 0 && i < ARRAY_NR(keys); i++) {
		bool flag = false;

		ret = config_bool(config, keys[i], &flag, err);
		v->hidden_too |= flag;
	}
	if (ret >= 0)
		ret = config_bool(config, "pack.usebitmaps", &v->use_bitmaps,
				  err);
	return ret < 0 ? ret : 0;
}

int visible_open(struct visible **out, const struct repo *repo,
		 const char *namespace, const struct odb *odb,
		 struct refview *refs, struct error *err)
{
	struct visible *v = mem_calloc(1, sizeof(*v));
	int ret;

	*out = NULL;
	if (!v)
		return error_nomem(err);
	v->repo = repo;
	v->namespace = namespace;
	v->odb = odb;
	v->refs = refs;
	oidset_init(&v->tips, OIDSET_MAX);
	oidset_init(&v->hints, HINTS_MAX);
	ret = load_config(v, err);
	if (ret < 0) {
		visible_close(v);
		return ret;
	}
	*out = v;
	return 0;
}

void visible_close(struct visible *v)
{
	if (!v)
		return;
	if (v->has_answer)
		pack_bitmap_answer_release(&v->answer);
	pack_bitmap_close(v->pb);
	bitset_release(&v->found);
	walk_tips_release(&v->head);
	walk_tips_release(&v->from);
	if (v->walk_is_open)
		walk_close(&v->walk);
	oidset_release(&v->hints);
	oidset_release(&v->tips);
	if (v->own_refs_are_open)
		refview_release(&v->own_refs);
	odb_close(v->own_odb);
	free(v);
}

/* ---- opened on first use */

static int open_walk(struct visible *v, struct error *err)
{
	int ret = 0;

	if (v->walk_is_open)
		return 0;
	if (!v->odb) {
		ret = odb_open(&v->own_odb, v->repo, NULL, err);
		v->odb = v->own_odb;
	}
	if (!ret)
		ret = walk_open(&v->walk, v->odb, NULL, 0, err);
	v->walk_is_open = !ret;
	return ret;
}

static int open_refs(struct visible *v, struct error *err)
{
	int ret;

	if (v->refs)
		return 0;
	ret = refview_open(&v->own_refs, v->repo, "uploadpack.hiderefs",
			   v->namespace, err);
	v->own_refs_are_open = true;
	if (!ret)
		v->refs = &v->own_refs;
	return ret;
}

/* ---- objects that refs point to */

/* Context of a pass over all refs. */
struct pass {
	struct visible *v;
	struct error *err;
};

static int add_tip(void *ctx, const struct ref *ref)
{
	struct pass *pass = ctx;
	int ret = oidset_add(&pass->v->tips, &ref->oid, pass->err);

	return ret < 0 ? ret : 0;
}

static int load_tips(struct visible *v, struct error *err)
{
	struct pass pass = {v, err};
	struct ref head;
	int ret;

	if (v->extent >= EXTENT_TIPS)
		return 0;
	ret = open_refs(v, err);
	/* If HEAD is broken, continue: the other refs are still visible. */
	if (!ret && refview_lookup(v->refs, "HEAD", &head, NULL) > 0) {
		ret = add_tip(&pass, &head);
		v->has_head = !v->hints.nr;
		if (!ret)
			ret = oidset_add(&v->hints, &head.oid, err);
	}
	if (ret >= 0)
		ret = refview_each(v->refs, "", v->hidden_too, add_tip, &pass,
				   NULL, err);
	if (!ret)
		v->extent = EXTENT_TIPS;
	return ret;
}

static int mark(struct visible *v, uint32_t obj_pos, struct error *err)
{
	/*
	 * Make the set large enough for all objects that have a number now, so
	 * that the set seldom grows.
	 */
	if (obj_pos >= v->found.bits &&
	    bitset_grow(&v->found, objspace_end(&v->walk.space)) < 0)
		return error_nomem(err);
	bitset_set(&v->found, obj_pos);
	return 0;
}

/*
 * Add the objects to which the client's visible refs point to v->from: commits
 * to v->from.commits, all other objects to v->from.others. If an object is a
 * tag, the object to which the tag leads is added, too. Mark all these objects
 * as visible to the client. A second call does nothing. Returns 0 or a negative
 * error code.
 */
static int sort_tips(struct visible *v, struct error *err)
{
	int ret = 0;

	if (v->from.commit_nr || v->from.others.nr)
		return 0;
	for (size_t i = 0; !ret && i < v->tips.nr; i++)
		ret = walk_add_tip(&v->walk, &v->from, &v->tips.oids[i], true,
				   err);
	for (size_t i = 0; !ret && i < v->from.commit_nr; i++)
		ret = mark(v,
			   v->walk.history.commits[v->from.commits[i]].obj_pos,
			   err);
	for (size_t i = 0; !ret && i < v->from.others.nr; i++)
		ret = mark(v, v->from.others.items[i].obj_pos, err);
	return ret;
}

/*
 * Load the object of HEAD into v->head. The id of this object is
 * v->hints.oids[0] if v->has_head is set. Does nothing if v->has_head is not
 * set, or if v->head has a commit already. Returns 0 or a negative error code.
 */
static int sort_head(struct visible *v, struct error *err)
{
	if (v->head.commit_nr || !v->has_head)
		return 0;
	return walk_add_tip(&v->walk, &v->head, &v->hints.oids[0], true, err);
}

/* ---- the closure of the refs */

static bool is_found(struct visible *v, const struct oid *oid)
{
	uint32_t obj_pos, bit_pos;

	if (!objspace_find(&v->walk.space, oid->bytes, &obj_pos))
		return false;
	if (bitset_get(&v->found, obj_pos))
		return true;
	return v->has_answer && v->answer.by_bitmap &&
	       pack_bitmap_bit(v->pb, &v->walk, obj_pos, &bit_pos) &&
	       bitset_get(&v->answer.result.packed, bit_pos);
}

static int mark_items(struct visible *v, const struct walk_items *items,
		      struct error *err)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < items->nr; i++)
		ret = mark(v, items->items[i].obj_pos, err);
	return ret;
}

static int ask(struct visible *v, const struct walk_tips *tips,
	       bool commits_only)
{
	static const struct walk_tips none = WALK_TIPS_INIT;
	const struct pack_bitmap_ask ask = {
		.pb = v->pb,
		.no_bitmap = "there is none",
		.wants = tips,
		.haves = &none,
		.commits_only = commits_only,
	};
	int ret;

	if (v->has_answer)
		pack_bitmap_answer_release(&v->answer);
	ret = pack_bitmap_answer(&v->answer, &v->walk, &ask, NULL);
	v->has_answer = true;
	if (!ret && v->answer.by_bitmap)
		ret = mark_items(v, &v->answer.result.others, NULL);
	else if (!ret)
		ret = mark_items(v, &v->answer.walked, NULL);
	return ret;
}

/*
 * Mark more objects as visible. Call this function again if the marks do not
 * suffice.
 *
 * With a bitmap index, the first call marks all objects that HEAD reaches: most
 * requests are for such objects, and there may be many other refs. The second
 * call marks all objects that all refs reach.
 *
 * Without a bitmap index, the first call marks nothing. The second call walks
 * from all refs, and marks all objects, or only commits if `extent` is
 * EXTENT_COMMITS.
 *
 * Returns 0 (also if history is broken) or ERR_NOMEM.
 */
static int explore(struct visible *v, enum extent extent, struct error *err)
{
	int ret = 0;

	if (v->extent < EXTENT_HEAD) {
		v->extent = EXTENT_HEAD;
		if (v->use_bitmaps)
			ret = pack_bitmap_open(&v->pb, v->odb, NULL);
		if (ret != ERR_NOMEM && v->pb)
			ret = sort_head(v, err);
		if (ret != ERR_NOMEM && v->head.commit_nr && v->pb)
			ret = ask(v, &v->head, false);
		return ret == ERR_NOMEM ? error_nomem(err) : 0;
	}
	ret = sort_tips(v, err);
	if (!ret)
		ret = ask(v, &v->from, extent == EXTENT_COMMITS && !v->pb);
	if (ret == ERR_NOMEM)
		return error_nomem(err);
	/*
	 * After an error in the history, nothing more can be found. With a
	 * bitmap index, the objects of all types were found together. In both
	 * cases, nothing is left to explore.
	 */
	v->extent = ret || v->pb ? EXTENT_ALL : extent;
	return 0;
}

static int find_by_exploring(struct visible *v, const struct oid *oid,
			     enum extent extent, struct error *err)
{
	while (!is_found(v, oid)) {
		int ret;

		if (v->extent >= extent)
			return 0;
		ret = explore(v, extent, err);
		if (ret < 0)
			return ret;
	}
	return 1;
}

/* ---- commits */

/*
 * Returns 1 if one of the commits in `ahead` reaches the commit `oid`, 0 if
 * not, or a negative error code. The walk is in date order. If commits have
 * wrong dates, the function may return 0 wrongly.
 */
static int is_behind(struct visible *v, const struct walk_tips *ahead,
		     const struct oid *oid, struct error *err)
{
	struct revwalk_result outside = REVWALK_RESULT_INIT;
	struct walk_tips wanted = WALK_TIPS_INIT;
	struct revwalk_tips tips = {
		.haves = ahead->commits,
		.have_nr = ahead->commit_nr,
	};
	int ret;

	if (!ahead->commit_nr)
		return 0;
	ret = walk_add_tip(&v->walk, &wanted, oid, false, NULL);
	tips.wants = wanted.commits;
	tips.want_nr = wanted.commit_nr;
	if (!ret)
		ret = revwalk_run(&outside, &v->walk.history, &tips, false,
				  NULL);
	if (!ret && wanted.commit_nr)
		ret = !outside.nr;
	walk_tips_release(&wanted);
	revwalk_result_release(&outside);
	if (ret == ERR_NOMEM)
		return error_nomem(err);
	return ret > 0;
}

static int has_commit(struct visible *v, const struct oid *oid,
		      struct error *err)
{
	int ret;

	if (v->extent < EXTENT_COMMITS && v->walk_nr < WALKS_MAX) {
		v->walk_nr++;
		ret = sort_head(v, err);
		if (!ret)
			ret = is_behind(v, &v->head, oid, err);
		if (!ret)
			ret = sort_tips(v, err);
		if (!ret && !is_found(v, oid))
			ret = is_behind(v, &v->from, oid, err);
		if (ret)
			return ret;
	}
	return find_by_exploring(v, oid, EXTENT_COMMITS, err);
}

/* ---- trees, blobs and tags */

int visible_hint(struct visible *v, const struct oid *oid, struct error *err)
{
	int ret = v->hints_are_done || v->hints.nr == HINTS_MAX
			  ? 0
			  : oidset_add(&v->hints, oid, err);

	return ret < 0 ? ret : 0;
}

/*
 * Mark as visible the objects that another walk `w` has found. Packed objects
 * have the same obj_pos in `w` and in v->walk. Other objects are looked up in
 * v->walk by id. Returns 0 or ERR_NOMEM.
 */
static int mark_from(struct visible *v, struct walk *w,
		     const struct walk_items *items, struct error *err)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < items->nr; i++) {
		uint32_t obj_pos = items->items[i].obj_pos;
		struct oid oid;

		if (obj_pos >= w->space.packed_nr) {
			objspace_oid(&oid, &w->space, obj_pos);
			ret = objspace_add(&v->walk.space, oid.bytes, &obj_pos);
		}
		if (!ret)
			ret = mark(v, obj_pos, err);
	}
	return ret;
}

/*
 * Mark all objects in the trees of some commits. The walk treats these commits
 * as having no parents. Trees that cannot be read are ignored. Returns 0 or
 * ERR_NOMEM.
 */
static int mark_trees(struct visible *v, const struct oid *commits, size_t nr,
		      struct error *err)
{
	static const struct walk_tips none = WALK_TIPS_INIT;
	const struct walk_options options = {
		.objects = true,
		.set_only = true,
		.threads = 1,
	};
	struct walk_result result = WALK_RESULT_INIT;
	struct walk_tips tips = WALK_TIPS_INIT;
	struct walk w;
	int ret = walk_open(&w, v->odb, commits, nr, err);

	if (ret < 0)
		return ret;
	for (size_t i = 0; !ret && i < nr; i++)
		ret = walk_add_tip(&w, &tips, &commits[i], true, NULL);
	if (!ret)
		ret = walk_enumerate(&result, &w, &tips, &none, &options, NULL);
	if (!ret)
		ret = mark_from(v, &w, &result.objects, NULL);
	walk_result_release(&result);
	walk_tips_release(&tips);
	walk_close(&w);
	return ret == ERR_NOMEM ? error_nomem(err) : 0;
}

/*
 * Returns whether a hint can be used. A hint is the id of a commit that a
 * caller named. One of the client's visible refs must point to this commit.
 */
static bool is_good(struct visible *v, const struct oid *hint)
{
	enum object_type type;

	return oidset_has(&v->tips, hint) &&
	       !odb_info(v->walk.reader, hint, &type, NULL, NULL) &&
	       type == OBJ_COMMIT;
}

static int follow_hints(struct visible *v, struct error *err)
{
	struct oidset good;
	int ret = 0;

	if (v->hints_are_done)
		return 0;
	v->hints_are_done = true;
	oidset_init(&good, HINTS_MAX);
	for (size_t i = 0; ret >= 0 && i < v->hints.nr; i++)
		if (is_good(v, &v->hints.oids[i]))
			ret = oidset_add(&good, &v->hints.oids[i], err);
	if (ret >= 0)
		ret = mark_trees(v, good.oids, good.nr, err);
	oidset_release(&good);
	return ret;
}

static int has_other(struct visible *v, const struct oid *oid,
		     struct error *err)
{
	int ret = v->extent < EXTENT_ALL ? follow_hints(v, err) : 0;

	if (ret < 0 || is_found(v, oid))
		return ret < 0 ? ret : 1;
	return find_by_exploring(v, oid, EXTENT_ALL, err);
}

int visible_has(struct visible *v, const struct oid *oid, struct error *err)
{
	enum object_type type;
	int ret = load_tips(v, err);

	if (!ret)
		ret = open_walk(v, err);
	if (ret < 0)
		return ret;
	if (odb_info(v->walk.reader, oid, &type, NULL, NULL) < 0)
		return 0;
	if (oidset_has(&v->tips, oid))
		return 1;
	if (is_found(v, oid))
		return 1;
	return type == OBJ_COMMIT ? has_commit(v, oid, err)
				  : has_other(v, oid, err);
}
