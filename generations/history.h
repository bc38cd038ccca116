/* SPDX-License-Identifier: MIT */
/*
 * The generations of a repository in a store: finding the newest one, and
 * making the next one.
 *
 * A generation is a version of the repository, and its record is the file that
 * lists the generation's files and refs. Records are numbered from 1 without
 * gaps. A record is created only if its name is free, and it is never deleted.
 * So if several writers try to make the record with the same number, one of
 * them succeeds. If number n exists, all numbers below n exist, so a search
 * finds the newest record in few steps. None of this depends on the clocks of
 * the nodes.
 *
 * Each record has a token: random bytes, which are different for each try to
 * make a record. If the store does not answer a writer, the writer reads the
 * record. The token then shows whether this writer or another one has made the
 * record:
 *
 *	write the files -> create record n + 1 --- created -----> done
 *	      (names that             |
 *	       nobody has)            +- taken, or no answer: read record n + 1
 *	                                  |              |
 *	                            our token: done      another's: check the
 *	                                                 refs there, try n + 2
 *
 * After a failure, nothing is deleted. generation_collect()
 * (generations/collect.h) later removes files that no record names, once these
 * files are older than a grace period.
 */
#ifndef GENERATIONS_HISTORY_H
#define GENERATIONS_HISTORY_H

#include "generations/record.h"
#include "store/filestore.h"

/* maximum number of tries to make a record; each try uses a higher number */
#define GENERATION_TRIES 8

/*
 * The sources of time and random numbers. A test can replace them to repeat a
 * run exactly.
 */
struct generation_host {
	/* nanoseconds of a clock that never goes back */
	uint64_t (*now_ns)(void *ctx);
	/* seconds since 1970 */
	int64_t (*time)(void *ctx);
	int (*random)(void *ctx, void *out, size_t len, struct error *err);
	void (*sleep_ns)(void *ctx, uint64_t ns);
	void *ctx;
	/* number of threads that write the files of a change, at least 1 */
	unsigned threads;
};

/* number of threads that generation_host_init() sets */
#define GENERATION_THREADS 4

/*
 * Initialises *host with the system's clock and random numbers, and with
 * GENERATION_THREADS threads.
 */
void generation_host_init(struct generation_host *host);

/* A repository in a store. Everything is borrowed. */
struct generation_place {
	struct filestore *store;
	const struct generation_host *host;
	/* path of the repository, in the form of generations/names.h */
	const char *repository;
};

/*
 * Reads record `number` into *out. Returns 0, STORE_ABSENT if there is no such
 * record, STORE_UNAVAILABLE if the store does not answer, or a negative error
 * code.
 */
int generation_read(struct generation *out,
		    const struct generation_place *place, uint64_t number,
		    struct error *err);

/*
 * Works like generation_read(), and sets *info to the facts about the file of
 * the record. `info` may be NULL. Returns 0, STORE_ABSENT, STORE_UNAVAILABLE,
 * or a negative error code.
 */
int generation_read_info(struct generation *out, struct filestore_info *info,
			 const struct generation_place *place, uint64_t number,
			 struct error *err);

/*
 * Reads the newest record into *out. The search starts at `at_least`, the
 * number of a record that exists. If `at_least` is 0, the search starts at the
 * number in the hint, which costs one more request. The search sends two
 * requests if the start is the newest record, and three if the newest record is
 * the next one after the start. If the start is n generations older than the
 * newest record, the search sends O(log n) requests. Returns 0, STORE_ABSENT if
 * the repository has no generation, STORE_UNAVAILABLE, or an error.
 */
int generation_newest(struct generation *out,
		      const struct generation_place *place, uint64_t at_least,
		      struct error *err);

/*
 * Replaces *g, a record that was read, by the newest one. If *g is the newest,
 * only one request is sent. Returns 0, STORE_UNAVAILABLE, or a negative error
 * code. After a failure, *g is unchanged.
 */
int generation_newest_after(struct generation *g,
			    const struct generation_place *place,
			    struct error *err);

