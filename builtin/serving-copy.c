/* SPDX-License-Identifier: MIT */
/*
 * Receives a push for a repository that is in a store. The push arrives in the
 * node's local copy of this repository (a cached replica).
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "builtin/builtin.h"
#include "builtin/serving-copy.h"
#include "copies/push.h"
#include "sys/process.h"
#include "sys/trace.h"

/*
 * Returns whether only administrators read standard error: a log of a server,
 * or a terminal of this machine. Over ssh, the client reads standard error, so
 * names of machines must not be printed.
 */
static bool is_local(void)
{
	return !getenv("SSH_CONNECTION");
}

static void warn(void *ctx, const char *message)
{
	const struct repo *repo = ctx;

	if (is_local())
		builtin_warn("%s", message);
	trace_error(repo->trace, message);
}

/*
 * If standard error goes to a client, write *err to the trace and replace its
 * message, which may name machines. Returns `code`.
 */
static int hide_detail(const struct repo *repo, int code, struct error *err)
{
	if (is_local() || !err)
		return code;
	trace_error(repo->trace, err->msg);
	return error_set(err, code,
			 "the local copy of the repository cannot be brought "
			 "up to date; try again later");
}

/*
 * Append the name of the user who pushes. The store records this name with the
 * push. It is the value of REMOTE_USER, which a server sets, or else the login
 * name.
 */
static int name_user(struct buf *out, struct error *err)
{
	const char *user = getenv("REMOTE_USER");
	int ret;

	if (user && *user)
		return buf_append_str(out, user) < 0 ? error_nomem(err) : 0;
	ret = sys_user_name(out, false, err);
	return ret == ERR_MISSING ? 0 : ret;
}

/*
 * Change to the directory of the local copy again. When the copy was brought to
 * the newest generation, its directory may have been replaced by a new one.
 */
static int enter(const struct stored_copy *copy, struct error *err)
{
	const char *dir = stored_copy_dir(copy);

	return chdir(dir) < 0
		       ? error_set_errno(err, "cannot change to '%s'", dir)
		       : 0;
}

/*
 * Opens the repository again, because the refresh of the copy may have replaced
 * its configuration.
 */
static int reopen(struct serving_copy *c, const struct repo *repo,
		  struct error *err)
{
	const struct repo_options options = {.path = repo->git_dir,
					     .flags = REPO_OPEN_ENTER};
	int ret = repo_open(&c->repo, &options, err);

	if (!ret)
		c->repo->trace = repo->trace;
	return ret;
}

/* ---- callbacks of struct receive_target; `ctx` is a struct serving_copy */

static int upload(void *ctx, const char *dir, struct error *err)
{
	return stored_push_upload(((struct serving_copy *)ctx)->push, dir, err);
}

static int publish(void *ctx, struct ref_transaction *tx, struct error *err)
{
	return stored_push_publish(((struct serving_copy *)ctx)->push, tx, err);
}

static int purge(void *ctx, struct error *err)
{
	struct error why = ERROR_INIT;
	struct serving_copy *c = ctx;
	int ret = stored_copy_purge(c->copy, &why);

	if (!ret)
		return 0;
	warn(c->repo, why.msg);
	return error_set(err, ret,
			 "the local copy of the repository has foreign "
			 "objects; nothing was changed");
}

/* ---- opening */

/*
 * Returns whether the server that started this process has brought the copy to
 * the newest generation already. Such a server sets the variable
 * STORED_COPY_ASKED. Removes the variable, so that hooks and later requests do
 * not get it.
 */
static bool was_asked(const struct stored_copy *copy)
{
	const char *path = getenv(STORED_COPY_ASKED);
	bool is_same = path && !strcmp(path, stored_copy_dir(copy));

	unsetenv(STORED_COPY_ASKED);
	return is_same;
}

static int begin(struct serving_copy *c, const struct repo *repo,
		 struct error *err)
{
	struct buf node = BUF_INIT, user = BUF_INIT;
	struct stored_push_options options = {
		.algo = repo->algo,
		.was_asked = was_asked(c->copy),
		.warn = warn,
		.ctx = (void *)repo,
	};
	int ret = sys_host_name(&node, err);

	if (!ret)
		ret = name_user(&user, err);
	if (!ret) {
		options.node = node.data;
		options.user = user.len ? user.data : "";
		ret = stored_push_open(&c->push, c->copy, &options, err);
	}
	if (!ret)
		ret = enter(c->copy, err);
	if (!ret)
		ret = stored_copy_purge(c->copy, err);
	if (!ret)
		ret = reopen(c, repo, err);
	buf_release(&node);
	buf_release(&user);
	return ret;
}

int serving_copy_open(struct serving_copy *c, const struct repo *repo,
		      struct error *err)
{
	int ret;

	*c = (struct serving_copy){0};
	ret = stored_copy_open(&c->copy, repo->git_dir, err);
	if (ret || !c->copy)
		return ret < 0 ? hide_detail(repo, ret, err) : 0;
	c->target = (struct receive_target){upload, publish, c, purge};
	ret = begin(c, repo, err);
	return ret < 0 ? hide_detail(repo, ret, err) : ret;
}

void serving_copy_close(struct serving_copy *c)
{
	stored_push_close(c->push);
	stored_copy_close(c->copy);
	repo_close(c->repo);
	*c = (struct serving_copy){0};
}

const struct receive_target *serving_copy_target(const struct serving_copy *c)
{
	return c->copy ? &c->target : NULL;
}

const struct repo *serving_copy_repo(const struct serving_copy *c,
				     const struct repo *repo)
{
	return c->repo ? c->repo : repo;
}
