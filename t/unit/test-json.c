/* SPDX-License-Identifier: MIT */
/* Tests of base/json.c, which writes JSON: any bytes become a valid string. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/json.h"
#include "t/unit/random.h"

static void check_string(const char *bytes, size_t len, const char *expected)
{
	struct buf out = BUF_INIT;

	assert_int_equal(json_string(&out, bytes, len), 0);
	assert_string_equal(out.data, expected);
	buf_release(&out);
}

static void test_strings(void **state)
{
	static const struct {
		const char *bytes, *expected;
	} samples[] = {
		{"", "\"\""},
		{"plain words", "\"plain words\""},
		{"\"\\/", "\"\\\"\\\\/\""},
		{"\b\f\n\r\t", "\"\\b\\f\\n\\r\\t\""},
		{"\001\037\177", "\"\\u0001\\u001f\\u007f\""},
		{"a\302\233\302\240", "\"a\\u009b\302\240\""},
		{"\303\251 \342\202\254 \360\237\230\200",
		 "\"\303\251 \342\202\254 \360\237\230\200\""},
		/*
		 * Bytes that are not valid UTF-8: a Latin-1 byte, an incomplete
		 * character, an overlong form, a surrogate, and a number that
		 * is too large.
		 */
		{"caf\351", "\"caf\\u00e9\""},
		{"\342\202", "\"\\u00e2\\u0082\""},
		{"\300\257", "\"\\u00c0\\u00af\""},
		{"\355\240\200", "\"\\u00ed\\u00a0\\u0080\""},
		{"\364\220\200\200", "\"\\u00f4\\u0090\\u0080\\u0080\""},
		{"\200\377", "\"\\u0080\\u00ff\""},
	};

	for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++)
		check_string(samples[i].bytes, strlen(samples[i].bytes),
			     samples[i].expected);
	check_string("a\0b", 3, "\"a\\u0000b\"");
}

static void test_members(void **state)
{
	struct buf out = BUF_INIT;

	assert_int_equal(buf_append_char(&out, '{'), 0);
	assert_int_equal(json_member(&out, "a", "x{"), 0);
	assert_int_equal(json_member(&out, "b", NULL), 0);
	assert_int_equal(json_member_u64(&out, "c", UINT64_MAX), 0);
	assert_int_equal(json_member_bool(&out, "d", true), 0);
	assert_int_equal(json_key(&out, "e"), 0);
	assert_int_equal(buf_append_str(&out, "{}}"), 0);
	assert_string_equal(out.data, "{\"a\":\"x{\",\"b\":null,"
				      "\"c\":18446744073709551615,"
				      "\"d\":true,\"e\":{}}");
	buf_release(&out);
}

/* Appends a code point below 256 in UTF-8. Returns the new length. */
static size_t put_code(unsigned char *bytes, size_t nr, unsigned code)
{
	if (code >= 0x80) {
		bytes[nr++] = (unsigned char)(0xc0 | code >> 6);
		code = 0x80 | (code & 0x3f);
	}
	bytes[nr++] = (unsigned char)code;
	return nr;
}

/*
 * Sets `out` to the string that a reader of the written JSON text gets. Valid
 * UTF-8 is unchanged. Each other byte becomes the code point with the same
 * number. Returns the length of `out`, at most 2 * `len`.
 */
static size_t as_read(unsigned char *out, const unsigned char *bytes,
		      size_t len)
{
	const char *text = (const char *)bytes;
	size_t nr = 0;

	for (size_t i = 0; i < len; i++) {
		size_t n = bytes[i] < 0x80
				   ? 1
				   : json_utf8_len(text + i, text + len);

		if (!n) {
			nr = put_code(out, nr, bytes[i]);
			continue;
		}
		memcpy(out + nr, bytes + i, n);
		nr += n;
		i += n - 1;
	}
	return nr;
}

/*
 * Decodes the JSON string `text` into `bytes`, as a reader does. Returns the
 * number of bytes.
 */
static size_t undo(unsigned char *bytes, const char *text, size_t len)
{
	static const char names[] = "\"\\bfnrt", named[] = "\"\\\b\f\n\r\t";
	size_t nr = 0;

	assert_true(len >= 2 && text[0] == '"' && text[len - 1] == '"');
	for (size_t i = 1; i < len - 1; i++) {
		const char *name;
		unsigned code;

		assert_true((unsigned char)text[i] >= 0x20 && text[i] != '"');
		if (text[i] != '\\') {
			bytes[nr++] = (unsigned char)text[i];
		} else if ((name = strchr(names, text[i + 1]))) {
			bytes[nr++] = (unsigned char)named[name - names];
			i++;
		} else {
			assert_int_equal(sscanf(text + i, "\\u00%2x", &code),
					 1);
			nr = put_code(bytes, nr, code);
			i += 5;
		}
	}
	return nr;
}

static void test_random(void **state)
{
	uint64_t seed = random_seed();

	for (int i = 0; i < 20000; i++) {
		unsigned char bytes[24];
		unsigned char expected[2 * sizeof(bytes)],
			back[6 * sizeof(bytes)];
		size_t len = random_next(&seed) % sizeof(bytes), nr;
		struct buf out = BUF_INIT, again = BUF_INIT;

		for (size_t j = 0; j < len; j++) {
			uint64_t r = random_next(&seed);

			/*
			 * Make bytes from 0x80 on more frequent, so that long
			 * UTF-8 characters occur.
			 */
			bytes[j] = (unsigned char)(r & 256 ? r | 128 : r);
		}
		assert_int_equal(json_string(&out, (char *)bytes, len), 0);
		nr = as_read(expected, bytes, len);
		assert_int_equal(undo(back, out.data, out.len), nr);
		assert_memory_equal(back, expected, nr);
		/*
		 * The output is valid UTF-8. If it is encoded a second time, no
		 * byte of 0x80 or more may be escaped.
		 */
		assert_int_equal(json_string(&again, out.data, out.len), 0);
		for (char *p = again.data; (p = strstr(p, "\\u00")); p++)
			assert_true(p > again.data && p[-1] == '\\');
		buf_release(&out);
		buf_release(&again);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_members),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
