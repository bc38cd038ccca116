/* SPDX-License-Identifier: MIT */
/* Expires lines of reflogs. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "check/reflog-expire.h"
#include "refs/refs.h"
#include "sys/clock.h"
#include "walk/ref-tips.h"
#include "walk/walk.h"

/* ---- reachability */

struct reflog_expire {
	const struct repo *repo; /* borrowed */
	struct reflog_expire_options options;
	int64_t now;
	bool is_open;
	/*
	 * owned: a snapshot of the refs, opened just before the snapshot `odb`
	 * of the objects
	 */
	struct refs *refs;
	struct odb *odb; /* owned */
	struct walk walk;
	/* the commits at the tips of all refs */
	struct walk_tips all;
	/*
	 * the result of filling `all`: 0, or a negative error code; after an
	 * error, `all` lacks tips, and all_error has the details
	 */
	int all_ret;
	struct error all_error;
	/*
	 * Owned array, indexed by commit_nr: the number of the last round that
	 * marked the commit. A round is one walk, which marks the commits that
	 * it visits.
	 */
	uint32_t *rounds;
	size_t round_alloc;
	/* number of the current walk over commits (round) */
	uint32_t round;
	/*
	 * number of the walk (round) that started from all refs; 0: there was
	 * none
	 */
	uint32_t all_round;
	uint32_t *stack; /* owned */
	size_t stack_alloc;
};

struct reflog_expire *reflog_expire_new(
	const struct repo *repo, const struct reflog_expire_options *options)
{
	struct reflog_expire *x = mem_calloc(1, sizeof(*x));

	if (!x)
		return NULL;
	x->repo = repo;
	x->options = *options;
	x->now = sys_clock_seconds();
	return x;
}

static void close_store(struct reflog_expire *x)
{
	walk_tips_release(&x->all);
	if (x->is_open)
		walk_close(&x->walk);
	odb_close(x->odb);
	refs_close(x->refs);
	x->is_open = false;
	x->odb = NULL;
	x->refs = NULL;
	x->all_round = 0;
	if (x->rounds)
		memset(x->rounds, 0, x->round_alloc * sizeof(*x->rounds));
}

void reflog_expire_free(struct reflog_expire *x)
{
	if (!x)
		return;
	close_store(x);
	free(x->rounds);
	free(x->stack);
	free(x);
}

/*
 * Opens refs before objects, so that the snapshot of objects has all objects of
 * these refs. Also collects the tips of all refs in x->all. If the object of a
 * ref cannot be read, the error is only stored in x->all_ret and x->all_error,
 * and check_all() returns it later. The reason is that the reflog of a branch
 * is compared only with the history of this branch. The tips of all refs are
 * needed only for HEAD's reflog, or with --stale-fix (see the callers of
 * check_all()). Returns 0 or a negative error code.
 */
static int open_store(struct reflog_expire *x, struct error *err)
{
	int ret;

	if (x->is_open)
		return 0;
	ret = refs_open(&x->refs, x->repo, err);
	/* As in stock Git, only --stale-fix needs the objects of all refs. */
	if (!ret && !x->options.stale_fix)
		refs_leave_out_broken(x->refs);
	if (!ret)
		ret = refs_list_now(x->refs, err);
	if (!ret)
		ret = odb_open(&x->odb, x->repo, NULL, err);
	if (!ret)
		ret = walk_open(&x->walk, x->odb, NULL, 0, err);
	if (ret < 0) {
		close_store(x);
		return ret;
	}
	x->is_open = true;
	x->walk.history.allow_missing = true;
	x->all_ret = ref_tips_add(&x->walk, &x->all, x->refs, "",
				  &x->all_error);
	if (x->all_ret < 0)
		ref_tips_reword(&x->walk, x->refs, &x->all_error);
	return 0;
}

/* Returns 0 if x->all has the tips of all refs, or a negative error code. */
static int check_all(const struct reflog_expire *x, struct error *err)
{
	if (x->all_ret < 0 && err)
		*err = x->all_error;
	return x->all_ret;
}

/* Context of a check of the HEADs of other work trees. */
struct heads {
	const struct reflog_expire *x;
	struct error *err;
};

static int check_head(void *ctx, const struct ref *head)
{
	const struct heads *h = ctx;

	return odb_reader_has(h->x->walk.reader, &head->oid)
		       ? 0
		       : error_set(h->err, ERR_CORRUPT,
				   "unable to parse object: %s", head->name);
}

