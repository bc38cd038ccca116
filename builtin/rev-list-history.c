/* SPDX-License-Identifier: MIT */
/*
 * git rev-list: history limited by paths, rewritten parents, boundaries and
 * orders. This file parses the options for simplify/simplify.h and prints its
 * results.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "builtin/path-args.h"
#include "builtin/builtin.h"
#include "builtin/rev-list.h"
#include "simplify/path-filters.h"
#include "sys/trace.h"
#include "walk/filtered.h"

/* ---- options */

static int add_through(struct rev_list_run *r, const char *name)
{
	struct rev_list_history *history = &r->history;
	struct error why = ERROR_INIT;
	int ret;

	history->o.ancestry_path = true;
	history->o.full_history = true;
	history->is_asked = true;
	if (!name) {
		history->o.through_haves = true;
		return 1;
	}
	ret = rev_args_resolve(&r->args, &history->through, name, &why);
	if (ret == ERR_UNSUPPORTED)
		return error_set(r->err, ret, "%s", why.msg);
	if (ret < 0) {
		builtin_error("could not get commit for --ancestry-path "
			      "argument %s",
			      name);
		return 128;
	}
	return 1;
}

/*
 * Apply --topo-order or --date-order. If both are given, the last one decides.
 */
static int set_order(struct rev_list_history *history, bool by_date)
{
	history->is_asked = true;
	history->topo = true;
	history->by_date = by_date;
	return 1;
}

/* Set the options of history simplification that --simplify-merges implies. */
static void set_merges(struct rev_list_history *history)
{
	history->o.merges = true;
	history->o.full_history = true;
	history->o.rewrite = true;
	history->topo = true;
}

int rev_list_parse_history(struct rev_list_run *r, const char *arg)
{
	struct rev_list_history *h = &r->history;
	const struct {
		const char *name;
		bool *flag;
		bool value;
	} flags[] = {
		{"--parents", &h->print_parents, true},
		{"--children", &h->o.children, true},
		{"--boundary", &h->o.boundary, true},
		{"--full-history", &h->o.full_history, true},
		{"--dense", &h->o.sparse, false},
		{"--sparse", &h->o.sparse, true},
		{"--simplify-merges", &h->o.merges, true},
		{"--show-pulls", &h->o.show_pulls, true},
		{"--remove-empty", &h->o.remove_empty, true},
		{"--first-parent", &h->o.first_parent, true},
	};

	if (!strcmp(arg, "--topo-order") || !strcmp(arg, "--date-order"))
		return set_order(h, arg[2] == 'd');
	if (!strcmp(arg, "--ancestry-path"))
		return add_through(r, NULL);
	if (!strncmp(arg, "--ancestry-path=", 16))
		return add_through(r, arg + 16);
	for (size_t i = 0; i < ARRAY_NR(flags); i++) {
		if (strcmp(arg, flags[i].name) != 0)
			continue;
		*flags[i].flag = flags[i].value;
		h->is_asked = true;
		if (flags[i].flag == &h->o.merges)
			set_merges(h);
		return 1;
	}
	return 0;
}

/*
 * Sets the error that the option `what` cannot be combined with simplifying the
 * history. Returns ERR_UNSUPPORTED.
 */
static int refuse(const struct rev_list_run *r, const char *what)
{
	return error_set(r->err, ERR_UNSUPPORTED,
			 "%s is not supported yet together with paths, or "
			 "options that simplify history",
			 what);
}

int rev_list_check_history(struct rev_list_run *r)
{
	struct rev_list_history *h = &r->history;
	int ret = 0;

	if (r->args.path_nr) {
		h->is_asked = true;
		pathspec_release(&h->paths);
		ret = path_args_parse(&h->paths,
				      (const char *const *)r->args.paths,
				      r->args.path_nr, r->odb->repo, r->err);
		h->o.paths = &h->paths;
	}
	if (ret < 0 || !h->is_asked)
		return ret;
	if ((h->print_parents || h->o.merges) && h->o.children)
		return error_set(r->err, ERR_INVALID,
				 "options '--parents' and '--children' cannot "
				 "be used together");
	if (r->o.missing != MISSING_ERROR)
		return refuse(r, "--missing");
	if (r->o.exclude_promisor)
		return refuse(r, "--exclude-promisor-objects");
	if (r->o.test_bitmap)
		return refuse(r, "--test-bitmap");
	if (r->pick.left_only || r->pick.right_only)
		return refuse(r, "--left-only or --right-only");
	if (r->o.objects && h->o.paths && filter_needs_paths(&r->filter.filter))
		return refuse(r, "a filter by path or depth");
	h->o.rewrite |= h->print_parents || h->o.children;
	if (h->topo)
		h->o.order = h->by_date ? SIMPLIFY_ORDER_DATE
					: SIMPLIFY_ORDER_TOPO;
	h->o.skip = r->o.skip;
	h->o.max = r->o.max_count;
	h->o.reverse = r->o.reverse;
	h->o.unpacked = r->o.unpacked;
	/*
	 * With --in-commit-order, commits are printed after the walk, so the
	 * walk must keep their rewritten parents.
	 */
	h->o.keep_parents = r->o.in_commit_order;
	h->o.min_parents = r->pick.min_parents;
	h->o.max_parents = r->pick.max_parents;
	return 0;
}

