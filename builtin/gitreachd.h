/* SPDX-License-Identifier: MIT */
/*
 * The server gitreachd. It has no program file of its own: `git`, if called by
 * the name gitreachd, runs the server. There is no command `git gitreachd`.
 */
#ifndef BUILTIN_GITREACHD_H
#define BUILTIN_GITREACHD_H

#include "builtin/builtin.h"

/* Run the server. argv[0] is its name. Returns the exit code. */
int gitreachd_main(int argc, const char **argv, struct builtin_env *env);

/* Run `gitreachd --ssh-client`. Returns the exit code. */
int gitreachd_ssh_main(int argc, const char **argv);

#endif
