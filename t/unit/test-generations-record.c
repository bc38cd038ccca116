/* SPDX-License-Identifier: MIT */
/*
 * Tests of generations/record.c, which prints and parses the record of a
 * generation (the text that lists its files and refs). They prove that a record
 * can be parsed again, and that changed texts are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "generations/record.h"
#include "object/hash.h"

/* The example of Documentation/format/generation.md, without its last line. */
#define A32 "11111111111111111111111111111111"
#define B32 "22222222222222222222222222222222"
#define T32 "0123456789abcdef0123456789abcdef"
static const char example[] = "gitreach generation 1\n"
			      "number 8\n"
			      "parent " A32 A32 "\n"
			      "token " T32 "\n"
			      "time 1764200000\n"
			      "epoch 0\n"
			      "tables 5\n"
			      "node n1.example.org\n"
			      "user alice\n"
			      "action push\n"
			      "file " A32 B32 " " T32
			      " 1200 100644 objects/pack/pack-1.pack\n"
			      "file " B32 A32 " " T32
			      " 90 100755 hooks/update\n"
			      "file " B32 B32 " " T32
			      " 310 100644 reftable/0x5-0x5-1.ref\n"
			      "update 8 HEAD ref: refs/heads/main\n"
			      "update 7 refs/heads/main " A32 "11111111\n"
			      "delete 8 refs/heads/old\n";
#define EXAMPLE_END                                                            \
	"end "                                                                 \
	"ec8148fb7d8ceac35b9417e730fd4052a6dc53070d16b657b98749037fc1060e\n"

/*
 * Appends the last line of a record (manifest): the hash of the text before the
 * line.
 */
static void add_end(struct buf *text)
{
	char hex[OID_MAX_HEX_LEN + 1];
	struct hash_ctx hash;
	struct oid sum;

	assert_int_equal(hash_init(&hash, HASH_SHA256), 0);
	hash_update(&hash, text->data, text->len);
	hash_final(&hash, &sum);
	hash_release(&hash);
	assert_int_equal(buf_printf(text, "end %s\n",
				    oid_to_hex(hex, &sum, HASH_SHA256)),
			 0);
}

/*
 * Appends the right last line to `text`, and parses the result as a record.
 * Returns 0 or the error code of the parser.
 */
static int parse(struct generation *g, const char *text, size_t len,
		 struct error *err)
{
	struct buf b = BUF_INIT;
	int ret;

	assert_int_equal(buf_append(&b, text, len), 0);
	add_end(&b);
	ret = generation_parse(g, b.data, b.len, "r", err);
	buf_release(&b);
	return ret;
}

static void test_example(void **state)
{
	struct generation g = {0}, copy;
	struct buf text = BUF_INIT, again = BUF_INIT;
	uint8_t sha256[GENERATION_SHA256_LEN];
	struct error err = ERROR_INIT;
	struct hash_ctx hash;
	struct oid sum;

	assert_int_equal(buf_append_str(&text, example), 0);
	assert_int_equal(buf_append_str(&text, EXAMPLE_END), 0);
	assert_int_equal(generation_parse(&g, text.data, text.len, "r", &err),
			 0);
	assert_int_equal(g.number, 8);
	assert_int_equal(g.parent[31], 0x11);
	assert_int_equal(g.token[1], 0x23);
	assert_int_equal(g.time, 1764200000);
	assert_int_equal(g.tables, 5);
	assert_string_equal(g.node, "n1.example.org");
	assert_string_equal(g.user, "alice");
	assert_string_equal(g.action, "push");
	assert_int_equal(g.file_nr, 3);
	assert_string_equal(g.files[0].path, "objects/pack/pack-1.pack");
	assert_int_equal(g.files[0].size, 1200);
	assert_false(g.files[0].is_executable);
	assert_true(g.files[1].is_executable);
	assert_int_equal(g.files[1].sha256[0], 0x22);
	assert_int_equal(g.update_nr, 3);
	assert_string_equal(generation_find_update(&g, "HEAD")->value,
			    "ref: refs/heads/main");
	assert_null(generation_find_update(&g, "refs/heads/old")->value);
	assert_null(generation_find_update(&g, "refs/heads/o"));
	assert_null(generation_find_update(&g, "refs/heads/z"));

	assert_int_equal(generation_copy(&copy, &g, NULL), 0);
	generation_release(&g);
	assert_int_equal(generation_print(&again, sha256, &copy, &err), 0);
	assert_string_equal(again.data, text.data);
	assert_int_equal(hash_init(&hash, HASH_SHA256), 0);
	hash_update(&hash, text.data, text.len);
	hash_final(&hash, &sum);
	hash_release(&hash);
	assert_memory_equal(sum.bytes, sha256, sizeof(sha256));
	generation_release(&copy);
	buf_release(&text);
	buf_release(&again);
}

