/* SPDX-License-Identifier: MIT */
/* Printing what is wrong with refs. */
#include <stdio.h>

#include "builtin/refs-report.h"

void refs_report_print(void *ctx, const struct refs_report *report)
{
	(void)ctx;
	fprintf(stderr, "%s: %s: %s: %s\n",
		report->is_error ? "error" : "warning", report->where,
		fsck_msg_name(report->msg), report->text);
}

void refs_report_looking(void *ctx, const char *at)
{
	(void)ctx;
	fprintf(stderr, "Checking %s\n", at);
}
