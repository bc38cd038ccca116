/* SPDX-License-Identifier: MIT */
/*
 * The process's alarm: a way out of system calls that a silent peer would
 * make last for ever.
 */
#ifndef SYS_ALARM_H
#define SYS_ALARM_H

#include <stdint.h>

/*
 * End the process by SIGALRM in `ns` nanoseconds, unless this is called again
 * before; 0: not at all.
 */
void sys_alarm_set(uint64_t ns);

#endif
