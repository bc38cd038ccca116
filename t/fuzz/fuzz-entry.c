/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for pack/entry.c and pack/inflate.c: any bytes are read as an
 * entry of a pack. A header that can be read is written and read again. The
 * zlib stream after the header is inflated as a whole and in parts. Both ways
 * must give the same result.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pack/entry.h"
#include "pack/inflate.h"
#include "t/fuzz/fuzz.h"

#define SIZE_MAX_HERE ((size_t)1 << 20)
#define PREFIX_LEN 20

static void check_again(const struct pack_entry *want, enum hash_algo algo)
{
	uint8_t bytes[PACK_ENTRY_HEADER_MAX];
	size_t len = pack_entry_write(bytes, want, algo);
	struct cursor c = cursor_make(bytes, len);
	struct pack_entry e;

	if (len > sizeof(bytes) || pack_entry_parse(&e, &c, algo) < 0 ||
	    cursor_left(&c) || e.type != want->type || e.size != want->size ||
	    e.base_distance != want->base_distance)
		abort();
	if (e.type == OBJ_REF_DELTA &&
	    memcmp(e.base_oid, want->base_oid, hash_len(algo)) != 0)
		abort();
}

static void inflate_rest(const struct cursor *c, size_t size)
{
	struct inflater *inf = inflater_new();
	uint8_t *whole = malloc(size ? size : 1);
	uint8_t prefix[PREFIX_LEN];
	size_t used, prefix_len = size < PREFIX_LEN ? size : PREFIX_LEN;
	ssize_t n;

	if (!inf || !whole)
		goto out;
	n = inflater_prefix(inf, prefix, prefix_len, c->p, cursor_left(c));
	if (inflater_exact(inf, whole, size, c->p, cursor_left(c), &used) < 0)
		goto out;
	if (used > cursor_left(c) || n != (ssize_t)prefix_len ||
	    memcmp(whole, prefix, prefix_len) != 0)
		abort();
out:
	free(whole);
	inflater_free(inf);
}

static void parse(const uint8_t *data, size_t len, enum hash_algo algo)
{
	struct cursor c = cursor_make(data, len);
	struct pack_entry e;

	if (pack_entry_parse(&e, &c, algo) < 0) {
		if (c.p != data)
			abort();
		return;
	}
	if (c.p != data + e.header_len || !e.type || e.type == 5)
		abort();
	check_again(&e, algo);
	if (e.size <= SIZE_MAX_HERE)
		inflate_rest(&c, (size_t)e.size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	parse(data, len, HASH_SHA1);
	parse(data, len, HASH_SHA256);
	return 0;
}
