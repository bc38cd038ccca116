/* SPDX-License-Identifier: MIT */
/* Checked allocation. */
#include <string.h>

#include "base/error.h"
#include "base/mem.h"

void *mem_alloc(size_t nr, size_t size)
{
	size_t bytes;

	if (!mem_mul(&bytes, nr, size))
		return NULL;
	return malloc(bytes ? bytes : 1);
}

void *mem_calloc(size_t nr, size_t size)
{
	return calloc(nr ? nr : 1, size ? size : 1);
}

char *mem_strndup(const char *s, size_t len)
{
	size_t bytes;
	char *copy;

	if (!mem_add(&bytes, len, 1))
		return NULL;
	copy = malloc(bytes);
	if (!copy)
		return NULL;
	memcpy(copy, s, len);
	copy[len] = '\0';
	return copy;
}

char *mem_strdup(const char *s)
{
	return mem_strndup(s, strlen(s));
}

int mem_grow(void *items, size_t *alloc, size_t need, size_t item_size)
{
	size_t nr, bytes;
	void *old, *grown;

	if (need <= *alloc)
		return 0;
	if (!mem_add(&nr, *alloc, *alloc / 2 + 16))
		return ERR_NOMEM;
	if (nr < need)
		nr = need;
	if (!mem_mul(&bytes, nr, item_size))
		return ERR_NOMEM;
	memcpy(&old, items, sizeof(old));
	grown = realloc(old, bytes);
	if (!grown)
		return ERR_NOMEM;
	memcpy(items, &grown, sizeof(grown));
	*alloc = nr;
	return 0;
}
