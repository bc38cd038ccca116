/* SPDX-License-Identifier: MIT */
/*
 * Hashing with OpenSSL, or with sha1-checked.h.
 *
 * The hash functions are called by their names, though OpenSSL would rather
 * see its EVP interface used: that looks for providers and reads configuration
 * first, a millisecond of CPU in a process that may answer in three.
 */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <stdio.h>
#include <string.h>

#include <openssl/sha.h>

#include "base/mem.h"
#include "object/hash.h"
#include "object/sha1-checked.h"

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

/* OpenSSL's calls below cannot fail: SHA allocates nothing. */
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
	char header[32]; /* "commit " and 20 digits at most */
	int n = snprintf(header, sizeof(header), "%s %zu",
			 object_type_name(type), len);

	hash_reset(h);
	hash_update(h, header, (size_t)n + 1);
	hash_update(h, data, len);
	hash_final(h, out);
}

int hash_check_trailer(const void *bytes, size_t len, enum hash_algo algo,
		       const char *name, struct error *err)
{
	size_t id_len = hash_len(algo);
	size_t body_len = len > id_len ? len - id_len : 0;
	struct hash_ctx hash;
	struct oid sum;

	if (hash_init(&hash, algo) < 0)
		return error_nomem(err);
	hash_update(&hash, bytes, body_len);
	hash_final(&hash, &sum);
	hash_release(&hash);
	if (len >= id_len &&
	    !memcmp(sum.bytes, (const uint8_t *)bytes + body_len, id_len))
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
