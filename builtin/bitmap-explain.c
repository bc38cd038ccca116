/* SPDX-License-Identifier: MIT */
/* git bitmap explain: tells how a request is answered, and why. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "builtin/bitmap-parts.h"
#include "builtin/options.h"
#include "builtin/filterargs.h"
#include "builtin/revargs.h"
#include "pack-bitmap-answer.h"
#include "packing/send.h"
#include "sys/clock.h"

static const char usage[] =
	"git bitmap explain [--exact] [--filter=<filter-spec>] [--stdin] "
	"<rev>...\n"
	"git bitmap explain (--request=<text> | --record)";

struct explain {
	struct bitmap_place place;
	struct rev_args revs;
	struct filter_args filter;
	struct walk_tips wants, haves;
	bool read_stdin, exact;
	/*
	 * true: the request is in `repeat`; false: it is in `revs` and `filter`
	 */
	bool is_repeat;
	struct bitmap_repeat repeat;
	/* nanoseconds that it took to read the tips, and to open the index */
	uint64_t tips_ns, open_ns;
	struct error *err;
};

/* ---- the request */

/*
 * Parse one argument. Returns 0, 129 after printing an error about a wrong
 * argument, or a negative error code.
 */
static int parse_arg(struct explain *e, const char *arg)
{
	int ret = 1;

	if (!strncmp(arg, "--filter=", 9))
		return filter_args_add(&e->filter, arg + 9, e->err);
	if (!strcmp(arg, "--stdin"))
		e->read_stdin = true;
	else if (!strcmp(arg, "--exact"))
		e->exact = true;
	else
		ret = rev_args_add(&e->revs, arg, e->err);
	if (ret)
		return ret < 0 ? ret : 0;
	builtin_error("unsupported option '%s'", arg);
	fprintf(stderr, "usage: %s\n", usage);
	return 129;
}

static int add_tips(struct explain *e, struct walk_tips *tips,
		    const struct rev_list *list)
{
	int ret = 0;

	for (size_t i = 0; i < list->nr && !ret; i++)
		ret = walk_add_tip(&e->place.walk, tips, &list->items[i].oid,
				   false, e->err);
	return ret;
}

/*
 * If --exact is given, load the replace refs: the command then works like
 * rev-list, which obeys refs/replace/. Must be called before the names in the
 * arguments are resolved. The reason: to resolve a name such as HEAD^, a commit
 * is read, and this commit may be replaced.
 */
static int load_replaced(struct explain *e, const char **args)
{
	const struct store *store = &e->place.store;

	for (; *args; args++)
		if (!strcmp(*args, "--exact"))
			return store_load_replaced(store->odb, store->refs,
						   e->err);
	return 0;
}

static int add_ids(struct explain *e, struct walk_tips *tips,
		   const struct request_text_ids *ids, bool lenient)
{
	int ret = 0;

	for (size_t i = 0; i < ids->nr && !ret; i++)
		ret = walk_add_tip(&e->place.walk, tips, &ids->oids[i], lenient,
				   e->err);
	return ret;
}

/*
 * Parse the description of a fetch request. The argument `arg` is one of two
 * options. --request=<description> has the description itself. --record: read
 * the description from standard input, as a record of the log of requests.
 * Resolve the wants and haves of the request.
 */
static int load_repeat(struct explain *e, const char *arg)
{
	const struct request_text *request = &e->repeat.request;
	const char *text = strchr(arg, '=');
	uint64_t start = sys_clock_ns();
	int ret;

	if (rev_args_init(&e->revs, e->place.store.odb, e->place.store.refs) <
	    0)
		return error_nomem(e->err);
	ret = bitmap_repeat_load(&e->repeat, e->place.store.repo,
				 text ? text + 1 : NULL, e->err);
	if (!ret && request->filter)
		ret = filter_args_add(&e->filter, request->filter, e->err);
	if (!ret)
		ret = filter_args_load(&e->filter, &e->revs, e->err);
	if (!ret)
		ret = add_ids(e, &e->wants, &request->wants, false);
	if (!ret)
		ret = add_ids(e, &e->haves, &request->haves, true);
	e->tips_ns = sys_clock_ns() - start;
	return ret;
}