static void test_retired(void **state)
{
	static const char text[] = "gitreach generation 1\nnumber 2\n"
				   "parent " A32 B32 "\nretired\n";
	struct generation g = {0};
	struct buf out = BUF_INIT;

	assert_int_equal(parse(&g, text, sizeof(text) - 1, NULL), 0);
	assert_true(g.is_retired);
	assert_int_equal(g.number, 2);
	assert_int_equal(generation_print(&out, NULL, &g, NULL), 0);
	assert_memory_equal(out.data, text, sizeof(text) - 1);
	buf_release(&out);
	generation_release(&g);
}

/* Each case replaces a part of the example by a text that is not allowed. */
static void test_bad_texts(void **state)
{
	static const struct {
		const char *find, *replace;
		int ret;
	} cases[] = {
		{"generation 1", "generation 2", ERR_UNSUPPORTED},
		{"generation 1", "generation 12", ERR_UNSUPPORTED},
		{"gitreach", "gitreich", ERR_CORRUPT},
		{"number 8", "number 0", ERR_CORRUPT},
		{"number 8", "number 08", ERR_CORRUPT},
		{"number 8", "number 7", ERR_CORRUPT},
		{"number 8", "number -8", ERR_CORRUPT},
		{"number 8", "number 18446744073709551616", ERR_CORRUPT},
		{"number 8", "number ", ERR_CORRUPT},
		{"parent " A32, "parent 1", ERR_CORRUPT},
		{A32 A32 "\n", A32 A32 "1\n", ERR_CORRUPT},
		{"token 0", "token A", ERR_CORRUPT},
		{"time 1", "time 9223372036854775808", ERR_CORRUPT},
		{"epoch 0", "epoch 9", ERR_CORRUPT},
		{"tables 5", "tables 9", ERR_CORRUPT},
		{"tables 5\n", "", ERR_CORRUPT},
		{"alice", "al\001ce", ERR_CORRUPT},
		{"alice", "al\177ce", ERR_CORRUPT},
		{"user alice\n", "", ERR_CORRUPT},
		{"1200", "01200", ERR_CORRUPT},
		{"1200 100644", "1200 100600", ERR_CORRUPT},
		{"objects/pack", "/objects", ERR_CORRUPT},
		{"objects/pack", "objects//pack", ERR_CORRUPT},
		{"objects/pack", "objects/../pack", ERR_CORRUPT},
		{"objects/pack", ".objects", ERR_CORRUPT},
		{"objects/pack/pack-1.pack", "hooks/update", ERR_CORRUPT},
		{"objects/pack/pack-1.pack", "objects/", ERR_CORRUPT},
		{"objects/pack/pack-1.pack", "", ERR_CORRUPT},
		{"update 8 HEAD", "update 9 HEAD", ERR_CORRUPT},
		{"update 8 HEAD", "update 0 HEAD", ERR_CORRUPT},
		{"update 8 HEAD", "update 8 ", ERR_CORRUPT},
		{"update 8 HEAD", "update 8 x", ERR_CORRUPT},
		{"update 8 HEAD", "update 8 refs/heads/main", ERR_CORRUPT},
		{"HEAD ref: refs/heads/main", "HEAD ", ERR_CORRUPT},
		{"HEAD ref: refs/heads/main", "HEAD", ERR_CORRUPT},
		{"delete 8 refs/heads/old", "delete 8 refs/heads/o x",
		 ERR_CORRUPT},
		{"delete 8 refs/heads/old\n", "delete 8 refs/heads/old",
		 ERR_CORRUPT},
		{"delete 8 refs/heads/old\n", "file x\n", ERR_CORRUPT},
	};

	for (size_t i = 0; i < ARRAY_NR(cases); i++) {
		const char *at = strstr(example, cases[i].find);
		struct error err = ERROR_INIT;
		struct generation g = {0};
		struct buf b = BUF_INIT;
		int ret;

		assert_non_null(at);
		ret = buf_append(&b, example, (size_t)(at - example));
		assert_int_equal(ret, 0);
		assert_int_equal(buf_printf(&b, "%s%s", cases[i].replace,
					    at + strlen(cases[i].find)),
				 0);
		ret = parse(&g, b.data, b.len, &err);
		if (ret != cases[i].ret)
			fail_msg("case %zu: %d %s", i, ret, err.msg);
		assert_null(g.files);
		buf_release(&b);
	}
}

/*
 * A truncated record (manifest) is refused, at whatever byte it ends. A record
 * with a changed byte is refused, too.
 */
