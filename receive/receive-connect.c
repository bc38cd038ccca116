/* SPDX-License-Identifier: MIT */
/* Checks that the new values of refs reach no missing object. */
#include <string.h>

#include "base/mem.h"
#include "odb/known-objects.h"
#include "receive/receive-check.h"
#include "walk/walk.h"

/*
 * One connectivity check. All errors are written to `why`. If an error is not
 * about a missing or corrupt object, classify() copies the error to `err`.
 */
struct check {
	struct receive_connect *c;
	/* borrowed: the commands that are checked */
	const struct receive_command *commands;
	size_t nr;
	struct walk w;
	bool walk_is_open;
	struct walk_tips wants, haves;
	/*
	 * The commits of the push. The field `boundary` lists their parents
	 * that existed before the push.
	 */
	struct revwalk_result push;
	/*
	 * commits that existed before the push, and at which the walk of the
	 * pushed commits stopped
	 */
	struct oidset frontier;
	/* commits of `frontier` not yet known to be reachable from a ref */
	struct oidset undecided;
	/* commits of the push that are on the shallow boundary of the client */
	struct oidset ends;
	struct error *why, *err;
};

/*
 * Returns 0 if an error code is about a missing or corrupt object. The client
 * may have failed to send this object, so the push is refused. Returns any
 * other error code unchanged, and copies the error to k->err.
 */
static int classify(struct check *k, int ret)
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

/* Check that an object exists, now that all objects have arrived. */
static int check_exists(struct check *k, const struct oid *oid)
{
	char hex[OID_MAX_HEX_LEN + 1];

	if (odb_reader_has(k->w.reader, oid))
		return 0;
	return error_set(k->why, ERR_MISSING, "missing commit object '%s'",
			 oid_to_hex(hex, oid, k->c->odb->algo));
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

/*
 * Visit a commit. If the push has sent the commit, append it to the commits of
 * k->push. If the repository had it before, add it to the frontier and to
 * push.boundary. `seen`: the commits of the push that were visited.
 */
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
 * A tip is a commit that the new value of a ref names. Either the push has sent
 * this commit, or the repository had it before.
 *
 * If `is_new` is true, visits the tips that the push has sent. If `is_new` is
 * false, adds the other tips to the frontier. The frontier has the older
 * commits that the check must prove to be reachable from a ref. The tips are
 * not added to push.boundary, because this list has only those commits of the
 * frontier that are parents of commits of the push.
 */
static int visit_tips(struct check *k, struct oidset *seen, bool is_new)
{
	int ret = 0;

	for (size_t i = 0; ret >= 0 && i < k->wants.commit_nr; i++) {
		struct oid oid;

		commit_oid(&oid, k, k->wants.commits[i]);
		if (came(k, &oid) != is_new)
			continue;
		ret = is_new ? visit(k, seen, k->wants.commits[i])
			     : oidset_add(&k->frontier, &oid, k->why);
	}
	return ret < 0 ? ret : 0;
}

/*
 * Find the frontier: the commits at which the push meets the existing history.
 * Each commit of the frontier must exist as an object. The commit-graph may
 * still have commits that were pruned. Cost: O(commits of the push).
 */
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
	for (size_t i = 0; !ret && i < k->frontier.nr; i++)
		ret = check_exists(k, &k->frontier.oids[i]);
	oidset_release(&seen);
	return ret;
}

/* ---- tests whether refs reach the frontier */

static int add_have(struct check *k, const struct oid *oid)
{
	return walk_add_tip(&k->w, &k->haves, oid, true, k->why);
}

/*
 * Set *oid to the value of the ref with a full name. Returns false if the ref
 * does not exist.
 */
static bool ref_value(struct oid *oid, struct check *k, const char *name)
{
	struct ref ref;

	if (!name || refs_lookup(k->c->r->refs.refs, name, &ref, NULL) <= 0)
		return false;
	*oid = ref.oid;
	return true;
}

/*
 * Add HEAD and the old values of the commands to the haves of the walk (the
 * commits that refs reach). An old value is added only if the ref really has
 * that value, because the client may send any id.
 */
static int add_near_haves(struct check *k)
{
	struct receive *r = k->c->r;
	struct oid oid;
	int ret = 0;

	if (ref_value(&oid, k, refview_full_name(&r->refs, "HEAD")))
		ret = add_have(k, &oid);
	for (size_t i = 0; !ret && i < k->nr; i++) {
		const struct receive_command *cmd = &k->commands[i];
		const char *name;

		if (oid_is_zero(&cmd->old_oid) || !refs_name_is_valid(cmd->ref))
			continue;
		name = refview_full_name(&r->refs, cmd->ref);
		if (ref_value(&oid, k, name) && oid_equal(&oid, &cmd->old_oid))
			ret = add_have(k, &oid);
	}
	return ret;
}