/*
 * Reads the newest record into *out if it is newer than record `number`, which
 * the caller knows. Returns 0, STORE_ABSENT if there is no newer record,
 * STORE_UNAVAILABLE, or a negative error code. If there is no newer record,
 * only one request is sent. STORE_ABSENT does not prove that record `number`
 * exists.
 */
int generation_newer(struct generation *out,
		     const struct generation_place *place, uint64_t number,
		     struct error *err);

/*
 * Finds out with one listing whether record `number` (> 0) exists and is the
 * newest. Sets *out to false if the record does not exist, or if a newer record
 * exists. The content of the record is not read. Cost: a listing of up to 16
 * names in most cases. If the number ends with n hexadecimal digits f, the
 * listing has up to 16^(n + 1) names. Returns 0, STORE_UNAVAILABLE, or a
 * negative error code.
 */
int generation_is_newest(bool *out, const struct generation_place *place,
			 uint64_t number, struct error *err);

/*
 * Finds out whether the store still has the record of the generation `known`.
 * Only the number, the parent and the token of `known` are used. The token is a
 * random number that is different for each try to make a record. A store that
 * was emptied or restored from a backup may lack the record, or have another
 * record with the same number.
 *
 * Returns 0 if the store has the record. This is also the result if a garbage
 * collection has meanwhile retired the record (replaced it by a record of the
 * same name without content). Returns STORE_ABSENT, with the reason in *err, if
 * the store does not have it. Returns STORE_UNAVAILABLE or a negative error
 * code if the store cannot tell. Sends one request for the first bytes of the
 * record. If these bytes are not those of `known`, sends a second request for
 * the whole record, which may be a retired one.
 */
int generation_prove(const struct generation_place *place,
		     const struct generation *known, struct error *err);

/*
 * Writes `number` into the hint of the repository. The hint is a small file in
 * the store. It tells readers at which number to start the search for the
 * newest record, and may be out of date. `number` is the number of a record
 * that exists, or 1 before the first record is made. generation_commit() calls
 * this function.
 *
 * A list of all repositories of a store is a list of the hints. So the hint of
 * a new repository must be written before its first record. If a later hint
 * cannot be written, this does no harm. Returns 0, STORE_AMBIGUOUS,
 * STORE_UNAVAILABLE, or a negative error code.
 */
int generation_write_hint(const struct generation_place *place, uint64_t number,
			  struct error *err);

/*
 * Maximum size in bytes of a record that is copied into the hint, the small
 * file that tells readers where to start the search for the newest record. If a
 * record is longer, only the number of the record is written into the hint.
 */
#define GENERATION_HINT_MAX ((size_t)64 << 10)

/*
 * Writes a copy of the record *g into the hint. The hint is a small file in the
 * store that tells readers where to start the search for the newest record. The
 * record *g must exist in the store. If it is longer than GENERATION_HINT_MAX,
 * only its number is written. Returns 0, STORE_AMBIGUOUS, STORE_UNAVAILABLE, or
 * a negative error code.
 */
int generation_write_hint_record(const struct generation_place *place,
				 const struct generation *g, struct error *err);

/*
 * Reads the hint. If the hint is a copy of a record, sets *out to this record.
 * A newer record may exist. If the repository was removed and its hint was not,
 * the record itself does not exist any more. Returns 0; STORE_ABSENT if there
 * is no hint, or if the hint is not a copy of a record; STORE_UNAVAILABLE; or a
 * negative error code. After an error, *out is zeroed.
 */
int generation_read_hint(struct generation *out,
			 const struct generation_place *place,
			 struct error *err);

/* ---- changing */

/* A file that a change adds. */
struct generation_upload {
	/*
	 * The path, the size and the hash of the content. The token file.upload
	 * need not be set: generation_commit() makes a new token for the files
	 * of each call.
	 */
	struct generation_file file;
	/*
	 * borrowed: the content in memory, or the path of a local file with the
	 * content; the other one is NULL
	 */
	const void *bytes;
	const char *local_path;
};

