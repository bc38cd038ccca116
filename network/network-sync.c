/* SPDX-License-Identifier: MIT */
/*
 * Copies into the store those objects of a member that the store lacks.
 * network-join.c calls these functions to sync members.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "network/network-sync.h"
#include "pack-bitmap.h"
#include "pack/chains.h"
#include "packs/pack-job.h"
#include "refs/refs.h"
#include "repo/shallow.h"
#include "sys/io.h"
#include "sys/tempfile.h"
#include "walk/ref-tips.h"

struct sync {
	const struct network *network;
	const struct repo *repo;
	const struct network_refs *refs;
	struct network_sync_report *report;
	struct pack_job_options options;
	struct pack_job job;
	/* true: ignore tips that do not exist */
	bool lenient;
	/* owned: "<store>/objects/pack" */
	char *dir;
	/*
	 * owned: beginning of the paths of new pack files:
	 * "<store>/objects/pack/pack"
	 */
	char *base;
	struct odb *odb;
	struct error *err;
};

int network_pack_options(struct newpack_options *options,
			 const struct network *network, struct error *err)
{
	int ret = newpack_options_load(options, network->store, err);

	/*
	 * Do not split the new pack of the store. A part would become visible
	 * by itself, although its objects need objects of other parts.
	 */
	options->max_pack_size = 0;
	options->replace = true;
	return ret;
}

static int open_odb(struct sync *s)
{
	odb_close(s->odb);
	s->odb = NULL;
	return odb_open_whole(&s->odb, s->repo, s->err);
}

static bool has_name(const struct odb *odb, const char *name)
{
	for (uint32_t i = 0; i < odb->pack_nr; i++)
		if (!odb->packs[i].pack->is_local &&
		    !strcmp(odb->packs[i].pack->name, name))
			return true;
	return false;
}

/*
 * Returns whether a pack belongs to the store and is not about to be removed.
 */
static bool is_lasting(const struct sync *s, const struct pack *pack)
{
	const struct old_packs *leaving = s->options.leaving;

	return !pack->is_local && !(leaving && old_packs_has(leaving, pack));
}

static bool store_has(const struct sync *s, const uint8_t *raw)
{
	const struct odb *odb = s->odb;
	uint32_t ignored;

	for (uint32_t i = 0; i < odb->pack_nr; i++)
		if (is_lasting(s, odb->packs[i].pack) &&
		    pack_idx_find(&odb->packs[i].pack->idx, raw, &ignored))
			return true;
	return false;
}

/* Returns how many objects of a pack the store lacks. */
static uint32_t count_new(const struct sync *s, const struct pack *pack)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < pack->idx.nr; i++)
		nr += !store_has(s, pack_idx_oid(&pack->idx, i));
	return nr;
}

/*
 * Gives a file of a member a second name in the store. Returns 0 if both names
 * are names of one file now, 1 if the store has another file with this name, or
 * a negative error code. Other programs name packs after their objects. So
 * packs of two members may have the same name and different bytes.
 */
static int link_file(const char *from, const char *to, struct error *err)
{
	struct sys_stat a, b;
	int ret = sys_link(from, to, err);

	if (ret)
		return ret;
	return sys_stat(&a, from, NULL) || sys_stat(&b, to, NULL) ||
	       !sys_is_same(&a, &b);
}

/* Links one file of a pack into the store. Returns the codes of link_file(). */
static int link_part(const struct sync *s, const struct pack *pack,
		     const char *ext, bool required)
{
	struct buf from = BUF_INIT, to = BUF_INIT;
	int ret = 0;

	if (buf_printf(&from, "%s.%s", pack->path, ext) < 0 ||
	    buf_printf(&to, "%s/%s.%s", s->dir, pack->name, ext) < 0)
		ret = error_nomem(s->err);
	if (!ret && (required || sys_exists(from.data)))
		ret = link_file(from.data, to.data, s->err);
	buf_release(&from);
	buf_release(&to);
	return ret;
}

/*
 * Writes the .idx of a pack into the store. The file is no hard link, because
 * its time must be the time at which the pack arrives in the store: a repack
 * removes old packs newest first. Returns 0 or a negative error code.
 */
