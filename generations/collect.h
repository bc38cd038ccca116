/* SPDX-License-Identifier: MIT */
/*
 * Garbage collection of a repository in a store: deleting the files that no
 * generation needs.
 *
 * The caller sets a grace period, "the grace". A generation is live if it is
 * the newest, or if its successor is younger than the grace. A file is deleted
 * if no live generation names it and it is older than the grace. Both ages are
 * measured by the clock of the store: the collector writes the hint (a small
 * file), and asks the store when the hint was written. So the clock of the
 * collector's machine is not used. There is one exception: the hint cannot be
 * written (for example because the store is full), or its time cannot be read.
 * Then the present time is the earlier one of two times: the time of the
 * collector's clock, and the time in a response of the store.
 *
 * No new record names a deleted file. A new record names two kinds of files.
 * Some files it takes over from its parent, which is the generation before it.
 * The parent was the newest generation until the new record was made. So the
 * parent is still live, and its files are kept. Any other file of the new
 * record was written at most `session_ns` before the record
 * (generations/history.h), so it is younger than the grace.
 *
 * So the grace must be longer than `session_ns`, the longest time from a
 * writer's first upload to its record. The grace must also be longer than the
 * time for which any reader uses one generation.
 *
 * Records of generations that are not live are replaced by retired records,
 * which are nearly empty (generations/record.h). So the numbers of these
 * generations are never used again.
 */
#ifndef GENERATIONS_COLLECT_H
#define GENERATIONS_COLLECT_H

#include "generations/history.h"

struct generation_collect_options {
	int64_t grace; /* seconds; at least 1 */
	/* true: only count the files and records, and delete nothing */
	bool is_dry;
};

/* Counts of the files and records that a collection has found. */
struct generation_garbage {
	/*
	 * number and total size of the deleted files; in a dry run, of the
	 * files that a real run would delete
	 */
	uint64_t file_nr, bytes;
	/* number of files that a live generation names */
	uint64_t kept_nr;
	/*
	 * number of files that no live generation names, but that are too young
	 * to delete (younger than the grace period)
	 */
	uint64_t young_nr;
	/*
	 * number of records that were retired (replaced by nearly empty ones);
	 * in a dry run, of the records that a real run would retire
	 */
	uint64_t retired_nr;
	/* number of files whose deletion failed; the next run tries again */
	uint64_t failed_nr;
};

/*
 * Collects the garbage of a repository in a store: deletes files that no live
 * generation needs, and retires old records. A generation is a version of the
 * repository, and its record is the file that lists the generation's files and
 * refs. To retire a record is to replace it by a nearly empty one. Several
 * nodes may collect garbage at the same time.
 *
 * A dry run deletes no file and retires no record. It writes one file, the
 * hint, because the time of the hint shows the present time of the store.
 *
 * Reads the records from the newest one down to the first one that is retired
 * already, several at the same time if place->host->threads > 1. Lists all
 * files. A file that could not be deleted stays for the next run.
 *
 * Returns 0, STORE_ABSENT if the repository has no generation, or
 * STORE_UNAVAILABLE if the store does not answer. Returns ERR_PEER if the store
 * does not tell the time of a file, or another negative error code.
 */
int generation_collect(struct generation_garbage *out,
		       const struct generation_place *place,
		       const struct generation_collect_options *options,
		       struct error *err);

#endif
