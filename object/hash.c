/* SPDX-License-Identifier: MIT */
/*
 * Hashing with OpenSSL's EVP interface, or with sha1-checked.h.
 *
 * The digest is fetched once per context: fetching takes locks and string
 * comparisons that cost more than hashing a small object. Starting over with
 * no digest named keeps the fetched one.
 */
#include <stdio.h>
#include <string.h>

#include <openssl/evp.h>

#include "base/mem.h"
#include "object/hash.h"
#include "object/sha1-checked.h"

int hash_init(struct hash_ctx *h, enum hash_algo algo)
{
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	EVP_MD *md = EVP_MD_fetch(NULL, algo == HASH_SHA256 ? "SHA256" : "SHA1",
				  NULL);
	bool ok = ctx && md && EVP_DigestInit_ex2(ctx, md, NULL);

	EVP_MD_free(md); /* the context holds a reference of its own */
	*h = (struct hash_ctx){.evp = NULL};
	if (!ok) {
		EVP_MD_CTX_free(ctx);
		return ERR_NOMEM;
	}
	h->evp = ctx;
	h->algo = algo;
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
	EVP_MD_CTX_free(h->evp);
	h->evp = NULL;
	free(h->checked);
	h->checked = NULL;
}

/*
 * The calls below cannot fail on an initialised context: SHA allocates
 * nothing, and the arguments are ours.
 */
void hash_reset(struct hash_ctx *h)
{
	if (h->checked)
		sha1_checked_reset(h->checked);
	else
		EVP_DigestInit_ex2(h->evp, NULL, NULL);
}

void hash_update(struct hash_ctx *h, const void *bytes, size_t len)
{
	if (h->checked)
		sha1_checked_update(h->checked, bytes, len);
	else
		EVP_DigestUpdate(h->evp, bytes, len);
}

void hash_final(struct hash_ctx *h, struct oid *out)
{
	memset(out, 0, sizeof(*out));
	if (h->checked)
		h->is_attack = sha1_checked_final(h->checked, out->bytes);
	else
		EVP_DigestFinal_ex(h->evp, out->bytes, NULL);
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
