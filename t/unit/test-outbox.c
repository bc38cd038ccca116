/* SPDX-License-Identifier: MIT */
/*
 * Tests of daemon/outbox.c, the queue of bytes for a socket: copied bytes and
 * framed ranges of packs are sent in their order. The sent bytes must not
 * depend on how much the socket takes at a time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/outbox.h"
#include "random.h"

#define MAP_LEN ((size_t)6 << 20)

/* Makes random bytes, which stand for a mapped pack. */
static uint8_t *make_map(void)
{
	uint8_t *map = malloc(MAP_LEN);

	assert_non_null(map);
	for (size_t i = 0; i < MAP_LEN; i++)
		map[i] = (uint8_t)(i * 2654435761U >> 13);
	return map;
}

/*
 * Takes up to `max` bytes from the queue and appends them to *out. Returns
 * their number.
 */
static size_t send_piece(struct outbox *box, struct buf *out, size_t max)
{
	struct outbox_block block;
	size_t n = 0;

	outbox_peek(&block, box);
	for (size_t i = 0; i < block.nr && n < max; i++) {
		size_t len = block.iov[i].iov_len;

		if (len > max - n)
			len = max - n;
		assert_int_equal(buf_append(out, block.iov[i].iov_base, len),
				 0);
		n += len;
	}
	outbox_drop(box, n);
	return n;
}

/* ---- a slow model: frames packets and groups of packets one by one */

static void frame_packets(struct buf *out, const uint8_t *p, size_t len,
			  const struct serve_span *span)
{
	if (!span->packet_max)
		buf_append(out, p, len);
	for (size_t at = 0; span->packet_max && at < len;) {
		size_t n = len - at < span->packet_max ? len - at
						       : span->packet_max;

		buf_printf(out, "%04x%c", (unsigned)n + 5, span->band);
		buf_append(out, p + at, n);
		at += n;
	}
}

static void frame(struct buf *out, const struct serve_span *span)
{
	size_t group = span->packet_max ? 16 * (size_t)span->packet_max
					: OUTBOX_GROUP_BYTES;

	for (size_t at = 0; at < span->len;) {
		size_t n = span->len - at < group ? span->len - at : group;
		struct buf packets = BUF_INIT;

		frame_packets(&packets, span->bytes + at, n, span);
		if (span->is_chunked)
			buf_printf(out, "%zx\r\n", packets.len);
		buf_append(out, packets.data, packets.len);
		if (span->is_chunked)
			buf_append_str(out, "\r\n");
		buf_release(&packets);
		at += n;
	}
}

/* ---- tests */

static void test_empty(void **state)
{
	struct outbox box = OUTBOX_INIT;
	struct outbox_block block;

	assert_true(outbox_is_empty(&box));
	assert_int_equal(outbox_add_literal(&box, "", 0), 0);
	assert_true(outbox_is_empty(&box));
	outbox_peek(&block, &box);
	assert_int_equal(block.nr, 0);
	outbox_drop(&box, 0);
	outbox_release(&box);
}

static void test_one_span(void **state)
{
	struct outbox box = OUTBOX_INIT;
	struct buf out = BUF_INIT;
	const struct serve_span span = {(const uint8_t *)"abcdefg", 7, 4, 1,
					true};

	outbox_add_literal(&box, "head", 4);
	outbox_add_span(&box, &span);
	outbox_add_literal(&box, "tail", 4);
	assert_int_equal(outbox_unsent(&box), 4 + 7 + 2 * 5 + 4);
	while (send_piece(&box, &out, 1))
		;
	assert_string_equal(out.data, "head11\r\n0009\001abcd0008\001efg\r\n"
				      "tail");
	assert_true(outbox_is_empty(&box));
	buf_release(&out);
	outbox_release(&box);
}

/*
 * Adds a literal of random length, or a random span (a range of the pack), to
 * *box. Appends the bytes that the client must get for this literal or span to
 * *expected. *at: end of the previous span.
 */
