/* SPDX-License-Identifier: MIT */
/* Set up an environment without any configuration of Git. */
#ifndef T_UNIT_CONFENV_H
#define T_UNIT_CONFENV_H

#include <stdlib.h>

/*
 * Remove environment variables that could change the results of a test. Make
 * `home` the home directory.
 */
static inline void confenv_clear(const char *home)
{
	static const char *const names[] = {
		"GIT_DIR",
		"GIT_WORK_TREE",
		"GIT_COMMON_DIR",
		"GIT_OBJECT_DIRECTORY",
		"GIT_ALTERNATE_OBJECT_DIRECTORIES",
		"GIT_CEILING_DIRECTORIES",
		"GIT_DISCOVERY_ACROSS_FILESYSTEM",
		"GIT_CONFIG_GLOBAL",
		"GIT_CONFIG_SYSTEM",
		"GIT_CONFIG_COUNT",
		"GIT_CONFIG_PARAMETERS",
		"GIT_TEST_ASSUME_DIFFERENT_OWNER",
		"GIT_TEST_FSYNC",
		"XDG_CONFIG_HOME",
		"SUDO_UID",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unsetenv(names[i]);
	setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
	setenv("HOME", home, 1);
}

#endif
