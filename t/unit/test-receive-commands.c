/* SPDX-License-Identifier: MIT */
/*
 * Tests of receive/receive-commands.c, which parses the commands of a push: the
 * example of receive-commands.h, capabilities, and limits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "receive/receive-commands.h"

#define HEX_A "7d1665144a3a975c05f1f43902ddaf084e784dbe"
#define HEX_B "74730d410fcb6603ace96f1dc55ea6196122532d"

static int take(struct receive_request *req, const char *line, size_t len,
		struct error *err)
{
	*err = (struct error)ERROR_INIT;
	return receive_request_take(req, line, len, err);
}

static void test_take(void **state)
{
	static const char first[] = HEX_A
		" " HEX_B " refs/heads/debug\0 report-status-v2 quiet "
		"agent=x atomic side-band-64k push-options";
	static const char create[] =
		"0000000000000000000000000000000000000000 " HEX_B " refs/x y";
	struct receive_request req;
	struct error err;

	receive_request_init(&req, HASH_SHA1);
	assert_int_equal(take(&req, first, sizeof(first) - 1, &err), 0);
	assert_int_equal(take(&req, create, sizeof(create) - 1, &err), 0);
	assert_int_equal(take(&req, "shallow " HEX_A, 48, &err), 0);
	assert_int_equal(req.nr, 2);
	assert_string_equal(req.commands[0].ref, "refs/heads/debug");
	assert_string_equal(req.commands[1].ref, "refs/x y");
	assert_int_equal(req.commands[0].old_oid.bytes[0], 0x7d);
	assert_int_equal(req.commands[0].new_oid.bytes[0], 0x74);
	assert_true(oid_is_zero(&req.commands[1].old_oid));
	assert_int_equal(req.shallow.nr, 1);
	assert_true(req.report_v2 && req.quiet && req.sideband);
	/*
	 * A capability is false if it was not advertised, or if the client did
	 * not ask for it.
	 */
	assert_false(req.report || req.atomic || req.has_options);
	assert_false(receive_request_only_deletes(&req));
	assert_int_equal(receive_refuse(&req.commands[0], "one"), 0);
	assert_int_equal(receive_refuse_all(&req, "two"), 0);
	assert_string_equal(req.commands[0].error, "one");
	assert_string_equal(req.commands[1].error, "two");
	receive_request_release(&req);
}

static void test_bad(void **state)
{
	static const char *const bad[] = {
		"",
		"hello",
		HEX_A,
		HEX_A " " HEX_B,
		HEX_A " " HEX_B " ",
		HEX_A "  " HEX_B " refs/x",
		HEX_A " " HEX_B "xrefs/x",
		HEX_A " " HEX_A "0 refs/x",
		"shallow x",
		"shallow " HEX_A "0",
		"push-cert",
	};
	struct receive_request req;
	struct error err;

	receive_request_init(&req, HASH_SHA1);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(take(&req, bad[i], strlen(bad[i]), &err),
				 ERR_PEER);
	assert_int_equal(req.nr, 0);
	receive_request_release(&req);
}

static void test_object_format(void **state)
{
	static const char other[] = HEX_A " " HEX_B
					  " refs/x\0object-format=sha256 quiet";
	static const char none[] = HEX_A " " HEX_B " refs/x\0quiet";
	struct receive_request req;
	struct error err;

	receive_request_init(&req, HASH_SHA1);
	assert_int_equal(take(&req, other, sizeof(other) - 1, &err), ERR_PEER);
	assert_string_equal(err.msg, "unsupported object format 'sha256'");
	assert_int_equal(take(&req, none, sizeof(none) - 1, &err), 0);
	receive_request_release(&req);
	receive_request_init(&req, HASH_SHA256);
	assert_int_equal(take(&req, none, sizeof(none) - 1, &err), ERR_PEER);
	receive_request_release(&req);
}

struct input {
	const char *text;
	size_t at;
};

static ssize_t read_input(void *ctx, void *bytes, size_t len, struct error *err)
{
	struct input *in = ctx;
	size_t left = strlen(in->text + in->at);

	len = left < len ? left : len;
	memcpy(bytes, in->text + in->at, len);
	in->at += len;
	return (ssize_t)len;
}

