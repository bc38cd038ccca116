/* SPDX-License-Identifier: MIT */
/*
 * Help: lists of commands, manual pages, and messages about commands that do
 * not exist.
 *
 * If stock Git is installed, it gives the help. We add our commands to its
 * lists, and its viewers show our pages for native commands. Otherwise we list
 * the native commands and start `man`.
 */
#ifndef BUILTIN_HELP_H
#define BUILTIN_HELP_H

#include <stdbool.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/error.h"
#include "config/config.h"
#include "sys/trace.h"

/*
 * Returns whether `git help` lists the command as native, that is, implemented
 * by gitreach.
 */
bool help_is_native(const char *name);

/*
 * Returns whether `name` is a command of gitreach that stock Git does not have.
 */
bool help_is_own(const char *name);

/* Print all native commands on stdout in groups, one command on each line. */
void help_print_groups(void);

/*
 * Print to `out` the native commands that stock Git does not have, one command
 * on each line.
 */
void help_print_own(FILE *out);

/*
 * Print the names of gitreach's commands on stdout. `own_only`: print only
 * those that stock Git does not have.
 */
void help_print_names(bool own_only);

/*
 * Print the synopsis of `git` and the native commands on stdout. Returns 0 or
 * 128.
 */
int help_print(void);

/*
 * Report that `git` has no such option, or that the option lacks its value.
 * Call this only if stock Git is not installed. Returns 129.
 */
int help_bad_option(const char *option, bool lacks_value);

/*
 * Report that the command `name` cannot be run. Call this only if stock Git is
 * not installed. Returns 1 if Git has no such command, after printing similar
 * names. Returns 128 if stock Git has the command, or if `name` is an alias,
 * after printing `why`.
 */
int help_unknown(const char *name, const struct error *why);

/*
 * Print the result of `git --list-cmds=<groups>`, which the shell's completion
 * uses. Returns the exit code.
 */
int help_list_cmds(const char *groups, struct trace *trace);

/*
 * Append the name of our manual page about `topic` to *page. `topic` is a
 * native command or "gitreach". Returns 0, ERR_MISSING if there is no page, or
 * ERR_NOMEM.
 */
int help_find_page(struct buf *page, const char *topic);

/*
 * Put our directory of manual pages first in MANPATH. Returns 0, or 128 after
 * printing an error.
 */
int help_set_manpath(void);

/*
 * Start the viewer of manual pages that man.viewer or GIT_MAN_VIEWER names, or
 * `man`. Returns only on failure, with 128.
 */
int help_view(const char *page, const struct config *config);

#endif
