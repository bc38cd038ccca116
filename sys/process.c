/* SPDX-License-Identifier: MIT */
/* This process. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "sys/io.h"
#include "sys/process.h"

long sys_process_id(void)
{
	return (long)getpid();
}

/* Returns whether `set` contains a value for the variable. */
static bool is_replaced(const char *variable, const char *const *set, size_t nr)
{
	size_t len = strcspn(variable, "=");

	for (size_t i = 0; i < nr; i++)
		if (!strncmp(set[i], variable, len) && set[i][len] == '=')
			return true;
	return false;
}

char **sys_environ_with(const char *const *set, size_t nr)
{
	size_t environ_nr = 0, n = 0;
	char **env;

	while (environ[environ_nr])
		environ_nr++;
	env = mem_calloc(environ_nr + nr + 1, sizeof(*env));
	if (!env)
		return NULL;
	for (size_t i = 0; i < environ_nr; i++)
		if (!is_replaced(environ[i], set, nr))
			env[n++] = environ[i];
	for (size_t i = 0; i < nr; i++)
		env[n++] = (char *)set[i];
	return env;
}

static uint64_t us_of(const struct timeval *tv)
{
	return (uint64_t)tv->tv_sec * 1000000 + (uint64_t)tv->tv_usec;
}

/* Not getrusage(): its peak includes the memory of this process before exec. */
static uint64_t read_peak(void)
{
	static const char key[] = "\nVmHWM:";
	struct buf status = BUF_INIT;
	uint64_t kib = 0;
	const char *line;

	if (!sys_read_any(&status, "/proc/self/status", NULL)) {
		line = strstr(status.data, key);
		if (line)
			kib = strtoull(line + sizeof(key) - 1, NULL, 10);
	}
	buf_release(&status);
	return kib;
}

void sys_usage(struct sys_usage *usage)
{
	struct rusage r = {0};

	getrusage(RUSAGE_SELF, &r);
	usage->user_us = us_of(&r.ru_utime);
	usage->system_us = us_of(&r.ru_stime);
	usage->peak_rss_kib = read_peak();
}
