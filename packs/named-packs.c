/* SPDX-License-Identifier: MIT */
/* Lists of pack names that users or other code have given. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "packs/named-packs.h"

static size_t base_len(const char *name)
{
	static const char *const extensions[] = {".pack", ".idx"};
	size_t len = strlen(name);

	for (size_t i = 0; i < ARRAY_NR(extensions); i++) {
		size_t ext_len = strlen(extensions[i]);

		if (len > ext_len &&
		    !strcmp(name + len - ext_len, extensions[i]))
			return len - ext_len;
	}
	return len;
}

static int add(struct named_packs *names, const char *name, size_t len)
{
	char *copy;

	if (mem_grow(&names->names, &names->alloc, names->nr + 1,
		     sizeof(*names->names)) < 0)
		return ERR_NOMEM;
	copy = mem_strndup(name, len);
	if (!copy)
		return ERR_NOMEM;
	names->names[names->nr++] = copy;
	return 0;
}

int named_packs_add(struct named_packs *names, const char *name)
{
	return add(names, name, base_len(name));
}

int named_packs_add_name(struct named_packs *names, const char *name)
{
	return add(names, name, strlen(name));
}

void named_packs_release(struct named_packs *names)
{
	for (size_t i = 0; i < names->nr; i++)
		free(names->names[i]);
	free(names->names);
	*names = (struct named_packs)NAMED_PACKS_INIT;
}

bool named_packs_has_name(const struct named_packs *names, const char *name)
{
	for (size_t i = 0; names && i < names->nr; i++)
		if (!strcmp(names->names[i], name))
			return true;
	return false;
}
