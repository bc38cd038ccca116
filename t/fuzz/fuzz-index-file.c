/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for the index file of a work tree. The bytes are read with SHA-1
 * and with SHA-256. The reader returns object ids until the first error. It
 * must not return more ids than fit into the file.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "names/index-file.h"
#include "t/fuzz/fuzz.h"

static int count(void *ctx, const struct index_entry *entry)
{
	if (strlen(entry->path) > entry->path_len)
		abort();
	++*(size_t *)ctx;
	return 0;
}

static int count_tree(void *ctx, struct index_tree *tree)
{
	if (tree->skips_subtrees)
		abort();
	++*(size_t *)ctx;
	return 0;
}

static int count_undo(void *ctx, const struct oid *oid, const char *index)
{
	++*(size_t *)ctx;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	static const enum hash_algo algos[] = {HASH_SHA1, HASH_SHA256};

	for (size_t i = 0; i < 2; i++) {
		struct error err = ERROR_INIT;
		struct oid shared;
		size_t nr = 0;
		const struct index_callbacks on = {
			count,
			count_tree,
			count_undo,
			&nr,
		};
		int ret = index_file_parse(bytes, len, algos[i], &on, &shared,
					   &err);

		if (nr > len / 20 || ret > 0 || (ret < 0 && !*err.msg))
			abort();
	}
	return 0;
}