/* Context of a pass over all refs that looks for commits of k->undecided. */
struct tip_search {
	struct check *k;
	/* commits of k->undecided that are the value of a ref */
	struct oidset known;
};

static int note_tip(void *ctx, const struct ref *ref)
{
	struct tip_search *s = ctx;
	const struct oid *oid = ref->has_peeled && ref->is_tag ? &ref->peeled
							       : &ref->oid;

	if (!oidset_has(&s->k->undecided, oid))
		return 0;
	return oidset_add(&s->known, oid, s->k->why) < 0 ? ERR_NOMEM : 0;
}

/* Remove the commits in `known` from k->undecided, because refs reach them. */
static int keep_undecided(struct check *k, const struct oidset *known)
{
	struct oidset left;
	int ret = 0;

	oidset_init(&left, OIDSET_MAX);
	for (size_t i = 0; ret >= 0 && i < k->undecided.nr; i++)
		if (!oidset_has(known, &k->undecided.oids[i]))
			ret = oidset_add(&left, &k->undecided.oids[i], k->why);
	oidset_release(&k->undecided);
	k->undecided = left;
	return ret < 0 ? ret : 0;
}

/*
 * Remove from k->undecided the commits that are themselves haves of the walk.
 */
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
		ret = keep_undecided(k, &known);
	oidset_release(&known);
	return ret;
}

/*
 * Remove from k->undecided the commits that refs point to, and add them to the
 * haves of the walk.
 */
static int clear_by_names(struct check *k)
{
	struct tip_search s = {.k = k};
	int ret;

	oidset_init(&s.known, OIDSET_MAX);
	ret = refs_each(k->c->r->refs.refs, "", note_tip, &s, NULL, k->why);
	for (size_t i = 0; !ret && i < s.known.nr; i++)
		ret = add_have(k, &s.known.oids[i]);
	if (!ret)
		ret = keep_undecided(k, &s.known);
	oidset_release(&s.known);
	return ret;
}

/* Remove from k->undecided the commits that the haves of the walk reach. */
static int clear_by_walk(struct check *k)
{
	struct revwalk_result outside = REVWALK_RESULT_INIT;
	struct walk_tips undecided_tips = WALK_TIPS_INIT;
	struct revwalk_tips tips = {
		.haves = k->haves.commits,
		.have_nr = k->haves.commit_nr,
	};
	struct oidset left;
	int ret = 0;

	oidset_init(&left, OIDSET_MAX);
	for (size_t i = 0; !ret && i < k->undecided.nr; i++)
		ret = walk_add_tip(&k->w, &undecided_tips,
				   &k->undecided.oids[i], false, k->why);
	tips.wants = undecided_tips.commits;
	tips.want_nr = undecided_tips.commit_nr;
	if (!ret)
		ret = revwalk_run(&outside, &k->w.history, &tips, false,
				  k->why);
	for (size_t i = 0; ret >= 0 && i < outside.nr; i++) {
		struct oid oid;

		commit_oid(&oid, k, outside.commits[i]);
		if (oidset_has(&k->undecided, &oid))
			ret = oidset_add(&left, &oid, k->why);
	}
	if (ret >= 0) {
		oidset_release(&k->undecided);
		k->undecided = left;
	} else {
		oidset_release(&left);
	}
	walk_tips_release(&undecided_tips);
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

/*
 * Add to the haves of the walk those commits of the frontier that are known to
 * be reachable.
 */
static int add_decided_haves(struct check *k)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < k->frontier.nr; i++)
		if (!oidset_has(&k->undecided, &k->frontier.oids[i]))
			ret = add_have(k, &k->frontier.oids[i]);
	return ret;
}

/*
 * Returns 1 if an object came with the push, or if the client is allowed to
 * know of it. Returns 0 if not, or a negative error code.
 */
static int is_there(struct check *k, const struct oid *oid)
{
	return came(k, oid) ? 1 : receive_sees(k->c->r, oid, k->why);
}

/*
 * Set the error message for an object that the client is not allowed to know
 * of. The message is the same as for an object that does not exist.
 */
static int refuse(struct check *k)
{
	return error_set(k->why, ERR_MISSING, "objects are missing");
}

/*
 * Called if clients may know only of reachable objects (is_limit). Tests the
 * frontier: the existing commits at which the walk of the pushed commits
 * stopped. If they are all visible to the client, adds them to the haves of the
 * walk and returns 0. Otherwise refuses the push.
 */
