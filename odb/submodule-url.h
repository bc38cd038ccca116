/* SPDX-License-Identifier: MIT */
/*
 * Finds values in .gitmodules that could harm a client: a name that leads out
 * of .git/modules, a URL that looks like an option, or a URL that smuggles a
 * newline into the request to a credential helper.
 *
 * The rules are those of stock Git, found by experiments.
 */
#ifndef ODB_SUBMODULE_URL_H
#define ODB_SUBMODULE_URL_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Returns whether a name is valid: not empty, and without a component "..". A
 * backslash separates components too.
 */
bool submodule_url_name_is_good(const char *name, size_t len);

/* Returns whether a URL or a path looks like an option. */
bool submodule_url_is_option(const char *value);

/*
 * Returns whether a URL is allowed:
 *
 * - A relative URL ("./", "../") has no newline, not even as "%0a". If it goes
 *   up, no colon or separator follows the last "../". Otherwise the URL that it
 *   is appended to could get another protocol or host.
 * - A git:// URL has no newline.
 * - A URL of http, https, ftp or ftps is well-formed (RFC 3986), has a host and
 *   no newline. This also holds for "https::<url>".
 * - No URL looks like an option.
 */
bool submodule_url_is_good(const char *url);

#endif
