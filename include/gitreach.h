/* SPDX-License-Identifier: MIT */
/*
 * libgitreach: which objects of a Git repository are reachable, by bitmaps
 * where there are any; packs of them; bitmap indexes themselves.
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
 * Only what is declared here is exported by the shared library. Link with
 * `pkg-config --cflags --libs gitreach`. Whole programs:
 * Documentation/examples/.
 *
 * What holds everywhere:
 *
 * - Return values. Functions that can fail return 0, or a negative number of
 *   enum gitreach_code and the reason in words in `err`; a positive value is
 *   explained where one is returned. Out parameters come first and are set to
 *   NULL, or left alone if they are no handles, on failure.
 * - Handles belong to the caller, who gives each back to its own function.
 *   Those take NULL. Queries and sets keep their repository alive: handles may
 *   be given back in any order.
 * - Pointers into a handle's memory are valid as long as the handle; what is
 *   passed to a callback, until that returns. Strings end with a NUL byte.
 * - An object id is its raw bytes, never hexadecimal, with their number: 20 in
 *   SHA-1 repositories, 32 in SHA-256 ones (gitreach_repo_id_len()). Another
 *   number is GITREACH_INVALID. Sizes are in bytes, times in nanoseconds.
 * - Structs start with `size`, which the caller sets to sizeof(the struct):
 *   later versions add members at the end. A library that does not know
 *   members that a program was compiled with ignores them if they are 0, and
 *   says GITREACH_UNSUPPORTED if not. Those it returns are filled in as far as
 *   the caller's size goes.
 * - Threads. There is no global state. A repository and a set never change:
 *   any number of threads may use one. A query, and an error, is for one thread
 *   at a time. Functions that compute much start threads of their own.
 * - Objects are what they are: references under refs/replace/ put none in the
 *   place of another, as in what `git upload-pack` serves.
 * - Nothing is printed and the process is never ended. No signal handlers are
 *   set; SIGPIPE does not arise, as bytes go to callbacks.
 * - The environment variables of Git that say where objects lie
 *   (GIT_OBJECT_DIRECTORY, GIT_ALTERNATE_OBJECT_DIRECTORIES) and what is
 *   configured (GIT_CONFIG_*) count; GIT_DIR does not.
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
 * Changes whenever a program that was compiled against one header could fail
 * with a library of another. The number in the shared library's soname.
 */
#define GITREACH_ABI_VERSION 0

/* Marks what the shared library exports. */
#define GITREACH_API __attribute__((visibility("default")))

/*
 * The versions of the library that is linked, which may differ from those that
 * were compiled against. A constant string.
 */
GITREACH_API const char *gitreach_version(void);
GITREACH_API int gitreach_abi_version(void);

/* ---- errors */

enum gitreach_code {
	GITREACH_OK = 0,
	GITREACH_NOMEM = -1,       /* an allocation failed */
	GITREACH_IO = -2,          /* the operating system said no; see
				      gitreach_error_errno() */
	GITREACH_CORRUPT = -3,     /* bytes that do not follow their format */
	GITREACH_MISSING = -4,     /* a thing that has to exist does not */
	GITREACH_UNSUPPORTED = -5, /* valid, but not known to this version */
	GITREACH_INVALID = -6,     /* an argument is wrong */
	GITREACH_PEER = -7,        /* whoever reads what is written went away */
	GITREACH_DENIED = -8,      /* refused by configuration or ownership */
	GITREACH_CANCELLED = -9    /* a callback of the caller's said so */
};

typedef struct gitreach_error gitreach_error;

/*
 * Room for the reason of one failure at a time; NULL when out of memory, which
 * all functions take to mean that nobody wants to know.
 */
GITREACH_API gitreach_error *gitreach_error_new(void);
GITREACH_API void gitreach_error_free(gitreach_error *err);

/*
 * Of the last call with this `err`, if it failed: what it returned, one line in
 * words without a newline, and errno for GITREACH_IO (else 0). 0 and "" when it
 * succeeded, and for NULL.
 */
