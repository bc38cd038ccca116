/* SPDX-License-Identifier: MIT */
/* HMAC (RFC 2104): what only who knows both its inputs can make. */
#ifndef OBJECT_HMAC_H
#define OBJECT_HMAC_H

#include <stddef.h>

#include "object/oid.h"

/*
 * The code of `len` bytes under a key of any length: as long as the hash.
 * 0 or ERR_NOMEM.
 */
int hmac_make(struct oid *out, enum hash_algo algo, const void *key,
	      size_t key_len, const void *bytes, size_t len);

#endif
