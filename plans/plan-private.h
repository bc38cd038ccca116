/* SPDX-License-Identifier: MIT */
/*
 * A directory of plans that one server makes for its own workers, usually on a
 * file system in memory:
 *
 *	<parent>/gitreachd-plans-XXXXXX/owner   locked while the server runs
 *	                               /...     see plans/plan-dir.h
 *
 * The server removes the directory at its end. A server that was killed leaves
 * its directory behind, and the next server of the same user removes it.
 */
#ifndef PLANS_PLAN_PRIVATE_H
#define PLANS_PLAN_PRIVATE_H

#include "base/error.h"

/*
 * The directory of plans of one server. If `path` is NULL, there is no
 * directory.
 */
struct plan_private {
	char *path; /* owned */
	/*
	 * owned: descriptor of the locked file "owner". Processes that the
	 * server forks inherit the lock. So the lock is held until the last of
	 * these processes ends, and no other server removes the directory.
	 */
	int lock;
	/* id of the process that made the directory */
	long pid;
};

#define PLAN_PRIVATE_INIT                                                      \
	{                                                                      \
		NULL, -1, 0                                                    \
	}

/*
 * Makes a new directory below the directory `parent`, with access for its owner
 * only. Removes the directories that ended servers of the same user have left
 * behind. Returns 0, ERR_IO or ERR_NOMEM. After an error, there is no
 * directory.
 */
int plan_private_open(struct plan_private *p, const char *parent,
		      struct error *err);

/*
 * Removes the directory with its plans, if this process has made it. A process
 * that the server has forked removes nothing: it only closes its descriptor of
 * the locked file "owner". Does nothing if there is no directory.
 */
void plan_private_close(struct plan_private *p);

#endif
