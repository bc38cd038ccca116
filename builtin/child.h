/* SPDX-License-Identifier: MIT */
/*
 * Commands that are steps of another, gc or maintenance: a process each, which
 * takes a snapshot of its own after the step before and gives its memory back.
 * And questions that one command has for another.
 */
#ifndef BUILTIN_CHILD_H
#define BUILTIN_CHILD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"
#include "repo/repo.h"

/* The words of a command. */
struct child_words {
	char **items; /* owned, and each; NULL after the last */
	size_t nr, alloc;
	bool failed; /* there was no memory; said when it is to be run */
};

/* "git" and these words, up to a NULL. Release, or run it. */
struct child_words child_git(const char *const *words);
void child_add(struct child_words *w, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void child_words_release(struct child_words *w);

/*
 * Run it to its end, without input, and release the words. 0; ERR_PEER
 * ("failed to run <command>") when it says that it failed, or another error.
 */
int child_run(struct child_words *w, const struct repo *repo,
	      struct error *err);

/*
 * The same, and what it prints is appended to `answer`. Its exit code, or
 * negative.
 */
int child_ask(struct buf *answer, struct child_words *w,
	      const struct repo *repo, struct error *err);

/*
 * The same for what only stock Git can do, about a directory of the repository
 * that those on a server do not have: nothing without it, nor without a stock
 * Git.
 */
int child_run_stock(struct child_words *w, const struct repo *repo,
		    const char *dir, struct error *err);

/*
 * Start it for whom nobody waits, without any streams, and release the words.
 * 0 or negative.
 */
int child_start(struct child_words *w, struct error *err);

#endif
