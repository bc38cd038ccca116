/* SPDX-License-Identifier: MIT */
/* Progress meters on standard error. */
#ifndef BUILTIN_STDERR_PROGRESS_H
#define BUILTIN_STDERR_PROGRESS_H

#include "sys/progress.h"

/* What the command line says about progress. */
enum show_progress {
	/* the default: if standard error is a terminal */
	PROGRESS_IF_TERMINAL,
	PROGRESS_OFF, /* -q, --no-progress */
	PROGRESS_ON,  /* --progress */
	/* --progress, but only if the work takes long */
	PROGRESS_LATE,
};

/*
 * Fill in *out and return it, or return NULL if no progress should be shown.
 * With PROGRESS_IF_TERMINAL and PROGRESS_LATE a meter appears after a second,
 * or after the seconds that GIT_PROGRESS_DELAY gives.
 */
const struct progress_out *stderr_progress(struct progress_out *out,
					   enum show_progress show);

#endif
