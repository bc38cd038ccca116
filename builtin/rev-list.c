/* SPDX-License-Identifier: MIT */
/*
 * git rev-list: lists commits and objects that some revisions reach and others
 * do not.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "builtin/builtin.h"
#include "builtin/lazy-fetch.h"
#include "builtin/output.h"
#include "builtin/rev-list.h"
#include "builtin/revargs.h"
#include "builtin/store.h"
#include "odb/odb.h"
#include "pack-bitmap-answer.h"
#include "repo/grafts.h"
#include "walk/filtered.h"

/*
 * Add a tip. If the bitmap index may be used, the object is not read here,
 * because an answer by the index may not need its content.
 */
static int add_tip(struct rev_list_run *r, struct walk_tips *tips,
		   const struct oid *oid)
{
	if (tips == &r->haves && r->o.missing == MISSING_ERROR)
		return walk_add_excluded_tip(&r->walk, tips, oid, r->err);
	if (r->o.use_bitmap && !r->args.haves.nr &&
	    r->o.missing == MISSING_ERROR)
		return walk_add_tip_unread(&r->walk, tips, oid, r->err);
	return walk_add_tip(&r->walk, tips, oid, false, r->err);
}

/*
 * Handle a tip that is missing or damaged. `code` is ERR_MISSING or
 * ERR_CORRUPT. Returns 0 if the walk may go on without the tip, or a negative
 * error code.
 */
static int miss_tip(struct rev_list_run *r, const struct walk_tips *tips,
		    const struct oid *oid, int code)
{
	if (r->o.missing != MISSING_ERROR)
		return rev_list_miss_tip(r, oid, tips == &r->haves, code);
	return code == ERR_MISSING ? rev_args_name_missing(&r->args, r->err)
				   : code;
}

static int add_tips(struct rev_list_run *r, struct walk_tips *tips,
		    const struct rev_list *list, bool with_paths)
{
	for (size_t i = 0; i < list->nr; i++) {
		size_t before = tips->others.nr;
		int ret = add_tip(r, tips, &list->items[i].oid);

		if (ret == ERR_MISSING || ret == ERR_CORRUPT)
			ret = miss_tip(r, tips, &list->items[i].oid, ret);
		if (ret < 0)
			return ret;
		if (!with_paths || tips->others.nr == before)
			continue;
		if (mem_grow(&r->want_paths, &r->want_path_alloc,
			     tips->others.nr, sizeof(*r->want_paths)) < 0)
			return error_nomem(r->err);
		for (size_t k = before; k < tips->others.nr; k++)
			r->want_paths[k] = list->items[i].path;
	}
	return 0;
}

static int open_walk(struct rev_list_run *r)
{
	int ret = 0;

	if (rev_list_must_exist(r))
		ret = rev_args_check(&r->args, r->err);
	if (!ret)
		ret = walk_open(&r->walk, r->odb, NULL, 0, r->err);
	if (ret < 0)
		return ret;
	r->has_walk = true;
	r->walk.history.allow_missing = r->o.missing != MISSING_ERROR;
	r->walk.history.lazy_trees = r->history.is_asked;
	if (r->o.exclude_promisor || r->o.missing == MISSING_ALLOW_PROMISOR)
		ret = promisor_init(&r->promisor, &r->walk, r->err);
	if (ret < 0)
		return ret;
	ret = add_tips(r, &r->wants, &r->args.wants, true);
	return ret < 0 ? ret : add_tips(r, &r->haves, &r->args.haves, false);
}

/* Apply --skip and --max-count to the list of commits, then --reverse. */
static void limit(struct rev_list_run *r, struct revwalk_result *revs)
{
	size_t skip = r->o.skip < revs->nr ? (size_t)r->o.skip : revs->nr;

	revs->nr -= skip;
	if (skip && revs->nr)
		memmove(revs->commits, revs->commits + skip,
			revs->nr * sizeof(*revs->commits));
	if (r->o.max_count < revs->nr)
		revs->nr = (size_t)r->o.max_count;
	for (size_t i = 0; r->o.reverse && i < revs->nr / 2; i++) {
		uint32_t swap = revs->commits[i];

		revs->commits[i] = revs->commits[revs->nr - 1 - i];
		revs->commits[revs->nr - 1 - i] = swap;
	}
}

