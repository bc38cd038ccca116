/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for the pack indexer. The input is a pack without its trailer.
 * The target computes the trailer, because a fuzzer cannot guess a checksum.
 * The blob "base" is in the repository, and can complete a thin pack.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "object/hash.h"
#include "indexer/indexer.h"
#include "t/fuzz/fuzz.h"

struct input {
	const uint8_t *data;
	size_t len, at;
	struct oid trailer, known;
};

/*
 * Callback that reads up to 64 bytes of the pack: the input, and then its
 * trailer.
 */
static ssize_t deal(void *ctx, void *bytes, size_t len, struct error *err)
{
	struct input *in = ctx;
	const uint8_t *from = in->data + in->at;
	size_t n = in->len - in->at;

	if (in->at >= in->len) {
		n = in->len + hash_len(HASH_SHA1) - in->at;
		from = in->trailer.bytes + (in->at - in->len);
	}
	n = n < len ? n : len;
	n = n < 64 ? n : 64;
	memcpy(bytes, from, n);
	in->at += n;
	return (ssize_t)n;
}

static int base(void *ctx, const struct oid *oid, enum object_type *type,
		void **data, size_t *len, struct error *err)
{
	struct input *in = ctx;

	if (!oid_equal(oid, &in->known))
		return 0;
	*type = OBJ_BLOB;
	*data = mem_strndup("base", 4);
	*len = 4;
	return 1;
}

static void hash_input(struct input *in)
{
	struct hash_ctx h;

	require(hash_init(&h, HASH_SHA1) == 0);
	hash_update(&h, in->data, in->len);
	hash_final(&h, &in->trailer);
	hash_object(&h, &in->known, OBJ_BLOB, "base", 4);
	hash_release(&h);
}

static void check_result(const struct pack_indexer *ix)
{
	struct pack_indexer_result r;

	pack_indexer_result(ix, &r);
	for (uint32_t i = 1; i < r.nr; i++)
		require(memcmp(r.entries[i - 1].oid, r.entries[i].oid, 20) <=
			0);
	for (uint32_t i = 0; i < r.nr; i++)
		require(r.entries[i].offset >= 12 &&
			r.entries[i].offset < r.pack_len - 20);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct input in = {.data = data, .len = len};
	const struct pack_indexer_config config = {
		.algo = HASH_SHA1,
		.threads = 1,
		.max_object_len = 1 << 20,
		.cache_limit = 64,
		.hooks = {.base = base, .ctx = &in},
	};
	struct pack_indexer *ix = pack_indexer_new(&config);
	struct error err = ERROR_INIT;
	int ret;

	require(ix);
	hash_input(&in);
	ret = pack_indexer_receive(
		ix, (struct pack_source){.read = deal, .ctx = &in}, "/tmp",
		&err);
	if (!ret)
		ret = pack_indexer_resolve(ix, &err);
	if (!ret)
		check_result(ix);
	else
		require(err.code == ret && *err.msg);
	pack_indexer_free(ix);
	return 0;
}
