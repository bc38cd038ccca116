/* SPDX-License-Identifier: MIT */
/*
 * A list of tags in an array, as input of requests for packs. The tested code
 * visits the tags through the callback taglist_each().
 */
#ifndef T_UNIT_TAGLIST_H
#define T_UNIT_TAGLIST_H

#include <stddef.h>

#include "packing/send.h"

struct taglist {
	const struct packing_tag *tags;
	size_t nr;
};

static inline int taglist_each(void *ctx,
			       int (*fn)(void *fn_ctx,
					 const struct packing_tag *tag),
			       void *fn_ctx, struct error *err)
{
	const struct taglist *list = ctx;
	int ret = 0;

	for (size_t i = 0; i < list->nr && !ret; i++)
		ret = fn(fn_ctx, &list->tags[i]);
	return ret;
}

static inline int taglist_add_one(void *ctx, const struct packing_tag *tag)
{
	++*(size_t *)ctx;
	return 0;
}

static inline size_t taglist_count(const struct packing_tags *tags)
{
	size_t nr = 0;

	if (tags->each && tags->each(tags->ctx, taglist_add_one, &nr, NULL))
		return SIZE_MAX;
	return nr;
}

#endif
