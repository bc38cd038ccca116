/* SPDX-License-Identifier: MIT */
/* Clocks, sleeping and the alarm of the process. */
#ifndef SYS_CLOCK_H
#define SYS_CLOCK_H

#include <stdint.h>

/* Returns monotonic time in nanoseconds. */
uint64_t sys_clock_ns(void);

/* Returns the time of day in seconds since 1970. */
int64_t sys_clock_seconds(void);

/* Sleeps for `ns` nanoseconds. A signal may end the sleep early. */
void sys_sleep_ns(uint64_t ns);

/*
 * Sets the alarm of the process: SIGALRM ends the process in `ns` nanoseconds,
 * unless a later call sets another time. 0 cancels the alarm. A process that
 * might otherwise wait for a silent peer forever uses this.
 */
void sys_alarm_set(uint64_t ns);

#endif
