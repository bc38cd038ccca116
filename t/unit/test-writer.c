/* SPDX-License-Identifier: MIT */
/*
 * Tests of pack/writer.c, which passes the bytes of a pack to a sink: they
 * arrive in order, and are hashed and counted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "pack/inflate.h"
#include "pack/writer.h"
#include "t/unit/random.h"
#include "sys/map.h"

struct collector {
	struct buf got;
	const void *last; /* the last span received */
	/* Number of puts that succeed before the sink fails. */
	size_t fail_after;
};

static int collect(void *ctx, const void *bytes, size_t len, struct error *err)
{
	struct collector *c = ctx;

	if (!c->fail_after--)
		return error_set(err, ERR_PEER, "went away");
	c->last = bytes;
	return buf_append(&c->got, bytes, len);
}

static struct pack_sink sink_of(struct collector *c)
{
	return (struct pack_sink){.put = collect, .ctx = c};
}

static void check_trailer(const struct buf *pack, const struct oid *checksum,
			  enum hash_algo algo)
{
	size_t len = pack->len - hash_len(algo);
	struct hash_ctx h;
	struct oid want;

	assert_int_equal(hash_init(&h, algo), 0);
	hash_update(&h, pack->data, len);
	hash_final(&h, &want);
	hash_release(&h);
	assert_memory_equal(pack->data + len, want.bytes, hash_len(algo));
	assert_true(oid_equal(checksum, &want));
}

static void empty_pack(void **state)
{
	struct collector c = {BUF_INIT, NULL, SIZE_MAX};
	struct pack_writer w;
	struct oid sum;

	assert_int_equal(
		pack_writer_init(&w, sink_of(&c), 0, HASH_SHA1, false, NULL),
		0);
	assert_int_equal(w.off, 12);
	assert_int_equal(pack_writer_finish(&w, &sum, NULL), 0);
	pack_writer_release(&w);
	assert_int_equal(c.got.len, 32);
	assert_memory_equal(c.got.data, "PACK\0\0\0\2\0\0\0\0", 12);
	check_trailer(&c.got, &sum, HASH_SHA1);
	buf_release(&c.got);
}

/* Writes pieces of all sizes. Compares the output with one plain buffer. */
static void check_spans(enum hash_algo algo, uint64_t *seed)
{
	struct collector c = {BUF_INIT, NULL, SIZE_MAX};
	struct buf want = BUF_INIT;
	struct pack_writer w;
	struct oid sum;

	assert_int_equal(
		pack_writer_init(&w, sink_of(&c), 70000, algo, true, NULL), 0);
	assert_int_equal(buf_append(&want, "PACK\0\0\0\2\0\1\x11\x70", 12), 0);
	for (int i = 0; i < 200; i++) {
		static const size_t most[] = {40, 5000, 16 << 10, 200 << 10};
		size_t len = random_next(seed) % (most[i % 4] + 1);
		uint64_t off = pack_writer_begin_entry(&w);
		uint32_t crc;
		size_t cut;

		assert_int_equal(off, want.len);
		assert_int_equal(buf_reserve(&want, len), 0);
		for (size_t k = 0; k < len; k++)
			want.data[want.len + k] = (char)random_next(seed);
		cut = len ? random_next(seed) % len : 0;
		assert_int_equal(
			pack_writer_put(&w, want.data + want.len, cut, NULL),
			0);
		assert_int_equal(pack_writer_put(&w, want.data + want.len + cut,
						 len - cut, NULL),
				 0);
		crc = pack_crc32(0, want.data + want.len, len);
		assert_true(w.crc == crc);
		buf_set_len(&want, want.len + len);
	}
	assert_int_equal(pack_writer_finish(&w, &sum, NULL), 0);
	assert_int_equal(w.off, c.got.len);
	pack_writer_release(&w);
	assert_int_equal(c.got.len, want.len + hash_len(algo));
	assert_memory_equal(c.got.data, want.data, want.len);
	check_trailer(&c.got, &sum, algo);
	buf_release(&c.got);
	buf_release(&want);
}

static void spans_of_all_sizes(void **state)
{
	uint64_t seed = random_seed();

	check_spans(HASH_SHA1, &seed);
	check_spans(HASH_SHA256, &seed);
}

static int collect_file(void *ctx, const struct sys_file_span *span,
			struct error *err)
{
	assert_int_equal(span->fd, 77);
	return collect(ctx, span->bytes, span->len, err);
}

/*
 * Large ranges of a file are passed to the sink as parts of the file, if the
 * sink can take them. Small ranges are passed as bytes.
 */
