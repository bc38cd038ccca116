/* SPDX-License-Identifier: MIT */
/* The public functions about queries. A query may be run several times. */
#include <string.h>

#include "base/mem.h"
#include "libgitreach/internal.h"
#include "sys/clock.h"
#include "walk/filter-walk.h"

/* ---- building */

int gitreach_query_new(gitreach_query **out, gitreach_repo *repo,
		       gitreach_error *err)
{
	struct error *inner = libgitreach_error(err);
	int ret = libgitreach_need(out && repo, inner);
	gitreach_query *q = ret < 0 ? NULL : mem_calloc(1, sizeof(*q));

	if (out)
		*out = q;
	if (!q)
		return ret < 0 ? ret : error_nomem(inner);
	q->repo = libgitreach_repo_use(repo);
	filter_init(&q->filter);
	return libgitreach_done(0, err);
}

void gitreach_query_free(gitreach_query *q)
{
	if (!q)
		return;
	free(q->wants.items);
	free(q->haves.items);
	free(q->shallow.items);
	filter_release(&q->filter);
	for (size_t i = 0; i < q->spec_nr; i++)
		free(q->specs[i]);
	free(q->specs);
	for (size_t i = 0; i < q->excluded_nr; i++)
		free(q->excluded[i]);
	free(q->excluded);
	gitreach_repo_close(q->repo);
	free(q);
}

static int append(struct oid_list *list, const struct oid *oid,
		  struct error *err)
{
	if (mem_grow(&list->items, &list->alloc, list->nr + 1,
		     sizeof(*list->items)) < 0)
		return error_nomem(err);
	list->items[list->nr++] = *oid;
	return 0;
}

/* The lists of ids in a query. The caller of the library can add ids. */
enum list { WANTS, HAVES, SHALLOW };

static struct oid_list *list_of(gitreach_query *q, enum list list)
{
	return list == WANTS   ? &q->wants
	       : list == HAVES ? &q->haves
			       : &q->shallow;
}

static int append_id(gitreach_query *q, enum list list, const uint8_t *id,
		     size_t id_len, gitreach_error *err)
{
	struct error *inner = libgitreach_error(err);
	int ret = libgitreach_need(q, inner);
	struct oid oid;

	if (!ret)
		ret = libgitreach_repo_id(&oid, q->repo, id, id_len, inner);
	if (!ret)
		ret = append(list_of(q, list), &oid, inner);
	return libgitreach_done(ret, err);
}

int gitreach_query_want(gitreach_query *q, const uint8_t *id, size_t id_len,
			gitreach_error *err)
{
	return append_id(q, WANTS, id, id_len, err);
}

int gitreach_query_have(gitreach_query *q, const uint8_t *id, size_t id_len,
			gitreach_error *err)
{
	return append_id(q, HAVES, id, id_len, err);
}

int gitreach_query_shallow(gitreach_query *q, const uint8_t *id, size_t id_len,
			   gitreach_error *err)
{
	return append_id(q, SHALLOW, id, id_len, err);
}

static int append_name(gitreach_query *q, enum list list, const char *name,
		       gitreach_error *err)
{
	struct error *inner = libgitreach_error(err);
	struct oid oid;
	int ret = libgitreach_need(q && name, inner);

	if (!ret)
		ret = libgitreach_repo_resolve(q->repo, &oid, name, inner);
	if (!ret)
		ret = append(list_of(q, list), &oid, inner);
	return libgitreach_done(ret, err);
}

int gitreach_query_want_name(gitreach_query *q, const char *name,
			     gitreach_error *err)
{
	return append_name(q, WANTS, name, err);
}

int gitreach_query_have_name(gitreach_query *q, const char *name,
			     gitreach_error *err)
{
	return append_name(q, HAVES, name, err);
}

struct appending {
	const gitreach_query *q;
	struct oid_list *list;
	struct error *err;
};

static bool is_excluded(const gitreach_query *q, const char *name)
{
	for (size_t i = 0; i < q->excluded_nr; i++)
		if (!strncmp(name, q->excluded[i], strlen(q->excluded[i])))
			return true;
	return false;
}

static int append_ref(void *ctx, const struct ref *ref)
{
	struct appending *a = ctx;

	return is_excluded(a->q, ref->name)
		       ? 0
		       : append(a->list, &ref->oid, a->err);
}

