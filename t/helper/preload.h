/* SPDX-License-Identifier: MIT */
/* Common code of libraries for LD_PRELOAD that replace open(). */
#ifndef PRELOAD_H
#define PRELOAD_H

#include <fcntl.h>
#include <stdarg.h>
#include <sys/types.h>

#define EXPORT __attribute__((visibility("default")))

/*
 * Sets `mode` to the argument of open() after `flags`, or to 0 if the flags
 * require no mode.
 */
#define TAKE_MODE(mode, flags)                                                 \
	do {                                                                   \
		va_list args;                                                  \
                                                                               \
		va_start(args, flags);                                         \
		mode = (flags)&O_CREAT || ((flags)&O_TMPFILE) == O_TMPFILE     \
			       ? va_arg(args, mode_t)                          \
			       : 0;                                            \
		va_end(args);                                                  \
	} while (0)

#endif
