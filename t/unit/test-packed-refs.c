/* SPDX-License-Identifier: MIT */
/*
 * Tests of refs/packed-refs.c: a fixed packed-refs file is parsed. Searches in
 * random files are compared with a scan of all records.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/buf.h"
#include "refs/packed-refs.h"

#define HEX_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define HEX_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define HEX_C "cccccccccccccccccccccccccccccccccccccccc"
#define HEADER "# pack-refs with: peeled fully-peeled sorted \n"

static int parse(struct packed_refs *refs, const char *text, struct error *err)
{
	return packed_refs_parse(refs, text, strlen(text), HASH_SHA1,
				 "packed-refs", err);
}

static void assert_name(const struct packed_ref *ref, const char *name)
{
	assert_int_equal(ref->name_len, strlen(name));
	assert_memory_equal(ref->name, name, ref->name_len);
}

/*
 * packed_refs_name_cmp() compares only the given number of bytes of each name,
 * and not the bytes that follow.
 */
static void test_name_cmp(void **state)
{
	assert_int_equal(packed_refs_name_cmp("az", 1, "ab", 2), -1);
	assert_int_equal(packed_refs_name_cmp("ab", 2, "az", 1), 1);
	assert_int_equal(packed_refs_name_cmp("az", 1, "ab", 1), 0);
	assert_true(packed_refs_name_cmp("a", 1, "bb", 2) < 0);
	assert_true(packed_refs_name_cmp("bb", 2, "a", 1) > 0);
}

static void test_by_hand(void **state)
{
	struct packed_refs refs;
	struct packed_ref ref;
	size_t off = 0;

	assert_int_equal(parse(&refs,
			       HEADER HEX_A " refs/heads/main\n" HEX_B
					    " refs/tags/v1\n^" HEX_C "\n",
			       NULL),
			 0);
	assert_int_equal(packed_refs_next(&refs, &off, &ref, NULL), 1);
	assert_name(&ref, "refs/heads/main");
	assert_int_equal(ref.oid.bytes[19], 0xaa);
	assert_true(ref.has_peeled);
	assert_false(ref.is_tag);
	assert_int_equal(packed_refs_next(&refs, &off, &ref, NULL), 1);
	assert_name(&ref, "refs/tags/v1");
	assert_true(ref.has_peeled && ref.is_tag);
	assert_int_equal(ref.peeled.bytes[0], 0xcc);
	assert_int_equal(packed_refs_next(&refs, &off, &ref, NULL), 0);
	assert_int_equal(packed_refs_find(&refs, "refs/tags/v1", &ref, NULL),
			 1);
	assert_int_equal(ref.oid.bytes[0], 0xbb);
	assert_int_equal(packed_refs_find(&refs, "refs/tags/v", &ref, NULL), 0);
	assert_int_equal(packed_refs_find(&refs, "refs/tags/v11", &ref, NULL),
			 0);
	packed_refs_release(&refs);
}

