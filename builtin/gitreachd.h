/* SPDX-License-Identifier: MIT */
/*
 * The server gitreachd. The program file is that of `git`; called as gitreachd,
 * it runs the server. `git` has no command of this name.
 */
#ifndef BUILTIN_GITREACHD_H
#define BUILTIN_GITREACHD_H

#include "builtin/builtin.h"

/* Run the server. argv[0] is its name. Returns the exit code. */
int gitreachd_main(int argc, const char **argv, struct builtin_env *env);

/* Run `gitreachd --ssh-client`. Returns the exit code. */
int gitreachd_ssh_main(int argc, const char **argv);

#endif