static int copy_idx(const struct sync *s, const struct pack *pack)
{
	struct sys_tempfile tf = SYS_TEMPFILE_INIT;
	struct buf to = BUF_INIT;
	int ret = buf_printf(&to, "%s/%s.idx", s->dir, pack->name) < 0
			  ? error_nomem(s->err)
			  : sys_tempfile_create(&tf, s->dir, "tmp_idx_",
						0444 | s->network->store->share,
						s->err);

	if (!ret)
		ret = sys_tempfile_write(&tf, pack->idx.bytes, pack->idx.len,
					 s->err);
	if (!ret)
		ret = sys_tempfile_commit(&tf, to.data, SYS_FSYNC_FSYNC,
					  s->err);
	sys_tempfile_abort(&tf);
	buf_release(&to);
	return ret;
}

/*
 * Links the files of a pack into the store, and copies the .idx. The .idx comes
 * last, because it makes the pack visible. Returns 0 if the store has the pack
 * now, 1 if the pack cannot be linked, or a negative error code.
 */
static int link_pack(struct sync *s, const struct pack *pack, bool bitmap)
{
	int ret = link_part(s, pack, "pack", true);

	if (!ret)
		ret = link_part(s, pack, "rev", false);
	if (!ret && bitmap)
		ret = link_part(s, pack, "bitmap", false);
	if (!ret)
		ret = sys_sync_dir(s->dir, s->err);
	return ret ? ret : copy_idx(s, pack);
}

/*
 * Returns whether a pack of the member can be hard-linked into the store
 * unchanged.
 */
static bool is_linkable(const struct sync *s, const struct pack *pack)
{
	return pack->is_local && !pack->is_kept && !pack->is_cruft &&
	       !pack->is_promisor && !has_name(s->odb, pack->name);
}

static bool store_has_bitmap(const struct odb *odb)
{
	for (uint32_t i = 0; i < odb->pack_nr; i++) {
		struct pack_bitmap *pb = NULL;
		bool found = !odb->packs[i].pack->is_local &&
			     pack_bitmap_open_pack(&pb, odb, &odb->packs[i],
						   NULL) > 0;

		pack_bitmap_close(pb);
		if (found)
			return true;
	}
	return false;
}

/* A question about a pack: is it closed under reachability? */
struct closing {
	const struct pack *pack;
	struct walk walk;
	/* those tips of the member that the pack has */
	struct walk_tips tips;
	struct error *err;
};

static int add_packed_tip(void *ctx, const struct oid *oid)
{
	struct closing *c = ctx;
	uint32_t ignored;

	if (!pack_idx_find(&c->pack->idx, oid->bytes, &ignored))
		return 0;
	return walk_add_tip(&c->walk, &c->tips, oid, true, c->err);
}

/*
 * Asks the bitmap index what the tips reach. Returns 1 if these objects are
 * exactly the objects of the pack, 0 if not or if the index is damaged, or
 * ERR_NOMEM.
 */
static int reaches_exactly(struct closing *c, const struct pack_bitmap *pb)
{
	struct pack_bitmap_result result = PACK_BITMAP_RESULT_INIT;
	struct walk_tips none = WALK_TIPS_INIT;
	int ret = pack_bitmap_prove(pb, NULL);

	if (!ret)
		ret = pack_bitmap_query(&result, pb, &c->walk, &c->tips, &none,
					NULL, NULL);
	if (!ret)
		ret = !result.others.nr &&
		      bitset_count(&result.packed) == c->pack->idx.nr;
	else
		ret = ret == ERR_NOMEM ? error_nomem(c->err) : 0;
	pack_bitmap_result_release(&result);
	return ret;
}

/*
 * Checks that a pack of the member is closed: that it has all objects that its
 * objects reach. Returns 1 if the pack is closed, 0 if not or if that is not
 * known, or a negative error code.
 *
 * A bitmap index alone does not prove that the pack is closed. Stock Git also
 * puts unreachable objects into packs with a bitmap index (git repack -a -k
 * -b). The bitmaps do not cover these objects, and objects that they refer to
 * may be missing. So the member's tips must reach each object of the pack.
 */
