/* SPDX-License-Identifier: MIT */
/* Inside store/: signed requests to S3, their repeats, and their failures. */
#ifndef STORE_S3_REQUEST_H
#define STORE_S3_REQUEST_H

#include "store/client.h"
#include "store/s3.h"
#include "store/sigv4.h"

/* A store in a bucket. Immutable; threads share it. */
struct s3 {
	struct filestore store;
	struct client *client; /* owned */
	struct store_keys keys;
	/* owned: "http://" or "https://" */
	char *scheme;
	/* owned: the host, with the port unless it is the usual port */
	char *host;
	char *region, *bucket, *prefix; /* owned */
	unsigned tries, try_ms, pause_ms;
	size_t part_len;
};

/*
 * Maximum number of query parameters of a request. Also the maximum number of
 * headers, without those that every request has, such as host and x-amz-date.
 */
#define S3_HEADERS_MAX 4

/* A request that is not signed yet. All pointers are borrowed. */
struct s3_call {
	const char *method;
	/* name of a file; NULL: the request is about the bucket */
	const char *name;
	struct sigv4_pair query[S3_HEADERS_MAX];
	size_t query_nr;
	/*
	 * headers, without those that every request has, such as host and
	 * x-amz-date; names are in lower case
	 */
	struct sigv4_pair headers[S3_HEADERS_MAX];
	size_t header_nr;
	const void *body;
	size_t body_len;
	/* gets the body of the answer; or NULL */
	const struct filestore_sink *sink;
	/* maximum size of a body that does not go to the sink */
	size_t answer_max;
	/* true: a repeat could do harm, see store/filestore.h */
	bool once;
	/* true: the store may work for a long time before it answers */
	bool is_slow;
};

/* The result of one try of a request. */
enum s3_verdict {
	/* an answer that a repeat would not change */
	S3_FINAL,
	/* a temporary failure before the request had an effect */
	S3_NO_EFFECT,
	/*
	 * a temporary failure; it is unknown whether the request had an effect
	 */
	S3_UNKNOWN,
};

/*
 * Signs and sends a request once. Returns 0 with *verdict set, or a negative
 * error code. After a temporary failure (a verdict other than S3_FINAL), the
 * result is also 0, and *err says why this try has failed.
 */
int s3_try(struct s3 *s3, struct client_answer *answer,
	   enum s3_verdict *verdict, const struct s3_call *call,
	   struct error *err);

/*
 * Returns whether try `nr` of a request (0: the first try) may begin now.
 * `start_ns`: the time of sys_clock_ns() at which the first try began.
 */
bool s3_may_try(const struct s3 *s3, unsigned nr, uint64_t start_ns);

/*
 * Waits before try `nr` (> 0) of a request. Each wait is about twice as long as
 * the one before, and at least as long as the store has asked for in *answer.
 */
void s3_pause(const struct s3 *s3, unsigned nr,
	      const struct client_answer *answer);

/*
 * Sends a request. After a temporary failure, sends the request again, if the
 * call allows a repeat. Returns 0 with an answer of any status,
 * STORE_UNAVAILABLE, STORE_AMBIGUOUS, or a negative error code.
 *
 * STORE_AMBIGUOUS means that `call` is not a GET or HEAD and its effect is
 * unknown. This is also the result if the last try was refused, but an earlier
 * one had an unknown effect.
 */
int s3_send(struct s3 *s3, struct client_answer *answer,
	    const struct s3_call *call, struct error *err);

/*
 * Translates the answer to a failed request. Returns STORE_ABSENT if the file
 * or the upload does not exist, STORE_CONFLICT for status 412, or a negative
 * error code. For other requests than HEAD, the body of an answer with status
 * 404 says whether the file or the whole bucket does not exist. The answer to a
 * HEAD has no body, so its status 404 always gives STORE_ABSENT.
 */
int s3_fail(const struct s3_call *call, const struct client_answer *answer,
	    struct error *err);

/* Appends "/<bucket>/<prefix>/<name>". Returns 0 or ERR_NOMEM. */
int s3_path(struct buf *out, const struct s3 *s3, const char *name);

/* Inside store/: uploading a large file to S3 in parts. */

/*
 * Works like filestore_put(), with the same results, for a file that is longer
 * than s3->part_len. The parts are uploaded by up to four threads. When all
 * parts are stored, the condition is checked and the file appears. If a part
 * fails, the upload is aborted, which deletes its parts. If the outcome is
 * unknown, the upload is left as it is; a lifecycle rule of the bucket should
 * remove unfinished uploads.
 */
int s3_upload(struct s3 *s3, char *etag, const char *name, const void *bytes,
	      size_t len, const struct filestore_condition *condition,
	      struct error *err);

#endif