static void spans_of_a_file(void **state)
{
	static const uint8_t bytes[100000];
	const struct sys_file_span span = {bytes, sizeof(bytes), 77, 0};
	const struct sys_file_span small = {bytes, 100, 1, 0};

	for (int takes = 0; takes < 2; takes++) {
		struct collector c = {BUF_INIT, NULL, SIZE_MAX};
		struct pack_sink sink = sink_of(&c);
		struct pack_writer w;
		struct oid sum;

		sink.put_file = takes ? collect_file : NULL;
		assert_int_equal(
			pack_writer_init(&w, sink, 1, HASH_SHA1, true, NULL),
			0);
		pack_writer_begin_entry(&w);
		assert_int_equal(pack_writer_put_file(&w, &small, NULL), 0);
		assert_int_equal(pack_writer_put_file(&w, &span, NULL), 0);
		assert_ptr_equal(c.last, bytes);
		assert_true(w.crc == pack_crc32(pack_crc32(0, bytes, 100),
						bytes, sizeof(bytes)));
		assert_int_equal(w.off, 12 + 100 + sizeof(bytes));
		assert_int_equal(pack_writer_finish(&w, &sum, NULL), 0);
		check_trailer(&c.got, &sum, HASH_SHA1);
		pack_writer_release(&w);
		buf_release(&c.got);
	}
}

/*
 * If the caller knows the checksum of the pack in advance, this checksum
 * becomes the trailer. The trailer does not depend on the written bytes.
 */
static void a_known_checksum(void **state)
{
	struct collector c = {BUF_INIT, NULL, SIZE_MAX};
	uint8_t *span = calloc(1, 100000);
	struct pack_writer w;
	struct oid sum;

	assert_non_null(span);
	assert_int_equal(
		pack_writer_init(&w, sink_of(&c), 3, HASH_SHA1, false, NULL),
		0);
	w.has_checksum = true;
	memset(w.checksum.bytes, 0x5a, 20);
	assert_int_equal(pack_writer_put(&w, span, 100000, NULL), 0);
	assert_int_equal(pack_writer_put(&w, span, 3, NULL), 0);
	assert_int_equal(pack_writer_finish(&w, &sum, NULL), 0);
	assert_int_equal(c.got.len, 12 + 100003 + 20);
	assert_true(oid_equal(&sum, &w.checksum));
	assert_memory_equal(c.got.data + 12 + 100003, w.checksum.bytes, 20);
	pack_writer_release(&w);
	buf_release(&c.got);
	free(span);
}

static void large_spans_are_not_copied(void **state)
{
	static const uint8_t span[100000];
	struct collector c = {BUF_INIT, NULL, SIZE_MAX};
	struct pack_writer w;

	assert_int_equal(
		pack_writer_init(&w, sink_of(&c), 1, HASH_SHA1, false, NULL),
		0);
	assert_int_equal(c.got.len, 0);
	assert_int_equal(pack_writer_put(&w, span, sizeof(span), NULL), 0);
	assert_ptr_equal(c.last, span);
	assert_int_equal(c.got.len, 12 + sizeof(span));
	pack_writer_release(&w);
	buf_release(&c.got);
}

/*
 * The last buffered bytes and the trailer are passed to the sink in one call if
 * they fit into the buffer together.
 */
static void trailer_comes_along(void **state)
{
	static const uint8_t span[16000];
	/*
	 * The header has 12 bytes, and the trailer 20. Together with the spans
	 * and 1504 more bytes, they fill the buffer of 64 KiB. With 1505 more
	 * bytes, the trailer does not fit.
	 */
	static const size_t last_lens[] = {0, 1504, 1505};

	for (size_t k = 0; k < ARRAY_NR(last_lens); k++) {
		struct collector c = {BUF_INIT, NULL, 2};
		struct pack_writer w;
		struct oid sum;

		assert_int_equal(pack_writer_init(&w, sink_of(&c), 1, HASH_SHA1,
						  false, NULL),
				 0);
		for (size_t i = 0; i < 4; i++)
			assert_int_equal(
				pack_writer_put(&w, span, sizeof(span), NULL),
				0);
		assert_int_equal(pack_writer_put(&w, span, last_lens[k], NULL),
				 0);
		assert_int_equal(pack_writer_finish(&w, &sum, NULL), 0);
		assert_int_equal(c.fail_after, k == 2 ? 0 : 1);
		check_trailer(&c.got, &sum, HASH_SHA1);
		pack_writer_release(&w);
		buf_release(&c.got);
	}
}

