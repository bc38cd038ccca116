/* SPDX-License-Identifier: MIT */
/*
 * Running other commands as child processes. git gc and git maintenance run
 * each step as a process. Such a process takes a new snapshot of the
 * repository, and all its memory is freed at its end. A command can also read
 * another command's output.
 */
#ifndef BUILTIN_CHILD_H
#define BUILTIN_CHILD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"
#include "repo/repo.h"

/* The arguments of a command that will run as a child process. */
struct child_words {
	/* owned array of owned strings; NULL after the last one */
	char **items;
	size_t nr, alloc;
	/*
	 * Memory ran out while words were added. Running the command then
	 * fails.
	 */
	bool failed;
};

/*
 * Returns the arguments of a command: "git" and then `words`, which end with
 * NULL. The caller must release the result or run the command.
 */
struct child_words child_git(const char *const *words);
void child_add(struct child_words *w, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void child_words_release(struct child_words *w);

/*
 * Run a command to its end, without input, and release the words. Returns 0,
 * ERR_PEER ("failed to run <command>") if the exit code is not 0, or another
 * negative error code.
 */
int child_run(struct child_words *w, const struct repo *repo,
	      struct error *err);

/*
 * Works like child_run(), but appends the command's standard output to the
 * buffer `answer`. Returns the exit code, or a negative error code if the
 * command could not be run. The command's own failure is not an error here.
 */
int child_ask(struct buf *answer, struct child_words *w,
	      const struct repo *repo, struct error *err);

/*
 * Works like child_ask(), but also appends the command's standard error to the
 * buffer `errors`. Returns the exit code, or a negative error code if the
 * command could not be run.
 */
int child_ask_both(struct buf *answer, struct buf *errors,
		   struct child_words *w, const struct repo *repo,
		   struct error *err);

/*
 * Works like child_run(), but the command reads `input`, and prints to our
 * standard error. Returns the exit code or a negative error code. May be called
 * by any thread.
 */
int child_feed(struct child_words *w, const struct repo *repo,
	       const char *input, size_t len, struct error *err);

/*
 * Works like child_run(), for a command that only stock Git has. `dir` is the
 * directory in the git directory that the command works on, such as "rr-cache".
 * Does nothing and returns 0 if stock Git is not installed, or if `dir` does
 * not exist, as in most repositories of a server.
 */
int child_run_stock(struct child_words *w, const struct repo *repo,
		    const char *dir, struct error *err);

/*
 * Start a command in the background, without standard streams, and release the
 * words. Does not wait for the command. Returns 0 or a negative error code.
 */
int child_start(struct child_words *w, struct error *err);

#endif