static void test_damage(void **state)
{
	struct buf b = BUF_INIT;

	assert_int_equal(buf_append_str(&b, example), 0);
	add_end(&b);
	for (size_t i = 0; i < b.len; i++) {
		struct generation g = {0};

		assert_true(generation_parse(&g, b.data, i, "r", NULL) < 0);
		b.data[i] ^= 1;
		assert_true(generation_parse(&g, b.data, b.len, "r", NULL) < 0);
		b.data[i] ^= 1;
	}
	assert_int_equal(buf_append_char(&b, '\n'), 0);
	assert_int_equal(generation_parse(&(struct generation){0}, b.data,
					  b.len, "r", NULL),
			 ERR_CORRUPT);
	buf_release(&b);
}

static void add_file(struct generation *g, const char *path)
{
	struct generation_file file = {.path = (char *)path, .size = 1};

	assert_int_equal(generation_add_file(g, &file, NULL), 0);
}

static void test_files(void **state)
{
	struct generation_file bad = {.path = (char *)"a/./b"};
	struct generation g = {.number = 1};

	add_file(&g, "b");
	add_file(&g, "a");
	add_file(&g, "c");
	bad.path = (char *)"a";
	assert_int_equal(generation_add_file(&g, &bad, NULL), ERR_INVALID);
	bad.path = (char *)"x/.y";
	assert_int_equal(generation_add_file(&g, &bad, NULL), ERR_INVALID);
	assert_null(generation_find_file(&g, "d"));
	assert_string_equal(generation_find_file(&g, "c")->path, "c");
	assert_int_equal(g.file_nr, 3);
	assert_string_equal(g.files[1].path, "a");
	generation_release(&g);
}

static void test_refs(void **state)
{
	static const char *const bad[] = {"", "a b", "a\n"};
	char text[GENERATION_TEXT_MAX + 2];
	struct generation g = {.number = 3};

	assert_int_equal(generation_set_ref(&g, 1, "m", "1", NULL), 0);
	assert_int_equal(generation_set_ref(&g, 1, "z", "2", NULL), 0);
	assert_int_equal(generation_set_ref(&g, 2, "a", "3 4", NULL), 0);
	assert_int_equal(generation_set_ref(&g, 3, "m", NULL, NULL), 0);
	assert_int_equal(g.update_nr, 3);
	assert_string_equal(g.updates[0].ref, "a");
	assert_int_equal(g.updates[1].number, 3);
	assert_null(g.updates[1].value);
	assert_string_equal(g.updates[2].value, "2");
	for (size_t i = 0; i < ARRAY_NR(bad); i++)
		assert_int_equal(generation_set_ref(&g, 3, bad[i], "1", NULL),
				 ERR_INVALID);
	assert_int_equal(generation_set_ref(&g, 3, "r", "", NULL), ERR_INVALID);
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(generation_set_ref(&g, 3, text, "1", NULL),
			 ERR_INVALID);
	assert_int_equal(generation_set_ref(&g, 3, "r", text, NULL),
			 ERR_INVALID);
	text[sizeof(text) - 2] = '\0';
	assert_int_equal(generation_set_ref(&g, 3, "r", text, NULL), 0);
	assert_int_equal(g.update_nr, 4);
	generation_release(&g);
}

/*
 * generation_print() refuses each record (manifest) that the parser would
 * refuse.
 */
static void test_bad_records(void **state)
{
	char word[GENERATION_WORD_MAX + 2];
	struct generation g = {.number = 1};
	struct buf out = BUF_INIT;
	uint8_t sha256[GENERATION_SHA256_LEN];

	memset(word, 'w', sizeof(word));
	word[sizeof(word) - 1] = '\0';
	assert_int_equal(generation_print(&out, sha256, &g, NULL), 0);
	buf_reset(&out);
	g.user = word;
	assert_int_equal(generation_print(&out, NULL, &g, NULL), ERR_INVALID);
	word[sizeof(word) - 2] = '\0';
	assert_int_equal(generation_print(&out, NULL, &g, NULL), 0);
	word[3] = '\n';
	assert_int_equal(generation_print(&out, NULL, &g, NULL), ERR_INVALID);
	g.user = NULL;
	g.parent[0] = 1;
	assert_int_equal(generation_print(&out, NULL, &g, NULL), ERR_INVALID);
	g.number = 2;
	g.epoch = 3;
	assert_int_equal(generation_print(&out, NULL, &g, NULL), ERR_INVALID);
	g.epoch = 2;
	g.time = -1;
	assert_int_equal(generation_print(&out, NULL, &g, NULL), ERR_INVALID);
	buf_release(&out);
}

/*
 * A record (manifest) of the maximum size can be parsed. generation_print()
 * refuses to make a larger record.
 */
