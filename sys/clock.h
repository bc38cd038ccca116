/* SPDX-License-Identifier: MIT */
/* Time. */
#ifndef SYS_CLOCK_H
#define SYS_CLOCK_H

#include <stdint.h>

/* Monotonic time in nanoseconds. */
uint64_t sys_clock_ns(void);

/* Seconds since 1970. */
int64_t sys_clock_seconds(void);

/* Sleep; a signal may end it early. */
void sys_sleep_ns(uint64_t ns);

#endif
