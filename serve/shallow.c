/* SPDX-License-Identifier: MIT */
/* Computes shallow boundaries of the repository and of the client. */
#include "repo/shallow.h"
#include "serve/shallow.h"
#include "walk/depth.h"

static int write_line(struct session *s, const char *word,
		      const struct oid *oid, struct error *err)
{
	char hex[OID_MAX_HEX_LEN + 1];

	return pktline_printf(&s->out, err, "%s %s", word,
			      oid_to_hex(hex, oid, s->algo));
}

static int add(struct oidset *set, const struct oid *oid, struct error *err)
{
	int ret = oidset_add(set, oid, err);

	return ret < 0 ? ret : 0;
}

static void commit_oid(struct oid *oid, struct walk *w, uint32_t commit_nr)
{
	objspace_oid(oid, &w->space, w->history.commits[commit_nr].obj_pos);
}

static int load_shallows(struct walk_tips *tips, struct request *req,
			 struct error *err)
{
	const struct oidset *set = &req->client_shallow;
	int ret = 0;

	for (size_t i = 0; !ret && i < set->nr; i++)
		ret = walk_add_tip(&req->s->walk, tips, &set->oids[i], false,
				   err);
	return ret;
}

/*
 * Computes the client's new shallow boundary for deepen-relative. The new depth
 * is counted from the wants, as in stock Git since 2.54. It is the requested
 * number plus the distance from the wants to the nearest commit of the old
 * boundary. So all branches end at the same depth. Suppose that the depth were
 * counted from each boundary commit. A branch that was merged after the
 * client's last fetch has no boundary commit. So even a long branch of this
 * kind would be sent whole. If the wants reach no boundary commit, nothing is
 * deepened.
 */
static int from_boundary(struct depth_result *result, struct request *req,
			 struct error *err)
{
	struct history *h = &req->s->walk.history;
	const struct walk_tips *wants = &req->want_tips;
	struct walk_tips old = WALK_TIPS_INIT;
	uint32_t depth = DEPTH_INFINITE, nearest;
	int ret = load_shallows(&old, req, err);

	if (!ret)
		ret = depth_find_nearest(&nearest, h, wants->commits,
					 wants->commit_nr, old.commits,
					 old.commit_nr, err);
	if (!ret && nearest < DEPTH_INFINITE - req->depth)
		depth = req->depth + nearest;
	walk_tips_release(&old);
	if (ret < 0 || (ret && !h->shallow))
		return ret < 0 ? ret : 0;
	return depth_by_distance(result, h, wants->commits, wants->commit_nr,
				 depth, err);
}

/*
 * Computes the client's new shallow boundary for deepen-since and deepen-not.
 */
static int by_since_or_nots(struct depth_result *result, struct request *req,
			    struct error *err)
{
	struct walk_tips nots = WALK_TIPS_INIT;
	struct depth_limits limits = {.has_since = req->has_since,
				      .since = req->since};
	int ret = 0;

	for (size_t i = 0; !ret && i < req->nots.nr; i++)
		ret = walk_add_tip(&req->s->walk, &nots, &req->nots.oids[i],
				   true, err);
	limits.nots = nots.commits;
	limits.not_nr = nots.commit_nr;
	if (!ret)
		ret = depth_by_limits(result, &req->s->walk.history,
				      req->want_tips.commits,
				      req->want_tips.commit_nr, &limits, err);
	walk_tips_release(&nots);
	if (!ret && !result->shallow_nr && bitset_is_empty(&result->inside))
		ret = error_set(err, ERR_PEER,
				"no commits selected for shallow requests");
	return ret;
}

static int compute(struct depth_result *result, struct request *req,
		   struct error *err)
{
	uint32_t depth = req->depth ? req->depth : DEPTH_INFINITE;

	if (req->has_since || req->nots.nr)
		return by_since_or_nots(result, req, err);
	if (req->is_relative && depth != DEPTH_INFINITE)
		return from_boundary(result, req, err);
	return depth_by_distance(result, &req->s->walk.history,
				 req->want_tips.commits,
				 req->want_tips.commit_nr, depth, err);
}

/*
 * Returns whether the client wants the whole history and the repository has all
 * of it. No walk is needed then.
 */
static bool is_everything(const struct request *req)
{
	return (!req->depth || req->depth == DEPTH_INFINITE) &&
	       !req->has_since && !req->nots.nr &&
	       !req->s->walk.history.shallow;
}

static int tell_shallow(struct request *req, const struct depth_result *result,
			struct error *err)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < result->shallow_nr; i++) {
		struct oid oid;

		commit_oid(&oid, &req->s->walk, result->shallow[i]);
		if (!oidset_has(&req->client_shallow, &oid))
			ret = write_line(req->s, "shallow", &oid, err);
		if (!ret)
			ret = add(&req->shallow, &oid, err);
	}
	return ret;
}

static int want_parents(struct request *req, uint32_t commit_nr,
			struct error *err)
{
	struct walk *w = &req->s->walk;
	int ret = history_parse(&w->history, commit_nr, err);
	uint32_t nr = w->history.commits[commit_nr].parent_nr;

	for (uint32_t i = 0; !ret && i < nr; i++) {
		struct oid oid;

		commit_oid(&oid, w, history_parents(&w->history, commit_nr)[i]);
		ret = add(&req->wants, &oid, err);
	}
	return ret;
}

static int tell_unshallow(struct request *req,
			  const struct depth_result *result, struct error *err)
{
	struct walk_tips old = WALK_TIPS_INIT;
	bool everything = is_everything(req);
	int ret = load_shallows(&old, req, err);

	for (size_t i = 0; !ret && i < old.commit_nr; i++) {
		struct oid oid;

		if (!everything && !bitset_get(&result->inside, old.commits[i]))
			continue;
		commit_oid(&oid, &req->s->walk, old.commits[i]);
		ret = write_line(req->s, "unshallow", &oid, err);
		if (!ret)
			ret = want_parents(req, old.commits[i], err);
		if (!ret)
			ret = add(&req->edges, &oid, err);
	}
	walk_tips_release(&old);
	return ret;
}

int shallow_update(struct request *req, struct error *err)
{
	struct depth_result result = DEPTH_RESULT_INIT;
	int ret = request_check_depth_limit(req, err);

	if (!ret)
		ret = request_load_wants(req, err);
	if (!ret && !is_everything(req))
		ret = compute(&result, req, err);
	if (!ret)
		ret = tell_shallow(req, &result, err);
	if (!ret && request_has_depth_limit(req))
		ret = tell_unshallow(req, &result, err);
	if (!ret)
		ret = shallow_keep(req, err);
	depth_result_release(&result);
	return ret;
}

int shallow_keep(struct request *req, struct error *err)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < req->client_shallow.nr; i++)
		ret = add(&req->shallow, &req->client_shallow.oids[i], err);
	return ret;
}

static int stop_at_first(void *ctx, const struct oid *oid)
{
	return 1;
}

int shallow_is_repo(struct session *s, struct error *err)
{
	return repo_shallow_each(s->options->repo, stop_at_first, NULL, err);
}

struct advertising {
	struct session *s;
	struct error *err;
};

static int advertise_one(void *ctx, const struct oid *oid)
{
	struct advertising *a = ctx;
	char hex[OID_MAX_HEX_LEN + 1];

	return pktline_printf(&a->s->out, a->err, "shallow %s\n",
			      oid_to_hex(hex, oid, a->s->algo));
}

int shallow_advertise(struct session *s, struct error *err)
{
	struct advertising a = {s, err};

	return repo_shallow_each(s->options->repo, advertise_one, &a, err);
}
