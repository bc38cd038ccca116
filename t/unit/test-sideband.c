/* SPDX-License-Identifier: MIT */
/*
 * Tests of wire/sideband.c, which frames bytes in side-band packets: the bytes
 * can be read back, and no packet is too large.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "wire/sideband.h"

struct sink {
	struct buf out;
	/* Number of calls of writev(). */
	size_t writes;
	/* Largest number of pieces in one writev(). */
	size_t largest_write;
	/* Number of bytes that were sent from a file. */
	size_t file_bytes;
	bool fail;
};

static ssize_t no_read(void *ctx, void *bytes, size_t len, struct error *err)
{
	return 0;
}

static int collect(void *ctx, struct iovec *iov, size_t nr, struct error *err)
{
	struct sink *s = ctx;

	if (s->fail)
		return error_set(err, ERR_PEER, "gone");
	s->writes++;
	if (nr > s->largest_write)
		s->largest_write = nr;
	for (size_t i = 0; i < nr; i++)
		buf_append(&s->out, iov[i].iov_base, iov[i].iov_len);
	return 0;
}

static int collect_file(void *ctx, const void *head, size_t len,
			const struct sys_file_span *span, struct error *err)
{
	struct iovec iov[2] = {{(void *)head, len},
			       {(void *)span->bytes, span->len}};

	struct sink *s = ctx;

	assert_int_equal(span->fd, 77);
	assert_int_equal(span->off, 5 + s->file_bytes);
	s->file_bytes += span->len;
	return collect(ctx, iov, 2, err);
}

struct fixture {
	struct sink sink;
	struct serve_io io;
	struct pktline_writer out;
	struct sideband sb;
};

static void start(struct fixture *f, enum sideband_mode mode)
{
	memset(f, 0, sizeof(*f));
	buf_init(&f->sink.out);
	f->io = (struct serve_io){
		.read = no_read, .writev = collect, .ctx = &f->sink};
	pktline_writer_init(&f->out, &f->io);
	sideband_init(&f->sb, &f->out, mode);
}

static void stop(struct fixture *f)
{
	sideband_release(&f->sb);
	pktline_writer_release(&f->out);
	buf_release(&f->sink.out);
}

/* Append the bytes that were sent on band `band` to *out. */
static void demultiplex(struct buf *out, const struct sink *s, char band,
			size_t packet_max)
{
	struct cursor c = cursor_make(s->out.data, s->out.len);
	struct pktline p;

	while (pktline_parse(&p, &c, NULL) > 0) {
		assert_int_equal(p.kind, PKTLINE_DATA);
		assert_true(p.len > 1);
		assert_true(p.len + PKTLINE_HEADER <= packet_max);
		if (*p.data == band)
			buf_append(out, p.data + 1, p.len - 1);
	}
	assert_int_equal(cursor_left(&c), 0);
}

static void check_size(enum sideband_mode mode, size_t len, size_t packet_max)
{
	struct buf data = BUF_INIT, got = BUF_INIT;
	struct fixture f;
	struct pack_sink sink;

	start(&f, mode);
	sink = sideband_sink(&f.sb);
	for (size_t i = 0; i < len; i++)
		buf_append_char(&data, (char)(i * 7 + i / 251));
	assert_int_equal(sink.put(sink.ctx, data.data, len, NULL), 0);
	demultiplex(&got, &f.sink, 1, packet_max);
	assert_int_equal(got.len, len);
	assert_memory_equal(got.data, data.data, len);
	assert_int_equal(f.sb.has_data, len > 0);
	stop(&f);
	buf_release(&data);
	buf_release(&got);
}

/*
 * Check that a range of `len` bytes of a file is sent in the same packets as
 * bytes in memory. `can`: whether the output has the callback send_file().
 */
static void check_file(enum sideband_mode mode, size_t len, bool can)
{
	struct fixture plain, file;
	struct buf data = BUF_INIT;
	struct pack_sink sink;
	struct sys_file_span span = {.len = len, .fd = 77, .off = 5};

	start(&plain, mode);
	start(&file, mode);
	file.io.send_file = can ? collect_file : NULL;
	for (size_t i = 0; i < len; i++)
		buf_append_char(&data, (char)(i * 7 + i / 251));
	span.bytes = (const uint8_t *)data.data;
	sink = sideband_sink(&plain.sb);
	assert_int_equal(sink.put(sink.ctx, data.data, len, NULL), 0);
	sink = sideband_sink(&file.sb);
	assert_int_equal(pack_sink_put_file(&sink, &span, NULL), 0);
	assert_int_equal(file.sink.file_bytes,
			 can && mode != SIDEBAND_SMALL ? len : 0);
	assert_int_equal(file.sink.out.len, plain.sink.out.len);
	assert_memory_equal(file.sink.out.data, plain.sink.out.data,
			    plain.sink.out.len);
	assert_true(file.sb.has_data);
	stop(&plain);
	stop(&file);
	buf_release(&data);
}

