/* SPDX-License-Identifier: MIT */
/* What all commands share: messages, exit codes, the repository. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "builtin/builtin.h"
#include "builtin/fallback.h"
#include "builtin/tracing.h"

#define EXIT_FATAL 128
#define EXIT_SIGPIPE 141 /* what a shell reports for death by SIGPIPE */

static void say(const char *kind, const char *fmt, va_list ap)
{
	fflush(stdout);
	fprintf(stderr, "%s: ", kind);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
}

int builtin_fail(const struct error *err)
{
	return builtin_die("%s", err->msg);
}

bool builtin_has_stock(void)
{
	return fallback_exists();
}

int builtin_not_ours(const struct error *why)
{
	return builtin_has_stock() ? BUILTIN_NOT_OURS : builtin_fail(why);
}

int builtin_die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("fatal", fmt, ap);
	va_end(ap);
	return EXIT_FATAL;
}

int builtin_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("error", fmt, ap);
	va_end(ap);
	return -1;
}

void builtin_warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("warning", fmt, ap);
	va_end(ap);
}

int builtin_finish(int code)
{
	errno = 0;
	if (!ferror(stdout) && !fflush(stdout))
		return code;
	if (errno == EPIPE)
		return EXIT_SIGPIPE;
	if (!errno)
		return builtin_die("unknown write failure on standard output");
	return builtin_die("write failure on standard output: %s",
			   strerror(errno));
}

/* Returns what repo_open() does. */
static int open_repo(struct builtin_env *env, struct error *err)
{
	const struct repo_options options = {NULL, NULL, 0};

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
