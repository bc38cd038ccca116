/* SPDX-License-Identifier: MIT */
/*
 * Functions that all commands use: they open the repository, and check whether
 * stock Git is installed.
 */
#include "builtin/builtin.h"
#include "builtin/config-check.h"
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
 * Open the repository of the command and check its configuration. Returns 0, or
 * 128 on failure. *ret tells the two failures apart. If the repository cannot
 * be opened, *ret is a negative error code, *err is set, and nothing was
 * printed. If a value in the configuration is wrong, *ret is 0, and an error
 * was printed.
 */
static int open_repo(struct builtin_env *env, int *ret, struct error *err)
{
	const struct repo_options options = {0};
	unsigned checks;

	*ret = 0;
	if (!env->repo) {
		*ret = repo_open(&env->repo, &options, err);
		if (*ret < 0)
			return 128;
		tracing_repo(env->tracing, env->repo);
	}
	checks = env->config_checks;
	env->config_checks = 0;
	return config_check(&env->repo->config, checks);
}

int builtin_open_repo(struct builtin_env *env)
{
	struct error err = ERROR_INIT;
	int ret;
	int code = open_repo(env, &ret, &err);

	return ret < 0 ? builtin_fail(&err) : code;
}

int builtin_open_repo_to_change(struct builtin_env *env, const char *what)
{
	struct error err = ERROR_INIT;
	int code = builtin_open_repo(env);

	if (code)
		return code;
	return repo_check_copy(env->repo, what, &err) < 0 ? builtin_fail(&err)
							  : 0;
}

int builtin_open_repo_gently(struct builtin_env *env)
{
	struct error err = ERROR_INIT;
	int ret;
	int code = open_repo(env, &ret, &err);

	if (ret == ERR_MISSING || ret == ERR_DENIED)
		return 0;
	return ret < 0 ? builtin_fail(&err) : code;
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