/*
 * Append to a->list the ids of all references whose names begin with `prefix`,
 * except the references that the query excludes. An empty prefix includes HEAD.
 * The caller must hold the lock of the repository.
 */
static int append_refs_locked(struct refs *refs, const char *prefix,
			      struct appending *a)
{
	struct ref head;
	int ret = *prefix ? 0 : refs_lookup(refs, "HEAD", &head, a->err);

	if (ret > 0)
		ret = append_ref(a, &head);
	return ret < 0 ? ret
		       : refs_each_strict(refs, prefix, append_ref, a, a->err);
}

static int append_refs(gitreach_query *q, enum list list_nr, const char *prefix,
		       gitreach_error *err)
{
	struct error *inner = libgitreach_error(err);
	int ret = libgitreach_need(q && prefix, inner);
	struct oid_list *list;
	struct appending a;
	size_t before;

	if (ret < 0)
		return ret;
	list = list_of(q, list_nr);
	before = list->nr;
	a = (struct appending){q, list, inner};
	pthread_mutex_lock(&q->repo->lock);
	ret = append_refs_locked(q->repo->refs, prefix, &a);
	pthread_mutex_unlock(&q->repo->lock);
	if (ret < 0)
		list->nr = before;
	return libgitreach_done(ret, err);
}

int gitreach_query_want_refs(gitreach_query *q, const char *prefix,
			     gitreach_error *err)
{
	return append_refs(q, WANTS, prefix, err);
}

int gitreach_query_have_refs(gitreach_query *q, const char *prefix,
			     gitreach_error *err)
{
	return append_refs(q, HAVES, prefix, err);
}

/* Appends a copy of a string to a list. */
static int append_text(char ***list, size_t *nr, size_t *alloc,
		       const char *text, struct error *err)
{
	char *copy;

	if (mem_grow(list, alloc, *nr + 1, sizeof(**list)) < 0)
		return error_nomem(err);
	copy = mem_strdup(text);
	if (!copy)
		return error_nomem(err);
	(*list)[(*nr)++] = copy;
	return 0;
}

int gitreach_query_exclude_refs(gitreach_query *q, const char *prefix,
				gitreach_error *err)
{
	struct error *inner = libgitreach_error(err);
	int ret = libgitreach_need(q && prefix, inner);

	if (!ret)
		ret = append_text(&q->excluded, &q->excluded_nr,
				  &q->excluded_alloc, prefix, inner);
	return libgitreach_done(ret, err);
}

int gitreach_query_filter(gitreach_query *q, const char *spec,
			  gitreach_error *err)
{
	struct error *inner = libgitreach_error(err);
	int ret = libgitreach_need(q && spec, inner);

	if (!ret)
		ret = append_text(&q->specs, &q->spec_nr, &q->spec_alloc, spec,
				  inner);
	if (ret < 0)
		return ret;
	ret = filter_add(&q->filter, spec, inner);
	if (ret < 0)
		free(q->specs[--q->spec_nr]);
	return libgitreach_done(ret, err);
}

static bool is_flag(uint64_t value)
{
	return value <= 1;
}

/*
 * Set an option. Returns false if the option does not exist or does not allow
 * this value.
 */
static bool set_option(gitreach_query *q, int option, uint64_t value)
{
	switch (option) {
	case GITREACH_STRATEGY:
		q->strategy = (enum gitreach_strategy)value;
		return value <= GITREACH_CHECK;
	case GITREACH_OBJECTS:
		q->commits_only = !value;
		return is_flag(value);
	case GITREACH_FILTER_WANTS:
		q->filter_wants = value;
		return is_flag(value);
	case GITREACH_INEXACT:
		q->inexact = value;
		return is_flag(value);
	case GITREACH_THREADS:
		q->threads = (unsigned)value;
		return value <= UINT32_MAX;
	}
	return false;
}

int gitreach_query_set(gitreach_query *q, int option, uint64_t value,
		       gitreach_error *err)
{
	struct error *inner = libgitreach_error(err);
	int ret = libgitreach_need(q, inner);
	gitreach_query before;

	if (ret < 0)
		return ret;
	before = *q;
	if (set_option(q, option, value))
		return libgitreach_done(0, err);
	*q = before;
	return error_set(inner, ERR_UNSUPPORTED,
			 "unknown option %d, or invalid value %llu", option,
			 (unsigned long long)value);
}

