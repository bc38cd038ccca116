/* SPDX-License-Identifier: MIT */
/*
 * The quarantine: a directory for the objects of a push that is not accepted
 * yet (git-receive-pack(1), "Quarantine Environment"). The directory is below
 * the object directory and has the object directory as its alternate. Renaming
 * the files makes the objects part of the repository.
 *
 *	<objects>/tmp_objdir-incoming-Ab3dE6/
 *		pack/pack-<hex>.keep .pack .rev .idx     kept as a pack
 *		5f/<hex>                                 kept as a loose object
 *
 * A signal that ends the process removes the directory and the .keep of a
 * migrated pack (sys/cleanup.h). After SIGKILL, `git gc` removes the directory.
 */
#ifndef RECEIVE_RECEIVE_QUARANTINE_H
#define RECEIVE_RECEIVE_QUARANTINE_H

#include "base/error.h"
#include "odb/odb.h"
#include "repo/repo.h"
#include "sys/tempdir.h"
#include "sys/tempfile.h"

struct quarantine {
	const struct repo *repo; /* borrowed */
	struct sys_tempdir dir;  /* inactive: no directory */
	/*
	 * owned: its alternates, as the value of
	 * GIT_ALTERNATE_OBJECT_DIRECTORIES
	 */
	char *alternates;
	/* repo with `dir` as its object directory */
	struct repo view;
	/*
	 * .keep of a migrated pack: protects the pack until refs reach its
	 * objects
	 */
	struct sys_tempfile keep;
};

/*
 * Create the directory. `repo` must outlive *q. Returns 0 or a negative error
 * code. Release *q in both cases.
 */
int quarantine_create(struct quarantine *q, const struct repo *repo,
		      struct error *err);

/*
 * Remove the directory and the objects in it. Returns 0 if no directory is
 * left, or ERR_IO if the directory cannot be removed; `git gc` and `git prune`
 * remove the directory later.
 */
int quarantine_remove(struct quarantine *q, struct error *err);

/* Remove objects that were not migrated, and the .keep of a migrated pack. */
void quarantine_release(struct quarantine *q);

/*
 * Returns the repository to read the objects of the push from: q->view, or
 * `repo` if there is no directory.
 */
const struct repo *quarantine_repo(const struct quarantine *q,
				   const struct repo *repo);

/*
 * Move the objects into the repository and remove the directory: loose objects
 * first, then the pack, with its .idx last. Signals wait until this is done.
 * Returns 0 or a negative error code. Objects that were moved before an error
 * stay in the repository, unreachable.
 */
int quarantine_migrate(struct quarantine *q, struct error *err);

#endif
