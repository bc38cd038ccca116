/* SPDX-License-Identifier: MIT */
/*
 * The keys of an account at an S3-compatible store. They come from the
 * environment or from a file, never from the command line, where other users
 * could read them. No message contains the secret or the token.
 */
#ifndef STORE_KEYS_H
#define STORE_KEYS_H

#include <stddef.h>

#include "base/error.h"

/* maximum length of each key, and size of a file of keys */
#define STORE_KEY_MAX 4096
#define STORE_KEYS_FILE_MAX ((size_t)1 << 20)

/* The keys. Zero-initialised; store_keys_release() frees the strings. */
struct store_keys {
	char *id;     /* owned */
	char *secret; /* owned */
	/* owned; NULL unless the keys are temporary */
	char *token;
};

/*
 * Reads the keys from a file in the format of AWS's shared credentials:
 *
 *	[<profile>]
 *	aws_access_key_id = <id>
 *	aws_secret_access_key = <secret>
 *	aws_session_token = <token>
 *
 * A line may be empty, or a comment that starts with "#" or ";". Other settings
 * are ignored. Returns 0, ERR_MISSING if the profile is not in the file or
 * lacks a key, ERR_INVALID if a key has characters that are not allowed, or
 * another error. *keys is unchanged after an error.
 */
int store_keys_parse(struct store_keys *keys, const char *bytes, size_t len,
		     const char *profile, struct error *err);

/*
 * Finds the keys of this process:
 * 1. in AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN;
 * 2. in the file AWS_SHARED_CREDENTIALS_FILE or ~/.aws/credentials, in the
 *    profile AWS_PROFILE or "default".
 * Returns 0, ERR_MISSING if there are no keys, or another error.
 */
int store_keys_find(struct store_keys *keys, struct error *err);

/* Overwrites and frees the keys. */
void store_keys_release(struct store_keys *keys);

#endif
