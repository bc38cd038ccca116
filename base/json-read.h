/* SPDX-License-Identifier: MIT */
/*
 * Reads JSON (RFC 8259), one object at a time. Nothing is allocated: a value is
 * a part of the text. The caller reads a nested object by another loop.
 *
 *	struct json_members m;
 *	struct json_member member;
 *
 *	json_members_init(&m, text, len);
 *	while ((ret = json_members_next(&m, &member)) > 0)
 *		...
 *
 * The reader is strict: invalid UTF-8, control bytes in strings, lone
 * surrogates and bytes after the object are errors. Duplicate keys are not
 * detected. The reader may return members before it finds an error behind them
 * in the text.
 */
#ifndef BASE_JSON_READ_H
#define BASE_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* Arrays and objects nested deeper than this are an error. */
#define JSON_DEPTH_MAX 32

enum json_kind {
	JSON_NULL,
	JSON_FALSE,
	JSON_TRUE,
	JSON_NUMBER,
	JSON_STRING,
	JSON_ARRAY,
	JSON_OBJECT,
};

/* A value, as written; the text of a string includes the quotes. */
struct json_value {
	enum json_kind kind;
	/* borrowed from the text of the object */
	const char *text;
	size_t len;
};

struct json_member {
	/* borrowed, as written, without the quotes */
	const char *key;
	size_t key_len;
	struct json_value value;
};

/* The state of a visit to the members of an object. */
struct json_members {
	const char *p, *end; /* borrowed */
	bool has_begun;
};

/* Begins to read the object in `text`. White space may surround the object. */
void json_members_init(struct json_members *members, const char *text,
		       size_t len);

/*
 * Reads the next member. Returns 1 if there is a member. After the last member,
 * returns 0 if only white space follows the object. Otherwise returns
 * ERR_CORRUPT. Do not call this function again after 0 or an error.
 */
int json_members_next(struct json_members *members, struct json_member *member);

/*
 * Returns whether a member has this key. Escapes in the member's key are not
 * decoded, so a key with an escape never matches.
 */
bool json_member_is(const struct json_member *member, const char *key);

/*
 * Appends the characters of a string in UTF-8. They may include NUL. `value`
 * must be a JSON_STRING. Returns 0 or ERR_NOMEM. After an error, *out is
 * unchanged.
 */
int json_value_string(struct buf *out, const struct json_value *value);

/*
 * Returns whether a value is a number without sign, fraction and exponent that
 * fits into 64 bits. If so, stores the number in *out.
 */
bool json_value_u64(uint64_t *out, const struct json_value *value);

#endif
