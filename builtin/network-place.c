/* SPDX-License-Identifier: MIT */
/* Opens the fork network for a subcommand of git network. */
#include <stdlib.h>

#include "builtin/network-parts.h"
#include "builtin/pack-args.h"
#include "network/network-repack.h"
#include "network/network-sync.h"

static void warn(const char *text)
{
	builtin_warn("%s", text);
}

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
		return builtin_die(
			"'%s' is not in a network; see 'git network init'",
			env->repo->git_dir);
	if (ret > 0)
		ret = network_open(out, store, &err);
	free(store);
	return ret < 0 ? builtin_fail(&err) : 0;
}

int network_place_recover(struct network *network, struct error *err)
{
	network->warn = warn;
	return network_recover(network, err);
}

int network_place_open_to_change(struct network **out, struct builtin_env *env)
{
	struct error err = ERROR_INIT;
	int code = network_place_open(out, env);

	if (code || !network_place_recover(*out, &err))
		return code;
	network_close(*out);
	*out = NULL;
	return builtin_fail(&err);
}

int network_place_options(struct newpack_options *options,
			  struct progress_out *out,
			  const struct network *network, bool quiet,
			  struct error *err)
{
	struct pack_args args = PACK_ARGS_INIT;
	int ret = network_pack_options(options, network, err);

	args.progress = quiet ? 0 : args.progress;
	options->make.progress = pack_args_progress(out, &args);
	options->make.write_progress = options->make.progress;
	return ret;
}
