/* SPDX-License-Identifier: MIT */
/*
 * Tests of processes/sockets.c, the listening sockets of the server: sockets
 * are opened from URLs, kept if the settings stay the same, and passed to a new
 * process.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "processes/sockets.h"
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
		"https://localhost:80",
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

static void test_protocols_and_activated_urls(void **state)
{
	struct daemon_address a;

	assert_int_equal(daemon_address_parse(&a, "http://systemd", NULL), 0);
	assert_true(a.is_activated);
	assert_string_equal(a.name, "systemd:");
	assert_int_equal(daemon_address_parse(&a, "http://systemd:web", NULL),
			 0);
	assert_true(a.is_activated);
	assert_string_equal(a.name, "systemd:web");
	assert_int_equal(daemon_address_parse(&a, "git://systemd:web", NULL),
			 0);
	assert_int_equal(a.protocol, DAEMON_GIT);
	assert_string_equal(a.name, "systemd:web");
	assert_int_equal(daemon_address_parse(&a, "unix:/run/s", NULL), 0);
	assert_int_equal(a.protocol, DAEMON_SSH);
	assert_string_equal(a.name, "unix:/run/s");
	assert_string_equal(a.path, "/run/s");
	assert_int_equal(daemon_address_parse(&a, "unix:", NULL), ERR_INVALID);
	assert_int_equal(daemon_address_parse(&a, "git://[::1]:9418", NULL), 0);
	assert_false(a.is_activated);
	assert_int_equal(a.protocol, DAEMON_GIT);
	assert_string_equal(a.name, "git://[::1]:9418");
	assert_int_equal(daemon_address_parse(&a, "http://systemd:", NULL),
			 ERR_INVALID);
	assert_int_equal(daemon_address_parse(&a, "http://systemdx", NULL),
			 ERR_INVALID);
}

/* Returns settings with one or two listeners. The strings are borrowed. */
static struct daemon_settings listeners(char *first, char *second)
{
	return (struct daemon_settings){
		.listen = {{first, 1}, {second, 2}},
		.listen_nr = second ? 2 : 1,
	};
}

static void count(void *ctx, const char *line)
{
	++*(int *)ctx;
}

static char any[] = "http://127.0.0.1:0";
static char any_v6[] = "http://[::]:0";
static char passed[] = "http://systemd";

static void test_open(void **state)
{
	struct daemon_settings two = listeners(any, any), one;
	struct daemon_sockets none = {.nr = 0}, first, second, third;
	const struct daemon_text *bad;
	int lines = 0;
	const struct daemon_report report = {count, &lines};
	char used[64];

	assert_int_equal(daemon_sockets_open(&first, &none, &two, &bad, NULL),
			 0);
	assert_int_equal(first.nr, 2);
	assert_int_not_equal(first.items[0].fd, first.items[1].fd);
	daemon_sockets_replace(&none, &first, false, &report);
	assert_int_equal(lines, 2);
	/*
	 * If the settings of the listeners are the same, the sockets are kept.
	 */
	assert_int_equal(daemon_sockets_open(&second, &first, &two, &bad, NULL),
			 0);
	assert_int_equal(second.items[0].fd, first.items[0].fd);
	assert_int_equal(second.items[1].fd, first.items[1].fd);
	daemon_sockets_replace(&first, &second, false, &report);
	assert_int_equal(lines, 2);
	/*
	 * If one of the new listeners cannot be opened, the old sockets stay as
	 * they are.
	 */
	snprintf(used, sizeof(used), "http://127.0.0.1:%u",
		 (unsigned)sys_socket_port(first.items[1].fd));
	two = listeners(any_v6, used);
	assert_int_equal(daemon_sockets_open(&third, &first, &two, &bad, NULL),
			 ERR_IO);
	assert_ptr_equal(bad, &two.listen[1]);
	assert_int_equal(third.nr, 0);
	/* One listener is removed. */
	one = listeners(any, NULL);
	assert_int_equal(daemon_sockets_open(&third, &first, &one, &bad, NULL),
			 0);
	daemon_sockets_replace(&first, &third, true, &report);
	assert_int_equal(lines, 4);
	assert_int_equal(sys_socket_port(first.items[1].fd), 0);
	sys_close(third.items[0].fd);
}

static void test_passed(void **state)
{
	struct daemon_settings s = listeners(passed, NULL);
	struct daemon_sockets none = {.nr = 0}, in = none, out;
	const struct daemon_text *bad;
	int fd = sys_socket_listen("127.0.0.1", 0, NULL);
	int second = sys_socket_listen("127.0.0.1", 0, NULL);

	assert_int_equal(daemon_sockets_open(&out, &none, &s, &bad, NULL),
			 ERR_INVALID);
	assert_int_equal(second, fd + 1);
	assert_int_equal(daemon_sockets_activate(&in, fd, 2, "a:b", NULL), 0);
	assert_string_equal(in.items[0].name, "systemd:a");
	assert_string_equal(in.items[1].name, "systemd:b");
	assert_int_equal(daemon_sockets_open(&out, &in, &s, &bad, NULL), 0);
	assert_int_equal(out.nr, 2);
	s = listeners((char[]){"http://systemd:b"}, NULL);
	assert_int_equal(daemon_sockets_open(&out, &in, &s, &bad, NULL), 0);
	assert_int_equal(out.nr, 1);
	assert_int_equal(out.items[0].fd, second);
	in.nr = 0;
	assert_int_equal(daemon_sockets_activate(&in, fd, 2, NULL, NULL), 0);
	assert_string_equal(in.items[1].name, "systemd:");
	in.nr = 0;
	assert_int_equal(daemon_sockets_activate(&in, 0, 1, NULL, NULL),
			 ERR_INVALID);
	sys_close(fd);
	sys_close(second);
}

static void test_lists(void **state)
{
	static const char *const wrong[] = {
		"x\n", "1", "1 \n", "1 x", "-1 x\n", "0 x\n", "99999999999 x\n",
		" x\n"};
	struct daemon_sockets none = {.nr = 0}, in, out = none;
	struct daemon_settings s = listeners(any, any_v6);
	const struct daemon_text *bad;
	struct buf list = BUF_INIT;

	assert_int_equal(daemon_sockets_open(&in, &none, &s, &bad, NULL), 0);
	assert_int_equal(daemon_sockets_write(&list, &in), 0);
	assert_int_equal(daemon_sockets_read(&out, list.data, NULL), 0);
	assert_int_equal(out.nr, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(out.items[i].fd, in.items[i].fd);
		assert_string_equal(out.items[i].name, in.items[i].name);
	}
	/* A list that contains a descriptor twice is refused. */
	assert_int_equal(daemon_sockets_read(&out, list.data, NULL),
			 ERR_INVALID);
	for (size_t i = 0; i < ARRAY_NR(wrong); i++) {
		out.nr = 0;
		assert_int_equal(daemon_sockets_read(&out, wrong[i], NULL),
				 ERR_INVALID);
	}
	sys_close(in.items[0].fd);
	sys_close(in.items[1].fd);
	buf_release(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_urls),
		cmocka_unit_test(test_wrong_urls),
		cmocka_unit_test(test_protocols_and_activated_urls),
		cmocka_unit_test(test_open),
		cmocka_unit_test(test_passed),
		cmocka_unit_test(test_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
