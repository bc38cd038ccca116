/* SPDX-License-Identifier: MIT */
/* Functions of git refs that other commands use. */
#ifndef BUILTIN_REFS_PARTS_H
#define BUILTIN_REFS_PARTS_H

#include "refs/refs-check.h"
#include "refs/refs.h"

/*
 * Find whether a ref exists. Implements `refs exists` and `show-ref --exists`.
 * `name` is a full name. The object or ref to which the ref points may be
 * missing. Returns the exit code: 0 if the ref exists. Otherwise prints an
 * error and returns 2, or 1 if the ref cannot be looked up.
 */
int refs_exists(struct refs *refs, const char *name);

/*
 * Callback of struct refs_check: prints "error: <where>: <id>: <text>" or
 * "warning: ..." on stderr.
 */
void refs_report_print(void *ctx, const struct refs_report *report);

/*
 * Callback of struct refs_check: prints "Checking <at>" on stderr. The path of
 * packed-refs is shortened, unless GIT_DIR is absolute. ctx: struct shown_path.
 */
void refs_report_looking(void *ctx, const char *at);

#endif
