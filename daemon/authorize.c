/* SPDX-License-Identifier: MIT */
/*
 * Asks the access helper whether a request is allowed, over HTTP, git:// or
 * ssh.
 */
#include <string.h>

#include "daemon/daemon-parts.h"

/*
 * Returns the path of a repository relative to the base path, or its full path
 * if the repository is not below the base path.
 */
static const char *name_of(const struct repo *repo, const char *base)
{
	/*
	 * A linked work tree counts as the repository that it belongs to,
	 * because both have the same refs and objects.
	 */
	const char *dir = repo->common_dir;
	size_t len = strlen(base);

	return !strncmp(dir, base, len) && dir[len] == '/' ? dir + len : dir;
}

int daemon_ask(struct access_answer *out, const struct daemon_options *options,
	       const struct daemon_conn *conn,
	       const struct access_question *question)
{
	struct error err = ERROR_INIT;

	if (access_ask(out, conn->helper, question, &err) < 0) {
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

int daemon_authorize(struct access_answer *out,
		     const struct daemon_options *options,
		     const struct daemon_conn *conn,
		     struct access_question *question, const struct repo *repo)
{
	/*
	 * Ask about the path that was opened, because clients can name one
	 * repository as /a, /a.git or /a.git/.
	 */
	if (repo)
		question->repository = name_of(repo, options->base_path);
	return daemon_ask(out, options, conn, question);
}
