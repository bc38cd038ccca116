/* SPDX-License-Identifier: MIT */
/*
 * Reads JSON. Each function take_*() parses one part of the grammar at *p, and
 * moves *p past it. The function returns false if the bytes at *p are something
 * else.
 */
#include <string.h>

#include "base/error.h"
#include "base/json-read.h"
#include "base/json.h"

static void skip_space(const char **p, const char *end)
{
	while (*p < end &&
	       (**p == ' ' || **p == '\t' || **p == '\n' || **p == '\r'))
		(*p)++;
}

static bool take_char(const char **p, const char *end, char c)
{
	if (*p == end || **p != c)
		return false;
	(*p)++;
	return true;
}

static bool take_word(const char **p, const char *end, const char *word)
{
	size_t len = strlen(word);

	if ((size_t)(end - *p) < len || memcmp(*p, word, len))
		return false;
	*p += len;
	return true;
}

/* ---- strings */

/* Takes four hexadecimal digits. */
static bool take_hex(const char **p, const char *end, uint32_t *out)
{
	*out = 0;
	if (end - *p < 4)
		return false;
	for (int i = 0; i < 4; i++, (*p)++) {
		char c = **p;
		uint32_t digit;

		if (c >= '0' && c <= '9')
			digit = (uint32_t)(c - '0');
		else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
			digit = (uint32_t)((c | 0x20) - 'a') + 10;
		else
			return false;
		*out = *out << 4 | digit;
	}
	return true;
}

/*
 * Parses the rest of an escape sequence whose backslash was parsed. The result
 * is one code point.
 */
static bool take_escape(const char **p, const char *end, uint32_t *out)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *at;
	uint32_t low;

	if (*p == end)
		return false;
	if (**p != 'u') {
		at = memchr(from, **p, sizeof(from) - 1);
		if (!at)
			return false;
		(*p)++;
		*out = (unsigned char)to[at - from];
		return true;
	}
	(*p)++;
	if (!take_hex(p, end, out) || (*out >= 0xdc00 && *out < 0xe000))
		return false;
	if (*out < 0xd800 || *out >= 0xdc00)
		return true;
	/*
	 * The escape encodes the first of two surrogates, so an escape with the
	 * second surrogate must follow.
	 */
	if (!take_word(p, end, "\\u") || !take_hex(p, end, &low) ||
	    low < 0xdc00 || low >= 0xe000)
		return false;
	*out = 0x10000 + ((*out - 0xd800) << 10) + (low - 0xdc00);
	return true;
}

static bool take_string(const char **p, const char *end)
{
	uint32_t code;

	if (!take_char(p, end, '"'))
		return false;
	while (*p < end) {
		unsigned char c = (unsigned char)**p;
		size_t len = 1;

		if (c >= 0x80)
			len = json_utf8_len(*p, end);
		if (c < 0x20 || !len)
			return false;
		*p += len;
		if (c == '"')
			return true;
		if (c == '\\' && !take_escape(p, end, &code))
			return false;
	}
	return false;
}

/* ---- other values */

static bool take_digits(const char **p, const char *end)
{
	const char *start = *p;

	while (*p < end && **p >= '0' && **p <= '9')
		(*p)++;
	return *p > start;
}

static bool take_number(const char **p, const char *end)
{
	take_char(p, end, '-');
	if (!take_char(p, end, '0') && !take_digits(p, end))
		return false;
	if (take_char(p, end, '.') && !take_digits(p, end))
		return false;
	if (!take_char(p, end, 'e') && !take_char(p, end, 'E'))
		return true;
	if (!take_char(p, end, '+'))
		take_char(p, end, '-');
	return take_digits(p, end);
}

static bool take_value(const char **p, const char *end, unsigned depth,
		       struct json_value *value);

/* Takes a key and its colon. */
static bool take_key(const char **p, const char *end)
{
	if (!take_string(p, end))
		return false;
	skip_space(p, end);
	return take_char(p, end, ':');
}

/* Takes an array or object whose first byte was taken. */
static bool take_rest(const char **p, const char *end, unsigned depth,
		      char close)
{
	struct json_value ignored;

	skip_space(p, end);
	if (take_char(p, end, close))
		return true;
	do {
		skip_space(p, end);
		if (close == '}' && !take_key(p, end))
			return false;
		if (!take_value(p, end, depth, &ignored))
			return false;
		skip_space(p, end);
	} while (take_char(p, end, ','));
	return take_char(p, end, close);
}

static bool take_kind(const char **p, const char *end, unsigned depth,
		      enum json_kind *kind)
{
	char c = **p;

