/* SPDX-License-Identifier: MIT */
/*
 * Computes hashes with OpenSSL or with object/sha1-checked.h.
 *
 * OpenSSL's hash functions are called directly, though they are deprecated in
 * favour of its EVP interface. The EVP interface first loads providers and
 * reads configuration. This takes a millisecond of CPU, in a process that may
 * finish in three.
 */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <stdio.h>
#include <string.h>

#include <openssl/sha.h>

#include "base/mem.h"
#include "object/hash.h"
#include "object/sha1-checked.h"
#include "object/sha1-block.h"

union hash_state {
	SHA_CTX sha1;
	SHA256_CTX sha256;
};

int hash_init(struct hash_ctx *h, enum hash_algo algo)
{
	*h = (struct hash_ctx){.algo = algo};
	h->state = mem_alloc(1, sizeof(*h->state));
	if (!h->state)
		return ERR_NOMEM;
	hash_reset(h);
	return 0;
}

int hash_init_checked(struct hash_ctx *h, enum hash_algo algo)
{
	if (algo != HASH_SHA1)
		return hash_init(h, algo);
	*h = (struct hash_ctx){.algo = algo};
	h->checked = mem_alloc(1, sizeof(*h->checked));
	if (!h->checked)
		return ERR_NOMEM;
	sha1_checked_init(h->checked);
	sha1_checked_reset(h->checked);
	return 0;
}

void hash_release(struct hash_ctx *h)
{
	free(h->state);
	h->state = NULL;
	free(h->checked);
	h->checked = NULL;
}

/*
 * The return values of OpenSSL's functions are ignored. These functions cannot
 * fail, because SHA allocates no memory.
 */
void hash_reset(struct hash_ctx *h)
{
	if (h->checked)
		sha1_checked_reset(h->checked);
	else if (h->algo == HASH_SHA256)
		SHA256_Init(&h->state->sha256);
	else
		SHA1_Init(&h->state->sha1);
}

void hash_update(struct hash_ctx *h, const void *bytes, size_t len)
{
	if (h->checked)
		sha1_checked_update(h->checked, bytes, len);
	else if (h->algo == HASH_SHA256)
		SHA256_Update(&h->state->sha256, bytes, len);
	else
		SHA1_Update(&h->state->sha1, bytes, len);
}

void hash_final(struct hash_ctx *h, struct oid *out)
{
	memset(out, 0, sizeof(*out));
	if (h->checked)
		h->is_attack = sha1_checked_final(h->checked, out->bytes);
	else if (h->algo == HASH_SHA256)
		SHA256_Final(out->bytes, &h->state->sha256);
	else
		SHA1_Final(out->bytes, &h->state->sha1);
}

void hash_object(struct hash_ctx *h, struct oid *out, enum object_type type,
		 const void *data, size_t len)
{
	/*
	 * room for the header of the object: "commit ", at most 20 digits and a
	 * NUL
	 */
	char header[32];
	int n = snprintf(header, sizeof(header), "%s %zu",
			 object_type_name(type), len);

	hash_reset(h);
	hash_update(h, header, (size_t)n + 1);
	hash_update(h, data, len);
	hash_final(h, out);
}

/*
 * Returns whether the last bytes of a file are the right checksum. The context
 * `h` has hashed the first `done` bytes of the file already.
 */
static bool trailer_is_right(struct hash_ctx *h, const uint8_t *bytes,
			     size_t len, size_t done)
{
	size_t id_len = hash_len(h->algo);
	struct oid sum;

	if (len < id_len)
		return false;
	hash_update(h, bytes + done, len - id_len - done);
	hash_final(h, &sum);
	return !memcmp(sum.bytes, bytes + len - id_len, id_len);
}

int hash_check_trailer(const void *bytes, size_t len, enum hash_algo algo,
		       const char *name, struct error *err)
{
	size_t id_len = hash_len(algo);
	size_t body_len = len > id_len ? len - id_len : 0;
	struct hash_ctx hash;
	bool is_right;

	if (hash_init(&hash, algo) < 0)
		return error_nomem(err);
	is_right = trailer_is_right(&hash, bytes, len, 0);
	hash_release(&hash);
	if (is_right)
		return 0;
	return error_set_at(err, ERR_CORRUPT, name, body_len,
			    "checksum mismatch");
}

