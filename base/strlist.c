/* SPDX-License-Identifier: MIT */
/* A growable list of strings. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/sort.h"
#include "base/strlist.h"

int strlist_add_len(struct strlist *list, const char *s, size_t len)
{
	char *copy;

	if (mem_grow(&list->items, &list->alloc, list->nr + 1,
		     sizeof(*list->items)) < 0)
		return ERR_NOMEM;
	copy = mem_strndup(s, len);
	if (!copy)
		return ERR_NOMEM;
	list->is_sorted = !list->nr ||
			  (list->is_sorted &&
			   strcmp(list->items[list->nr - 1], copy) <= 0);
	list->items[list->nr++] = copy;
	return 0;
}

int strlist_add(struct strlist *list, const char *s)
{
	return strlist_add_len(list, s, strlen(s));
}

static int compare(const void *a, const void *b)
{
	return strcmp(a, *(char *const *)b);
}

bool strlist_has(const struct strlist *list, const char *s)
{
	if (list->is_sorted)
		return list->nr &&
		       bsearch(s, list->items, list->nr, sizeof(*list->items),
			       compare) != NULL;
	for (size_t i = 0; i < list->nr; i++)
		if (!strcmp(list->items[i], s))
			return true;
	return false;
}

void strlist_sort(struct strlist *list)
{
	sort_strings(list->items, list->nr);
	list->is_sorted = true;
}

void strlist_release(struct strlist *list)
{
	while (list->nr)
		free(list->items[--list->nr]);
	free(list->items);
	*list = (struct strlist)STRLIST_INIT;
}
