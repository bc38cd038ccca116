/* SPDX-License-Identifier: MIT */
/* The user of this process, and the host. */
#ifndef SYS_USER_H
#define SYS_USER_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/error.h"

/*
 * Appends the login name of the user. If `full`, appends the full name from the
 * password file instead, which may be empty: the first part of that field, with
 * the capitalised login name in place of '&'. Returns 0, ERR_MISSING if the
 * user is unknown, or ERR_NOMEM.
 */
int sys_user_name(struct buf *out, bool full, struct error *err);

/* Appends the name of this host. Returns 0, ERR_IO or ERR_NOMEM. */
int sys_host_name(struct buf *out, struct error *err);

#endif
