/* SPDX-License-Identifier: MIT */
/* A growable list of strings, such as names of refs or of files. */
#ifndef BASE_STRLIST_H
#define BASE_STRLIST_H

#include <stdbool.h>
#include <stddef.h>

struct strlist {
	char **items; /* owned array of owned strings */
	size_t nr, alloc;
	/* true: the strings are in the order of strcmp(); false: unknown */
	bool is_sorted;
};

#define STRLIST_INIT                                                           \
	{                                                                      \
		NULL, 0, 0, false                                              \
	}

/*
 * Appends a copy of a string, or of the first `len` bytes of a string. Returns
 * 0 or ERR_NOMEM. After an error, the list is unchanged.
 */
int strlist_add(struct strlist *list, const char *s);
int strlist_add_len(struct strlist *list, const char *s, size_t len);

/*
 * Returns whether the list has a string. Cost: if list->is_sorted, a binary
 * search; otherwise compares the string with all strings of the list.
 */
bool strlist_has(const struct strlist *list, const char *s);

/*
 * Sorts the strings in the order of strcmp(). The list stays sorted while
 * strings are added in this order.
 */
void strlist_sort(struct strlist *list);

/* Frees the strings. The list is empty afterwards. */
void strlist_release(struct strlist *list);

#endif
