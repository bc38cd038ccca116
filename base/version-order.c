/* SPDX-License-Identifier: MIT */
/*
 * Version numbers with suffixes.
 *
 * A suffix that ends before the first byte in which two names differ is in both
 * names. So only a suffix that contains this byte, or that ends directly before
 * it, can order the names.
 */
#include <string.h>

#include "base/version-order.h"

#define NO_SUFFIX ((size_t)-1)

/*
 * Returns the index of the suffix that contains byte `differs` of `name` or
 * ends directly before it, or NO_SUFFIX.
 */
static size_t find_suffix(const char *name, size_t differs,
			  const char *const *suffixes, size_t nr)
{
	size_t found = NO_SUFFIX, found_at = 0, found_len = 0;

	for (size_t i = 0; i < nr; i++) {
		size_t len = strlen(suffixes[i]);
		size_t at = len < differs ? differs - len : 0;

		while (at <= differs && strncmp(name + at, suffixes[i], len))
			at++;
		if (at > differs)
			continue;
		if (found != NO_SUFFIX &&
		    (at > found_at || (at == found_at && len <= found_len)))
			continue;
		found = i;
		found_at = at;
		found_len = len;
	}
	return found;
}

int version_order(const char *a, const char *b, const char *const *suffixes,
		  size_t nr)
{
	size_t differs = 0, suffix_a, suffix_b;

	while (a[differs] && a[differs] == b[differs])
		differs++;
	if (a[differs] == b[differs])
		return 0;
	suffix_a = find_suffix(a, differs, suffixes, nr);
	suffix_b = find_suffix(b, differs, suffixes, nr);
	if (suffix_a == suffix_b)
		return strverscmp(a, b);
	return suffix_a < suffix_b ? -1 : 1;
}
