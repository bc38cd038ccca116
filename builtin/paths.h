/* SPDX-License-Identifier: MIT */
/*
 * Where this program was told at build time that it would be installed. The
 * only object that is compiled with these paths, so that another prefix
 * recompiles one file. Absolute paths without a trailing slash.
 */
#ifndef BUILTIN_PATHS_H
#define BUILTIN_PATHS_H

/* The installed exec-path directory: ours, and links to stock Git's helpers. */
extern const char paths_exec_dir[];

/* The installation prefix. */
extern const char paths_prefix[];

/* The directory of the system-wide `gitconfig`. */
extern const char paths_sysconf_dir[];

#endif