/*
 * Print what follows the objects: the omitted and the missing objects, and the
 * results of --count and --disk-usage.
 */
static void finish(struct rev_list_run *r)
{
	fwrite(r->omitted.data, 1, r->omitted.len, stdout);
	fwrite(r->missing.data, 1, r->missing.len, stdout);
	if (r->o.disk_usage && r->o.disk_usage_human) {
		output_size(r->disk_bytes);
		putchar('\n');
	} else if (r->o.disk_usage)
		printf("%" PRIu64 "\n", r->disk_bytes);
	else if (r->o.count && r->pick.left_right)
		printf("%" PRIu64 "\t%" PRIu64 "\n", r->pick.left_nr,
		       r->shown - r->pick.left_nr);
	else if (r->o.count)
		printf("%" PRIu64 "\n", r->shown);
}

/*
 * Find the commits. The objects that they reach are listed later, one by one.
 */
static int find_commits(struct rev_list_run *r, struct revwalk_result *revs)
{
	struct revwalk_tips tips = {
		r->wants.commits,
		r->wants.commit_nr,
		r->haves.commits,
		r->haves.commit_nr,
	};
	struct walk_result local = WALK_RESULT_INIT;
	int ret;

	if (!r->promisor.has_packs || !r->o.exclude_promisor)
		return revwalk_run(revs, &r->walk.history, &tips, false,
				   r->err);
	ret = promisor_enumerate(&local, &r->promisor, &r->wants, &r->haves,
				 PATH_GROUP_NONE, false, r->err);
	*revs = local.revs;
	local.revs = (struct revwalk_result)REVWALK_RESULT_INIT;
	walk_result_release(&local);
	return ret;
}

static int list_by_walk(struct rev_list_run *r)
{
	struct revwalk_result revs = REVWALK_RESULT_INIT;
	int ret = find_commits(r, &revs);

	if (!ret)
		ret = filtered_spared(&r->unfiltered, &r->walk, &r->wants,
				      r->o.filter_provided, r->err);
	if (!ret) {
		rev_list_pick(r, &revs);
		limit(r, &revs);
	}
	for (size_t i = 0; i < revs.nr && !ret && !r->o.in_commit_order; i++)
		ret = rev_list_show_commit(r, revs.commits[i]);
	if (!ret && (r->o.objects || r->o.in_commit_order))
		ret = rev_list_show_objects(r, revs.commits, revs.nr,
					    revs.boundary, revs.boundary_nr);
	revwalk_result_release(&revs);
	return ret;
}

/*
 * Count objects by a walk that finds neither the order nor the paths of
 * objects.
 */
static int count_by_walk(struct rev_list_run *r)
{
	struct walk_result result = WALK_RESULT_INIT;
	struct walk_options options = {
		.objects = r->o.objects,
		.exclude_boundary = true,
		.set_only = true,
		.filter = &r->filter.filter,
		.filter_wants = r->o.filter_provided,
	};
	int ret = walk_enumerate(&result, &r->walk, &r->wants, &r->haves,
				 &options, r->err);

	r->shown = result.revs.nr + result.objects.nr;
	walk_result_release(&result);
	return ret;
}

static int show_found(void *ctx, uint32_t obj_pos, enum object_type type)
{
	struct rev_list_run *r = ctx;

	if (r->o.objects || type == OBJ_COMMIT)
		return rev_list_show(r, obj_pos, NULL);
	return 0;
}

static int list_found(struct rev_list_run *r, const struct pack_bitmap *pb,
		      const struct pack_bitmap_result *result)
{
	uint64_t counts[BITMAP_TYPE_NR];

	if (!r->o.count || r->o.disk_usage)
		return pack_bitmap_each(pb, result, show_found, r, r->err);
	pack_bitmap_count(counts, pb, result);
	for (int i = 0; i < (r->o.objects ? BITMAP_TYPE_NR : 1); i++)
		r->shown += counts[i];
	return 0;
}

