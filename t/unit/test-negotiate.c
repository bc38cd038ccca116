/* SPDX-License-Identifier: MIT */
/*
 * Tests of serve/negotiate.c, the negotiation of common commits. The simulated
 * repository has all objects whose ids start with a byte below 0x80. The
 * callback enough() returns true after `enough_nr` common haves.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "serve/negotiate.h"

struct fixture {
	struct buf out;
	struct serve_io io;
	struct pktline_writer writer;
	struct oidset common;
	struct negotiate n;
	size_t enough_nr;
	/* Number of calls of the callback enough(). */
	size_t asked;
};

static int collect(void *ctx, struct iovec *iov, size_t nr, struct error *err)
{
	struct fixture *f = ctx;

	for (size_t i = 0; i < nr; i++)
		buf_append(&f->out, iov[i].iov_base, iov[i].iov_len);
	return 0;
}

static bool has(void *ctx, const struct oid *oid)
{
	return oid->bytes[0] < 0x80;
}

static int enough(void *ctx, const struct oidset *common, struct error *err)
{
	struct fixture *f = ctx;

	f->asked++;
	return common->nr >= f->enough_nr;
}

static void start(struct fixture *f, enum negotiate_mode mode, size_t enough_nr)
{
	struct negotiate_ops ops = {has, enough, f};

	memset(f, 0, sizeof(*f));
	buf_init(&f->out);
	f->enough_nr = enough_nr;
	f->io = (struct serve_io){.writev = collect, .ctx = f};
	pktline_writer_init(&f->writer, &f->io);
	oidset_init(&f->common, 100);
	negotiate_init(&f->n, &ops, &f->common, &f->writer, HASH_SHA1);
	f->n.mode = mode;
}

static void stop(struct fixture *f)
{
	pktline_writer_release(&f->writer);
	oidset_release(&f->common);
	buf_release(&f->out);
}

/*
 * Asserts that the output since the last call is `want`. In `want`, an id is
 * written as its first byte.
 */
static void expect(struct fixture *f, const char *want)
{
	struct buf text = BUF_INIT;
	struct cursor c;
	struct pktline p;

	pktline_send(&f->writer, NULL);
	c = cursor_make(f->out.data, f->out.len);
	while (pktline_parse(&p, &c, NULL) > 0) {
		const char *s = p.data;

		assert_int_equal(s[p.len - 1], '\n');
		if (!strncmp(s, "ACK ", 4))
			buf_printf(&text, "ACK %.2s%.*s|", s + 4,
				   (int)p.len - 45, s + 44);
		else
			buf_printf(&text, "%.*s|", (int)p.len - 1, s);
	}
	assert_string_equal(text.data, want);
	buf_release(&text);
	buf_reset(&f->out);
}

static void have(struct fixture *f, uint8_t first)
{
	struct oid oid = {{first}};

	assert_int_equal(negotiate_have(&f->n, &oid, NULL), 0);
}

static void test_plain(void **state)
{
	struct fixture f;

	start(&f, NEGOTIATE_PLAIN, 1);
	have(&f, 0x90);
	expect(&f, "");
	assert_int_equal(negotiate_flush(&f.n, NULL), 0);
	expect(&f, "NAK|");
	have(&f, 0x11);
	expect(&f, "ACK 11|");
	have(&f, 0x11);
	have(&f, 0x12);
	have(&f, 0x91);
	assert_int_equal(negotiate_flush(&f.n, NULL), 0);
	assert_int_equal(negotiate_done(&f.n, NULL), 0);
	expect(&f, "");
	assert_int_equal(f.common.nr, 2);
	stop(&f);
}

static void test_multi_ack(void **state)
{
	struct fixture f;

	start(&f, NEGOTIATE_MULTI_ACK, 2);
	have(&f, 0x90);
	have(&f, 0x11);
	have(&f, 0x91);
	assert_int_equal(negotiate_flush(&f.n, NULL), 0);
	expect(&f, "ACK 11 continue|NAK|");
	have(&f, 0x12);
	have(&f, 0x92);
	assert_int_equal(negotiate_flush(&f.n, NULL), 0);
	expect(&f, "ACK 12 continue|ACK 92 continue|NAK|");
	assert_int_equal(negotiate_done(&f.n, NULL), 0);
	expect(&f, "ACK 12|");
	stop(&f);
}