static int test_visible(struct check *k)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < k->frontier.nr; i++) {
		ret = is_there(k, &k->frontier.oids[i]);
		if (!ret)
			return refuse(k);
		if (ret > 0)
			ret = add_have(k, &k->frontier.oids[i]);
	}
	return ret;
}

static int test_frontier(struct check *k)
{
	int ret = 0;

	if (k->c->r->is_limit)
		return test_visible(k);
	for (size_t i = 0; ret >= 0 && i < k->frontier.nr; i++)
		ret = oidset_add(&k->undecided, &k->frontier.oids[i], k->why);
	if (ret >= 0)
		ret = add_near_haves(k);
	if (!ret)
		ret = clear_by_haves(k);
	if (!ret && k->undecided.nr)
		ret = clear_by_names(k);
	if (!ret && k->undecided.nr)
		ret = clear_by_walk(k);
	if (!ret && k->undecided.nr)
		ret = add_all_haves(k);
	if (!ret && k->undecided.nr)
		ret = clear_by_walk(k);
	return ret < 0 ? ret : add_decided_haves(k);
}

/* ---- objects that refs do not reach must be complete */

/*
 * Check that each commit of a walk exists. The walk may have taken commits from
 * the commit-graph, and the commit-graph may list commits that were pruned.
 */
static int check_commits(struct check *k, const struct revwalk_result *revs)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < revs->nr; i++) {
		struct oid oid;

		commit_oid(&oid, k, revs->commits[i]);
		ret = check_exists(k, &oid);
	}
	return ret;
}

/*
 * Check the tags, trees and blobs of the walk. Refuse the push if one of them
 * did not come with the push and is not visible to the client.
 */
static int check_visible(struct check *k, const struct walk_items *objects)
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
 * Find the objects that the new tips reach and that the existing refs do not
 * reach.
 *
 * The walk of the pushed commits has stopped at commits that existed before the
 * push. If refs reach all of these (k->undecided is empty), the new commits are
 * those in k->push, and no other walk over commits is needed. Otherwise commits
 * are walked by date. This walk could visit the whole history if the dates in
 * the push are old.
 */
static int find_new(struct walk_result *result, struct check *k)
{
	struct walk_options options = {
		.objects = true,
		/*
		 * true if clients may know only of reachable objects
		 * (is_limit). check_objects() then checks for each object of
		 * the result whether the client may know of it. The objects in
		 * the trees of the boundary are left out of the result, because
		 * they need no check: the boundary is reachable.
		 */
		.exclude_boundary = k->c->r->is_limit,
		.threads = 1,
	};

	if (k->undecided.nr)
		return walk_enumerate(result, &k->w, &k->wants, &k->haves,
				      &options, k->why);
	result->revs = k->push;
	k->push = (struct revwalk_result)REVWALK_RESULT_INIT;
	return walk_enumerate_commits(result, &k->w, &k->wants, &k->haves,
				      &options, k->why);
}

/*
 * Check that each object that a tree of the walk names as a blob is a blob. The
 * walk has read all trees, but no blob. If a tree that names another tree as a
 * blob were accepted, every later walk that meets both uses of this object
 * would fail: each clone of all branches, and each repack.
 *
 * An object whose type cannot be read was damaged before the push, and is not
 * the fault of the client. Cost: one header of an object for each blob.
 */
static int check_blobs(struct check *k, const struct walk_items *objects)
{
	struct objspace *space = &k->w.space;

	for (size_t i = 0; i < objects->nr; i++) {
		const struct walk_item *item = &objects->items[i];
		enum object_type type;

		if (item->type == OBJ_BLOB &&
		    !objspace_info(space, k->w.reader, item->obj_pos, &type,
				   NULL, NULL) &&
		    type != OBJ_BLOB)
			return objspace_mistyped(space, item->obj_pos, type,
						 OBJ_BLOB, k->why);
	}
	return 0;
}

/*
 * Check the objects of the walk with check_blobs().
 *
 * If clients may know only of reachable objects (is_limit), the walk has left
 * out the objects of the boundary. But a tree of the push may name one of these
 * as another type. So another walk lists the objects of the pushed commits
 * again, including those of the boundary. It borrows the commits of *result.
 */
static int check_types(struct check *k, struct walk_result *result)
{
	const struct walk_options options = {.objects = true, .threads = 1};
	struct walk_result all = WALK_RESULT_INIT;
	int ret;

	if (!k->c->r->is_limit)
		return check_blobs(k, &result->objects);
	all.revs = result->revs;
	ret = walk_enumerate_commits(&all, &k->w, &k->wants, &k->haves,
				     &options, k->why);
	if (!ret)
		ret = check_blobs(k, &all.objects);
	all.revs = (struct revwalk_result)REVWALK_RESULT_INIT;
	walk_result_release(&all);
	return ret;
}