/*
 * A ref that a change sets. Everything is borrowed. If `before` and `after` are
 * equal, the ref is only checked. A change does not set both "a" and "a/b".
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
	 * checked against; 0 for a new repository. The change is refused if a
	 * later generation dropped objects.
	 */
	uint64_t seen;
	/*
	 * true: the change drops objects that the repository had. The change is
	 * refused if there is a generation after `seen`, because the refs of
	 * that generation may need these objects.
	 */
	bool drops_objects;
	/*
	 * Files that the change adds. If the generation already has an equal
	 * file at the path of an upload, the old file is kept. If the
	 * generation has a different file at this path, the change is refused,
	 * unless the change also drops the different file.
	 */
	const struct generation_upload *uploads;
	size_t upload_nr;
	/*
	 * Files that the change drops. The generation must have each of them,
	 * with the same path, hash and upload token. Otherwise the change is
	 * refused.
	 */
	const struct generation_file *drops;
	size_t drop_nr;
	/* sorted by ref (strcmp), without two equal refs */
	const struct generation_ref_change *refs;
	size_t ref_nr;
	/*
	 * A generation number, at most `seen`. A record lists updates: refs
	 * that have changed since the generation's reftables were written. The
	 * reftables that this change uploads contain the updates of the
	 * generations up to this number. So the new record does not list these
	 * updates, but only the later ones. 0: the new record lists all updates
	 * that the previous record lists.
	 *
	 * A change that uploads or drops tables ("reftable/...") is refused if
	 * a generation after `seen` did the same: uploaded tables must be the
	 * newest ones of the stack.
	 */
	uint64_t tables_up_to;
	/*
	 * Finds the value of a ref in the tables of a generation. It is called
	 * only if the generation has tables, and if its record lists no update
	 * of this ref. `change` is this struct generation_change. Sets *value
	 * to the value, or to an empty string if there is no such ref.
	 *
	 * Returns 1 if the tables have a ref that cannot exist together with
	 * `ref` ("<ref>/..." or a parent of `ref`), 0 if not, or a negative
	 * error code. Two kinds of refs in the tables are ignored: refs that
	 * `change` deletes (generation_change_deletes()), and refs with an
	 * update in the generation, which the caller checks itself.
	 */
	int (*find_ref)(void *ctx, struct buf *value,
			const struct generation *g,
			const struct generation_change *change, const char *ref,
			struct error *err);
	void *find_ctx;
	/*
	 * Maximum time from the first upload of the change to the request for
	 * the record (the file that lists the new generation), in nanoseconds
	 * (> 0). After this time the request is not sent, because a garbage
	 * collection may have deleted the uploaded files. The time is measured
	 * by two clocks of the host: the monotonic clock and the time of day.
	 */
	uint64_t session_ns;
};

/*
 * The result of generation_commit() and similar functions. These functions may
 * also return a negative error code; then nothing was changed.
 */
enum generation_commit_result {
	GENERATION_COMMITTED = 0,
	/*
	 * a ref has another value than `before`, or its name conflicts with
	 * another ref; *err names the ref
	 */
	GENERATION_REF_CHANGED = 1,
	/*
	 * Another writer has dropped objects since `seen`; or this change drops
	 * objects and there is a generation after `seen`. The caller must check
	 * the change against the newest generation and try again.
	 */
	GENERATION_EPOCH_CHANGED = 2,
	/*
	 * At each of GENERATION_TRIES tries, another writer was faster. Nothing
	 * was changed.
	 */
	GENERATION_BUSY = 3,
	/* the store does not work: nothing was changed */
	GENERATION_STORE_DOWN = 4,
	/*
	 * It is unknown whether the record was created. The change may have
	 * taken effect, or may take effect later.
	 */
	GENERATION_UNKNOWN = 5,
	/*
	 * Another writer changed a file that this change adds or drops. Or both
	 * this change and a generation after `seen` add or drop tables of refs.
	 * The change must be made again from the newest generation.
	 */
	GENERATION_FILE_CHANGED = 6,
	/*
	 * more than session_ns has passed since the first upload: nothing was
	 * changed
	 */
	GENERATION_TOO_LATE = 7,
	/*
	 * The store does not have the generation from which the change was
	 * made, or has another generation with the same number. For example,
	 * the directory of the store is not mounted. Nothing was changed.
	 */
	GENERATION_LOST = 8,
};

