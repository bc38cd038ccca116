/* SPDX-License-Identifier: MIT */
/*
 * Makes the reftables of a local copy from the record of a generation. The
 * record lists reftables, and later updates of refs. The stack of the copy has
 * the listed tables, one more table with the updates, and no other table. So
 * the refs of the copy are exactly those of the record.
 *
 *	reftable/tables.list      <tables of the record, oldest first>
 *	                          <one more>, if the record has updates
 */
#ifndef STORED_UPDATES_H
#define STORED_UPDATES_H

#include "generations/record.h"
#include "sys/tempfile.h"

/* The beginning of the value of a symbolic ref. */
#define STORED_SYMBOLIC "ref: "

/*
 * Sets the refs of the repository in `dir` to those of a generation. The files
 * of the generation must be in `dir`. Tags are stored with their peeled ids, so
 * the objects of refs other than branches are read. `wait_ms`: milliseconds to
 * wait for the lock of tables.list.
 *
 * The name of the new table was never used before, and tables.list is replaced
 * while its lock is held. So a reader sees either the old refs or the new refs.
 * Tables that are no longer listed stay.
 *
 * Returns 0 or a negative error code. ERR_CORRUPT: an update has no valid name
 * or value, or the configuration does not say that refs are tables. ERR_DENIED:
 * another process holds the lock.
 */
int stored_updates_install(const char *dir, const struct generation *g,
			   enum sys_fsync_method method, int64_t wait_ms,
			   struct error *err);

#endif
