/* SPDX-License-Identifier: MIT */
/* Functions about one entry that the other parts of the indexer share. */
#include <string.h>

#include "base/mem.h"
#include "pack/indexer-parts.h"

int indexer_corrupt(const struct pack_indexer *ix, uint64_t offset,
		    const char *what, struct error *err)
{
	return error_set_at(err, ERR_CORRUPT, ix->name, offset, "%s", what);
}

int indexer_add_entry(struct pack_indexer *ix, uint64_t offset,
		      enum object_type stored)
{
	size_t len = hash_len(ix->config.algo);

	if (mem_grow(&ix->entries, &ix->alloc, ix->nr + 1,
		     sizeof(*ix->entries)) < 0 ||
	    mem_grow(&ix->ids, &ix->ids_alloc, ix->nr + 1, len) < 0)
		return ERR_NOMEM;
	memset(indexer_id(ix, ix->nr), 0, len);
	ix->entries[ix->nr++] = (struct indexer_entry){
		.offset = offset,
		.first_child = INDEXER_NONE,
		.next_sibling = INDEXER_NONE,
		.stored = (uint8_t)stored,
	};
	return 0;
}

int indexer_check_known(struct pack_indexer *ix, unsigned thread_nr,
			const struct oid *oid, enum object_type type,
			const void *data, size_t len, struct error *err)
{
	const struct pack_indexer_hooks *hooks = &ix->config.hooks;
	int ret = 0;

	if (hooks->has && hooks->compare)
		ret = hooks->has(hooks->ctx, thread_nr, oid, err);
	if (ret > 0)
		ret = hooks->compare(hooks->ctx, thread_nr, oid, type, data,
				     len, err);
	if (!ret && hooks->object)
		ret = hooks->object(hooks->object_ctx, thread_nr, oid, type,
				    data, len, err);
	return ret;
}
