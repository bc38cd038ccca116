/* SPDX-License-Identifier: MIT */
/*
 * libgitreach: finds which objects of a Git repository are reachable, makes
 * packs of them, and writes and checks bitmap indexes. Queries use the
 * repository's bitmap index if there is one.
 *
 *	gitreach_repo *repo;
 *	gitreach_query *query;
 *	gitreach_set *set;
 *	gitreach_error *err = gitreach_error_new();
 *
 *	if (gitreach_repo_open(&repo, "project.git", 0, err) ||
 *	    gitreach_query_new(&query, repo, err) ||
 *	    gitreach_query_want_refs(query, "", err) ||
 *	    gitreach_query_run(&set, query, err))
 *		fprintf(stderr, "%s\n", gitreach_error_message(err));
 *	else
 *		printf("%" PRIu64 " objects\n",
 *		       gitreach_set_count(set, GITREACH_ANY_TYPE));
 *
 * The shared library exports only the functions that this header declares. Link
 * with `pkg-config --cflags --libs gitreach`. Documentation/examples/ has whole
 * programs.
 *
 * Rules for all functions:
 *
 * - Return values. Functions that can fail return 0, or a negative number of
 *   enum gitreach_code with a message in `err`. Functions that can return a
 *   positive value document it. Out parameters come first. On failure,
 *   handles are set to NULL, and other out parameters are not changed.
 * - NULL. If a required argument is NULL, the function returns
 *   GITREACH_INVALID. The arguments `err`, `ctx`, options and reports may be
 *   NULL; comments name other arguments that may be. Functions that return no
 *   code treat a NULL handle as empty: a count is 0, a message is "".
 * - Handles. The caller owns each handle and frees it with the function for
 *   its type, which accepts NULL. Queries and sets keep their repository
 *   alive, so handles may be freed in any order.
 * - Pointers. Pointers into a handle's memory are valid as long as the
 *   handle. Pointers that a callback receives are valid until it returns.
 *   Strings end with a NUL byte.
 * - Object ids. An id is passed as raw bytes, not hexadecimal, and the number
 *   of these bytes: 20 in SHA-1 repositories, 32 in SHA-256 repositories
 *   (gitreach_repo_id_len()). For any other number, a function returns
 *   GITREACH_INVALID. gitreach_id_print() and gitreach_id_parse() convert
 *   hexadecimal digits.
 * - Units. Sizes are in bytes, times in nanoseconds.
 * - Structs. A struct starts with `size`, which the caller sets to sizeof(the
 *   struct). Later versions add members at the end. If a program sets a
 *   member that the library does not know, the function returns
 *   GITREACH_UNSUPPORTED; a value of 0 is ignored. The library fills in the
 *   members of a result that fit into the caller's size.
 * - Threads. There is no global state, so any thread may call any function.
 *   Repositories and sets never change, so any number of threads may use one at
 *   the same time. A query or an error is used by one thread at a time.
 *   Functions that resolve names or visit references of one repository wait for
 *   each other; all others run side by side. Free a handle only when no other
 *   thread uses it. Functions with much work start threads of their own, and
 *   end them before they return. GITREACH_THREADS and members `threads` limit
 *   the number. Callbacks run in the thread that called the function, except
 *   progress callbacks.
 * - Cost. Each function that gets an `err` states its cost. Functions that free
 *   a handle take time proportional to its memory. All other functions take
 *   constant time, unless their comment says more. "Indexed objects" are the
 *   objects of the bitmap index. A set has one bit for each indexed object. For
 *   objects that are not indexed, a set has further bits: for each type of
 *   these objects, one bit for each object of the repository.
 * - Replace refs. References under refs/replace/ are not followed, as in `git
 *   upload-pack`.
 * - Process. The library prints nothing, never ends the process and sets no
 *   signal handlers. It does not cause SIGPIPE, because bytes go to
 *   callbacks.
 * - Environment. The library uses GIT_OBJECT_DIRECTORY,
 *   GIT_ALTERNATE_OBJECT_DIRECTORIES and GIT_CONFIG_*. It does not use
 *   GIT_DIR.
 */
