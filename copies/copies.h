/* SPDX-License-Identifier: MIT */
/*
 * The local copies of repositories in a store, for a server. When a request
 * enters the copy of its repository, the copy is made, or brought to the newest
 * generation.
 *
 *	enter -> the request is answered from the files of the copy -> leave
 *
 * Strict reads (max_age_ns is 0): each request needs to know the newest
 * generation at a time after its arrival, so the store is asked after the
 * request has arrived. Requests for one repository that wait at the same time
 * share an answer of the store.
 *
 * If a request arrives while the store is being asked, the answer to this
 * question may be older than the request. So the request waits until this
 * answer has come and the store has answered one more question.
 *
 * Relaxed reads: the store is not asked if the copy was the newest at most
 * max_age_ns ago.
 *
 * If the store accepts connections but does not answer, the first request waits
 * about 4 seconds. Then one request each 5 seconds asks again. All other
 * requests do not wait. Such a request is answered from the copy if the copy
 * was up to date at most `stale_ns` ago, also with strict reads. Otherwise the
 * request fails.
 *
 * From time to time, a request trims the cache (copies/trim.h) after it has got
 * its copy. Without a budget, trimming removes only leftovers of killed
 * processes.
 *
 * The name of a repository that the store does not have is kept for
 * `absent_ns`. So requests for missing repositories do not all cause requests
 * to the store.
 *
 * Threads may share a struct, and processes a directory. All processes of one
 * directory keep the budget together.
 */
#ifndef COPIES_COPIES_H
#define COPIES_COPIES_H

#include <stdbool.h>
#include <stdint.h>

#include "copies/copy.h"

struct stored_copies;

struct stored_copies_options {
	const char *dir; /* borrowed during the call */
	/* the store to which the copies belong; borrowed during the call */
	struct stored_origin origin;
	/* maximum size of all files in `dir`, in bytes; 0: no limit */
	uint64_t budget;
	uint64_t max_age_ns; /* 0: strict reads */
	/*
	 * Used if the store does not answer: a copy is still served if it was
	 * known to be up to date at most this number of nanoseconds ago. 0: the
	 * copy is not served.
	 */
	uint64_t stale_ns;
	/*
	 * Number of nanoseconds for which the absence of a repository in the
	 * store is remembered. During this time, the store is not asked again
	 * for the repository. If another process of this node makes a copy of
	 * the repository, the copy is served immediately. 0: each request asks
	 * the store.
	 */
	uint64_t absent_ns;
};

/*
 * A copy that a request uses. The caller sets the struct to zero before
 * stored_copies_enter().
 */
struct stored_use {
	struct stored_copy *copy; /* owned; NULL: none */
	/*
	 * `is_stale`: the store did not answer, and the copy may be old.
	 * `is_news`: the caller should log that the copy may be old. `is_news`
	 * is false if there was such a log line for this repository in the last
	 * minute.
	 */
	bool is_stale, is_news;
	/*
	 * how the request got its copy: for example, the copy was already
	 * there, or was brought to a newer generation
	 */
	enum stored_lookup how;
};

/*
 * Opens the copies in a cache directory. A directory that is no cache yet
 * becomes one (stored_node_make()). No request is sent. Returns 0 with *out
 * owned by the caller, or a negative error code.
 */
int stored_copies_open(struct stored_copies **out,
		       const struct stored_copies_options *options,
		       struct error *err);

/* Closes the copies; none of them may be in use. NULL is allowed. */
void stored_copies_close(struct stored_copies *copies);

/* Returns the cache directory and its store; borrowed. */
struct stored_node *stored_copies_node(struct stored_copies *copies);

/*
 * Makes the copy of a repository, or brings it to the newest generation. Nobody
 * removes the copy until stored_copies_leave(). If the disk is full, other
 * copies are removed, and the work is tried once more.
 *
 * Returns 0. If use->is_stale is set, the copy may be old, and *err says why.
 * Returns ERR_MISSING if the store has no such repository, or ERR_INVALID if no
 * store can have a repository of this name. Returns another negative error code
 * if the store does not answer, the record is damaged, or the disk failed.
 * After an error, no copy is held.
 */
int stored_copies_enter(struct stored_copies *copies, struct stored_use *use,
			const char *name, struct error *err);

/*
 * Finds out whether the store has a repository, without making a copy. Returns
 * 0, or an error as stored_copies_enter() does.
 */
int stored_copies_look(struct stored_copies *copies, const char *name,
		       struct error *err);

/*
 * Returns whether the store was asked after the request arrived, and the copy
 * has the newest generation that the store had then. In this case, a child
 * process of the server need not ask the store again.
 */
bool stored_copies_were_asked(const struct stored_copies *copies,
			      const struct stored_use *use);

/*
 * Returns whether the copy in use was up to date at some moment in the
 * STORED_OFFERS_AGE_MAX seconds (copies/offers.h) before the request.
 */
bool stored_copies_is_fresh(const struct stored_copies *copies,
			    const struct stored_use *use);

/* Ends the use of a copy, and zeroes *use. A zeroed *use is allowed. */
void stored_copies_leave(struct stored_use *use);

/*
 * A table of names of repositories that the store did not have, with the times
 * at which the store was asked. With this table, clients who ask again and
 * again for a repository that does not exist cause no requests to the store.
 *
 * Clients choose the names, so the table has a fixed size: a new name may
 * overwrite an older one. Callers must hold a lock.
 */

/* maximum number of names */
#define STORED_ABSENT_MAX 1024

struct stored_absent;

/* Returns an empty table, or NULL if memory runs out. */
struct stored_absent *stored_absent_new(void);

/* NULL is allowed. */
void stored_absent_free(struct stored_absent *absent);

/*
 * Notes that the store did not have the repository `name` when it was asked at
 * `now_ns` (sys_clock_ns()). `hash` is any hash of the name, the same in all
 * functions. If memory runs out, nothing is noted.
 */
void stored_absent_note(struct stored_absent *absent, const char *name,
			uint32_t hash, uint64_t now_ns);

/* Removes `name` from the table, because the store has the repository now. */
void stored_absent_forget(struct stored_absent *absent, const char *name,
			  uint32_t hash);

/*
 * Returns whether the table says that the store did not have `name` when it was
 * asked, less than `age_ns` before `now_ns`. Another thread may have asked
 * after `now_ns`: this counts, too.
 */
bool stored_absent_has(const struct stored_absent *absent, const char *name,
		       uint32_t hash, uint64_t now_ns, uint64_t age_ns);

#endif
