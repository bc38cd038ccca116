/* SPDX-License-Identifier: MIT */
/* Signed requests to S3, their repeats, and their failures. */
#include <string.h>

#include "base/mem.h"
#include "base/splitmix.h"
#include "store/client.h"
#include "store/s3-answer.h"
#include "store/s3-request.h"
#include "store/sigv4.h"
#include "sys/clock.h"

/* longest pause between two tries, in milliseconds */
#define PAUSE_MAX 20000

/* ---- signing */

int s3_path(struct buf *out, const struct s3 *s3, const char *name)
{
	int ret = buf_printf(out, "/%s", s3->bucket);

	if (!ret && name)
		ret = buf_printf(out, "/%s%s%s", s3->prefix,
				 *s3->prefix ? "/" : "", name);
	return ret;
}

/*
 * number of headers of each request: host, x-amz-date, x-amz-content-sha256,
 * x-amz-security-token
 */
#define OWN_HEADERS 4

/* One request, with the strings to which its headers point. */
struct signing {
	struct buf path, url, authorization;
	char time[SIGV4_TIME_LEN], hash[SIGV4_HASH_LEN];
	struct sigv4_pair pairs[OWN_HEADERS + S3_HEADERS_MAX];
	size_t pair_nr;
	/*
	 * the lines of all headers except "host", because the client adds
	 * "host"
	 */
	char *lines[OWN_HEADERS + S3_HEADERS_MAX]; /* owned */
	size_t line_nr;
};

static void add_pair(struct signing *s, const char *name, const char *value)
{
	s->pairs[s->pair_nr++] = (struct sigv4_pair){name, value};
}

static int add_line(struct signing *s, const char *name, const char *value)
{
	struct buf line = BUF_INIT;
	int ret = buf_printf(&line, "%s: %s", name, value);

	if (ret < 0)
		buf_release(&line);
	else
		s->lines[s->line_nr++] = buf_detach(&line, NULL);
	return ret;
}

static int make_url(struct signing *s, const struct s3 *s3,
		    const struct s3_call *call)
{
	int ret = s3_path(&s->path, s3, call->name);

	if (!ret)
		ret = buf_printf(&s->url, "%s%s", s3->scheme, s3->host);
	if (!ret)
		ret = sigv4_quote(&s->url, s->path.data, true);
	if (!ret && call->query_nr)
		ret = buf_append_char(&s->url, '?');
	return ret ? ret : sigv4_query(&s->url, call->query, call->query_nr);
}

static int sign(struct signing *s, const struct s3 *s3,
		const struct s3_call *call, struct error *err)
{
	struct sigv4_request r = {
		.method = call->method,
		.query = call->query,
		.query_nr = call->query_nr,
		.headers = s->pairs,
		.body_hash = s->hash,
		.region = s3->region,
		.keys = &s3->keys,
		.now = sys_clock_seconds(),
	};
	int ret = make_url(s, s3, call);

	if (!ret)
		ret = sigv4_body_hash(s->hash, call->body, call->body_len);
	if (ret < 0)
		return error_nomem(err);
	sigv4_time(s->time, r.now);
	add_pair(s, "host", s3->host);
	add_pair(s, "x-amz-content-sha256", s->hash);
	add_pair(s, "x-amz-date", s->time);
	if (s3->keys.token)
		add_pair(s, "x-amz-security-token", s3->keys.token);
	for (size_t i = 0; i < call->header_nr; i++)
		add_pair(s, call->headers[i].name, call->headers[i].value);
	r.path = s->path.data;
	r.header_nr = s->pair_nr;
	ret = sigv4_authorize(&s->authorization, &r, err);
	for (size_t i = 1; !ret && i < s->pair_nr; i++)
		ret = add_line(s, s->pairs[i].name, s->pairs[i].value);
	if (!ret)
		ret = add_line(s, "Authorization", s->authorization.data);
	return ret == ERR_NOMEM ? error_nomem(err) : ret;
}

