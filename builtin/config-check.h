/* SPDX-License-Identifier: MIT */
/*
 * Checks the configuration variables that commands of stock Git read when they
 * start. A command of stock Git fails if one of these values is wrong, even if
 * the command does not use the value, or if a later value replaces the value.
 * Our commands do the same.
 */
#ifndef BUILTIN_CONFIG_CHECK_H
#define BUILTIN_CONFIG_CHECK_H

#include "config/config.h"

/*
 * Returns a bit mask of groups of configuration variables, for config_check();
 * 0: no variable is checked. When stock Git starts the same command, it checks
 * the values in these groups, so that a wrong value is an error. argv[0] is the
 * name of the command. The first of the other arguments that does not begin
 * with "-" is its subcommand, if it has one. `argv` ends with NULL.
 */
unsigned config_check_groups(const char *const *argv);

/*
 * Check the variables of `groups` in the order in which the configuration was
 * read: system, user, repository, command line. Prints warnings about values
 * that are ignored. Returns 0, or prints an error about the first wrong value
 * and returns 128.
 */
int config_check(const struct config *config, unsigned groups);

#endif
