/* SPDX-License-Identifier: MIT */
/*
 * Tests of daemon/git-request.c, which parses the request line of a git://
 * client. They prove that valid lines give their parts, and that all other
 * lines are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/git-request.h"

static struct git_request r;

/* Parse `len` bytes of data as one pkt-line. */
static int parse(const char *data, size_t len)
{
	char line[GIT_REQUEST_MAX + 16];

	snprintf(line, sizeof(line), "%04x", (unsigned)len + 4);
	memcpy(line + 4, data, len);
	for (size_t n = 4; n < len + 4 && len + 4 <= GIT_REQUEST_MAX; n++)
		assert_int_equal(git_request_missing(line, n), len + 4 - n);
	assert_int_equal(git_request_missing(line, len + 4), 0);
	return git_request_parse(&r, line, len + 4, NULL);
}

#define PARSE(text) parse(text, sizeof(text) - 1)

static void test_example(void **state)
{
	assert_int_equal(
		PARSE("git-upload-pack /a.git\0host=h.example\0\0version=2\0"),
		0);
	assert_int_equal(r.service, SERVICE_UPLOAD_PACK);
	assert_string_equal(r.path, "/a.git");
	assert_string_equal(r.host, "h.example");
	assert_string_equal(r.protocol, "version=2");
}

static void test_forms(void **state)
{
	assert_int_equal(PARSE("git-receive-pack /a b\n"), 0);
	assert_int_equal(r.service, SERVICE_RECEIVE_PACK);
	assert_string_equal(r.path, "/a b");
	assert_string_equal(r.host, "");
	assert_string_equal(r.protocol, "");
	assert_int_equal(PARSE("git-upload-archive /\xc3\xa4\n\0host=\0"), 0);
	assert_int_equal(r.service, SERVICE_UPLOAD_ARCHIVE);
	assert_string_equal(r.path, "/\xc3\xa4");
	assert_int_equal(PARSE("git-upload-pack /a\0\0\0key=1\0\0version=1"),
			 0);
	assert_string_equal(r.protocol, "key=1:version=1");
}

static void test_refused(void **state)
{
	assert_int_equal(PARSE(""), ERR_PEER);
	assert_int_equal(PARSE("git-upload-pack"), ERR_PEER);
	assert_int_equal(PARSE("git-upload-pack "), ERR_PEER);
	assert_int_equal(PARSE("git-upload-pack \n"), ERR_PEER);
	assert_int_equal(PARSE("git-upload-pack\t/a"), ERR_PEER);
	assert_int_equal(PARSE("git upload-pack /a"), ERR_PEER);
	assert_int_equal(PARSE("upload-pack /a"), ERR_PEER);
	assert_int_equal(PARSE("git-upload-packs /a"), ERR_PEER);
	assert_int_equal(PARSE("git-upload-pack /a\n\n"), ERR_PEER);
	assert_int_equal(PARSE("git-upload-pack /a\x7f"), ERR_PEER);
	assert_int_equal(PARSE("git-upload-pack /a\0hast=h\0"), ERR_PEER);
	assert_int_equal(PARSE("git-upload-pack /a\0host=h\0host=i\0"),
			 ERR_PEER);
	assert_int_equal(PARSE("git-upload-pack /a\0host=\xc3\xa4\0"),
			 ERR_PEER);
	assert_int_equal(PARSE("git-upload-pack /a\0host=h\0\0version=\n2\0"),
			 ERR_PEER);
}

static void test_limits(void **state)
{
	char text[GIT_REQUEST_MAX + 8] = "git-upload-pack /";
	size_t at = strlen(text), max = sizeof(r.path) - 2;

	memset(text + at, 'a', sizeof(text) - at);
	assert_int_equal(parse(text, at + max), 0);
	assert_int_equal(strlen(r.path), sizeof(r.path) - 1);
	assert_int_equal(parse(text, at + max + 1), ERR_PEER);
	assert_int_equal(parse(text, GIT_REQUEST_MAX - 3), ERR_PEER);
	memcpy(text, "git-upload-pack /\0\0v", 20);
	max = at + 2 + sizeof(r.protocol) - 1;
	assert_int_equal(parse(text, max), 0);
	assert_int_equal(parse(text, max + 1), ERR_PEER);
	/*
	 * The request has the maximum length, so a separator and a further
	 * parameter make it too long.
	 */
	text[max] = '\0';
	assert_int_equal(parse(text, max + 2), ERR_PEER);
	text[max - 1] = '\0';
	text[max] = 'a';
	assert_int_equal(parse(text, max + 1), ERR_PEER);
	text[max - 2] = '\0';
	text[max - 1] = 'a';
	assert_int_equal(parse(text, max), 0);
}

static void test_other_lines(void **state)
{
	const char two[] = "001agit-upload-pack /a.git0000";

	assert_int_equal(git_request_missing(two, 26), 0);
	assert_int_equal(git_request_parse(&r, two, 26, NULL), 0);
	assert_int_equal(git_request_parse(&r, two, 30, NULL), ERR_PEER);
	assert_int_equal(git_request_parse(&r, two, 25, NULL), ERR_PEER);
	assert_int_equal(git_request_parse(&r, "0000", 4, NULL), ERR_PEER);
	assert_int_equal(git_request_missing("", 0), 4);
	assert_int_equal(git_request_missing("GET ", 4), 0);
	assert_int_equal(git_request_missing("2000", 4), GIT_REQUEST_MAX - 4);
	assert_int_equal(git_request_missing("2001", 4), 0);
	assert_int_equal(git_request_missing("00aF", 4), 0xaf - 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_example),
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_other_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