#ifndef GITREACH_H
#define GITREACH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GITREACH_VERSION "0.1.0"

/*
 * The ABI version. This number changes when a program that was compiled with an
 * older header could fail with the newer library. The soname of the shared
 * library contains the number.
 */
#define GITREACH_ABI_VERSION 0

/* Marks functions that the shared library exports. */
#define GITREACH_API __attribute__((visibility("default")))

/*
 * Return the version and the ABI version of the linked library. Both may differ
 * from the versions in the header with which the program was compiled. The
 * string is constant.
 */
GITREACH_API const char *gitreach_version(void);
GITREACH_API int gitreach_abi_version(void);

/* ---- errors */

enum gitreach_code {
	GITREACH_OK = 0,
	GITREACH_NOMEM = -1, /* an allocation failed */
	/* a system call failed; see gitreach_error_errno() */
	GITREACH_IO = -2,
	/* data does not follow its format */
	GITREACH_CORRUPT = -3,
	/* a required object, ref or file does not exist */
	GITREACH_MISSING = -4,
	/* valid, but not supported by this version */
	GITREACH_UNSUPPORTED = -5,
	GITREACH_INVALID = -6, /* an argument is not valid */
	/* the reader of the output went away */
	GITREACH_PEER = -7,
	/* refused by configuration or ownership */
	GITREACH_DENIED = -8,
	/* a callback of the caller ended the function */
	GITREACH_CANCELLED = -9
};

typedef struct gitreach_error gitreach_error;

/*
 * Creates an error, which holds the message of one failure at a time. Returns
 * NULL if there is no memory. All functions accept NULL in place of an error,
 * if the caller needs no message.
 */
GITREACH_API gitreach_error *gitreach_error_new(void);
GITREACH_API void gitreach_error_free(gitreach_error *err);

/*
 * Return details of the last call that got this `err`: its return value, a
 * message of one line without a newline, and for GITREACH_IO also errno. If the
 * call succeeded or `err` is NULL, these functions return 0, "" and 0.
 */
GITREACH_API int gitreach_error_code(const gitreach_error *err);
GITREACH_API const char *gitreach_error_message(const gitreach_error *err);
GITREACH_API int gitreach_error_errno(const gitreach_error *err);

/* ---- repositories */

typedef struct gitreach_repo gitreach_repo;

enum gitreach_open_flag {
	/*
	 * `path` is the repository itself. Without this flag, "<path>/.git",
	 * "<path>.git" and "<path>.git/.git" are tried, too.
	 */
	GITREACH_OPEN_EXACT = 1,
	/*
	 * open the repository even if another user owns it and safe.directory
	 * does not name it
	 */
	GITREACH_OPEN_ANY_OWNER = 2,
	/* do not use a bitmap index */
	GITREACH_OPEN_NO_BITMAP = 4
};

enum gitreach_hash { GITREACH_SHA1 = 1, GITREACH_SHA256 = 2 };

/*
 * Opens a repository. The handle is a snapshot of its packs, bitmap index,
 * configuration and references. Later changes by other processes are not
 * visible. Packs and references that other processes delete remain usable, but
 * loose objects do not. `flags`: a sum of enum gitreach_open_flag. Returns
 * GITREACH_MISSING if there is no repository. Cost: maps the indexes of packs,
 * lists loose references, and reads all bytes of the bitmap index once to check
 * its checksum.
 */
GITREACH_API int gitreach_repo_open(gitreach_repo **out, const char *path,
				    uint32_t flags, gitreach_error *err);
GITREACH_API void gitreach_repo_close(gitreach_repo *repo);

/*
 * Opens the repository of `repo` again, with the flags with which it was
 * opened. *out is a new snapshot. The old snapshot `repo` does not change and
 * remains valid. Cost: that of gitreach_repo_open().
 */
