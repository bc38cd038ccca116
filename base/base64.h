/* SPDX-License-Identifier: MIT */
/* Base64 (RFC 4648, section 4). */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Decodes `len` base64 characters. `len` must be a multiple of 4, including the
 * padding. Stores at most `max` bytes at *out. Returns the number of bytes, or
 * -1 if the text is not valid or stands for more than `max` bytes.
 */
ssize_t base64_decode(void *out, size_t max, const char *text, size_t len);

#endif
