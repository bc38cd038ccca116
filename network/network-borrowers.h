/* SPDX-License-Identifier: MIT */
/*
 * Finds repositories that borrow objects from a fork network without being
 * members of it. An example is a clone of a member that was made from the
 * member's path. The network has no list of these borrowers. So `git network
 * repack --prune` can remove objects that only such a borrower needs.
 */
#ifndef NETWORK_NETWORK_BORROWERS_H
#define NETWORK_NETWORK_BORROWERS_H

#include <stdint.h>

#include "base/error.h"
#include "islands/network.h"

struct network_borrowers {
	const struct network *network; /* borrowed */
	/*
	 * Called for each borrower that is no member. `git_dir` is the
	 * borrower's path, without symlinks. `id` is the member whose objects
	 * the borrower uses, or 0 if it uses the objects of the store. If the
	 * borrower's list of alternates names several repositories of the
	 * network (members, the store), `id` is for the first of these. Returns
	 * 0; another value ends the search.
	 */
	int (*found)(void *ctx, const char *git_dir, uint32_t id);
	/*
	 * Called with a message about each directory that cannot be read and
	 * each repository that cannot be opened. The search goes on.
	 */
	void (*unread)(void *ctx, const char *message);
	void *ctx;
};

/*
 * Searches the directory `dir` and all directories below it for borrowers.
 * Symlinks below `dir` are not followed. In a repository, only two directories
 * are searched, because the repositories of submodules are below them: modules/
 * (submodules of the main work tree) and worktrees/<name>/modules/ (submodules
 * of a linked work tree). The directory worktrees/<name> itself is no
 * repository, so it is not reported. The cost is one listing of each directory
 * outside of repositories.
 *
 * Returns 0, a nonzero result of `found`, ERR_MISSING if `dir` does not exist,
 * or another negative error code.
 */
int network_borrowers(const struct network_borrowers *search, const char *dir,
		      struct error *err);

#endif