static void test_detailed(void **state)
{
	struct fixture f;

	start(&f, NEGOTIATE_DETAILED, 2);
	have(&f, 0x11);
	assert_int_equal(negotiate_flush(&f.n, NULL), 0);
	expect(&f, "ACK 11 common|NAK|");
	have(&f, 0x12);
	assert_int_equal(negotiate_flush(&f.n, NULL), 0);
	expect(&f, "ACK 12 common|ACK 12 ready|NAK|");
	/*
	 * After "ready", the server also acknowledges a have that it does not
	 * know.
	 */
	have(&f, 0x13);
	have(&f, 0x90);
	assert_int_equal(negotiate_flush(&f.n, NULL), 0);
	expect(&f, "ACK 13 common|ACK 90 ready|NAK|");
	assert_int_equal(negotiate_done(&f.n, NULL), 0);
	expect(&f, "ACK 13|");
	stop(&f);
}

static void test_no_done(void **state)
{
	struct fixture f;

	start(&f, NEGOTIATE_DETAILED, 2);
	f.n.no_done = true;
	have(&f, 0x11);
	assert_int_equal(negotiate_flush(&f.n, NULL), 0);
	expect(&f, "ACK 11 common|NAK|");
	have(&f, 0x12);
	assert_int_equal(negotiate_flush(&f.n, NULL), 1);
	expect(&f, "ACK 12 common|ACK 12 ready|NAK|ACK 12|");
	stop(&f);
}

static void test_nothing_common(void **state)
{
	struct fixture f;

	for (int mode = NEGOTIATE_PLAIN; mode <= NEGOTIATE_DETAILED; mode++) {
		start(&f, mode, 0);
		have(&f, 0x90);
		assert_int_equal(negotiate_flush(&f.n, NULL), 0);
		assert_int_equal(negotiate_done(&f.n, NULL), 0);
		expect(&f, "NAK|NAK|");
		assert_int_equal(f.asked, 0);
		stop(&f);
	}
}

/*
 * If enough() has returned false, it is not called again before the next common
 * have.
 */
static void test_asks_once(void **state)
{
	struct fixture f;

	start(&f, NEGOTIATE_DETAILED, 2);
	have(&f, 0x11);
	for (uint8_t i = 0; i < 50; i++)
		have(&f, (uint8_t)(0x90 + i));
	assert_int_equal(f.asked, 1);
	have(&f, 0x12);
	for (uint8_t i = 0; i < 50; i++)
		have(&f, (uint8_t)(0x90 + i));
	assert_int_equal(f.asked, 2);
	stop(&f);
}

static void acknowledge(struct fixture *f, bool wait, int ret, const char *want)
{
	assert_int_equal(negotiate_acknowledge(&f->n, wait, NULL), ret);
	expect(f, want);
}

static void test_acknowledge(void **state)
{
	struct oid a = {{0x11}}, b = {{0x12}};
	struct fixture f;

	start(&f, NEGOTIATE_PLAIN, 2);
	acknowledge(&f, false, 0, "acknowledgments|NAK|");
	oidset_add(&f.common, &a, NULL);
	acknowledge(&f, false, 0, "acknowledgments|ACK 11|");
	oidset_add(&f.common, &b, NULL);
	acknowledge(&f, true, 0, "acknowledgments|ACK 11|ACK 12|");
	acknowledge(&f, false, 1, "acknowledgments|ACK 11|ACK 12|ready|");
	stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_multi_ack),
		cmocka_unit_test(test_detailed),
		cmocka_unit_test(test_no_done),
		cmocka_unit_test(test_nothing_common),
		cmocka_unit_test(test_asks_once),
		cmocka_unit_test(test_acknowledge),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
