/* SPDX-License-Identifier: MIT */
/* The process's alarm. */
#include <stddef.h>
#include <sys/time.h>

#include "sys/alarm.h"

#define SECOND_US 1000000

void sys_alarm_set(uint64_t ns)
{
	uint64_t us = ns / 1000 + (ns % 1000 != 0);
	const struct itimerval once = {
		.it_value = {(time_t)(us / SECOND_US),
			     (suseconds_t)(us % SECOND_US)},
	};

	setitimer(ITIMER_REAL, &once, NULL);
}
