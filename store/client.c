/* SPDX-License-Identifier: MIT */
/*
 * An HTTP client by libcurl. Each thread that sends a request takes a handle of
 * libcurl from a pool. A handle keeps its connection for the next request.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#include "base/mem.h"
#include "store/client.h"
#include "sys/io.h"
#include "sys/library.h"

/*
 * maximum number of handles of libcurl that are kept while no request uses them
 */
#define IDLE_MAX 64
/* a transfer with fewer bytes per second counts as stalled */
#define STALL_SPEED 1024
/*
 * The time limit of a request is long enough to send or receive its body at
 * this speed, in bytes per second.
 */
#define SLOWEST_SPEED 16384
/*
 * If the server may take long to answer a request, the time limit of the
 * request is limits->stall_ms times this number.
 */
#define SLOW_FACTOR 20

#define FUNCTIONS(F)                                                           \
	F(curl_easy_cleanup)                                                   \
	F(curl_easy_getinfo)                                                   \
	F(curl_easy_init)                                                      \
	F(curl_easy_perform)                                                   \
	F(curl_easy_reset)                                                     \
	F(curl_easy_setopt)                                                    \
	F(curl_easy_strerror)                                                  \
	F(curl_getdate)                                                        \
	F(curl_slist_append)                                                   \
	F(curl_slist_free_all)

/* The functions of libcurl by their names. */
struct curl_functions {
#define FIELD(name) __typeof__(name) *name;
	FUNCTIONS(FIELD)
#undef FIELD
};

struct client {
	/* owned; set by load_library() before the first handle is made */
	void *library;
	struct curl_functions f;
	struct client_limits limits;
	char *ca_file;        /* owned, or NULL */
	pthread_mutex_t lock; /* guards the fields below */
	bool is_loaded;
	CURL *idle[IDLE_MAX]; /* owned */
	size_t idle_nr;
};

/* ---- opening */

/*
 * Loads libcurl in one of the two variants that Debian has. The two variants
 * have the same functions.
 */
