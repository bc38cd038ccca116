/* SPDX-License-Identifier: MIT */
/*
 * Who changes something, as commits and reflogs have it:
 *
 *   <name> SP "<" <mail> ">" SP <seconds since 1970> SP <zone>
 */
#ifndef CONFIG_IDENT_H
#define CONFIG_IDENT_H

#include "base/buf.h"
#include "base/error.h"
#include "config/config.h"

/*
 * Append the committer: GIT_COMMITTER_NAME, _EMAIL and _DATE, else
 * committer.name and .email, user.name and .email, EMAIL, else the login and
 * host names; the time now in the local zone. Characters that would end a
 * field are left out, as is punctuation at the ends. 0; ERR_INVALID for a date
 * that approxidate_parse_exact() does not take ("invalid date format: .."), for
 * an empty name that was given ("empty ident name (for <..>) not allowed") or
 * when user.useConfigOnly forbids to guess; ERR_NOMEM.
 */
int ident_committer(struct buf *out, const struct config *config,
		    struct error *err);

#endif
