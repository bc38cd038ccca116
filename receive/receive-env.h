/* SPDX-License-Identifier: MIT */
/* The environment of hooks: ours, and what they have to know of the push. */
#ifndef RECEIVE_RECEIVE_ENV_H
#define RECEIVE_RECEIVE_ENV_H

#include "base/error.h"
#include "receive/receive.h"
#include "receive/receive-worktree.h"

enum receive_env {
	/* GIT_QUARANTINE_PATH, and the object directories that go with it. */
	RECEIVE_ENV_QUARANTINE = 1 << 0,
	/* GIT_PUSH_OPTION_COUNT and so on, where options may be given. */
	RECEIVE_ENV_OPTIONS = 1 << 1,
	/* GIT_PUSH_CERT and so on, of a signed push. */
	RECEIVE_ENV_CERT = 1 << 2,
};

struct receive_environment {
	char **strings; /* owned array; strings of environ and `own` */
	char **own;     /* owned, with its strings */
	size_t own_nr, own_alloc;
};

/*
 * GIT_DIR is ".": hooks run in the git directory. Those that are about a work
 * tree get its places. 0 or ERR_NOMEM; release in any case.
 */
int receive_environment_init(struct receive_environment *env,
			     const struct receive *r, unsigned flags,
			     const struct receive_worktree *worktree,
			     struct error *err);
void receive_environment_release(struct receive_environment *env);

#endif
