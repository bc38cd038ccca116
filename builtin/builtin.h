/* SPDX-License-Identifier: MIT */
/*
 * The commands: one file each, arguments and printing only.
 *
 * The main program has already applied the options before the command's name
 * (-C, -c, --git-dir, ...) by changing directory and environment, so that a
 * command only opens the repository. A command returns its exit code.
 */
#ifndef BUILTIN_BUILTIN_H
#define BUILTIN_BUILTIN_H

#include <stdbool.h>

#include "base/error.h"
#include "repo/repo.h"

struct tracing;

struct builtin_env {
	struct repo *repo; /* owned by main; NULL until builtin_open_repo() */
	struct tracing *tracing; /* borrowed from main; NULL: none */
	bool is_bare; /* `git --bare` was given before the command's name */
};

/* What `git version` says after "git version ". */
extern const char builtin_version[];

/*
 * What a command returns when it is asked for what it does not have, before it
 * has read standard input, printed or changed anything: main closes the
 * repository and becomes the stock Git, with the words that were given. It is
 * no exit code and no enum error_code.
 *
 * Commands that serve strangers never return it.
 */
#define BUILTIN_NOT_OURS (-256)

/* Whether there is a stock Git to become. */
bool builtin_has_stock(void);

/*
 * BUILTIN_NOT_OURS, if there is a stock Git; else says what is lacking, as
 * builtin_fail() does, and returns 128.
 */
int builtin_not_ours(const struct error *why);

/*
 * Open the repository of the working directory and environment into
 * env->repo, once. 0; or prints "fatal: ..." and returns 128.
 */
int builtin_open_repo(struct builtin_env *env);

/*
 * As builtin_open_repo() for commands that need no repository: when there is
 * none that may be used, env->repo stays NULL and 0 is returned.
 */
int builtin_open_repo_gently(struct builtin_env *env);

/*
 * The hash function of files that are not in a repository: the one of that
 * name (--object-format), or NULL: the repository's if there is one, else
 * SHA-1. Opens the repository gently. 0, or prints and returns 128.
 */
int builtin_choose_algo(struct builtin_env *env, enum hash_algo *algo,
			const char *name);

/* Print "fatal: <message>" on stderr; returns 128. */
int builtin_fail(const struct error *err);
int builtin_die(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Print "error: ..." / "warning: ..." on stderr; error returns -1. */
int builtin_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void builtin_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * Flush stdout at the end of a command; a failed write (a full disk) is
 * "fatal: ..." and 128, else `code` is returned. A closed pipe is silent, as
 * SIGPIPE has its default effect for commands but upload-pack.
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
int cmd_receive_pack(int argc, const char **argv, struct builtin_env *env);
int cmd_reflog(int argc, const char **argv, struct builtin_env *env);
int cmd_refs(int argc, const char **argv, struct builtin_env *env);
int cmd_repack(int argc, const char **argv, struct builtin_env *env);
int cmd_rev_list(int argc, const char **argv, struct builtin_env *env);
int cmd_rev_parse(int argc, const char **argv, struct builtin_env *env);
int cmd_show_index(int argc, const char **argv, struct builtin_env *env);
int cmd_show_ref(int argc, const char **argv, struct builtin_env *env);
int cmd_symbolic_ref(int argc, const char **argv, struct builtin_env *env);
int cmd_update_ref(int argc, const char **argv, struct builtin_env *env);
int cmd_unpack_objects(int argc, const char **argv, struct builtin_env *env);
int cmd_upload_archive(int argc, const char **argv, struct builtin_env *env);
int cmd_upload_pack(int argc, const char **argv, struct builtin_env *env);
int cmd_verify_pack(int argc, const char **argv, struct builtin_env *env);
int cmd_version(int argc, const char **argv, struct builtin_env *env);

#endif