int reflog_expire_check_refs(struct reflog_expire *x, struct error *err)
{
	struct heads heads = {x, err};
	int ret = open_store(x, err);

	if (!ret)
		ret = check_all(x, err);
	return ret ? ret
		   : refs_each_other_head(x->refs, check_head, &heads, err);
}

/*
 * Marks a commit with the number of the current walk (round). Returns 1 if this
 * walk has not marked the commit before, 0 if it has, or ERR_NOMEM.
 */
static int mark(struct reflog_expire *x, uint32_t commit_nr)
{
	size_t before = x->round_alloc;

	if (mem_grow(&x->rounds, &x->round_alloc, (size_t)commit_nr + 1,
		     sizeof(*x->rounds)) < 0)
		return ERR_NOMEM;
	if (x->round_alloc > before)
		memset(x->rounds + before, 0,
		       (x->round_alloc - before) * sizeof(*x->rounds));
	if (x->rounds[commit_nr] == x->round)
		return 0;
	x->rounds[commit_nr] = x->round;
	return 1;
}

static int push(struct reflog_expire *x, size_t *depth, uint32_t commit_nr)
{
	int ret = mark(x, commit_nr);

	if (ret <= 0)
		return ret;
	if (mem_grow(&x->stack, &x->stack_alloc, *depth + 1,
		     sizeof(*x->stack)) < 0)
		return ERR_NOMEM;
	x->stack[(*depth)++] = commit_nr;
	return 0;
}

/*
 * Marks the commits that the tips reach. Commits whose generation number is
 * less than min_generation are not visited. If min_generation is 0, all
 * commits are visited. Returns 0 or a negative error code.
 */
static int mark_reachable(struct reflog_expire *x, const struct walk_tips *tips,
			  uint32_t min_generation, struct error *err)
{
	struct history *h = &x->walk.history;
	size_t depth = 0;
	int ret = 0;

	x->round++;
	for (size_t i = 0; i < tips->commit_nr && !ret; i++)
		ret = push(x, &depth, tips->commits[i]);
	while (depth && !ret) {
		uint32_t nr = x->stack[--depth];

		ret = history_parse(h, nr, err);
		if (ret < 0)
			return ret;
		if (h->commits[nr].generation < min_generation)
			continue;
		for (uint32_t i = 0; i < h->commits[nr].parent_nr && !ret; i++)
			ret = push(x, &depth, history_parents(h, nr)[i]);
	}
	return ret < 0 ? error_nomem(err) : 0;
}

/*
 * Sets *commit_nr to the commit that an id names, or to HISTORY_NONE if the
 * object is missing or is not a commit. Returns 0 or a negative error code.
 */
static int find_commit(struct reflog_expire *x, const struct oid *oid,
		       uint32_t *commit_nr, struct error *err)
{
	struct history *h = &x->walk.history;
	enum object_type type;
	uint32_t obj_pos;
	int ret;

	*commit_nr = HISTORY_NONE;
	if (oid_is_zero(oid))
		return 0;
	if (objspace_add(&x->walk.space, oid->bytes, &obj_pos) < 0)
		return error_nomem(err);
	ret = objspace_info(&x->walk.space, x->walk.reader, obj_pos, &type,
			    NULL, err);
	if (ret == ERR_MISSING || ret == ERR_CORRUPT)
		return 0;
	if (!ret && type == OBJ_COMMIT &&
	    history_add(h, obj_pos, commit_nr) < 0)
		ret = error_nomem(err);
	if (!ret && *commit_nr != HISTORY_NONE)
		ret = history_parse(h, *commit_nr, err);
	if (ret != ERR_CORRUPT)
		return ret;
	*commit_nr = HISTORY_NONE;
	return 0;
}

/* ---- one reflog */

/*
 * Why a line of a reflog may be dropped. In all arrays, index 0 is for the
 * line's old id, index 1 for its new id.
 */
struct verdict {
	/*
	 * commit_nr of the commits that the ids name; HISTORY_NONE: the id does
	 * not name a commit
	 */
	uint32_t commits[2];
	bool stale[2], lost[2];
};

struct decision {
	struct reflog_expire *x;
	struct reflog_limits limits;
	struct reflog *log;
	/* owned: a verdict for each line of the reflog */
	struct verdict *verdicts;
	uint32_t min_generation;
	struct error *err;
};