/*
 * Answer the request with the bitmap index. Returns 1 if the request was
 * answered, 0 if there is no usable index, or a negative error code.
 */
static int list_by_bitmap(struct rev_list_run *r)
{
	struct pack_bitmap_ask ask = {
		.wants = &r->wants,
		.haves = &r->haves,
		.filter = &r->filter.filter,
		.filter_wants = r->o.filter_provided,
		.commits_only = !r->o.objects,
		.must_use_bitmap = true,
	};
	struct pack_bitmap_result result = PACK_BITMAP_RESULT_INIT;
	struct error warning = ERROR_INIT, why = ERROR_INIT;
	struct pack_bitmap *pb;
	const char *reason;
	int ret = pack_bitmap_answer_open(&pb, &reason, &r->walk, ask.filter,
					  &warning);

	if (ret == ERR_NOMEM)
		return error_nomem(r->err);
	if (warning.code)
		builtin_warn("%s", warning.msg);
	if (ret <= 0)
		return 0;
	ask.pb = pb;
	ret = pack_bitmap_try(&result, &r->walk, &ask, &why, r->err);
	if (why.code == ERR_CORRUPT)
		builtin_warn("%s", why.msg);
	if (ret > 0) {
		ret = list_found(r, pb, &result);
		ret = ret < 0 ? ret : 1;
	}
	pack_bitmap_result_release(&result);
	pack_bitmap_close(pb);
	return ret;
}

static int test_bitmap(struct rev_list_run *r)
{
	const char *unfit = pack_bitmap_answer_unfit(&r->walk, NULL);
	struct pack_bitmap *pb;
	char hex[OID_MAX_HEX_LEN + 1];
	int ret;

	if (unfit)
		return error_set(r->err, ERR_UNSUPPORTED,
				 "cannot test a bitmap, because %s", unfit);
	ret = pack_bitmap_open(&pb, r->odb, r->err);
	if (ret < 0)
		return ret;
	if (r->err->code)
		builtin_warn("%s", r->err->msg);
	if (!ret)
		return error_set(r->err, ERR_MISSING,
				 "failed to load bitmap indexes");
	if (r->args.wants.nr != 1 || r->wants.commit_nr != 1 ||
	    r->args.haves.nr) {
		ret = error_set(r->err, ERR_INVALID,
				"you must specify exactly one commit to test");
		goto out;
	}
	oid_to_hex(hex, &r->args.wants.items[0].oid, r->odb->algo);
	ret = pack_bitmap_prove(pb, r->err);
	if (ret < 0)
		goto out;
	fprintf(stderr, "Bitmap v%d test (%u entries loaded, %u total)\n",
		BITMAP_VERSION, pb->file.row_nr, pb->file.row_nr);
	ret = pack_bitmap_test(pb, &r->walk, r->wants.commits[0], r->err);
	if (!ret)
		error_set(r->err, ERR_MISSING,
			  "commit '%s' doesn't have an indexed bitmap", hex);
	else if (ret > 0)
		fprintf(stderr, "Found bitmap for '%s'. %u bits\nOK!\n", hex,
			pack_bitmap_object_nr(pb));
out:
	pack_bitmap_close(pb);
	return ret > 0 ? 0 : ret ? ret : ERR_MISSING;
}

/* Returns whether objects must be listed one by one and in order. */
static bool needs_list(const struct rev_list_run *r)
{
	return r->o.max_count != UINT64_MAX || r->o.skip || r->o.unpacked ||
	       r->o.print_omitted || r->o.missing != MISSING_ERROR ||
	       r->o.exclude_promisor || r->pick.left_right ||
	       rev_list_pick_leaves_out(&r->pick);
}

static bool can_use_bitmap(const struct rev_list_run *r)
{
	return r->o.use_bitmap && !needs_list(r) && !r->o.reverse &&
	       !r->history.is_asked && !r->o.in_commit_order;
}