static int read_all(struct receive_request *req, const char *text)
{
	struct input in = {text, 0};
	struct serve_io io = {.read = read_input, .ctx = &in};
	struct pktline_reader r;
	int ret;

	assert_int_equal(pktline_reader_init(&r, &io), 0);
	ret = receive_request_read(req, &r, NULL);
	pktline_reader_release(&r);
	return ret;
}

static void test_read(void **state)
{
	static const char line[] = "0058" HEX_A " " HEX_B;
	struct buf text = BUF_INIT;
	struct receive_request req;

	receive_request_init(&req, HASH_SHA1);
	assert_int_equal(read_all(&req, "0000"), 0);
	assert_int_equal(read_all(&req, ""), ERR_PEER);
	assert_int_equal(read_all(&req, "0001"), ERR_PEER);
	buf_printf(&text, "005c%s refs/x%s", line + 4, "\n");
	/* The list has no flush. */
	assert_int_equal(read_all(&req, text.data), ERR_PEER);
	receive_request_release(&req);
	receive_request_init(&req, HASH_SHA1);
	req.has_options = true;
	buf_reset(&text);
	buf_printf(&text,
		   "%04zx%s refs/x0000"
		   "0007a=b"
		   "0005c"
		   "0000",
		   sizeof(line) - 5 + 4 + 7, line + 4);
	assert_int_equal(read_all(&req, text.data), 1);
	assert_int_equal(req.option_nr, 2);
	assert_string_equal(req.options[0], "a=b");
	assert_string_equal(req.options[1], "c");
	receive_request_release(&req);
	buf_release(&text);
}

/*
 * Parse lines of a push request until one is refused. Returns the result of the
 * last line.
 */
static int take_lines(struct receive_request *req, const char *const *lines)
{
	struct error err;
	int ret = 0;

	receive_request_init(req, HASH_SHA1);
	req->accept_cert = true;
	for (; !ret && *lines; lines++)
		ret = take(req, *lines, strlen(*lines), &err);
	return ret;
}

static void test_certificate(void **state)
{
	static const char *const good[] = {"shallow " HEX_A,
					   "push-cert",
					   "certificate version 0.1",
					   "pusher x 1 +0000",
					   "",
					   HEX_A " " HEX_B " refs/heads/x",
					   "-----BEGIN SSH SIGNATURE-----",
					   "abc",
					   "push-cert-end",
					   NULL};
	struct receive_request req;

	assert_int_equal(take_lines(&req, good), 0);
	assert_int_equal(req.nr, 1);
	assert_string_equal(req.commands[0].ref, "refs/heads/x");
	assert_false(req.in_cert);
	assert_string_equal(
		req.cert.data,
		"certificate version 0.1\npusher x 1 +0000\n\n" HEX_A " " HEX_B
		" refs/heads/x\n"
		"-----BEGIN SSH SIGNATURE-----\nabc\n");
	receive_request_release(&req);
}

/*
 * A push is refused if its certificate is malformed, if it has two
 * certificates, or if it has unsigned commands beside a certificate. It is also
 * refused if the server accepts no certificates.
 */
static void test_bad_certificates(void **state)
{
	static const char *const bad[][9] = {
		{"push-cert", "x", "push-cert-end"},
		{"push-cert", "certificate version 0.1", "", "x",
		 "push-cert-end"},
		{HEX_A " " HEX_B " refs/x", "push-cert"},
		{"push-cert", "certificate version 0.1", "",
		 HEX_A " " HEX_B " refs/x", "push-cert-end",
		 HEX_A " " HEX_B " refs/y"},
		{"push-cert", "certificate version 0.1", "", "push-cert-end",
		 "push-cert"},
	};
	struct receive_request req;
	struct error err;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(take_lines(&req, bad[i]), ERR_PEER);
		receive_request_release(&req);
	}
	receive_request_init(&req, HASH_SHA1);
	assert_int_equal(take(&req, "push-cert", 9, &err), ERR_PEER);
	assert_string_equal(err.msg, "push certificates are not accepted here");
	receive_request_release(&req);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_take),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_object_format),
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_certificate),
		cmocka_unit_test(test_bad_certificates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
