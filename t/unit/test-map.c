/* SPDX-License-Identifier: MIT */
/*
 * Tests of sys/map.c, which maps or reads whole files: normal files, empty and
 * missing files, and files of other types.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <sys/stat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sys/map.h"

#define PAGES_LEN 40000

static char path[] = "/tmp/gitreach-map-XXXXXX";

static uint8_t byte_at(size_t i)
{
	return (uint8_t)(i ^ i >> 8);
}

static void write_file(size_t len)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	for (size_t i = 0; i < len; i++)
		fputc(byte_at(i), f);
	assert_int_equal(fclose(f), 0);
}

static void check_bytes(const struct sys_map *map)
{
	for (size_t i = 0; i < map->len; i++)
		assert_int_equal(map->data[i], byte_at(i));
}

static void maps_what_is_there(void **state)
{
	struct sys_map map;

	write_file(PAGES_LEN);
	assert_int_equal(sys_map_open(&map, path, NULL), 0);
	assert_int_equal(map.len, PAGES_LEN);
	sys_map_advise_sequential(&map);
	check_bytes(&map);
	sys_map_close(&map);
	assert_null(map.data);
	sys_map_close(&map);
}

static void small_is_copied(void **state)
{
	struct sys_map map;

	for (size_t len = SYS_MAP_COPY_MAX - 1; len <= SYS_MAP_COPY_MAX + 1;
	     len++) {
		write_file(len);
		assert_int_equal(sys_map_open(&map, path, NULL), 0);
		assert_int_equal(map.len, len);
		assert_int_equal(map.is_copy, len <= SYS_MAP_COPY_MAX);
		sys_map_advise_sequential(&map);
		sys_map_drop(&map, 0, len);
		check_bytes(&map);
		sys_map_close(&map);
		assert_null(map.data);
	}
}

static void dropped_pages_come_back(void **state)
{
	struct sys_map map;

	write_file(PAGES_LEN);
	assert_int_equal(sys_map_open(&map, path, NULL), 0);
	sys_map_drop(&map, 0, map.len);
	sys_map_drop(&map, 5000, 10000);
	sys_map_drop(&map, 30000, 1 << 30);
	sys_map_drop(&map, 10, 20);
	check_bytes(&map);
	sys_map_close(&map);
}

static void empty_file(void **state)
{
	struct sys_map map;
	struct buf b = BUF_INIT;

	write_file(0);
	assert_int_equal(sys_map_open(&map, path, NULL), 0);
	assert_non_null(map.data);
	assert_int_equal(map.len, 0);
	sys_map_close(&map);
	assert_int_equal(sys_read_file(&b, path, NULL), 0);
	assert_int_equal(b.len, 0);
	buf_release(&b);
}

/*
 * Opening a named pipe without a writer fails immediately, and does not wait
 * for a writer.
 */
static void check_pipe(struct buf *b)
{
	char dir[] = "/tmp/gitreach-map-XXXXXX", name[64];

	assert_non_null(mkdtemp(dir));
	snprintf(name, sizeof(name), "%s/pipe", dir);
	assert_int_equal(mkfifo(name, 0600), 0);
	assert_int_equal(sys_read_file(b, name, NULL), ERR_IO);
	unlink(name);
	rmdir(dir);
}

static void missing_and_unsuitable(void **state)
{
	struct sys_map map;
	struct buf b = BUF_INIT;
	struct error err = ERROR_INIT;

	assert_int_equal(sys_map_open(&map, "/tmp/no/such/file", &err),
			 ERR_MISSING);
	assert_non_null(strstr(err.msg, "/tmp/no/such/file"));
	assert_null(map.data);
	assert_int_equal(sys_map_open(&map, "/tmp", &err), ERR_IO);
	assert_int_equal(sys_map_open(&map, "/dev/null", &err), ERR_IO);
	assert_int_equal(sys_read_file(&b, "/tmp/no/such/file", &err),
			 ERR_MISSING);
	assert_int_equal(sys_read_file(&b, "/tmp", &err), ERR_IO);
	check_pipe(&b);
	assert_int_equal(b.len, 0);
	buf_release(&b);
}

static void reading_appends(void **state)
{
	struct buf b = BUF_INIT;

	write_file(PAGES_LEN);
	assert_int_equal(buf_append_str(&b, "head"), 0);
	assert_int_equal(sys_read_file(&b, path, NULL), 0);
	assert_int_equal(b.len, PAGES_LEN + 4);
	assert_memory_equal(b.data, "head", 4);
	for (size_t i = 0; i < PAGES_LEN; i++)
		assert_int_equal((uint8_t)b.data[i + 4], byte_at(i));
	buf_release(&b);
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
		cmocka_unit_test(maps_what_is_there),
		cmocka_unit_test(small_is_copied),
		cmocka_unit_test(dropped_pages_come_back),
		cmocka_unit_test(empty_file),
		cmocka_unit_test(missing_and_unsuitable),
		cmocka_unit_test(reading_appends),
	};

	return cmocka_run_group_tests_name("map", tests, make_file,
					   remove_file);
}