GITREACH_API int gitreach_error_code(const gitreach_error *err);
GITREACH_API const char *gitreach_error_message(const gitreach_error *err);
GITREACH_API int gitreach_error_errno(const gitreach_error *err);

/* ---- repositories */

typedef struct gitreach_repo gitreach_repo;

enum gitreach_open_flag {
	/* `path` is the repository itself; otherwise "<path>/.git",
	   "<path>.git" and "<path>.git/.git" are tried as well */
	GITREACH_OPEN_EXACT = 1,
	/* also when it belongs to another user and safe.directory does not
	   name it */
	GITREACH_OPEN_ANY_OWNER = 2,
	/* as if there were no bitmap index */
	GITREACH_OPEN_NO_BITMAP = 4
};

enum gitreach_hash { GITREACH_SHA1 = 1, GITREACH_SHA256 = 2 };

/*
 * Open a repository: a snapshot of its packs, bitmap index, configuration and
 * references as they are now. What other processes add later is not seen, and
 * what they delete stays usable, but for loose objects. `flags`: of enum
 * gitreach_open_flag. GITREACH_MISSING when there is no repository. Files are
 * mapped, loose references listed; the bitmap index is read once for its
 * checksum.
 */
GITREACH_API int gitreach_repo_open(gitreach_repo **out, const char *path,
				    uint32_t flags, gitreach_error *err);
GITREACH_API void gitreach_repo_close(gitreach_repo *repo);

/*
 * Open the same repository again, with the same flags: a new snapshot. The old
 * one stays as it is, for who uses it still.
 */
GITREACH_API int gitreach_repo_refresh(gitreach_repo **out,
				       const gitreach_repo *repo,
				       gitreach_error *err);

/*
 * Whether packs came or went since the snapshot was taken: 1 or 0. References
 * are not looked at. One system call for each directory of objects.
 */
GITREACH_API int gitreach_repo_has_changed(const gitreach_repo *repo);

/* An enum gitreach_hash, and the bytes of an id: 20 or 32. */
GITREACH_API int gitreach_repo_hash(const gitreach_repo *repo);
GITREACH_API size_t gitreach_repo_id_len(const gitreach_repo *repo);

/* ---- progress */

/* How far a function has got. Made by the library only. */
struct gitreach_progress {
	uint64_t size;
	const char *phase; /* what is being done: "Enumerating objects" */
	uint64_t done;
	uint64_t total; /* of `done` at the end; 0: not known */
};

/*
 * Called first when something was done and then some times a second, as long as
 * a function works in steps; a value other than 0 ends the function, which
 * returns GITREACH_CANCELLED. Calls may come from any thread, one at a time. It
 * must not call functions on the handles that are in use.
 */
typedef int (*gitreach_progress_fn)(void *ctx,
				    const struct gitreach_progress *progress);

/* ---- queries: what can be reached */

typedef struct gitreach_query gitreach_query;
typedef struct gitreach_set gitreach_set;

enum gitreach_strategy {
	/* by the bitmap index where there is one that can answer, else by
	   walking history and trees */
	GITREACH_AUTO = 0,
	GITREACH_WALK = 1,
	/* GITREACH_UNSUPPORTED, and why, when it cannot */
	GITREACH_BITMAP = 2,
	/* both; GITREACH_CORRUPT when they find different objects, with the id
	   of one of them in the message */
	GITREACH_CHECK = 3
};

enum gitreach_query_option {
	GITREACH_STRATEGY = 1, /* an enum gitreach_strategy; AUTO */
	GITREACH_OBJECTS = 2,  /* 0: commits only; 1, the default: trees, blobs
				  and tags too */
	/* 1: the filter is for wants as well; 0, the default: an object that is
	   itself wanted passes */
	GITREACH_FILTER_WANTS = 3,
	/*
	 * 1: objects that haves reach may be found still, where it would cost
	 * to tell: those that they have only by commits that wants do not
	 * reach, and where walking answers those that are not in the trees it
	 * stops at, as `git rev-list --objects` does. 0, the default: exact.
	 */
	GITREACH_INEXACT = 4,
	GITREACH_THREADS = 5 /* most to use; 0, the default: as many as there
				are processors */
};