int hash_append_trailer(struct buf *out, size_t start, enum hash_algo algo,
			struct oid *checksum)
{
	struct hash_ctx hash;
	struct oid sum;

	if (hash_init(&hash, algo) < 0)
		return ERR_NOMEM;
	hash_update(&hash, out->data + start, out->len - start);
	hash_final(&hash, &sum);
	hash_release(&hash);
	if (checksum)
		*checksum = sum;
	return buf_append(out, sum.bytes, hash_len(algo));
}

static void get_state(uint32_t *state, const SHA_CTX *sha1)
{
	state[0] = sha1->h0;
	state[1] = sha1->h1;
	state[2] = sha1->h2;
	state[3] = sha1->h3;
	state[4] = sha1->h4;
}

/*
 * Loads the state of a running SHA-1. The first `len` bytes of the message, a
 * whole number of blocks, are hashed already.
 */
static void set_state(SHA_CTX *sha1, const uint32_t *state, size_t len)
{
	sha1->h0 = state[0];
	sha1->h1 = state[1];
	sha1->h2 = state[2];
	sha1->h3 = state[3];
	sha1->h4 = state[4];
	sha1->Nl = (SHA_LONG)(len << 3);
	sha1->Nh = (SHA_LONG)((uint64_t)len >> 29);
}

/*
 * Hashes the first blocks of two messages together: as many whole blocks as
 * the shorter message has. Returns the number of bytes hashed of each message,
 * which may be 0.
 */
static size_t begin_two(struct hash_ctx *a, struct hash_ctx *b,
			const uint8_t *const bytes[2], size_t len)
{
	uint32_t states[2][SHA1_STATE_NR];
	size_t nr = len / SHA1_BLOCK_LEN;

	if (a->algo != HASH_SHA1 || !sha1_pair_is_here())
		return 0;
	get_state(states[0], &a->state->sha1);
	get_state(states[1], &b->state->sha1);
	sha1_pair_compress(states, bytes, nr);
	set_state(&a->state->sha1, states[0], nr * SHA1_BLOCK_LEN);
	set_state(&b->state->sha1, states[1], nr * SHA1_BLOCK_LEN);
	return nr * SHA1_BLOCK_LEN;
}

int hash_check_two(const void *a, size_t a_len, const void *b, size_t b_len,
		   enum hash_algo algo)
{
	const uint8_t *bytes[2] = {a, b};
	size_t id_len = hash_len(algo), least = a_len < b_len ? a_len : b_len;
	struct hash_ctx ha = {0}, hb = {0};
	int ret = ERR_NOMEM;

	if (!hash_init(&ha, algo) && !hash_init(&hb, algo)) {
		size_t done = least < id_len ? 0
					     : begin_two(&ha, &hb, bytes,
							 least - id_len);

		ret = trailer_is_right(&ha, a, a_len, done) &&
		      trailer_is_right(&hb, b, b_len, done);
	}
	hash_release(&ha);
	hash_release(&hb);
	return ret;
}

enum {
	/* number of bytes of a block, the same for SHA-1 and SHA-256 */
	HMAC_BLOCK_LEN = 64,
	INNER_PAD = 0x36,
	OUTER_PAD = 0x5c,
};

static void hash_padded(struct hash_ctx *h, struct oid *out,
			const uint8_t key[HMAC_BLOCK_LEN], uint8_t pad,
			const void *bytes, size_t len)
{
	uint8_t block[HMAC_BLOCK_LEN];

	for (size_t i = 0; i < HMAC_BLOCK_LEN; i++)
		block[i] = key[i] ^ pad;
	hash_reset(h);
	hash_update(h, block, HMAC_BLOCK_LEN);
	hash_update(h, bytes, len);
	hash_final(h, out);
}

int hash_hmac(struct oid *out, enum hash_algo algo, const void *key,
	      size_t key_len, const void *bytes, size_t len)
{
	uint8_t block[HMAC_BLOCK_LEN] = {0};
	struct hash_ctx h;

	if (hash_init(&h, algo) < 0)
		return ERR_NOMEM;
	if (key_len > HMAC_BLOCK_LEN) {
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
