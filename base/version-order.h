/* SPDX-License-Identifier: MIT */
/*
 * The order of names that contain version numbers: "v1.9" sorts before "v1.10".
 * With a configured suffix "-rc", "v1.10-rc1" sorts before "v1.10". See
 * versionsort.suffix in git-config(1).
 */
#ifndef BASE_VERSION_ORDER_H
#define BASE_VERSION_ORDER_H

#include <stddef.h>

/*
 * Compares two names. The order is that of strverscmp(3), unless the names
 * first differ in or directly after a suffix of one of them. A name with a
 * suffix then comes before a name without one. Names with different suffixes
 * come in the order of `suffixes`. If several of the `nr` suffixes fit a name,
 * the one that starts first counts, and of those the longest. The suffix ""
 * fits every name that has no other one.
 *
 * Returns a negative number, 0 or a positive number. The time is linear in the
 * number of suffixes and quadratic in their length.
 */
int version_order(const char *a, const char *b, const char *const *suffixes,
		  size_t nr);

#endif
