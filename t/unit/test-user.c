/* SPDX-License-Identifier: MIT */
/* sys/user.c: there is a user and a host. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "sys/user.h"

static void test_names(void **state)
{
	struct buf login = BUF_INIT, full = BUF_INIT, host = BUF_INIT;
	int ret = sys_user_name(&login, false, NULL);

	(void)state;
	/* A container may have no entry for the user. */
	assert_true(ret == 0 || ret == ERR_MISSING);
	assert_int_equal(login.len > 0, ret == 0);
	assert_int_equal(sys_user_name(&full, true, NULL), ret);
	assert_null(strchr(full.data, ','));
	assert_int_equal(sys_host_name(&host, NULL), 0);
	assert_true(host.len > 0);
	buf_release(&login);
	buf_release(&full);
	buf_release(&host);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
