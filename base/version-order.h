/* SPDX-License-Identifier: MIT */
/*
 * The order of names with version numbers in them: "v1.9" before "v1.10", and
 * with suffixes "v1.10-rc1" before "v1.10"; versionsort.suffix in
 * git-config(1).
 */
#ifndef BASE_VERSION_ORDER_H
#define BASE_VERSION_ORDER_H

#include <stddef.h>

/*
 * Compare as strverscmp(3), unless the names differ where one of them has a
 * suffix. Of the `nr` suffixes a name has the one that starts first, and of
 * these the longest; a name that has one comes before a name that has none,
 * and others in the order of `suffixes`. "" stands for having no other one.
 * Negative, 0 or positive. O(suffixes times the square of their length).
 */
int version_order(const char *a, const char *b, const char *const *suffixes,
		  size_t nr);

#endif
