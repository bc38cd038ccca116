/* SPDX-License-Identifier: MIT */
/*
 * Tests of daemon/suspects.c, the list of repositories whose requests may crash
 * the server's workers: the verdict after each crash, when a repository is
 * forgotten, and a full list.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/suspects.h"

#define SECOND_NS UINT64_C(1000000000)

static void test_verdicts(void **state)
{
	struct daemon_suspects *s = daemon_suspects_new(NULL);

	assert_non_null(s);
	assert_int_equal(daemon_suspects_judge(s, "/a", 2, 1), DAEMON_TRUSTED);
	/*
	 * A repository is not refused if no worker has crashed during its
	 * requests.
	 */
	daemon_suspects_convict(s, "/a", 2, 1);
	assert_int_equal(daemon_suspects_judge(s, "/a", 2, 1), DAEMON_TRUSTED);
	assert_int_equal(daemon_suspects_crash(s, "/a", 2, 1), 1);
	assert_int_equal(daemon_suspects_judge(s, "/a", 2, 1), DAEMON_TRUSTED);
	assert_int_equal(daemon_suspects_crash(s, "/a", 2, SECOND_NS), 2);
	assert_int_equal(daemon_suspects_judge(s, "/a", 2, SECOND_NS),
			 DAEMON_SUSPECT);
	assert_int_equal(daemon_suspects_judge(s, "/b", 2, SECOND_NS),
			 DAEMON_TRUSTED);
	daemon_suspects_convict(s, "/a", 2, SECOND_NS);
	assert_int_equal(daemon_suspects_judge(s, "/a", 2, 600 * SECOND_NS),
			 DAEMON_GUILTY);
	/* Ten minutes after its last crash, a repository is forgotten. */
	assert_int_equal(daemon_suspects_judge(s, "/a", 2, 601 * SECOND_NS),
			 DAEMON_TRUSTED);
	assert_int_equal(daemon_suspects_crash(s, "/a", 2, 601 * SECOND_NS), 1);
	daemon_suspects_free(s);
	daemon_suspects_free(NULL);
}

static void test_many(void **state)
{
	struct daemon_suspects *s = daemon_suspects_new(NULL);
	char path[16];

	for (uint64_t i = 0; i < 200; i++) {
		snprintf(path, sizeof(path), "/%d", (int)i);
		daemon_suspects_crash(s, path, strlen(path), i + 1);
		daemon_suspects_crash(s, path, strlen(path), i + 1);
	}
	/*
	 * The list of suspects has room for 64 repositories. The oldest ones
	 * were dropped.
	 */
	assert_int_equal(daemon_suspects_judge(s, "/136", 4, 201),
			 DAEMON_SUSPECT);
	assert_int_equal(daemon_suspects_judge(s, "/199", 4, 201),
			 DAEMON_SUSPECT);
	assert_int_equal(daemon_suspects_judge(s, "/135", 4, 201),
			 DAEMON_TRUSTED);
	daemon_suspects_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_verdicts),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