static int is_closed(const struct sync *s, const struct pack_bitmap *pb,
		     const struct pack *pack)
{
	struct closing c = {
		.pack = pack,
		.tips = WALK_TIPS_INIT,
		.err = s->err,
	};
	int ret = walk_open(&c.walk, s->odb, NULL, 0, s->err);

	if (ret < 0)
		return ret;
	for (size_t i = 0; i < s->refs->nr && !ret; i++)
		ret = add_packed_tip(&c, &s->refs->refs[i].oid);
	if (!ret)
		ret = ref_tips_each_extra(s->repo, add_packed_tip, &c, s->err);
	if (!ret)
		ret = reaches_exactly(&c, pb);
	walk_tips_release(&c.tips);
	walk_close(&c.walk);
	return ret;
}

/*
 * Hard-links a member's pack that has a bitmap index into the store, if the
 * pack is closed (is_closed()) and the store lacks most of its objects. With
 * the bitmap index, few objects are read for this check. Returns 1 if the pack
 * was linked, 0 if not, or a negative error code.
 */
static int link_bitmapped(struct sync *s, const struct odb_pack *pack)
{
	struct pack_bitmap *pb = NULL;
	uint32_t nr;
	int ret = 0;

	if (!is_linkable(s, pack->pack) ||
	    pack_bitmap_open_pack(&pb, s->odb, pack, NULL) <= 0)
		return 0;
	nr = count_new(s, pack->pack);
	if (nr >= pack->pack->idx.nr - pack->pack->idx.nr / 8)
		ret = is_closed(s, pb, pack->pack);
	pack_bitmap_close(pb);
	if (ret <= 0)
		return ret;
	ret = link_pack(s, pack->pack, !store_has_bitmap(s->odb));
	if (!ret)
		s->report->linked_nr += nr;
	return ret < 0 ? ret : !ret;
}

static int link_all_bitmapped(struct sync *s)
{
	int linked = 0;

	for (uint32_t i = 0; i < s->odb->pack_nr; i++) {
		int ret = link_bitmapped(s, &s->odb->packs[i]);

		if (ret < 0)
			return ret;
		linked |= ret;
	}
	return linked ? open_odb(s) : 0;
}

static int add_tip(void *ctx, const struct oid *oid)
{
	struct sync *s = ctx;
	struct walk *w = &s->job.walk;
	uint32_t obj_pos;

	if (objspace_add(&w->space, oid->bytes, &obj_pos) < 0)
		return error_nomem(s->err);
	if (!pack_job_wants(&s->job, obj_pos))
		return 0;
	return walk_add_tip(w, &s->job.wants, oid, s->lenient, s->err);
}

/*
 * Adds to the walk's tips all objects that the store lacks and that the
 * member's references or extra roots (walk/ref-tips.h) name. Returns 0 or a
 * negative error code.
 */
static int add_tips(struct sync *s)
{
	int ret = 0;

	s->lenient = false;
	for (size_t i = 0; i < s->refs->nr && !ret; i++)
		ret = add_tip(s, &s->refs->refs[i].oid);
	/*
	 * Ignore missing objects in reflogs: old entries may name objects that
	 * were pruned.
	 */
	s->lenient = true;
	if (!ret)
		ret = ref_tips_each_extra(s->repo, add_tip, s, s->err);
	return ret;
}

/* Commits that were found and not visited yet. */
struct stack {
	uint32_t *commits; /* owned: commit_nr */
	size_t nr, alloc;
	/*
	 * owned array, indexed by commit_nr: whether the commit was put on the
	 * stack
	 */
	uint8_t *seen;
	size_t seen_alloc;
};

static int push(struct stack *stack, uint32_t commit)
{
	size_t old = stack->seen_alloc;

	if (mem_grow(&stack->seen, &stack->seen_alloc, (size_t)commit + 1, 1) <
		    0 ||
	    mem_grow(&stack->commits, &stack->alloc, stack->nr + 1,
		     sizeof(*stack->commits)) < 0)
		return ERR_NOMEM;
	memset(stack->seen + old, 0, stack->seen_alloc - old);
	if (stack->seen[commit])
		return 0;
	stack->seen[commit] = 1;
	stack->commits[stack->nr++] = commit;
	return 0;
}

