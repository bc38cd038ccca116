/* SPDX-License-Identifier: MIT */
/*
 * wire/ref-line.c: compared with lines that are formatted first and then
 * written.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "wire/ref-line.h"

static int take(void *ctx, struct iovec *iov, size_t nr, struct error *err)
{
	struct buf *out = ctx;

	for (size_t i = 0; i < nr; i++)
		if (buf_append(out, iov[i].iov_base, iov[i].iov_len) < 0)
			return error_nomem(err);
	return 0;
}

static void put_twin(struct pktline_writer *w, enum hash_algo algo,
		     const struct oid *oid, const char *name, const char *rest,
		     size_t rest_len)
{
	char hex[OID_MAX_HEX_LEN + 1];
	struct buf line = BUF_INIT;

	buf_printf(&line, "%s %s", oid_to_hex(hex, oid, algo), name);
	buf_append(&line, rest, rest_len);
	buf_append_char(&line, '\n');
	assert_int_equal(pktline_write(w, line.data, line.len, NULL), 0);
	buf_release(&line);
}

/* Write enough lines for several sends, with a band and without. */
static void check(enum hash_algo algo, uint8_t band)
{
	static const char rest[] = "\0 caps";
	struct buf a = BUF_INIT, b = BUF_INIT;
	const struct serve_io io[2] = {{.writev = take, .ctx = &a},
				       {.writev = take, .ctx = &b}};
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
		assert_int_equal(ref_line_write(&w[0], algo, &oid, name, rest,
						i % sizeof(rest), NULL),
				 0);
		put_twin(&w[1], algo, &oid, name, rest, i % sizeof(rest));
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

static void test_twin(void **state)
{
	check(HASH_SHA1, 0);
	check(HASH_SHA256, 1);
}

/* A name that is too long for a packet is an error, and no packet is begun. */
static void test_too_long(void **state)
{
	static const struct oid oid = OID_ZERO_INIT;
	struct buf out = BUF_INIT;
	const struct serve_io io = {.writev = take, .ctx = &out};
	struct pktline_writer w;
	char *name = malloc(PKTLINE_MAX);

	memset(name, 'a', PKTLINE_MAX);
	pktline_writer_init(&w, &io);
	name[PKTLINE_DATA_MAX - 42] = '\0';
	assert_int_equal(
		ref_line_write(&w, HASH_SHA1, &oid, name, NULL, 0, NULL), 0);
	assert_int_equal(pktline_send(&w, NULL), 0);
	assert_int_equal(out.len, PKTLINE_MAX);
	assert_int_equal(
		ref_line_write(&w, HASH_SHA1, &oid, name, "b", 1, NULL),
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
		cmocka_unit_test(test_twin),
		cmocka_unit_test(test_too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
