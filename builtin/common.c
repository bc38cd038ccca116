/* SPDX-License-Identifier: MIT */
/*
 * Functions of all commands: opening the repository, and asking for stock Git.
 */
#include "builtin/builtin.h"
#include "builtin/fallback.h"
#include "builtin/tracing.h"

bool builtin_has_stock(void)
{
	return fallback_exists();
}

int builtin_not_ours(const struct error *why)
{
	return builtin_has_stock() ? BUILTIN_NOT_OURS : builtin_fail(why);
}

/*
 * Open the repository of the command. The return values are those of
 * repo_open().
 */
static int open_repo(struct builtin_env *env, struct error *err)
{
	const struct repo_options options = {0};

	int ret;

	if (env->repo)
		return 0;
	ret = repo_open(&env->repo, &options, err);
	if (!ret)
		tracing_repo(env->tracing, env->repo);
	return ret;
}

int builtin_open_repo(struct builtin_env *env)
{
	struct error err = ERROR_INIT;

	return open_repo(env, &err) < 0 ? builtin_fail(&err) : 0;
}

int builtin_open_repo_gently(struct builtin_env *env)
{
	struct error err = ERROR_INIT;
	int ret = open_repo(env, &err);

	if (ret < 0 && ret != ERR_MISSING && ret != ERR_DENIED)
		return builtin_fail(&err);
	return 0;
}

int builtin_choose_algo(struct builtin_env *env, enum hash_algo *algo,
			const char *name)
{
	int code = builtin_open_repo_gently(env);

	if (code)
		return code;
	*algo = env->repo ? env->repo->algo : HASH_SHA1;
	if (name && !hash_by_name(algo, name))
		return builtin_die("unknown hash algorithm '%s'", name);
	return 0;
}
