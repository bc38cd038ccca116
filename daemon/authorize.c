/* SPDX-License-Identifier: MIT */
/*
 * Asks the access helper whether a request is allowed, over HTTP, git:// or
 * ssh.
 */
#include <string.h>

#include "daemon/daemon-parts.h"

/* Returns the path of a repository below the base path, or its full path. */
static const char *name_of(const struct repo *repo, const char *base)
{
	/*
	 * A linked work tree counts as its repository, because it has the same
	 * refs and objects.
	 */
	const char *dir = repo->common_dir;
	size_t len = strlen(base);

	return !strncmp(dir, base, len) && dir[len] == '/' ? dir + len : dir;
}

/* Appends "/<name>" of the local copy. Returns whether this was possible. */
static bool name_copy(struct buf *name, const struct daemon_place *place)
{
	const struct generation_place *of =
		place->use.copy ? stored_copy_place(place->use.copy) : NULL;

	return of && buf_printf(name, "/%s", of->repository) >= 0;
}

int daemon_authorize(struct access_answer *out,
		     const struct daemon_options *options,
		     const struct daemon_conn *conn,
		     struct access_question *question,
		     const struct daemon_place *place, const struct repo *repo)
{
	struct error err = ERROR_INIT;
	struct buf name = BUF_INIT;
	int ret = 0;

	/*
	 * Clients can name one repository as /a, /a.git or /a.git/, so the path
	 * that was opened is used.
	 */
	if (repo && !conn->copies)
		question->repository = name_of(repo, options->base_path);
	else if (repo && name_copy(&name, place))
		question->repository = name.data;
	else if (repo)
		ret = error_nomem(&err);
	if (!ret)
		ret = access_ask(out, conn->helper, question, &err);
	buf_release(&name);
	if (ret < 0) {
		daemon_log(options, conn, err.msg);
		return ERR_PEER;
	}
	/*
	 * If refs are hidden, refuse archives: an archive can have objects of
	 * hidden refs.
	 */
	if (out->hidden_nr && !strcmp(question->service, "upload-archive"))
		out->is_allowed = false;
	return out->is_allowed ? 0 : ERR_DENIED;
}
