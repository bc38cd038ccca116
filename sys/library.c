/* SPDX-License-Identifier: MIT */
/* Loads shared libraries while the program runs. */
#include <dlfcn.h>
#include <string.h>

#include "sys/library.h"

int sys_library_open(void **out, const char *name, struct error *err)
{
	*out = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	return *out ? 0
		    : error_set(err, ERR_MISSING, "cannot load %s: %s",
				name ? name : "the program's libraries",
				dlerror());
}

void sys_library_close(void *library)
{
	if (library)
		dlclose(library);
}

int sys_library_find(void *out, void *library, const char *name,
		     struct error *err)
{
	void *found = dlsym(library, name);

	if (!found)
		return error_set(err, ERR_MISSING, "%s", dlerror());
	memcpy(out, &found, sizeof(found));
	return 0;
}