static int load(struct explain *e, const char **args)
{
	uint64_t start = sys_clock_ns();
	int ret = load_replaced(e, args);

	if (ret < 0)
		return ret;
	if (rev_args_init(&e->revs, e->place.store.odb, e->place.store.refs) <
	    0)
		return error_nomem(e->err);
	while (!ret && *args)
		ret = parse_arg(e, *args++);
	if (!ret && e->read_stdin)
		ret = rev_args_add_stdin(&e->revs, e->err);
	if (!ret)
		ret = rev_args_check(&e->revs, e->err);
	if (!ret)
		ret = filter_args_load(&e->filter, &e->revs, e->err);
	rev_args_print_notes(&e->revs);
	if (!ret)
		ret = add_tips(e, &e->wants, &e->revs.wants);
	if (!ret)
		ret = add_tips(e, &e->haves, &e->revs.haves);
	e->tips_ns = sys_clock_ns() - start;
	return ret;
}

/* ---- the answer */

static void print_ms(const char *key, uint64_t ns)
{
	printf("%s-ms=%.3f\n", key, (double)ns / 1e6);
}

static void print_phase(const char *name, const struct pack_bitmap_phase *p)
{
	printf("%s.bitmaps=%" PRIu32 "\n", name, p->bitmaps_used);
	printf("%s.pseudo-merges=%" PRIu32 "\n", name, p->pseudo_merges_used);
	printf("%s.commits-walked=%" PRIu32 "\n", name, p->commits_walked);
	printf("%s.objects=%" PRIu64 "\n", name, p->objects);
	printf("%s.objects-by-bitmap=%" PRIu64 "\n", name,
	       p->objects - p->objects_walked);
	printf("%s.objects-by-walk=%" PRIu64 "\n", name, p->objects_walked);
}

static void print_used(const struct pack_bitmap *pb,
		       const struct bitmap_trace *used)
{
	char hex[OID_MAX_HEX_LEN + 1];

	for (size_t i = 0; i < used->pseudo_nr; i++)
		printf("used-pseudo-merge=%" PRIu32 "\n", used->pseudo[i]);
	for (size_t i = 0; i < used->row_nr; i++) {
		struct bitmap_row row = bitmap_file_row(&pb->file,
							used->rows[i]);

		oid_raw_to_hex(hex, bitmap_space_id(&pb->space, row.idx_pos),
			       pb->odb->algo);
		printf("used-bitmap=%s\n", hex);
	}
}

static void print_found(struct explain *e,
			const struct pack_bitmap_result *result)
{
	uint64_t counts[BITMAP_TYPE_NR];

	pack_bitmap_count(counts, e->place.pb, result);
	printf("commits=%" PRIu64 "\ntrees=%" PRIu64 "\nblobs=%" PRIu64
	       "\ntags=%" PRIu64 "\n",
	       counts[BITMAP_COMMITS], counts[BITMAP_TREES],
	       counts[BITMAP_BLOBS], counts[BITMAP_TAGS]);
}

static void print_unused(const char *reason)
{
	printf("answered-by=walk\nreason=%s\n", reason);
}

/*
 * Print the estimated cost of answering the request with bitmaps, and of
 * answering it by a walk without bitmaps. An unknown cost is not printed.
 */
static void print_plan(const struct bitmap_plan *plan)
{
	printf("estimate.bitmap=%" PRIu64 "\n", plan->bitmap_cost);
	printf("estimate.have-commits=%" PRIu32 "\n", plan->have_commits);
	if (plan->walk_cost == UINT64_MAX)
		return;
	printf("estimate.walk=%" PRIu64 "\n", plan->walk_cost);
	printf("estimate.want-commits=%" PRIu32 "\n", plan->want_commits);
	printf("estimate.want-commits-beyond=%" PRIu32 "\n", plan->want_beyond);
	printf("estimate.boundary=%" PRIu32 "\n", plan->boundary);
}

static void print_answer(struct explain *e,
			 const struct pack_bitmap_result *result,
			 const struct bitmap_plan *plan)
{
	const struct pack_bitmap_trace *trace = result->trace;

	printf("answered-by=bitmap\nreason=%s\npath=%s\n", plan->reason,
	       e->place.pb->path);
	if (e->is_repeat)
		printf("wants=%zu\nhaves=%zu\n", e->repeat.request.wants.nr,
		       e->repeat.request.haves.nr);
	else
		printf("wants=%zu\nhaves=%zu\n", e->revs.wants.nr,
		       e->revs.haves.nr);
	print_found(e, result);
	print_plan(plan);
	print_phase("haves", &trace->haves);
	print_phase("wants", &trace->wants);
	print_ms("tips", e->tips_ns);
	print_ms("open", e->open_ns);
	print_ms("haves", trace->haves.ns);
	print_ms("wants", trace->wants.ns);
	print_used(e->place.pb, &trace->used);
}

