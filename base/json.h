/* SPDX-License-Identifier: MIT */
/*
 * Writes JSON (RFC 8259) into a buffer, one value after the other. The caller
 * is responsible for the grammar, except that json_key() and json_member()
 * write the commas between members of an object.
 *
 * All functions return 0 or ERR_NOMEM. After an error, the buffer is unchanged.
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/*
 * Appends a string in quotes. Any bytes give valid JSON: control characters are
 * escaped. A byte that is not part of valid UTF-8 is written as the code point
 * of the same number. If `bytes` is valid UTF-8, a reader of the JSON gets the
 * same bytes.
 */
int json_string(struct buf *out, const char *bytes, size_t len);

/*
 * Appends a member of a JSON object: the key, a colon and the value. A comma
 * precedes the key, unless the buffer ends in '{'. A NULL `value` is written as
 * null.
 */
int json_member(struct buf *out, const char *key, const char *value);
int json_member_u64(struct buf *out, const char *key, uint64_t value);
int json_member_bool(struct buf *out, const char *key, bool value);

/*
 * Appends the start of a member of a JSON object: a comma if needed, the key
 * and a colon. The caller appends the value.
 */
int json_key(struct buf *out, const char *key);

/*
 * Returns the length of a valid UTF-8 character of two or more bytes at
 * `bytes`, or 0 if there is none. The first byte must be 0x80 or more.
 */
size_t json_utf8_len(const char *bytes, const char *end);

#endif
