/* SPDX-License-Identifier: MIT */
/* Declarations that plan-dir.c and plan-dir-store.c share. */
#ifndef PLANS_PLAN_DIR_PARTS_H
#define PLANS_PLAN_DIR_PARTS_H

#include "base/buf.h"
#include "plans/plan-dir.h"

struct plan_dir {
	char *path; /* owned */
	/* maximum size of all plans in the directory, in bytes */
	uint64_t max;
};

#define PLAN_DIR_SUFFIX ".plan"

/* ---- plan-dir-store.c */

/* Appends the path of the file of a plan. Returns 0 or ERR_NOMEM. */
int plan_dir_path(struct buf *out, const struct plan_dir *dir,
		  const uint8_t *key);

/*
 * Writes the file of a plan, the `len` bytes at `bytes`. Before that, removes
 * plans, the least recently used first, until all plans together with the new
 * one have at most dir->max bytes. `locks` is a descriptor of the file "keys",
 * on which this function takes the lock PLAN_DIR_STORING. Returns NULL, or the
 * reason why the file was not written; a constant string.
 */
const char *plan_dir_store(const struct plan_dir *dir, const uint8_t *key,
			   const void *bytes, size_t len, int locks);

/* Number of the lock that a process holds while it stores a plan. */
#define PLAN_DIR_STORING 0

#endif