void gitreach_query_progress(gitreach_query *q, gitreach_progress_fn fn,
			     void *ctx)
{
	if (!q)
		return;
	q->progress = fn;
	q->progress_ctx = ctx;
}

/* ---- running */

struct resolving {
	gitreach_repo *repo;
};

static int resolve(void *ctx, const char *name, struct oid *oid)
{
	struct resolving *r = ctx;

	return libgitreach_repo_resolve(r->repo, oid, name, NULL);
}

int libgitreach_query_load_filter(struct filter *filter,
				  const gitreach_query *q, struct error *err)
{
	struct resolving r = {q->repo};
	struct odb_reader *reader;
	int ret = 0;

	filter_init(filter);
	for (size_t i = 0; i < q->spec_nr && !ret; i++)
		ret = filter_add(filter, q->specs[i], err);
	if (ret < 0 || filter_is_empty(filter))
		return ret;
	reader = odb_reader_new(q->repo->odb, 0);
	if (!reader)
		return error_nomem(err);
	ret = filter_load_sparse(filter, reader, resolve, &r, err);
	odb_reader_free(reader);
	return ret;
}

static int add_tips(struct walk *w, struct walk_tips *tips,
		    const struct oid_list *list, bool lenient, bool unread,
		    struct error *err)
{
	int ret = 0;

	for (size_t i = 0; i < list->nr && !ret; i++)
		ret = unread ? walk_add_tip_unread(w, tips, &list->items[i],
						   err)
			     : walk_add_tip(w, tips, &list->items[i], lenient,
					    err);
	return ret;
}

/*
 * One run of a query, either with bitmaps or by walking. The run has a walk of
 * its own.
 */
struct run {
	const gitreach_query *q;
	struct libgitreach_progress progress;
	struct walk walk;
	struct walk_tips wants, haves;
	struct pack_bitmap_answer answer;
};

static int run_in(struct run *r, const struct filter *filter,
		  enum gitreach_strategy strategy, struct error *err)
{
	const gitreach_query *q = r->q;
	struct pack_bitmap_ask ask = {
		.pb = strategy == GITREACH_WALK ? NULL : q->repo->pb,
		.no_bitmap = strategy == GITREACH_WALK
				     ? "the query asks for a walk"
				     : q->repo->no_bitmap.msg,
		.wants = &r->wants,
		.haves = &r->haves,
		.filter = filter,
		.filter_wants = q->filter_wants,
		.commits_only = q->commits_only,
		.must_use_bitmap = strategy == GITREACH_BITMAP,
		.inexact = q->inexact,
		.threads = q->threads,
		.progress = libgitreach_progress(&r->progress, q->progress,
						 q->progress_ctx),
	};
	/*
	 * Without haves, the bitmap index can answer the query without reading
	 * the wants that are in the index. So these wants are not read.
	 */
	int ret = add_tips(&r->walk, &r->wants, &q->wants, false,
			   ask.pb && !q->haves.nr, err);

	if (!ret)
		ret = add_tips(&r->walk, &r->haves, &q->haves, true, false,
			       err);
	return ret < 0 ? ret
		       : pack_bitmap_answer(&r->answer, &r->walk, &ask, err);
}

static void explain(gitreach_set *set, const struct pack_bitmap_answer *answer,
		    uint64_t ns)
{
	const struct pack_bitmap_trace *t = &answer->trace;
	bool by_bitmap = answer->by_bitmap;

	set->how = (struct gitreach_explanation){
		.strategy = by_bitmap ? GITREACH_BITMAP : GITREACH_WALK,
		.bitmaps_used = by_bitmap ? answer->result.bitmaps_used : 0,
		.pseudo_merges_used =
			by_bitmap ? answer->result.pseudo_merges_used : 0,
		.commits_walked = answer->commits_walked,
		.objects_walked = by_bitmap ? t->haves.objects_walked +
						      t->wants.objects_walked
					    : answer->walked.nr,
		.nanoseconds = ns,
	};
	set->reason = answer->reason;
}

static int run_one(gitreach_set *set, const gitreach_query *q,
		   const struct filter *filter, enum gitreach_strategy strategy,
		   struct error *err)
{
	struct run r = {
		.q = q,
		.wants = WALK_TIPS_INIT,
		.haves = WALK_TIPS_INIT,
		.answer = {.result = PACK_BITMAP_RESULT_INIT},
	};
	uint64_t start = sys_clock_ns();
	int ret = walk_open(&r.walk, q->repo->odb, q->shallow.items,
			    q->shallow.nr, err);

