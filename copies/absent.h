/* SPDX-License-Identifier: MIT */
/*
 * A table of names of repositories that the store did not have, with the times
 * at which the store was asked. With this table, clients who ask again and
 * again for a repository that does not exist cause no requests to the store.
 *
 * Clients choose the names, so the table has a fixed size: a new name may
 * overwrite an older one. Callers must hold a lock.
 */
#ifndef COPIES_ABSENT_H
#define COPIES_ABSENT_H

#include <stdbool.h>
#include <stdint.h>

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
 * asked, at a time that is less than `age_ns` before `now_ns`. The result is
 * also true if this time is later than `now_ns`, because another thread has
 * asked the store since then.
 */
bool stored_absent_has(const struct stored_absent *absent, const char *name,
		       uint32_t hash, uint64_t now_ns, uint64_t age_ns);

#endif
