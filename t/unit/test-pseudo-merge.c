/* SPDX-License-Identifier: MIT */
/*
 * Tests of bitmap/pseudo-merge.c, which parses the section of pseudo-merges of
 * a bitmap index: valid sections, and sections with each kind of error.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "bitmap/pseudo-merge.h"
#include "t/unit/hexdump.h"

/* The bytes of the example in bitmap/pseudo-merge.h. */
static const char example[] =
	"00000002 00000002 00000002 00000000 00000000 00000003 00000000\n"
	"00000004 00000002 00000002 00000000 00000000 0000000f 00000000\n"
	"00000005 00000002 00000002 00000000 00000000 00000012 00000000\n"
	"00000006 00000002 00000002 00000000 00000000 0000003e 00000000\n"
	"00000000 00000000 00001000\n"
	"00000001 80000000 00001094\n"
	"00000004 00000000 00001038\n"
	"00000002 00000000 00001000 00000000 00001038\n"
	"00000000 00001000 00000000 00001038\n"
	"00000002 00000003\n"
	"00000000 00000070 00000000 000000d0\n";

/* Offsets in the section. */
enum {
	/* Offset in bytes of the section of pseudo-merges in the file. */
	START = 0x1000,
	ROW_1 = 0x7c,
	ROW_4 = 0x88,
	EXTENDED = 0x94,
	POSITION_0 = 0xa8,
	MERGE_NR = 0xb8,
	ROW_NR = 0xbc,
	TO_LOOKUP = 0xc0,
	SECTION_LEN = 0xc8,
	EXAMPLE_LEN = 0xd0,
	OBJECT_NR = 6,
};

/*
 * Returns a copy of the example file, which a test may change. Its memory ends
 * at the end of the file, so that AddressSanitizer reports a read past the end.
 */
static uint8_t *example_file(void)
{
	uint8_t *file = calloc(1, START + EXAMPLE_LEN);
	struct buf section = BUF_INIT;

	hexdump_parse(&section, example);
	assert_int_equal(section.len, EXAMPLE_LEN);
	assert_non_null(file);
	memcpy(file + START, section.data, section.len);
	buf_release(&section);
	return file;
}

static int parse(struct pseudo_merges *pm, const uint8_t *file,
		 struct error *err)
{
	return pseudo_merges_parse(pm, file, 0, START + EXAMPLE_LEN, OBJECT_NR,
				   "x.bitmap", err);
}

static unsigned bits_of(const struct ewah_view *view)
{
	unsigned bits = 0;

	for (unsigned i = 0; i < OBJECT_NR; i++)
		bits |= (unsigned)ewah_test(view, i) << i;
	return bits;
}

static int note(void *ctx, uint32_t nr)
{
	*(unsigned *)ctx |= 1u << nr;
	return 0;
}

static unsigned of(const struct pseudo_merges *pm, uint32_t bit)
{
	unsigned found = 0;

	assert_int_equal(pseudo_merges_each_of(pm, bit, note, &found, NULL), 0);
	return found;
}

static void the_example(void **state)
{
	static const unsigned expect[OBJECT_NR] = {1, 3, 0, 0, 2, 0};
	uint8_t *file = example_file();
	struct pseudo_merges pm;
	struct pseudo_merge merge;

	assert_int_equal(parse(&pm, file, NULL), 0);
	assert_int_equal(pm.start, START);
	assert_int_equal(pm.nr, 2);
	assert_int_equal(pm.row_nr, 3);
	assert_int_equal(pseudo_merges_view(&merge, &pm, 0, NULL), 0);
	assert_int_equal(bits_of(&merge.commits), 0x3);
	assert_int_equal(bits_of(&merge.objects), 0xf);
	assert_int_equal(pseudo_merges_view(&merge, &pm, 1, NULL), 0);
	assert_int_equal(bits_of(&merge.commits), 0x12);
	assert_int_equal(bits_of(&merge.objects), 0x3e);
	for (uint32_t bit = 0; bit < OBJECT_NR; bit++)
		assert_int_equal(of(&pm, bit), expect[bit]);
	assert_int_equal(of(&pm, UINT32_MAX), 0);
	assert_int_equal(pseudo_merges_verify(&pm, NULL), 0);
	free(file);
}