	if (ret < 0)
		return ret;
	if (q->threads)
		r.walk.history.threads = q->threads;
	ret = run_in(&r, filter, strategy, err);
	if (!ret) {
		explain(set, &r.answer, sys_clock_ns() - start);
		ret = libgitreach_set_take(set, &r.answer, &r.walk,
					   q->commits_only, err);
	}
	pack_bitmap_answer_release(&r.answer);
	walk_tips_release(&r.wants);
	walk_tips_release(&r.haves);
	walk_close(&r.walk);
	return ret;
}

/*
 * Run the query again by walking, and compare the result with the set that
 * bitmaps found.
 */
static int check(gitreach_set *set, const gitreach_query *q,
		 const struct filter *filter, struct error *err)
{
	gitreach_set *walked;
	int ret = libgitreach_set_new(&walked, q->repo, err);

	if (ret < 0)
		return ret;
	ret = run_one(walked, q, filter, GITREACH_WALK, err);
	if (!ret)
		ret = libgitreach_set_same(set, walked, err);
	set->how.strategy = GITREACH_CHECK;
	gitreach_set_free(walked);
	return ret;
}

static int run(gitreach_set *set, const gitreach_query *q,
	       const struct filter *filter, struct error *err)
{
	enum gitreach_strategy strategy = q->strategy;
	int ret;

	if (q->commits_only && !filter_is_empty(filter))
		return error_set(
			err, ERR_INVALID,
			"a query for commits only cannot have a filter");
	if (strategy == GITREACH_CHECK && q->inexact)
		return error_set(err, ERR_INVALID,
				 "GITREACH_CHECK needs exact results");
	if (strategy == GITREACH_CHECK)
		strategy = GITREACH_BITMAP;
	ret = run_one(set, q, filter, strategy, err);
	if (!ret && q->strategy == GITREACH_CHECK)
		ret = check(set, q, filter, err);
	return ret;
}

int gitreach_query_run(gitreach_set **out, const gitreach_query *q,
		       gitreach_error *err)
{
	struct error *inner = libgitreach_error(err);
	int ret = libgitreach_need(out && q, inner);
	struct filter filter;
	gitreach_set *set;

	if (out)
		*out = NULL;
	if (!ret)
		ret = libgitreach_progress_begin(q->progress, q->progress_ctx,
						 inner);
	if (!ret)
		ret = libgitreach_set_new(&set, q->repo, inner);
	if (ret < 0)
		return ret;
	ret = libgitreach_query_load_filter(&filter, q, inner);
	if (!ret)
		ret = run(set, q, &filter, inner);
	filter_release(&filter);
	if (ret < 0)
		gitreach_set_free(set);
	else
		*out = set;
	return libgitreach_done(ret, err);
}

/* ---- several queries */

/*
 * Runs the queries. If a query fails, the elements of `out` for this query and
 * for the queries after it stay NULL.
 */
static int run_all(gitreach_set **out, const gitreach_query *const *queries,
		   size_t nr, gitreach_error *err)
{
	struct error *inner = libgitreach_error(err);
	int ret = 0;

	for (size_t i = 0; i < nr && !ret; i++) {
		ret = libgitreach_need(queries[i], inner);
		if (!ret && queries[i]->repo != queries[0]->repo)
			ret = error_set(
				inner, ERR_INVALID,
				"the queries belong to different snapshots");
		if (!ret)
			ret = gitreach_query_run(&out[i], queries[i], err);
	}
	return ret;
}

int gitreach_query_unique(gitreach_set **out,
			  const gitreach_query *const *queries, size_t nr,
			  gitreach_error *err)
{
	struct error *inner = libgitreach_error(err);
	int ret = libgitreach_need((out && queries) || !nr, inner);

	if (ret < 0)
		return ret;
	for (size_t i = 0; i < nr; i++)
		out[i] = NULL;
	ret = run_all(out, queries, nr, err);
	if (!ret)
		ret = libgitreach_set_keep_unique(out, nr, inner);
	for (size_t i = 0; i < nr && ret < 0; i++) {
		gitreach_set_free(out[i]);
		out[i] = NULL;
	}
	return libgitreach_done(ret, err);
}
