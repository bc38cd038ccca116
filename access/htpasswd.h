/* SPDX-License-Identifier: MIT */
/*
 * A file of users and hashes of their passwords, as htpasswd(1) of Apache
 * writes it:
 *
 *	# comment
 *	alice:$2y$05$c4WoMPo3SXsafkva.HHa6uXQZWr7oboPiC2bT/r7q1BB8I2s0BRqC
 *	|     |
 *	user  hash: see password_matches()
 *
 * The file is read again when it has changed. Good hashes are slow. So a check
 * that has succeeded is remembered for a minute, in a table of fixed size, as
 * an HMAC of user, password and stored hash.
 */
#ifndef ACCESS_HTPASSWD_H
#define ACCESS_HTPASSWD_H

#include <stdbool.h>
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
 * once for each change. If the file cannot be read, the old content counts,
 * too. Then *warning is set when the error first happens, and when another
 * error follows. Several threads may call this function.
 */
int htpasswd_check(struct htpasswd *h, const char *user, const char *password,
		   struct error *warning);

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
