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

/*
 * Append a session id: unique to this process, printable; that of its trace,
 * if it has one. 0 or ERR_NOMEM.
 */
int serving_session_id(struct buf *out, const struct builtin_env *env);

/* What we call ourselves: GIT_USER_AGENT, or name and version. */
const char *serving_agent(void);

#endif
