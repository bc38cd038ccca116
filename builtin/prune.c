/* SPDX-License-Identifier: MIT */
/* git prune: removes loose objects that are unreachable. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/approxidate.h"
#include "base/mem.h"
#include "builtin/options.h"
#include "builtin/output.h"
#include "builtin/store.h"
#include "repack/prune.h"
#include "sys/clock.h"

static const char usage_text[] =
	"git prune [-n] [-v] [--progress] [--expire <time>] [--] [<head>...]";

struct args {
	bool dry_run, verbose;
	int progress; /* -1: not given */
	int64_t expiry;
};

static int set_progress(void *value, const char *arg)
{
	*(int *)value = arg != option_negated;
	return 0;
}

/*
 * Callback for --expire: parses the date at once, because stock Git refuses a
 * wrong date even if a later --expire replaces it.
 */
static int take_expire(void *value, const char *arg)
{
	int64_t *expiry = value;

	*expiry = 0;
	if (arg == option_negated ||
	    !approxidate_parse_expiry(expiry, arg, sys_clock_seconds()))
		return 0;
	builtin_die("malformed expiration date '%s'", arg);
	return OPTION_DIED;
}

/*
 * Callback for --exclude-promisor-objects. The option changes nothing, because
 * promisor objects are always left out.
 */
static int take_exclude_promisor(void *value, const char *arg)
{
	(void)value;
	(void)arg;
	return 0;
}

static int parse(struct args *a, int argc, const char **argv)
{
	const struct option options[] = {
		{.kind = OPTION_FLAG,
		 .short_name = 'n',
		 .long_name = "dry-run",
		 .flag = &a->dry_run,
		 .help = "print what would be deleted, and delete nothing"},
		{.kind = OPTION_FLAG,
		 .short_name = 'v',
		 .long_name = "verbose",
		 .flag = &a->verbose,
		 .help = "print each deleted object"},
		{.kind = OPTION_CALLBACK,
		 .long_name = "progress",
		 .value = &a->progress,
		 .flags = OPTION_NO_ARG,
		 .fn = set_progress,
		 .help = "show progress"},
		{.kind = OPTION_CALLBACK,
		 .long_name = "expire",
		 .value = &a->expiry,
		 .fn = take_expire,
		 .arg_name = "<expiry-date>",
		 .help = "delete only objects older than this"},
		{.kind = OPTION_CALLBACK,
		 .long_name = "exclude-promisor-objects",
		 .flags = OPTION_NO_ARG,
		 .fn = take_exclude_promisor,
		 .help = "has no effect: promisor objects are always left out"},
		{.kind = OPTION_END},
	};

	return options_parse(argc, argv, options, usage_text);
}

/* ---- objects to remove */

static void show_object(void *ctx, const struct oid *oid, enum object_type type)
{
	const struct shown_path *shown = ctx;
	char hex[OID_MAX_HEX_LEN + 1];

	printf("%s %s\n", oid_to_hex(hex, oid, shown->algo),
	       type == OBJ_NONE ? "unknown" : object_type_name(type));
}

/* Returns whether a file is in one of the 256 directories of loose objects. */
static bool is_among_objects(const char *path)
{
	const char *end = strrchr(path, '/');

	return end && end - path > 3 && end[-3] == '/';
}

static void show_stale(void *ctx, const char *path, bool is_dir)
{
	const char *prefix, *shown = shown_path_get(ctx, path, &prefix);

	printf("Removing stale temporary %s %s%s\n",
	       is_dir ? "directory" : "file",
	       is_among_objects(path) ? prefix : "", shown);
}

static void show_strange(void *ctx, const char *path)
{
	const char *prefix;

	path = shown_path_get(ctx, path, &prefix);
	fflush(stdout);
	fprintf(stderr, "bad sha1 file: %s%s\n", prefix, path);
}

static void show_packed(void *ctx, const char *path)
{
	const char *prefix;

	path = shown_path_get(ctx, path, &prefix);
	printf("rm -f %s%s\n", prefix, path);
}

static void show_shallow(void *ctx, const struct oid *oid)
{
	const struct shown_path *shown = ctx;
	char hex[OID_MAX_HEX_LEN + 1];

	printf("Removing %s from .git/shallow\n",
	       oid_to_hex(hex, oid, shown->algo));
}

/* ---- the command */

/*
 * Resolve the names of the operands. *heads gets the object ids in a malloc()ed
 * array.
 */
static int resolve_heads(struct oid **heads, struct builtin_env *env,
			 const char **names, size_t nr)
{
	struct error err = ERROR_INIT;
	struct store store;
	int ret;

	*heads = mem_calloc(nr, sizeof(**heads));
	if (!*heads)
		return builtin_die("out of memory");
	if (!nr)
		return 0;
	ret = store_open(&store, env);
	if (ret)
		return ret;
	for (size_t i = 0; i < nr && !ret; i++) {
		ret = store_resolve(&store, &(*heads)[i], names[i], &err);
		if (ret == ERR_UNSUPPORTED && builtin_has_stock())
			ret = store_resolve_by_stock(store.repo, &(*heads)[i],
						     names[i], &err);
		/* As in stock Git, the operands are looked at before refs. */
		if (!ret && odb_info(store.reader, &(*heads)[i], NULL, NULL,
				     NULL) == ERR_MISSING)
			ret = builtin_die("unable to parse object: %s",
					  names[i]);
		else if (ret == ERR_UNSUPPORTED)
			ret = builtin_die("%s", err.msg);
		else if (ret < 0)
			ret = builtin_die("unrecognized argument: %s",
					  names[i]);
	}
	store_close(&store);
	return ret;
}

static void warn(void *ctx, const char *message)
{
	builtin_warn("%s", message);
}

static int run(const struct args *a, const struct repo *repo,
	       const struct oid *heads, size_t head_nr)
{
	struct error err = ERROR_INIT;
	struct progress_out out, packed_out;
	struct shown_path shown;
	struct prune_options o = {
		.dry_run = a->dry_run,
		.heads = heads,
		.head_nr = head_nr,
		.expiry = a->expiry,
		.hooks = {.strange = show_strange, .warn = warn, .ctx = &shown},
	};
	int ret;

	if (a->dry_run || a->verbose) {
		o.hooks.object = show_object;
		o.hooks.stale = show_stale;
	}
	if (a->dry_run) {
		o.hooks.packed = show_packed;
		o.hooks.shallow = show_shallow;
	}
	o.progress = output_progress(&out, a->progress < 0
						   ? PROGRESS_IF_TERMINAL
					   : a->progress ? PROGRESS_LATE
							 : PROGRESS_OFF);
	out.title = "Checking connectivity";
	o.packed_progress = output_progress(
		&packed_out, a->progress ? PROGRESS_IF_TERMINAL : PROGRESS_OFF);
	ret = shown_path_init(&shown, repo, &err);
	if (!ret)
		ret = prune_run(repo, &o, &err);
	shown_path_release(&shown);
	return ret < 0 ? builtin_fail(&err) : 0;
}

int cmd_prune(int argc, const char **argv, struct builtin_env *env)
{
	struct args a = {.progress = -1};
	struct oid *heads = NULL;
	int nr, ret;

	take_expire(&a.expiry, "now");
	nr = parse(&a, argc, argv);
	if (nr < 0)
		return options_failed(nr);
	ret = builtin_open_repo_to_change(env, "prune");
	if (!ret)
		ret = resolve_heads(&heads, env, argv + 1, (size_t)nr);
	if (!ret)
		ret = run(&a, env->repo, heads, (size_t)nr);
	free(heads);
	return builtin_finish(ret);
}
