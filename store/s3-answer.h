/* SPDX-License-Identifier: MIT */
/*
 * The answers of S3 that are XML documents: parts of listings, errors, and the
 * steps of an upload in parts. "Amazon S3 API Reference" describes them.
 */
#ifndef STORE_S3_ANSWER_H
#define STORE_S3_ANSWER_H

#include <stddef.h>

#include "store/filestore.h"

/*
 * Maximum sizes of answers, in bytes: S3_LISTING_MAX for a listing,
 * S3_ANSWER_MAX for any other answer.
 */
#define S3_LISTING_MAX ((size_t)8 << 20)
#define S3_ANSWER_MAX ((size_t)64 << 10)
/* maximum length of the token at which a listing continues */
#define S3_TOKEN_MAX 4096
/* maximum length of the code and of the message of an error */
#define S3_CODE_MAX 64
#define S3_MESSAGE_MAX 200
/* maximum length of the id of an upload */
#define S3_UPLOAD_MAX 1024

/*
 * An error of S3. `code` and `message` are visible ASCII, shortened if needed.
 */
struct s3_error {
	/* the code of the error; empty if the answer has none */
	char code[S3_CODE_MAX + 1];
	char message[S3_MESSAGE_MAX + 1];
};

/*
 * Appends the files of a ListBucketResult (version 2) to *page. Names are the
 * keys without `prefix`; a key that does not start with `prefix` is an error.
 * page->next is the token for the next part, or NULL. Returns 0, ERR_CORRUPT if
 * the answer is malformed, or ERR_NOMEM. After an error, *page may have some of
 * the entries.
 */
int s3_answer_listing(struct filestore_page *page, const char *prefix,
		      const char *bytes, size_t len, struct error *err);

/*
 * Parses an answer whose root element is Error. If the answer is not valid,
 * out->code is empty.
 */
void s3_answer_error(struct s3_error *out, const char *bytes, size_t len);

/*
 * Appends the id of the upload in an InitiateMultipartUploadResult to *out.
 * Returns 0, ERR_CORRUPT if the answer has no id or is malformed, or ERR_NOMEM.
 */
int s3_answer_upload(struct buf *out, const char *bytes, size_t len,
		     struct error *err);

/*
 * Reads a CompleteMultipartUploadResult. S3 begins the answer before the upload
 * is complete, so an answer with status 200 may be an Error. `etag` has room
 * for STORE_ETAG_MAX + 1 bytes. Returns 0 with the entity tag in `etag`, 1 with
 * *error filled if the answer is an Error, or ERR_CORRUPT if the answer is
 * neither of the two.
 */
int s3_answer_complete(char *etag, struct s3_error *error, const char *bytes,
		       size_t len, struct error *err);

/*
 * Parses a time such as "2026-11-27T18:57:54.000Z". Returns seconds since 1970,
 * or -1 if the text is no time.
 */
int64_t s3_answer_time(const char *text);

#endif
