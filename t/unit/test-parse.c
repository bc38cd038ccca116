/* SPDX-License-Identifier: MIT */
/*
 * Tests of object/parse.c: valid commits, trees and tags are parsed, malformed
 * ones are refused, and path hashes equal those of stock Git.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "object/parse.h"

#define HEX_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define HEX_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define HEX_C "cccccccccccccccccccccccccccccccccccccccc"
#define IDENT "A U Thor <author@example.com> "

static int parse_commit(struct commit_view *view, const char *s)
{
	return commit_parse(view, s, strlen(s), HASH_SHA1, NULL);
}

static void check_byte(const struct oid *oid, uint8_t byte)
{
	for (size_t i = 0; i < 20; i++)
		assert_int_equal(oid->bytes[i], byte);
}

static void test_commit(void **state)
{
	static const char text[] = "tree " HEX_A "\nparent " HEX_B
				   "\nparent " HEX_C "\nauthor " IDENT
				   "1 +0000\ncommitter " IDENT
				   "1112911993 -0700\nencoding x\n\nhello\n";
	struct commit_view v;
	struct oid parent;

	assert_int_equal(parse_commit(&v, text), 0);
	check_byte(&v.tree, 0xaa);
	assert_int_equal(v.parent_nr, 2);
	commit_parent(&parent, &v, 0, HASH_SHA1);
	check_byte(&parent, 0xbb);
	commit_parent(&parent, &v, 1, HASH_SHA1);
	check_byte(&parent, 0xcc);
	assert_int_equal(v.committer_date, 1112911993);
	assert_int_equal(v.message_len, 6);
	assert_memory_equal(v.message, "hello\n", 6);
}

static void test_commit_odd(void **state)
{
	struct commit_view v;

	assert_int_equal(parse_commit(&v, "tree " HEX_A "\n"), 0);
	assert_int_equal(v.parent_nr, 0);
	assert_null(v.parents);
	assert_int_equal(v.committer_date, 0);
	assert_string_equal(v.message, "");

	assert_int_equal(parse_commit(&v, "tree " HEX_A "\n\nno idents"), 0);
	assert_string_equal(v.message, "no idents");

	assert_int_equal(parse_commit(&v, "tree " HEX_A "\nauthor x\n"
					  "committer a> b> 12x\n"),
			 0);
	assert_int_equal(v.committer_date, 12);
	assert_int_equal(parse_commit(&v, "tree " HEX_A "\nauthor x\n"
					  "committer 12 +0000\n"),
			 0);
	assert_int_equal(v.committer_date, 0);
	assert_int_equal(parse_commit(&v, "tree " HEX_A "\nauthor x\n"
					  "committer <> 18446744073709551616"
					  " +0000\n"),
			 0);
	assert_int_equal(v.committer_date, 0);
}

static void test_commit_corrupt(void **state)
{
	static const char *const bad[] = {
		"",
		"tree",
		"tree " HEX_A,
		"tree " HEX_A "a\n",
		"tree  " HEX_A "\n",
		"parent " HEX_A "\n",
		"tree " HEX_A "\nparent " HEX_B,
		"tree " HEX_A "\nparent " HEX_B "\nparent x\n",
		"tree x" HEX_A "\n",
	};
	struct commit_view v = {.parent_nr = 77};
	struct error err = ERROR_INIT;

	for (size_t i = 0; i < ARRAY_NR(bad); i++) {
		assert_int_equal(commit_parse(&v, bad[i], strlen(bad[i]),
					      HASH_SHA1, &err),
				 ERR_CORRUPT);
		assert_int_equal(err.code, ERR_CORRUPT);
		assert_int_equal(v.parent_nr, 77);
	}
	assert_int_equal(
		commit_parse(&v, "tree " HEX_A "\n", 46, HASH_SHA256, NULL),
		ERR_CORRUPT);
}

/*
 * Copies `len` bytes to memory of exactly this size, so that AddressSanitizer
 * reports a read past the end.
 */
static void *exact_copy(const void *bytes, size_t len)
{
	void *copy = mem_alloc(len, 1);

	assert_non_null(copy);
	memcpy(copy, bytes, len);
	return copy;
}