GITREACH_API int gitreach_repo_refresh(gitreach_repo **out,
				       const gitreach_repo *repo,
				       gitreach_error *err);

/*
 * Returns 1 if packs were added or removed since the snapshot was taken,
 * otherwise 0. References are not checked. Cost: one system call for each
 * object directory.
 */
GITREACH_API int gitreach_repo_has_changed(const gitreach_repo *repo);

/*
 * Return the hash function, an enum gitreach_hash, and the number of bytes of
 * an id, 20 or 32.
 */
GITREACH_API int gitreach_repo_hash(const gitreach_repo *repo);
GITREACH_API size_t gitreach_repo_id_len(const gitreach_repo *repo);

/* ---- ids, names and references */

/* Sizes of buffers for any id: raw bytes, and hexadecimal digits with a NUL. */
#define GITREACH_ID_MAX 32
#define GITREACH_ID_TEXT_MAX 65

/*
 * Writes an id as lower-case hexadecimal digits and a NUL into `hex`, which has
 * room for GITREACH_ID_TEXT_MAX bytes. Cost: constant.
 */
GITREACH_API int gitreach_id_print(char *hex, const uint8_t *id, size_t id_len,
				   gitreach_error *err);

/*
 * Reads the 40 or 64 hexadecimal digits of a string into `id`, which has room
 * for GITREACH_ID_MAX bytes, and sets *id_len. Returns GITREACH_INVALID for any
 * other string. The object need not exist. Cost: constant.
 */
GITREACH_API int gitreach_id_parse(uint8_t *id, size_t *id_len, const char *hex,
				   gitreach_error *err);

/*
 * Sets `id`, which has room for gitreach_repo_id_len() bytes, to the id of the
 * object that a name means. Names are those of gitreach_query_want_name().
 * Returns GITREACH_MISSING if there is no such object, and GITREACH_INVALID if
 * the name is ambiguous. Cost: one look-up for a reference. A name such as
 * "main~3" also reads each commit, tag or tree on the way.
 */
GITREACH_API int gitreach_repo_resolve(uint8_t *id, gitreach_repo *repo,
				       const char *name, gitreach_error *err);

/* A reference. Only the library creates this struct. */
struct gitreach_ref {
	uint64_t size;
	const char *name; /* "refs/heads/main" */
	/* id of the object, after symbolic references were followed */
	const uint8_t *id;
	uint64_t id_len;
	/* name that a symbolic reference points to; NULL: not symbolic */
	const char *target;
};

/*
 * Visits all references of the snapshot whose full names start with `prefix`
 * ("refs/tags/"), in the order of their names. "" means all references, with
 * HEAD first. Dangling symbolic references are left out. If `fn` returns
 * another value than 0, the visit stops, as described for gitreach_set_each().
 * Returns GITREACH_CORRUPT if a reference is broken. `fn` must not resolve
 * names or visit references of the same repository: that would be a deadlock.
 * Cost: one call for each matching reference, and reading the file of each
 * loose one.
 */
typedef int (*gitreach_ref_fn)(void *ctx, const struct gitreach_ref *ref);
GITREACH_API int gitreach_repo_each_ref(gitreach_repo *repo, const char *prefix,
					gitreach_ref_fn fn, void *ctx,
					gitreach_error *err);

/* Facts about one object. */
struct gitreach_object_info {
	uint64_t size;
	uint64_t bytes; /* size of the content, uncompressed */
	uint64_t type;  /* an enum gitreach_type */
};

/*
 * Sets *out to facts about an object, without reading its content. Before the
 * call, the caller sets out->size to sizeof(*out). Returns GITREACH_MISSING if
 * there is no such object. Cost: a look-up, and reading the headers of its
 * delta chain.
 */
GITREACH_API int gitreach_object_info(struct gitreach_object_info *out,
				      const gitreach_repo *repo,
				      const uint8_t *id, size_t id_len,
				      gitreach_error *err);

/* ---- progress */

