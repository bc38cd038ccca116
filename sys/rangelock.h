/* SPDX-License-Identifier: MIT */
/*
 * Locks on single bytes of a file that holds nothing else: as many locks as
 * there are numbers. They belong to the opened file and end with it, so that a
 * process that is killed leaves none behind.
 *
 * Only those who ask are kept out. Not for a file that is removed.
 */
#ifndef SYS_RANGELOCK_H
#define SYS_RANGELOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* Open `path`, made if need be. The descriptor (sys_close()), or ERR_IO. */
int sys_rangelock_open(const char *path, struct error *err);

/*
 * Take lock `nr`, for several holders at once or for one; one that the same
 * descriptor has already becomes as asked. `wait`: until it is free. 0,
 * ERR_DENIED when somebody has it and `wait` is false, or ERR_IO.
 */
int sys_rangelock_take(int fd, uint32_t nr, bool shared, bool wait,
		       struct error *err);

/* Let go of it; one that is not held is accepted. */
void sys_rangelock_drop(int fd, uint32_t nr);

#endif
