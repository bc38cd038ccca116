/* SPDX-License-Identifier: MIT */
/*
 * Runs commands as child processes, for git gc and git maintenance. Each step
 * of gc or maintenance is a process of its own. So each step takes a new
 * snapshot of the repository, and its memory is freed when the step ends. Other
 * functions run a command and pass its output to the caller.
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
	/* owned array of owned strings, with NULL after the last string */
	char **items;
	size_t nr, alloc;
	/*
	 * true: memory ran out while words were added, so running the command
	 * will fail
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
 * Run a command without input, and wait until it ends. `w`: the words of the
 * command; they are released in any case. Returns 0 if the exit code is 0,
 * ERR_PEER ("failed to run <command>") for another exit code, or another
 * negative error code.
 */
int child_run(struct child_words *w, const struct repo *repo,
	      struct error *err);

/*
 * Works like child_run(), but appends the command's standard output to the
 * buffer `answer`. Returns the exit code, or a negative error code if the
 * command could not be run. An exit code other than 0 is not an error of this
 * function.
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
 * Works like child_run(), with three differences. The command reads `input`.
 * Its standard output goes to the standard error of this process. The result is
 * the exit code, or a negative error code if the command could not be run. Any
 * thread may call this function.
 */
int child_feed(struct child_words *w, const struct repo *repo,
	       const char *input, size_t len, struct error *err);

/*
 * Works like child_run(), for a command that only stock Git has. `dir` is the
 * subdirectory of the git directory with the files of this command, such as
 * "rr-cache". Does nothing and returns 0 if stock Git is not installed, or if
 * `dir` does not exist, as in most repositories of a server.
 */
int child_run_stock(struct child_words *w, const struct repo *repo,
		    const char *dir, struct error *err);

/*
 * Start a command in the background, without standard streams, and release the
 * words. Does not wait for the command. Returns 0 or a negative error code.
 */
int child_start(struct child_words *w, struct error *err);

#endif
