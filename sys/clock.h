/* SPDX-License-Identifier: MIT */
/* Clocks, sleeping and the alarm of the process. */
#ifndef SYS_CLOCK_H
#define SYS_CLOCK_H

#include <stdint.h>

/*
 * Returns the time of the monotonic clock in nanoseconds. The clock never goes
 * back.
 */
uint64_t sys_clock_ns(void);

/* Returns the time of day in seconds since 1970. */
int64_t sys_clock_seconds(void);

/* Sleeps for `ns` nanoseconds. A signal may end the sleep early. */
void sys_sleep_ns(uint64_t ns);

/*
 * Sets the alarm of the process: SIGALRM ends the process in `ns` nanoseconds,
 * unless a later call sets another time. 0 cancels the alarm. Used by a process
 * that could otherwise wait forever for a peer that sends nothing.
 */
void sys_alarm_set(uint64_t ns);

#endif