/*
 * Visits a commit of the member. If the store has the commit, the commit is on
 * the boundary. Otherwise the commit's parents are visited later. Returns 0 or
 * a negative error code.
 */
static int visit_commit(struct sync *s, struct stack *stack, uint32_t commit)
{
	struct history *h = &s->job.walk.history;
	uint32_t obj_pos = h->commits[commit].obj_pos;
	struct oid oid;
	int ret;

	if (!pack_job_wants(&s->job, obj_pos)) {
		objspace_oid(&oid, &s->job.walk.space, obj_pos);
		return walk_add_tip(&s->job.walk, &s->job.haves, &oid, true,
				    s->err);
	}
	ret = history_parse(h, commit, s->err);
	for (uint32_t i = 0; !ret && i < h->commits[commit].parent_nr; i++)
		if (push(stack, history_parents(h, commit)[i]) < 0)
			ret = error_nomem(s->err);
	return ret;
}

/*
 * Finds the commits of the store that are parents of new commits. The store is
 * closed under reachability, so it has all that these commits reach. Returns 0
 * or a negative error code.
 */
static int add_boundary(struct sync *s)
{
	struct stack stack = {0};
	int ret = 0;

	for (size_t i = 0; i < s->job.wants.commit_nr && !ret; i++)
		if (push(&stack, s->job.wants.commits[i]) < 0)
			ret = error_nomem(s->err);
	while (!ret && stack.nr)
		ret = visit_commit(s, &stack, stack.commits[--stack.nr]);
	free(stack.commits);
	free(stack.seen);
	return ret;
}

/*
 * Returns whether the objects of a pack that the store lacks are exactly the
 * objects to copy.
 */
static bool is_same(const struct sync *s, const struct pack *pack)
{
	const struct packing_items *items = &s->job.items;
	uint32_t ignored;

	if (pack->idx.nr < items->nr || count_new(s, pack) != items->nr)
		return false;
	for (size_t i = 0; i < items->nr; i++) {
		struct oid oid;

		objspace_oid(&oid, items->space, items->items[i].obj_pos);
		if (!pack_idx_find(&pack->idx, oid.bytes, &ignored))
			return false;
	}
	return true;
}

/*
 * Hard-links into the store a pack whose new objects are exactly the objects to
 * copy. The pack may also have a few objects that the store has, such as delta
 * bases that completed a thin pack. Returns 1 if a pack was linked, 0 if not,
 * or a negative error code.
 */
static int link_same(struct sync *s)
{
	uint32_t nr = (uint32_t)s->job.items.nr;

	for (uint32_t i = 0; i < s->odb->pack_nr; i++) {
		const struct pack *pack = s->odb->packs[i].pack;
		int ret;

		if (!is_linkable(s, pack) || pack->idx.nr / 8 > nr ||
		    pack->idx.nr - pack->idx.nr / 8 > nr || !is_same(s, pack))
			continue;
		/*
		 * Members remove objects that the store has. So the store must
		 * not get an object that nobody can read.
		 */
		ret = pack_chains_end(pack, s->err);
		if (ret > 0)
			ret = link_pack(s, pack, false);
		else if (!ret)
			continue;
		if (!ret)
			s->report->linked_nr += nr;
		return ret < 0 ? ret : !ret;
	}
	return 0;
}

/*
 * Puts the objects that the store lacks into the job's list of objects to pack.
 * Returns 0 or a negative error code.
 */
static int find_new(struct sync *s)
{
	int ret = add_tips(s);

	if (ret < 0 || !(s->job.wants.commit_nr || s->job.wants.others.nr))
		return ret;
	ret = add_boundary(s);
	return ret < 0 ? ret : pack_job_enumerate(&s->job, s->err);
}

static int bring(struct sync *s)
{
	int ret = find_new(s);

	if (ret < 0 || !s->job.items.nr)
		return ret;
	ret = link_same(s);
	if (ret)
		return ret < 0 ? ret : 0;
	ret = pack_job_run(&s->job, s->err);
	if (!ret)
		s->report->copied_nr += (uint32_t)s->job.items.nr;
	return ret;
}