	*kind = c == '"'   ? JSON_STRING
		: c == '{' ? JSON_OBJECT
		: c == '[' ? JSON_ARRAY
		: c == 't' ? JSON_TRUE
		: c == 'f' ? JSON_FALSE
		: c == 'n' ? JSON_NULL
			   : JSON_NUMBER;
	switch (*kind) {
	case JSON_STRING:
		return take_string(p, end);
	case JSON_TRUE:
		return take_word(p, end, "true");
	case JSON_FALSE:
		return take_word(p, end, "false");
	case JSON_NULL:
		return take_word(p, end, "null");
	case JSON_NUMBER:
		return take_number(p, end);
	default:
		(*p)++;
		return depth < JSON_DEPTH_MAX &&
		       take_rest(p, end, depth + 1, c == '{' ? '}' : ']');
	}
}

/*
 * Takes a value of any kind. `depth` is the number of arrays and objects around
 * the value.
 */
static bool take_value(const char **p, const char *end, unsigned depth,
		       struct json_value *value)
{
	skip_space(p, end);
	if (*p == end)
		return false;
	value->text = *p;
	if (!take_kind(p, end, depth, &value->kind))
		return false;
	value->len = (size_t)(*p - value->text);
	return true;
}

/* ---- members */

void json_members_init(struct json_members *members, const char *text,
		       size_t len)
{
	*members = (struct json_members){.p = text, .end = text + len};
}

/*
 * Takes the bytes before the next member: white space, and a "{" or a comma.
 * Returns 1 if there is a member, 0 if the object has ended, or ERR_CORRUPT.
 */
static int begin_member(struct json_members *m)
{
	bool is_first = !m->has_begun;

	m->has_begun = true;
	skip_space(&m->p, m->end);
	if (is_first && !take_char(&m->p, m->end, '{'))
		return ERR_CORRUPT;
	skip_space(&m->p, m->end);
	if (take_char(&m->p, m->end, '}')) {
		skip_space(&m->p, m->end);
		return m->p == m->end ? 0 : ERR_CORRUPT;
	}
	if (is_first)
		return 1;
	return take_char(&m->p, m->end, ',') ? 1 : ERR_CORRUPT;
}

int json_members_next(struct json_members *members, struct json_member *member)
{
	const char *end = members->end, *start;
	int ret = begin_member(members);

	if (ret <= 0)
		return ret;
	skip_space(&members->p, end);
	start = members->p;
	if (!take_string(&members->p, end))
		return ERR_CORRUPT;
	member->key = start + 1;
	member->key_len = (size_t)(members->p - start) - 2;
	skip_space(&members->p, end);
	if (!take_char(&members->p, end, ':') ||
	    !take_value(&members->p, end, 1, &member->value))
		return ERR_CORRUPT;
	return 1;
}

bool json_member_is(const struct json_member *member, const char *key)
{
	return strlen(key) == member->key_len &&
	       !memcmp(key, member->key, member->key_len);
}

/* ---- values */

static int append_utf8(struct buf *out, uint32_t code)
{
	char bytes[4];
	size_t nr = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
	static const unsigned char first[] = {0, 0, 0xc0, 0xe0, 0xf0};

	for (size_t i = nr; i > 1; i--, code >>= 6)
		bytes[i - 1] = (char)(0x80 | (code & 0x3f));
	bytes[0] = (char)(first[nr] | code);
	return buf_append(out, bytes, nr);
}

int json_value_string(struct buf *out, const struct json_value *value)
{
	const char *p = value->text + 1, *end = value->text + value->len - 1;
	size_t before = out->len;
	int ret = 0;

	while (!ret && p < end) {
		const char *stop = memchr(p, '\\', (size_t)(end - p));
		uint32_t code = 0;

		stop = stop ? stop : end;
		ret = buf_append(out, p, (size_t)(stop - p));
		p = stop;
		if (ret < 0 || p == end)
			continue;
		p++;
		take_escape(&p, end, &code);
		ret = append_utf8(out, code);
	}
	if (ret < 0 && out->alloc)
		buf_set_len(out, before);
	return ret;
}

bool json_value_u64(uint64_t *out, const struct json_value *value)
{
	uint64_t number = 0;

	if (value->kind != JSON_NUMBER)
		return false;
	for (size_t i = 0; i < value->len; i++) {
		unsigned digit = (unsigned)value->text[i] - '0';

		if (digit > 9 || number > (UINT64_MAX - digit) / 10)
			return false;
		number = number * 10 + digit;
	}
	*out = number;
	return true;
}
