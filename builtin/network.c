/* SPDX-License-Identifier: MIT */
/* git network: repositories that share a store. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "builtin/network-parts.h"
#include "builtin/pack-args.h"
#include "builtin/subcommand.h"
#include "network/network-sync.h"

static const char usage_text[] =
	"git network init [--object-format=<format>] <store>\n"
	"git network add [-q] <repository>...\n"
	"git network fork [-q] <source> <destination>\n"
	"git network sync [-q] (--all | <member>...)\n"
	"git network repack [-q] [--prune[=<date>]] [--keep-members]\n"
	"git network list [--json]\n"
	"git network leave [-q] <member>...\n"
	"git network delete [-q] <member>...\n"
	"git network verify\n"
	"git network stats [<member>...]";

int network_place_open(struct network **out, struct builtin_env *env)
{
	struct error err = ERROR_INIT;
	char *store;
	int ret, code = builtin_open_repo(env);

	*out = NULL;
	if (code)
		return code;
	ret = network_find(&store, env->repo, &err);
	if (!ret)
		return builtin_die("'%s' is in no network; see 'git network "
				   "init'",
				   env->repo->git_dir);
	if (ret > 0)
		ret = network_open(out, store, &err);
	free(store);
	return ret < 0 ? builtin_fail(&err) : 0;
}

int network_place_options(struct newpack_options *options,
			  struct progress_out *out,
			  const struct network *network, bool quiet,
			  struct error *err)
{
	struct pack_args args = PACK_ARGS_INIT;
	int ret = network_pack_options(options, network, err);

	args.quiet = quiet;
	options->make.progress = pack_args_progress(out, &args);
	options->make.write_progress = options->make.progress;
	return ret;
}

/* They would be about all repositories at once. */
static const char *hostile_variable(void)
{
	static const char *const names[] = {
		"GIT_OBJECT_DIRECTORY",
		"GIT_ALTERNATE_OBJECT_DIRECTORIES",
		"GIT_COMMON_DIR",
	};

	for (size_t i = 0; i < ARRAY_NR(names); i++)
		if (getenv(names[i]))
			return names[i];
	return NULL;
}

int cmd_network(int argc, const char **argv, struct builtin_env *env)
{
	static const struct subcommand subcommands[] = {
		{"add", network_cmd_add},
		{"delete", network_cmd_delete},
		{"fork", network_cmd_fork},
		{"init", network_cmd_init},
		{"leave", network_cmd_leave},
		{"list", network_cmd_list},
		{"repack", network_cmd_repack},
		{"stats", network_cmd_stats},
		{"sync", network_cmd_sync},
		{"verify", network_cmd_verify},
		{NULL, NULL},
	};

	if (hostile_variable())
		return builtin_die("%s must not be set here",
				   hostile_variable());
	return subcommand_run(subcommands, usage_text, argc, argv, env);
}
