/* SPDX-License-Identifier: MIT */
/* Inside generations/: one record for one or several changes. */
#ifndef GENERATIONS_COMMIT_H
#define GENERATIONS_COMMIT_H

#include "generations/history.h"

/* A change that is being made. One thread at a time. */
struct commit_member {
	const struct generation_change *change; /* borrowed */
	struct generation_session session;
	/*
	 * A value of generation_commit_result or a negative error code, with
	 * `err` if it is not GENERATION_COMMITTED. It may change until
	 * `is_done`.
	 */
	int result;
	bool is_done;
	struct error err;
};

/*
 * Checks a change, and begins the session of its uploads. Returns 0 or a
 * negative error code.
 */
int commit_start(struct commit_member *m, const struct generation_place *place,
		 const struct generation_change *change, struct error *err);

/*
 * Writes the files of a change, and the hint unless `hint` is 0: the number of
 * a record that exists. Without files, nothing is written. Returns 0,
 * GENERATION_STORE_DOWN, or a negative error code.
 */
int commit_upload(const struct generation_change *change,
		  const struct generation_session *session,
		  const struct generation_place *place, uint64_t hint,
		  struct error *err);

/*
 * Makes the next generation of `nr` (> 0) changes, whose files are written.
 * Every member is done afterwards. *base as for generation_commit().
 */
void commit_make(struct generation *base, const struct generation_place *place,
		 struct commit_member *const *members, size_t nr);

#endif
