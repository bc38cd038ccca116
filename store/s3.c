/* SPDX-License-Identifier: MIT */
/* A store in a bucket of an S3-compatible service. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "store/client.h"
#include "store/s3-answer.h"
#include "store/s3-request.h"
#include "store/sigv4.h"
#include "sys/clock.h"

/*
 * After a read has got this number of bytes, the count of tries starts again.
 */
#define PROGRESS_BYTES ((uint64_t)1 << 20)
/* maximum number of files in one part of a listing, as S3 allows */
#define LIST_MAX 1000

static struct s3 *of_store(struct filestore *store)
{
	return (struct s3 *)store;
}

/* ---- reading */

/* A file that is being read, in one or more requests. */
struct reading {
	const struct filestore_sink *sink;
	/* receives facts about the file; NULL if the caller needs none */
	struct filestore_info *info;
	struct client_answer answer;
	const char *name;
	uint64_t off,
		/*
		 * Length of the range. If the range extends to the end of the
		 * file, its length is known only when has_begun is set.
		 */
		len;
	/* number of bytes of the range that the sink has received */
	uint64_t done;
	/* true: the first answer has begun, so the size of the file is known */
	bool has_begun;
	/* true: this request asks for a range */
	bool is_ranged;
	/* true: the head of this request's answer was checked */
	bool is_checked;
	char etag[STORE_ETAG_MAX + 1];
	struct error *err;
};

/* Returns whether the next request asks for a part of the file. */
static bool has_range(const struct reading *r)
{
	return r->off + r->done || r->len != STORE_TO_END;
}

static int too_short(const struct reading *r)
{
	return error_set(r->err, ERR_INVALID,
			 "'%s' ends before the requested range", r->name);
}

/*
 * Takes the facts about the file from the head of the first answer. `size` is
 * the size of the file; UINT64_MAX: unknown. Returns 0, ERR_PEER if the size is
 * unknown, or ERR_INVALID if the range is not in the file.
 */
static int begin_reading(struct reading *r, uint64_t size)
{
	const struct client_answer *a = &r->answer;

	if (size == UINT64_MAX)
		return error_set(r->err, ERR_PEER,
				 "the store did not tell the size of '%s'",
				 r->name);
	if (r->len == STORE_TO_END && r->off <= size)
		r->len = size - r->off;
	if (r->off > size || r->len > size - r->off)
		return too_short(r);
	if (r->info) {
		r->info->size = size;
		r->info->mtime = a->mtime;
		r->info->now = 0;
		memcpy(r->info->etag, a->etag, sizeof(a->etag));
	}
	memcpy(r->etag, a->etag, sizeof(a->etag));
	r->has_begun = true;
	return 0;
}

/*
 * Checks the head of an answer with status 200 or 206. Returns 0, ERR_PEER if
 * the head has another range or no size, or ERR_INVALID if the file ends before
 * the range.
 */
static int check_head(struct reading *r)
{
	bool is_part = r->answer.status == 206;

	r->is_checked = true;
	if (is_part != r->is_ranged ||
	    (is_part && r->answer.first != r->off + r->done))
		return error_set(
			r->err, ERR_PEER,
			"the store sent another range of '%s' than requested",
			r->name);
	if (r->has_begun)
		return 0;
	return begin_reading(r, is_part ? r->answer.total : r->answer.len);
}

static int take_bytes(void *ctx, const void *bytes, size_t len,
		      struct error *err)
{
	struct reading *r = ctx;
	int ret = r->is_checked ? 0 : check_head(r);

	if (!ret && len > r->len - r->done)
		ret = error_set(err, ERR_PEER,
				"the store sent too many bytes of '%s'",
				r->name);
	if (!ret)
		ret = r->sink->write(r->sink->ctx, bytes, len, err);
	if (!ret)
		r->done += len;
	return ret;
}

/*
 * Asks for the rest of the range. Returns 0 with *verdict set, or a negative
 * error code.
 */
