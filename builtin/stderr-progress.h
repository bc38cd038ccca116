/* SPDX-License-Identifier: MIT */
/* Progress meters on standard error. */
#ifndef BUILTIN_STDERR_PROGRESS_H
#define BUILTIN_STDERR_PROGRESS_H

#include "sys/progress.h"

/* How a command was told about progress. */
enum show_progress {
	PROGRESS_IF_TERMINAL, /* the default: only where a person looks */
	PROGRESS_OFF,         /* -q, --no-progress */
	PROGRESS_ON,          /* --progress */
};

/*
 * Fill in *out and return it, or NULL when nothing is to be shown.
 */
const struct progress_out *stderr_progress(struct progress_out *out,
					   enum show_progress show);

#endif
