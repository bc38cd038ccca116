/* SPDX-License-Identifier: MIT */
/*
 * Values of .gitmodules that could do harm in a client that believes them: a
 * name that leaves .git/modules, a URL that is an option, or that smuggles a
 * newline into what a credential helper is asked.
 *
 * The rules of stock Git, which were found by asking it.
 */
#ifndef ODB_SUBMODULE_URL_H
#define ODB_SUBMODULE_URL_H

#include <stdbool.h>
#include <stddef.h>

/* Not empty, and no component of it is ".."; a backslash separates too. */
bool submodule_url_name_is_good(const char *name, size_t len);

/* Whether a URL or a path looks like an option. */
bool submodule_url_is_option(const char *value);

/*
 * Whether a URL may be used:
 *
 * - relative ones ("./", "../"): no newline, also not as "%0a"; and none that
 *   goes up and then continues with a colon or another separator, as what it
 *   is appended to could make a protocol or a host of that
 * - git://: no newline
 * - http, https, ftp and ftps, also as a transport ("https::<url>"): well
 *   formed (RFC 3986) with a host, and no newline
 * - nothing that looks like an option
 */
bool submodule_url_is_good(const char *url);

#endif
