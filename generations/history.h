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
 *	                                                 refs there, try n + 2
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
	unsigned threads; /* that write files of one change; at least 1 */
};

/* threads that generation_host_init() allows */
#define GENERATION_THREADS 4

/* Fills *host with the functions of the system, and GENERATION_THREADS. */
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
 * Works like generation_read(), and fills *info of the record's file. NULL is
 * allowed.
 */
int generation_read_info(struct generation *out, struct filestore_info *info,
			 const struct generation_place *place, uint64_t number,
			 struct error *err);

/*
 * Reads the newest record into *out. `at_least` is the number of a record that
 * exists, or 0. If it is 0, the search begins at the hint, which takes another
 * request. If the start is the newest, two requests follow, and three if it
 * is one behind, otherwise a few more: logarithmic in the number of generations
 * that the start is behind. Returns 0, STORE_ABSENT if the repository has no
 * generation, STORE_UNAVAILABLE, or an error.
 */
int generation_newest(struct generation *out,
		      const struct generation_place *place, uint64_t at_least,
		      struct error *err);

/*
 * Reads the newest record into *out if it is newer than record `number`, which
 * the caller knows. Returns 0, STORE_ABSENT if there is no newer record,
 * STORE_UNAVAILABLE, or an error. If there is no newer record, one request is
 * sent. It tells nothing about the records up to `number`.
 */
int generation_newer(struct generation *out,
		     const struct generation_place *place, uint64_t number,
		     struct error *err);

/*
 * Writes the hint: the number of a record that exists, or 1.
 * generation_commit() does so. Lists of repositories are lists of hints, so the
 * hint of a new repository is written before its first record. Later, a failure
 * does no harm. Returns like filestore_put().
 */
int generation_write_hint(const struct generation_place *place, uint64_t number,
			  struct error *err);

/* ---- changing */

/* A file that a change adds. */
struct generation_upload {
	/*
	 * The path, the size and the hash are those of the content.
	 * file.upload is not used: each commit makes a new one.
	 */
	struct generation_file file;
	/* borrowed: the content, or the local file that has it, else NULL */
	const void *bytes;
	const char *local_path;
};

/*
 * A ref that a change sets. Everything is borrowed. If `before` and `after` are
 * equal, the ref is only checked. The refs of a change differ, and it does not
 * set both "a" and "a/b".
 */
struct generation_ref_change {
	const char *ref;
	/* the value that the ref must have; NULL: there must be no such ref */
	const char *before;
	const char *after; /* NULL: delete the ref */
};

/* The changes that the next generation makes. Everything is borrowed. */
struct generation_change {
	const char *node, *user, *action;
	/*
	 * The number of the generation that the change was made from and
	 * checked against; 0 for a new repository. A generation after it that
	 * took back objects is an obstacle.
	 */
	uint64_t seen;
	/*
	 * The change takes back objects that the repository had. Every
	 * generation after `seen` is an obstacle then, because its refs may
	 * need the objects.
	 */
	bool drops_objects;
	/*
	 * A file that the generation has with the same path and content is kept
	 * instead of the upload. A file with other content is an obstacle,
	 * unless it is among the drops.
	 */
	const struct generation_upload *uploads;
	size_t upload_nr;
	/*
	 * Files that the change drops. It is an obstacle if the generation does
	 * not have a file with this path, hash and upload.
	 */
	const struct generation_file *drops;
	size_t drop_nr;
	const struct generation_ref_change *refs;
	size_t ref_nr;
	/*
	 * The uploads among the tables of refs ("reftable/...") and the drops
	 * among them replace the updates of generations up to this number, at
	 * most `seen`. 0: no updates. If a change uploads or drops tables, a
	 * generation after `seen` that did so too is an obstacle: uploads are
	 * the newest tables of the stack.
	 */
	uint64_t tables_up_to;
	/*
	 * Finds the value of a ref in the tables of a generation, for a ref
	 * that has no update there. *value is empty if there is no such ref.
	 * Not called for generations without tables. Returns 1 if the ref
	 * cannot be created because "<ref>/..." or a parent of `ref` exists in
	 * the tables. Otherwise returns 0 or a negative error code. A ref in
	 * the tables does not count if the generation has an update of it, or
	 * if the change deletes it. Names in updates are checked without it.
	 */
	int (*find_ref)(void *ctx, struct buf *value,
			const struct generation *g, const char *ref,
			struct error *err);
	void *find_ctx;
	/*
	 * The uploads must be younger than this when the request for the record
	 * is sent, by both clocks of the host. Greater than 0.
	 */
	uint64_t session_ns;
};

