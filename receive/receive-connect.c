/* SPDX-License-Identifier: MIT */
/* Connectivity of what is pushed. */
#include <string.h>

#include "base/mem.h"
#include "odb/known-objects.h"
#include "receive/receive-connect.h"
#include "walk/walk.h"

/* One check. Failures to find something go to `why`, others to `err`. */
struct check {
	struct receive_connect *c;
	struct walk w;
	bool walk_is_open;
	struct walk_tips wants, haves;
	struct revwalk_result push; /* its commits; what they lean on */
	struct oidset frontier;     /* existing commits that new ones lean on */
	struct oidset doubts; /* those of them not known to be reachable */
	struct oidset ends;   /* commits of the push where its history is cut */
	struct error *why, *err;
};

/*
 * What a failed look at an object means. The bytes of the push are the
 * pusher's: broken ones are its fault too.
 */
static int judge(struct check *k, int ret)
{
	if (ret == ERR_MISSING || ret == ERR_CORRUPT)
		return 0;
	if (k->err)
		*k->err = *k->why;
	return ret;
}

int receive_connect_init(struct receive_connect *c, struct receive *r,
			 const struct receive_objects *objects,
			 struct error *err)
{
	*c = (struct receive_connect){.r = r, .objects = objects};
	return odb_open(&c->odb, quarantine_repo(&r->quarantine, r->repo), NULL,
			err);
}

void receive_connect_release(struct receive_connect *c)
{
	odb_close(c->odb);
	c->odb = NULL;
}

static bool came(const struct check *k, const struct oid *oid)
{
	return receive_objects_has(k->c->objects, k->c->odb->algo, oid);
}

static void commit_oid(struct oid *oid, struct check *k, uint32_t commit_nr)
{
	objspace_oid(oid, &k->w.space, k->w.history.commits[commit_nr].obj_pos);
}

/* ---- the frontier */

static int append(uint32_t **commits, size_t *nr, size_t *alloc,
		  uint32_t commit_nr, struct error *err)
{
	if (mem_grow(commits, alloc, *nr + 1, sizeof(**commits)) < 0)
		return error_nomem(err);
	(*commits)[(*nr)++] = commit_nr;
	return 0;
}

/* `seen`: commits that are in `push`. */
static int visit(struct check *k, struct oidset *seen, uint32_t commit_nr)
{
	struct revwalk_result *push = &k->push;
	struct oid oid;
	int ret;

	commit_oid(&oid, k, commit_nr);
	if (came(k, &oid)) {
		ret = oidset_add(seen, &oid, k->why);
		return ret <= 0 ? ret
				: append(&push->commits, &push->nr,
					 &push->alloc, commit_nr, k->why);
	}
	ret = oidset_add(&k->frontier, &oid, k->why);
	return ret <= 0 ? ret
			: append(&push->boundary, &push->boundary_nr,
				 &push->boundary_alloc, commit_nr, k->why);
}

static int visit_parents(struct check *k, struct oidset *seen,
			 uint32_t commit_nr)
{
	struct history *h = &k->w.history;
	int ret = history_parse(h, commit_nr, k->why);

	for (uint32_t i = 0; !ret && i < h->commits[commit_nr].parent_nr; i++)
		ret = visit(k, seen, history_parents(h, commit_nr)[i]);
	return ret;
}

/*
 * Tips that came are where to begin. Those that did not are of the frontier,
 * but of the boundary only where something that came leans on them.
 */
static int visit_tips(struct check *k, struct oidset *seen, bool that_came)
{
	int ret = 0;

	for (size_t i = 0; ret >= 0 && i < k->wants.commit_nr; i++) {
		struct oid oid;

		commit_oid(&oid, k, k->wants.commits[i]);
		if (came(k, &oid) != that_came)
			continue;
		ret = that_came ? visit(k, seen, k->wants.commits[i])
				: oidset_add(&k->frontier, &oid, k->why);
	}
	return ret < 0 ? ret : 0;
}

/* Find the commits that were there before. O(commits of the push). */
static int find_frontier(struct check *k)
{
	struct oidset seen;
	int ret;

	oidset_init(&seen, OIDSET_MAX);
	ret = visit_tips(k, &seen, true);
	for (size_t i = 0; !ret && i < k->push.nr; i++)
		ret = visit_parents(k, &seen, k->push.commits[i]);
	if (!ret)
		ret = visit_tips(k, &seen, false);
	oidset_release(&seen);
	return ret;
}

/* ---- is it reachable? */

static int add_have(struct check *k, const struct oid *oid)
{
	return walk_add_tip(&k->w, &k->haves, oid, true, k->why);
}

