/* SPDX-License-Identifier: MIT */
/*
 * Writing JSON (RFC 8259) into a buffer, one value after the other; the caller
 * keeps to its grammar but for the commas, which the members of an object
 * bring along.
 *
 * All return 0 or ERR_NOMEM, with the buffer as it was.
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/*
 * A string in quotes. Any bytes give valid JSON: what is not UTF-8 is written
 * as the code points of the same numbers, one for each byte.
 */
int json_string(struct buf *out, const char *bytes, size_t len);

/*
 * A member of an object: a comma, unless the buffer ends in the '{' that
 * begins one, the key, a colon and the value. `value` NULL: null.
 */
int json_member(struct buf *out, const char *key, const char *value);
int json_member_u64(struct buf *out, const char *key, uint64_t value);
int json_member_bool(struct buf *out, const char *key, bool value);

/* The same without a value, which the caller then writes. */
int json_key(struct buf *out, const char *key);

#endif
