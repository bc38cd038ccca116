/* SPDX-License-Identifier: MIT */
/* Commands that serve a repository over standard input and output. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "builtin/serving.h"
#include "include/gitreach.h"
#include "sys/clock.h"

int serving_enter(struct builtin_env *env, const char *path, bool strict)
{
	struct repo_options options = {
		.path = path,
		.flags = strict ? REPO_OPEN_EXACT : REPO_OPEN_ENTER,
	};
	struct error err = ERROR_INIT;
	int ret = repo_open(&env->repo, &options, &err);

	if (ret == ERR_MISSING)
		return builtin_die(
			"'%s' does not appear to be a git repository", path);
	if (ret < 0)
		return builtin_fail(&err);
	if (chdir(env->repo->git_dir) < 0)
		return builtin_die("cannot change to '%s': %s",
				   env->repo->git_dir, strerror(errno));
	return 0;
}

int serving_session_id(struct buf *out)
{
	return buf_printf(out, "%" PRId64 ".%" PRIu64 "-P%08x",
			  sys_clock_seconds(), sys_clock_ns(),
			  (unsigned)getpid());
}

const char *serving_agent(void)
{
	const char *agent = getenv("GIT_USER_AGENT");

	return agent && *agent ? agent : "gitreach/" GITREACH_VERSION;
}
