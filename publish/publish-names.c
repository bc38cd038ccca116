/* SPDX-License-Identifier: MIT */
/*
 * Functions for lists of file names, and for telling the caller of
 * publish/publish.h about files.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "publish/publish-parts.h"

int publish_names_add(struct publish_names *list, const char *name)
{
	char *copy;

	if (mem_grow(&list->names, &list->alloc, list->nr + 1,
		     sizeof(*list->names)) < 0)
		return ERR_NOMEM;
	copy = mem_strndup(name, strlen(name));
	if (!copy)
		return ERR_NOMEM;
	list->names[list->nr++] = copy;
	return 0;
}

bool publish_names_has(const struct publish_names *list, const char *name)
{
	for (size_t i = 0; i < list->nr; i++)
		if (!strcmp(list->names[i], name))
			return true;
	return false;
}

void publish_names_release(struct publish_names *list)
{
	for (size_t i = 0; i < list->nr; i++)
		free(list->names[i]);
	free(list->names);
	*list = (struct publish_names){0};
}

void publish_note(const struct publishing *p, enum publish_event event,
		  const char *name, uint64_t len)
{
	if (p->options->note)
		p->options->note(p->options->ctx, event, name, len);
}