static void release_signing(struct signing *s)
{
	for (size_t i = 0; i < s->line_nr; i++)
		free(s->lines[i]);
	buf_release(&s->path);
	buf_release(&s->url);
	buf_release(&s->authorization);
}

/* ---- failures */

static bool is_code(const struct s3_error *e, const char *code)
{
	return !strcmp(e->code, code);
}

/*
 * Returns whether the status (2xx) means success for the method of this
 * request.
 */
static bool is_expected(const struct s3_call *call, unsigned status)
{
	return status == 200 ||
	       (status == 204 && !strcmp(call->method, "DELETE")) ||
	       (status == 206 && !strcmp(call->method, "GET"));
}

static enum s3_verdict judge(const struct s3_call *call,
			     const struct client_answer *a,
			     const struct s3_error *e)
{
	if (a->outcome == CLIENT_NOT_SENT)
		return S3_NO_EFFECT;
	if (a->outcome == CLIENT_LOST)
		return S3_UNKNOWN;
	switch (a->status) {
	case 400:
		return is_code(e, "RequestTimeout") ? S3_NO_EFFECT : S3_FINAL;
	case 408:
		return S3_UNKNOWN;
	case 409:
		/*
		 * The answer to a HEAD has no body, and so no error code with
		 * the reason.
		 */
		if (!strcmp(call->method, "HEAD"))
			return S3_UNKNOWN;
		return is_code(e, "ConditionalRequestConflict") ||
				       is_code(e, "OperationAborted")
			       ? S3_NO_EFFECT
			       : S3_FINAL;
	case 429:
		return S3_NO_EFFECT;
	case 501:
		return S3_FINAL;
	case 503:
		return is_code(e, "SlowDown") ? S3_NO_EFFECT : S3_UNKNOWN;
	default:
		if (a->status < 300)
			return is_expected(call, a->status) ? S3_FINAL
							    : S3_UNKNOWN;
		return a->status < 500 ? S3_FINAL : S3_UNKNOWN;
	}
}

static int describe(struct error *err, enum error_code code, const char *what,
		    const struct client_answer *a, const struct s3_error *e)
{
	return error_set(err, code, "%s: status %u%s%s%s%s", what, a->status,
			 *e->code ? " " : "", e->code, *e->message ? ": " : "",
			 e->message);
}

/*
 * Handles status 404. Returns STORE_ABSENT if the file does not exist,
 * otherwise ERR_INVALID. The status proves nothing: the bucket or the account
 * may be missing instead, or a proxy may have sent its own page. The error code
 * in the body, such as NoSuchKey, proves that the file does not exist. An
 * answer to HEAD has no body, so its status has to suffice.
 */
static int not_found(const struct s3_call *call, const struct client_answer *a,
		     const struct s3_error *e, struct error *err)
{
	if (is_code(e, "NoSuchBucket"))
		return describe(err, ERR_INVALID,
				"the store has no such bucket", a, e);
	if (call->name &&
	    (is_code(e, "NoSuchKey") || is_code(e, "NoSuchUpload") ||
	     !strcmp(call->method, "HEAD")))
		return STORE_ABSENT;
	return describe(err, ERR_INVALID,
			"the store answered \"not found\", possibly for the "
			"bucket or the endpoint",
			a, e);
}

int s3_fail(const struct s3_call *call, const struct client_answer *answer,
	    struct error *err)
{
	struct s3_error e;

	s3_answer_error(&e, answer->body.data, answer->body.len);
	switch (answer->status) {
	case 404:
		return not_found(call, answer, &e, err);
	case 412:
		return STORE_CONFLICT;
	case 401:
	case 403:
		return describe(err, ERR_DENIED, "the store denies access",
				answer, &e);
	case 301:
	case 302:
	case 307:
	case 308:
		return describe(err, ERR_INVALID,
				"the bucket is at another endpoint or region",
				answer, &e);
	case 416:
		return describe(err, ERR_INVALID,
				"the file ends before the requested range",
				answer, &e);
	case 405:
	case 501:
		return describe(err, ERR_UNSUPPORTED,
				"the store does not support a request that "
				"gitreach needs",
				answer, &e);
	case 400:
	case 409:
	case 411:
	case 413:
		return describe(err, ERR_INVALID,
				"the store refuses the request", answer, &e);
	default:
		return describe(err, ERR_PEER,
				"the store sent an unexpected answer", answer,
				&e);
	}
}

