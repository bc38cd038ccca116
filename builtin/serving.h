/* SPDX-License-Identifier: MIT */
/* What upload-pack and receive-pack have in common as commands. */
#ifndef BUILTIN_SERVING_H
#define BUILTIN_SERVING_H

#include <stdbool.h>

#include "base/buf.h"
#include "builtin/builtin.h"

/*
 * Enter the repository that a client asks for; unless `strict`, <path>.git
 * and <path>/.git are tried as well. The working directory is its git
 * directory afterwards, where hooks expect to run. 0; or prints and returns
 * 128.
 */
int serving_enter(struct builtin_env *env, const char *path, bool strict);

/* Append a session id: unique to this process, printable. 0 or ERR_NOMEM. */
int serving_session_id(struct buf *out);

/* What we call ourselves: GIT_USER_AGENT, or name and version. */
const char *serving_agent(void);

#endif
