/* SPDX-License-Identifier: MIT */
/*
 * Tests of base/cpu.c, which detects optional instructions of the processor.
 * They prove that it finds those that /proc/cpuinfo lists.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/cpu.h"

/*
 * Returns whether /proc/cpuinfo lists `flag` for the first processor. All
 * tested flags are flags of x86. Programs for other processors do not read
 * /proc/cpuinfo: under QEMU, it describes the machine that runs QEMU.
 */
static bool is_reported(const char *flag)
{
#ifndef __x86_64__
	return false;
#endif
	char line[8192], word[64];
	FILE *f = fopen("/proc/cpuinfo", "r");
	bool found = false;

	snprintf(word, sizeof(word), " %s ", flag);
	while (f && !found && fgets(line, sizeof(line), f)) {
		if (strncmp(line, "flags", 5))
			continue;
		line[strcspn(line, "\n")] = ' ';
		found = strstr(line, word);
		break;
	}
	if (f)
		fclose(f);
	return found;
}

static void test_as_reported(void **state)
{
	assert_int_equal(cpu_has_popcnt(), is_reported("popcnt"));
	assert_int_equal(cpu_has_avx2(), is_reported("avx2"));
	assert_int_equal(cpu_has_sha(), is_reported("sha_ni"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
