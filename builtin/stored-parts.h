/* SPDX-License-Identifier: MIT */
/* The parts of git store: its subcommands, and code that they share. */
#ifndef BUILTIN_STORED_PARTS_H
#define BUILTIN_STORED_PARTS_H

#include "builtin/builtin.h"
#include "builtin/options.h"
#include "copies/copies.h"
#include "generations/history.h"
#include "store/open.h"

/*
 * Functions that run the subcommands. argv[0] is the name of the subcommand.
 * Each prints its own errors and returns the exit code.
 */
int stored_cmd_import(int argc, const char **argv, struct builtin_env *env);
int stored_cmd_export(int argc, const char **argv, struct builtin_env *env);
int stored_cmd_fetch(int argc, const char **argv, struct builtin_env *env);
int stored_cmd_list(int argc, const char **argv, struct builtin_env *env);
int stored_cmd_log(int argc, const char **argv, struct builtin_env *env);
int stored_cmd_verify(int argc, const char **argv, struct builtin_env *env);
int stored_cmd_repack(int argc, const char **argv, struct builtin_env *env);
int stored_cmd_gc(int argc, const char **argv, struct builtin_env *env);

/* ---- stored-place.c */

/* Rows for a table of options: the options that say how to reach the store. */
#define STORED_OPTION_ROWS(settings)                                           \
	OPTION_ROW_STRING(0, "endpoint", &(settings)->endpoint, "<url>",       \
			  "address of the S3 service, for s3://"),             \
		OPTION_ROW_STRING(0, "region", &(settings)->region, "<name>",  \
				  "region of the bucket (default us-east-1)"), \
		OPTION_ROW_STRING(0, "ca-file", &(settings)->ca_file,          \
				  "<file>", "certificates of authorities")

/* The store of a command. */
struct stored_place {
	const char *url;         /* borrowed */
	struct filestore *store; /* owned */
	struct generation_host host;
};

/*
 * Open the store at a URL. Returns 0, or prints an error and returns 128. Close
 * *place in any case.
 */
int stored_place_open(struct stored_place *place, const char *url,
		      const struct store_s3_settings *settings);
/*
 * Works like stored_place_open(). If the URL is a directory that is no store
 * yet, makes it a store.
 */
int stored_place_make(struct stored_place *place, const char *url,
		      const struct store_s3_settings *settings);
void stored_place_close(struct stored_place *place);

/*
 * Open `dir`, the cache directory of the store, which holds local copies of
 * repositories. All files of the cache together have at most `budget` bytes; 0:
 * no limit. Returns 0 with *out owned by the caller, or prints an error and
 * returns 128.
 */
int stored_place_copies(struct stored_copies **out,
			const struct stored_place *place, const char *dir,
			const struct store_s3_settings *settings,
			uint64_t budget);

/* Returns the place of the repository `name` in the store; borrows `name`. */
struct generation_place stored_place_repository(
	const struct stored_place *place, const char *name);

/*
 * Print the error of a function that works on the store. `ret` is the result of
 * this function, and `err` has its message. Returns 128.
 */
int stored_place_fail(const struct stored_place *place, int ret,
		      const struct error *err);

/* The names of the repositories in a store. */
struct stored_names {
	char **names; /* owned, sorted */
	size_t nr, alloc;
};

/*
 * List the repositories of the store. Release *names in any case. Returns 0,
 * STORE_UNAVAILABLE if the store does not answer, or a negative error code.
 */
int stored_place_list(struct stored_names *names,
		      const struct stored_place *place, struct error *err);
void stored_names_release(struct stored_names *names);

/*
 * Call `fn` with each repository that argv[0..nr) names. If nr is 0, call it
 * with each repository in the store, and with `is_listed` true. A repository in
 * the store has no generation if its first import has failed. For such a
 * repository, `fn` must return 0 if `is_listed` is true. Returns the highest
 * result of `fn`. If the store cannot be listed, prints an error and returns
 * the exit code.
 */
int stored_place_each(const struct stored_place *place, const char **argv,
		      int nr,
		      int (*fn)(void *ctx, const struct generation_place *place,
				bool is_listed),
		      void *ctx);

/*
 * Open the store at the URL argv[1], and call `fn` with each repository that
 * argv[2] to argv[operands] name. If `operands` is 1, call `fn` with all
 * repositories of the store. Returns the exit code of the command.
 */
int stored_place_run(const char **argv, int operands,
		     const struct store_s3_settings *settings,
		     int (*fn)(void *ctx, const struct generation_place *place,
			       bool is_listed),
		     void *ctx);

/*
 * Append the names of this machine and of its user, which the store records
 * with each change. If the user has no name, nothing is appended to *user.
 * Returns 0 or a negative error code.
 */
int stored_place_origin(struct buf *node, struct buf *user, struct error *err);

/* Returns the directory for temporary files: TMPDIR, or /tmp. */
const char *stored_place_tmp(void);

#endif