static int read_rest(struct s3 *s3, struct reading *r, enum s3_verdict *verdict)
{
	struct filestore_sink sink = {take_bytes, r};
	struct s3_call call = {
		.method = "GET",
		.name = r->name,
		.sink = &sink,
		.answer_max = S3_ANSWER_MAX,
	};
	char range[64];
	int ret;

	r->is_checked = false;
	r->is_ranged = has_range(r);
	if (r->len == STORE_TO_END)
		snprintf(range, sizeof(range), "bytes=%" PRIu64 "-", r->off);
	else
		snprintf(range, sizeof(range), "bytes=%" PRIu64 "-%" PRIu64,
			 r->off + r->done, r->off + r->len - 1);
	if (r->is_ranged)
		call.headers[call.header_nr++] = (struct sigv4_pair){"range",
								     range};
	/*
	 * The rest must come from the same version of the file as the
	 * beginning. So request only this version.
	 */
	if (r->has_begun)
		call.headers[call.header_nr++] = (struct sigv4_pair){"if-match",
								     r->etag};
	ret = s3_try(s3, &r->answer, verdict, &call, r->err);
	/*
	 * If the last byte was received, the read is complete, even if the
	 * request failed.
	 */
	if (!ret && r->has_begun && r->done == r->len) {
		r->answer.status = 206;
		r->is_checked = true;
		*verdict = S3_FINAL;
	}
	return ret;
}

/*
 * Checks the last answer of a read. A read may take several requests: if the
 * store fails for a moment, the rest of the range is requested again. An answer
 * is the last one if another request would not help (S3_FINAL). Returns 0 if
 * the sink has all bytes of the range, STORE_CONFLICT if the file has changed
 * since the first answer, STORE_ABSENT, or a negative error code.
 */
static int finish_reading(struct reading *r)
{
	const struct s3_call call = {.method = "GET", .name = r->name};
	unsigned status = r->answer.status;
	int ret = 0;

	if (status == 200 || status == 206) {
		if (!r->is_checked)
			ret = check_head(r);
		if (!ret && r->done != r->len)
			ret = error_set(r->err, ERR_PEER,
					"the store sent too few bytes of '%s'",
					r->name);
		return ret;
	}
	if (status == 412 && r->has_begun) {
		error_set(r->err, ERR_PEER,
			  "'%s' was changed while it was being read", r->name);
		return STORE_CONFLICT;
	}
	/*
	 * Status 416: the range is not in the file. If the range begins at the
	 * end of the file and has no end, this is no error: zero bytes are
	 * read.
	 */
	if (status == 416 && !r->has_begun)
		return r->len == STORE_TO_END && r->answer.total == r->off
			       ? begin_reading(r, r->off)
			       : too_short(r);
	return s3_fail(&call, &r->answer, r->err);
}

static int read_file(struct filestore *store, struct filestore_info *info,
		     const struct filestore_sink *sink, const char *name,
		     uint64_t off, uint64_t len, struct error *err)
{
	struct s3 *s3 = of_store(store);
	struct reading r = {.sink = sink,
			    .info = info,
			    .name = name,
			    .off = off,
			    .len = len,
			    .err = err};
	enum s3_verdict verdict = S3_UNKNOWN;
	uint64_t before = 0, start = sys_clock_ns();
	int ret = 0;

	client_answer_init(&r.answer);
	for (unsigned nr = 0; s3_may_try(s3, nr, start); nr++) {
		if (nr)
			s3_pause(s3, nr, &r.answer);
		ret = read_rest(s3, &r, &verdict);
		if (ret || verdict == S3_FINAL)
			break;
		/*
		 * Without an entity tag, the rest could come from another
		 * version of the file than the beginning. So the read fails.
		 */
		if (r.has_begun && !*r.etag)
			break;
		if (r.done - before >= PROGRESS_BYTES) {
			before = r.done;
			nr = 0;
		}
	}
	if (!ret)
		ret = verdict == S3_FINAL ? finish_reading(&r)
					  : STORE_UNAVAILABLE;
	client_answer_release(&r.answer);
	return ret;
}

/*
 * Asks why a HEAD had the status 404. Returns STORE_ABSENT if the file does not
 * exist, or the result for another failure.
 */