static int count(void *ctx, uint32_t nr)
{
	++*(unsigned *)ctx;
	return 0;
}

/*
 * An extended entry of the section of pseudo-merges may name a pseudo-merge
 * twice. Stock Git writes one item for each ref that points to the commit of
 * the entry.
 */
static void names_a_pseudo_merge_twice(void **state)
{
	/*
	 * The extended entry of commit 1 has three offsets: it names two
	 * pseudo-merges, one of them twice. Each row has the offsets of one
	 * case. The entry is 8 bytes longer than in the example, so all bytes
	 * after it move.
	 */
	static const uint64_t offsets[][3] = {
		{0x1000, 0x1000, 0x1038},
		{0x1000, 0x1038, 0x1038},
		{0x1038, 0x1000, 0x1038},
	};

	for (size_t i = 0; i < ARRAY_NR(offsets); i++) {
		uint8_t *file = realloc(example_file(),
					START + EXAMPLE_LEN + 8);
		uint8_t *entry = file + START + EXTENDED;
		struct pseudo_merges pm;
		unsigned visits = 0;

		assert_non_null(file);
		memmove(file + START + POSITION_0 + 8,
			file + START + POSITION_0, EXAMPLE_LEN - POSITION_0);
		store_be64(file + START + SECTION_LEN + 8, EXAMPLE_LEN + 8);
		store_be32(entry, 3);
		for (size_t k = 0; k < 3; k++)
			store_be64(entry + 4 + 8 * k, offsets[i][k]);
		assert_int_equal(pseudo_merges_parse(&pm, file, 0,
						     START + EXAMPLE_LEN + 8,
						     OBJECT_NR, "x", NULL),
				 0);
		assert_int_equal(pseudo_merges_verify(&pm, NULL), 0);
		assert_int_equal(of(&pm, 1), 3);
		assert_int_equal(
			pseudo_merges_each_of(&pm, 1, count, &visits, NULL), 0);
		assert_int_equal(visits, i < 2 ? 2 : 3);
		free(file);
	}
}

static int stop(void *ctx, uint32_t nr)
{
	return 7;
}

static void visits_stop(void **state)
{
	uint8_t *file = example_file();
	struct pseudo_merges pm;

	assert_int_equal(parse(&pm, file, NULL), 0);
	assert_int_equal(pseudo_merges_each_of(&pm, 1, stop, NULL, NULL), 7);
	assert_int_equal(pseudo_merges_each_of(&pm, 2, stop, NULL, NULL), 0);
	free(file);
}

static void wrong_sizes(void **state)
{
	static const struct {
		size_t at;
		uint64_t value; /* stored in 8 bytes */
	} wrong[] = {
		{SECTION_LEN, 23},
		{SECTION_LEN, START + EXAMPLE_LEN + 1},
		{SECTION_LEN, UINT64_MAX},
		{TO_LOOKUP, 0x85},
		{TO_LOOKUP, UINT64_MAX},
		{MERGE_NR, UINT64_C(0x1a) << 32 | 3},
		{MERGE_NR, UINT64_MAX},
		{MERGE_NR, UINT64_C(2) << 32 | 5},
		{MERGE_NR, UINT64_C(2) << 32 | UINT32_MAX},
	};

	for (size_t i = 0; i < ARRAY_NR(wrong); i++) {
		uint8_t *file = example_file();
		struct error err = ERROR_INIT;
		struct pseudo_merges pm;

		store_be64(file + START + wrong[i].at, wrong[i].value);
		assert_int_equal(parse(&pm, file, &err), ERR_CORRUPT);
		assert_null(pm.bytes);
		assert_int_equal(pm.nr, 0);
		assert_non_null(strstr(err.msg, "x.bitmap"));
		free(file);
	}
}

/*
 * The section of pseudo-merges must not begin before the end of the bitmap
 * entries.
 */
