/* SPDX-License-Identifier: MIT */
/*
 * Help: lists of commands, manual pages, and what to say about a command that
 * does not exist.
 *
 * If stock Git is installed, it gives the help. We add our commands to its
 * lists, and show our pages for native commands with its viewers. Otherwise we
 * list the native commands and start `man`.
 */
#ifndef BUILTIN_HELP_H
#define BUILTIN_HELP_H

#include <stdbool.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/error.h"
#include "config/config.h"
#include "sys/trace.h"

/* Whether `git help` lists the command as a native one. */
bool help_is_native(const char *name);

/* Whether it is a command that stock Git does not have. */
bool help_is_own(const char *name);

/* Print all native commands on stdout: a line each, in groups. */
void help_print_groups(void);

/* Print the same for the commands that stock Git does not have. */
void help_print_own(FILE *out);

/* Print names of native commands on stdout. */
void help_print_names(bool own_only);

/*
 * Print the synopsis of `git` and the native commands on stdout. Returns 0 or
 * 128.
 */
int help_print(void);

/*
 * Without stock Git: report that `git` has no such option, or that the value
 * of the option is missing. Returns 129.
 */
int help_bad_option(const char *option, bool lacks_value);

/*
 * Without stock Git: report that the command `name` cannot be run. Returns 1 if
 * it is no Git command, after printing similar names. Returns 128 if only stock
 * Git has it, or it is an alias, after printing `why`.
 */
int help_unknown(const char *name, const struct error *why);

/*
 * Answer `git --list-cmds=<groups>`, which completion uses. Returns the exit
 * code.
 */
int help_list_cmds(const char *groups, struct trace *trace);

/*
 * The name of our manual page about `topic`, a native command or "gitreach":
 * appended to *page. Returns 0, ERR_MISSING if there is none, or ERR_NOMEM.
 */
int help_find_page(struct buf *page, const char *topic);

/* Put our directory of manual pages first in MANPATH. Returns 0 or 128. */
int help_set_manpath(void);

/*
 * Start the viewer of manual pages that man.viewer or GIT_MAN_VIEWER names, or
 * `man`. Returns only on failure, with 128.
 */
int help_view(const char *page, const struct config *config);

#endif
