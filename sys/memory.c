/* SPDX-License-Identifier: MIT */
/* Giving memory back. */
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "sys/memory.h"

void sys_memory_trim(void)
{
#ifdef __GLIBC__
	malloc_trim(0);
#endif
}
