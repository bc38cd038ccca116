/* SPDX-License-Identifier: MIT */
/* JSON writer. */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"

size_t json_utf8_len(const char *bytes, const char *end_of_bytes)
{
	const unsigned char *p = (const unsigned char *)bytes;
	const unsigned char *end = (const unsigned char *)end_of_bytes;
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t len = *p >= 0xf0 ? 4 : *p >= 0xe0 ? 3 : 2;
	uint32_t c;

	if (*p < 0xc0 || *p >= 0xf8 || (size_t)(end - p) < len)
		return 0;
	c = *p & (0xffu >> (len + 1));
	for (size_t i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	/*
	 * Overlong forms, surrogates and code points above U+10FFFF are
	 * invalid.
	 */
	if (c < least[len] || (c >= 0xd800 && c < 0xe000) || c > 0x10ffff)
		return 0;
	return len;
}

/* Appends the character at *p and advances *p past it. */
static int put_char(struct buf *out, const unsigned char **p,
		    const unsigned char *end)
{
	static const char named[] = "\"\"\\\\\bb\ff\nn\rr\tt";
	const unsigned char *start = *p;
	size_t len = 1;

	if (*start >= 0x80)
		len = json_utf8_len((const char *)start, (const char *)end);
	*p += len ? len : 1;
	/*
	 * Terminals also obey the control characters from U+0080 to U+009F, so
	 * these are escaped. The second byte of such a character equals its
	 * code point.
	 */
	if (len == 2 && *start == 0xc2 && start[1] < 0xa0)
		return buf_printf(out, "\\u%04x", start[1]);
	for (size_t i = 0; i < sizeof(named) - 1; i += 2)
		if (named[i] == (char)*start)
			return buf_printf(out, "\\%c", named[i + 1]);
	if (!len || *start < 0x20 || *start == 0x7f)
		return buf_printf(out, "\\u%04x", *start);
	return buf_append(out, start, len);
}

int json_string(struct buf *out, const char *bytes, size_t len)
{
	const unsigned char *p = (const unsigned char *)bytes;
	const unsigned char *end = p + len;
	size_t before = out->len;
	int ret = buf_append_char(out, '"');

	while (!ret && p < end)
		ret = put_char(out, &p, end);
	if (!ret)
		ret = buf_append_char(out, '"');
	if (ret < 0 && out->alloc)
		buf_set_len(out, before);
	return ret;
}

int json_key(struct buf *out, const char *key)
{
	bool is_first = out->len && out->data[out->len - 1] == '{';

	return buf_printf(out, "%s\"%s\":", is_first ? "" : ",", key);
}

/*
 * If `ret` is an error code, cuts the output back to `before` bytes: this
 * removes the incomplete member of a JSON object.
 */
static int finish(struct buf *out, size_t before, int ret)
{
	if (ret < 0 && out->alloc)
		buf_set_len(out, before);
	return ret;
}

int json_member(struct buf *out, const char *key, const char *value)
{
	size_t before = out->len;
	int ret = json_key(out, key);

	if (!ret)
		ret = value ? json_string(out, value, strlen(value))
			    : buf_append_str(out, "null");
	return finish(out, before, ret);
}

int json_member_u64(struct buf *out, const char *key, uint64_t value)
{
	size_t before = out->len;
	int ret = json_key(out, key);

	if (!ret)
		ret = buf_printf(out, "%" PRIu64, value);
	return finish(out, before, ret);
}

int json_member_bool(struct buf *out, const char *key, bool value)
{
	size_t before = out->len;
	int ret = json_key(out, key);

	if (!ret)
		ret = buf_append_str(out, value ? "true" : "false");
	return finish(out, before, ret);
}
