/* SPDX-License-Identifier: MIT */
/*
 * Tests of sys/held.c, which opens a file at once and maps it only when it is
 * first read. They prove that a reader sees the old content even if the file is
 * removed or replaced.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "sys/map.h"
#include "sys/io.h"
#include "sys/thread.h"

#define LARGE (SYS_MAP_COPY_MAX + 1000)

static char path[] = "/tmp/gitreach-held-XXXXXX";

static uint8_t byte_at(size_t i)
{
	return (uint8_t)(i * 7 ^ i >> 8);
}

static void write_file(size_t len)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	for (size_t i = 0; i < len; i++)
		fputc(byte_at(i), f);
	assert_int_equal(fclose(f), 0);
}

static void check_bytes(const struct sys_held *held)
{
	const uint8_t *bytes = sys_held_bytes(held, path, NULL);

	assert_non_null(bytes);
	assert_ptr_equal(sys_held_mapped(held), bytes);
	for (size_t i = 0; i < held->len; i++)
		assert_int_equal(bytes[i], byte_at(i));
}

static void check_read(const struct sys_held *held)
{
	uint8_t some[20];

	assert_int_equal(sys_held_read(held, some, sizeof(some),
				       held->len - sizeof(some), path, NULL),
			 0);
	for (size_t i = 0; i < sizeof(some); i++)
		assert_int_equal(some[i],
				 byte_at(held->len - sizeof(some) + i));
}

static void large_is_mapped_late(void **state)
{
	struct sys_held held;
	struct sys_stat st;

	write_file(LARGE);
	assert_int_equal(sys_held_open(&held, path, NULL), 0);
	assert_int_equal(held.len, LARGE);
	assert_int_equal(sys_stat(&st, path, NULL), 0);
	assert_true(held.mtime_ns == st.mtime_ns);
	assert_true(held.fd >= 0);
	assert_null(sys_held_mapped(&held));
	sys_held_drop(&held, 0, held.len);
	check_read(&held);
	assert_null(sys_held_mapped(&held));
	check_bytes(&held);
	assert_int_equal(held.fd, -1);
	sys_held_drop(&held, 0, held.len);
	check_bytes(&held);
	check_read(&held);
	sys_held_close(&held);
	assert_null(sys_held_mapped(&held));
	sys_held_close(&held);
}

static void small_is_read_at_once(void **state)
{
	static const size_t lens[] = {0, 20, SYS_MAP_COPY_MAX};

	for (size_t i = 0; i < sizeof(lens) / sizeof(*lens); i++) {
		struct sys_held held;

		write_file(lens[i]);
		assert_int_equal(sys_held_open(&held, path, NULL), 0);
		assert_int_equal(held.len, lens[i]);
		assert_int_equal(held.fd, -1);
		assert_non_null(sys_held_mapped(&held));
		check_bytes(&held);
		sys_held_close(&held);
	}
}

/*
 * If a file is removed or replaced after sys_held_open(), the reader still sees
 * the old content.
 */
static void stays_when_it_goes(void **state)
{
	static const size_t lens[] = {100, LARGE};

	for (size_t i = 0; i < sizeof(lens) / sizeof(*lens); i++) {
		struct sys_held held;

		write_file(lens[i]);
		assert_int_equal(sys_held_open(&held, path, NULL), 0);
		assert_int_equal(unlink(path), 0);
		write_file(5);
		check_bytes(&held);
		assert_int_equal(held.len, lens[i]);
		sys_held_close(&held);
	}
}

static void missing_and_unsuitable(void **state)
{
	struct error err = ERROR_INIT;
	struct sys_held held;

	assert_int_equal(sys_held_open(&held, "/tmp/no/such/file", &err),
			 ERR_MISSING);
	assert_non_null(strstr(err.msg, "/tmp/no/such/file"));
	sys_held_close(&held);
	assert_int_equal(sys_held_open(&held, "/tmp", &err), ERR_IO);
	sys_held_close(&held);
}

/*
 * If mmap() fails, reading the content fails. A later read maps the file again,
 * and succeeds.
 */
static void cannot_be_mapped(void **state)
{
	struct error err = ERROR_INIT;
	struct sys_held held;
	int fd;

	write_file(LARGE);
	assert_int_equal(sys_held_open(&held, path, NULL), 0);
	fd = held.fd;
	held.fd = open("/dev/null", O_WRONLY);
	assert_true(held.fd >= 0);
	assert_null(sys_held_bytes(&held, path, &err));
	assert_int_equal(err.code, ERR_IO);
	assert_non_null(strstr(err.msg, path));
	sys_close(held.fd);
	held.fd = fd;
	check_bytes(&held);
	sys_held_close(&held);
}

static int check_in_thread(void *ctx, unsigned thread_nr, size_t task_nr,
			   struct error *err)
{
	check_bytes(ctx);
	return 0;
}

static void threads_map_once(void **state)
{
	struct sys_held held;

	write_file(LARGE);
	for (int i = 0; i < 20; i++) {
		assert_int_equal(sys_held_open(&held, path, NULL), 0);
		assert_int_equal(
			sys_parallel(4, 16, check_in_thread, &held, NULL), 0);
		sys_held_close(&held);
	}
}

static void by_the_limit(void **state)
{
	struct rlimit before, low;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	low = before;
	low.rlim_cur = 100;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	assert_int_equal(sys_held_max(), 25);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_true(sys_held_max() <= before.rlim_cur / 4);
}

static int make_file(void **state)
{
	int fd = mkstemp(path);

	return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(large_is_mapped_late),
		cmocka_unit_test(small_is_read_at_once),
		cmocka_unit_test(stays_when_it_goes),
		cmocka_unit_test(missing_and_unsuitable),
		cmocka_unit_test(cannot_be_mapped),
		cmocka_unit_test(threads_map_once),
		cmocka_unit_test(by_the_limit),
	};

	return cmocka_run_group_tests_name("held", tests, make_file,
					   remove_file);
}