/*
 * An empty request: nothing wanted, nothing had. It may be run more than once,
 * and added to between runs.
 */
GITREACH_API int gitreach_query_new(gitreach_query **out, gitreach_repo *repo,
				    gitreach_error *err);
GITREACH_API void gitreach_query_free(gitreach_query *query);

/*
 * Add an object of any type to the wants: it and all it reaches are asked for.
 * Or to the haves: they are left out. One that does not exist is
 * GITREACH_MISSING when the query runs if it is wanted, and means nothing if it
 * is had.
 */
GITREACH_API int gitreach_query_want(gitreach_query *query, const uint8_t *id,
				     size_t id_len, gitreach_error *err);
GITREACH_API int gitreach_query_have(gitreach_query *query, const uint8_t *id,
				     size_t id_len, gitreach_error *err);

/*
 * The same by name: what a reference names ("HEAD", "refs/heads/main", or
 * short, "main"), or anything else that gitrevisions(7) lets name an object
 * ("v1.0^{tree}", "main~3"), but for reflogs and searches. GITREACH_MISSING
 * when there is no such thing.
 */
GITREACH_API int gitreach_query_want_name(gitreach_query *query,
					  const char *name,
					  gitreach_error *err);
GITREACH_API int gitreach_query_have_name(gitreach_query *query,
					  const char *name,
					  gitreach_error *err);

/*
 * The same for all references whose full names start with `prefix`
 * ("refs/tags/"); "" means all of them and HEAD. None is no error; a broken one
 * is GITREACH_CORRUPT.
 */
GITREACH_API int gitreach_query_want_refs(gitreach_query *query,
					  const char *prefix,
					  gitreach_error *err);
GITREACH_API int gitreach_query_have_refs(gitreach_query *query,
					  const char *prefix,
					  gitreach_error *err);

/*
 * Treat a commit as having no parents: the edge of a shallow clone. Walking
 * answers then.
 */
GITREACH_API int gitreach_query_shallow(gitreach_query *query,
					const uint8_t *id, size_t id_len,
					gitreach_error *err);

/*
 * Leave out what does not pass a filter, written as for `git rev-list
 * --filter`: "blob:none", "blob:limit=1m", "tree:0", "object:type=tag",
 * "sparse:oid=<name>", "combine:<spec>+<spec>". Of several an object has to
 * pass all. GITREACH_INVALID for one that cannot be parsed.
 */
GITREACH_API int gitreach_query_filter(gitreach_query *query, const char *spec,
				       gitreach_error *err);

/* `option`: an enum gitreach_query_option. */
GITREACH_API int gitreach_query_set(gitreach_query *query, int option,
				    uint64_t value, gitreach_error *err);

/* Report while it runs; NULL, the default: do not. */
GITREACH_API void gitreach_query_progress(gitreach_query *query,
					  gitreach_progress_fn fn, void *ctx);

/*
 * Find the objects that the wants reach and the haves do not. By bitmap
 * nothing is read but what came after the index was made; by walking, all
 * trees of the history.
 */
GITREACH_API int gitreach_query_run(gitreach_set **out,
				    const gitreach_query *query,
				    gitreach_error *err);

/* ---- sets of objects of one snapshot */

enum gitreach_type {
	GITREACH_COMMIT = 1,
	GITREACH_TREE = 2,
	GITREACH_BLOB = 3,
	GITREACH_TAG = 4
};

/* Several types, for `types` parameters: the sum of their GITREACH_TYPE(). */
#define GITREACH_TYPE(type) (UINT32_C(1) << (type))
#define GITREACH_ANY_TYPE UINT32_C(30)

GITREACH_API void gitreach_set_free(gitreach_set *set);

/* Number of objects of these types. A count of bits. */
GITREACH_API uint64_t gitreach_set_count(const gitreach_set *set,
					 uint32_t types);