static int load_library(struct client *c, struct error *err)
{
	int ret = sys_library_open(&c->library, "libcurl.so.4", err);

	if (ret < 0)
		ret = sys_library_open(&c->library, "libcurl-gnutls.so.4",
				       NULL);
#define FIND(name)                                                             \
	if (!ret)                                                              \
		ret = sys_library_find(&c->f.name, c->library, #name, err);
	FUNCTIONS(FIND)
#undef FIND
	c->is_loaded = !ret;
	return ret < 0 ? error_recode(err, ERR_UNSUPPORTED) : 0;
}

int client_open(struct client **out, const struct client_limits *limits,
		const char *ca_file, struct error *err)
{
	struct client *c = mem_calloc(1, sizeof(*c));
	int ret;

	*out = NULL;
	if (!c)
		return error_nomem(err);
	pthread_mutex_init(&c->lock, NULL);
	c->limits = *limits;
	ret = limits->is_lazy ? 0 : load_library(c, err);
	if (!ret && ca_file) {
		c->ca_file = mem_strdup(ca_file);
		if (!c->ca_file)
			ret = error_nomem(err);
	}
	if (ret < 0)
		client_close(c);
	else
		*out = c;
	return ret;
}

void client_close(struct client *client)
{
	if (!client)
		return;
	while (client->idle_nr)
		client->f.curl_easy_cleanup(client->idle[--client->idle_nr]);
	pthread_mutex_destroy(&client->lock);
	/*
	 * Do not unload libcurl: OpenSSL keeps pointers to functions and data
	 * that libcurl has registered.
	 */
	free(client->ca_file);
	free(client);
}

/* Returns an idle or new handle of libcurl, or NULL with the reason in *err. */
static CURL *take_handle(struct client *c, struct error *err)
{
	CURL *handle = NULL;
	int ret = 0;

	pthread_mutex_lock(&c->lock);
	if (!c->is_loaded)
		ret = load_library(c, err);
	if (c->idle_nr)
		handle = c->idle[--c->idle_nr];
	pthread_mutex_unlock(&c->lock);
	if (!ret && !handle) {
		handle = c->f.curl_easy_init();
		if (!handle)
			error_nomem(err);
	}
	return handle;
}

static void give_handle(struct client *c, CURL *handle)
{
	bool is_kept;

	c->f.curl_easy_reset(handle);
	pthread_mutex_lock(&c->lock);
	is_kept = c->idle_nr < IDLE_MAX;
	if (is_kept)
		c->idle[c->idle_nr++] = handle;
	pthread_mutex_unlock(&c->lock);
	if (!is_kept)
		c->f.curl_easy_cleanup(handle);
}

void client_answer_init(struct client_answer *answer)
{
	memset(answer, 0, sizeof(*answer));
	answer->len = answer->total = answer->first = UINT64_MAX;
	buf_init(&answer->body);
}

void client_answer_release(struct client_answer *answer)
{
	buf_release(&answer->body);
	client_answer_init(answer);
}

/* ---- what libcurl calls */

/* One request on its way. */
struct exchange {
	struct client *client;
	CURL *handle;
	const struct client_request *request;
	struct client_answer *answer;
	/* number of bytes of the body that libcurl has read */
	size_t sent;
	/* negative result of the sink, or 0 */
	int ret;
	/* why the answer is refused; NULL: it is not refused */
	const char *failure;
	struct error *err;
};

static size_t read_body(char *out, size_t size, size_t nr, void *ctx)
{
	struct exchange *e = ctx;
	size_t len = size * nr, left = e->request->body_len - e->sent;

	if (len > left)
		len = left;
	memcpy(out, (const char *)e->request->body + e->sent, len);
	e->sent += len;
	return len;
}

/*
 * Called when libcurl wants to send the body again, on a new connection. Fails
 * if the request must be sent only once.
 */
static int seek_body(void *ctx, curl_off_t offset, int origin)
{
	struct exchange *e = ctx;

	if (e->request->once || origin != SEEK_SET || offset < 0 ||
	    (uint64_t)offset > e->request->body_len)
		return CURL_SEEKFUNC_FAIL;
	e->sent = (size_t)offset;
	return CURL_SEEKFUNC_OK;
}

static size_t write_answer(char *bytes, size_t size, size_t nr, void *ctx)
{
	struct exchange *e = ctx;
	const struct client_request *r = e->request;
	size_t len = size * nr;
	long status = 0;

	e->client->f.curl_easy_getinfo(e->handle, CURLINFO_RESPONSE_CODE,
				       &status);
	if (r->sink && (status == 200 || status == 206)) {
		e->answer->status = (unsigned)status;
		e->ret = r->sink->write(r->sink->ctx, bytes, len, e->err);
	} else if (len > r->answer_max - e->answer->body.len) {
		e->failure = "the answer of the store is too long";
	} else if (buf_append(&e->answer->body, bytes, len) < 0) {
		e->failure = "out of memory";
	}
	return e->ret < 0 || e->failure ? 0 : len;
}

/* ---- headers of the answer */

/* Returns whether the header has this name; *value is its trimmed value. */
static bool is_header(const char *line, const char *name, const char **value)
{
	size_t len = strlen(name);

	if (strncasecmp(line, name, len) || line[len] != ':')
		return false;
	*value = line + len + 1 + strspn(line + len + 1, " \t");
	return true;
}

/* Reads a number and returns its end, or NULL if there is none. */
static const char *read_number(uint64_t *out, const char *p)
{
	const char *start = p;
	uint64_t n = 0;

	for (; *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(n, 10, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(*p - '0'), &n))
			return NULL;
	if (p == start)
		return NULL;
	*out = n;
	return p;
}

/*
 * Parses Content-Range: "bytes 0-9/443" or, if the range is not in the file,
 * "bytes * / 443".
 */
static void read_content_range(struct client_answer *a, const char *value)
{
	uint64_t first = UINT64_MAX, last, total;
	const char *p = value;

	if (strncasecmp(p, "bytes ", 6))
		return;
	p += 6;
	if (*p == '*') {
		p++;
	} else {
		p = read_number(&first, p);
		p = p && *p == '-' ? read_number(&last, p + 1) : NULL;
	}
	if (!p || *p != '/' || !read_number(&total, p + 1))
		return;
	a->first = first;
	a->total = total;
}

/*
 * Reads an entity tag. Only characters that need no quoting in headers and in
 * XML are accepted.
 */
static void read_etag(struct client_answer *a, const char *value)
{
	size_t len = 0;

	while (value[len] > ' ' && value[len] <= '~' && value[len] != '<' &&
	       value[len] != '>' && value[len] != '&')
		len++;
	if (len > STORE_ETAG_MAX || value[len])
		len = 0;
	memcpy(a->etag, value, len);
	a->etag[len] = '\0';
}

/* Returns the time in a header, or 0. */
static int64_t read_time(const struct exchange *e, const char *value)
{
	time_t t = e->client->f.curl_getdate(value, NULL);

	return t > 0 ? t : 0;
}

static void read_header(struct exchange *e, const char *line)
{
	struct client_answer *a = e->answer;
	const char *value;
	uint64_t n;

	if (is_header(line, "etag", &value)) {
		read_etag(a, value);
	} else if (is_header(line, "content-length", &value)) {
		if (read_number(&n, value))
			a->len = n;
	} else if (is_header(line, "content-range", &value)) {
		read_content_range(a, value);
	} else if (is_header(line, "last-modified", &value)) {
		a->mtime = read_time(e, value);
	} else if (is_header(line, "date", &value)) {
		a->date = read_time(e, value);
	} else if (is_header(line, "retry-after", &value)) {
		if (read_number(&n, value))
			a->retry_after = n < 3600 ? (unsigned)n : 3600;
	}
}

/*
 * Handles one header line of the answer. A line that does not fit into `line`
 * is ignored, because no header that is needed here is so long. libcurl limits
 * the length of all headers.
 */
static size_t take_header(char *bytes, size_t size, size_t nr, void *ctx)
{
	struct exchange *e = ctx;
	size_t len = size * nr, text_len = len;
	char line[512];

	while (text_len && (unsigned char)bytes[text_len - 1] <= ' ')
		text_len--;
	if (text_len >= 5 && !memcmp(bytes, "HTTP/", 5)) {
		/*
		 * A new status line begins: the headers so far belong to an
		 * interim answer (status 1xx), so drop them.
		 */
		client_answer_release(e->answer);
	} else if (text_len < sizeof(line) && !memchr(bytes, '\0', text_len)) {
		memcpy(line, bytes, text_len);
		line[text_len] = '\0';
		read_header(e, line);
	}
	return len;
}

/* ---- sending */

static int add_header(struct exchange *e, struct curl_slist **list,
		      const char *header)
{
	struct curl_slist *longer = e->client->f.curl_slist_append(*list,
								   header);

	if (!longer)
		return error_nomem(e->err);
	*list = longer;
	return 0;
}

static int set_headers(struct exchange *e, struct curl_slist **list)
{
	/*
	 * libcurl adds the headers Expect and Accept unless they are removed
	 * here.
	 */
	int ret = add_header(e, list, "Expect:");

	if (!ret)
		ret = add_header(e, list, "Accept:");
	for (size_t i = 0; !ret && i < e->request->header_nr; i++)
		ret = add_header(e, list, e->request->headers[i]);
	e->client->f.curl_easy_setopt(e->handle, CURLOPT_HTTPHEADER, *list);
	return ret;
}

static void set_method(const struct exchange *e)
{
	const struct curl_functions *f = &e->client->f;
	const struct client_request *r = e->request;
	CURL *h = e->handle;

	if (!strcmp(r->method, "HEAD")) {
		f->curl_easy_setopt(h, CURLOPT_NOBODY, 1L);
	} else if (!strcmp(r->method, "PUT") || !strcmp(r->method, "POST")) {
		f->curl_easy_setopt(h, CURLOPT_UPLOAD, 1L);
		f->curl_easy_setopt(h, CURLOPT_READFUNCTION, read_body);
		f->curl_easy_setopt(h, CURLOPT_READDATA, e);
		f->curl_easy_setopt(h, CURLOPT_SEEKFUNCTION, seek_body);
		f->curl_easy_setopt(h, CURLOPT_SEEKDATA, e);
		f->curl_easy_setopt(h, CURLOPT_INFILESIZE_LARGE,
				    (curl_off_t)r->body_len);
		f->curl_easy_setopt(h, CURLOPT_CUSTOMREQUEST, r->method);
	} else {
		f->curl_easy_setopt(h, CURLOPT_HTTPGET, 1L);
		f->curl_easy_setopt(h, CURLOPT_CUSTOMREQUEST, r->method);
	}
	/*
	 * If the server closes a kept connection, libcurl sends the request
	 * again over a new one. This must not happen to a request with `once`
	 * set. If the request has a body, seek_body() prevents it. For a
	 * request without a body, use a new connection from the start.
	 */
	if (r->once && !r->body_len)
		f->curl_easy_setopt(h, CURLOPT_FRESH_CONNECT, 1L);
}

static void set_limits(const struct exchange *e)
{
	const struct curl_functions *f = &e->client->f;
	const struct client_limits *limits = &e->client->limits;
	const struct client_request *r = e->request;
	long stall_ms = (long)limits->stall_ms;

	f->curl_easy_setopt(e->handle, CURLOPT_CONNECTTIMEOUT_MS,
			    (long)limits->connect_ms);
	if (r->is_slow) {
		f->curl_easy_setopt(e->handle, CURLOPT_TIMEOUT_MS,
				    stall_ms * SLOW_FACTOR);
		return;
	}
	f->curl_easy_setopt(e->handle, CURLOPT_LOW_SPEED_LIMIT,
			    (long)STALL_SPEED);
	f->curl_easy_setopt(e->handle, CURLOPT_LOW_SPEED_TIME,
			    (stall_ms + 999) / 1000);
	/*
	 * An answer that goes to a sink may have any size. So only other
	 * answers, which are small, get a time limit.
	 */
	if (!r->sink)
		f->curl_easy_setopt(
			e->handle, CURLOPT_TIMEOUT_MS,
			(long)limits->connect_ms + stall_ms +
				(long)((r->body_len + r->answer_max) /
				       SLOWEST_SPEED * 1000));
}

static void set_options(const struct exchange *e, char *message)
{
	const struct curl_functions *f = &e->client->f;
	CURL *h = e->handle;

	f->curl_easy_setopt(h, CURLOPT_URL, e->request->url);
	f->curl_easy_setopt(h, CURLOPT_PROTOCOLS_STR, "http,https");
	f->curl_easy_setopt(h, CURLOPT_HTTP_VERSION,
			    (long)CURL_HTTP_VERSION_1_1);
	f->curl_easy_setopt(h, CURLOPT_PATH_AS_IS, 1L);
	f->curl_easy_setopt(h, CURLOPT_NOSIGNAL, 1L);
	f->curl_easy_setopt(h, CURLOPT_ERRORBUFFER, message);
	f->curl_easy_setopt(h, CURLOPT_WRITEFUNCTION, write_answer);
	f->curl_easy_setopt(h, CURLOPT_WRITEDATA, e);
	f->curl_easy_setopt(h, CURLOPT_HEADERFUNCTION, take_header);
	f->curl_easy_setopt(h, CURLOPT_HEADERDATA, e);
	if (e->client->ca_file)
		f->curl_easy_setopt(h, CURLOPT_CAINFO, e->client->ca_file);
	set_method(e);
	set_limits(e);
}

/*
 * Returns whether the error means that the certificate of the server, or the
 * certificate of the authority that issued it, is not valid.
 */
static bool is_untrusted(CURLcode code)
{
	return code == CURLE_PEER_FAILED_VERIFICATION ||
	       code == CURLE_SSL_CACERT_BADFILE ||
	       code == CURLE_SSL_ISSUER_ERROR ||
	       code == CURLE_SSL_INVALIDCERTSTATUS;
}

static int judge(struct exchange *e, CURLcode code, const char *message)
{
	const struct curl_functions *f = &e->client->f;
	long status = 0, request_size = 0;

	f->curl_easy_getinfo(e->handle, CURLINFO_RESPONSE_CODE, &status);
	f->curl_easy_getinfo(e->handle, CURLINFO_REQUEST_SIZE, &request_size);
	if (e->ret < 0)
		return e->ret;
	e->answer->status = 0;
	if (code == CURLE_OK && status >= 200) {
		e->answer->outcome = CLIENT_ANSWERED;
		e->answer->status = (unsigned)status;
		return 0;
	}
	/*
	 * The request may have reached the server and may have an effect. So
	 * the outcome is CLIENT_LOST, even if the failure is in this program.
	 */
	error_set(e->err, ERR_PEER, "%s",
		  e->failure ? e->failure
		  : *message ? message
			     : f->curl_easy_strerror(code));
	if (is_untrusted(code))
		return ERR_PEER;
	e->answer->outcome = request_size ? CLIENT_LOST : CLIENT_NOT_SENT;
	return 0;
}

int client_send(struct client *client, struct client_answer *answer,
		const struct client_request *request, struct error *err)
{
	struct exchange e = {.client = client,
			     .handle = take_handle(client, err),
			     .request = request,
			     .answer = answer,
			     .err = err};
	char message[CURL_ERROR_SIZE] = "";
	struct curl_slist *list = NULL;
	sigset_t before;
	int ret;

	client_answer_release(answer);
	if (!e.handle)
		return error_recorded(err, ERR_NOMEM);
	set_options(&e, message);
	ret = set_headers(&e, &list);
	if (!ret) {
		CURLcode code;

		/*
		 * Block SIGPIPE: OpenSSL may write to a socket that the peer
		 * has closed.
		 */
		sys_sigpipe_block(&before);
		code = client->f.curl_easy_perform(e.handle);
		sys_sigpipe_restore(&before);
		ret = judge(&e, code, message);
	}
	give_handle(client, e.handle);
	client->f.curl_slist_free_all(list);
	return ret;
}