static int stop(void *ctx, const struct oid *oid, const char *path)
{
	return 1;
}

/*
 * Returns 1 if the repository has objects of its own, 0 if not, or a negative
 * error code.
 */
static int has_objects(struct sync *s)
{
	for (uint32_t i = 0; i < s->odb->pack_nr; i++)
		if (s->odb->packs[i].pack->is_local)
			return 1;
	return odb_each_loose(s->odb, true, stop, NULL, s->err);
}

static int stop_at(void *ctx, const struct oid *oid)
{
	return 1;
}

int network_sync_check(const struct repo *repo, struct error *err)
{
	int ret;

	if (repo->has_promisor)
		return error_set(err, ERR_INVALID,
				 "'%s' is a partial clone: the store must have "
				 "all objects that members reach",
				 repo->git_dir);
	ret = repo_shallow_each(repo, stop_at, NULL, err);
	return ret > 0 ? error_set(err, ERR_INVALID,
				   "'%s' is shallow: the store must have all "
				   "objects that members reach",
				   repo->git_dir)
		       : ret;
}

/*
 * Opens the object database of the member, after a check that the member is not
 * shallow or partial. The caller has read the references before. If a shallow
 * push has made one of these references, the push had already written its
 * shallow boundary. So the check finds this boundary.
 */
static int open_all(struct sync *s, const struct newpack_options *options)
{
	int ret = network_sync_check(s->repo, s->err);

	if (ret < 0)
		return ret;
	s->dir = repo_object_path(s->network->store, "pack");
	s->base = repo_object_path(s->network->store, "pack/pack");
	if (!s->dir || !s->base)
		return error_nomem(s->err);
	s->options = (struct pack_job_options){
		.newpack = options,
		.dir = s->dir,
		.base = s->base,
		.local = true,
	};
	return open_odb(s);
}

static void sync_release(struct sync *s)
{
	pack_job_close(&s->job);
	odb_close(s->odb);
	free(s->dir);
	free(s->base);
}

int network_sync_objects(const struct network *network, const struct repo *repo,
			 const struct network_refs *refs,
			 const struct newpack_options *options,
			 struct network_sync_report *report, struct error *err)
{
	struct sync s = {
		.network = network,
		.repo = repo,
		.refs = refs,
		.report = report,
		.err = err,
	};
	int ret = open_all(&s, options);

	if (!ret)
		ret = has_objects(&s);
	if (ret > 0)
		ret = link_all_bitmapped(&s);
	else
		goto out;
	if (!ret)
		ret = pack_job_open(&s.job, s.odb, NULL, &s.options, err);
	if (!ret)
		ret = bring(&s);
out:
	sync_release(&s);
	return ret;
}

int network_sync_rescue(const struct network *network, const struct repo *repo,
			const struct network_refs *refs,
			const struct old_packs *leaving,
			const struct newpack_options *options,
			struct error *err)
{
	struct network_sync_report report = {0};
	struct sync s = {
		.network = network,
		.repo = repo,
		.refs = refs,
		.report = &report,
		.err = err,
	};
	int ret = open_all(&s, options);

	s.options.leaving = leaving;
	if (!ret)
		ret = pack_job_open(&s.job, s.odb, NULL, &s.options, err);
	if (!ret)
		ret = bring(&s);
	sync_release(&s);
	return ret;
}

int network_sync_count(uint32_t *nr, const struct network *network,
		       const struct repo *repo, const struct network_refs *refs,
		       const struct newpack_options *options, struct error *err)
{
	struct sync s = {
		.network = network,
		.repo = repo,
		.refs = refs,
		.err = err,
	};
	struct packing_items *items = &s.job.items;
	int ret = open_all(&s, options);

	if (!ret)
		ret = pack_job_open(&s.job, s.odb, NULL, &s.options, err);
	if (!ret)
		ret = find_new(&s);
	for (size_t i = 0; i < items->nr && !ret; i++)
		ret = objspace_info(&s.job.walk.space, s.job.walk.reader,
				    items->items[i].obj_pos, NULL, NULL, err);
	*nr = ret ? 0 : (uint32_t)items->nr;
	sync_release(&s);
	return ret;
}
