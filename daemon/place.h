/* SPDX-License-Identifier: MIT */
/*
 * Where the repository of a request is: below the base path, or a local copy
 * of a repository in a store.
 */
#ifndef DAEMON_PLACE_H
#define DAEMON_PLACE_H

#include "access/access.h"
#include "copies/copies.h"
#include "daemon/conn.h"

/*
 * Where the repository of a request is on the local disk. The caller sets the
 * struct to zero first.
 */
struct daemon_place {
	char *path; /* owned; NULL: none */
	/*
	 * The local copy of a repository in a store. The copy is not removed
	 * before daemon_place_release(). After that call, files of the copy can
	 * be read only if they are open already.
	 */
	struct stored_use use;
};

/*
 * A question to the access helper. daemon_place_find() repeats it for each
 * repository name that the path of the request may mean. All pointers are
 * borrowed.
 */
struct daemon_inquiry {
	/* daemon_place_find() sets the repository */
	struct access_question question;
	/* the access helper's answer about the repository that was found */
	struct access_answer *answer;
};

/*
 * Finds the repository of a request. The first `len` bytes of `path` name the
 * repository.
 *
 * If repositories are on the local disk and not in a store, this function only
 * makes the path of the directory. It does not check whether the directory
 * exists, and returns 0 or ERR_NOMEM.
 *
 * If repositories are in a store, this function makes or refreshes the local
 * copy of the repository. If no repository in the store has this name,
 * "<path>.git" is tried, unless `strict` is set. If `inquiry` is not NULL, the
 * access helper (a program that decides who may read a repository) is asked
 * first. So the store gets no request about a repository that the helper
 * denies. There is one exception: if the helper denies the name but allows the
 * name with ".git", the store is asked whether the denied repository exists.
 *
 * With a store, returns 0 if the local copy can be served. Returns ERR_MISSING
 * if the store has no such repository, ERR_DENIED if the helper denies it, or
 * ERR_PEER if the helper does not answer. Returns another negative error code
 * if the local copy cannot be served. Then the log has the reason, and *err has
 * only what a client may know.
 */
int daemon_place_find(struct daemon_place *place,
		      const struct daemon_options *options,
		      const struct daemon_conn *conn, const char *path,
		      size_t len, bool strict, struct daemon_inquiry *inquiry,
		      struct error *err);
void daemon_place_release(struct daemon_place *place);

#endif
