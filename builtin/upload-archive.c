/* SPDX-License-Identifier: MIT */
/*
 * git upload-archive: executes stock Git. If the repository shares objects with
 * other repositories, clients must not be able to get their objects by id. In
 * this case, stock Git gets settings that restrict clients to objects that are
 * reachable in the served repository.
 */
#include <stdio.h>
#include <stdlib.h>

#include "builtin/builtin.h"
#include "builtin/fallback.h"
#include "builtin/options.h"
#include "builtin/tracing.h"
#include "wire/visible.h"

static const char usage[] = "git upload-archive <repository>";

/*
 * Sets *is_limit to true if clients may get only reachable objects, because the
 * repository shares objects with others. If the repository cannot be opened,
 * sets *is_limit to false; stock Git then reports the error. Returns 0 or a
 * negative error code.
 */
static int is_limit(bool *is_limit, struct builtin_env *env, const char *path,
		    struct error *err)
{
	const struct repo_options options = {
		.path = path,
		.flags = REPO_OPEN_ENTER,
	};

	*is_limit = false;
	if (repo_open(&env->repo, &options, NULL) < 0)
		return 0;
	return visible_is_limit(is_limit, env->repo, err);
}

int cmd_upload_archive(int argc, const char **argv, struct builtin_env *env)
{
	const struct option options[] = {{.kind = OPTION_END}};
	const char *words[] = {"-c", "uploadArchive.allowUnreachable=false",
			       "upload-archive", NULL, NULL};
	struct error err = ERROR_INIT;
	int nr = options_parse(argc, argv, options, usage);
	bool limit;

	if (nr < 0)
		return 129;
	if (nr != 1)
		return options_usage(options, usage);
	words[3] = argv[1];
	if (is_limit(&limit, env, argv[1], &err) < 0)
		return builtin_fail(&err);
	repo_close(env->repo);
	env->repo = NULL;
	return fallback_git(limit ? words : words + 2,
			    tracing_trace(env->tracing));
}
