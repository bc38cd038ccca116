/* SPDX-License-Identifier: MIT */
/*
 * Computes hashes of passwords. crypt_r() computes most kinds; its library is
 * loaded when a file of passwords is configured. This file computes the kinds
 * of Apache.
 */
#define OPENSSL_SUPPRESS_DEPRECATED

#include <crypt.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/md5.h>
#include <openssl/sha.h>

#include "base/base64.h"
#include "base/mem.h"
#include "access/htpasswd.h"
#include "sys/library.h"

/*
 * glibc has no crypt_r(). Other C libraries, such as musl, have the function
 * themselves, and their struct crypt_data has another size than that of
 * libcrypt.so.1.
 */
#ifdef __GLIBC__
#define CRYPT_LIBRARY "libcrypt.so.1"
#else
#define CRYPT_LIBRARY NULL
#endif

#define APR1 "$apr1$"
#define APR1_SALT_MAX 8
#define APR1_HASH_LEN 22
#define SHA1_FORM "{SHA}"

int password_crypt_open(struct password_crypt *c, struct error *err)
{
	int ret;

	*c = (struct password_crypt){NULL, NULL};
	ret = sys_library_open(&c->library, CRYPT_LIBRARY, err);
	return ret < 0 ? ret
		       : sys_library_find(&c->crypt, c->library, "crypt_r",
					  err);
}

void password_crypt_release(struct password_crypt *c)
{
	sys_library_close(c->library);
}

static bool has_form(const char *hash, const char *form)
{
	return !strncmp(hash, form, strlen(form));
}

bool password_is_hash(const char *hash)
{
	static const char *const forms[] = {
		"$2a$", "$2b$", "$2y$", "$y$", "$gy$",    "$7$",
		"$6$",  "$5$",  "$1$",  APR1,  SHA1_FORM,
	};

	for (size_t i = 0; i < ARRAY_NR(forms); i++)
		if (has_form(hash, forms[i]))
			return strlen(hash) < PASSWORD_HASH_MAX;
	return false;
}

/* Returns whether two strings are equal, in a time that depends on `a` only. */
static bool is_equal(const char *a, const char *b)
{
	size_t a_len = strlen(a), b_len = strlen(b);
	unsigned char differs = a_len != b_len;

	for (size_t i = 0; i < a_len; i++)
		differs |= (unsigned char)a[i] ^
			   (unsigned char)b[i < b_len ? i : b_len];
	return !differs;
}

/* ---- $apr1$ */

/*
 * Computes the first digest of $apr1$: the password, mixed with a digest of
 * password and salt.
 */
static void apr1_begin(uint8_t out[MD5_DIGEST_LENGTH], const char *password,
		       const char *salt, size_t salt_len)
{
	size_t len = strlen(password);
	MD5_CTX ctx;

	MD5_Init(&ctx);
	MD5_Update(&ctx, password, len);
	MD5_Update(&ctx, salt, salt_len);
	MD5_Update(&ctx, password, len);
	MD5_Final(out, &ctx);

	MD5_Init(&ctx);
	MD5_Update(&ctx, password, len);
	MD5_Update(&ctx, APR1, strlen(APR1));
	MD5_Update(&ctx, salt, salt_len);
	for (size_t left = len; left;) {
		size_t n = left < MD5_DIGEST_LENGTH ? left : MD5_DIGEST_LENGTH;

		MD5_Update(&ctx, out, n);
		left -= n;
	}
	for (size_t bits = len; bits; bits >>= 1)
		MD5_Update(&ctx, bits & 1 ? "" : password, 1);
	MD5_Final(out, &ctx);
}

/*
 * Computes one of the thousand rounds of the hash $apr1$. The rounds make the
 * hash slow on purpose.
 */
static void apr1_round(uint8_t out[MD5_DIGEST_LENGTH], unsigned nr,
		       const char *password, const char *salt, size_t salt_len)
{
	size_t len = strlen(password);
	MD5_CTX ctx;

	MD5_Init(&ctx);
	if (nr & 1)
		MD5_Update(&ctx, password, len);
	else
		MD5_Update(&ctx, out, MD5_DIGEST_LENGTH);
	if (nr % 3)
		MD5_Update(&ctx, salt, salt_len);
	if (nr % 7)
		MD5_Update(&ctx, password, len);
	if (nr & 1)
		MD5_Update(&ctx, out, MD5_DIGEST_LENGTH);
	else
		MD5_Update(&ctx, password, len);
	MD5_Final(out, &ctx);
}

/* Write a digest in the alphabet of crypt(). */
static void apr1_encode(char out[APR1_HASH_LEN + 1],
			const uint8_t digest[MD5_DIGEST_LENGTH])
{
	static const char alphabet[] = "./0123456789"
				       "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				       "abcdefghijklmnopqrstuvwxyz";
	static const uint8_t order[][3] = {
		{0, 6, 12}, {1, 7, 13}, {2, 8, 14}, {3, 9, 15}, {4, 10, 5},
	};
	char *p = out;

	for (size_t i = 0; i < ARRAY_NR(order); i++) {
		uint32_t bits = (uint32_t)digest[order[i][0]] << 16 |
				(uint32_t)digest[order[i][1]] << 8 |
				digest[order[i][2]];

		for (int k = 0; k < 4; k++, bits >>= 6)
			*p++ = alphabet[bits & 63];
	}
	*p++ = alphabet[digest[11] & 63];
	*p++ = alphabet[digest[11] >> 6];
	*p = '\0';
}

static bool matches_apr1(const char *hash, const char *password)
{
	const char *salt = hash + strlen(APR1);
	size_t salt_len = strcspn(salt, "$");
	uint8_t digest[MD5_DIGEST_LENGTH];
	char text[APR1_HASH_LEN + 1];

	if (salt_len > APR1_SALT_MAX || salt[salt_len] != '$')
		return false;
	apr1_begin(digest, password, salt, salt_len);
	for (unsigned i = 0; i < 1000; i++)
		apr1_round(digest, i, password, salt, salt_len);
	apr1_encode(text, digest);
	return is_equal(text, salt + salt_len + 1);
}

/* ---- the others */

static bool matches_sha1(const char *hash, const char *password)
{
	const char *text = hash + strlen(SHA1_FORM);
	uint8_t stored[SHA_DIGEST_LENGTH], digest[SHA_DIGEST_LENGTH];
	unsigned char differs = 0;
	SHA_CTX ctx;

	if (base64_decode(stored, sizeof(stored), text, strlen(text)) !=
	    SHA_DIGEST_LENGTH)
		return false;
	SHA1_Init(&ctx);
	SHA1_Update(&ctx, password, strlen(password));
	SHA1_Final(digest, &ctx);
	for (size_t i = 0; i < sizeof(digest); i++)
		differs |= digest[i] ^ stored[i];
	return !differs;
}

int password_matches(const struct password_crypt *c, const char *hash,
		     const char *password)
{
	struct crypt_data *data;
	const char *made;
	int ret;

	if (has_form(hash, APR1))
		return matches_apr1(hash, password);
	if (has_form(hash, SHA1_FORM))
		return matches_sha1(hash, password);
	data = mem_calloc(1, sizeof(*data));
	if (!data)
		return ERR_NOMEM;
	/* libcrypt returns a string with '*' if it does not know the hash. */
	made = c->crypt(password, hash, data);
	ret = made && *made != '*' && is_equal(made, hash);
	free(data);
	return ret;
}
