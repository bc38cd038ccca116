/* SPDX-License-Identifier: MIT */
/*
 * Tests of sys/process.c: the id of the process, the environment of child
 * processes, the user, and memory usage.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "sys/process.h"

static void test_names(void **state)
{
	assert_int_equal(sys_process_id(), getpid());
}

static void test_environ(void **state)
{
	const char *const set[] = {"GITREACH_A=new", "GITREACH_AB=x",
				   "GITREACH_C"};
	unsigned a = 0, b = 0;
	char **env;

	setenv("GITREACH_A", "old", 1);
	setenv("GITREACH_B", "stays", 1);
	setenv("GITREACH_C", "goes", 1);
	env = sys_environ_with(set, 3);
	assert_non_null(env);
	for (size_t i = 0; env[i]; i++) {
		assert_string_not_equal(env[i], "GITREACH_A=old");
		assert_int_not_equal(strncmp(env[i], "GITREACH_C", 10), 0);
		a += !strcmp(env[i], "GITREACH_A=new");
		b += !strcmp(env[i], "GITREACH_B=stays");
	}
	assert_int_equal(a, 1);
	assert_int_equal(b, 1);
	free(env);
}

static void test_usage(void **state)
{
	struct sys_usage before, after;
	uint64_t peak_kib = sys_peak_rss_kib();
	size_t len = 64 << 20;
	char *bytes;

	sys_usage(&before, false);
	assert_true(peak_kib > 100);
	bytes = malloc(len);
	assert_non_null(bytes);
	for (int round = 0; round < 3; round++)
		for (size_t i = 0; i < len; i += 512)
			bytes[i] = (char)(i + round);
	sys_usage(&after, false);
	assert_true(bytes[len / 2] != 127);
	assert_true(sys_peak_rss_kib() >= peak_kib + 60 * 1024);
	assert_true(after.user_us + after.system_us >
		    before.user_us + before.system_us);
	free(bytes);
}

/*
 * Work that takes much less time than a tick of the clock must also be counted.
 */
static void test_short_usage(void **state)
{
	struct sys_usage before, after;
	volatile uint64_t sum = 0;

	(void)state;
	for (int round = 0; round < 20; round++) {
		sys_usage(&before, true);
		for (uint64_t i = 0; i < 20000; i++)
			sum += i;
		sys_usage(&after, true);
		assert_true(after.user_us >= before.user_us);
		assert_true(after.user_us + after.system_us >
			    before.user_us + before.system_us);
	}
}

static void test_user_names(void **state)
{
	struct buf login = BUF_INIT, full = BUF_INIT, host = BUF_INIT;
	int ret = sys_user_name(&login, false, NULL);

	(void)state;
	/*
	 * In a container, there may be no entry for the user in the password
	 * file.
	 */
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

/*
 * Allocates blocks that are smaller than a large page, as large, and larger.
 * All bytes must be usable.
 */
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

static void memory_of_a_file(void **state)
{
	char path[] = "/tmp/gitreach-memory-XXXXXX";
	struct error err = ERROR_INIT;
	int fd = mkstemp(path);
	char *a, *b;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "abc", 3), 3);
	close(fd);
	/*
	 * The file has 3 bytes. The call lengthens it, and the existing content
	 * stays.
	 */
	a = sys_memory_file(path, 10000, &err);
	assert_non_null(a);
	assert_memory_equal(a, "abc", 4);
	assert_int_equal(a[9999], 0);
	a[9999] = 7;
	b = sys_memory_file(path, 10000, &err);
	assert_non_null(b);
	assert_int_equal(b[9999], 7);
	sys_memory_unshare(a, 10000);
	sys_memory_unshare(b, 10000);
	unlink(path);
	assert_null(sys_memory_file("/tmp", 10, &err));
	assert_int_equal(err.code, ERR_IO);
	assert_null(sys_memory_file("/dev/null", 10, &err));
	assert_null(sys_memory_file("/nonexistent/x", 10, &err));
	/* On this device, the disk is always full, so the call fails. */
	assert_null(sys_memory_file("/dev/full", 10, &err));
}

