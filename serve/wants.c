/* SPDX-License-Identifier: MIT */
/* Checks which objects a v0/v1 client may want. */
#include "serve/request.h"

/* The objects that refs point to. */
struct tips {
	struct oidset oids;
	struct error *err;
};

static int add_tip(void *ctx, const struct ref *ref)
{
	struct tips *tips = ctx;
	int ret = oidset_add(&tips->oids, &ref->oid, tips->err);

	return ret < 0 ? ret : 0;
}

/*
 * Collects the objects that refs point to. As in stock Git, hidden refs are
 * included if allowTipSHA1InWant or allowReachableSHA1InWant is true.
 */
static int collect_tips(struct tips *tips, struct request *req)
{
	struct session *s = req->s;
	bool hidden_too = s->config.allow.tip || s->config.allow.reachable;
	struct ref head;
	int ret = session_open_refs(s, tips->err);

	if (!ret)
		ret = refview_lookup(&s->refs, "HEAD", &head, NULL);
	if (ret > 0)
		ret = add_tip(tips, &head);
	else if (ret == ERR_CORRUPT || ret == ERR_MISSING)
		/* If HEAD is broken, go on with the other refs. */
		ret = 0;
	if (!ret)
		ret = refview_each(&s->refs, "", hidden_too, add_tip, tips,
				   NULL, tips->err);
	return ret;
}

/*
 * Looks up object ids, and adds the objects to *out, sorted by type. If
 * `lenient`, broken and missing objects are left out; otherwise they are an
 * error.
 */
static int load(struct walk_tips *out, struct walk *w, const struct oid *oids,
		size_t nr, bool lenient, struct error *err)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < nr; i++)
		ret = walk_add_tip(w, out, &oids[i], lenient, err);
	return ret;
}

static int refuse(struct request *req, uint32_t obj_pos, struct error *err)
{
	struct oid oid;

	objspace_oid(&oid, &req->s->walk.space, obj_pos);
	return request_not_our_ref(req, &oid, err);
}

/*
 * Returns 0 if the commits in *from reach all wanted commits, or ERR_PEER if
 * not. If `exact` is false, the walk relies on commit dates. With wrong dates,
 * the function may return ERR_PEER although all wanted commits are reachable.
 */
static int check_commits(struct request *req, const struct walk_tips *from,
			 const struct walk_tips *wanted, bool exact,
			 struct error *err)
{
	struct history *h = &req->s->walk.history;
	struct revwalk_result outside = REVWALK_RESULT_INIT;
	struct revwalk_tips tips = {
		.wants = wanted->commits,
		.want_nr = wanted->commit_nr,
		.haves = from->commits,
		.have_nr = from->commit_nr,
	};
	int ret = revwalk_run(&outside, h, &tips, exact, err);

	if (!ret && outside.nr)
		ret = refuse(req, h->commits[outside.commits[0]].obj_pos, err);
	revwalk_result_release(&outside);
	return ret;
}

/*
 * Returns 0 if refs reach all wanted trees, blobs and tags, or ERR_PEER if not.
 * Cost: see wire/visible.h.
 */
static int check_others(struct request *req, const struct walk_tips *wanted,
			struct error *err)
{
	const struct walk_items *others = &wanted->others;
	int ret = 1;

	for (size_t i = 0; ret > 0 && i < others->nr; i++) {
		struct oid oid;

		objspace_oid(&oid, &req->s->walk.space,
			     others->items[i].obj_pos);
		ret = session_sees(req->s, &oid, err);
		if (!ret)
			ret = refuse(req, others->items[i].obj_pos, err);
	}
	return ret < 0 ? ret : 0;
}

/*
 * Checks that refs reach the wants that no ref points to. One walk checks all
 * wanted commits.
 */
static int check_reachable(struct request *req, const struct tips *tips,
			   struct error *err)
{
	struct walk_tips from = WALK_TIPS_INIT, wanted = WALK_TIPS_INIT;
	struct walk *w = &req->s->walk;
	int ret = session_open_walk(req->s, err);

	if (!ret)
		ret = load(&from, w, tips->oids.oids, tips->oids.nr, true, err);
	for (size_t i = 0; !ret && i < req->wants.nr; i++)
		if (!oidset_has(&tips->oids, &req->wants.oids[i]))
			ret = walk_add_tip(w, &wanted, &req->wants.oids[i],
					   false, err);
	if (!ret && wanted.commit_nr)
		ret = check_commits(req, &from, &wanted, false, err);
	/* Before a refusal, repeat the check with an exact walk. */
	if (ret == ERR_PEER)
		ret = check_commits(req, &from, &wanted, true, err);
	if (!ret && wanted.others.nr)
		ret = check_others(req, &wanted, err);
	walk_tips_release(&from);
	walk_tips_release(&wanted);
	return ret;
}

/* Returns the first want that no ref points to, or NULL if there is none. */
static const struct oid *find_other(const struct request *req,
				    const struct tips *tips)
{
	for (size_t i = 0; i < req->wants.nr; i++)
		if (!oidset_has(&tips->oids, &req->wants.oids[i]))
			return &req->wants.oids[i];
	return NULL;
}

int wants_check(struct request *req, struct error *err)
{
	const struct serve_config *config = &req->s->config;
	struct tips tips = {.err = err};
	const struct oid *other;
	int ret;

	if (config->allow.any)
		return 0;
	oidset_init(&tips.oids, OIDSET_MAX);
	ret = collect_tips(&tips, req);
	other = ret ? NULL : find_other(req, &tips);
	if (other) {
		bool behind = config->allow.reachable ||
			      req->s->options->stateless_rpc;

		/*
		 * If is_limit is set, request_add_want() has refused each want
		 * that no ref reaches. So the remaining wants are allowed.
		 */
		if (config->is_limit && behind)
			ret = 0;
		else if (behind)
			ret = check_reachable(req, &tips, err);
		else
			ret = request_not_our_ref(req, other, err);
	}
	oidset_release(&tips.oids);
	return ret;
}