/*
 * Returns whether a line is older than the limit for unreachable commits, but
 * not older than the limit for all lines. Such a line is dropped only if one of
 * its commits is unreachable.
 */
static bool is_candidate(const struct decision *d,
			 const struct reflog_line *line)
{
	return !line->drop && line->time < d->limits.unreachable;
}

static int load_candidates(struct decision *d)
{
	const struct history *h = &d->x->walk.history;

	free(d->verdicts);
	d->verdicts = mem_calloc(d->log->nr, sizeof(*d->verdicts));
	if (!d->verdicts)
		return error_nomem(d->err);
	d->min_generation = HISTORY_GENERATION_UNKNOWN;
	for (size_t i = 0; i < d->log->nr; i++) {
		const struct reflog_line *line = &d->log->lines[i];

		for (int side = 0; side < 2; side++) {
			uint32_t *nr = &d->verdicts[i].commits[side];
			int ret = find_commit(
				d->x, side ? &line->new_oid : &line->old_oid,
				nr, d->err);

			if (ret < 0)
				return ret;
			if (*nr == HISTORY_NONE || !is_candidate(d, line))
				continue;
			if (h->commits[*nr].generation ==
			    HISTORY_GENERATION_UNKNOWN)
				d->min_generation = 0;
			else if (h->commits[*nr].generation < d->min_generation)
				d->min_generation = h->commits[*nr].generation;
		}
	}
	return 0;
}

/*
 * Marks all commits that any ref reaches. Does nothing if this was done
 * before. Returns 0 or a negative error code.
 */
static int mark_all(struct reflog_expire *x, struct error *err)
{
	int ret;

	if (x->all_round && x->all_round == x->round)
		return 0;
	ret = check_all(x, err);
	if (!ret)
		ret = mark_reachable(x, &x->all, 0, err);
	if (!ret)
		x->all_round = x->round;
	return ret;
}

/*
 * Marks all commits that the ref of this reflog reaches. *found is set to
 * whether the ref leads to a commit. Returns 0 or a negative error code.
 */
static int mark_from_ref(struct decision *d, const char *name, bool *found)
{
	struct reflog_expire *x = d->x;
	struct walk_tips tips = WALK_TIPS_INIT;
	struct refs *refs;
	struct ref ref;
	int ret = refs_open(&refs, x->repo, d->err);

	if (ret < 0)
		return ret;
	ret = refs_lookup(refs, name, &ref, d->err);
	if (ret == ERR_CORRUPT && ref.is_broken)
		ret = 0;
	if (ret > 0)
		ret = walk_add_tip(&x->walk, &tips, &ref.oid, true, d->err);
	*found = ret >= 0 && tips.commit_nr;
	if (*found)
		ret = mark_reachable(x, &tips, d->min_generation, d->err);
	walk_tips_release(&tips);
	refs_close(refs);
	return ret < 0 ? ret : 0;
}

static bool is_reached(const struct reflog_expire *x, uint32_t commit_nr)
{
	return commit_nr == HISTORY_NONE ||
	       (commit_nr < x->round_alloc && x->rounds[commit_nr] == x->round);
}

static int find_lost(struct decision *d, const char *name)
{
	bool has_tip = true;
	int ret = refs_name_is_head(name) ? mark_all(d->x, d->err)
					  : mark_from_ref(d, name, &has_tip);

	for (size_t i = 0; i < d->log->nr && !ret; i++) {
		struct verdict *v = &d->verdicts[i];

		for (int side = 0; side < 2; side++)
			v->lost[side] = !has_tip ||
					!is_reached(d->x, v->commits[side]);
	}
	return ret;
}

/*
 * Checks the objects that the commit reaches and that no ref reaches. Returns
 * 1 if the repository has all of them, 0 if one is missing, or a negative
 * error code.
 */
static int is_complete(struct reflog_expire *x, const struct oid *oid,
		       uint32_t commit_nr, struct error *err)
{
	const struct walk_options options = {.objects = true};
	struct walk_result result = WALK_RESULT_INIT;
	struct walk_tips wants = WALK_TIPS_INIT;
	int ret;

	if (oid_is_zero(oid))
		return 1;
	if (commit_nr == HISTORY_NONE)
		return 0;
	if (is_reached(x, commit_nr))
		return 1;
	x->walk.history.allow_missing = false;
	ret = walk_add_tip(&x->walk, &wants, oid, false, err);
	if (!ret)
		ret = walk_enumerate(&result, &x->walk, &wants, &x->all,
				     &options, err);
	x->walk.history.allow_missing = true;
	walk_result_release(&result);
	walk_tips_release(&wants);
	return ret == ERR_MISSING || ret == ERR_CORRUPT ? 0 : ret < 0 ? ret : 1;
}