/* The value of a ref, by its full name; false when it has none. */
static bool ref_value(struct oid *oid, struct check *k, const char *name)
{
	struct ref ref;

	if (!name || refs_lookup(k->c->r->refs.refs, name, &ref, NULL) <= 0)
		return false;
	*oid = ref.oid;
	return true;
}

/* Old values that refs really have, and HEAD, are haves. */
static int add_near_haves(struct check *k)
{
	struct receive *r = k->c->r;
	struct oid oid;
	int ret = 0;

	if (ref_value(&oid, k, refview_full_name(&r->refs, "HEAD")))
		ret = add_have(k, &oid);
	for (size_t i = 0; !ret && i < r->request.nr; i++) {
		const struct receive_command *cmd = &r->request.commands[i];
		const char *name;

		if (oid_is_zero(&cmd->old_oid) || !refs_name_is_valid(cmd->ref))
			continue;
		name = refview_full_name(&r->refs, cmd->ref);
		if (ref_value(&oid, k, name) && oid_equal(&oid, &cmd->old_oid))
			ret = add_have(k, &oid);
	}
	return ret;
}

/* A doubt is a commit of the frontier; note what is not one any more. */
struct sieve {
	struct check *k;
	struct oidset known;
};

static int note_tip(void *ctx, const struct ref *ref)
{
	struct sieve *s = ctx;
	const struct oid *oid = ref->has_peeled && ref->is_tag ? &ref->peeled
							       : &ref->oid;

	if (!oidset_has(&s->k->doubts, oid))
		return 0;
	return oidset_add(&s->known, oid, s->k->why) < 0 ? ERR_NOMEM : 0;
}

/* Leave those doubts that are not in `known`. */
static int keep_doubts(struct check *k, const struct oidset *known)
{
	struct oidset left;
	int ret = 0;

	oidset_init(&left, OIDSET_MAX);
	for (size_t i = 0; ret >= 0 && i < k->doubts.nr; i++)
		if (!oidset_has(known, &k->doubts.oids[i]))
			ret = oidset_add(&left, &k->doubts.oids[i], k->why);
	oidset_release(&k->doubts);
	k->doubts = left;
	return ret < 0 ? ret : 0;
}

/* Clear doubts about commits that haves name. */
static int clear_by_haves(struct check *k)
{
	struct oidset known;
	int ret = 0;

	oidset_init(&known, OIDSET_MAX);
	for (size_t i = 0; ret >= 0 && i < k->haves.commit_nr; i++) {
		struct oid oid;

		commit_oid(&oid, k, k->haves.commits[i]);
		ret = oidset_add(&known, &oid, k->why);
	}
	if (ret >= 0)
		ret = keep_doubts(k, &known);
	oidset_release(&known);
	return ret;
}

/* Clear doubts about commits that some ref names; they become haves. */
static int clear_by_names(struct check *k)
{
	struct sieve s = {.k = k};
	int ret;

	oidset_init(&s.known, OIDSET_MAX);
	ret = refs_each(k->c->r->refs.refs, "", note_tip, &s, NULL, k->why);
	for (size_t i = 0; !ret && i < s.known.nr; i++)
		ret = add_have(k, &s.known.oids[i]);
	if (!ret)
		ret = keep_doubts(k, &s.known);
	oidset_release(&s.known);
	return ret;
}

/* Clear doubts about commits that haves reach. */
static int clear_by_walk(struct check *k)
{
	struct revwalk_result outside = REVWALK_RESULT_INIT;
	struct walk_tips doubted = WALK_TIPS_INIT;
	struct revwalk_tips tips = {
		.haves = k->haves.commits,
		.have_nr = k->haves.commit_nr,
	};
	struct oidset left;
	int ret = 0;

	oidset_init(&left, OIDSET_MAX);
	for (size_t i = 0; !ret && i < k->doubts.nr; i++)
		ret = walk_add_tip(&k->w, &doubted, &k->doubts.oids[i], false,
				   k->why);
	tips.wants = doubted.commits;
	tips.want_nr = doubted.commit_nr;
	if (!ret)
		ret = revwalk_run(&outside, &k->w.history, &tips, false,
				  k->why);
	for (size_t i = 0; ret >= 0 && i < outside.nr; i++) {
		struct oid oid;

		commit_oid(&oid, k, outside.commits[i]);
		if (oidset_has(&k->doubts, &oid))
			ret = oidset_add(&left, &oid, k->why);
	}
	if (ret >= 0) {
		oidset_release(&k->doubts);
		k->doubts = left;
	} else {
		oidset_release(&left);
	}
	walk_tips_release(&doubted);
	revwalk_result_release(&outside);
	return ret < 0 ? ret : 0;
}