#define COUNTER_BYTES (1 << 20)

/* Opens the file, and adds 1 to the counter at its end. */
static void *add_one(void *path)
{
	uint8_t *bytes = sys_memory_file(path, COUNTER_BYTES, NULL);
	_Atomic uint32_t *counter;

	if (!bytes)
		return NULL;
	counter = (_Atomic uint32_t *)(void *)(bytes + COUNTER_BYTES - 4);
	atomic_fetch_add(counter, 1);
	sys_memory_unshare(bytes, COUNTER_BYTES);
	return path;
}

/*
 * Several openers create the file at the same time. None of them loses what
 * another one has written.
 */
static void memory_of_a_file_opened_twice(void **state)
{
	char path[] = "/tmp/gitreach-memory-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	for (int round = 0; round < 50; round++) {
		uint8_t *bytes;
		uint32_t count;
		pthread_t threads[4];
		void *ret;

		assert_int_equal(truncate(path, 0), 0);
		for (int i = 0; i < 4; i++)
			assert_int_equal(pthread_create(&threads[i], NULL,
							add_one, path),
					 0);
		for (int i = 0; i < 4; i++) {
			assert_int_equal(pthread_join(threads[i], &ret), 0);
			assert_non_null(ret);
		}
		bytes = sys_memory_file(path, COUNTER_BYTES, NULL);
		assert_non_null(bytes);
		memcpy(&count, bytes + COUNTER_BYTES - 4, 4);
		assert_int_equal(count, 4);
		sys_memory_unshare(bytes, COUNTER_BYTES);
	}
	unlink(path);
}

static void shared(void **state)
{
	char *bytes = sys_memory_shared(100);
	int status;
	pid_t pid;

	assert_non_null(bytes);
	assert_int_equal(bytes[99], 0);
	pid = fork();
	if (!pid) {
		bytes[99] = 7;
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(bytes[99], 7);
	sys_memory_unshare(bytes, 100);
	sys_memory_unshare(NULL, 100);
}

/*
 * sys_memory_anonymous() counts anonymous memory that was written, and does not
 * count mapped files.
 */
static void anonymous_memory(void **state)
{
	const size_t len = (size_t)64 << 20;
	uint64_t before = sys_memory_anonymous(), now;
	uint8_t *bytes;

	assert_true(before > 0);
	bytes = mmap(NULL, len, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(bytes != MAP_FAILED);
	memset(bytes, 1, len);
	now = sys_memory_anonymous();
	assert_true(now >= before + len / 2);
	assert_int_equal(munmap(bytes, len), 0);
	assert_true(sys_memory_anonymous() <= now - len / 2);
}

/* sys_descriptors_raise() never exceeds the hard limit, and lowers nothing. */
static void descriptors(void **state)
{
	struct rlimit before, limit;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	assert_true(before.rlim_max >= 200);
	limit = (struct rlimit){.rlim_cur = 100, .rlim_max = before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(sys_descriptors_raise(0), 100);
	assert_int_equal(sys_descriptors_raise(150), 150);
	assert_int_equal(sys_descriptors_raise(120), 150);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(limit.rlim_cur, 150);
	if (before.rlim_max != RLIM_INFINITY)
		assert_int_equal(sys_descriptors_raise(before.rlim_max + 1),
				 before.rlim_max);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_environ),
		cmocka_unit_test(test_usage),
		cmocka_unit_test(test_short_usage),
		cmocka_unit_test(test_user_names),
		cmocka_unit_test(in_use_stays),
		cmocka_unit_test(large),
		cmocka_unit_test(shared),
		cmocka_unit_test(memory_of_a_file),
		cmocka_unit_test(memory_of_a_file_opened_twice),
		cmocka_unit_test(anonymous_memory),
		cmocka_unit_test(descriptors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