void rev_list_history_release(struct rev_list_history *history)
{
	simplify_free(history->simplify);
	pathspec_release(&history->paths);
	rev_list_release(&history->through);
	walk_tips_release(&history->through_tips);
}

/* ---- listing */

/* Write the statistics of path filters to the trace, as stock Git does. */
static void trace_filters(const struct rev_list_run *r)
{
	const struct path_filters *f = simplify_filters(r->history.simplify);
	struct buf json = BUF_INIT;

	if (f->graph &&
	    buf_printf(&json,
		       "{\"filter_not_present\":%" PRIu64 ",\"maybe\":%" PRIu64
		       ",\"definitely_not\":%" PRIu64
		       ",\"false_positive\":%" PRIu64 "}",
		       f->absent_nr, f->maybe_nr, f->no_nr, f->false_nr) == 0)
		trace_json(r->odb->repo->trace, "bloom", "statistics",
			   json.data);
	buf_release(&json);
}

static int open_through(struct rev_list_run *r)
{
	struct rev_list_history *h = &r->history;
	char hex[OID_MAX_HEX_LEN + 1];
	int ret = 0;

	for (size_t i = 0; i < h->through.nr && !ret; i++) {
		const struct oid *oid = &h->through.items[i].oid;

		ret = walk_add_tip(&r->walk, &h->through_tips, oid, false,
				   r->err);
		if (!ret && h->through_tips.commit_nr == i)
			ret = error_set(r->err, ERR_INVALID,
					"could not get commit for "
					"--ancestry-path argument %s",
					oid_to_hex(hex, oid, r->odb->algo));
	}
	h->o.through = h->through_tips.commits;
	h->o.through_nr = h->through_tips.commit_nr;
	return ret;
}

/*
 * List the commits. Without --in-commit-order, this function prints each commit
 * as soon as it is found. With --in-commit-order, it prints nothing and only
 * collects the commits: rev_list_show_objects() prints each commit later,
 * followed by its objects. The commits are also collected with --objects, to
 * find the objects. Returns 0 or a negative error code.
 */
static int list_commits(struct rev_list_run *r, uint32_t **commits, size_t *nr)
{
	bool keeps = r->o.objects || r->o.in_commit_order;
	size_t alloc = 0;
	uint32_t c;
	int ret;

	while ((ret = simplify_next(r->history.simplify, &c, r->err)) > 0) {
		if (keeps &&
		    mem_grow(commits, &alloc, *nr + 1, sizeof(**commits)) < 0)
			return error_nomem(r->err);
		if (keeps)
			(*commits)[(*nr)++] = c;
		if (!r->o.in_commit_order)
			ret = rev_list_show_commit(r, c);
		if (ret < 0)
			return ret;
	}
	return ret;
}

static int list_objects(struct rev_list_run *r)
{
	uint32_t *commits = NULL, *edges = NULL;
	size_t nr = 0, edge_nr = 0;
	int ret = 0;

	if (r->o.objects &&
	    simplify_edges(r->history.simplify, &edges, &edge_nr) < 0)
		ret = error_nomem(r->err);
	if (!ret)
		ret = list_commits(r, &commits, &nr);
	if (!ret && (r->o.objects || r->o.in_commit_order))
		ret = rev_list_show_objects(r, commits, nr, edges, edge_nr);
	free(commits);
	free(edges);
	return ret;
}

int rev_list_history(struct rev_list_run *r)
{
	const struct revwalk_tips tips = {
		r->wants.commits,
		r->wants.commit_nr,
		r->haves.commits,
		r->haves.commit_nr,
	};
	struct rev_list_history *h = &r->history;
	int ret = open_through(r);

	if (!ret)
		ret = filtered_spared(&r->unfiltered, &r->walk, &r->wants,
				      r->o.filter_provided, r->err);
	if (!ret)
		ret = simplify_new(&h->simplify, &r->walk.history, &tips, &h->o,
				   r->err);
	if (!ret)
		ret = list_objects(r);
	if (h->simplify)
		trace_filters(r);
	return ret;
}