/* The argument of a progress callback. Only the library creates this struct. */
struct gitreach_progress {
	uint64_t size;
	/* the current work: "Enumerating objects" */
	const char *phase;
	uint64_t done;
	/* the final value of `done`; 0: not known */
	uint64_t total;
};

/*
 * Progress callback. A library function calls it before the work begins (phase
 * "Starting"), and then a few times a second. If the callback returns another
 * value than 0, the library function ends and returns GITREACH_CANCELLED. Calls
 * may come from any thread, but only one at a time. The callback must not use
 * the handles that were passed to the running function.
 */
typedef int (*gitreach_progress_fn)(void *ctx,
				    const struct gitreach_progress *progress);

/* ---- queries: which objects are reachable */

typedef struct gitreach_query gitreach_query;
typedef struct gitreach_set gitreach_set;

enum gitreach_strategy {
	/*
	 * use the bitmap index if it can answer the query, otherwise walk
	 * history and trees
	 */
	GITREACH_AUTO = 0,
	GITREACH_WALK = 1,
	/*
	 * use only the bitmap index; if the index cannot answer, the query
	 * fails with GITREACH_UNSUPPORTED and the reason
	 */
	GITREACH_BITMAP = 2,
	/*
	 * Answer the query with the bitmap index and by walking, and compare
	 * the two results. If they differ, the query fails with
	 * GITREACH_CORRUPT. The message names an object that only one result
	 * has.
	 */
	GITREACH_CHECK = 3
};

enum gitreach_query_option {
	/* an enum gitreach_strategy; default: GITREACH_AUTO */
	GITREACH_STRATEGY = 1,
	/* 0: commits only; 1, the default: also trees, blobs and tags */
	GITREACH_OBJECTS = 2,
	/*
	 * 1: the filter also applies to the wants themselves; 0, the default:
	 * wanted objects always pass
	 */
	GITREACH_FILTER_WANTS = 3,
	/*
	 * 1: the result may contain some objects that the haves reach, if
	 * excluding them would be expensive. With bitmaps, these are objects
	 * that the haves reach only by commits that the wants do not reach.
	 * With walking, the walk stops at boundary commits, and only the trees
	 * and blobs of these commits are excluded. So the result may contain
	 * trees and blobs that only older ancestors of the boundary commits
	 * have, as in `git rev-list --objects`. 0, the default: exact.
	 */
	GITREACH_INEXACT = 4,
	/*
	 * maximum number of threads; 0, the default: pack.threads if
	 * configured, otherwise the number of processors
	 */
	GITREACH_THREADS = 5
};

/*
 * Creates an empty query, without wants and haves. A query may be run several
 * times, and changed between runs. Cost: constant.
 */
GITREACH_API int gitreach_query_new(gitreach_query **out, gitreach_repo *repo,
				    gitreach_error *err);
GITREACH_API void gitreach_query_free(gitreach_query *query);

/*
 * Adds an object of any type to the wants or to the haves. The result is the
 * closure of the wants without the closure of the haves. If a want does not
 * exist, gitreach_query_run() returns GITREACH_MISSING. If a have does not
 * exist, it is ignored. Cost: constant; the object is looked up by
 * gitreach_query_run().
 */
GITREACH_API int gitreach_query_want(gitreach_query *query, const uint8_t *id,
				     size_t id_len, gitreach_error *err);
GITREACH_API int gitreach_query_have(gitreach_query *query, const uint8_t *id,
				     size_t id_len, gitreach_error *err);

/*
 * Adds an object by name to the wants or to the haves. The name is a reference
 * ("HEAD", "refs/heads/main", or short, "main") or another expression of
 * gitrevisions(7) ("v1.0^{tree}", "main~3"), except reflogs and searches.
 * Returns GITREACH_MISSING if there is no such object. Cost: that of
 * gitreach_repo_resolve().
 */
GITREACH_API int gitreach_query_want_name(gitreach_query *query,
					  const char *name,
					  gitreach_error *err);
