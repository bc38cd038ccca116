/* SPDX-License-Identifier: MIT */
/* Base64 (RFC 4648, section 4). */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Decodes `len` characters, a multiple of 4, with padding, and stores at most
 * `max` bytes at *out. Returns the number of bytes, or -1 if the text is not
 * valid or has more bytes.
 */
ssize_t base64_decode(void *out, size_t max, const char *text, size_t len);

#endif
