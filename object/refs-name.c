/* SPDX-License-Identifier: MIT */
/* The syntax of reference names: the rules of git-check-ref-format(1). */
#include <stdint.h>
#include <string.h>

#include "object/refs-name.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/*
 * The kinds of bytes in a ref name. byte_kinds[] has the kind of each byte
 * above the blank.
 */
enum byte_kind { PLAIN, FORBIDDEN, DOT, BRACE, SLASH };

static const uint8_t byte_kinds[256] = {
	['~'] = FORBIDDEN,  ['^'] = FORBIDDEN,  [':'] = FORBIDDEN,
	['?'] = FORBIDDEN,  ['*'] = FORBIDDEN,  ['['] = FORBIDDEN,
	['\\'] = FORBIDDEN, [0x7f] = FORBIDDEN, ['.'] = DOT,
	['{'] = BRACE,      ['/'] = SLASH,
};

/*
 * Returns whether a component of a ref name is not empty and does not end in
 * ".lock".
 */
static bool end_is_valid(const char *component, size_t len)
{
	static const char lock[] = ".lock";
	size_t lock_len = sizeof(lock) - 1;

	return len && (len < lock_len ||
		       memcmp(component + len - lock_len, lock, lock_len) != 0);
}

#ifdef __SSE2__
/* number of bytes that is_plain() examines at once */
#define CHUNK 16

static __m128i is_between(__m128i bytes, char first, char last)
{
	__m128i at = _mm_sub_epi8(bytes, _mm_set1_epi8(first));

	return _mm_cmpeq_epi8(
		_mm_min_epu8(at, _mm_set1_epi8((char)(last - first))), at);
}

/*
 * Finds the bytes that a rule of git-check-ref-format(1) mentions, except the
 * slash and the dot. The ranges that are compared also contain a few allowed
 * bytes. A name with one of these takes the slow path, which accepts the byte.
 */
static __m128i is_special(__m128i bytes)
{
	__m128i ends = _mm_or_si128(is_between(bytes, '\0', ' '),
				    is_between(bytes, '{', '\x7f'));
	__m128i middle = _mm_or_si128(is_between(bytes, ':', '?'),
				      is_between(bytes, '[', '^'));

	return _mm_or_si128(_mm_or_si128(ends, middle),
			    _mm_cmpeq_epi8(bytes, _mm_set1_epi8('*')));
}

/* Returns a mask: bit i is set if byte i is `c`. */
static unsigned find_byte(__m128i bytes, char c)
{
	return (unsigned)_mm_movemask_epi8(
		_mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)));
}

/*
 * Returns whether all bytes of one chunk pass the check of is_plain(). `last`
 * is the byte before the chunk, or a slash if the name begins with the chunk.
 * Bit i of *slashes is set if byte i is a slash.
 */
static bool is_plain_chunk(__m128i bytes, char last, unsigned *slashes)
{
	unsigned dots = find_byte(bytes, '.');
	unsigned after_slash, after_dot;

	*slashes = find_byte(bytes, '/');
	after_slash = *slashes << 1 | (last == '/');
	after_dot = dots << 1 | (last == '.');
	return !_mm_movemask_epi8(is_special(bytes)) &&
	       !(after_slash & (*slashes | dots)) &&
	       !(after_dot & (*slashes | dots | find_byte(bytes, 'l')));
}

/*
 * Checks quickly whether a ref name is certainly valid. Nearly all names pass.
 * For a name that passes, all of the following holds:
 * - there is a slash, and no component is empty;
 * - no component begins or ends with a dot, and no two dots are adjacent;
 * - no "l" follows a dot, because a component may not end in ".lock";
 * - no byte is forbidden by another rule of git-check-ref-format(1).
 *
 * If the length is not a multiple of CHUNK, the last chunk overlaps the one
 * before.
 */
static bool is_plain(const char *name, size_t len)
{
	char padded[CHUNK];
	unsigned seen = 0, slashes;

	if (!len || name[len - 1] == '/' || name[len - 1] == '.')
		return false;
	if (len < CHUNK) {
		memset(padded, 'x', CHUNK);
		memcpy(padded, name, len);
		return is_plain_chunk(_mm_loadu_si128((__m128i *)padded), '/',
				      &slashes) &&
		       slashes;
	}
	for (size_t i = 0; i < len; i += CHUNK) {
		size_t at = i + CHUNK > len ? len - CHUNK : i;
		const char *from = name + at;

		if (!is_plain_chunk(_mm_loadu_si128((const __m128i *)from),
				    at ? from[-1] : '/', &slashes))
			return false;
		seen |= slashes;
	}
	return seen;
}
#else
static bool is_plain(const char *name, size_t len)
{
	(void)name;
	(void)len;
	return false;
}
#endif

bool refs_name_is_valid_len(const char *name, size_t len, bool one_level)
{
	size_t levels = 1, start = 0;

	/*
	 * This fast check matters because every advertised ref is validated
	 * here.
	 */
	if (is_plain(name, len))
		return true;
	if (!len || name[len - 1] == '.' || (len == 1 && name[0] == '@'))
		return false;
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)name[i];

		if (c <= ' ')
			return false;
		switch (byte_kinds[c]) {
		case FORBIDDEN:
			return false;
		case DOT:
			if (i == start || name[i - 1] == '.')
				return false;
			break;
		case BRACE:
			if (i && name[i - 1] == '@')
				return false;
			break;
		case SLASH:
			if (!end_is_valid(name + start, i - start))
				return false;
			start = i + 1;
			levels++;
			break;
		}
	}
	return end_is_valid(name + start, len - start) &&
	       (one_level || levels > 1);
}

bool refs_name_is_valid(const char *name)
{
	return refs_name_is_valid_len(name, strlen(name), false);
}

bool refs_name_has_root_form(const char *name)
{
	return *name && !name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-_")];
}

bool refs_name_is_root(const char *name)
{
	static const char *const others[] = {
		"AUTO_MERGE",      "BISECT_EXPECTED_REV", "NOTES_MERGE_PARTIAL",
		"NOTES_MERGE_REF", "MERGE_AUTOSTASH",
	};
	size_t len = strlen(name), suffix_len = strlen("_HEAD");

	if (!refs_name_has_root_form(name) || !strcmp(name, "FETCH_HEAD") ||
	    !strcmp(name, "MERGE_HEAD"))
		return false;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (!strcmp(name, others[i]))
			return true;
	return !strcmp(name, "HEAD") ||
	       (len >= suffix_len && !strcmp(name + len - suffix_len, "_HEAD"));
}

bool refs_name_is_head(const char *name)
{
	const char *slash = strrchr(name, '/');

	return !strcmp(name, "HEAD") || (slash && !strcmp(slash, "/HEAD") &&
					 strncmp(name, "refs/", 5) != 0);
}