GITREACH_API int gitreach_query_have_name(gitreach_query *query,
					  const char *name,
					  gitreach_error *err);

/*
 * Adds all references whose full names start with `prefix` ("refs/tags/") to
 * the wants or to the haves. "" means all references and HEAD. If no reference
 * matches, nothing is added. Returns GITREACH_CORRUPT if a reference is broken.
 * Cost: that of gitreach_repo_each_ref().
 */
GITREACH_API int gitreach_query_want_refs(gitreach_query *query,
					  const char *prefix,
					  gitreach_error *err);
GITREACH_API int gitreach_query_have_refs(gitreach_query *query,
					  const char *prefix,
					  gitreach_error *err);

/*
 * Leaves out references whose full names start with `prefix` ("refs/pull/") in
 * all later calls that add references to the query. The prefix "HEAD" leaves
 * out HEAD. The function may be called several times, with different prefixes.
 * Objects that other references reach are still found. Cost: constant.
 */
GITREACH_API int gitreach_query_exclude_refs(gitreach_query *query,
					     const char *prefix,
					     gitreach_error *err);

/*
 * Treats a commit as having no parents, as a shallow boundary does. After this
 * call, the query is always answered by walking, never by the bitmap index.
 * Cost: constant.
 */
GITREACH_API int gitreach_query_shallow(gitreach_query *query,
					const uint8_t *id, size_t id_len,
					gitreach_error *err);

/*
 * Excludes objects that do not pass a filter. Filters are written as for `git
 * rev-list --filter`: "blob:none", "blob:limit=1m", "tree:0",
 * "object:type=tag", "sparse:oid=<name>", "combine:<spec>+<spec>". If there are
 * several filters, an object must pass all of them. Returns GITREACH_INVALID if
 * the filter cannot be parsed. Cost: parsing `spec`; files of sparse filters
 * are read by gitreach_query_run().
 */
GITREACH_API int gitreach_query_filter(gitreach_query *query, const char *spec,
				       gitreach_error *err);

/*
 * Sets an option; `option` is an enum gitreach_query_option. Returns 0, or a
 * negative code if the option or its value is not valid. Cost: constant.
 */
GITREACH_API int gitreach_query_set(gitreach_query *query, int option,
				    uint64_t value, gitreach_error *err);

/*
 * Sets the progress callback for runs of this query. NULL, the default: none.
 */
GITREACH_API void gitreach_query_progress(gitreach_query *query,
					  gitreach_progress_fn fn, void *ctx);

/*
 * Finds the objects that the wants reach and the haves do not reach. Cost with
 * bitmaps: reading the commits between the wants or haves and the nearest
 * commits with a bitmap, and the trees that are new in these commits; then some
 * passes over the bits of a set. Cost with walking: reading all commits that
 * the wants reach and the haves do not, and all their trees if GITREACH_OBJECTS
 * is 1.
 */
GITREACH_API int gitreach_query_run(gitreach_set **out,
				    const gitreach_query *query,
				    gitreach_error *err);

/*
 * Runs `nr` queries of one snapshot, and leaves in each result only the objects
 * that no other result has. So if each query wants the references of one fork,
 * each result has the objects that only this fork needs. out[0] to out[nr - 1]
 * become new sets; on failure all are NULL. Cost: the queries, one after the
 * other, and one pass over the bits of each set.
 */
GITREACH_API int gitreach_query_unique(gitreach_set **out,
				       const gitreach_query *const *queries,
				       size_t nr, gitreach_error *err);

/* ---- sets of objects of one snapshot */

enum gitreach_type {
	GITREACH_COMMIT = 1,
	GITREACH_TREE = 2,
	GITREACH_BLOB = 3,
	GITREACH_TAG = 4
};

/*
 * Returns the bit of a type. Sums of these bits are passed as `types`. For a
 * sum with any other bit, functions that can fail return GITREACH_UNSUPPORTED,
 * and gitreach_set_count() ignores the other bits.
 */