/*
 * Makes the next generation: writes the files of the change, then creates the
 * record.
 *
 * Before the call, *base is a generation that the caller knows, the newest if
 * possible; it is zeroed if the repository does not exist yet. After
 * GENERATION_COMMITTED, *base is the new generation. After another result,
 * *base may be a newer generation than before. The change may borrow from
 * *base.
 *
 * Cost if no other writer interferes: two round trips. The first one writes, in
 * parallel, the files and the hint: a small file in the store with the number
 * of a generation, here that of *base. A search for the newest generation
 * starts at this number. The second round trip writes the record. A change
 * without files writes no hint, and takes one round trip. A new repository
 * needs one more round trip, which writes the first hint before the first
 * record.
 *
 * Returns a value of generation_commit_result or a negative error code. An
 * outdated *base is no reason to refuse a change: before a refusal, the change
 * is checked against a generation that was the newest at some moment during the
 * call. ERR_INVALID: the change is not allowed, or the record is too long.
 * Other codes come from the store.
 */
int generation_commit(struct generation *base,
		      const struct generation_place *place,
		      const struct generation_change *change,
		      struct error *err);

/* ---- generation_commit() in two steps */

/*
 * generation_commit() first uploads the files of a change, and then makes the
 * record. A caller can also make these two steps by separate calls. This struct
 * has what the second call needs to know about the first one. Owns no memory.
 */
struct generation_session {
	uint8_t upload[GENERATION_TOKEN_LEN];
	/*
	 * The token of generation `seen`, if the store was asked for this
	 * generation when the session began. All zero: the store was not asked.
	 */
	uint8_t seen_token[GENERATION_TOKEN_LEN];
	/* host->now_ns() and host->time() before the first file was written */
	uint64_t start_ns;
	int64_t start_time;
};

/*
 * The first step of generation_commit(): checks a change, and writes its files
 * to the store. `known` is the generation from which the change was made. Its
 * number must not be 0. Only its number, its parent and its token are used.
 *
 * While the files are written, this function asks whether the store still has
 * the generation `known`. The function returns GENERATION_LOST if the store
 * does not have it, or has another generation with the same number. The caller
 * must then not make the second step.
 *
 * This step does not write the hint, the small file with which a search for the
 * newest record starts. The caller may call generation_write_hint_record()
 * after the second step. Returns 0, GENERATION_LOST, GENERATION_STORE_DOWN, or
 * a negative error code. If the second step is never made, generation_collect()
 * later removes the files.
 */
int generation_session_begin(struct generation_session *session,
			     const struct generation_place *place,
			     const struct generation_change *change,
			     const struct generation *known, struct error *err);

/*
 * The second step of generation_commit(): makes the record. `change` may have
 * other refs than in the first step, but no additional uploads. After
 * GENERATION_COMMITTED and GENERATION_UNKNOWN, the session has ended. After any
 * other result, the step may be tried again, also with fewer refs or uploads.
 * Returns values like generation_commit().
 */
int generation_session_commit(struct generation *base,
			      const struct generation_place *place,
			      const struct generation_change *change,
			      const struct generation_session *session,
			      struct error *err);

/*
 * Checks ref `nr` of a change against a generation. With this function, the
 * caller finds the refs that caused GENERATION_REF_CHANGED. Returns 0 if the
 * generation allows the change of this ref, GENERATION_REF_CHANGED with the
 * reason in *err, or a negative error code.
 */
int generation_change_check_ref(const struct generation *g,
				const struct generation_change *change,
				size_t nr, struct error *err);

/* Returns whether a change deletes a ref. Takes logarithmic time. */
bool generation_change_deletes(const struct generation_change *change,
			       const char *ref);

