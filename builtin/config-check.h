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
 * Returns which variables the command argv[0] (with the subcommand argv[1])
 * must check: the groups of variables that stock Git's command checks, for
 * config_check(). 0: none. `argv` ends with NULL.
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
