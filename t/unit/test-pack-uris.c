/* SPDX-License-Identifier: MIT */
/*
 * Tests of serve/pack-uris.c, URIs of packs that a client may download
 * (packfile-uris): the response lists the configured URIs whose protocol the
 * client accepts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/buf.h"
#include "serve/serve-config.h"

#define HEX_A "7d1665144a3a975c05f1f43902ddaf084e784dbe"
#define HEX_B "74730d410fcb6603ace96f1dc55ea6196122532d"
#define HEX_C "2dfefe690561880c46b83477cb615503bbf402b3"

struct fixture {
	struct config config;
	struct pack_uris uris;
	struct error err;
};

static int load(struct fixture *f, const char *text)
{
	*f = (struct fixture){.err = ERROR_INIT};
	assert_int_equal(config_parse(&f->config, text, strlen(text),
				      CONFIG_LOCAL, NULL, NULL, NULL),
			 0);
	return pack_uris_load(&f->uris, &f->config, HASH_SHA1, &f->err);
}

static void release(struct fixture *f)
{
	pack_uris_release(&f->uris);
	config_release(&f->config);
}

static int put(void *ctx, struct iovec *iov, size_t nr, struct error *err)
{
	for (size_t i = 0; i < nr; i++)
		if (buf_append(ctx, iov[i].iov_base, iov[i].iov_len) < 0)
			return ERR_NOMEM;
	return 0;
}

/*
 * Checks that the section "packfile-uris" of the response is equal to `text`.
 * If bit i of `left_out` is set, blob number i was left out of the pack.
 */
static void expect(const struct fixture *f, const char *protocols,
		   unsigned left_out, const char *text)
{
	bool flags[8];
	struct buf out = BUF_INIT;
	struct serve_io io = {.writev = put, .ctx = &out};
	struct pktline_writer w;
	struct pack_offer offer;

	for (size_t i = 0; i < 8; i++)
		flags[i] = left_out >> i & 1;
	pktline_writer_init(&w, &io);
	assert_int_equal(pack_offer_init(&offer, &f->uris, protocols, NULL), 0);
	assert_int_equal(pack_offer_tell(&offer, flags, NULL, &w, NULL), 0);
	assert_int_equal(pktline_send(&w, NULL), 0);
	assert_string_equal(out.len ? out.data : "", text);
	pack_offer_release(&offer);
	pktline_writer_release(&w);
	buf_release(&out);
}

static void test_offer(void **state)
{
	struct fixture f;

	assert_int_equal(
		load(&f, "[uploadpack]\n"
			 "blobPackfileUri = " HEX_A " " HEX_B " http://x/a\n"
			 "blobPackfileUri = " HEX_B " " HEX_C " https://x/b c\n"
			 "blobPackfileUri = " HEX_C " " HEX_A " x\n"),
		0);
	assert_int_equal(f.uris.nr, 3);
	expect(&f, "http,https", 3,
	       "0012packfile-uris\n0038" HEX_B " http://x/a\n"
	       "003b" HEX_C " https://x/b c\n0001");
	expect(&f, "http,https", 2,
	       "0012packfile-uris\n003b" HEX_C " https://x/b c\n0001");
	expect(&f, "ftp,https", 1,
	       "0012packfile-uris\n003b" HEX_C " https://x/b c\n0001");
	expect(&f, "http,https", 0, "");
	expect(&f, "", 7, "");
	expect(&f, "htt,httpss,,x", 7, "");
	release(&f);
}

static void test_nothing(void **state)
{
	struct fixture f;

	assert_int_equal(load(&f, "[uploadpack]\n"), 0);
	expect(&f, "http", 7, "");
	release(&f);
}

static void test_bad(void **state)
{
	static const char *const bad[] = {
		"",
		"= x",
		"= " HEX_A,
		"= " HEX_A " " HEX_B,
		"= " HEX_A " x http://x",
		"= " HEX_A "  " HEX_B " http://x",
		"= " HEX_A HEX_B " http://x",
		"= \"" HEX_A " " HEX_B " \"",
	};
	char text[200];
	struct fixture f;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(text, sizeof(text),
			 "[uploadpack]\nblobPackfileUri %s\n", bad[i]);
		assert_int_equal(load(&f, text), ERR_INVALID);
		assert_int_equal(
			strncmp(f.err.msg, "value of uploadpack.blob", 24), 0);
		release(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_offer),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