/*
 * Bytes that the objects of these types take where they are stored, as `git
 * rev-list --disk-usage` has it: of deltas, the delta's.
 */
GITREACH_API int gitreach_set_disk_size(uint64_t *bytes,
					const gitreach_set *set, uint32_t types,
					gitreach_error *err);

/* Whether an object is in it: 1 or 0; 0 for an id of another length. */
GITREACH_API int gitreach_set_contains(const gitreach_set *set,
				       const uint8_t *id, size_t id_len);

/*
 * Visit the objects of these types, each once: commits, trees, blobs, tags; of
 * each type those of the bitmap index first, in the order of the pack, newest
 * commits first as a rule. `type`: an enum gitreach_type. A return of `fn`
 * other than 0 stops; it is returned if it is positive, and
 * GITREACH_CANCELLED if not.
 */
typedef int (*gitreach_object_fn)(void *ctx, const uint8_t *id, size_t id_len,
				  int type);
GITREACH_API int gitreach_set_each(const gitreach_set *set, uint32_t types,
				   gitreach_object_fn fn, void *ctx,
				   gitreach_error *err);

/*
 * A new set: objects of both, of either, of `a` and not of `b`.
 * GITREACH_INVALID for sets of different snapshots.
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
	/* GITREACH_WALK, GITREACH_BITMAP, or GITREACH_CHECK for both; 0: made
	   from other sets */
	int32_t strategy;
	uint32_t bitmaps_used, pseudo_merges_used;
	uint32_t commits_walked; /* beside these, before the next bitmap */
	uint64_t objects_walked; /* found without a bitmap, before filters */
	uint64_t nanoseconds;    /* that it took */
	const char *reason;      /* why not by bitmap; "" if it was. The
				    set's */
};

/* `out->size` is the caller's; the rest is filled in. */
GITREACH_API int gitreach_set_explain(struct gitreach_explanation *out,
				      const gitreach_set *set,
				      gitreach_error *err);

/* ---- the bitmap index */

enum gitreach_bitmap_flag {
	GITREACH_BITMAP_HASH_CACHE = 4, /* hashes of paths, for deltas */
	GITREACH_BITMAP_LOOKUP_TABLE = 16,
	GITREACH_BITMAP_PSEUDO_MERGES = 32
};

/* What the index of a repository has. */
struct gitreach_bitmap_info {
	uint64_t size;
	uint64_t bytes;         /* of the file */
	uint32_t objects;       /* that are indexed */
	uint32_t bitmaps;       /* of commits */
	uint32_t pseudo_merges; /* bitmaps of several commits together */
	uint32_t flags;         /* of enum gitreach_bitmap_flag */
	const char *path;       /* the repository's */
};

/*
 * Describe the index that queries use. GITREACH_MISSING, and why, when there is
 * none that can be used.
 */
GITREACH_API int gitreach_bitmap_info(struct gitreach_bitmap_info *out,
				      const gitreach_repo *repo,
				      gitreach_error *err);

/* The bitmap of a commit. Made by the library only. */
struct gitreach_bitmap_entry {
	uint64_t size;
	const uint8_t *id; /* of the commit */
	uint64_t id_len;
	uint64_t bytes;     /* of its entry in the file */
	uint64_t xor_depth; /* bitmaps that have to be decoded before it */
};

/*
 * Visit the commits that have a bitmap of their own, in the order of their ids;
 * `fn` as for gitreach_set_each(). Without an index there are none.
 */
typedef int (*gitreach_bitmap_fn)(void *ctx,
				  const struct gitreach_bitmap_entry *entry);
GITREACH_API int gitreach_bitmap_each(const gitreach_repo *repo,
				      gitreach_bitmap_fn fn, void *ctx,
				      gitreach_error *err);

/* How to verify. All 0 but for `size` is a choice. */
struct gitreach_verify_options {
	uint64_t size;
	uint64_t sample; /* so many bitmaps, each against a walk over all its
			    trees; 0: all of them, by one enumeration of the
			    history */
	uint64_t seed;   /* which ones */
	gitreach_progress_fn progress; /* NULL: none */
	void *progress_ctx;
};