#define GITREACH_TYPE(type) (UINT32_C(1) << (type))
#define GITREACH_ANY_TYPE UINT32_C(30)

GITREACH_API void gitreach_set_free(gitreach_set *set);

/*
 * Creates a set of `nr` objects, each of which is named by `id_len` bytes at
 * `ids`. Objects that they reach are not added. An object may be named several
 * times. Returns GITREACH_MISSING if an object does not exist. Cost: a look-up
 * for each id, and one bit for each indexed object.
 */
GITREACH_API int gitreach_set_new(gitreach_set **out, gitreach_repo *repo,
				  const uint8_t *ids, size_t nr, size_t id_len,
				  gitreach_error *err);

/*
 * Returns the number of objects whose types are in `types`. Cost: one pass over
 * the bits of the set for each type.
 */
GITREACH_API uint64_t gitreach_set_count(const gitreach_set *set,
					 uint32_t types);

/*
 * Sets *bytes to the stored size of the objects whose types are in `types`, as
 * `git rev-list --disk-usage` counts it. For a delta, this is the size of the
 * delta. Cost: a look-up for each of these objects.
 */
GITREACH_API int gitreach_set_disk_size(uint64_t *bytes,
					const gitreach_set *set, uint32_t types,
					gitreach_error *err);

/*
 * Returns 1 if the set contains the object, 0 if not. Returns 0 for an id of a
 * wrong length. Cost: a look-up.
 */
GITREACH_API int gitreach_set_contains(const gitreach_set *set,
				       const uint8_t *id, size_t id_len);

/*
 * Visits once each object whose type is in `types`. The order of types is
 * commits, trees, blobs, tags. Within a type, objects of the bitmap index come
 * first, in pack order, which usually starts with the newest commits. `type`:
 * an enum gitreach_type. If `fn` returns another value than 0, the function
 * stops. It returns a positive value unchanged, and GITREACH_CANCELLED for a
 * negative one. Cost: one pass over the bits of the set for each type, and the
 * calls.
 */
typedef int (*gitreach_object_fn)(void *ctx, const uint8_t *id, size_t id_len,
				  int type);
GITREACH_API int gitreach_set_each(const gitreach_set *set, uint32_t types,
				   gitreach_object_fn fn, void *ctx,
				   gitreach_error *err);

/*
 * Creates a new set: the objects that are in both sets (and), in at least one
 * set (or), or in `a` but not in `b` (andnot). Returns GITREACH_INVALID if the
 * sets belong to different snapshots. Cost: one pass over the bits of both
 * sets.
 */
GITREACH_API int gitreach_set_and(gitreach_set **out, const gitreach_set *a,
				  const gitreach_set *b, gitreach_error *err);
GITREACH_API int gitreach_set_or(gitreach_set **out, const gitreach_set *a,
				 const gitreach_set *b, gitreach_error *err);
GITREACH_API int gitreach_set_andnot(gitreach_set **out, const gitreach_set *a,
				     const gitreach_set *b,
				     gitreach_error *err);

/* How a set was found. */
struct gitreach_explanation {
	uint64_t size;
	/*
	 * the strategy by which the query found the set: GITREACH_WALK,
	 * GITREACH_BITMAP, or GITREACH_CHECK for both; 0: the set was not made
	 * by a query
	 */
	int32_t strategy;
	uint32_t bitmaps_used, pseudo_merges_used;
	/* commits without a bitmap that were visited */
	uint32_t commits_walked;
	/* objects found without a bitmap, before filters */
	uint64_t objects_walked;
	uint64_t nanoseconds; /* duration of the query */
	/*
	 * why bitmaps were not used; "" if they were used. Borrowed from the
	 * set
	 */
	const char *reason;
};

/*
 * Explains how a set was found. Before the call, the caller sets out->size to
 * sizeof(*out). The function sets all other members. Cost: constant.
 */