static void cut_short(void **state)
{
	uint8_t *file = example_file();
	struct pseudo_merges pm;

	for (uint64_t from = START - 2; from <= START + EXAMPLE_LEN; from++)
		assert_int_equal(pseudo_merges_parse(&pm, file, from,
						     START + EXAMPLE_LEN,
						     OBJECT_NR, "x", NULL),
				 from <= START ? 0 : ERR_CORRUPT);
	free(file);
}

static void wrong_contents(void **state)
{
	static const struct {
		size_t at;
		uint32_t value;
		const char *message;
	} wrong[] = {
		{POSITION_0 + 4, 0xfff, "no pseudo-merge begins"},
		{POSITION_0 + 4, START + 0x71, "no pseudo-merge begins"},
		{POSITION_0 + 4, START + 0x38, "no pseudo-merge begins here"},
		{POSITION_0, 1, "no pseudo-merge begins here"},
		{0, 65, "larger than its pack"},
		{4, 3, "malformed"},
		{0x1c + 4, UINT32_MAX, "malformed"},
		{0x4c, 0x1a, "without a lookup row"},
		{0x14, 1, "lacks a commit"},
		{ROW_1, 0, "lacks a commit"},
		{ROW_4, 6, "out of order"},
		{ROW_4, 3, "lacks a commit"},
		{ROW_1 + 8, START + 0x90, "no extended"},
		{ROW_1 + 8, START + 0xa9, "no extended"},
		{ROW_1 + 8, START + 0xa6, "cut short"},
		{EXTENDED, 3, "cut short"},
		{EXTENDED, 1, "without a lookup row"},
		{EXTENDED + 8, START + 4, "no pseudo-merge begins here"},
	};

	for (size_t i = 0; i < ARRAY_NR(wrong); i++) {
		uint8_t *file = example_file();
		struct error err = ERROR_INIT;
		struct pseudo_merges pm;

		store_be32(file + START + wrong[i].at, wrong[i].value);
		assert_int_equal(parse(&pm, file, NULL), 0);
		if (pseudo_merges_verify(&pm, &err) != ERR_CORRUPT)
			fail_msg("%zu is accepted", i);
		if (!strstr(err.msg, wrong[i].message))
			fail_msg("%zu: %s", i, err.msg);
		free(file);
	}
}

static void positions_out_of_range(void **state)
{
	static const uint64_t wrong[] = {0, START - 1, START + 0x71,
					 UINT64_MAX};

	for (size_t i = 0; i < ARRAY_NR(wrong); i++) {
		uint8_t *file = example_file();
		struct error err = ERROR_INIT;
		struct pseudo_merges pm;
		struct pseudo_merge merge;

		store_be64(file + START + POSITION_0, wrong[i]);
		assert_int_equal(parse(&pm, file, NULL), 0);
		assert_int_equal(pseudo_merges_view(&merge, &pm, 0, &err),
				 ERR_CORRUPT);
		assert_non_null(strstr(err.msg, "out of range"));
		free(file);
	}
}

/*
 * After any byte was changed, parsing fails, or all results are within range.
 */
static void changed_bytes(void **state)
{
	for (size_t at = 0; at < EXAMPLE_LEN; at++)
		for (int with = 1; with < 256; with += 63) {
			uint8_t *file = example_file();
			struct pseudo_merges pm;
			struct pseudo_merge merge;
			unsigned found = 0;

			file[START + at] ^= (uint8_t)with;
			if (parse(&pm, file, NULL) < 0) {
				free(file);
				continue;
			}
			for (uint32_t nr = 0; nr < pm.nr; nr++)
				pseudo_merges_view(&merge, &pm, nr, NULL);
			for (uint32_t bit = 0; bit < OBJECT_NR; bit++)
				pseudo_merges_each_of(&pm, bit, note, &found,
						      NULL);
			pseudo_merges_verify(&pm, NULL);
			assert_true(found < 1u << EXAMPLE_LEN / 8);
			free(file);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_example),
		cmocka_unit_test(names_a_pseudo_merge_twice),
		cmocka_unit_test(visits_stop),
		cmocka_unit_test(wrong_sizes),
		cmocka_unit_test(cut_short),
		cmocka_unit_test(wrong_contents),
		cmocka_unit_test(positions_out_of_range),
		cmocka_unit_test(changed_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
