/* SPDX-License-Identifier: MIT */
/*
 * The generations of a repository in a store: finding the newest one, and
 * making the next one.
 *
 * Records are numbered from 1 without gaps. A record is created only if its
 * name is free, and it is never deleted. So of several makers of a number one
 * wins, and a search with few steps finds the newest: if number n exists, all
 * numbers below n exist. This holds whatever the clocks of the nodes say.
 *
 *	write the files -> create record n + 1 --- created -----> done
 *	      (names that             |
 *	       nobody has)            +- taken, or no answer: read record n + 1
 *	                                  |              |
 *	                            our token: done      another's: check the
 *refs there, try number n + 2
 *
 * Nothing is deleted on the way of a failure. A file that no record names is
 * removed by generation_collect() (generations/collect.h) after a grace.
 */
#ifndef GENERATIONS_HISTORY_H
#define GENERATIONS_HISTORY_H

#include "generations/record.h"
#include "store/filestore.h"

/* tries to make a record, with another number each */
#define GENERATION_TRIES 8

/*
 * What a program wants of the clock and the random numbers. A test may replace
 * both and so repeat a run exactly.
 */
struct generation_host {
	/* nanoseconds of a clock that never goes back */
	uint64_t (*now_ns)(void *ctx);
	/* seconds since 1970 */
	int64_t (*time)(void *ctx);
	int (*random)(void *ctx, void *out, size_t len, struct error *err);
	void (*sleep_ns)(void *ctx, uint64_t ns);
	void *ctx;
};

/* Fills *host with the functions of the system. */
void generation_host_init(struct generation_host *host);

/* A repository in a store. Everything is borrowed. */
struct generation_place {
	struct filestore *store;
	const struct generation_host *host;
	const char *repository; /* as in generations/names.h */
};

/*
 * Reads record `number` into *out. Returns 0, STORE_ABSENT,
 * STORE_UNAVAILABLE, or an error.
 */
int generation_read(struct generation *out,
		    const struct generation_place *place, uint64_t number,
		    struct error *err);

/*
 * Reads the newest record into *out. `at_least` is the number of a record that
 * exists, or 0. Without a better number, the search begins at the hint. If
 * `at_least` is the newest, two requests are sent, otherwise a few more:
 * logarithmic in the number of generations that the hint is behind. Returns 0,
 * STORE_ABSENT if the repository has no generation, STORE_UNAVAILABLE, or an
 * error.
 */
int generation_newest(struct generation *out,
		      const struct generation_place *place, uint64_t at_least,
		      struct error *err);

/* ---- changing */

/* A file that a change adds. */
struct generation_upload {
	/* The path, the size and the hash are those of the content. */
	struct generation_file file;
	/* borrowed: the content, or the local file that has it */
	const void *bytes;
	const char *local_path;
};

/* A ref that a change sets. Everything is borrowed. */
struct generation_ref_change {
	const char *ref;
	/* the value that the ref must have; NULL: there must be no such ref */
	const char *before;
	const char *after; /* NULL: delete the ref */
};

/* What is to be different in the next generation. Everything is borrowed. */
struct generation_change {
	const char *node, *user, *action;
	/*
	 * The change takes back objects that the repository had; the record
	 * gets the next epoch.
	 */
	bool drops_objects;
	/* The change was checked in this epoch. */
	uint64_t epoch;
	const struct generation_upload *uploads;
	size_t upload_nr;
	/*
	 * Files that the change drops. A file whose path has other content in
	 * the newest generation is not dropped, and neither is one that is not
	 * there.
	 */
	const struct generation_file *drops;
	size_t drop_nr;
	const struct generation_ref_change *refs;
	size_t ref_nr;
	/*
	 * The uploads among the tables of refs and the drops among them replace
	 * the updates of generations up to this number. 0: no updates.
	 */
	uint64_t tables_up_to;
	/*
	 * Finds the value of a ref in the tables of a generation, for a ref
	 * that has no update there. *value is empty if there is no such ref.
	 * Returns 0 or a negative error code.
	 */
	int (*find_ref)(void *ctx, struct buf *value,
			const struct generation *g, const char *ref,
			struct error *err);
	void *find_ctx;
	/* The uploads must be younger than this when the record is created. */
	uint64_t session_ns;
};

/* How a commit ended. Negative results are errors of a store. */
enum generation_commit_result {
	GENERATION_COMMITTED = 0,
	/* a ref has another value; *err names it */
	GENERATION_REF_CHANGED = 1,
	/* objects were dropped since the change was checked: check it again */
	GENERATION_EPOCH_CHANGED = 2,
	/* other writers were faster each time, or the session was too long */
	GENERATION_BUSY = 3,
	/* the store does not work: nothing was changed */
	GENERATION_STORE_DOWN = 4,
	/*
	 * It could not be found out whether the record was created. The change
	 * may be in force.
	 */
	GENERATION_UNKNOWN = 5,
};

/*
 * Makes the next generation: writes the files of the change, then creates the
 * record. *base is the newest generation that the caller knows; number 0 for a
 * repository that does not exist yet. After GENERATION_COMMITTED, *base is the
 * new generation; otherwise *base may be a newer one than before. If no other
 * writer interferes, the files are written first and the record next: two
 * requests that wait for each other. Returns a value of
 * generation_commit_result, or a negative error code.
 */
int generation_commit(struct generation *base,
		      const struct generation_place *place,
		      const struct generation_change *change,
		      struct error *err);

/* ---- several changes in one generation */

/*
 * Gathers the changes that threads of one process make to one repository. The
 * first of them waits a moment for others, then makes one record for all.
 */
struct generation_group;

/*
 * `gather_ns`: how long the first thread waits for others. Returns NULL if
 * memory runs out. `place` is borrowed.
 */
struct generation_group *generation_group_new(
	const struct generation_place *place, uint64_t gather_ns);
/* No thread may use the group. NULL is allowed. */
void generation_group_free(struct generation_group *group);

/*
 * Works like generation_commit(), and may be called by several threads. A
 * change that is refused does not harm the other changes of its record.
 */
int generation_group_commit(struct generation_group *group,
			    const struct generation_change *change,
			    struct error *err);

#endif
