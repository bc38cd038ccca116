/* SPDX-License-Identifier: MIT */
/*
 * Tests of sys/notify.c, which sends messages to the service manager
 * (sd_notify). A socket of the test receives them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "sys/io.h"
#include "sys/notify.h"

/*
 * Listen on the socket `name`. A '@' at its start stands for a NUL (abstract
 * socket).
 */
static int listen_on(const char *name)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	size_t len = offsetof(struct sockaddr_un, sun_path) + strlen(name);

	memcpy(a.sun_path, name, strlen(name));
	if (*name == '@')
		a.sun_path[0] = '\0';
	assert_int_equal(bind(fd, (void *)&a, (socklen_t)len), 0);
	return fd;
}

static void check(const char *name)
{
	int fd = listen_on(name);
	char got[64];

	sys_notify(name, "READY=1\nMAINPID=2");
	assert_int_equal(recv(fd, got, sizeof(got), 0), 17);
	assert_memory_equal(got, "READY=1\nMAINPID=2", 17);
	sys_close(fd);
}

static void test_sockets(void **state)
{
	char name[64];

	snprintf(name, sizeof(name), "@gitreach-test-%ld", (long)getpid());
	check(name);
	snprintf(name, sizeof(name), "/tmp/gitreach-test-%ld", (long)getpid());
	check(name);
	unlink(name);
}

static void test_no_socket(void **state)
{
	char path[256];
	int before = dup(0);

	memset(path, 'x', sizeof(path) - 1);
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	sys_close(before);
	sys_notify(NULL, "READY=1");
	sys_notify("", "READY=1");
	sys_notify("relative", "READY=1");
	sys_notify("/nonexistent/socket", "READY=1");
	sys_notify(path, "READY=1");
	/* sys_notify() must not leave a descriptor open. */
	assert_int_equal(dup(0), before);
	sys_close(before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sockets),
		cmocka_unit_test(test_no_socket),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