static int answer(struct rev_list_run *r)
{
	int ret = 0;

	if (r->o.test_bitmap)
		return test_bitmap(r);
	if (can_use_bitmap(r))
		ret = list_by_bitmap(r);
	if (!ret && r->history.is_asked)
		ret = rev_list_history(r);
	else if (!ret && r->o.count && !r->o.disk_usage && !needs_list(r) &&
		 !(r->filter.filter.nr && r->wants.others.nr))
		ret = count_by_walk(r);
	else if (!ret)
		ret = list_by_walk(r);
	if (ret >= 0)
		finish(r);
	return ret < 0 ? ret : 0;
}

/* Returns whether an option is given that stands for refs, such as --all. */
static bool asks_for_refs(const char **argv)
{
	static const char *const options[] = {
		"--all",
		"--branches",
		"--tags",
		"--remotes",
	};

	for (argv++; *argv; argv++)
		for (size_t i = 0; i < ARRAY_NR(options); i++)
			if (!strcmp(*argv, options[i]))
				return true;
	return false;
}

/*
 * Check configuration keys that have no effect on this command, because stock
 * Git refuses invalid values of these keys.
 */
static int check_keys(const struct config *config, struct error *err)
{
	static const char *const keys[] = {
		"feature.experimental",
		"pack.usebitmapboundarytraversal",
	};
	bool unused;
	int ret = 0;

	for (size_t i = 0; ret >= 0 && i < ARRAY_NR(keys); i++)
		ret = config_bool(config, keys[i], &unused, err);
	return ret < 0 ? ret : 0;
}

/*
 * Leave a repository with info/grafts to stock Git, because only stock Git
 * follows grafts.
 */
static int check_grafts(const struct repo *repo, struct error *err)
{
	int ret = grafts_exist(repo, err);

	if (ret <= 0)
		return ret;
	return error_set(err, ERR_UNSUPPORTED,
			 "parents in info/grafts are not supported yet");
}

/*
 * Returns whether an option --missing allows missing objects. Reads the options
 * among all arguments before the first revision is resolved, because the option
 * may follow a revision.
 */
static bool allows_missing(const char **argv)
{
	bool allows = false;

	for (argv++; *argv && strcmp(*argv, "--") != 0; argv++)
		if (!strncmp(*argv, "--missing=", 10) &&
		    strcmp(*argv + 10, "error") != 0)
			allows = true;
	return allows;
}

/*
 * Returns whether missing objects are fetched. They are not fetched with
 * --exclude-promisor-objects, or if an option --missing allows missing objects.
 */
static bool fetches_missing(const char **argv)
{
	bool fetches = !allows_missing(argv);

	for (argv++; *argv && strcmp(*argv, "--") != 0; argv++)
		if (!strcmp(*argv, "--exclude-promisor-objects"))
			fetches = false;
	return fetches;
}

static int open_all(struct rev_list_run *r, const char **argv,
		    struct builtin_env *env, struct error *warning)
{
	const struct repo *repo = env->repo;
	int ret = check_keys(&repo->config, r->err);

	if (!ret)
		ret = refs_open(&r->refs, repo, r->err);
	if (!ret && asks_for_refs(argv))
		ret = refs_list_now(r->refs, r->err);
	if (!ret)
		ret = odb_open(&r->odb, repo, warning, r->err);
	if (!ret && fetches_missing(argv))
		ret = lazy_fetch_enable(r->odb, env, LAZY_FETCH_READ, r->err);
	if (!ret)
		ret = store_load_replaced(r->odb, r->refs, r->err);
	if (!ret && rev_args_init(&r->args, r->odb, r->refs) < 0)
		ret = error_nomem(r->err);
	r->args.takes_paths = true;
	r->args.broken_is_missing = allows_missing(argv);
	return ret;
}

/*
 * Make a temporary file with the whole standard input: the lines that were
 * already read (`input`), and the rest.
 */
