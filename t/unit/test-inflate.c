/* SPDX-License-Identifier: MIT */
/*
 * Tests of pack/inflate.c, which compresses and inflates streams. They prove
 * that the results equal those of zlib, and that incomplete or changed streams
 * are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <zlib.h>

#include "base/mem.h"
#include "pack/inflate.h"
#include "t/unit/random.h"

/* Makes bytes that can be compressed a little. */
static uint8_t *make_text(uint64_t *seed, size_t len)
{
	uint8_t *text = mem_alloc(len, 1);

	assert_non_null(text);
	for (size_t i = 0; i < len; i++) {
		uint64_t r = random_next(seed);

		text[i] = i > 40 && r & 7 ? text[i - 1 - (r >> 8) % 40]
					  : (uint8_t)(r >> 16);
	}
	return text;
}

static void *exact_copy(const void *bytes, size_t len)
{
	void *copy = mem_alloc(len, 1);

	assert_non_null(copy);
	memcpy(copy, bytes, len);
	return copy;
}

static void check_round_trip(struct inflater *inf, int level, size_t len,
			     uint64_t *seed)
{
	struct deflater *def = deflater_new(level);
	uint8_t *text = make_text(seed, len);
	uint8_t *back = mem_alloc(len + 1, 1);
	struct buf b = BUF_INIT;
	size_t used = 0, stream_len;
	uLongf zlib_len = len;

	assert_non_null(def);
	assert_int_equal(buf_append(&b, "ab", 2), 0);
	assert_int_equal(deflater_append(def, &b, text, len), 0);
	assert_memory_equal(b.data, "ab", 2);
	stream_len = b.len - 2;
	assert_int_equal(buf_append(&b, "behind", 6), 0);

	back[len] = 0x5a;
	assert_int_equal(
		inflater_exact(inf, back, len, b.data + 2, b.len - 2, &used),
		0);
	assert_int_equal(used, stream_len);
	assert_memory_equal(back, text, len);
	assert_int_equal(back[len], 0x5a);
	assert_int_equal(
		uncompress(back, &zlib_len, (uint8_t *)b.data + 2, stream_len),
		Z_OK);
	assert_int_equal(zlib_len, len);
	assert_memory_equal(back, text, len);

	/*
	 * The stream is refused if the caller expects one byte more or one byte
	 * less than the stream inflates to.
	 */
	assert_int_equal(inflater_exact(inf, back, len + 1, b.data + 2,
					stream_len, NULL),
			 ERR_CORRUPT);
	if (len)
		assert_int_equal(inflater_exact(inf, back, len - 1, b.data + 2,
						stream_len, NULL),
				 ERR_CORRUPT);
	buf_release(&b);
	free(back);
	free(text);
	deflater_free(def);
}

static void test_round_trip(void **state)
{
	static const size_t lens[] = {0, 1, 2, 100, 4095, 70000, 300000};
	struct inflater *inf = inflater_new();
	uint64_t seed = random_seed();

	assert_non_null(inf);
	for (int level = -1; level <= 9; level += 2)
		for (size_t i = 0; i < ARRAY_NR(lens); i++)
			check_round_trip(inf, level, lens[i], &seed);
	check_round_trip(inf, 0, 70000, &seed);
	inflater_free(inf);
	inflater_free(NULL);
	deflater_free(NULL);
}

/* At compression level 0, the deflater stores the bytes uncompressed. */
static void test_stored(void **state)
{
	static const char zeros[100000];
	struct deflater *def = deflater_new(0);
	struct buf out = BUF_INIT;

	assert_non_null(def);
	assert_int_equal(deflater_append(def, &out, zeros, sizeof(zeros)), 0);
	assert_true(out.len >= sizeof(zeros));
	buf_release(&out);
	deflater_free(def);
}

/*
 * One deflater makes small and large streams in random order. For small
 * streams, the deflater uses zlib SMALL_NR times, and then libdeflate. The test
 * makes more than SMALL_NR small streams.
 */
