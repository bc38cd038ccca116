/* SPDX-License-Identifier: MIT */
/* sys/memory.c: trimming keeps memory in use, and large pages work. */
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

/* Sizes below, at and above a large page: all bytes are usable. */
static void large(void **state)
{
	static const size_t sizes[] = {
		0, 1, 4096, (2 << 20) - 1, 2 << 20, (2 << 20) + 1, 5 << 20};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		char *memory = sys_memory_large(sizes[i]);

		assert_non_null(memory);
		memset(memory, (int)i, sizes[i]);
		if (sizes[i])
			assert_int_equal(memory[sizes[i] - 1], i);
		free(memory);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_use_stays),
		cmocka_unit_test(large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
