/* SPDX-License-Identifier: MIT */
/*
 * Tests of odb/loose.c, which parses loose objects: valid headers and objects
 * are parsed, and malformed ones are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/buf.h"
#include "odb/loose.h"

static void test_header(void **state)
{
	struct loose_header h;

	assert_int_equal(loose_header_parse(&h, "blob 6\0hello\n", 13, NULL),
			 0);
	assert_int_equal(h.type, OBJ_BLOB);
	assert_int_equal(h.size, 6);
	assert_int_equal(h.header_len, 7);
	assert_int_equal(loose_header_parse(&h, "tree 0\0", 7, NULL), 0);
	assert_int_equal(h.type, OBJ_TREE);
	assert_int_equal(loose_header_parse(&h, "commit 18446744073709551615\0",
					    28, NULL),
			 0);
	assert_true(h.size == UINT64_MAX);
}

static void test_bad_header(void **state)
{
	static const char *const bad[] = {
		"",
		"blob",
		"blob ",
		"blob 6",
		"blob x",
		"blob 06",
		"blob  6",
		"blip 6",
		"blob 6 ",
		" 6",
		"blob -1",
		"Blob 6",
		"blob +6",
		"blob 18446744073709551616",
		"averyveryveryverylongtypename1234567890 6",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct loose_header h;
		size_t len = strlen(bad[i]);

		/*
		 * No case is a valid header. The NUL after each text is passed,
		 * too, except in case 3 ("blob 6"), which is invalid only
		 * because its NUL is missing.
		 */
		assert_int_equal(
			loose_header_parse(&h, bad[i], len + (i != 3), NULL),
			ERR_CORRUPT);
	}
}

static void deflate(struct buf *out, const void *data, size_t len)
{
	struct deflater *def = deflater_new(-1);

	assert_non_null(def);
	assert_int_equal(deflater_append(def, out, data, len), 0);
	deflater_free(def);
}

static int read_bytes(struct loose_object *obj, const struct buf *file,
		      struct error *err)
{
	struct inflater *inf = inflater_new();
	int ret;

	assert_non_null(inf);
	ret = loose_read(obj, inf, file->data, file->len, "loose", err);
	inflater_free(inf);
	return ret;
}

static void test_read(void **state)
{
	struct buf file = BUF_INIT;
	struct inflater *inf = inflater_new();
	struct loose_object obj;
	struct loose_header h;

	deflate(&file, "blob 6\0hello\n", 13);
	assert_int_equal(read_bytes(&obj, &file, NULL), 0);
	assert_int_equal(obj.type, OBJ_BLOB);
	assert_int_equal(obj.len, 6);
	assert_string_equal(obj.data, "hello\n");
	free(obj.memory);
	assert_int_equal(loose_info(&h, inf, file.data, file.len, "x", NULL),
			 0);
	assert_int_equal(h.size, 6);
	/* A file that ends too early can still have a whole header. */
	assert_int_equal(
		loose_info(&h, inf, file.data, file.len - 4, "x", NULL), 0);
	assert_int_equal(h.type, OBJ_BLOB);
	assert_int_equal(h.size, 6);
	assert_int_equal(loose_info(&h, inf, file.data, 4, "x", NULL),
			 ERR_CORRUPT);
	assert_int_equal(loose_info(&h, inf, file.data, 0, "x", NULL),
			 ERR_CORRUPT);
	file.len -= 4;
	assert_int_equal(read_bytes(&obj, &file, NULL), ERR_CORRUPT);
	inflater_free(inf);
	buf_release(&file);
}

/* Reads back objects of many sizes. Some of them deflate well, others badly. */
static void test_sizes(void **state)
{
	for (size_t len = 0; len < 40000; len = len * 5 / 4 + 1)
		for (size_t period = 1; period <= 251; period += 250) {
			struct buf file = BUF_INIT, text = BUF_INIT;
			struct loose_object obj;

			assert_int_equal(buf_printf(&text, "blob %zu", len), 0);
			assert_int_equal(buf_append_char(&text, '\0'), 0);
			for (size_t i = 0; i < len; i++)
				buf_append_char(&text,
						(char)(i * i % period + i % 3));
			deflate(&file, text.data, text.len);
			assert_int_equal(read_bytes(&obj, &file, NULL), 0);
			assert_int_equal(obj.type, OBJ_BLOB);
			assert_int_equal(obj.len, len);
			assert_memory_equal(obj.data,
					    text.data + text.len - len, len);
			assert_int_equal(obj.data[len], 0);
			free(obj.memory);
			buf_release(&text);
			buf_release(&file);
		}
}

static void assert_unreadable(const struct buf *file, const char *why)
{
	struct error err = ERROR_INIT;
	struct loose_object obj;

	assert_int_equal(read_bytes(&obj, file, &err), ERR_CORRUPT);
	assert_null(obj.memory);
	assert_non_null(strstr(err.msg, why));
}

static void test_unreadable(void **state)
{
	struct buf file = BUF_INIT;

	assert_unreadable(&file, "loose: ");
	buf_append_str(&file, "no stream");
	assert_unreadable(&file, "loose: ");
	buf_reset(&file);
	deflate(&file, "blob 7\0hello\n", 13);
	assert_unreadable(&file, "corrupt loose object");
	buf_reset(&file);
	deflate(&file, "blob 5\0hello\n", 13);
	assert_unreadable(&file, "corrupt loose object");
	buf_reset(&file);
	deflate(&file, "blob 6\0hello\n", 13);
	buf_append_char(&file, 'x');
	assert_unreadable(&file, "garbage after");
	buf_set_len(&file, file.len - 4);
	assert_unreadable(&file, "loose: ");
	buf_reset(&file);
	deflate(&file, "blob 4000000000000\0", 19);
	assert_unreadable(&file, "the size in the header is too large");
	buf_reset(&file);
	deflate(&file, "nothing", 7);
	assert_unreadable(&file, "without a type");
	buf_release(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_header),
		cmocka_unit_test(test_bad_header),
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_unreadable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