/* ---- sending */

int s3_try(struct s3 *s3, struct client_answer *answer,
	   enum s3_verdict *verdict, const struct s3_call *call,
	   struct error *err)
{
	struct signing s = {
		.path = BUF_INIT, .url = BUF_INIT, .authorization = BUF_INIT};
	struct client_request r = {
		.method = call->method,
		.headers = (const char *const *)s.lines,
		.body = call->body,
		.body_len = call->body_len,
		.once = call->once,
		.is_slow = call->is_slow,
		.sink = call->sink,
		.answer_max = call->answer_max,
	};
	struct s3_error e;
	int ret = sign(&s, s3, call, err);

	*verdict = S3_FINAL;
	if (!ret) {
		r.url = s.url.data;
		r.header_nr = s.line_nr;
		ret = client_send(s3->client, answer, &r, err);
	}
	if (!ret) {
		s3_answer_error(&e, answer->body.data, answer->body.len);
		*verdict = judge(call, answer, &e);
		if (*verdict != S3_FINAL && answer->outcome == CLIENT_ANSWERED)
			describe(err, ERR_PEER, "the store failed", answer, &e);
	}
	release_signing(&s);
	return ret;
}

bool s3_may_try(const struct s3 *s3, unsigned nr, uint64_t start_ns)
{
	return nr < s3->tries &&
	       (!nr || !s3->try_ms ||
		sys_clock_ns() - start_ns < s3->try_ms * UINT64_C(1000000));
}

void s3_pause(const struct s3 *s3, unsigned nr,
	      const struct client_answer *answer)
{
	uint64_t state = sys_clock_ns();
	uint64_t ms = s3->pause_ms, asked = answer->retry_after * 1000;

	while (--nr && ms < PAUSE_MAX)
		ms *= 2;
	/*
	 * The random part of the pause keeps clients that failed together from
	 * trying again together.
	 */
	ms = ms / 2 + splitmix_next(&state) % (ms / 2 + 1);
	if (ms < asked)
		ms = asked;
	if (s3->try_ms && ms > s3->try_ms)
		ms = s3->try_ms;
	sys_sleep_ns((ms < PAUSE_MAX ? ms : PAUSE_MAX) * 1000000);
}

int s3_send(struct s3 *s3, struct client_answer *answer,
	    const struct s3_call *call, struct error *err)
{
	bool reads = !strcmp(call->method, "GET") ||
		     !strcmp(call->method, "HEAD");
	uint64_t start = sys_clock_ns();
	bool unknown = false;

	for (unsigned nr = 0; s3_may_try(s3, nr, start); nr++) {
		enum s3_verdict verdict;
		int ret;

		if (nr)
			s3_pause(s3, nr, answer);
		ret = s3_try(s3, answer, &verdict, call, err);
		/*
		 * This try failed inside this program. If the request writes,
		 * and the effect of an earlier try is unknown, the result is
		 * STORE_AMBIGUOUS.
		 */
		if (ret < 0)
			return unknown && !reads ? STORE_AMBIGUOUS : ret;
		if (verdict == S3_FINAL && unknown && !reads &&
		    answer->status >= 300) {
			s3_fail(call, answer, err);
			return STORE_AMBIGUOUS;
		}
		if (verdict == S3_FINAL)
			return 0;
		unknown |= verdict == S3_UNKNOWN;
		if (unknown && call->once)
			break;
	}
	return unknown && !reads ? STORE_AMBIGUOUS : STORE_UNAVAILABLE;
}
