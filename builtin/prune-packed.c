/* SPDX-License-Identifier: MIT */
/* git prune-packed: removes loose objects that are also in packs. */
#include <stdio.h>

#include "builtin/builtin.h"
#include "builtin/options.h"
#include "builtin/output.h"
#include "repack/prune-packed.h"

static const char usage_text[] =
	"git prune-packed [-n | --dry-run] [-q | --quiet]";

static void show(void *ctx, const char *path)
{
	const char *prefix;

	path = shown_path_get(ctx, path, &prefix);
	printf("rm -f %s%s\n", prefix, path);
}

static void warn(void *ctx, const char *message)
{
	builtin_warn("%s", message);
}

static int run(const struct repo *repo, bool dry_run, bool quiet)
{
	struct error err = ERROR_INIT;
	struct progress_out out;
	struct shown_path shown;
	const struct prune_packed_options options = {
		.removing = dry_run ? show : NULL,
		.warn = warn,
		.ctx = &shown,
		.dry_run = dry_run,
		.progress = output_progress(&out, quiet ? PROGRESS_OFF
							: PROGRESS_IF_TERMINAL),
	};
	int ret = shown_path_init(&shown, repo, &err);

	if (!ret)
		ret = prune_packed(repo, &options, &err);
	shown_path_release(&shown);
	return ret < 0 ? builtin_fail(&err) : 0;
}

int cmd_prune_packed(int argc, const char **argv, struct builtin_env *env)
{
	bool dry_run = false, quiet = false;
	const struct option options[] = {
		{.kind = OPTION_FLAG,
		 .short_name = 'n',
		 .long_name = "dry-run",
		 .flag = &dry_run,
		 .help = "print what would be deleted, and delete nothing"},
		{.kind = OPTION_FLAG,
		 .short_name = 'q',
		 .long_name = "quiet",
		 .flag = &quiet,
		 .help = "be quiet"},
		{.kind = OPTION_END},
	};
	int nr = options_parse(argc, argv, options, usage_text);
	int ret;

	if (nr < 0)
		return 129;
	if (nr > 0) {
		builtin_die("%s\n", "too many arguments");
		return options_usage(options, usage_text);
	}
	ret = builtin_open_repo_to_change(env, "prune");
	if (!ret)
		ret = run(env->repo, dry_run, quiet);
	return builtin_finish(ret);
}
