/* SPDX-License-Identifier: MIT */
/* Computes AWS Signature Version 4; sigv4.h describes the signed text. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "object/hash.h"
#include "store/sigv4.h"

#define ALGORITHM "AWS4-HMAC-SHA256"
#define SERVICE "s3"

/* ---- quoting, times and hashes */

int sigv4_quote(struct buf *out, const char *text, bool keep_slash)
{
	int ret = 0;

	for (; !ret && *text; text++) {
		char c = *text;

		if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		    (c >= '0' && c <= '9') || strchr("-._~", c) ||
		    (c == '/' && keep_slash))
			ret = buf_append_char(out, c);
		else
			ret = buf_printf(out, "%%%02X", (unsigned char)c);
	}
	return ret;
}

void sigv4_time(char out[SIGV4_TIME_LEN], int64_t now)
{
	time_t seconds = (time_t)now;
	struct tm tm = {0};

	gmtime_r(&seconds, &tm);
	if (!strftime(out, SIGV4_TIME_LEN, "%Y%m%dT%H%M%SZ", &tm))
		*out = '\0';
}

int sigv4_body_hash(char out[SIGV4_HASH_LEN], const void *bytes, size_t len)
{
	struct hash_ctx hash;
	struct oid oid;

	if (hash_init(&hash, HASH_SHA256) < 0)
		return ERR_NOMEM;
	hash_update(&hash, bytes, len);
	hash_final(&hash, &oid);
	hash_release(&hash);
	oid_to_hex(out, &oid, HASH_SHA256);
	return 0;
}

/* ---- the canonical request */

/* Pairs of a name and a value, sorted by name. */
struct sorted {
	const struct sigv4_pair *pairs[SIGV4_PAIRS_MAX];
	size_t nr;
};

/*
 * Sorts pairs by name. Names need no quoting, so the order is the same before
 * and after quoting.
 */
static void sort_pairs(struct sorted *s, const struct sigv4_pair *pairs,
		       size_t nr)
{
	s->nr = 0;
	for (size_t i = 0; i < nr; i++) {
		size_t at = s->nr++;

		for (; at && strcmp(s->pairs[at - 1]->name, pairs[i].name) > 0;
		     at--)
			s->pairs[at] = s->pairs[at - 1];
		s->pairs[at] = &pairs[i];
	}
}

int sigv4_query(struct buf *out, const struct sigv4_pair *query, size_t nr)
{
	struct sorted s;
	int ret = 0;

	sort_pairs(&s, query, nr);
	for (size_t i = 0; !ret && i < s.nr; i++) {
		ret = i ? buf_append_char(out, '&') : 0;
		if (!ret)
			ret = sigv4_quote(out, s.pairs[i]->name, false);
		if (!ret)
			ret = buf_append_char(out, '=');
		if (!ret)
			ret = sigv4_quote(out, s.pairs[i]->value, false);
	}
	return ret;
}

static int append_header_names(struct buf *out, const struct sorted *s)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < s->nr; i++)
		ret = buf_printf(out, "%s%s", i ? ";" : "", s->pairs[i]->name);
	return ret;
}

static int append_canonical(struct buf *out, const struct sigv4_request *r,
			    const struct sorted *headers)
{
	int ret = buf_printf(out, "%s\n", r->method);

	if (!ret)
		ret = sigv4_quote(out, r->path, true);
	if (!ret)
		ret = buf_append_char(out, '\n');
	if (!ret)
		ret = sigv4_query(out, r->query, r->query_nr);
	if (!ret)
		ret = buf_append_char(out, '\n');
	for (size_t i = 0; !ret && i < headers->nr; i++)
		ret = buf_printf(out, "%s:%s\n", headers->pairs[i]->name,
				 headers->pairs[i]->value);
	if (!ret)
		ret = buf_append_char(out, '\n');
	if (!ret)
		ret = append_header_names(out, headers);
	if (!ret)
		ret = buf_printf(out, "\n%s", r->body_hash);
	return ret;
}

/* ---- the signature */

/* Appends the scope of a signature: <date>/<region>/s3/aws4_request */
static int append_scope(struct buf *out, const struct sigv4_request *r,
			const char *time)
{
	return buf_printf(out, "%.8s/%s/" SERVICE "/aws4_request", time,
			  r->region);
}

static int hmac(struct oid *key, const char *text)
{
	return hash_hmac(key, HASH_SHA256, key->bytes, hash_len(HASH_SHA256),
			 text, strlen(text));
}

/*
 * Computes the signing key, which is valid for one day, one region and one
 * service.
 */
static int derive_key(struct oid *key, const struct sigv4_request *r,
		      const char *time)
{
	struct buf secret = BUF_INIT;
	int ret = buf_printf(&secret, "AWS4%s", r->keys->secret);

	if (!ret)
		ret = hash_hmac(key, HASH_SHA256, secret.data, secret.len, time,
				8);
	explicit_bzero(secret.data, secret.alloc ? secret.len : 0);
	buf_release(&secret);
	if (!ret)
		ret = hmac(key, r->region);
	if (!ret)
		ret = hmac(key, SERVICE);
	if (!ret)
		ret = hmac(key, "aws4_request");
	return ret;
}