static void test_commit_prefixes(void **state)
{
	static const char text[] = "tree " HEX_A "\nparent " HEX_B
				   "\nauthor " IDENT "1 +0000\ncommitter " IDENT
				   "1112911993 -0700\n\nhello\n";

	for (size_t len = 0; len < sizeof(text) - 1; len++) {
		char *copy = exact_copy(text, len);
		struct commit_view v;
		int ret = commit_parse(&v, copy, len, HASH_SHA1, NULL);

		assert_int_equal(ret, len < 46 || (len >= 53 && len < 94)
					      ? ERR_CORRUPT
					      : 0);
		free(copy);
	}
}

static void test_commit_sha256(void **state)
{
	static const char text[] = "tree " HEX_A
				   "aaaaaaaaaaaaaaaaaaaaaaaa\nparent " HEX_B
				   "bbbbbbbbbbbbbbbbbbbbbbbb\n\n";
	struct commit_view v;
	struct oid parent;

	assert_int_equal(
		commit_parse(&v, text, sizeof(text) - 1, HASH_SHA256, NULL), 0);
	assert_int_equal(v.tree.bytes[31], 0xaa);
	assert_int_equal(v.parent_nr, 1);
	commit_parent(&parent, &v, 0, HASH_SHA256);
	assert_int_equal(parent.bytes[31], 0xbb);
}

static void add_entry(struct buf *b, const char *mode, const char *name,
		      uint8_t fill, enum hash_algo algo)
{
	uint8_t id[OID_MAX_LEN];

	memset(id, fill, sizeof(id));
	assert_int_equal(buf_append_str(b, mode), 0);
	assert_int_equal(buf_append_char(b, ' '), 0);
	assert_int_equal(buf_append(b, name, strlen(name) + 1), 0);
	assert_int_equal(buf_append(b, id, hash_len(algo)), 0);
}

static void check_tree(enum hash_algo algo)
{
	static const struct {
		const char *mode, *name;
		uint32_t mode_value;
	} want[] = {
		{"100644", "a", 0100644},
		{"40000", "bcdefgh", 040000},
		{"0100755", "bcdefghi", 0100755},
		{"160000", "a name with blanks and more", 0160000},
		{"120000", "\xff\x80\x01.\x2e\x30", 0120000},
	};
	struct buf b = BUF_INIT;
	struct tree_entry e;
	struct cursor c;
	char *copy;

	for (size_t i = 0; i < ARRAY_NR(want); i++)
		add_entry(&b, want[i].mode, want[i].name, (uint8_t)i, algo);
	copy = exact_copy(b.data, b.len);
	c = cursor_make(copy, b.len);
	for (size_t i = 0; i < ARRAY_NR(want); i++) {
		assert_int_equal(tree_next(&e, &c, algo), 1);
		assert_string_equal(e.name, want[i].name);
		assert_int_equal(e.name_len, strlen(want[i].name));
		assert_int_equal(e.mode, want[i].mode_value);
		assert_int_equal(e.oid[0], i);
		assert_int_equal(e.oid[hash_len(algo) - 1], i);
		assert_ptr_equal(e.raw + e.raw_len, c.p);
	}
	assert_true(
		tree_entry_is_gitlink(&(struct tree_entry){.mode = 0160000}));
	assert_int_equal(tree_next(&e, &c, algo), 0);

	/*
	 * Cut the tree at every byte. The result is valid only if the cut is
	 * between two entries.
	 */
	for (size_t len = 0; len < b.len; len++) {
		char *cut = exact_copy(b.data, len);
		size_t taken = 0;
		int ret;

		c = cursor_make(cut, len);
		while ((ret = tree_next(&e, &c, algo)) > 0)
			taken += e.raw_len;
		assert_int_equal(ret, taken == len ? 0 : ERR_CORRUPT);
		free(cut);
	}
	free(copy);
	buf_release(&b);
}

static void test_tree(void **state)
{
	check_tree(HASH_SHA1);
	check_tree(HASH_SHA256);
}

