/* SPDX-License-Identifier: MIT */
/* Decides which file names belong to a pack, and lists names of packs. */
#include <string.h>

#include "base/affix.h"
#include "base/mem.h"
#include "pack/pack-name.h"

size_t pack_name_len(const char *file_name)
{
	static const char *const extensions[] = {
		".pack",   ".idx",      ".rev",  ".bitmap",
		".mtimes", ".promisor", ".keep",
	};
	const char *dot = strrchr(file_name, '.');

	if (!dot || pack_name_is_temporary(file_name) ||
	    starts_with(file_name, "multi-pack-index-"))
		return 0;
	for (size_t i = 0; i < ARRAY_NR(extensions); i++)
		if (!strcmp(dot, extensions[i]))
			return (size_t)(dot - file_name);
	return 0;
}

int pack_names_add(struct strlist *names, const char *name)
{
	static const char *const extensions[] = {".pack", ".idx"};
	size_t len = strlen(name);

	for (size_t i = 0; i < ARRAY_NR(extensions); i++) {
		size_t ext_len = strlen(extensions[i]);

		if (len > ext_len &&
		    !strcmp(name + len - ext_len, extensions[i]))
			return strlist_add_len(names, name, len - ext_len);
	}
	return strlist_add_len(names, name, len);
}
