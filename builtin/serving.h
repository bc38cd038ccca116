/* SPDX-License-Identifier: MIT */
/* What the commands that serve clients have in common. */
#ifndef BUILTIN_SERVING_H
#define BUILTIN_SERVING_H

#include <stdbool.h>

#include "base/buf.h"
#include "builtin/builtin.h"

/*
 * Open the repository at a path that a client named, and make its git
 * directory the working directory, where hooks expect to run; unless `strict`,
 * <path>.git and <path>/.git are tried as well. 0, ERR_MISSING when there is
 * none, or another error.
 */
int serving_open(struct builtin_env *env, const char *path, bool strict,
		 struct error *err);

/* As serving_open(), for commands: 0; or prints and returns 128. */
int serving_enter(struct builtin_env *env, const char *path, bool strict);

/* What we call ourselves, printable and without spaces. */
struct serving_names {
	struct buf agent;      /* GIT_USER_AGENT with dots for what it may not
				  have, or our name and version */
	struct buf session_id; /* unique to this process; that of its trace, if
				  it has one */
};

#define SERVING_NAMES_INIT                                                     \
	{                                                                      \
		BUF_INIT, BUF_INIT                                             \
	}

/* Fill *names. 0; or prints and returns 128. */
int serving_names_load(struct serving_names *names,
		       const struct builtin_env *env);
void serving_names_release(struct serving_names *names);

#endif