static int find_stale(struct decision *d)
{
	int ret = mark_all(d->x, d->err);

	for (size_t i = 0; i < d->log->nr && ret >= 0; i++) {
		const struct reflog_line *line = &d->log->lines[i];
		struct verdict *v = &d->verdicts[i];

		for (int side = 0; side < 2 && ret >= 0; side++) {
			ret = is_complete(
				d->x, side ? &line->new_oid : &line->old_oid,
				v->commits[side], d->err);
			v->stale[side] = !ret;
		}
	}
	return ret < 0 ? ret : 0;
}

/*
 * Decides whether each line is dropped, from the verdicts about its old id and
 * its new id. With --rewrite, the old id of a line is replaced by the new id of
 * an earlier line: the last line before it that is kept. So with --rewrite, the
 * verdict about the new id of that earlier line is used in place of the verdict
 * about the old id of this line. The first line has no earlier line, and only
 * the verdict about its new id is used.
 */
static void drop_by_verdicts(struct decision *d)
{
	static const struct verdict first = {.stale = {false, false}};
	const struct verdict *last = &first;

	for (size_t i = 0; i < d->log->nr; i++) {
		struct reflog_line *line = &d->log->lines[i];
		const struct verdict *v = &d->verdicts[i];
		bool rewrites = d->x->options.rewrite;
		bool stale = rewrites ? last->stale[1] : v->stale[0];
		bool lost = rewrites ? last->lost[1] : v->lost[0];

		stale |= v->stale[1];
		lost |= v->lost[1];
		line->drop |= stale || (lost && is_candidate(d, line));
		if (!line->drop)
			last = v;
	}
}

static int decide_by_objects(struct decision *d, const char *name)
{
	bool wanted = d->x->options.stale_fix;
	int ret;

	for (size_t i = 0; i < d->log->nr && !wanted; i++)
		wanted = is_candidate(d, &d->log->lines[i]);
	if (!wanted)
		return 0;
	/*
	 * Opens the snapshots of refs and objects again. Otherwise objects that
	 * arrived together with a new line of the reflog would seem to be
	 * missing.
	 */
	if (d->x->options.stale_fix)
		close_store(d->x);
	ret = open_store(d->x, d->err);
	if (!ret)
		ret = load_candidates(d);
	if (!ret && d->x->options.stale_fix)
		ret = find_stale(d);
	if (!ret)
		ret = find_lost(d, name);
	if (!ret)
		drop_by_verdicts(d);
	return ret;
}

static int decide(void *ctx, const char *name, const struct oid *tip,
		  struct reflog *log, struct error *err)
{
	struct decision *d = ctx;
	const struct reflog_expire_options *o = &d->x->options;
	int ret;

	(void)tip;
	d->log = log;
	d->err = err;
	for (size_t i = 0; i < log->nr; i++)
		log->lines[i].drop = log->lines[i].time < d->limits.total;
	ret = decide_by_objects(d, name);
	for (size_t i = 0; i < log->nr && !ret && o->report; i++)
		o->report(o->ctx, &log->lines[i]);
	return ret;
}

int reflog_expire_run(struct reflog_expire *x, const char *name,
		      struct error *err)
{
	const struct reflog_expire_options *o = &x->options;
	struct decision d = {.x = x};
	const struct reflog_edit edit = {
		.decide = decide,
		.ctx = &d,
		.dry_run = o->dry_run,
		.rewrite = o->rewrite,
		.update_ref = o->update_ref,
	};
	int ret = reflog_limits_load(&d.limits, &x->repo->config, name, x->now,
				     err);

	if (o->limits.total != REFLOG_LIMIT_UNSET)
		d.limits.total = o->limits.total;
	if (o->limits.unreachable != REFLOG_LIMIT_UNSET)
		d.limits.unreachable = o->limits.unreachable;
	if (!ret)
		ret = reflog_edit(x->repo, name, &edit, err);
	free(d.verdicts);
	return ret;
}