static int confirm_absent(struct s3 *s3, const char *name, struct error *err)
{
	struct s3_call call = {
		.method = "GET",
		.name = name,
		.headers = {{"range", "bytes=0-0"}},
		.header_nr = 1,
		.answer_max = S3_ANSWER_MAX,
	};
	struct client_answer answer;
	int ret;

	client_answer_init(&answer);
	ret = s3_send(s3, &answer, &call, err);
	/*
	 * If the GET did not get the status 404, the file exists now. The HEAD
	 * request before it had the status 404, so the file was absent then,
	 * and was written after the HEAD request. The result of the HEAD is
	 * still right, so return STORE_ABSENT. If the GET got the status 404,
	 * s3_fail() reads in the body whether the file or the bucket is
	 * missing.
	 */
	if (!ret)
		ret = answer.status == 404 ? s3_fail(&call, &answer, err)
					   : STORE_ABSENT;
	client_answer_release(&answer);
	return ret;
}

static int head_file(struct filestore *store, struct filestore_info *info,
		     const char *name, struct error *err)
{
	struct s3_call call = {
		.method = "HEAD",
		.name = name,
		.answer_max = S3_ANSWER_MAX,
	};
	struct client_answer answer;
	int ret;

	client_answer_init(&answer);
	ret = s3_send(of_store(store), &answer, &call, err);
	if (!ret && answer.status != 200)
		ret = s3_fail(&call, &answer, err);
	if (ret == STORE_ABSENT)
		ret = confirm_absent(of_store(store), name, err);
	if (!ret && answer.len == UINT64_MAX)
		ret = error_set(err, ERR_PEER,
				"the store did not tell the size of '%s'",
				name);
	if (!ret) {
		info->size = answer.len;
		info->mtime = answer.mtime;
		info->now = answer.date;
		memcpy(info->etag, answer.etag, sizeof(info->etag));
	}
	client_answer_release(&answer);
	return ret;
}

/* ---- writing */

static int put_whole(struct s3 *s3, char *etag, const char *name,
		     const void *bytes, size_t len,
		     const struct filestore_condition *condition,
		     struct error *err)
{
	struct s3_call call = {
		.method = "PUT",
		.name = name,
		.body = bytes,
		.body_len = len,
		.answer_max = S3_ANSWER_MAX,
		.once = condition->kind != STORE_ALWAYS,
		.header_nr = condition->kind != STORE_ALWAYS,
	};
	struct client_answer answer;
	int ret;

	if (condition->kind == STORE_CREATE)
		call.headers[0] = (struct sigv4_pair){"if-none-match", "*"};
	else if (condition->kind == STORE_REPLACE)
		call.headers[0] = (struct sigv4_pair){"if-match",
						      condition->etag};
	client_answer_init(&answer);
	ret = s3_send(s3, &answer, &call, err);
	if (!ret && answer.status != 200)
		ret = s3_fail(&call, &answer, err);
	/*
	 * If a put should replace a file that does not exist, S3 answers "not
	 * found". Report this as a conflict.
	 */
	if (ret == STORE_ABSENT)
		ret = condition->kind == STORE_REPLACE
			      ? STORE_CONFLICT
			      : error_set(err, ERR_PEER,
					  "the store answered \"not found\" "
					  "when '%s' was written",
					  name);
	if (!ret)
		memcpy(etag, answer.etag, sizeof(answer.etag));
	client_answer_release(&answer);
	return ret;
}

static int put_file(struct filestore *store, char *etag, const char *name,
		    const void *bytes, size_t len,
		    const struct filestore_condition *condition,
		    struct error *err)
{
	struct s3 *s3 = of_store(store);

	return (len > s3->part_len ? s3_upload : put_whole)(
		s3, etag, name, bytes, len, condition, err);
}

static int delete_file(struct filestore *store, const char *name,
		       struct error *err)
{
	struct s3_call call = {
		.method = "DELETE",
		.name = name,
		.answer_max = S3_ANSWER_MAX,
		.once = true,
	};
	struct client_answer answer;
	int ret;

	client_answer_init(&answer);
	ret = s3_send(of_store(store), &answer, &call, err);
	if (!ret && answer.status != 204 && answer.status != 200)
		ret = s3_fail(&call, &answer, err);
	client_answer_release(&answer);
	return ret == STORE_ABSENT ? 0 : ret;
}

/* ---- listing */

