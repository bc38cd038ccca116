/* SPDX-License-Identifier: MIT */
/*
 * The identity of a committer, as commits and reflogs have it:
 *
 * 	<name> SP "<" <mail> ">" SP <seconds since 1970> SP <zone>
 */
#ifndef CONFIG_IDENT_H
#define CONFIG_IDENT_H

#include "base/buf.h"
#include "base/error.h"
#include "config/config.h"

/*
 * Appends the committer and the time. Name and mail come from
 * GIT_COMMITTER_NAME and _EMAIL, or committer.name and .email, or user.name and
 * .email, or EMAIL, or the login and host names. The login name replaces an
 * empty name. The time is GIT_COMMITTER_DATE, or now in the local zone.
 * Characters that would end a field are removed. At both ends of a field,
 * punctuation other than dots is removed.
 *
 * As in stock Git, user.useConfigOnly does not apply: this key stops commits
 * and tags, not reflogs.
 *
 * Returns 0, ERR_NOMEM, ERR_IO, or ERR_INVALID if approxidate_parse_exact()
 * rejects the date ("invalid date format: ..").
 */
int ident_committer(struct buf *out, const struct config *config,
		    struct error *err);

#endif
