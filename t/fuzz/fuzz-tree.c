/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for object/parse.h: any bytes are parsed as a tree. Entries must
 * be inside of the bytes and in order.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "object/parse.h"
#include "t/fuzz/fuzz.h"

static void check_entry(const struct tree_entry *e, const uint8_t *at,
			const struct cursor *rest, enum hash_algo algo)
{
	if (e->raw != at || e->raw + e->raw_len != rest->p ||
	    e->oid + hash_len(algo) != rest->p || !e->name_len ||
	    strlen(e->name) != e->name_len || strchr(e->name, '/'))
		abort();
}

static void walk(const uint8_t *data, size_t len, enum hash_algo algo)
{
	struct cursor c = cursor_make(data, len);
	struct tree_entry entry, last = {0};
	const uint8_t *at = c.p;
	size_t nr = 0;

	while (tree_next(&entry, &c, algo) > 0) {
		check_entry(&entry, at, &c, algo);
		if (nr++) {
			int cmp = tree_name_cmp(&last, &entry);
			int back = tree_name_cmp(&entry, &last);

			if ((cmp < 0) != (back > 0) || (cmp > 0) != (back < 0))
				abort();
		}
		last = entry;
		at = c.p;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	walk(data, len, HASH_SHA1);
	walk(data, len, HASH_SHA256);
	return 0;
}
