/* SPDX-License-Identifier: MIT */
/*
 * Names of repositories that the store did not have, and the times when the
 * store was asked. With this table, clients who ask again and again for a
 * repository that does not exist cause no requests to the store.
 *
 * The number of names is limited, since clients choose them: a name replaces
 * another one with the same place in the table. The caller has a lock.
 */
#ifndef STORED_ABSENT_H
#define STORED_ABSENT_H

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
 * Notes that the store did not have `name` when it was asked at `now_ns`
 * (sys_clock_ns()). `hash` is any hash of the name. Without memory, nothing is
 * noted.
 */
void stored_absent_note(struct stored_absent *absent, const char *name,
			uint32_t hash, uint64_t now_ns);

/* Removes `name` from the table, because the store has the repository now. */
void stored_absent_forget(struct stored_absent *absent, const char *name,
			  uint32_t hash);

/*
 * Returns whether the table has `name`, and the store was asked for it less
 * than `age_ns` before `now_ns`. A question after `now_ns` counts, too.
 */
bool stored_absent_has(const struct stored_absent *absent, const char *name,
		       uint32_t hash, uint64_t now_ns, uint64_t age_ns);

#endif