static int add_ref_have(void *ctx, const struct ref *ref)
{
	struct check *k = ctx;

	return add_have(k, ref->has_peeled && ref->is_tag ? &ref->peeled
							  : &ref->oid);
}

static int add_all_haves(struct check *k)
{
	return refs_each(k->c->r->refs.refs, "", add_ref_have, k, NULL, k->why);
}

/* What is no doubt any more is a have. */
static int trust_the_rest(struct check *k)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < k->frontier.nr; i++)
		if (!oidset_has(&k->doubts, &k->frontier.oids[i]))
			ret = add_have(k, &k->frontier.oids[i]);
	return ret;
}

/* Whether an object came, or the pusher could have fetched it. */
static int is_there(struct check *k, const struct oid *oid)
{
	return came(k, oid) ? 1 : receive_sees(k->c->r, oid, k->why);
}

/* One word for all that the pusher may not know of, there or not. */
static int refuse(struct check *k)
{
	return error_set(k->why, ERR_MISSING, "objects are missing");
}

/* Where pushers see not all, nothing else will do. */
static int judge_by_sight(struct check *k)
{
	int ret = 1;

	for (size_t i = 0; ret > 0 && i < k->frontier.nr; i++) {
		ret = is_there(k, &k->frontier.oids[i]);
		if (ret > 0)
			ret = add_have(k, &k->frontier.oids[i]) ? ERR_NOMEM : 1;
	}
	return ret > 0 ? 0 : ret ? ret : refuse(k);
}

static int judge_frontier(struct check *k)
{
	int ret = 0;

	if (k->c->r->is_limit)
		return judge_by_sight(k);
	for (size_t i = 0; ret >= 0 && i < k->frontier.nr; i++)
		ret = oidset_add(&k->doubts, &k->frontier.oids[i], k->why);
	if (ret >= 0)
		ret = add_near_haves(k);
	if (!ret)
		ret = clear_by_haves(k);
	if (!ret && k->doubts.nr)
		ret = clear_by_names(k);
	if (!ret && k->doubts.nr)
		ret = clear_by_walk(k);
	if (!ret && k->doubts.nr)
		ret = add_all_haves(k);
	if (!ret && k->doubts.nr)
		ret = clear_by_walk(k);
	return ret < 0 ? ret : trust_the_rest(k);
}

/* ---- what is new has to be complete */

/*
 * Commits may have been taken from the commit-graph, which does not know
 * whether they still exist.
 */
static int check_commits(struct check *k, const struct revwalk_result *revs)
{
	char hex[OID_MAX_HEX_LEN + 1];

	for (size_t i = 0; i < revs->nr; i++) {
		struct oid oid;

		commit_oid(&oid, k, revs->commits[i]);
		if (!odb_reader_has(k->w.reader, &oid))
			return error_set(
				k->why, ERR_MISSING,
				"missing commit object '%s'",
				oid_to_hex(hex, &oid, k->c->odb->algo));
	}
	return 0;
}

/* All that was found, tags and trees and blobs, has to be in sight. */
static int check_sight(struct check *k, const struct walk_items *objects)
{
	int ret = 1;

	for (size_t i = 0; ret > 0 && i < objects->nr; i++) {
		struct oid oid;

		objspace_oid(&oid, &k->w.space, objects->items[i].obj_pos);
		ret = is_there(k, &oid);
	}
	return ret > 0 ? 0 : ret ? ret : refuse(k);
}

/*
 * What the new tips need that refs do not reach. If these reach the whole
 * frontier it is what came: a walk by date could go through all of history, for
 * a push whose dates are old.
 */
static int find_new(struct walk_result *result, struct check *k)
{
	struct walk_options options = {
		.objects = true,
		/* What came from elsewhere in the tree need not be asked for */
		.exclude_boundary = k->c->r->is_limit,
		.threads = 1,
	};

	if (k->doubts.nr)
		return walk_enumerate(result, &k->w, &k->wants, &k->haves,
				      &options, k->why);
	result->revs = k->push;
	k->push = (struct revwalk_result)REVWALK_RESULT_INIT;
	return walk_enumerate_commits(result, &k->w, &k->wants, &k->haves,
				      &options, k->why);
}

