/* SPDX-License-Identifier: MIT */
/*
 * Signatures of requests to S3: AWS Signature Version 4, service "s3". The
 * format is "Authenticating Requests (AWS Signature Version 4)" in the API
 * reference of Amazon S3.
 *
 * A signature is an HMAC-SHA256 of
 *
 *	AWS4-HMAC-SHA256                         \n
 *	<time>                                   \n
 *	<scope>                                  \n
 *	<SHA-256 of the canonical request>
 *
 * and a canonical request is
 *
 *	<method>                          \n
 *	<path, quoted>                    \n
 *	<name>=<value>&..., quoted, sorted\n
 *	<name>:<value>                    \n   for each signed header, sorted
 *	                                  \n
 *	<name>;<name>...                  \n   the names of these headers
 *	<SHA-256 of the body, in hexadecimal>
 *
 * The functions do no I/O and do not read the clock.
 */
#ifndef STORE_SIGV4_H
#define STORE_SIGV4_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "store/keys.h"

/* length of a time such as 20130524T000000Z, with the NUL */
#define SIGV4_TIME_LEN 17
/* length of a SHA-256 hash in hexadecimal, with the NUL */
#define SIGV4_HASH_LEN 65
/* maximum number of query parameters, and of headers */
#define SIGV4_PAIRS_MAX 12

/* A header or a query parameter, not quoted. The strings are borrowed. */
struct sigv4_pair {
	/* name; the name of a header is in lower case */
	const char *name;
	const char *value;
};

/* The parts of a request that are signed. All pointers are borrowed. */
struct sigv4_request {
	const char *method;
	/* absolute, not quoted */
	const char *path;
	/*
	 * the query parameters, in any order, with different names; at most
	 * SIGV4_PAIRS_MAX pairs
	 */
	const struct sigv4_pair *query;
	size_t query_nr;
	/*
	 * the headers, including "host", in any order, with different names; at
	 * most SIGV4_PAIRS_MAX pairs
	 */
	const struct sigv4_pair *headers;
	size_t header_nr;
	/* SHA-256 of the body in hexadecimal, or "UNSIGNED-PAYLOAD" */
	const char *body_hash;
	const char *region;
	const struct store_keys *keys;
	/* seconds since 1970, from 0 to the year 9999 */
	int64_t now;
};

/*
 * Appends bytes to *out. All bytes but letters, digits and "-._~" become %XX;
 * "/" stays if `keep_slash`. Returns 0 or ERR_NOMEM.
 */
int sigv4_quote(struct buf *out, const char *text, bool keep_slash);

/* Appends the quoted and sorted query, without "?". Returns 0 or ERR_NOMEM. */
int sigv4_query(struct buf *out, const struct sigv4_pair *query, size_t nr);

/* Writes a time in the form of the signature and of the header x-amz-date. */
void sigv4_time(char out[SIGV4_TIME_LEN], int64_t now);

/* Writes the SHA-256 of a body in hexadecimal. Returns 0 or ERR_NOMEM. */
int sigv4_body_hash(char out[SIGV4_HASH_LEN], const void *bytes, size_t len);

/*
 * Appends the value of the header Authorization. The caller must send the
 * headers x-amz-date and x-amz-content-sha256, too. Returns 0, ERR_INVALID if
 * there are more than SIGV4_PAIRS_MAX headers or query parameters, or
 * ERR_NOMEM.
 */
int sigv4_authorize(struct buf *out, const struct sigv4_request *r,
		    struct error *err);

/*
 * Appends the whole query of a presigned URL, without "?". With this URL,
 * anyone can make the request within `seconds`. The only header of the request
 * is "host", and the query has at most SIGV4_PAIRS_MAX - 6 pairs. `body_hash`
 * is not used. Returns 0, ERR_INVALID if there are too many pairs, or
 * ERR_NOMEM.
 */
int sigv4_presign(struct buf *out, const struct sigv4_request *r,
		  unsigned seconds, struct error *err);

#endif