static void add_some(struct outbox *box, struct buf *expected,
		     const uint8_t *map, size_t *at, uint64_t *seed)
{
	static const uint32_t packets[] = {65515, 65515, 0, 995, 7};
	uint64_t r = random_next(seed);
	struct serve_span span = {
		.packet_max = packets[r % 5],
		.band = 1,
		.is_chunked = r >> 8 & 1,
	};

	if (r >> 16 & 1) {
		size_t len = random_next(seed) % 3000;

		outbox_add_literal(box, map, len);
		buf_append(expected, map, len);
		return;
	}
	/*
	 * With a probability of 1/2, the span (range of a pack) follows the
	 * previous span directly. Independently, with a probability of 1/2, the
	 * span has the length of one full group. A group has 16 packets
	 * (OUTBOX_GROUP_PACKETS), which are sent together.
	 */
	if (r >> 17 & 1)
		*at = random_next(seed) % (MAP_LEN / 2);
	span.len = r >> 18 & 1 ? 16 * (size_t)span.packet_max
			       : random_next(seed) % 300000;
	if (!span.len)
		span.len = OUTBOX_GROUP_BYTES;
	if (*at + span.len > MAP_LEN)
		*at = 0;
	span.bytes = map + *at;
	*at += span.len;
	outbox_add_span(box, &span);
	frame(expected, &span);
}

static void test_random(void **state)
{
	uint64_t seed = random_seed();
	uint8_t *map = make_map();

	for (int round = 0; round < 40; round++) {
		struct outbox box = OUTBOX_INIT;
		struct buf out = BUF_INIT, expected = BUF_INIT;
		size_t at = 0, n;

		for (int i = 0; i < 30; i++) {
			add_some(&box, &expected, map, &at, &seed);
			if (random_next(&seed) % 3 == 0)
				send_piece(&box, &out,
					   random_next(&seed) % 400000);
		}
		while ((n = send_piece(&box, &out,
				       1 + random_next(&seed) % 2000000)))
			;
		assert_true(outbox_is_empty(&box));
		assert_int_equal(outbox_unsent(&box), 0);
		assert_int_equal(out.len, expected.len);
		assert_memory_equal(out.data, expected.data, out.len);
		buf_release(&out);
		buf_release(&expected);
		outbox_release(&box);
	}
	free(map);
}

/*
 * Adjacent spans (ranges of a pack) become one entry of the queue, however many
 * there are. So the queue of a large clone is short.
 */
static void test_clone_is_short(void **state)
{
	const uint32_t max = 65515;
	struct outbox box = OUTBOX_INIT;
	uint8_t *map = make_map();
	struct serve_span span = {map, 16 * (size_t)max, max, 1, true};

	for (int i = 0; i < 5; i++) {
		outbox_add_span(&box, &span);
		span.bytes += span.len;
	}
	assert_int_equal(box.nr - box.first, 1);
	/*
	 * A span (range of a pack) ends inside a group of packets. The next
	 * span must then have its own entry in the queue.
	 */
	span.len = 100;
	outbox_add_span(&box, &span);
	span.bytes += span.len;
	outbox_add_span(&box, &span);
	assert_int_equal(box.nr - box.first, 2);
	outbox_release(&box);
	free(map);
}

static void test_limits(void **state)
{
	struct outbox box = OUTBOX_INIT;
	struct buf out = BUF_INIT;
	uint8_t *map = make_map();
	struct serve_span span = {map, 1, 0, 0, false};

	assert_true(outbox_has_room(&box, OUTBOX_LITERAL_MAX));
	assert_false(outbox_has_room(&box, OUTBOX_LITERAL_MAX + 1));
	outbox_add_literal(&box, map, OUTBOX_LITERAL_MAX - 10);
	assert_true(outbox_has_room(&box, 10));
	assert_false(outbox_has_room(&box, 11));
	assert_int_equal(send_piece(&box, &out, 100), 100);
	assert_true(outbox_has_room(&box, 110));
	for (int i = 1; i < OUTBOX_ITEM_MAX; i++) {
		assert_false(outbox_is_full(&box));
		outbox_add_span(&box, &span);
	}
	assert_true(outbox_is_full(&box));
	assert_false(outbox_has_room(&box, 1));
	buf_release(&out);
	outbox_release(&box);
	free(map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_one_span),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_clone_is_short),
		cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
