/* SPDX-License-Identifier: MIT */
/*
 * Tests of wire/pktline.c: packets are parsed, read from input in pieces, and
 * written.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "wire/pktline.h"

/*
 * An input and an output in memory. A read returns at most `chunk` bytes of the
 * input.
 */
struct mem {
	const char *in;
	size_t in_len, at, chunk;
	struct buf out;
	size_t write_nr;
	bool fail;
};

static ssize_t mem_read(void *ctx, void *bytes, size_t len, struct error *err)
{
	struct mem *m = ctx;
	size_t n = m->in_len - m->at;

	if (n > m->chunk)
		n = m->chunk;
	if (n > len)
		n = len;
	memcpy(bytes, m->in + m->at, n);
	m->at += n;
	return (ssize_t)n;
}

static int mem_writev(void *ctx, struct iovec *iov, size_t nr,
		      struct error *err)
{
	struct mem *m = ctx;

	if (m->fail)
		return error_set(err, ERR_PEER, "gone");
	m->write_nr++;
	for (size_t i = 0; i < nr; i++)
		buf_append(&m->out, iov[i].iov_base, iov[i].iov_len);
	return 0;
}

static int parse(struct pktline *p, const char *text, size_t *used)
{
	struct cursor c = cursor_make(text, strlen(text));
	int ret = pktline_parse(p, &c, NULL);

	*used = strlen(text) - cursor_left(&c);
	return ret;
}

