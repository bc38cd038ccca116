/* SPDX-License-Identifier: MIT */
/*
 * Checks the configuration variables that most commands of stock Git read when
 * they start. A command of stock Git fails if one of these values is wrong,
 * even if the command does not use the value. Our commands do the same.
 */
#ifndef BUILTIN_CONFIG_CHECK_H
#define BUILTIN_CONFIG_CHECK_H

#include <stdbool.h>

#include "config/config.h"

/*
 * Returns whether the command argv[0] (with the subcommand argv[1]) must call
 * config_check(). It must if stock Git's command checks the same configuration
 * variables. `argv` ends with NULL.
 */
bool config_check_is_for(const char *const *argv);

/*
 * Check the variables in the order in which the configuration was read: system,
 * user, repository, command line. Prints warnings about values that are
 * ignored. Returns 0, or prints an error about the first wrong value and
 * returns 128.
 */
int config_check(const struct config *config);

#endif
