/* SPDX-License-Identifier: MIT */
/* Lock files, and waiting for them. */
#include <errno.h>
#include <stdbool.h>

#include "sys/clock.h"
#include "sys/lockfile.h"

#define MS UINT64_C(1000000)
#define FIRST_WAIT_NS MS
#define LONGEST_WAIT_NS (64 * MS)

/*
 * Returns a random time between half of the interval and one and a half. So
 * processes that wait for the same lock do not try at the same moment.
 */
static uint64_t spread(uint64_t wait_ns)
{
	return wait_ns / 2 + sys_clock_ns() % wait_ns;
}

int sys_lockfile_create(struct sys_tempfile *lock, const char *path,
			int64_t timeout_ms, struct error *err)
{
	return sys_lockfile_create_mode(lock, path, 0666, timeout_ms, err);
}

int sys_lockfile_create_mode(struct sys_tempfile *lock, const char *path,
			     unsigned mode, int64_t timeout_ms,
			     struct error *err)
{
	struct error io = ERROR_INIT;
	uint64_t wait_ns = FIRST_WAIT_NS;
	uint64_t start = timeout_ms > 0 ? sys_clock_ns() : 0;

	for (;;) {
		if (!sys_tempfile_create_exact(lock, path, mode, &io))
			return 0;
		if (io.sys_errno != EEXIST || !timeout_ms)
			break;
		if (timeout_ms > 0 &&
		    (sys_clock_ns() - start) / MS >= (uint64_t)timeout_ms)
			break;
		sys_sleep_ns(spread(wait_ns));
		if (wait_ns < LONGEST_WAIT_NS)
			wait_ns *= 2;
	}
	if (io.sys_errno == EEXIST)
		return error_set(err, ERR_DENIED,
				 "Unable to create '%s': File exists.", path);
	if (err)
		*err = io;
	return io.code;
}
