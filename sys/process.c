/* SPDX-License-Identifier: MIT */
/* This process. */
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "sys/process.h"

long sys_process_id(void)
{
	return (long)getpid();
}

/* Whether `set` has something else to say about a variable. */
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