static void test_files(void **state)
{
	static const size_t sizes[] = {1, 65515, 65516, 200000};

	for (size_t i = 0; i < 2 * sizeof(sizes) / sizeof(sizes[0]); i++) {
		check_file(SIDEBAND_NONE, sizes[i / 2], i & 1);
		check_file(SIDEBAND_SMALL, sizes[i / 2], i & 1);
		check_file(SIDEBAND_LARGE, sizes[i / 2], i & 1);
	}
}

static void test_sizes(void **state)
{
	static const size_t small[] = {0, 1, 994, 995, 996, 1990, 100000};
	static const size_t large[] = {0,     1,      65514,  65515,
				       65516, 131030, 131031, 5000000};

	for (size_t i = 0; i < sizeof(small) / sizeof(small[0]); i++)
		check_size(SIDEBAND_SMALL, small[i], 1000);
	for (size_t i = 0; i < sizeof(large) / sizeof(large[0]); i++)
		check_size(SIDEBAND_LARGE, large[i], 65520);
}

/* A tiny pack is sent by one write, together with the end of the response. */
static void test_tiny(void **state)
{
	static const char wanted[] = "000ddata: ok\n"
				     "0008\1abc0007\1de0000";
	struct fixture f;
	struct pack_sink sink;

	start(&f, SIDEBAND_LARGE);
	sink = sideband_sink(&f.sb);
	f.sb.is_tiny = true;
	assert_int_equal(pktline_printf(&f.out, NULL, "data: ok\n"), 0);
	assert_int_equal(sink.put(sink.ctx, "abc", 3, NULL), 0);
	assert_int_equal(sink.put(sink.ctx, "de", 2, NULL), 0);
	assert_int_equal(f.sink.writes, 0);
	assert_int_equal(pktline_write_flush(&f.out, NULL), 0);
	assert_int_equal(pktline_send(&f.out, NULL), 0);
	assert_int_equal(f.sink.writes, 1);
	assert_int_equal(f.sink.out.len, sizeof(wanted) - 1);
	assert_memory_equal(f.sink.out.data, wanted, sizeof(wanted) - 1);
	stop(&f);
}

static void test_bands(void **state)
{
	struct fixture f;
	struct progress_out progress;
	struct pack_sink sink;

	start(&f, SIDEBAND_LARGE);
	sink = sideband_sink(&f.sb);
	progress = sideband_progress(&f.sb);
	assert_int_equal(progress.delay_ns, 0);
	pktline_printf(&f.out, NULL, "packfile\n");
	progress.put(progress.ctx, "half\r", 5);
	sink.put(sink.ctx, "PACK", 4, NULL);
	sideband_put(&f.sb, SIDEBAND_ERROR, "bad", 3, NULL);
	assert_string_equal(f.sink.out.data,
			    "000dpackfile\n000a\2half\r0009\1PACK0008\3bad");
	stop(&f);
}

/*
 * Without side-band, no keep-alive packets are sent. The output is only the
 * pack.
 */
static void test_keep_alive(void **state)
{
	struct fixture f;

	start(&f, SIDEBAND_LARGE);
	assert_int_equal(sideband_keep_alive(&f.sb, NULL), 0);
	assert_string_equal(f.sink.out.data, "0005\2");
	stop(&f);
	start(&f, SIDEBAND_NONE);
	assert_int_equal(sideband_keep_alive(&f.sb, NULL), 0);
	assert_int_equal(f.sink.out.len, 0);
	stop(&f);
}

static void test_held(void **state)
{
	struct fixture f;

	start(&f, SIDEBAND_LARGE);
	sideband_hold(&f.sb, true);
	assert_int_equal(sideband_keep_alive(&f.sb, NULL), 0);
	assert_int_equal(sideband_put(&f.sb, SIDEBAND_PROGRESS, "x", 1, NULL),
			 0);
	assert_int_equal(f.sink.out.len, 0);
	assert_int_equal(sideband_put(&f.sb, SIDEBAND_DATA, "d", 1, NULL), 0);
	sideband_hold(&f.sb, false);
	assert_int_equal(sideband_put(&f.sb, SIDEBAND_PROGRESS, "y", 1, NULL),
			 0);
	assert_string_equal(f.sink.out.data, "0006\1d0006\2y");
	stop(&f);
}