static void test_parse(void **state)
{
	static const struct {
		const char *text;
		int ret;
		enum pktline_kind kind;
		const char *data;
		size_t used;
	} cases[] = {
		{"0006a\n", 1, PKTLINE_DATA, "a\n", 6},
		{"0005a", 1, PKTLINE_DATA, "a", 5},
		{"000bfoobar\nrest", 1, PKTLINE_DATA, "foobar\n", 11},
		{"000Bfoobar\n", 1, PKTLINE_DATA, "foobar\n", 11},
		{"0004", 1, PKTLINE_DATA, "", 4},
		{"0000", 1, PKTLINE_FLUSH, "", 4},
		{"0001", 1, PKTLINE_DELIM, "", 4},
		{"0002", 1, PKTLINE_RESPONSE_END, "", 4},
		{"0003", ERR_PEER, 0, NULL, 0},
		{"fff1", ERR_PEER, 0, NULL, 0},
		{"fff0", 0, 0, NULL, 0},
		{"000x", ERR_PEER, 0, NULL, 0},
		{"-001", ERR_PEER, 0, NULL, 0},
		{" 0006", ERR_PEER, 0, NULL, 0},
		{"0006a", 0, 0, NULL, 0},
		{"000", 0, 0, NULL, 0},
		{"", 0, 0, NULL, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pktline p;
		size_t used;

		assert_int_equal(parse(&p, cases[i].text, &used), cases[i].ret);
		assert_int_equal(used, cases[i].used);
		if (cases[i].ret <= 0)
			continue;
		assert_int_equal(p.kind, cases[i].kind);
		assert_int_equal(p.len, strlen(cases[i].data));
		assert_memory_equal(p.data, cases[i].data, p.len);
	}
}

static void test_announced(void **state)
{
	assert_int_equal(pktline_announced("0005x"), 5);
	assert_int_equal(pktline_announced("FFF0"), PKTLINE_MAX);
	/*
	 * If a header has no data after it, or is not valid, only the header's
	 * length is announced.
	 */
	assert_int_equal(pktline_announced("0000"), PKTLINE_HEADER);
	assert_int_equal(pktline_announced("0001"), PKTLINE_HEADER);
	assert_int_equal(pktline_announced("0004"), PKTLINE_HEADER);
	assert_int_equal(pktline_announced("0003"), PKTLINE_HEADER);
	assert_int_equal(pktline_announced("fff1"), PKTLINE_HEADER);
	assert_int_equal(pktline_announced("xyz0"), PKTLINE_HEADER);
}

static void test_messages(void **state)
{
	struct cursor c = cursor_make("zz\033z", 4);
	struct error err = ERROR_INIT;
	struct pktline p;

	assert_int_equal(pktline_parse(&p, &c, &err), ERR_PEER);
	assert_string_equal(err.msg,
			    "protocol error: bad line length character: zz?z");
	c = cursor_make("ffff", 4);
	assert_int_equal(pktline_parse(&p, &c, &err), ERR_PEER);
	assert_string_equal(err.msg, "protocol error: bad line length 65535");
}

/*
 * The input arrives in pieces. Their size must not change the packets that are
 * read.
 */
static void test_read_chunks(void **state)
{
	static const char text[] = "0006a\n0005b00000001000fhello\nworld"
				   "000aworld\n0002";
	static const char *const lines[] = {
		"a", "b", NULL, NULL, "hello\nworld", "world", NULL};
	static const enum pktline_kind kinds[] = {
		PKTLINE_DATA, PKTLINE_DATA, PKTLINE_FLUSH,       PKTLINE_DELIM,
		PKTLINE_DATA, PKTLINE_DATA, PKTLINE_RESPONSE_END};

	for (size_t chunk = 1; chunk < sizeof(text); chunk++) {
		struct mem m = {text, sizeof(text) - 1, 0, chunk, BUF_INIT, 0,
				false};
		struct serve_io io = {
			.read = mem_read, .writev = mem_writev, .ctx = &m};
		struct pktline_reader r;
		struct pktline p;

		assert_int_equal(pktline_reader_init(&r, &io), 0);
		for (size_t i = 0; i < 7; i++) {
			assert_int_equal(pktline_read(&r, &p, NULL), 0);
			assert_int_equal(p.kind, kinds[i]);
			if (lines[i])
				assert_string_equal(p.data, lines[i]);
		}
		assert_false(r.ended);
		assert_int_equal(pktline_read(&r, &p, NULL), 0);
		assert_int_equal(p.kind, PKTLINE_EOF);
		assert_true(r.ended);
		pktline_reader_release(&r);
	}
}

/*
 * Raw bytes after the packets are not changed, even if the reader has already
 * buffered them.
 */
static void test_read_raw(void **state)
{
	static const char text[] = "0005a0000PACKdata";

	for (size_t chunk = 1; chunk <= sizeof(text); chunk++) {
		struct mem m = {
			.in = text, .in_len = sizeof(text) - 1, .chunk = chunk};
		struct serve_io io = {
			.read = mem_read, .writev = mem_writev, .ctx = &m};
		struct pktline_reader r;
		struct pktline p;
		char bytes[3];
		struct buf got = BUF_INIT;
		ssize_t n;

		assert_int_equal(pktline_reader_init(&r, &io), 0);
		assert_int_equal(pktline_read(&r, &p, NULL), 0);
		assert_int_equal(pktline_read(&r, &p, NULL), 0);
		assert_int_equal(p.kind, PKTLINE_FLUSH);
		while ((n = pktline_read_raw(&r, bytes, 3, NULL)) > 0)
			buf_append(&got, bytes, (size_t)n);
		assert_int_equal(n, 0);
		assert_true(r.ended);
		assert_string_equal(got.data, "PACKdata");
		buf_release(&got);
		pktline_reader_release(&r);
	}
}

static void check_read_fails(const char *text, const char *message)
{
	struct mem m = {text, strlen(text), 0, 3, BUF_INIT, 0, false};
	struct serve_io io = {
		.read = mem_read, .writev = mem_writev, .ctx = &m};
	struct error err = ERROR_INIT;
	struct pktline_reader r;
	struct pktline p;

	assert_int_equal(pktline_reader_init(&r, &io), 0);
	assert_int_equal(pktline_read(&r, &p, &err), ERR_PEER);
	assert_string_equal(err.msg, message);
	pktline_reader_release(&r);
}

static void test_read_truncated(void **state)
{
	check_read_fails("00", "the remote end hung up unexpectedly");
	check_read_fails("0010abc", "the remote end hung up unexpectedly");
	check_read_fails("0003", "protocol error: bad line length 3");
}

/* The longest allowed packet can be read and written. */
static void test_longest(void **state)
{
	struct mem m = {NULL, 0, 0, SIZE_MAX, BUF_INIT, 0, false};
	struct serve_io io = {
		.read = mem_read, .writev = mem_writev, .ctx = &m};
	char *data = malloc(PKTLINE_DATA_MAX + 1);
	struct pktline_writer w;
	struct pktline_reader r;
	struct pktline p;

	memset(data, 'x', PKTLINE_DATA_MAX + 1);
	pktline_writer_init(&w, &io);
	assert_int_equal(pktline_write(&w, data, PKTLINE_DATA_MAX + 1, NULL),
			 ERR_INVALID);
	assert_int_equal(pktline_write(&w, data, PKTLINE_DATA_MAX, NULL), 0);
	assert_int_equal(pktline_write_flush(&w, NULL), 0);
	assert_int_equal(pktline_send(&w, NULL), 0);
	assert_int_equal(m.out.len, PKTLINE_MAX + 4);
	m.in = m.out.data;
	m.in_len = m.out.len;
	assert_int_equal(pktline_reader_init(&r, &io), 0);
	assert_int_equal(pktline_read(&r, &p, NULL), 0);
	assert_int_equal(p.len, PKTLINE_DATA_MAX);
	assert_memory_equal(p.data, data, p.len);
	assert_int_equal(pktline_read(&r, &p, NULL), 0);
	assert_int_equal(p.kind, PKTLINE_FLUSH);
	pktline_reader_release(&r);
	pktline_writer_release(&w);
	buf_release(&m.out);
	free(data);
}

static void test_write(void **state)
{
	struct mem m = {NULL, 0, 0, 0, BUF_INIT, 0, false};
	struct serve_io io = {
		.read = mem_read, .writev = mem_writev, .ctx = &m};
	struct iovec iov[2] = {{(char *)"x", 1}, {(char *)"yz", 2}};
	static char large[5000];
	struct pktline_writer w;

	pktline_writer_init(&w, &io);
	assert_int_equal(pktline_printf(&w, NULL, "%s %d\n", "n", 7), 0);
	assert_int_equal(pktline_write_delim(&w, NULL), 0);
	assert_int_equal(pktline_write(&w, "", 0, NULL), 0);
	assert_int_equal(pktline_write_flush(&w, NULL), 0);
	assert_int_equal(m.out.len, 0);
	assert_int_equal(pktline_send_spans(&w, iov, 2, NULL), 0);
	assert_string_equal(m.out.data, "0008n 7\n000100040000xyz");
	assert_int_equal(pktline_send(&w, NULL), 0);
	assert_int_equal(m.write_nr, 1);

	/* Large pieces of data are written without being copied. */
	iov[1] = (struct iovec){large, sizeof(large)};
	assert_int_equal(pktline_write_flush(&w, NULL), 0);
	assert_int_equal(pktline_send_spans(&w, iov, 2, NULL), 0);
	assert_int_equal(m.write_nr, 3);
	assert_int_equal(m.out.len, 23 + 4 + 1 + sizeof(large));
	m.fail = true;
	assert_int_equal(pktline_printf(&w, NULL, "x"), 0);
	assert_int_equal(pktline_send(&w, NULL), ERR_PEER);
	assert_true(w.failed);
	pktline_writer_release(&w);
	buf_release(&m.out);
}

static void test_quote(void **state)
{
	char out[PKTLINE_QUOTE_MAX], text[1000];

	assert_string_equal(pktline_quote(out, "a\tb\x1b[1m\xff"), "a?b?[1m?");
	memset(text, 'y', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(strlen(pktline_quote(out, text)),
			 PKTLINE_QUOTE_MAX - 1);
}

static int append_all(void *ctx, struct iovec *iov, size_t nr,
		      struct error *err)
{
	struct buf *out = ctx;

	for (size_t i = 0; i < nr; i++)
		if (buf_append(out, iov[i].iov_base, iov[i].iov_len) < 0)
			return error_nomem(err);
	return 0;
}

static void put_ref_twin(struct pktline_writer *w, enum hash_algo algo,
			 const struct oid *oid, const char *name,
			 const char *rest, size_t rest_len)
{
	char hex[OID_MAX_HEX_LEN + 1];
	struct buf line = BUF_INIT;

	buf_printf(&line, "%s %s", oid_to_hex(hex, oid, algo), name);
	buf_append(&line, rest, rest_len);
	buf_append_char(&line, '\n');
	assert_int_equal(pktline_write(w, line.data, line.len, NULL), 0);
	buf_release(&line);
}

/*
 * Write so many lines that the writer sends its buffer several times, with or
 * without a side band. Each line is written by pktline_write_ref(), and also by
 * put_ref_twin(), a simple second implementation. The bytes of both must be
 * equal.
 */
static void check_refs(enum hash_algo algo, uint8_t band)
{
	static const char rest[] = "\0 caps";
	struct buf a = BUF_INIT, b = BUF_INIT;
	const struct serve_io io[2] = {{.writev = append_all, .ctx = &a},
				       {.writev = append_all, .ctx = &b}};
	struct pktline_writer w[2];
	struct oid oid = OID_ZERO_INIT;
	char name[300];

	for (int i = 0; i < 2; i++) {
		pktline_writer_init(&w[i], &io[i]);
		w[i].band = band;
	}
	for (size_t i = 0; i < 2000; i++) {
		memset(name, 'a', sizeof(name));
		name[i % sizeof(name)] = '\0';
		oid.bytes[i % 20] = (uint8_t)i;
		assert_int_equal(pktline_write_ref(&w[0], algo, &oid, name,
						   rest, i % sizeof(rest),
						   NULL),
				 0);
		put_ref_twin(&w[1], algo, &oid, name, rest, i % sizeof(rest));
	}
	for (int i = 0; i < 2; i++) {
		assert_int_equal(pktline_send(&w[i], NULL), 0);
		pktline_writer_release(&w[i]);
	}
	assert_true(a.len > 2 * PKTLINE_MAX);
	assert_int_equal(a.len, b.len);
	assert_memory_equal(a.data, b.data, a.len);
	buf_release(&a);
	buf_release(&b);
}

static void test_write_ref(void **state)
{
	check_refs(HASH_SHA1, 0);
	check_refs(HASH_SHA256, 1);
}

/*
 * A name that is too long for a packet is an error, and nothing is added to the
 * output.
 */
static void test_ref_too_long(void **state)
{
	static const struct oid oid = OID_ZERO_INIT;
	struct buf out = BUF_INIT;
	const struct serve_io io = {.writev = append_all, .ctx = &out};
	struct pktline_writer w;
	char *name = malloc(PKTLINE_MAX);

	memset(name, 'a', PKTLINE_MAX);
	pktline_writer_init(&w, &io);
	name[PKTLINE_DATA_MAX - 42] = '\0';
	assert_int_equal(
		pktline_write_ref(&w, HASH_SHA1, &oid, name, NULL, 0, NULL), 0);
	assert_int_equal(pktline_send(&w, NULL), 0);
	assert_int_equal(out.len, PKTLINE_MAX);
	assert_int_equal(
		pktline_write_ref(&w, HASH_SHA1, &oid, name, "b", 1, NULL),
		ERR_INVALID);
	assert_int_equal(pktline_send(&w, NULL), 0);
	assert_int_equal(out.len, PKTLINE_MAX);
	pktline_writer_release(&w);
	buf_release(&out);
	free(name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_announced),
		cmocka_unit_test(test_messages),
		cmocka_unit_test(test_read_chunks),
		cmocka_unit_test(test_read_raw),
		cmocka_unit_test(test_read_truncated),
		cmocka_unit_test(test_longest),
		cmocka_unit_test(test_write),
		cmocka_unit_test(test_quote),
		cmocka_unit_test(test_write_ref),
		cmocka_unit_test(test_ref_too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
