/* SPDX-License-Identifier: MIT */
/*
 * Tests of receive/push-cert.c, which parses push certificates: all parts of
 * the example in push-cert.h are found, and malformed texts are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "receive/push-cert.h"

#define HEADERS "certificate version 0.1\npusher x 1 +0000\n"
#define SIGNATURE "-----BEGIN SSH SIGNATURE-----\nabc\n"

static int parse(struct push_cert *cert, const char *text)
{
	return push_cert_parse(cert, text, strlen(text), NULL);
}

/*
 * Join the values of all headers `header` of a push certificate with "|". If
 * `header` is NULL, join the commands.
 */
static const char *join(char out[64], const struct push_cert *cert,
			const char *header)
{
	struct push_cert_line line;
	size_t at = 0, len = 0;

	while (header ? push_cert_header(&line, cert, header, &at)
		      : push_cert_command(&line, cert, &at)) {
		assert_true(len + line.len + 2 < 64);
		memcpy(out + len, line.p, line.len);
		len += line.len;
		out[len++] = '|';
	}
	out[len] = '\0';
	return out;
}

static void test_parts(void **state)
{
	struct push_cert cert;
	char out[64];

	assert_int_equal(parse(&cert, HEADERS "nonce 1-2\npush-option a b\n"
					      "push-option c\nnonces 3\n\n"
					      "one\n\ntwo nonce 4\n" SIGNATURE
					      "\nthree\n"),
			 0);
	assert_string_equal(join(out, &cert, "nonce"), "1-2|");
	assert_string_equal(join(out, &cert, "push-option"), "a b|c|");
	assert_string_equal(join(out, &cert, "pushee"), "");
	assert_string_equal(join(out, &cert, NULL), "one||two nonce 4|");
	assert_memory_equal(cert.text + cert.signed_len, SIGNATURE,
			    strlen(SIGNATURE));
}

static void test_little(void **state)
{
	struct push_cert cert;
	char out[64];

	assert_int_equal(parse(&cert, HEADERS "\n"), 0);
	assert_int_equal(cert.signed_len, cert.len);
	assert_string_equal(join(out, &cert, NULL), "");
	assert_int_equal(parse(&cert, HEADERS "\none\n"), 0);
	assert_string_equal(join(out, &cert, NULL), "one|");
	assert_int_equal(parse(&cert, "certificate version 0.1\n\n" SIGNATURE),
			 0);
	assert_string_equal(join(out, &cert, "pusher"), "");
	assert_string_equal(join(out, &cert, NULL), "");
}

static void test_bad(void **state)
{
	static const char nul[] = HEADERS "\none\0two\n";
	static const char *const bad[] = {
		"",
		"\n",
		"certificate version 0.1",
		"certificate version 0.1\n",
		"certificate version 0.2\n\n",
		HEADERS,
		HEADERS "one\n",
		HEADERS "\none",
		"pusher x\n\n",
	};
	struct push_cert cert;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(parse(&cert, bad[i]), ERR_PEER);
	assert_int_equal(push_cert_parse(&cert, nul, sizeof(nul) - 1, NULL),
			 ERR_PEER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_little),
		cmocka_unit_test(test_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
