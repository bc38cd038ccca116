/* SPDX-License-Identifier: MIT */
/*
 * Whether everything is there that new refs would need.
 *
 * A push has to leave a repository in which every ref's objects are complete.
 * What refs reach already is; an object that merely exists may be a leftover
 * whose parents are long gone. So new tips are walked through the objects of
 * the push, down to commits that were there before:
 *
 *	o--o--o--o             refs
 *	       \
 *	        f--N--N--N     pushed: N came with the push, f is the frontier
 *
 * and each commit of the frontier is judged, the cheapest way first:
 *
 *	1. it is the old value of a command, or HEAD       a few look-ups
 *	2. some ref names it                               one pass over refs,
 *	                                                   no object is read
 *	3. HEAD and the old values reach it                a walk by date
 *	4. some ref reaches it                             the same, all refs
 *	5. nothing reaches it                              it is walked itself
 *
 * The first that says yes ends the question, so that a push onto a branch
 * costs what it brings, in a repository of any size. Ignorance is never taken
 * for a yes.
 */
#ifndef RECEIVE_RECEIVE_CONNECT_H
#define RECEIVE_RECEIVE_CONNECT_H

#include <stddef.h>

#include "base/error.h"
#include "receive/receive-objects.h"
#include "receive/receive.h"
#include "wire/oidset.h"

struct receive_connect {
	struct receive *r;                     /* borrowed */
	const struct receive_objects *objects; /* borrowed */
	struct odb *odb;                       /* owned: with the quarantine */
};

/* 0 or negative; release in any case. */
int receive_connect_init(struct receive_connect *c, struct receive *r,
			 const struct receive_objects *objects,
			 struct error *err);
void receive_connect_release(struct receive_connect *c);

/*
 * Check the new values of `nr` refs together. 1 when nothing is missing; 0
 * when something is, and *why says what; or negative. With `cut` the history
 * of the push may also end at commits of it that the pusher named as shallow,
 * but for those that came again to where they were, with their parents; those
 * where it does are added to *cut.
 */
int receive_connect_check(struct receive_connect *c, const struct oid *tips,
			  size_t nr, struct oidset *cut, struct error *why,
			  struct error *err);

#endif
