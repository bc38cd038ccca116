/* SPDX-License-Identifier: MIT */
/* Printing what is wrong with refs, for fsck and refs. */
#ifndef BUILTIN_REFS_REPORT_H
#define BUILTIN_REFS_REPORT_H

#include "refs/refs-check.h"

/* Members of struct refs_check: "error: <where>: <id>: <text>" on stderr, */
void refs_report_print(void *ctx, const struct refs_report *report);

/* and "Checking <at>". */
void refs_report_looking(void *ctx, const char *at);

#endif