static void test_many(void **state)
{
	static const size_t lens[] = {0, 40, 600, 4096, 4097, 9000};
	struct inflater *inf = inflater_new();
	struct deflater *def = deflater_new(-1);
	uint64_t seed = random_seed();
	struct buf b = BUF_INIT;
	char text[9000], out[9000];

	assert_true(inf && def);
	for (int i = 0; i < 600; i++) {
		size_t len = lens[random_next(&seed) % ARRAY_NR(lens)];

		for (size_t k = 0; k < len; k++)
			text[k] = (char)('a' + random_next(&seed) % 4);
		buf_reset(&b);
		assert_int_equal(deflater_append(def, &b, text, len), 0);
		assert_true(b.len < len / 2 + 20);
		assert_int_equal(
			inflater_exact(inf, out, len, b.data, b.len, NULL), 0);
		assert_memory_equal(out, text, len);
	}
	buf_release(&b);
	deflater_free(def);
	inflater_free(inf);
}

/*
 * The caller of inflater_up_to() gives a maximum size. Streams of at most this
 * size are inflated. Larger, truncated and damaged streams are refused.
 */
static void test_up_to(void **state)
{
	enum { LEN = 5000 };
	struct inflater *inf = inflater_new();
	struct deflater *def = deflater_new(-1);
	uint64_t seed = random_seed();
	uint8_t *text = make_text(&seed, LEN);
	uint8_t back[LEN + 10];
	size_t had, used, len;
	struct buf b = BUF_INIT;

	assert_true(inf && def);
	assert_int_equal(deflater_append(def, &b, text, LEN), 0);
	len = b.len;
	assert_int_equal(buf_append(&b, "behind", 6), 0);
	for (size_t room = LEN; room <= sizeof(back); room += 5) {
		assert_int_equal(inflater_up_to(inf, back, room, &had, b.data,
						b.len, &used),
				 0);
		assert_int_equal(had, LEN);
		assert_int_equal(used, len);
		assert_memory_equal(back, text, LEN);
	}
	for (size_t room = 1; room < LEN; room += 777)
		assert_int_equal(inflater_up_to(inf, back, room, &had, b.data,
						b.len, &used),
				 1);
	for (size_t cut = 0; cut < len; cut += 13)
		assert_int_equal(inflater_up_to(inf, back, sizeof(back), &had,
						b.data, cut, &used),
				 ERR_CORRUPT);
	b.data[len - 1] ^= 1;
	assert_int_equal(inflater_up_to(inf, back, sizeof(back), &had, b.data,
					len, &used),
			 ERR_CORRUPT);
	buf_release(&b);
	free(text);
	deflater_free(def);
	inflater_free(inf);
}

static void test_prefix(void **state)
{
	enum { LEN = 5000 };
	struct inflater *inf = inflater_new();
	struct deflater *def = deflater_new(-1);
	uint64_t seed = random_seed();
	uint8_t *text = make_text(&seed, LEN);
	uint8_t back[LEN + 10];
	struct buf b = BUF_INIT;

	assert_int_equal(deflater_append(def, &b, text, LEN), 0);
	for (size_t want = 0; want <= LEN; want += 250) {
		memset(back, 0x5a, sizeof(back));
		assert_int_equal(
			inflater_prefix(inf, back, want, b.data, b.len), want);
		assert_memory_equal(back, text, want);
		assert_int_equal(back[want], 0x5a);
	}
	assert_int_equal(inflater_prefix(inf, back, LEN + 10, b.data, b.len),
			 LEN);
	assert_int_equal(inflater_prefix(inf, back, LEN, b.data, b.len / 2),
			 ERR_CORRUPT);
	assert_int_equal(inflater_prefix(inf, back, 10, b.data, b.len / 2), 10);
	assert_int_equal(inflater_prefix(inf, back, 10, "no stream", 9),
			 ERR_CORRUPT);
	assert_int_equal(inflater_prefix(inf, back, 10, NULL, 0), ERR_CORRUPT);
	buf_release(&b);
	free(text);
	deflater_free(def);
	inflater_free(inf);
}

