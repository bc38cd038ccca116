/* SPDX-License-Identifier: MIT */
/*
 * A place for objects that are not accepted yet: a directory of its own,
 * "tmp_objdir-incoming-XXXXXX" below the object directory, with the object
 * directory as its alternate (git-receive-pack(1), "Quarantine Environment").
 * What is in it becomes part of the repository by renaming, or is removed.
 *
 *	<objects>/tmp_objdir-incoming-Ab3dE6/
 *		pack/pack-<hex>.keep .pack .rev .idx     kept as a pack
 *		5f/<hex>                                 or loose
 *
 * A signal that ends the process removes both (sys/cleanup.h). What SIGKILL
 * leaves, `git gc` removes.
 */
#ifndef RECEIVE_RECEIVE_QUARANTINE_H
#define RECEIVE_RECEIVE_QUARANTINE_H

#include "base/error.h"
#include "odb/odb.h"
#include "repo/repo.h"
#include "sys/tempdir.h"
#include "sys/tempfile.h"

struct quarantine {
	const struct repo *repo;  /* borrowed */
	struct sys_tempdir dir;   /* inactive: none */
	char *alternates;         /* owned: the object directories behind it,
				     for the environment */
	struct repo view;         /* repo with `dir` as its object directory */
	struct sys_tempfile keep; /* the .keep of a migrated pack, to be
				     removed when refs name what is in it */
};

/* Make the directory. 0 or negative; release in any case. */
int quarantine_create(struct quarantine *q, const struct repo *repo,
		      struct error *err);

/*
 * Remove the directory if there is one. Returns 0 if it is gone, or ERR_IO if
 * it could not be removed: `git gc` and `git prune` remove it later.
 */
int quarantine_remove(struct quarantine *q, struct error *err);

/* Remove what was not migrated, and the .keep of what was. */
void quarantine_release(struct quarantine *q);

/* The repository as those see it who may look: view, or the plain one. */
const struct repo *quarantine_repo(const struct quarantine *q,
				   const struct repo *repo);

/*
 * Make its objects the repository's: loose objects, then packs, of each the
 * .idx last. The directory is removed. 0 or negative; what was moved before
 * an error stays, as objects that nothing names.
 */
int quarantine_migrate(struct quarantine *q, struct error *err);

#endif
