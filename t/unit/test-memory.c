/* SPDX-License-Identifier: MIT */
/* sys/memory.c: what is in use stays; what was freed goes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "sys/memory.h"

#define NR 2000
#define LEN 4000

static void in_use_stays(void **state)
{
	char *kept[NR];

	for (size_t i = 0; i < NR; i++) {
		char *gone = malloc(LEN);

		kept[i] = malloc(LEN);
		assert_true(gone && kept[i]);
		memset(gone, 1, LEN);
		memset(kept[i], (int)(i % 100), LEN);
		free(gone);
	}
	sys_memory_trim();
	for (size_t i = 0; i < NR; i++) {
		assert_int_equal(kept[i][0], i % 100);
		assert_int_equal(kept[i][LEN - 1], i % 100);
		free(kept[i]);
	}
	sys_memory_trim();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_use_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