static void test_traits(void **state)
{
	static const char body[] = HEX_A
		" refs/heads/main\n" HEX_B
		" refs/namespaces/n/refs/heads/refs/tags\n" HEX_B
		" refs/namespaces/n/refs/tags/v1\n" HEX_B
		" refs/tags/v1\n" HEX_C " refs/tagsx\n";
	static const struct {
		const char *header;
		bool is_full;
	} cases[] = {
		{HEADER, true},
		{"# pack-refs with: peeled sorted\n", false},
		{"# pack-refs with: sorted peeledx\n", false},
		{"# pack-refs with:\n", false},
		{"", false},
	};
	/*
	 * The trait "fully-peeled" of the header is not trusted for refs below
	 * refs/tags/. Such refs may also be in a namespace. "refs/tagsx" is not
	 * below refs/tags/.
	 */
	static const struct {
		const char *name;
		bool is_believed;
	} names[] = {
		{"refs/heads/main", true},
		{"refs/namespaces/n/refs/heads/refs/tags", true},
		{"refs/namespaces/n/refs/tags/v1", false},
		{"refs/tags/v1", false},
		{"refs/tagsx", true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct packed_refs refs;
		struct packed_ref ref;
		struct buf text = BUF_INIT;

		buf_printf(&text, "%s%s", cases[i].header, body);
		assert_int_equal(parse(&refs, text.data, NULL), 0);
		for (size_t j = 0; j < sizeof(names) / sizeof(names[0]); j++) {
			assert_int_equal(packed_refs_find(&refs, names[j].name,
							  &ref, NULL),
					 1);
			assert_int_equal(ref.has_peeled,
					 cases[i].is_full &&
						 names[j].is_believed);
			assert_false(ref.is_tag);
		}
		packed_refs_release(&refs);
		buf_release(&text);
	}
}

static void test_unsorted(void **state)
{
	struct packed_refs refs;
	struct packed_ref ref;
	size_t off = 0;

	assert_int_equal(parse(&refs,
			       HEX_B " refs/tags/v1\n^" HEX_C "\n" HEX_A
				     " refs/heads/main\n",
			       NULL),
			 0);
	assert_int_equal(packed_refs_next(&refs, &off, &ref, NULL), 1);
	assert_name(&ref, "refs/heads/main");
	assert_int_equal(packed_refs_find(&refs, "refs/tags/v1", &ref, NULL),
			 1);
	assert_true(ref.is_tag);
	packed_refs_release(&refs);
	/* Records of the same name keep their order. */
	off = 0;
	assert_int_equal(parse(&refs,
			       HEX_B " refs/tags/v1\n" HEX_C
				     " refs/heads/main\n" HEX_A
				     " refs/heads/main\n",
			       NULL),
			 0);
	assert_int_equal(packed_refs_next(&refs, &off, &ref, NULL), 1);
	assert_int_equal(ref.oid.bytes[0], 0xcc);
	assert_int_equal(packed_refs_next(&refs, &off, &ref, NULL), 1);
	assert_int_equal(ref.oid.bytes[0], 0xaa);
	packed_refs_release(&refs);
}

static void test_malformed(void **state)
{
	static const char *const bad[] = {
		HEADER HEX_A " refs/heads/main",
		"# something else\n",
		HEX_A "\n",
		HEX_A " \n",
		HEX_A "\trefs/heads/main\n",
		"^" HEX_A "\n",
		HEX_A " refs/heads/main\n^" HEX_A "x\n",
		HEX_A " refs/heads/main\n^" HEX_A "\n^" HEX_A "\n",
		"xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa refs/heads/main\n",
		"\n",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct packed_refs refs;
		struct error err = ERROR_INIT;

		assert_int_equal(parse(&refs, bad[i], &err), ERR_CORRUPT);
		assert_non_null(strstr(err.msg, "line in packed-refs"));
		assert_null(refs.table);
	}
}

/* An error message shows at most 200 bytes of an invalid line. */
static void test_shown(void **state)
{
	for (int len = 198; len < 203; len++) {
		int shown = len < 200 ? len : 200;
		struct packed_refs refs;
		struct error err = ERROR_INIT;
		struct buf text = BUF_INIT, want = BUF_INIT;

		buf_printf(&text, "%0*d\n", len, 7);
		buf_printf(&want, "unexpected line in packed-refs: %.*s", shown,
			   text.data);
		assert_int_equal(parse(&refs, text.data, &err), ERR_CORRUPT);
		assert_string_equal(err.msg, want.data);
		buf_set_len(&text, text.len - 1);
		buf_reset(&want);
		buf_printf(&want, "unterminated line in packed-refs: %.*s",
			   shown, text.data);
		assert_int_equal(parse(&refs, text.data, &err), ERR_CORRUPT);
		assert_string_equal(err.msg, want.data);
		buf_release(&text);
		buf_release(&want);
	}
}

static void test_malformed_sorted(void **state)
{
	struct packed_refs refs;
	struct packed_ref ref;
	size_t off = 0;

	assert_int_equal(parse(&refs, HEADER "\n\n\n", NULL), ERR_CORRUPT);
	assert_int_equal(parse(&refs, HEADER HEX_A "\n", NULL), ERR_CORRUPT);
	assert_int_equal(parse(&refs, HEADER "# end\n", NULL), ERR_CORRUPT);
	/*
	 * Parsing a sorted file checks only its last line, and only the length
	 * of this line.
	 */
	assert_int_equal(
		parse(&refs, HEADER "\n\n" HEX_A " refs/heads/x\n", NULL), 0);
	assert_int_equal(packed_refs_find(&refs, "refs/heads/a", &ref, NULL),
			 ERR_CORRUPT);
	assert_int_equal(packed_refs_next(&refs, &off, &ref, NULL),
			 ERR_CORRUPT);
	packed_refs_release(&refs);
	assert_int_equal(parse(&refs,
			       HEADER
			       "xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa "
			       "refs/heads/x\n",
			       NULL),
			 0);
	assert_int_equal(packed_refs_find(&refs, "refs/heads/x", &ref, NULL),
			 ERR_CORRUPT);
	packed_refs_release(&refs);
}

static void test_empty(void **state)
{
	struct packed_refs refs;
	struct packed_ref ref;

	assert_int_equal(packed_refs_open(&refs, "/nonexistent/packed-refs",
					  HASH_SHA1, NULL),
			 0);
	assert_int_equal(packed_refs_find(&refs, "refs/heads/a", &ref, NULL),
			 0);
	packed_refs_release(&refs);
	assert_int_equal(parse(&refs, HEADER, NULL), 0);
	assert_int_equal(packed_refs_find(&refs, "refs/heads/a", &ref, NULL),
			 0);
	packed_refs_release(&refs);
}

static void test_sha256(void **state)
{
	static const char text[] = HEADER
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		"aaaaaaaa refs/heads/main\n";
	struct packed_refs refs;
	struct packed_ref ref;

	assert_int_equal(packed_refs_parse(&refs, text, sizeof(text) - 1,
					   HASH_SHA256, "p", NULL),
			 0);
	assert_int_equal(packed_refs_find(&refs, "refs/heads/main", &ref, NULL),
			 1);
	assert_int_equal(ref.oid.bytes[31], 0xaa);
	packed_refs_release(&refs);
}

/*
 * Returns the offset of the record that packed_refs_seek() must find. Scans all
 * records.
 */
static size_t scan(const struct packed_refs *refs, const char *key)
{
	struct packed_ref ref;
	size_t off = 0;

	for (;;) {
		size_t at = off;

		if (packed_refs_next(refs, &off, &ref, NULL) != 1 ||
		    packed_refs_name_cmp(ref.name, ref.name_len, key,
					 strlen(key)) >= 0)
			return at;
	}
}

static void random_name(char out[32], unsigned *seed)
{
	static const char letters[] = "abAB/-.";
	int len = 1 + rand_r(seed) % 6;
	int i;

	for (i = 0; i < len; i++)
		out[i] = letters[rand_r(seed) % (sizeof(letters) - 1)];
	out[i] = '\0';
}

/*
 * Each search starts at a random earlier record, and gets a random guess of the
 * distance to the result (`hint`). The search must always find the expected
 * record.
 */
static void assert_same_from_before(const struct packed_refs *refs,
				    const char *key, size_t expected,
				    unsigned *seed)
{
	size_t before = 0, nr = 0, off = 0;
	struct packed_ref ref;

	while (off < expected) {
		if (rand_r(seed) % ++nr == 0)
			before = off;
		packed_refs_next(refs, &off, &ref, NULL);
	}
	for (size_t i = 0; i < 4; i++) {
		size_t hint = (size_t)rand_r(seed) % (refs->len * 5 / 4 + 1);

		off = before;
		assert_int_equal(packed_refs_seek_on(refs, key, strlen(key),
						     hint, &off, NULL),
				 0);
		assert_int_equal(off, expected);
	}
}

static void test_random(void **state)
{
	const char *env = getenv("GITREACH_TEST_SEED");
	unsigned seed = env ? (unsigned)strtoul(env, NULL, 10) : 20240607;

	print_message("seed %u\n", seed);
	for (int round = 0; round < 50; round++) {
		struct packed_refs unsorted, sorted;
		struct buf text = BUF_INIT, again = BUF_INIT;
		int nr = rand_r(&seed) % (round % 10 ? 200 : 2000);
		char name[32];

		for (int i = 0; i < nr; i++) {
			random_name(name, &seed);
			buf_printf(&text, "%s %s\n%s", HEX_A, name,
				   rand_r(&seed) % 3 ? "" : "^" HEX_B "\n");
		}
		assert_int_equal(parse(&unsorted, text.data, NULL), 0);
		buf_append_str(&again, HEADER);
		buf_append(&again, unsorted.table, unsorted.len);
		assert_int_equal(again.len, text.len + strlen(HEADER));
		assert_int_equal(parse(&sorted, again.data, NULL), 0);
		for (int i = 0; i < 200; i++) {
			size_t off;

			random_name(name, &seed);
			assert_int_equal(packed_refs_seek(&sorted, name,
							  strlen(name), &off,
							  NULL),
					 0);
			assert_int_equal(off, scan(&sorted, name));
			assert_same_from_before(&sorted, name, off, &seed);
		}
		packed_refs_release(&unsorted);
		packed_refs_release(&sorted);
		buf_release(&text);
		buf_release(&again);
	}
}

/*
 * Returns the expected value of packed_refs_may_peel(): reads all records.
 */
static int scan_peeled(const struct packed_refs *refs, const char *prefix,
		       const struct oidmap *ids)
{
	size_t off = 0, len = strlen(prefix);
	struct packed_ref ref;
	uint32_t value;

	while (packed_refs_next(refs, &off, &ref, NULL) == 1)
		if (ref.name_len >= len && !memcmp(ref.name, prefix, len) &&
		    (!ref.has_peeled ||
		     (ref.is_tag && oidmap_get(ids, &ref.peeled, &value))))
			return 1;
	return 0;
}

/* Makes a random id. Many of the ids have the same first bytes. */
static void random_id(struct oid *oid, unsigned *seed)
{
	memset(oid, 0, sizeof(*oid));
	for (int i = 0; i < 20; i++)
		oid->bytes[i] = (uint8_t)(rand_r(seed) % (i < 2 ? 8 : 2) * 31);
	memset(oid->bytes + 4, 0x5a, 16);
}

static void test_may_peel(void **state)
{
	static const char *const dirs[] = {"x/tags", "tagsy", "tags", "heads"};
	unsigned seed = 7;
	int found = 0;

	for (int round = 0; round < 300; round++) {
		struct buf text = BUF_INIT;
		struct oidmap ids = OIDMAP_INIT;
		const struct refs_peel_search search = {.ids = &ids};
		struct packed_refs refs;
		char hex[OID_MAX_HEX_LEN + 1];
		struct oid oid;
		int ret;

		buf_append_str(&text, HEADER);
		for (int i = rand_r(&seed) % 60; i-- > 0;) {
			random_id(&oid, &seed);
			buf_printf(&text, "%s refs/%s/%03d\n", HEX_A,
				   dirs[i / 15], 99 - i);
			/*
			 * Nearly all refs below refs/tags/ get a peeled id, and
			 * half of all other refs.
			 */
			if (rand_r(&seed) % (i / 15 == 2 ? 50 : 2))
				buf_printf(&text, "^%s\n",
					   oid_to_hex(hex, &oid, HASH_SHA1));
		}
		for (int i = rand_r(&seed) % 20; i-- > 0;) {
			random_id(&oid, &seed);
			assert_int_equal(oidmap_put(&ids, &oid, 0), 0);
		}
		assert_int_equal(parse(&refs, text.data, NULL), 0);
		ret = packed_refs_may_peel(&refs, "refs/tags/", &search, NULL);
		assert_int_equal(ret, scan_peeled(&refs, "refs/tags/", &ids));
		found += ret;
		packed_refs_release(&refs);
		oidmap_release(&ids);
		buf_release(&text);
	}
	assert_true(found > 20 && found < 280);
}

/*
 * A ref without a peeled id may be a tag in two cases: the header has no traits
 * (such as "peeled"), or the ref is below refs/tags/.
 */
static void test_may_peel_traits(void **state)
{
	static const char body[] = HEX_A " refs/tags/v1\n";
	struct oidmap ids = OIDMAP_INIT;
	const struct refs_peel_search search = {.ids = &ids};
	struct packed_refs refs;

	assert_int_equal(parse(&refs, body, NULL), 0);
	assert_int_equal(
		packed_refs_may_peel(&refs, "refs/tags/", &search, NULL), 1);
	packed_refs_release(&refs);
	assert_int_equal(parse(&refs,
			       "# pack-refs with: peeled fully-peeled \n" HEX_A
			       " refs/tags/v1\n",
			       NULL),
			 0);
	assert_int_equal(
		packed_refs_may_peel(&refs, "refs/tags/", &search, NULL), 1);
	assert_int_equal(
		packed_refs_may_peel(&refs, "refs/tags/w", &search, NULL), 0);
	assert_int_equal(packed_refs_may_peel(&refs, "refs/x/", &search, NULL),
			 0);
	packed_refs_release(&refs);
	assert_int_equal(parse(&refs, "", NULL), 0);
	assert_int_equal(packed_refs_may_peel(&refs, "refs/x/", &search, NULL),
			 0);
	packed_refs_release(&refs);
}

/*
 * Callback: whether an object may be a tag. Here only the object whose id ends
 * in 0xbb may be one. Counts its calls in *ctx.
 */
static int is_b(void *ctx, const struct oid *oid, struct error *err)
{
	(void)err;
	++*(int *)ctx;
	return oid->bytes[19] == 0xbb;
}

/*
 * If a ref below refs/tags/ has no peeled id, packed_refs_may_peel() asks a
 * callback whether the object of the ref may be a tag.
 */
static void test_may_peel_asks(void **state)
{
	struct oidmap ids = OIDMAP_INIT;
	int asked = 0;
	const struct refs_peel_search search = {&ids, is_b, &asked};
	struct packed_refs refs;

	assert_int_equal(parse(&refs,
			       HEADER HEX_B " refs/heads/b\n" HEX_A
					    " refs/tags/a\n" HEX_C
					    " refs/tags/m\n^" HEX_A "\n" HEX_C
					    " refs/tags/z\n" HEX_B " refs/x\n",
			       NULL),
			 0);
	assert_int_equal(packed_refs_may_peel(&refs, "refs/", &search, NULL),
			 0);
	assert_int_equal(asked, 2);
	packed_refs_release(&refs);
	assert_int_equal(parse(&refs,
			       HEADER HEX_A " refs/tags/a\n" HEX_B
					    " refs/tags/b\n" HEX_C
					    " refs/tags/c\n",
			       NULL),
			 0);
	assert_int_equal(
		packed_refs_may_peel(&refs, "refs/tags/", &search, NULL), 1);
	assert_int_equal(asked, 4);
	packed_refs_release(&refs);
}

/*
 * The file ends in the middle of a peeled id. The incomplete id must not match
 * an object.
 */
static void test_may_peel_cut(void **state)
{
	static const char *const cut[] = {"^\n", "^b\n", "^bb\n"};
	struct oidmap ids = OIDMAP_INIT;
	const struct refs_peel_search search = {.ids = &ids};
	struct packed_refs refs;
	struct oid oid;

	assert_true(oid_from_hex(&oid, HEX_B, strlen(HEX_B), HASH_SHA1));
	assert_int_equal(oidmap_put(&ids, &oid, 0), 0);
	for (size_t i = 0; i < 3; i++) {
		size_t line_len = strlen(HEADER HEX_A " refs/tags/v1\n");
		size_t len = line_len + strlen(cut[i]);
		/*
		 * Copy the file to memory of exactly its size, so that
		 * sanitizers report a read past its end.
		 */
		char *file = malloc(len);

		assert_non_null(file);
		memcpy(file, HEADER HEX_A " refs/tags/v1\n", line_len);
		memcpy(file + line_len, cut[i], len - line_len);
		assert_int_equal(packed_refs_parse(&refs, file, len, HASH_SHA1,
						   "packed-refs", NULL),
				 0);
		assert_int_equal(
			packed_refs_may_peel(&refs, "refs/", &search, NULL), 0);
		packed_refs_release(&refs);
		free(file);
	}
	oidmap_release(&ids);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_name_cmp),
		cmocka_unit_test(test_by_hand),
		cmocka_unit_test(test_traits),
		cmocka_unit_test(test_unsorted),
		cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_malformed_sorted),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_sha256),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_may_peel),
		cmocka_unit_test(test_may_peel_traits),
		cmocka_unit_test(test_may_peel_asks),
		cmocka_unit_test(test_may_peel_cut),
		cmocka_unit_test(test_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
