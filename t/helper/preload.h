/* SPDX-License-Identifier: MIT */
/* What libraries for LD_PRELOAD that stand before open() share. */
#ifndef PRELOAD_H
#define PRELOAD_H

#include <fcntl.h>
#include <stdarg.h>
#include <sys/types.h>

#define EXPORT __attribute__((visibility("default")))

/* Set `mode` to the argument behind `flags`, 0 where there has to be none. */
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
