/* SPDX-License-Identifier: MIT */
/* The installation paths, which the Makefile defines for this file only. */
#include "builtin/paths.h"

const char paths_exec_dir[] = GITREACH_EXEC_DIR;
const char paths_prefix[] = GITREACH_PREFIX;
const char paths_man_dir[] = GITREACH_MAN_DIR;
const char paths_sysconf_dir[] = GITREACH_SYSCONF_DIR;
