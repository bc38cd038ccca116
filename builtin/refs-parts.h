/* SPDX-License-Identifier: MIT */
/* Functions of git refs that other commands use. */
#ifndef BUILTIN_REFS_PARTS_H
#define BUILTIN_REFS_PARTS_H

#include "refs/refs-check.h"
#include "refs/refs.h"

/*
 * Find whether a ref exists. Implements `refs exists` and `show-ref --exists`.
 * `name` is a full name. The object or ref to which the ref points may be
 * missing. Returns the exit code: 0 if the ref exists, 2 if it does not, or 1
 * if it cannot be looked up. Prints an error before it returns 1 or 2.
 */
int refs_exists(struct refs *refs, const struct repo *repo, const char *name);

/*
 * Callback of struct refs_check: prints "error: <where>: <id>: <text>" or
 * "warning: ..." on stderr.
 */
void refs_report_print(void *ctx, const struct refs_report *report);

/*
 * Callback of struct refs_check: prints "Checking <at>" on stderr. `at` says
 * what is checked next. If this is the file packed-refs, its path is printed as
 * a relative path, unless GIT_DIR is absolute. `ctx` is a struct shown_path.
 */
void refs_report_looking(void *ctx, const char *at);

#endif
