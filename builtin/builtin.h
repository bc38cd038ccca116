/* SPDX-License-Identifier: MIT */
/*
 * The commands. The files of a command only parse arguments and print. They
 * call functions of other directories, which do the work.
 *
 * The main program applies the options before the command's name (-C, -c,
 * --git-dir, ...) by changing the directory and the environment. So a command
 * needs no code for these options. A command opens the repository of the
 * working directory, and returns the exit code of the program.
 */
#ifndef BUILTIN_BUILTIN_H
#define BUILTIN_BUILTIN_H

#include <stdbool.h>

#include "base/error.h"
#include "repo/repo.h"

struct lazy_fetch;
struct trace;
struct tracing;

struct builtin_env {
	/*
	 * The repository of the command. Owned by main; NULL until
	 * builtin_open_repo().
	 */
	struct repo *repo;
	/* Borrowed from main: the state of tracing; NULL: nothing is traced. */
	struct tracing *tracing;
	/* true: `git --bare` was given before the command's name */
	bool is_bare;
	/*
	 * The variables to check when the repository is opened: groups for
	 * config_check(); 0: none.
	 */
	unsigned config_checks;
	/*
	 * State for fetching missing objects (builtin/lazy-fetch.h). Owned by
	 * main; NULL until an object is missing.
	 */
	struct lazy_fetch *lazy_fetch;
};

/*
 * The version that `git version` prints if there is no stock Git. The first
 * part is the version of Git whose commands and options we implement; the
 * second part is our own version.
 */
extern const char builtin_version[];

/*
 * Value that a command returns if it does not implement what the user asks for.
 * Before a command returns this value, it must not read standard input, print
 * or change anything. The main program then closes the repository and executes
 * stock Git with the original arguments. The value is neither an exit code nor
 * an enum error_code.
 *
 * Commands that serve remote clients never return this value.
 */
#define BUILTIN_NOT_OURS (-256)

/* Returns whether stock Git is installed. */
bool builtin_has_stock(void);

/*
 * Returns BUILTIN_NOT_OURS if stock Git is installed. Otherwise prints `why`,
 * as builtin_fail() does, and returns 128.
 */
int builtin_not_ours(const struct error *why);

/*
 * Open the repository of the working directory and environment into env->repo.
 * Uses the repository that is open already, if any. Checks the configuration
 * variables that env->config_checks selects: a wrong value is an error
 * (builtin/config-check.h). Clears env->config_checks, so the variables are
 * checked only once. Returns 0, or prints "fatal: ..." and returns 128.
 */
int builtin_open_repo(struct builtin_env *env);

/*
 * Works like builtin_open_repo(), for a command that changes the repository. If
 * the repository is a local copy of one in a store, prints an error and returns
 * 128; `what` names the command in this error.
 */
int builtin_open_repo_to_change(struct builtin_env *env, const char *what);

/*
 * Works like builtin_open_repo(), for a command that can also run without a
 * repository. If there is no repository, or the user may not use it, returns 0
 * and leaves env->repo NULL.
 */
int builtin_open_repo_gently(struct builtin_env *env);

/*
 * Choose the hash function for a command that reads a file which need not
 * belong to a repository, such as a pack or an index. If `name` (the value of
 * --object-format) is not NULL, `name` is the hash function. Otherwise, if the
 * command runs in a repository, the hash function is that of the repository.
 * Otherwise the hash function is SHA-1. Opens the repository as
 * builtin_open_repo_gently() does. Returns 0, or prints an error and returns
 * 128.
 */
int builtin_choose_algo(struct builtin_env *env, enum hash_algo *algo,
			const char *name);

/* Print "fatal: <message>" on stderr. Return 128. */
int builtin_fail(const struct error *err);

/*
 * Print on stderr, in the words of stock Git, that the bitmap index of a
 * multi-pack-index could not be written. Returns 255, the exit code.
 */
int builtin_fail_midx_bitmap(const struct error *err);
int builtin_die(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * Print "error: ..." or "warning: ..." on stderr. builtin_error() returns -1,
 * for callers that return its result.
 */
int builtin_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void builtin_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * From now on, write an event to the trace `t` for each message of
 * builtin_fail(), builtin_die(), builtin_error() and builtin_warn(). If `t` is
 * NULL, no more events are written. `t` is borrowed until the next call. Call
 * this while the process has one thread.
 */
void builtin_trace_errors(struct trace *t);

/*
 * Flush stdout at the end of a command. If a write has failed (a full disk),
 * prints "fatal: ..." and returns 128; otherwise returns `code`. A closed pipe
 * prints nothing: SIGPIPE has its default effect for all commands except
 * upload-pack.
 */
int builtin_finish(int code);

int cmd_bitmap(int argc, const char **argv, struct builtin_env *env);
int cmd_bundle(int argc, const char **argv, struct builtin_env *env);
int cmd_cat_file(int argc, const char **argv, struct builtin_env *env);
int cmd_commit_graph(int argc, const char **argv, struct builtin_env *env);
int cmd_count_objects(int argc, const char **argv, struct builtin_env *env);
int cmd_for_each_ref(int argc, const char **argv, struct builtin_env *env);
int cmd_fsck(int argc, const char **argv, struct builtin_env *env);
int cmd_gc(int argc, const char **argv, struct builtin_env *env);
int cmd_hash_object(int argc, const char **argv, struct builtin_env *env);
int cmd_help(int argc, const char **argv, struct builtin_env *env);
int cmd_http_backend(int argc, const char **argv, struct builtin_env *env);
int cmd_index_pack(int argc, const char **argv, struct builtin_env *env);
int cmd_init(int argc, const char **argv, struct builtin_env *env);
int cmd_maintenance(int argc, const char **argv, struct builtin_env *env);
int cmd_multi_pack_index(int argc, const char **argv, struct builtin_env *env);
int cmd_network(int argc, const char **argv, struct builtin_env *env);
int cmd_pack_objects(int argc, const char **argv, struct builtin_env *env);
int cmd_pack_refs(int argc, const char **argv, struct builtin_env *env);
int cmd_prune(int argc, const char **argv, struct builtin_env *env);
int cmd_prune_packed(int argc, const char **argv, struct builtin_env *env);
int cmd_publish(int argc, const char **argv, struct builtin_env *env);
int cmd_receive_pack(int argc, const char **argv, struct builtin_env *env);
int cmd_reflog(int argc, const char **argv, struct builtin_env *env);
int cmd_refs(int argc, const char **argv, struct builtin_env *env);
int cmd_repack(int argc, const char **argv, struct builtin_env *env);
int cmd_requests(int argc, const char **argv, struct builtin_env *env);
int cmd_rev_list(int argc, const char **argv, struct builtin_env *env);
int cmd_rev_parse(int argc, const char **argv, struct builtin_env *env);
int cmd_show_index(int argc, const char **argv, struct builtin_env *env);
int cmd_store(int argc, const char **argv, struct builtin_env *env);
int cmd_show_ref(int argc, const char **argv, struct builtin_env *env);
int cmd_symbolic_ref(int argc, const char **argv, struct builtin_env *env);
int cmd_update_ref(int argc, const char **argv, struct builtin_env *env);
int cmd_unpack_objects(int argc, const char **argv, struct builtin_env *env);
int cmd_upload_archive(int argc, const char **argv, struct builtin_env *env);
int cmd_upload_pack(int argc, const char **argv, struct builtin_env *env);
int cmd_verify_pack(int argc, const char **argv, struct builtin_env *env);
int cmd_version(int argc, const char **argv, struct builtin_env *env);

#endif