/*
 * Incomplete streams are refused. A changed stream is refused, or inflates to
 * the original bytes.
 */
static void test_corrupt(void **state)
{
	enum { LEN = 600 };
	struct inflater *inf = inflater_new();
	struct deflater *def = deflater_new(6);
	uint64_t seed = random_seed();
	uint8_t *text = make_text(&seed, LEN);
	uint8_t *back = mem_alloc(LEN, 1);
	struct buf b = BUF_INIT;

	assert_int_equal(deflater_append(def, &b, text, LEN), 0);
	for (size_t len = 0; len < b.len; len++) {
		uint8_t *cut = exact_copy(b.data, len);

		assert_int_equal(inflater_exact(inf, back, LEN, cut, len, NULL),
				 ERR_CORRUPT);
		free(cut);
	}
	for (size_t i = 0; i < b.len; i++) {
		uint8_t *changed = exact_copy(b.data, b.len);
		int ret;

		changed[i] ^= (uint8_t)(random_next(&seed) % 255 + 1);
		ret = inflater_exact(inf, back, LEN, changed, b.len, NULL);
		if (!ret)
			assert_memory_equal(back, text, LEN);
		else
			assert_int_equal(ret, ERR_CORRUPT);
		inflater_prefix(inf, back, LEN, changed, b.len);
		free(changed);
	}
	assert_int_equal(inflater_exact(inf, back, LEN, b.data, b.len, NULL),
			 0);
	buf_release(&b);
	free(back);
	free(text);
	deflater_free(def);
	inflater_free(inf);
}

/*
 * A stream arrives in pieces of random sizes, and other bytes follow the
 * stream. Inflating it must give the whole content, and must leave the other
 * bytes unread.
 */
static void test_pieces(void **state)
{
	enum { LEN = 5000 };
	struct inflater *inf = inflater_new();
	struct deflater *def = deflater_new(6);
	uint64_t seed = random_seed();
	uint8_t *text = make_text(&seed, LEN);
	uint8_t *back = mem_alloc(LEN, 1);
	struct buf b = BUF_INIT;

	assert_int_equal(deflater_append(def, &b, text, LEN), 0);
	assert_int_equal(buf_append_str(&b, "behind"), 0);
	for (int round = 0; round < 50; round++) {
		size_t in = 0, out = 0;
		int ret = 0;

		assert_int_equal(inflater_start(inf), 0);
		while (!ret) {
			size_t src_len = random_next(&seed) % 100;
			size_t dst_len = random_next(&seed) % 300;

			if (src_len > b.len - in)
				src_len = b.len - in;
			if (dst_len > LEN - out)
				dst_len = LEN - out;
			ret = inflater_feed(inf, back + out, &dst_len,
					    b.data + in, &src_len);
			in += src_len;
			out += dst_len;
		}
		assert_int_equal(ret, 1);
		assert_int_equal(in, b.len - strlen("behind"));
		assert_int_equal(out, LEN);
		assert_memory_equal(back, text, LEN);
	}
	buf_release(&b);
	free(back);
	free(text);
	deflater_free(def);
	inflater_free(inf);
}

static void test_crc(void **state)
{
	uint32_t crc = pack_crc32(0, "12345", 5);

	/*
	 * The expected value is the published check value of CRC-32: the CRC of
	 * "123456789".
	 */
	assert_int_equal(pack_crc32(crc, "6789", 4), 0xcbf43926);
	assert_int_equal(pack_crc32(0, "", 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_stored),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_up_to),
		cmocka_unit_test(test_prefix),
		cmocka_unit_test(test_corrupt),
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_crc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
