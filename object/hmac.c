/* SPDX-License-Identifier: MIT */
/* HMAC with either hash. */
#include <string.h>

#include "object/hash.h"
#include "object/hmac.h"

enum {
	BLOCK_LEN = 64, /* of both hashes */
	INNER_PAD = 0x36,
	OUTER_PAD = 0x5c,
};

static void hash_padded(struct hash_ctx *h, struct oid *out,
			const uint8_t key[BLOCK_LEN], uint8_t pad,
			const void *bytes, size_t len)
{
	uint8_t block[BLOCK_LEN];

	for (size_t i = 0; i < BLOCK_LEN; i++)
		block[i] = key[i] ^ pad;
	hash_reset(h);
	hash_update(h, block, BLOCK_LEN);
	hash_update(h, bytes, len);
	hash_final(h, out);
}

int hmac_make(struct oid *out, enum hash_algo algo, const void *key,
	      size_t key_len, const void *bytes, size_t len)
{
	uint8_t block[BLOCK_LEN] = {0};
	struct hash_ctx h;

	if (hash_init(&h, algo) < 0)
		return ERR_NOMEM;
	if (key_len > BLOCK_LEN) {
		hash_update(&h, key, key_len);
		hash_final(&h, out);
		key = out->bytes;
		key_len = hash_len(algo);
	}
	memcpy(block, key, key_len);
	hash_padded(&h, out, block, INNER_PAD, bytes, len);
	hash_padded(&h, out, block, OUTER_PAD, out->bytes, hash_len(algo));
	hash_release(&h);
	return 0;
}