/* Writes the signature in hexadecimal. */
static int sign(char out[SIGV4_HASH_LEN], const struct sigv4_request *r,
		const struct sorted *headers)
{
	char time[SIGV4_TIME_LEN], hash[SIGV4_HASH_LEN];
	struct buf text = BUF_INIT;
	struct oid key = {{0}};
	int ret = append_canonical(&text, r, headers);

	sigv4_time(time, r->now);
	if (!ret)
		ret = sigv4_body_hash(hash, text.data, text.len);
	buf_reset(&text);
	if (!ret)
		ret = buf_printf(&text, ALGORITHM "\n%s\n", time);
	if (!ret)
		ret = append_scope(&text, r, time);
	if (!ret)
		ret = buf_printf(&text, "\n%s", hash);
	if (!ret)
		ret = derive_key(&key, r, time);
	if (!ret)
		ret = hmac(&key, text.data);
	oid_to_hex(out, &key, HASH_SHA256);
	explicit_bzero(&key, sizeof(key));
	buf_release(&text);
	return ret;
}

static int check_request(const struct sigv4_request *r, struct error *err)
{
	if (r->query_nr <= SIGV4_PAIRS_MAX && r->header_nr <= SIGV4_PAIRS_MAX)
		return 0;
	return error_set(err, ERR_INVALID,
			 "a request has too many parameters or headers");
}

int sigv4_authorize(struct buf *out, const struct sigv4_request *r,
		    struct error *err)
{
	char time[SIGV4_TIME_LEN], signature[SIGV4_HASH_LEN];
	struct sorted headers;
	int ret = check_request(r, err);

	if (ret < 0)
		return ret;
	sort_pairs(&headers, r->headers, r->header_nr);
	sigv4_time(time, r->now);
	ret = sign(signature, r, &headers);
	if (!ret)
		ret = buf_printf(out, ALGORITHM " Credential=%s/", r->keys->id);
	if (!ret)
		ret = append_scope(out, r, time);
	if (!ret)
		ret = buf_append_str(out, ", SignedHeaders=");
	if (!ret)
		ret = append_header_names(out, &headers);
	if (!ret)
		ret = buf_printf(out, ", Signature=%s", signature);
	return ret < 0 ? error_nomem(err) : 0;
}

/*
 * Adds the query parameters that describe the signature. They are signed, too.
 */
static int add_signed_query(struct sigv4_pair pairs[SIGV4_PAIRS_MAX],
			    size_t *nr, const struct sigv4_request *r,
			    const char *credential, const char *time,
			    const char *expires)
{
	*nr = r->query_nr;
	if (*nr > SIGV4_PAIRS_MAX - 6)
		return ERR_INVALID;
	if (*nr)
		memcpy(pairs, r->query, *nr * sizeof(*pairs));
	pairs[(*nr)++] = (struct sigv4_pair){"X-Amz-Algorithm", ALGORITHM};
	pairs[(*nr)++] = (struct sigv4_pair){"X-Amz-Credential", credential};
	pairs[(*nr)++] = (struct sigv4_pair){"X-Amz-Date", time};
	pairs[(*nr)++] = (struct sigv4_pair){"X-Amz-Expires", expires};
	pairs[(*nr)++] = (struct sigv4_pair){"X-Amz-SignedHeaders", "host"};
	if (r->keys->token)
		pairs[(*nr)++] = (struct sigv4_pair){"X-Amz-Security-Token",
						     r->keys->token};
	return 0;
}

int sigv4_presign(struct buf *out, const struct sigv4_request *r,
		  unsigned seconds, struct error *err)
{
	char time[SIGV4_TIME_LEN], signature[SIGV4_HASH_LEN], expires[16];
	struct sigv4_pair pairs[SIGV4_PAIRS_MAX];
	struct sigv4_request whole = *r;
	struct buf credential = BUF_INIT;
	struct sorted headers;
	int ret = check_request(r, err);

	if (ret < 0)
		return ret;
	sigv4_time(time, r->now);
	snprintf(expires, sizeof(expires), "%u", seconds);
	ret = buf_printf(&credential, "%s/", r->keys->id);
	if (!ret)
		ret = append_scope(&credential, r, time);
	whole.query = pairs;
	whole.body_hash = "UNSIGNED-PAYLOAD";
	if (!ret)
		ret = add_signed_query(pairs, &whole.query_nr, r,
				       credential.data, time, expires);
	sort_pairs(&headers, r->headers, r->header_nr);
	if (!ret)
		ret = sign(signature, &whole, &headers);
	if (!ret)
		ret = sigv4_query(out, pairs, whole.query_nr);
	if (!ret)
		ret = buf_printf(out, "&X-Amz-Signature=%s", signature);
	buf_release(&credential);
	if (ret == ERR_INVALID)
		return error_set(err, ret, "a URL has too many parameters");
	return ret < 0 ? error_nomem(err) : 0;
}