static int check_objects(struct check *k, struct oidset *cut)
{
	struct walk_result result = WALK_RESULT_INIT;
	int ret = find_new(&result, k);

	if (!ret)
		ret = check_commits(k, &result.revs);
	if (!ret && k->c->r->is_limit)
		ret = check_sight(k, &result.objects);
	for (size_t i = 0; cut && ret >= 0 && i < result.revs.nr; i++) {
		struct oid oid;

		commit_oid(&oid, k, result.revs.commits[i]);
		if (oidset_has(&k->ends, &oid))
			ret = oidset_add(cut, &oid, k->why);
	}
	walk_result_release(&result);
	return ret < 0 ? ret : 0;
}

/* Whether all parents of a commit are there. */
static int has_parents(struct check *k, const struct oid *oid)
{
	const struct history *h = &k->w.history;
	struct walk_tips tip = WALK_TIPS_INIT;
	int ret = walk_add_tip(&k->w, &tip, oid, false, k->why);
	bool has = true;

	for (uint32_t i = 0; !ret && has && tip.commit_nr &&
			     i < h->commits[tip.commits[0]].parent_nr;
	     i++) {
		struct oid parent;

		commit_oid(&parent, k, history_parents(h, tip.commits[0])[i]);
		has = odb_reader_has(k->w.reader, &parent);
	}
	walk_tips_release(&tip);
	return ret < 0 ? ret : has;
}

/*
 * Whether a commit that came was there before, with a history that refs may
 * need, and that would be lost to them.
 */
static int had_history(struct check *k, const struct oid *oid)
{
	struct pack_indexer_hooks before;
	int ret;

	if (k->c->r->is_limit)
		return receive_sees(k->c->r, oid, k->why);
	before = known_objects_hooks(k->c->objects->known);
	ret = before.has(before.ctx, 0, oid, k->why);
	return ret <= 0 ? ret : has_parents(k, oid);
}

/* Which of the commits that the pusher says are shallow end its history. */
static int find_ends(struct check *k)
{
	const struct oidset *shallow = &k->c->r->request.shallow;
	int ret = 0;

	for (size_t i = 0; ret >= 0 && i < shallow->nr; i++) {
		const struct oid *oid = &shallow->oids[i];

		if (!came(k, oid))
			continue;
		ret = had_history(k, oid);
		if (!ret)
			ret = oidset_add(&k->ends, oid, k->why);
	}
	return ret < 0 ? ret : 0;
}

static int open_walk(struct check *k)
{
	int ret = walk_open(&k->w, k->c->odb, k->ends.oids, k->ends.nr, k->why);

	k->walk_is_open = !ret;
	return ret;
}

static void close_walk(struct check *k)
{
	if (k->walk_is_open)
		walk_close(&k->w);
	k->walk_is_open = false;
}

/* With a cut: commits where it is have no parents. */
static int open_cut_walk(struct check *k)
{
	int ret = open_walk(k);

	if (!ret)
		ret = find_ends(k);
	if (ret < 0 || !k->ends.nr)
		return ret;
	close_walk(k);
	return open_walk(k);
}

static int check_tips(struct check *k, const struct oid *tips, size_t nr)
{
	int ret = 1;

	for (size_t i = 0; ret > 0 && i < nr; i++)
		ret = is_there(k, &tips[i]);
	return ret > 0 ? 0 : ret ? ret : refuse(k);
}

int receive_connect_check(struct receive_connect *c, const struct oid *tips,
			  size_t nr, struct oidset *cut, struct error *why,
			  struct error *err)
{
	struct check k = {
		.c = c,
		.wants = WALK_TIPS_INIT,
		.haves = WALK_TIPS_INIT,
		.push = REVWALK_RESULT_INIT,
		.why = why,
		.err = err,
	};
	int ret;

	oidset_init(&k.frontier, OIDSET_MAX);
	oidset_init(&k.doubts, OIDSET_MAX);
	oidset_init(&k.ends, OIDSET_MAX);
	ret = cut ? open_cut_walk(&k) : open_walk(&k);
	if (!ret && c->r->is_limit)
		ret = check_tips(&k, tips, nr);
	for (size_t i = 0; !ret && i < nr; i++)
		ret = walk_add_tip(&k.w, &k.wants, &tips[i], false, why);
	if (!ret)
		ret = find_frontier(&k);
	if (!ret)
		ret = judge_frontier(&k);
	if (!ret)
		ret = check_objects(&k, cut);
	walk_tips_release(&k.wants);
	walk_tips_release(&k.haves);
	revwalk_result_release(&k.push);
	oidset_release(&k.frontier);
	oidset_release(&k.doubts);
	oidset_release(&k.ends);
	close_walk(&k);
	ret = ret ? judge(&k, ret) : 1;
	if (!ret && c->r->is_limit)
		refuse(&k);
	return ret;
}
