/* SPDX-License-Identifier: MIT */
/* Tests of daemon/sockets.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "daemon/sockets.h"
#include "sys/io.h"

static void test_urls(void **state)
{
	struct daemon_address a;

	assert_int_equal(daemon_address_parse(&a, "http://127.0.0.1:80", NULL),
			 0);
	assert_string_equal(a.address, "127.0.0.1");
	assert_int_equal(a.port, 80);
	assert_string_equal(a.name, "http://127.0.0.1:80");
	assert_int_equal(daemon_address_parse(&a, "http://[::1]:65535/", NULL),
			 0);
	assert_string_equal(a.address, "::1");
	assert_int_equal(a.port, 65535);
	assert_string_equal(a.name, "http://[::1]:65535");
}

static void test_wrong_urls(void **state)
{
	static const char *const urls[] = {
		"",
		"http",
		"https://127.0.0.1:80",
		"http://127.0.0.1",
		"http://127.0.0.1:",
		"http://127.0.0.1:65536",
		"http://127.0.0.1:655360",
		"http://127.0.0.1:80/x",
		"http://127.0.0.1:80x",
		"http://h:80",
		"http://::1:80",
		"http://[::1:80",
		"http://[]:80",
		"http://[127.0.0.1.127.0.0.1.127.0.0.1.127.0.0.1.127.0.0.1]:80",
	};
	struct daemon_address a;

	for (size_t i = 0; i < ARRAY_NR(urls); i++)
		assert_int_equal(daemon_address_parse(&a, urls[i], NULL),
				 ERR_INVALID);
}

static void test_listen(void **state)
{
	char name[DAEMON_NAME_MAX], second[DAEMON_NAME_MAX];
	struct error err = ERROR_INIT;
	int fd = daemon_listen(name, "http://127.0.0.1:0", &err);

	assert_true(fd >= 0);
	assert_memory_equal(name, "http://127.0.0.1:", 17);
	assert_string_not_equal(name, "http://127.0.0.1:0");
	assert_int_equal(daemon_listen(second, name, &err), ERR_IO);
	assert_int_equal(daemon_listen(second, "x", &err), ERR_INVALID);
	sys_close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_urls),
		cmocka_unit_test(test_wrong_urls),
		cmocka_unit_test(test_listen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