static void test_tree_corrupt(void **state)
{
	static const struct {
		const char *mode, *name;
	} bad[] = {
		{"100644", ""},
		{"100648", "a"},
		{"", "a"},
		{"x", "a"},
		{"-1", "a"},
		{" 100644", "a"},
		{"100644", "a/b"},
		{"100644", "/"},
		{"100644", "abcdefgh/"},
		{"7777777", "a"},
		{"77777777777777", "a"},
	};

	for (size_t i = 0; i < ARRAY_NR(bad); i++) {
		struct buf b = BUF_INIT;
		struct tree_entry e;
		struct cursor c;

		add_entry(&b, bad[i].mode, bad[i].name, 0, HASH_SHA1);
		c = cursor_make(b.data, b.len);
		assert_int_equal(tree_next(&e, &c, HASH_SHA1), ERR_CORRUPT);
		buf_release(&b);
	}
}

/*
 * A simple version of tree_next(), which reads byte by byte. The fast version
 * is compared with it.
 */
static int slow_tree_next(size_t *name_len, const uint8_t *p, size_t len)
{
	size_t i = 0, name;

	if (!len)
		return 0;
	for (; i < len && p[i] >= '0' && p[i] <= '7'; i++)
		;
	if (!i || i > 6 || i == len || p[i] != ' ')
		return ERR_CORRUPT;
	for (name = ++i; i < len && p[i]; i++)
		if (p[i] == '/')
			return ERR_CORRUPT;
	if (i == name || i == len || len - i - 1 < 20)
		return ERR_CORRUPT;
	*name_len = i - name;
	return 1;
}

static void test_tree_random(void **state)
{
	static const uint8_t alphabet[] = {'/', 0,   1,   '.', '0', 0x80, 0xff,
					   'a', 'b', 'c', 'd', 'e', 'f'};
	const char *env = getenv("GITREACH_TEST_SEED");
	uint64_t x = env ? strtoull(env, NULL, 0) | 1 : 1;

	print_message("seed %llu\n", (unsigned long long)x);
	for (int round = 0; round < 20000; round++) {
		static const char *const modes[] = {"100644 ", "40000 ",
						    "040000 ", "120000 "};
		const char *mode = modes[round % ARRAY_NR(modes)];
		uint8_t bytes[64] = {0};
		size_t len, want_len = 0;
		struct tree_entry e;
		struct cursor c;
		uint8_t *copy;
		int ret;

		memcpy(bytes, mode, strlen(mode));
		for (size_t i = strlen(mode); i < sizeof(bytes); i++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			bytes[i] = alphabet[(x >> 20) %
					    (i % 3 ? 7 + (x >> 40) % 6 : 13)];
			if (bytes[i] == '/' && x >> 61)
				bytes[i] = 'x';
			if (!bytes[i] && x >> 62)
				bytes[i] = 'y';
		}
		len = (x >> 33) % (sizeof(bytes) + 1);
		copy = exact_copy(bytes, len);
		c = cursor_make(copy, len);
		ret = tree_next(&e, &c, HASH_SHA1);
		assert_int_equal(ret, slow_tree_next(&want_len, bytes, len));
		if (ret > 0)
			assert_int_equal(e.name_len, want_len);
		free(copy);
	}
}

/*
 * Searches for the end of a name, eight or sixteen bytes at a time. The
 * position of the end is known.
 */
static void test_name_end(void **state)
{
	enum { LEN = 60, SPARE = 16 };
	uint8_t bytes[LEN + SPARE];

	for (size_t hit = 0; hit <= LEN; hit++) {
		for (size_t last = 0; last <= LEN; last++) {
			const uint8_t *want = hit < last ? bytes + hit : NULL;

			memset(bytes, 'x', sizeof(bytes));
			bytes[hit] = hit % 2 ? '/' : '\0';
			bytes[hit + 1] = hit % 3 ? '0' : 0x01;
			assert_ptr_equal(tree_name_end(bytes, bytes + last),
					 want);
			assert_ptr_equal(
				tree_name_end_words(bytes, bytes + last), want);
		}
	}
}

static int name_cmp(const char *a, bool a_dir, const char *b, bool b_dir)
{
	struct tree_entry x = {.name = a,
			       .name_len = strlen(a),
			       .mode = a_dir ? 040000 : 0100644};
	struct tree_entry y = {.name = b,
			       .name_len = strlen(b),
			       .mode = b_dir ? 040000 : 0120000};
	int cmp = tree_name_cmp(&x, &y);
	int back = tree_name_cmp(&y, &x);

	assert_int_equal(cmp<0, back> 0);
	assert_int_equal(cmp > 0, back < 0);
	return (cmp > 0) - (cmp < 0);
}