/*
 * Query the bitmap index with the same options as git upload-pack and git
 * pack-objects.
 */
static int query(struct explain *e)
{
	struct packing_send_options options;
	struct bitmap_plan plan = {0};
	struct pack_bitmap_ask ask = {
		.pb = e->place.pb,
		.wants = &e->wants,
		.haves = &e->haves,
		.filter = &e->filter.filter,
		.plan = &plan,
	};
	struct pack_bitmap_trace trace = {0};
	struct pack_bitmap_result result = PACK_BITMAP_RESULT_INIT;
	struct error why = ERROR_INIT;
	int ret = packing_send_options_load(&options, e->place.store.repo,
					    e->err);

	if (ret < 0)
		return ret;
	plan.strategy = options.strategy;
	ask.inexact = !options.exact && !e->exact;
	result.trace = &trace;
	ret = pack_bitmap_try(&result, &e->place.walk, &ask, &why, e->err);
	if (!ret) {
		print_unused(why.msg);
		if (why.code == ERR_UNSUPPORTED)
			print_plan(&plan);
	} else if (ret > 0) {
		print_answer(e, &result, &plan);
		ret = 0;
	}
	bitmap_trace_release(&trace.used);
	pack_bitmap_result_release(&result);
	return ret;
}

/*
 * Choose whether to use the bitmap index. Returns 0 if the index is open and
 * will be used. Returns 1 if the index will not be used; *reason says why.
 * Otherwise returns a negative error code.
 */
static int choose(struct explain *e, const char **reason)
{
	struct bitmap_place *place = &e->place;
	uint64_t start = sys_clock_ns();
	bool use = true;
	int ret;

	if (e->is_repeat && bitmap_repeat_is_empty(&e->repeat)) {
		*reason = "nothing is wanted";
		return 1;
	}
	if (e->is_repeat && e->repeat.request.shallow.nr) {
		*reason = "the client's history is shallow";
		return 1;
	}
	if (config_bool(&place->store.repo->config, "pack.usebitmaps", &use,
			e->err) < 0)
		return ERR_INVALID;
	if (!use) {
		*reason = "pack.useBitmaps is false";
		return 1;
	}
	ret = pack_bitmap_answer_open(&place->pb, reason, &place->walk,
				      &e->filter.filter, e->err);
	e->open_ns = sys_clock_ns() - start;
	if (ret > 0) {
		if (e->err->code)
			builtin_warn("%s", e->err->msg);
		return 0;
	}
	if (ret < 0)
		*reason = e->err->msg;
	return ret == ERR_NOMEM ? ret : 1;
}

static int explain(struct explain *e, const char **args)
{
	const char *reason;
	int ret = e->is_repeat ? load_repeat(e, *args) : load(e, args);

	if (ret)
		return ret;
	ret = choose(e, &reason);
	if (!ret)
		ret = query(e);
	else if (ret > 0)
		print_unused(reason);
	if (ret < 0)
		return ret;
	return e->is_repeat ? bitmap_repeat_pack(&e->repeat, &e->place,
						 &e->filter.filter, e->err)
			    : bitmap_explain_plan(&e->place, &e->revs,
						  &e->filter.filter, e->err);
}

static bool is_repeat_arg(const char *arg)
{
	return !strncmp(arg, "--request=", 10) || !strcmp(arg, "--record");
}

int bitmap_explain(int argc, const char **argv, struct builtin_env *env)
{
	struct error err = ERROR_INIT;
	struct explain e = {
		.wants = WALK_TIPS_INIT,
		.haves = WALK_TIPS_INIT,
		.err = &err,
		.repeat = {.text = BUF_INIT},
		.is_repeat = argc == 2 && is_repeat_arg(argv[1]),
	};
	int code, ret;

	if (argc < 2) {
		fprintf(stderr, "usage: %s\n", usage);
		return 129;
	}
	filter_args_init(&e.filter);
	code = bitmap_place_open(&e.place, env, true);
	if (!code) {
		ret = explain(&e, argv + 1);
		code = ret < 0 ? builtin_fail(&err) : ret;
	}
	filter_args_release(&e.filter);
	walk_tips_release(&e.wants);
	walk_tips_release(&e.haves);
	rev_args_release(&e.revs);
	bitmap_repeat_release(&e.repeat);
	bitmap_place_close(&e.place);
	return code;
}
