/* SPDX-License-Identifier: MIT */
/*
 * What info/grafts names (gitrepository-layout(5)): commits, each with the
 * parents that it shall have, in place of replace refs in old repositories.
 *
 *	# a comment
 *	<commit> <parent> <parent>
 *
 * No walk goes by it. Those of stock Git do: so what it names is kept, as it
 * may be all that leads to a part of the history.
 */
#ifndef REPO_GRAFTS_H
#define REPO_GRAFTS_H

#include <stddef.h>

#include "base/error.h"
#include "object/oid.h"
#include "repo/repo.h"

/*
 * Visit every id in the bytes of such a file, more than once if it is there so.
 * Anything else is passed over: whatever a line was to mean, an id in it is
 * better kept. A return that is not 0 stops and is returned.
 */
int grafts_each(const char *bytes, size_t len, enum hash_algo algo,
		int (*fn)(void *ctx, const struct oid *oid), void *ctx);

/*
 * Likewise, of a repository, or of the file that GIT_GRAFT_FILE names. 0 when
 * there is none; ERR_IO or ERR_NOMEM when it cannot be read.
 */
int grafts_each_oid(const struct repo *repo,
		    int (*fn)(void *ctx, const struct oid *oid), void *ctx,
		    struct error *err);

#endif
