/* SPDX-License-Identifier: MIT */
/*
 * A file of users and hashes of their passwords, as htpasswd(1) of Apache
 * writes it:
 *
 *	# comment
 *	alice:$2y$05$c4WoMPo3SXsafkva.HHa6uXQZWr7oboPiC2bT/r7q1BB8I2s0BRqC
 *	|     |
 *	user  hash: access/password.h
 *
 * The file is read again when it has changed. Good hashes are slow. So a check
 * that has succeeded is remembered for a minute, in a table of fixed size, as
 * an HMAC of user, password and stored hash.
 */
#ifndef ACCESS_HTPASSWD_H
#define ACCESS_HTPASSWD_H

#include <stddef.h>

#include "base/error.h"

struct htpasswd;

/* maximum bytes of a user or a password with its NUL */
#define HTPASSWD_TEXT_MAX 256

/*
 * Reads a file; `path` is copied. Returns 0 with *out owned by the caller, or a
 * negative error code if the file cannot be read, a line is wrong, or memory
 * runs out.
 */
int htpasswd_open(struct htpasswd **out, const char *path, struct error *err);
void htpasswd_close(struct htpasswd *h);

/*
 * Returns 1 if the user has this password, 0 if not, or ERR_NOMEM. If the file
 * has changed and is now wrong, the old content counts and *warning is set,
 * once for each change. Several threads may call this function.
 */
int htpasswd_check(struct htpasswd *h, const char *user, const char *password,
		   struct error *warning);

#endif
