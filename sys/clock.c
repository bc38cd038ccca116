/* SPDX-License-Identifier: MIT */
/* Clocks, sleeping and the alarm of the process. */
#include <stddef.h>
#include <sys/time.h>
#include <time.h>

#include "sys/clock.h"

uint64_t sys_clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

int64_t sys_clock_seconds(void)
{
	return (int64_t)time(NULL);
}

void sys_sleep_ns(uint64_t ns)
{
	struct timespec ts = {(time_t)(ns / 1000000000),
			      (long)(ns % 1000000000)};

	nanosleep(&ts, NULL);
}

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
