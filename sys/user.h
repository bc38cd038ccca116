/* SPDX-License-Identifier: MIT */
/* Who runs this process, and where. */
#ifndef SYS_USER_H
#define SYS_USER_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/error.h"

/*
 * Append the login name of the user; with `full`, the full name from the
 * password file (its first field, '&' standing for the capitalised login),
 * which may be empty. 0, ERR_MISSING when the user is not known, or ERR_NOMEM.
 */
int sys_user_name(struct buf *out, bool full, struct error *err);

/* Append the name of this host. 0, ERR_IO or ERR_NOMEM. */
int sys_host_name(struct buf *out, struct error *err);

#endif