static void test_name_cmp(void **state)
{
	assert_int_equal(name_cmp("a", false, "b", false), -1);
	assert_int_equal(name_cmp("a", false, "a", false), 0);
	assert_int_equal(name_cmp("a", true, "a", true), 0);
	assert_int_equal(name_cmp("a", false, "a", true), -1);
	assert_int_equal(name_cmp("a", true, "a.c", false), 1);
	assert_int_equal(name_cmp("a", true, "a-b", true), 1);
	assert_int_equal(name_cmp("a", true, "a0", false), -1);
	assert_int_equal(name_cmp("a", false, "a.c", false), -1);
	assert_int_equal(name_cmp("\x80", false, "a", false), 1);
}

static void test_tag(void **state)
{
	static const char text[] = "object " HEX_B
				   "\ntype commit\ntag v1.0\ntagger " IDENT
				   "1112911993 -0700\n\nhello\n";
	struct tag_view v;

	assert_int_equal(tag_parse(&v, text, strlen(text), HASH_SHA1, NULL), 0);
	check_byte(&v.target, 0xbb);
	assert_int_equal(v.target_type, OBJ_COMMIT);
	assert_int_equal(v.name_len, 4);
	assert_memory_equal(v.name, "v1.0", 4);
	assert_int_equal(v.tagger_date, 1112911993);
	for (size_t len = 0; len < sizeof(text) - 1; len++) {
		char *copy = exact_copy(text, len);
		bool whole = len >= strlen("object \ntype commit\ntag ") + 40;

		assert_int_equal(tag_parse(&v, copy, len, HASH_SHA1, NULL),
				 whole ? 0 : ERR_CORRUPT);
		free(copy);
	}
}

static void test_tag_odd(void **state)
{
	static const char old[] = "object " HEX_B "\ntype tag\ntag x\n\nold";
	static const char bad[] = "object " HEX_B "\ntype thing\ntag x\n\n";
	struct error err = ERROR_INIT;
	struct tag_view v;

	assert_int_equal(tag_parse(&v, old, strlen(old), HASH_SHA1, NULL), 0);
	assert_int_equal(v.target_type, OBJ_TAG);
	assert_int_equal(v.tagger_date, 0);
	assert_int_equal(tag_parse(&v, bad, strlen(bad), HASH_SHA1, &err),
			 ERR_CORRUPT);
	assert_string_equal(err.msg, "tag without a valid type line");
}

/*
 * The expected values are path hashes that stock Git 2.39 wrote to a bitmap
 * index for files with these names.
 */
static void test_name_hash(void **state)
{
	assert_int_equal(name_hash_add(0, "a b", 3), 0x7a400000);
	assert_int_equal(name_hash_add(0, "a\tb\n\r", 5), 0x7a400000);
	assert_int_equal(name_hash_add(0, "a\vb", 3), 0x6ad00000);
	assert_int_equal(name_hash_add(0, "a\fb", 3), 0x6b100000);
	assert_int_equal(name_hash_add(0,
				       "a\xa0"
				       "b",
				       3),
			 0x90100000);
	assert_int_equal(name_hash_add(name_hash_add(0, "dir/", 4), "file", 4),
			 name_hash_add(0, "dir/file", 8));
	assert_int_equal(name_hash_add(0, "", 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_commit),
		cmocka_unit_test(test_commit_odd),
		cmocka_unit_test(test_commit_corrupt),
		cmocka_unit_test(test_commit_prefixes),
		cmocka_unit_test(test_commit_sha256),
		cmocka_unit_test(test_tree),
		cmocka_unit_test(test_tree_corrupt),
		cmocka_unit_test(test_tree_random),
		cmocka_unit_test(test_name_end),
		cmocka_unit_test(test_name_cmp),
		cmocka_unit_test(test_tag),
		cmocka_unit_test(test_tag_odd),
		cmocka_unit_test(test_name_hash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