static void test_none(void **state)
{
	struct fixture f;
	struct pack_sink sink;

	start(&f, SIDEBAND_NONE);
	sink = sideband_sink(&f.sb);
	sideband_put(&f.sb, SIDEBAND_PROGRESS, "half\r", 5, NULL);
	sink.put(sink.ctx, "PACK", 4, NULL);
	sideband_put(&f.sb, SIDEBAND_ERROR, "bad", 3, NULL);
	assert_string_equal(f.sink.out.data, "PACK");
	stop(&f);
}

static void test_output_fails(void **state)
{
	struct error err = ERROR_INIT;
	struct fixture f;
	struct pack_sink sink;

	start(&f, SIDEBAND_LARGE);
	sink = sideband_sink(&f.sb);
	f.sink.fail = true;
	assert_int_equal(sink.put(sink.ctx, "PACK", 4, &err), ERR_PEER);
	assert_string_equal(err.msg, "gone");
	assert_true(f.out.failed);
	stop(&f);
}

/*
 * Bytes that are passed to sideband_add() are sent together with the next
 * packet.
 */
static void test_add(void **state)
{
	struct fixture f;

	start(&f, SIDEBAND_LARGE);
	assert_int_equal(sideband_add(&f.sb, SIDEBAND_PROGRESS, "hi", 2, NULL),
			 0);
	assert_int_equal(f.sink.out.len, 0);
	assert_int_equal(pktline_write_flush(&f.out, NULL), 0);
	assert_int_equal(pktline_send(&f.out, NULL), 0);
	assert_int_equal(f.sink.largest_write, 1);
	assert_string_equal(f.sink.out.data, "0007\002hi0000");
	stop(&f);
	start(&f, SIDEBAND_NONE);
	assert_int_equal(sideband_add(&f.sb, SIDEBAND_PROGRESS, "hi", 2, NULL),
			 0);
	assert_int_equal(pktline_send(&f.out, NULL), 0);
	assert_int_equal(f.sink.out.len, 0);
	stop(&f);
}

static int emit(void *ctx, const struct serve_span *span, struct error *err)
{
	struct sink *s = ctx;

	assert_int_equal(span->packet_max, s->out.len ? PKTLINE_MAX - 5 : 0);
	assert_int_equal(span->band, SIDEBAND_DATA);
	assert_false(span->is_chunked);
	buf_append(&s->out, span->bytes, span->len);
	return s->fail ? error_set(err, ERR_PEER, "gone") : 0;
}

/*
 * Bytes of a pinned pack (which stays mapped while it is sent) are passed on
 * without framing. Packets that were added before must be sent first.
 */
static void test_pinned(void **state)
{
	struct fixture f;
	struct pack_sink sink;

	start(&f, SIDEBAND_LARGE);
	assert_null(sideband_sink(&f.sb).put_pinned);
	f.io.emit = emit;
	sink = sideband_sink(&f.sb);
	assert_int_equal(pktline_write_flush(&f.out, NULL), 0);
	assert_int_equal(sink.put_pinned(sink.ctx, "xyz", 3, NULL), 0);
	assert_string_equal(f.sink.out.data, "0000xyz");
	assert_true(f.sb.has_data);
	f.sink.fail = true;
	assert_int_equal(sink.put_pinned(sink.ctx, "x", 1, NULL), ERR_PEER);
	assert_true(f.out.failed);
	stop(&f);
	start(&f, SIDEBAND_NONE);
	f.io.emit = emit;
	sink = sideband_sink(&f.sb);
	assert_int_equal(sink.put_pinned(sink.ctx, "xyz", 3, NULL), 0);
	assert_string_equal(f.sink.out.data, "xyz");
	stop(&f);
	start(&f, SIDEBAND_SMALL);
	f.io.emit = emit;
	assert_null(sideband_sink(&f.sb).put_pinned);
	stop(&f);
}

/* Many packets of a large range are sent by one writev(). */
static void test_gathers(void **state)
{
	char *data = calloc(1, 3000000);
	struct fixture f;
	struct pack_sink sink;

	start(&f, SIDEBAND_LARGE);
	sink = sideband_sink(&f.sb);
	assert_int_equal(sink.put(sink.ctx, data, 3000000, NULL), 0);
	assert_int_equal(f.sink.largest_write, 2 * 46);
	stop(&f);
	free(data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_tiny),
		cmocka_unit_test(test_bands),
		cmocka_unit_test(test_keep_alive),
		cmocka_unit_test(test_held),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_output_fails),
		cmocka_unit_test(test_gathers),
		cmocka_unit_test(test_add),
		cmocka_unit_test(test_pinned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
