/* SPDX-License-Identifier: MIT */
/* Packing refs, in whatever store they are. */
#include "refs/ref-pack.h"
#include "refs/refs-backend.h"

#define LEAST_LIMIT 16

size_t ref_pack_limit(uint64_t size)
{
	size_t limit = 0;

	for (size /= 100; size > 1; size /= 2)
		limit += 5;
	return limit < LEAST_LIMIT ? LEAST_LIMIT : limit;
}

int ref_pack_is_due(const struct repo *repo,
		    const struct ref_pack_options *options, struct error *err)
{
	return refs_backend_of(repo)->pack_is_due(repo, options, err);
}

int ref_pack(const struct repo *repo, struct odb_reader *reader,
	     const struct ref_pack_options *options, struct error *err)
{
	return refs_backend_of(repo)->pack(repo, reader, options, err);
}
