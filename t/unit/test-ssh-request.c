/* SPDX-License-Identifier: MIT */
/*
 * Tests of daemon/ssh-request.c, which parses the message of a forced command
 * of sshd: valid commands are parsed, and others are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/ssh-request.h"

static struct ssh_request r;

static int parse(const char *command, const char *protocol, const char *user)
{
	struct buf message = BUF_INIT;
	int ret;

	assert_int_equal(ssh_request_format(&message, command, protocol, user,
					    "192.0.2.1"),
			 0);
	ret = ssh_request_parse(&r, message.data, message.len, NULL);
	buf_release(&message);
	return ret;
}

static void test_valid(void **state)
{
	assert_int_equal(parse("git-upload-pack '/a.git'", "version=2", "al"),
			 0);
	assert_int_equal(r.service, SERVICE_UPLOAD_PACK);
	assert_string_equal(r.path, "/a.git");
	assert_string_equal(r.protocol, "version=2");
	assert_string_equal(r.user, "al");
	assert_string_equal(r.address, "192.0.2.1");
	assert_int_equal(parse("git receive-pack 'a b.git'", NULL, NULL), 0);
	assert_int_equal(r.service, SERVICE_RECEIVE_PACK);
	assert_string_equal(r.path, "/a b.git");
	assert_string_equal(r.protocol, "");
	assert_string_equal(r.user, "");
	assert_int_equal(
		parse("git-upload-archive ''\\''a'\\!'\xc3\xa4'", NULL, NULL),
		0);
	assert_string_equal(r.path, "/'a!\xc3\xa4");
}

static void test_refused(void **state)
{
	static const char *const commands[] = {
		"",
		"sh",
		"git",
		"git-upload-pack",
		"git-upload-pack ",
		"git-upload-pack /a.git",
		"git-upload-pack  '/a.git'",
		"git-upload-pack ''",
		"git-upload-pack '/'",
		"git-upload-pack '/a",
		"git-upload-pack '/a' ",
		"git-upload-pack '/a' '/b'",
		"git-upload-pack '/a';sh",
		"git-upload-pack '/a'\\''",
		"git-upload-pack '/a'\\x'b'",
		"git-upload-pack '/a'\\!",
		"git-upload-pack '/a\n'",
		"git-upload-pack \"/a\"",
		"git-upload-packs '/a'",
		"git-shell '/a'",
		"GIT-upload-pack '/a'",
	};

	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		assert_int_equal(parse(commands[i], NULL, NULL), ERR_PEER);
	assert_int_equal(parse("git-upload-pack '/a'", "a\nb", NULL), ERR_PEER);
	assert_int_equal(parse("git-upload-pack '/a'", NULL, "a\x7f"),
			 ERR_PEER);
}

static void test_message(void **state)
{
	static const char text[] = "git-upload-pack '/a'\0\0u\0\0";
	char name[260];

	assert_int_equal(ssh_request_parse(&r, text, sizeof(text) - 1, NULL),
			 0);
	assert_string_equal(r.user, "u");
	for (size_t len = 0; len < sizeof(text) - 1; len++)
		assert_int_equal(ssh_request_parse(&r, text, len, NULL),
				 ERR_PEER);
	assert_int_equal(ssh_request_parse(&r, text, sizeof(text), NULL),
			 ERR_PEER);
	memset(name, 'a', sizeof(name));
	name[255] = '\0';
	assert_int_equal(parse("git-upload-pack '/a'", NULL, name), 0);
	name[255] = 'a';
	name[256] = '\0';
	assert_int_equal(parse("git-upload-pack '/a'", NULL, name), ERR_PEER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_valid),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_message),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