static void flushed_bytes_do_not_wait(void **state)
{
	struct collector c = {BUF_INIT, NULL, 1};
	struct pack_writer w;

	assert_int_equal(
		pack_writer_init(&w, sink_of(&c), 1, HASH_SHA1, false, NULL),
		0);
	assert_int_equal(c.got.len, 0);
	assert_int_equal(pack_writer_flush(&w, NULL), 0);
	assert_int_equal(c.got.len, 12);
	/* Nothing is left in the buffer, so the sink is not called. */
	assert_int_equal(pack_writer_flush(&w, NULL), 0);
	assert_int_equal(pack_writer_put(&w, "x", 1, NULL), 0);
	assert_int_equal(pack_writer_flush(&w, NULL), ERR_PEER);
	pack_writer_release(&w);
	buf_release(&c.got);
}

static void errors_of_the_sink_come_back(void **state)
{
	static const uint8_t span[100000];

	for (size_t n = 0; n < 3; n++) {
		struct collector c = {BUF_INIT, NULL, n};
		struct error err = ERROR_INIT;
		struct pack_writer w;
		struct oid sum;
		int ret;

		assert_int_equal(pack_writer_init(&w, sink_of(&c), 1, HASH_SHA1,
						  false, &err),
				 0);
		ret = pack_writer_put(&w, span, sizeof(span), &err);
		if (!ret)
			ret = pack_writer_put(&w, span, 10, &err);
		if (!ret)
			ret = pack_writer_finish(&w, &sum, &err);
		assert_int_equal(ret, ERR_PEER);
		assert_string_equal(err.msg, "went away");
		pack_writer_release(&w);
		buf_release(&c.got);
	}
}

static void open_file(struct pack_file_sink *fs, struct sys_tempfile *tf)
{
	assert_int_equal(
		sys_tempfile_create(tf, "/tmp", "gitreach-sink-", 0600, NULL),
		0);
	assert_int_equal(pack_file_sink_init(fs, tf, NULL), 0);
}

static size_t file_len(const struct sys_tempfile *tf)
{
	return (size_t)lseek(tf->fd, 0, SEEK_END);
}

/* Writes small and large pieces. The file grows in blocks. */
static void pieces(void **state)
{
	uint64_t seed = random_seed();
	struct buf want = BUF_INIT, got = BUF_INIT;
	struct pack_file_sink fs;
	struct sys_tempfile tf;
	struct pack_sink sink;

	open_file(&fs, &tf);
	sink = pack_file_sink(&fs);
	for (int i = 0; i < 60; i++) {
		size_t len = (size_t)(random_next(&seed) %
				      (i % 10 ? 300000 : 5 << 20));
		size_t at = want.len;

		assert_int_equal(buf_reserve(&want, len + 1), 0);
		for (size_t k = 0; k < len; k++)
			want.data[at + k] = (char)(at + k + len);
		buf_set_len(&want, at + len);
		assert_int_equal(
			pack_sink_put_file(
				&sink,
				&(struct sys_file_span){
					.bytes = (uint8_t *)want.data + at,
					.len = len,
					.fd = -1},
				NULL),
			0);
		assert_true(file_len(&tf) ==
			    want.len / PACK_FILE_BLOCK * PACK_FILE_BLOCK);
	}
	assert_int_equal(pack_file_sink_flush(&fs, NULL), 0);
	assert_int_equal(pack_file_sink_flush(&fs, NULL), 0);
	assert_int_equal(sys_read_file(&got, tf.path, NULL), 0);
	assert_true(got.len == want.len);
	assert_memory_equal(got.data, want.data, want.len);
	pack_file_sink_release(&fs);
	sys_tempfile_abort(&tf);
	buf_release(&want);
	buf_release(&got);
}

static void failures(void **state)
{
	struct error err = ERROR_INIT;
	struct pack_file_sink fs;
	struct sys_tempfile tf;
	struct pack_sink sink;

	open_file(&fs, &tf);
	sink = pack_file_sink(&fs);
	close(tf.fd);
	tf.fd = -1;
	assert_int_equal(sink.put(sink.ctx, "bytes", 5, &err), 0);
	assert_int_equal(pack_file_sink_flush(&fs, &err), ERR_IO);
	assert_non_null(strstr(err.msg, "gitreach-sink-"));
	pack_file_sink_release(&fs);
	sys_tempfile_abort(&tf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_pack),
		cmocka_unit_test(spans_of_all_sizes),
		cmocka_unit_test(spans_of_a_file),
		cmocka_unit_test(a_known_checksum),
		cmocka_unit_test(large_spans_are_not_copied),
		cmocka_unit_test(trailer_comes_along),
		cmocka_unit_test(flushed_bytes_do_not_wait),
		cmocka_unit_test(errors_of_the_sink_come_back),
		cmocka_unit_test(pieces),
		cmocka_unit_test(failures),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