GITREACH_API int gitreach_set_explain(struct gitreach_explanation *out,
				      const gitreach_set *set,
				      gitreach_error *err);

/* ---- the bitmap index */

enum gitreach_bitmap_flag {
	/* path hashes, for delta compression */
	GITREACH_BITMAP_HASH_CACHE = 4,
	GITREACH_BITMAP_LOOKUP_TABLE = 16,
	GITREACH_BITMAP_PSEUDO_MERGES = 32
};

/* Facts about the bitmap index of a repository. */
struct gitreach_bitmap_info {
	uint64_t size;
	uint64_t bytes; /* file size */
	/* number of indexed objects */
	uint32_t objects;
	/* number of bitmaps of single commits */
	uint32_t bitmaps;
	/* number of bitmaps that stand for several commits together */
	uint32_t pseudo_merges;
	/* a sum of enum gitreach_bitmap_flag */
	uint32_t flags;
	/* borrowed from the repository */
	const char *path;
};

/*
 * Sets *out to facts about the bitmap index that queries use. Returns
 * GITREACH_MISSING and the reason if there is no usable index. Cost: constant.
 */
GITREACH_API int gitreach_bitmap_info(struct gitreach_bitmap_info *out,
				      const gitreach_repo *repo,
				      gitreach_error *err);

/* The bitmap of one commit. Only the library creates this struct. */
struct gitreach_bitmap_entry {
	uint64_t size;
	const uint8_t *id; /* id of the commit */
	uint64_t id_len;
	/* size of the bitmap's entry in the file */
	uint64_t bytes;
	/* number of other bitmaps that must be decoded before this one */
	uint64_t xor_depth;
};

/*
 * Visits the commits that have a bitmap of their own, in the order of their
 * ids. If `fn` returns another value than 0, the visit stops, as described for
 * gitreach_set_each(). Without a bitmap index, no commit is visited. Cost: one
 * call for each bitmap; bitmaps are not decoded.
 */
typedef int (*gitreach_bitmap_fn)(void *ctx,
				  const struct gitreach_bitmap_entry *entry);
GITREACH_API int gitreach_bitmap_each(const gitreach_repo *repo,
				      gitreach_bitmap_fn fn, void *ctx,
				      gitreach_error *err);

/* Options for verifying. All members except `size` may be 0. */
struct gitreach_verify_options {
	uint64_t size;
	/*
	 * number of bitmaps to verify, chosen at random; for each of them, all
	 * commits and trees that its commit reaches are read. 0: verify all
	 * bitmaps, and read the history once
	 */
	uint64_t sample;
	/* seed of the random choice of the bitmaps to verify */
	uint64_t seed;
	/* NULL: no progress is reported */
	gitreach_progress_fn progress;
	void *progress_ctx;
};

/*
 * Compares the bitmap index with the objects. Returns 0 if the index is
 * correct, GITREACH_CORRUPT if it is not, or GITREACH_MISSING without an index.
 * For GITREACH_CORRUPT, the message names the first wrong object and the commit
 * whose bitmap is wrong. `options` may be NULL.
 *
 * Cost: if options->sample is 0, all commits and trees of the history are read
 * once, and all bitmaps are decoded. Otherwise, only the bitmaps of the sample
 * are decoded. For each of them, all commits and trees that its commit reaches
 * are read.
 */
GITREACH_API int gitreach_bitmap_verify(
	const gitreach_repo *repo,
	const struct gitreach_verify_options *options, gitreach_error *err);

/*
 * Options for writing a bitmap index. Settings that are not here come from the
 * configuration of the repository.
 */
struct gitreach_bitmap_options {
	uint64_t size;
	uint64_t threads; /* 0: the configured number */
	/* NULL: no progress is reported */
	gitreach_progress_fn progress;
	void *progress_ctx;
};