/*
 * Compare what the index says with what objects say. 0 when it is right;
 * GITREACH_CORRUPT when it is not, and then the message names the first object
 * about which it is wrong, and the commit whose bitmap that is;
 * GITREACH_MISSING without an index. `options` may be NULL.
 */
GITREACH_API int gitreach_bitmap_verify(
	const gitreach_repo *repo,
	const struct gitreach_verify_options *options, gitreach_error *err);

/* How to write an index; what is not here is configured. */
struct gitreach_bitmap_options {
	uint64_t size;
	uint64_t threads;              /* 0: as many as are configured */
	gitreach_progress_fn progress; /* NULL: none */
	void *progress_ctx;
};

/*
 * Write the bitmap index of the repository's one pack, in place of one that it
 * may have; with a multi-pack-index, that one and its bitmap index. A new
 * snapshot (gitreach_repo_refresh()) uses it. GITREACH_MISSING when an object
 * that is reached is not in the pack, or there is none; GITREACH_UNSUPPORTED
 * for several packs without a multi-pack-index. Nothing was changed then.
 * `options` may be NULL.
 */
GITREACH_API int gitreach_bitmap_write(
	const gitreach_repo *repo,
	const struct gitreach_bitmap_options *options, gitreach_error *err);

/* ---- packs */

enum gitreach_pack_flag {
	/* deltas against objects that the receiver, who has the haves, has: a
	   query only */
	GITREACH_PACK_THIN = 1,
	/* bases by distance, which the receiver has to know: smaller */
	GITREACH_PACK_OFS_DELTA = 2,
	/* what is stored is not copied: new deltas, new compression */
	GITREACH_PACK_ANEW = 4
};

/* How to make a pack. All 0 but for `size` is a choice. */
struct gitreach_pack_options {
	uint64_t size;
	uint32_t flags;   /* of enum gitreach_pack_flag */
	uint32_t threads; /* 0: pack.threads, else as many as there are
			     processors */
	gitreach_progress_fn progress; /* NULL: none */
	void *progress_ctx;
};

/* What is in a pack that was made. */
struct gitreach_pack_report {
	uint64_t size;
	uint64_t bytes;        /* of the whole pack */
	uint64_t bytes_copied; /* of them as they were stored */
	uint32_t objects;
	uint32_t used_bitmap; /* 1: objects were found by bitmaps */
};

/*
 * Takes the next bytes of a pack; they are valid during the call. A value
 * other than 0 ends the pack: GITREACH_CANCELLED.
 */
typedef int (*gitreach_write_fn)(void *ctx, const void *bytes, size_t len);

/*
 * Make the pack that answers a query, as `git upload-pack` sends it: all that
 * the wants reach and the haves do not, by copying what is stored wherever the
 * receiver can use it. There may be objects in it that haves reach.
 * GITREACH_OBJECTS has to be 1, GITREACH_FILTER_WANTS 0, the strategy
 * GITREACH_AUTO or GITREACH_WALK; else GITREACH_UNSUPPORTED. `options` and
 * `report` may be NULL. What went to `write` before a failure is no pack.
 */
GITREACH_API int gitreach_query_write_pack(
	const gitreach_query *query,
	const struct gitreach_pack_options *options, gitreach_write_fn write,
	void *ctx, struct gitreach_pack_report *report, gitreach_error *err);

/*
 * Make a pack of exactly the objects of a set, each of them whole or a delta
 * against another of them. Sets know no haves: GITREACH_PACK_THIN is
 * GITREACH_INVALID.
 */
GITREACH_API int gitreach_set_write_pack(
	const gitreach_set *set, const struct gitreach_pack_options *options,
	gitreach_write_fn write, void *ctx, struct gitreach_pack_report *report,
	gitreach_error *err);

#ifdef __cplusplus
}
#endif

#endif
