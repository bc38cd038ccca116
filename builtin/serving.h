/* SPDX-License-Identifier: MIT */
/*
 * Functions of the commands that serve remote clients (upload-pack,
 * receive-pack, http-backend).
 */
#ifndef BUILTIN_SERVING_H
#define BUILTIN_SERVING_H

#include "base/buf.h"
#include "builtin/builtin.h"
#include "packing/send.h"
#include "sys/tcp.h"
#include "wire/summary.h"

/*
 * Open the repository at a path that a client has sent. Its git directory
 * becomes the working directory, because hooks expect to run there. `flags`
 * are flags of repo_open(). Returns 0, ERR_MISSING if there is no repository,
 * or another negative error code.
 */
int serving_open(struct builtin_env *env, const char *path, unsigned flags,
		 struct error *err);

/*
 * Open a repository like serving_open(), for commands. Returns 0, or prints an
 * error and returns 128.
 */
int serving_enter(struct builtin_env *env, const char *path, unsigned flags);

/*
 * The names that the server sends to clients. They are printable and have no
 * spaces.
 */
struct serving_names {
	/*
	 * GIT_USER_AGENT, with a dot for each invalid byte; by default our name
	 * and version.
	 */
	struct buf agent;
	/*
	 * An id that is unique to this process. If there is a trace, the
	 * trace's id.
	 */
	struct buf session_id;
};

#define SERVING_NAMES_INIT                                                     \
	{                                                                      \
		BUF_INIT, BUF_INIT                                             \
	}

/*
 * Returns the client's address, user and trace parent, from the environment:
 * REMOTE_ADDR or SSH_CONNECTION, REMOTE_USER, and HTTP_TRACEPARENT. The address
 * in SSH_CONNECTION is copied to `address`.
 */
struct summary_about serving_about(char address[SYS_ADDRESS_MAX]);

/*
 * Set the user agent and the session id that this process sends to clients.
 * Returns 0, or prints an error and returns 128.
 */
int serving_names_load(struct serving_names *names,
		       const struct builtin_env *env);
void serving_names_release(struct serving_names *names);

/*
 * Make and send a pack like packing_send(). If gitreach.planDirectory is set, a
 * plan (a cached response, plans/plan-dir.h) is used or made. If this directory
 * cannot be used, a warning is printed on standard error, and the pack is made
 * without plans. `ctx` is not used.
 */
int serving_make_pack(void *ctx, const struct odb *odb,
		      const struct packing_request *request,
		      const struct packing_send_options *options,
		      struct pack_sink sink, struct packing_report *report,
		      struct error *err);

#endif