static void test_size(void **state)
{
	char text[GENERATION_TEXT_MAX + 1], ref[32];
	struct generation g = {.number = 1}, again = {0};
	struct buf out = BUF_INIT;
	int ret = 0;

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	for (unsigned i = 0; !ret; i++) {
		snprintf(ref, sizeof(ref), "r%06u", i);
		assert_int_equal(generation_set_ref(&g, 1, ref, text, NULL), 0);
		if (i < 4060)
			continue;
		buf_reset(&out);
		ret = generation_print(&out, NULL, &g, NULL);
		if (!ret)
			assert_true(out.len <= GENERATION_RECORD_MAX);
	}
	assert_int_equal(ret, ERR_INVALID);
	assert_true(g.update_nr > 4062);
	g.update_nr--;
	free(g.updates[g.update_nr].ref);
	free(g.updates[g.update_nr].value);
	assert_int_equal(generation_print(&out, NULL, &g, NULL), 0);
	assert_int_equal(generation_parse(&again, out.data, out.len, "r", NULL),
			 0);
	assert_int_equal(again.update_nr, g.update_nr);
	generation_release(&again);
	generation_release(&g);
	buf_release(&out);
}

static void test_hexadecimal(void **state)
{
	static const uint8_t bytes[] = {0x00, 0x9a, 0xff};
	static const char *const wrong[] = {"009Aff", "009aFg", "00 aff"};
	uint8_t parsed[sizeof(bytes)];
	struct buf text = BUF_INIT;

	assert_int_equal(generation_append_hex(&text, bytes, sizeof(bytes)), 0);
	assert_string_equal(text.data, "009aff");
	assert_true(generation_parse_hex(parsed, text.data, sizeof(bytes)));
	assert_memory_equal(parsed, bytes, sizeof(bytes));
	for (size_t i = 0; i < ARRAY_NR(wrong); i++)
		assert_false(
			generation_parse_hex(parsed, wrong[i], sizeof(bytes)));
	buf_release(&text);
}

static void test_update_pos(void **state)
{
	struct generation g = {.number = 1};

	assert_int_equal(generation_update_pos(&g, "a"), 0);
	assert_int_equal(generation_set_ref(&g, 1, "a/b", "1", NULL), 0);
	assert_int_equal(generation_set_ref(&g, 1, "a", "1", NULL), 0);
	assert_int_equal(generation_set_ref(&g, 1, "a-b", "1", NULL), 0);
	assert_int_equal(generation_update_pos(&g, "a"), 0);
	assert_int_equal(generation_update_pos(&g, "a/"), 2);
	assert_int_equal(generation_update_pos(&g, "b"), 3);
	generation_release(&g);
}

/*
 * generation_take_updates() merges two sorted lists of updates. If both have an
 * update of a ref, the merged list has the newer one.
 */
static void test_take_updates(void **state)
{
	static const struct generation_update expected[] = {
		{2, (char *)"a", (char *)"4"}, {1, (char *)"b", (char *)"1"},
		{2, (char *)"c", NULL},        {2, (char *)"d", (char *)"5"},
		{1, (char *)"e", (char *)"3"}, {2, (char *)"f", (char *)"6"},
	};
	struct generation g = {.number = 1}, newer = {.number = 2};

	assert_int_equal(generation_set_ref(&g, 1, "b", "1", NULL), 0);
	assert_int_equal(generation_set_ref(&g, 1, "c", "2", NULL), 0);
	assert_int_equal(generation_set_ref(&g, 1, "e", "3", NULL), 0);
	assert_int_equal(generation_set_ref(&newer, 2, "a", "4", NULL), 0);
	assert_int_equal(generation_set_ref(&newer, 2, "c", NULL, NULL), 0);
	assert_int_equal(generation_set_ref(&newer, 2, "d", "5", NULL), 0);
	assert_int_equal(generation_set_ref(&newer, 2, "f", "6", NULL), 0);
	assert_int_equal(generation_take_updates(&g, &newer, NULL), 0);
	assert_int_equal(newer.update_nr, 0);
	assert_int_equal(g.update_nr, ARRAY_NR(expected));
	for (size_t i = 0; i < ARRAY_NR(expected); i++) {
		assert_int_equal(g.updates[i].number, expected[i].number);
		assert_string_equal(g.updates[i].ref, expected[i].ref);
		if (expected[i].value)
			assert_string_equal(g.updates[i].value,
					    expected[i].value);
		else
			assert_null(g.updates[i].value);
	}
	/* Both lists may be empty. */
	assert_int_equal(generation_take_updates(&g, &newer, NULL), 0);
	assert_int_equal(g.update_nr, ARRAY_NR(expected));
	generation_release(&g);
	assert_int_equal(generation_take_updates(&g, &newer, NULL), 0);
	assert_int_equal(g.update_nr, 0);
	generation_release(&g);
	generation_release(&newer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_example),
		cmocka_unit_test(test_retired),
		cmocka_unit_test(test_bad_texts),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_refs),
		cmocka_unit_test(test_bad_records),
		cmocka_unit_test(test_size),
		cmocka_unit_test(test_hexadecimal),
		cmocka_unit_test(test_update_pos),
		cmocka_unit_test(test_take_updates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
