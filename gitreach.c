/* SPDX-License-Identifier: MIT */
/*
 * The exported functions of libgitreach. Arguments are checked here and passed
 * down; what they do is done by the rooms below.
 */
#include "include/gitreach.h"

const char *gitreach_version(void)
{
	return GITREACH_VERSION;
}