static int check_objects(struct check *k, struct oidset *new_shallow)
{
	struct walk_result result = WALK_RESULT_INIT;
	int ret = find_new(&result, k);

	if (!ret)
		ret = check_commits(k, &result.revs);
	if (!ret && k->c->r->is_limit)
		ret = check_visible(k, &result.objects);
	if (!ret)
		ret = check_types(k, &result);
	for (size_t i = 0; new_shallow && ret >= 0 && i < result.revs.nr; i++) {
		struct oid oid;

		commit_oid(&oid, k, result.revs.commits[i]);
		if (oidset_has(&k->ends, &oid))
			ret = oidset_add(new_shallow, &oid, k->why);
	}
	walk_result_release(&result);
	return ret < 0 ? ret : 0;
}

/*
 * Returns 1 if all parents of a commit exist, 0 if one is missing, or a
 * negative error code.
 */
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
 * Returns 1 if the repository had this commit of the push, with all its
 * parents, before the push. Returns 0 if not, or a negative error code. A
 * commit that had its parents must not become shallow, because refs would lose
 * history.
 */
static int was_complete(struct check *k, const struct oid *oid)
{
	struct pack_indexer_hooks before;
	int ret;

	if (k->c->r->is_limit)
		return receive_sees(k->c->r, oid, k->why);
	before = known_objects_hooks(k->c->objects->known);
	ret = before.has(before.ctx, 0, oid, k->why);
	return ret <= 0 ? ret : has_parents(k, oid);
}

/*
 * Set k->ends to the commits of the push that are on the shallow boundary of
 * the client.
 */
static int find_ends(struct check *k)
{
	const struct oidset *shallow = &k->c->r->request.shallow;
	int ret = 0;

	for (size_t i = 0; ret >= 0 && i < shallow->nr; i++) {
		const struct oid *oid = &shallow->oids[i];

		if (!came(k, oid))
			continue;
		ret = was_complete(k, oid);
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

/* Open a walk that treats the commits in k->ends as having no parents. */
static int open_shallow_walk(struct check *k)
{
	int ret = open_walk(k);

	if (!ret)
		ret = find_ends(k);
	if (ret < 0 || !k->ends.nr)
		return ret;
	close_walk(k);
	return open_walk(k);
}

/*
 * Add the new values of the commands to the wants of the walk. If clients may
 * know only of reachable objects (is_limit), refuse the push unless each new
 * value came with the push or is visible to the client.
 */
static int add_wants(struct check *k)
{
	int ret = 1;

	for (size_t i = 0; ret > 0 && k->c->r->is_limit && i < k->nr; i++)
		if (receive_sets_value(&k->commands[i]))
			ret = is_there(k, &k->commands[i].new_oid);
	if (ret <= 0)
		return ret ? ret : refuse(k);
	ret = 0;
	for (size_t i = 0; !ret && i < k->nr; i++)
		if (receive_sets_value(&k->commands[i]))
			ret = walk_add_tip(&k->w, &k->wants,
					   &k->commands[i].new_oid, false,
					   k->why);
	return ret;
}

int receive_connect_check(struct receive_connect *c,
			  const struct receive_command *commands, size_t nr,
			  struct oidset *new_shallow, struct error *why,
			  struct error *err)
{
	struct check k = {
		.c = c,
		.commands = commands,
		.nr = nr,
		.wants = WALK_TIPS_INIT,
		.haves = WALK_TIPS_INIT,
		.push = REVWALK_RESULT_INIT,
		.why = why,
		.err = err,
	};
	int ret;

	oidset_init(&k.frontier, OIDSET_MAX);
	oidset_init(&k.undecided, OIDSET_MAX);
	oidset_init(&k.ends, OIDSET_MAX);
	ret = new_shallow ? open_shallow_walk(&k) : open_walk(&k);
	if (!ret)
		ret = add_wants(&k);
	if (!ret)
		ret = find_frontier(&k);
	if (!ret)
		ret = test_frontier(&k);
	if (!ret)
		ret = check_objects(&k, new_shallow);
	walk_tips_release(&k.wants);
	walk_tips_release(&k.haves);
	revwalk_result_release(&k.push);
	oidset_release(&k.frontier);
	oidset_release(&k.undecided);
	oidset_release(&k.ends);
	close_walk(&k);
	ret = ret ? classify(&k, ret) : 1;
	if (!ret && c->r->is_limit)
		refuse(&k);
	return ret;
}