static int list_files(struct filestore *store, struct filestore_page *page,
		      const char *prefix, size_t limit, struct error *err)
{
	struct s3 *s3 = of_store(store);
	struct buf start = BUF_INIT, whole = BUF_INIT;
	struct s3_call call = {
		.method = "GET",
		.query = {{"list-type", "2"}},
		.query_nr = 3,
		.answer_max = S3_LISTING_MAX,
	};
	struct client_answer answer;
	char limit_text[24];
	int ret = 0;

	client_answer_init(&answer);
	snprintf(limit_text, sizeof(limit_text), "%zu",
		 limit < LIST_MAX ? limit : LIST_MAX);
	if (*s3->prefix)
		ret = buf_printf(&start, "%s/", s3->prefix);
	if (!ret)
		ret = buf_printf(&whole, "%s%s", start.data, prefix);
	if (ret < 0)
		error_nomem(err);
	call.query[1] = (struct sigv4_pair){"max-keys", limit_text};
	call.query[2] = (struct sigv4_pair){"prefix", whole.data};
	if (page->next)
		call.query[call.query_nr++] = (struct sigv4_pair){
			"continuation-token", page->next};
	if (!ret)
		ret = s3_send(s3, &answer, &call, err);
	if (!ret && answer.status != 200)
		ret = s3_fail(&call, &answer, err);
	if (!ret)
		ret = s3_answer_listing(page, start.data, answer.body.data,
					answer.body.len, err);
	client_answer_release(&answer);
	buf_release(&start);
	buf_release(&whole);
	return ret == ERR_CORRUPT ? error_recode(err, ERR_PEER) : ret;
}

static int presign(struct filestore *store, struct buf *url, const char *name,
		   unsigned seconds, struct error *err)
{
	struct s3 *s3 = of_store(store);
	const struct sigv4_pair host = {"host", s3->host};
	struct buf path = BUF_INIT, query = BUF_INIT;
	struct sigv4_request r = {
		.method = "GET",
		.headers = &host,
		.header_nr = 1,
		.region = s3->region,
		.keys = &s3->keys,
		.now = sys_clock_seconds(),
	};
	int ret = s3_path(&path, s3, name);

	r.path = path.data;
	ret = ret ? error_nomem(err) : sigv4_presign(&query, &r, seconds, err);
	if (!ret && buf_printf(url, "%s%s%s?%s", s3->scheme, s3->host,
			       path.data, query.data) < 0)
		ret = error_nomem(err);
	buf_release(&path);
	buf_release(&query);
	return ret;
}

/* ---- opening */

static void close_s3(struct filestore *store)
{
	struct s3 *s3 = of_store(store);

	client_close(s3->client);
	store_keys_release(&s3->keys);
	free(s3->scheme);
	free(s3->host);
	free(s3->region);
	free(s3->bucket);
	free(s3->prefix);
	free(s3);
}

static const struct filestore_ops s3_ops = {
	.read = read_file,
	.head = head_file,
	.put = put_file,
	.list = list_files,
	.delete = delete_file,
	.presign = presign,
	.close = close_s3,
};

static bool is_made_of(const char *text, const char *chars, size_t max)
{
	size_t len = strlen(text);

	return len && len <= max && strspn(text, chars) == len;
}

#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"

/*
 * Returns whether the text is "<host>[:<port>]". The host may be an IPv6
 * address in brackets.
 */
static bool is_host(const char *host, size_t len)
{
	char text[256], *port;

	if (!len || len >= sizeof(text))
		return false;
	memcpy(text, host, len);
	text[len] = '\0';
	port = strrchr(text, ':');
	if (*text == '[' && (!port || port[-1] != ']'))
		port = NULL;
	if (port) {
		*port++ = '\0';
		if (!is_made_of(port, DIGITS, 5))
			return false;
	}
	if (*text != '[')
		return is_made_of(text, LOWER DIGITS ".-", 253);
	return text[strlen(text) - 1] == ']' &&
	       is_made_of(text + 1, "abcdef" DIGITS ":.]", 64);
}

static bool ends_in(const char *text, size_t len, const char *end)
{
	size_t end_len = strlen(end);

	return len > end_len && !memcmp(text + len - end_len, end, end_len);
}

/*
 * Splits the endpoint into the scheme and the host with its port. Leaves out
 * the default port, as libcurl does. So the signed host is the one that libcurl
 * sends.
 */