/*
 * Writes the bitmap index of the repository's only pack, and replaces an
 * existing bitmap index. If the repository has a multi-pack-index, writes a new
 * one and its bitmap index instead. A new snapshot (gitreach_repo_refresh())
 * uses the new index. Returns GITREACH_MISSING if there is no pack, or if a
 * reachable object is not in the pack. Returns GITREACH_UNSUPPORTED if there
 * are several packs and no multi-pack-index. In these cases nothing is changed.
 * `options` may be NULL. Cost: reading all commits and trees of the history,
 * and writing the index.
 */
GITREACH_API int gitreach_bitmap_write(
	const gitreach_repo *repo,
	const struct gitreach_bitmap_options *options, gitreach_error *err);

/* ---- packs */

enum gitreach_pack_flag {
	/*
	 * Allow deltas against objects that are not in the pack, but that the
	 * haves reach: the receiver has them. Allowed only in
	 * gitreach_query_write_pack(), which makes the pack for the wants and
	 * haves of a query.
	 */
	GITREACH_PACK_THIN = 1,
	/*
	 * Name delta bases by their distance in the pack, which makes the pack
	 * smaller. The receiver must understand this form.
	 */
	GITREACH_PACK_OFS_DELTA = 2,
	/*
	 * Copy no stored data: make new deltas, and compress all objects again.
	 */
	GITREACH_PACK_ANEW = 4
};

/* Options for making a pack. All members except `size` may be 0. */
struct gitreach_pack_options {
	uint64_t size;
	/* a sum of enum gitreach_pack_flag */
	uint32_t flags;
	/* 0: pack.threads if configured, otherwise the number of processors */
	uint32_t threads;
	/* NULL: no progress is reported */
	gitreach_progress_fn progress;
	void *progress_ctx;
};

/*
 * Facts about a pack that was made. The caller sets `size`, and the function
 * sets the other members.
 */
struct gitreach_pack_report {
	uint64_t size;
	uint64_t bytes; /* size of the pack */
	/*
	 * number of bytes of the pack that were copied from stored packs
	 * without change
	 */
	uint64_t bytes_copied;
	uint32_t objects;
	/* 1: bitmaps found the objects */
	uint32_t used_bitmap;
};

/*
 * Write callback: receives the next bytes of a pack, which are valid during the
 * call. If the callback returns another value than 0, the function that makes
 * the pack ends and returns GITREACH_CANCELLED.
 */
typedef int (*gitreach_write_fn)(void *ctx, const void *bytes, size_t len);

/*
 * Makes the pack that answers a query, as `git upload-pack` sends it: the
 * objects that the wants reach and the haves do not reach. Stored data is
 * copied wherever the receiver can use it. The pack may contain some objects
 * that the haves reach. Options of the query (gitreach_query_set()):
 * GITREACH_OBJECTS must be 1, GITREACH_FILTER_WANTS must be 0, and
 * GITREACH_STRATEGY must be GITREACH_AUTO or GITREACH_WALK; otherwise the
 * function returns GITREACH_UNSUPPORTED. `options` and `report` may be NULL. On
 * failure, the bytes that `write` has received are not a valid pack. Cost: that
 * of the query, copying the stored bytes, and reading and compressing each
 * object that cannot be copied.
 */
GITREACH_API int gitreach_query_write_pack(
	const gitreach_query *query,
	const struct gitreach_pack_options *options, gitreach_write_fn write,
	void *ctx, struct gitreach_pack_report *report, gitreach_error *err);

/*
 * Makes a pack of exactly the objects of a set. Each object is stored whole or
 * as a delta against another object of the set. With the flag
 * GITREACH_PACK_THIN, returns GITREACH_INVALID, because a set has no haves.
 * `options` and `report` may be NULL. Cost: copying the stored bytes, and
 * reading and compressing each object that cannot be copied.
 */
GITREACH_API int gitreach_set_write_pack(
	const gitreach_set *set, const struct gitreach_pack_options *options,
	gitreach_write_fn write, void *ctx, struct gitreach_pack_report *report,
	gitreach_error *err);

#ifdef __cplusplus
}
#endif

#endif
