/* SPDX-License-Identifier: MIT */
/*
 * The installation paths of the build, absolute and without a trailing slash.
 * Only paths.c is compiled with them, so that another prefix recompiles one
 * file.
 */
#ifndef BUILTIN_PATHS_H
#define BUILTIN_PATHS_H

/* The installed exec-path directory: our programs, and links to stock Git's. */
extern const char paths_exec_dir[];

/* The installation prefix. */
extern const char paths_prefix[];

/* The directory of the manual pages. */
extern const char paths_man_dir[];

/* The directory of the system-wide `gitconfig`. */
extern const char paths_sysconf_dir[];

#endif