/*
 * Finds out whether some process has made a record that names the files of this
 * session. The session has uploaded these files. A caller needs this if another
 * process had to make the record, and has ended without telling the result.
 * `at_least` is the number of a record that exists. Returns
 * GENERATION_COMMITTED if the newest generation has a file of the session.
 * Otherwise returns GENERATION_UNKNOWN, because the record may still be
 * created. For a session without files, always returns GENERATION_UNKNOWN.
 */
int generation_session_find(const struct generation_place *place,
			    uint64_t at_least,
			    const struct generation_session *session);

/* ---- several changes in one generation */

/*
 * Combines the changes that threads of one process make to one repository. Each
 * thread writes the files of its change. The first thread waits a short time
 * for other threads, and then makes one record for all of their changes.
 */
struct generation_group;

/*
 * Returns a new group for the repository `place`, or NULL if memory runs out.
 * If a thread makes a change while the group is idle, the thread waits
 * `gather_ns` nanoseconds for changes of other threads. Then it makes one
 * record for all of these changes. `place` is borrowed.
 */
struct generation_group *generation_group_new(
	const struct generation_place *place, uint64_t gather_ns);
/* Frees a group that no thread uses. NULL is allowed. */
void generation_group_free(struct generation_group *group);

/*
 * Callbacks of a program that uses a group. Each of them may be NULL. `renew`
 * and `made` are called only by the leader, the thread that makes a record.
 */
struct generation_group_hooks {
	/*
	 * Called before a record is made. *base is the generation to which the
	 * next record would be added: the newest generation that this struct
	 * generation_group has made or read so far. base->number is 0 if there
	 * is none. The function may set *base to a newer generation, so that
	 * the store need not be searched for it. If the store has lost *base,
	 * the function releases and zeroes *base. Then the newest generation is
	 * searched in the store.
	 *
	 * `seen` tells the function whether *base is too old. Each waiting
	 * change was made from some generation; `seen` is the largest number of
	 * these generations. If base->number is less than `seen`, the store has
	 * a newer generation than *base.
	 *
	 * Returns 0 or a negative error code. After an error, no record is
	 * made, and all waiting changes fail with this error code.
	 */
	int (*renew)(void *ctx, struct generation *base, uint64_t seen,
		     struct error *err);
	/*
	 * Called after record *g was made. The group makes no further record
	 * until this call returns.
	 */
	void (*made)(void *ctx, const struct generation *g);
	/*
	 * Called after `made`, before the threads whose changes are in record
	 * *g get their results. While the function runs, another thread may
	 * make the next record, and call this function for that record. The
	 * function may take over the content of *g. It must then zero *g.
	 */
	void (*follow)(void *ctx, struct generation *g);
	void *ctx; /* borrowed */
};

/* Sets the hooks before other threads use the group. */
void generation_group_set_hooks(struct generation_group *group,
				const struct generation_group_hooks *hooks);

/*
 * Works like generation_session_commit() on the newest generation that the
 * group knows. Returns the same results. Several threads may call this
 * function. While one record is made, the changes that wait are collected for
 * the next record.
 *
 * If the store was restored from a backup, a generation in the store may have
 * the same number as the newest generation that the group knows, but other
 * content. Then their tokens differ, because the token of a generation is
 * random. The first step of a change, generation_session_begin(), notes the
 * token of the generation that the store has (session->seen_token). If the
 * number of this generation is the newest that the group knows, the group
 * compares both tokens. If they differ, the group searches the store for the
 * newest generation.
 *
 * See also generation_group_commit().
 */
int generation_group_session(struct generation_group *group,
			     const struct generation_change *change,
			     const struct generation_session *session,
			     struct error *err);

/*
 * Works like generation_commit(), with the same results, and may be called by
 * several threads. The changes of threads that call this function at the same
 * time are made together, with one record. If one of these changes is refused,
 * the record is made with the others. A change that drops objects is never in
 * one record with other changes. The record names the user and the action of
 * the first change in it.
 */
int generation_group_commit(struct generation_group *group,
			    const struct generation_change *change,
			    struct error *err);

#endif
