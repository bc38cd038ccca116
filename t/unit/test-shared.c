/* SPDX-License-Identifier: MIT */
/*
 * Tests of sys/shared.c, memory and locks that processes share. A child process
 * dies while it holds a lock, a lock excludes other processes, and a child
 * wakes its parent.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "sys/clock.h"
#include "sys/process.h"
#include "sys/shared.h"

#define SECOND_NS UINT64_C(1000000000)

struct memory {
	struct sys_shared_lock lock;
	atomic_uint word, done;
};

static struct memory *new_memory(void)
{
	struct memory *m = sys_memory_shared(sizeof(*m));

	assert_non_null(m);
	assert_int_equal(sys_shared_lock_init(&m->lock), 0);
	return m;
}

/* Waits until the word differs from `value`, for at most a minute. */
static void await(atomic_uint *word, unsigned value)
{
	uint64_t end = sys_clock_ns() + 60 * SECOND_NS;

	while (atomic_load(word) == value && sys_clock_ns() < end)
		sys_word_wait(word, value, SECOND_NS);
	assert_int_not_equal(atomic_load(word), value);
}

static void test_owner_dies(void **state)
{
	struct memory *m = new_memory();
	pid_t pid = fork();

	if (!pid) {
		sys_shared_lock_take(&m->lock);
		kill(getpid(), SIGKILL);
	}
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_true(sys_shared_lock_take(&m->lock));
	sys_shared_lock_give(&m->lock);
	assert_false(sys_shared_lock_take(&m->lock));
	sys_shared_lock_give(&m->lock);
	sys_memory_unshare(m, sizeof(*m));
}

static void test_lock_excludes(void **state)
{
	struct memory *m = new_memory();
	pid_t pids[4];
	unsigned both = 0;

	for (int i = 0; i < 4; i++) {
		pids[i] = fork();
		for (int k = 0; !pids[i] && k < 2000; k++) {
			sys_shared_lock_take(&m->lock);
			if (atomic_fetch_add(&m->word, 1))
				_exit(1);
			atomic_fetch_sub(&m->word, 1);
			sys_shared_lock_give(&m->lock);
		}
		if (!pids[i])
			_exit(0);
	}
	for (int i = 0; i < 4; i++) {
		int status;

		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		both += status != 0;
	}
	assert_int_equal(both, 0);
	sys_memory_unshare(m, sizeof(*m));
}

static void test_word(void **state)
{
	struct memory *m = new_memory();
	uint64_t start;
	pid_t pid = fork();

	if (!pid) {
		await(&m->word, 0);
		atomic_store(&m->done, 1);
		sys_word_wake(&m->done);
		_exit(0);
	}
	atomic_store(&m->word, 7);
	sys_word_wake(&m->word);
	await(&m->done, 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	/*
	 * sys_word_wait() returns immediately if the word has another value
	 * than expected. If the word has the expected value, it waits until the
	 * end of the time limit.
	 */
	sys_word_wait(&m->word, 8, 60 * SECOND_NS);
	start = sys_clock_ns();
	sys_word_wait(&m->word, 7, SECOND_NS / 100);
	assert_true(sys_clock_ns() - start < 60 * SECOND_NS);
	sys_memory_unshare(m, sizeof(*m));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_owner_dies),
		cmocka_unit_test(test_lock_excludes),
		cmocka_unit_test(test_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