static int set_endpoint(struct s3 *s3, const char *endpoint, struct error *err)
{
	bool is_tls = !strncmp(endpoint, "https://", 8);
	const char *host = endpoint + (is_tls ? 8 : 7);
	size_t len;

	if (!is_tls && strncmp(endpoint, "http://", 7) != 0)
		host = "";
	len = strlen(host);
	if (len && host[len - 1] == '/')
		len--;
	if (!is_host(host, len))
		return error_set(err, ERR_INVALID,
				 "invalid endpoint '%s': it must be "
				 "http[s]://<host>[:<port>], in lower case",
				 endpoint);
	if (ends_in(host, len, is_tls ? ":443" : ":80"))
		len -= is_tls ? 4 : 3;
	s3->scheme = mem_strdup(is_tls ? "https://" : "http://");
	s3->host = mem_strndup(host, len);
	return s3->scheme && s3->host ? 0 : error_nomem(err);
}

static int find_endpoint(struct s3 *s3, const struct store_s3_settings *set,
			 struct error *err)
{
	struct buf usual = BUF_INIT;
	int ret;

	if (set->endpoint)
		return set_endpoint(s3, set->endpoint, err);
	ret = buf_printf(&usual, "https://s3.%s.amazonaws.com", set->region);
	ret = ret < 0 ? error_nomem(err) : set_endpoint(s3, usual.data, err);
	buf_release(&usual);
	return ret;
}

static int check_settings(const struct store_s3_settings *set,
			  struct error *err)
{
	if (!is_made_of(set->region, LOWER DIGITS "-", 64))
		return error_set(err, ERR_INVALID, "invalid region '%s'",
				 set->region);
	if (!is_made_of(set->bucket, LOWER DIGITS ".-", 63) ||
	    strlen(set->bucket) < 3 || *set->bucket == '.')
		return error_set(err, ERR_INVALID,
				 "invalid name of a bucket: '%s'", set->bucket);
	/*
	 * Limit the prefix, so that prefix and name fit into a key of S3, which
	 * has at most 1024 bytes.
	 */
	if (*set->prefix && (!filestore_name_is_valid(set->prefix) ||
			     strlen(set->prefix) > 500))
		return error_set(err, ERR_INVALID,
				 "invalid prefix of a store: '%s'",
				 set->prefix);
	if (!set->tries || !set->part_len || !set->connect_ms || !set->stall_ms)
		return error_set(err, ERR_INVALID,
				 "the tries, the part size and the time limits "
				 "of a store must not be 0");
	return 0;
}

static int copy_keys(struct store_keys *to, const struct store_keys *from,
		     struct error *err)
{
	to->id = mem_strdup(from->id);
	to->secret = mem_strdup(from->secret);
	if (from->token)
		to->token = mem_strdup(from->token);
	return to->id && to->secret && (to->token || !from->token)
		       ? 0
		       : error_nomem(err);
}

static int copy_settings(struct s3 *s3, const struct store_s3_settings *set,
			 struct error *err)
{
	s3->store.ops = &s3_ops;
	s3->tries = set->tries;
	s3->try_ms = set->try_ms;
	s3->pause_ms = set->pause_ms;
	s3->part_len = set->part_len;
	s3->region = mem_strdup(set->region);
	s3->bucket = mem_strdup(set->bucket);
	s3->prefix = mem_strdup(set->prefix);
	if (!s3->region || !s3->bucket || !s3->prefix)
		return error_nomem(err);
	return copy_keys(&s3->keys, set->keys, err);
}

int store_s3_open(struct filestore **out,
		  const struct store_s3_settings *settings, struct error *err)
{
	struct client_limits limits = {settings->connect_ms, settings->stall_ms,
				       settings->is_lazy};
	int ret = check_settings(settings, err);
	struct s3 *s3;

	*out = NULL;
	if (ret < 0)
		return ret;
	s3 = mem_calloc(1, sizeof(*s3));
	if (!s3)
		return error_nomem(err);
	ret = copy_settings(s3, settings, err);
	if (!ret)
		ret = find_endpoint(s3, settings, err);
	if (!ret)
		ret = client_open(&s3->client, &limits, settings->ca_file, err);
	if (ret < 0)
		close_s3(&s3->store);
	else
		*out = &s3->store;
	return ret;
}