/* How a commit ended. Negative results are errors, and nothing was changed. */
enum generation_commit_result {
	GENERATION_COMMITTED = 0,
	/* a ref has another value, or cannot have its name; *err tells which */
	GENERATION_REF_CHANGED = 1,
	/* objects are or were dropped: check the change again, and try again */
	GENERATION_EPOCH_CHANGED = 2,
	/* other writers were faster each time, or the session was too long */
	GENERATION_BUSY = 3,
	/* the store does not work: nothing was changed */
	GENERATION_STORE_DOWN = 4,
	/*
	 * It could not be found out whether the record was created. The change
	 * may be in force, or come into force.
	 */
	GENERATION_UNKNOWN = 5,
	/* a file or the tables are not as they were: make the change anew */
	GENERATION_FILE_CHANGED = 6,
};

/*
 * Makes the next generation: writes the files of the change, then creates the
 * record. *base is a generation that the caller knows, the newest if possible;
 * zeroed for a repository that does not exist yet. After GENERATION_COMMITTED,
 * *base is the new generation; otherwise *base may be a newer one than before.
 * The change may borrow from *base.
 *
 * If no other writer interferes, the files and the hint for *base are written
 * at the same time, and the record next: two requests that wait for each other.
 * A change without files writes no hint: one request. For a new repository, the
 * hint is one more request before the record.
 * A change is refused only because of a generation that was the newest during
 * the call. Returns a value of generation_commit_result, or a negative error
 * code: ERR_INVALID if the change is not allowed or the record is too long, or
 * an error of the store.
 */
int generation_commit(struct generation *base,
		      const struct generation_place *place,
		      const struct generation_change *change,
		      struct error *err);

/* ---- a commit in two steps */

/*
 * Files that were written for a change, and that may have no record yet. Plain
 * data: nothing is released.
 */
struct generation_session {
	uint8_t upload[GENERATION_TOKEN_LEN];
	/* when the first file was about to be written, by both clocks */
	uint64_t start_ns;
	int64_t start_time;
};

/*
 * The first step of generation_commit(): checks a change, and writes its files.
 * `known` is the number of a record that exists, for the hint; 0: no hint is
 * written. Returns 0, GENERATION_STORE_DOWN, or a negative error code. If the
 * second step never follows, generation_collect() removes the files.
 */
int generation_session_begin(struct generation_session *session,
			     const struct generation_place *place,
			     const struct generation_change *change,
			     uint64_t known, struct error *err);

/*
 * The second step: makes the record. `change` may have other refs than in the
 * first step, and no other uploads. After a result other than
 * GENERATION_COMMITTED and GENERATION_UNKNOWN, the step may be tried again,
 * also with fewer refs or uploads. Returns like generation_commit().
 */
int generation_session_commit(struct generation *base,
			      const struct generation_place *place,
			      const struct generation_change *change,
			      const struct generation_session *session,
			      struct error *err);

/*
 * Checks ref `nr` of a change against a generation. So the caller finds out
 * which refs are the reason of GENERATION_REF_CHANGED. Returns 0 if the
 * generation allows the change of this ref, GENERATION_REF_CHANGED with the
 * obstacle in *err, or a negative error code.
 */
int generation_change_check_ref(const struct generation *g,
				const struct generation_change *change,
				size_t nr, struct error *err);

/* ---- several changes in one generation */

/*
 * Gathers the changes that threads of one process make to one repository. Each
 * thread writes the files of its change. The first one waits a moment for
 * others, then makes one record for all.
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
 * change that is refused does not harm the other changes of its record. A
 * change that drops objects is an obstacle for all others, and the reverse. The
 * record names the user and the action of the first change.
 */
int generation_group_commit(struct generation_group *group,
			    const struct generation_change *change,
			    struct error *err);

#endif