static FILE *whole_input(const struct buf *input)
{
	FILE *file = tmpfile();
	char chunk[8192];
	size_t len = input->len;

	if (!file)
		return NULL;
	fwrite(input->data, 1, len, file);
	while ((len = fread(chunk, 1, sizeof(chunk), stdin)) > 0)
		fwrite(chunk, 1, len, file);
	if (!ferror(stdin) && !ferror(file) && !fflush(file) &&
	    !fseek(file, 0, SEEK_SET))
		return file;
	fclose(file);
	return NULL;
}

/*
 * Prepare to run stock Git: give it the whole standard input again. Returns
 * BUILTIN_NOT_OURS or a negative error code.
 */
static int hand_over(struct rev_list_run *r)
{
	FILE *file;
	int ret = 0;

	if (!r->args.input)
		return builtin_not_ours(r->err);
	file = whole_input(&r->input);
	if (!file || dup2(fileno(file), STDIN_FILENO) < 0)
		ret = error_set_errno(
			r->err, "cannot pass standard input to stock Git");
	if (file)
		fclose(file);
	return ret < 0 ? ret : builtin_not_ours(r->err);
}

/*
 * Run rev-list. Returns the exit code, a negative error code whose error was
 * not printed, or BUILTIN_NOT_OURS.
 */
static int run_all(struct rev_list_run *r, const char **argv,
		   struct builtin_env *env)
{
	struct error warning = ERROR_INIT;
	int ret = check_grafts(env->repo, r->err);

	if (ret == ERR_UNSUPPORTED)
		return builtin_not_ours(r->err);
	if (!ret)
		ret = open_all(r, argv, env, &warning);
	if (!ret) {
		ret = rev_list_parse(r, argv);
		if (ret == ERR_UNSUPPORTED)
			return hand_over(r);
		rev_args_print_notes(&r->args);
	}
	if (warning.code)
		builtin_error("%s", warning.msg);
	if (!ret && r->filter.filter.nr && !r->o.objects)
		ret = error_set(r->err, ERR_INVALID,
				"object filtering requires --objects");
	if (!ret && !r->args.wants.nr && !r->args.haves.nr &&
	    !r->args.asked_for_refs && !r->o.read_stdin && !r->o.objects &&
	    !r->o.test_bitmap)
		return rev_list_usage(stderr);
	if (!ret)
		ret = filter_args_load(&r->filter, &r->args, r->err);
	rev_args_print_notes(&r->args);
	if (!ret)
		ret = open_walk(r);
	if (!ret)
		ret = rev_list_open_pick(r);
	if (!ret)
		ret = answer(r);
	return ret;
}

int cmd_rev_list(int argc, const char **argv, struct builtin_env *env)
{
	struct error err = ERROR_INIT;
	struct rev_list_run r = {
		.o = {.max_count = UINT64_MAX},
		.wants = WALK_TIPS_INIT,
		.haves = WALK_TIPS_INIT,
		.omitted = BUF_INIT,
		.missing = BUF_INIT,
		.input = BUF_INIT,
		.history = REV_LIST_HISTORY_INIT,
		.pick = REV_LIST_PICK_INIT,
		.err = &err,
	};
	int ret;

	if (argc == 2 && !strcmp(argv[1], "-h"))
		return builtin_finish(rev_list_usage(stdout));
	ret = builtin_open_repo(env);
	if (ret)
		return ret;
	filter_args_init(&r.filter);
	ret = run_all(&r, argv, env);
	filter_args_release(&r.filter);
	rev_list_history_release(&r.history);
	bitset_release(&r.pick.left);
	bitset_release(&r.unfiltered);
	bitset_release(&r.missed);
	buf_release(&r.omitted);
	buf_release(&r.missing);
	buf_release(&r.input);
	walk_tips_release(&r.wants);
	walk_tips_release(&r.haves);
	if (r.has_walk)
		walk_close(&r.walk);
	promisor_release(&r.promisor);
	rev_args_release(&r.args);
	free(r.want_paths);
	odb_close(r.odb);
	refs_close(r.refs);
	if (ret < 0 && ret != BUILTIN_NOT_OURS)
		return builtin_fail(&err);
	return builtin_finish(ret);
}
