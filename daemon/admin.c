/* SPDX-License-Identifier: MIT */
/*
 * Answers requests for the status of the server:
 *
 *	/             the status as a page
 *	/status.json  the status as JSON
 *	/metrics      counters for Prometheus
 *
 * The admin process answers these requests. It is a worker that has only the
 * listener of --admin and no repositories. So the status is available even
 * while all other workers are busy.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "daemon/daemon-parts.h"
#include "status/status.h"
#include "http/http-exchange.h"

/*
 * Returns the counts of the requests to the store, or NULL if repositories are
 * not in a store.
 */
static struct stored_counts *counts_of(const struct daemon_request *q)
{
	return q->conn->copies ? stored_copies_node(q->conn->copies)->counts
			       : NULL;
}

static void take_store(struct status_store *t, const struct daemon_request *q)
{
	struct stored_counts_view v;

	stored_counts_look(&v, counts_of(q));
	*t = (struct status_store){
		.is_used = q->conn->copies != NULL,
		.requests = v.requests,
		.failures = v.failures,
		.received = v.received,
		.sent = v.sent,
		.answered = v.answered,
		.downloads = v.downloads,
		.evictions = v.evictions,
		.bytes = v.cache_bytes,
		.limit = q->options->store ? q->options->store->budget : 0,
	};
	for (unsigned i = 0; i < STORED_LOOKUPS; i++)
		if (v.lookups[i])
			t->lookups[t->lookup_nr++] = (struct status_count){
				stored_lookup_name(i), v.lookups[i]};
}

/*
 * Prints the status in one of the three formats (HTML, JSON, Prometheus) to
 * *body, and sets *type to its media type. Returns 0 or ERR_NOMEM.
 */
typedef int (*page_fn)(struct buf *body, const char **type,
		       struct daemon_request *q, const struct status *s);

static int put_html(struct buf *body, const char **type,
		    struct daemon_request *q, const struct status *s)
{
	(void)q;
	*type = "text/html; charset=utf-8";
	return status_print_html(body, s);
}

static int put_json(struct buf *body, const char **type,
		    struct daemon_request *q, const struct status *s)
{
	(void)q;
	*type = "application/json";
	return status_print_json(body, s);
}

/*
 * Prints the metric gitreach_build_info: its value is always 1, and its label
 * is the version of the server that runs. Returns 0 or ERR_NOMEM.
 */
static int put_build(struct buf *body, const char *version,
		     enum metrics_format format)
{
	const struct metrics_label label = {"version", &version, 1};
	const struct metrics_family family = {
		.name = "gitreach_build_info",
		.help = "The version of the server that runs. Always 1.",
		.kind = METRICS_GAUGE,
		.scale = 1,
		.labels = {&label},
		.label_nr = 1,
	};
	struct metrics *m = metrics_new(&family, 1, NULL);
	int ret;

	if (!m)
		return ERR_NOMEM;
	metrics_set(m, 0, &(unsigned){0}, 1);
	ret = metrics_print_part(body, m, format);
	metrics_free(m);
	return ret;
}

static int put_metrics(struct buf *body, const char **type,
		       struct daemon_request *q, const struct status *s)
{
	const struct http1_field *accept = http1_head_field(
		&q->conn->input->head, q->conn->input->bytes, "Accept");
	static const char name[] = "application/openmetrics-text";
	bool is_open = accept &&
		       memmem(q->conn->input->bytes + accept->value.off,
			      accept->value.len, name, sizeof(name) - 1);
	enum metrics_format format = is_open ? METRICS_OPENMETRICS
					     : METRICS_PROMETHEUS;
	int ret = put_build(body, q->options->version, format);

	*type = is_open ? "application/openmetrics-text; version=1.0.0; "
			  "charset=utf-8"
			: "text/plain; version=0.0.4; charset=utf-8";
	if (!ret)
		ret = stored_counts_print(body, counts_of(q), s->store.limit,
					  format);
	return ret ? ret
		   : statistics_print(body, q->conn->shared->statistics,
				      &s->now, format);
}

static page_fn find_page(const char *path)
{
	static const struct {
		const char *path;
		page_fn fn;
	} pages[] = {
		{"/", put_html},
		{"/status.json", put_json},
		{"/metrics", put_metrics},
	};

	for (size_t i = 0; i < ARRAY_NR(pages); i++)
		if (!strcmp(pages[i].path, path))
			return pages[i].fn;
	return NULL;
}

static int send_page(struct daemon_request *q, page_fn fn,
		     struct http_reply *reply)
{
	const struct daemon_shared *shared = q->conn->shared;
	struct status *s = mem_calloc(1, sizeof(*s));
	struct buf body = BUF_INIT;
	const char *type = NULL;
	int ret = s ? 0 : ERR_NOMEM;

	if (!ret) {
		s->agent = q->options->agent;
		status_take(s, shared->boards, shared->statistics);
		admission_look(&s->now.admission, shared->admission);
		take_store(&s->store, q);
		ret = fn(&body, &type, q, s);
	}
	if (!ret)
		ret = http_reply_header(reply, "Content-Type", type, NULL);
	if (!ret)
		ret = http_reply_header(reply, "Content-Security-Policy",
					"default-src 'none'; style-src "
					"'unsafe-inline'",
					NULL);
	if (!ret)
		ret = http_reply_never_cache(reply, NULL);
	if (!ret)
		ret = http_reply_length(reply, body.len, NULL);
	ret = ret < 0 ? http_reply_refuse(reply, "500 Internal Server Error",
					  NULL, NULL, NULL)
		      : http_reply_put(reply, body.data, body.len, NULL);
	buf_release(&body);
	free(s);
	return ret;
}

void daemon_admin_answer(struct daemon_request *request, const char *path)
{
	const struct http1_head *head = &request->conn->input->head;
	const char *bytes = request->conn->input->bytes;
	bool is_get = head->method.len == 3 &&
		      !memcmp(bytes + head->method.off, "GET", 3);
	bool is_head = head->method.len == 4 &&
		       !memcmp(bytes + head->method.off, "HEAD", 4);
	page_fn fn = find_page(path);
	struct http_reply reply;
	int ret;

	http_reply_init(&reply, &request->io, is_head);
	reply.form = HTTP_1_1;
	if (!is_get && !is_head)
		ret = http_reply_refuse(&reply, "405 Method Not Allowed",
					"GET, HEAD", NULL, NULL);
	else if (!fn)
		ret = http_reply_refuse(&reply, "404 Not Found", NULL, NULL,
					NULL);
	else
		ret = send_page(request, fn, &reply);
	if (!ret)
		http_reply_end(&reply, NULL);
	http_reply_release(&reply);
}
