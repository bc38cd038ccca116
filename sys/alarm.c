/* SPDX-License-Identifier: MIT */
/* The process's alarm. */
#include <unistd.h>

#include "sys/alarm.h"

void sys_alarm_set(unsigned seconds)
{
	alarm(seconds);
}
