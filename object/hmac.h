/* SPDX-License-Identifier: MIT */
/* HMAC with SHA-256 (RFC 2104): what only the holder of a key can make. */
#ifndef OBJECT_HMAC_H
#define OBJECT_HMAC_H

#include <stddef.h>
#include <stdint.h>

#define HMAC_SHA256_LEN 32

/* The code of `len` bytes under a key of any length. 0 or ERR_NOMEM. */
int hmac_sha256(uint8_t out[HMAC_SHA256_LEN], const void *key, size_t key_len,
		const void *bytes, size_t len);

#endif
