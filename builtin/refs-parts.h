/* SPDX-License-Identifier: MIT */
/* The parts of git refs that other commands use. */
#ifndef BUILTIN_REFS_PARTS_H
#define BUILTIN_REFS_PARTS_H

#include "refs/refs-check.h"
#include "refs/refs.h"

/*
 * The exit code: 0 when the ref of that full name is there, whether or not its
 * object, or the ref it leads to, is; else prints and returns 2, or 1 for one
 * that cannot be looked up.
 */
int refs_exists(struct refs *refs, const char *name);

/* Members of struct refs_check: "error: <where>: <id>: <text>" on stderr, */
void refs_report_print(void *ctx, const struct refs_report *report);

/* and "Checking <at>". */
void refs_report_looking(void *ctx, const char *at);

#endif
