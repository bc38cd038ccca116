/* SPDX-License-Identifier: MIT */
/*
 * Checks a password against a stored hash. The forms are those that htpasswd(1)
 * of Apache and crypt(5) write:
 *
 *	$2a$ $2b$ $2y$    bcrypt
 *	$y$ $gy$ $7$      yescrypt, gost-yescrypt, scrypt
 *	$6$ $5$           SHA-512, SHA-256
 *	$1$               MD5
 *	$apr1$            MD5 of Apache, the default of htpasswd(1)
 *	{SHA}             SHA-1, without salt
 *
 * Passwords in clear text and the old DES of crypt() are not supported.
 */
#ifndef ACCESS_PASSWORD_H
#define ACCESS_PASSWORD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* maximum bytes of a stored hash with its NUL */
#define PASSWORD_HASH_MAX 384

struct crypt_data;

/* The functions of libcrypt. */
struct password_crypt {
	void *library; /* owned */
	char *(*crypt)(const char *password, const char *setting,
		       struct crypt_data *data);
};

/*
 * Loads libcrypt. Returns 0, or ERR_MISSING if it cannot be loaded. The caller
 * releases *c.
 */
int password_crypt_open(struct password_crypt *c, struct error *err);
void password_crypt_release(struct password_crypt *c);

/* Returns whether the hash has one of the forms above. */
bool password_is_hash(const char *hash);

/*
 * Returns 1 if the password has this hash, 0 if not, or ERR_NOMEM. Several
 * threads may call the function. Cost: bcrypt takes 50 ms or more; the number
 * of rounds is in the hash.
 */
int password_matches(const struct password_crypt *c, const char *hash,
		     const char *password);

#endif
