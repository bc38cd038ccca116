/* SPDX-License-Identifier: MIT */
/*
 * The functions by which reflog.c reads and edits the reflogs of one kind of
 * storage: files (reflog-files.c, reflog-list.c) or reftables
 * (reflog-reftable.c). Both kinds use the functions of reflog-line.c.
 */
#ifndef REFS_REFLOG_BACKEND_H
#define REFS_REFLOG_BACKEND_H

#include "base/strlist.h"
#include "refs/reflog.h"

/*
 * Parses log->bytes into log->lines. Malformed lines are left out. Returns 0 or
 * ERR_NOMEM.
 */
int reflog_split(struct reflog *log, enum hash_algo algo, struct error *err);

/* For each function, see the function of the same name in reflog.h. */
struct reflog_backend {
	bool (*exists)(const struct repo *repo, const char *name);
	int (*read)(struct reflog *log, const struct repo *repo,
		    const char *name, struct error *err);
	/* Appends the names of refs that have a reflog to *names, unsorted. */
	int (*list)(struct strlist *names, const struct repo *repo,
		    bool all_worktrees, struct error *err);
	int (*edit)(const struct repo *repo, const char *name,
		    const struct reflog_edit *how, struct error *err);
	int (*drop)(const struct repo *repo, const char *name,
		    struct error *err);
};

extern const struct reflog_backend reflog_files_backend;
extern const struct reflog_backend reflog_reftable_backend;

/* Function of reflog_files_backend that is defined in reflog-list.c. */
int reflog_files_list(struct strlist *names, const struct repo *repo,
		      bool all_worktrees, struct error *err);

#endif
