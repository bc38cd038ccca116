/* SPDX-License-Identifier: MIT */
/*
 * Admission of requests. Finds the principal (a user or an address) and the
 * fork network (the repositories that share objects) for which a request
 * counts. Waits for a token before a pack is made. Refuses requests early if
 * too many wait.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "daemon/admit.h"
#include "daemon/conn.h"
#include "daemon/lanes.h"
#include "daemon/ssh-request.h"
#include "status/statistics.h"
#include "sys/clock.h"
#include "sys/io.h"
#include "sys/passing.h"
#include "sys/process.h"
#include "sys/thread.h"

#define HEADER "X-Forwarded-For"

/*
 * Bytes of anonymous memory. If a worker has more than this after expensive
 * work, it returns its free memory to the system.
 */
#define SPARE_MAX (UINT64_C(128) << 20)

/* ---- names */

/*
 * Copies the last address of a comma-separated list of `len` bytes into `out`.
 * Returns the length of the list without this address.
 */
static size_t take_last(char out[SYS_ADDRESS_MAX], const char *list, size_t len)
{
	size_t begin = len, end = len;

	while (begin && list[begin - 1] != ',')
		begin--;
	len = begin ? begin - 1 : 0;
	while (begin < end && (list[begin] == ' ' || list[begin] == '\t'))
		begin++;
	while (end > begin && (list[end - 1] == ' ' || list[end - 1] == '\t'))
		end--;
	snprintf(out, SYS_ADDRESS_MAX, "%.*s", (int)(end - begin),
		 list + begin);
	return len;
}

/*
 * Reads the addresses of one X-Forwarded-For field, from the end of the field
 * to its beginning. Stops at the first address that does not belong to a
 * trusted proxy: this is the client. `address` is set to the address that was
 * read last.
 *
 * Returns true if all addresses belong to trusted proxies; the caller then
 * reads the field before this one. Returns false if the client was found, or if
 * a part of the list is no address.
 */
static bool follow(char address[SYS_ADDRESS_MAX],
		   const struct daemon_options *options, const char *list,
		   size_t len)
{
	char last[SYS_ADDRESS_MAX];

	while (len) {
		len = take_last(last, list, len);
		if (!sys_address_is_valid(last))
			return false;
		memcpy(address, last, sizeof(last));
		if (!trusted_has(options->proxies, options->proxy_nr, last))
			return false;
	}
	return true;
}

/*
 * Finds the address of the client in the X-Forwarded-For fields. Each proxy
 * appends the address of its own client, in the same field or in a new one. So
 * the search starts at the last address, and goes back until an address is no
 * trusted proxy.
 */
static void find_client(char address[SYS_ADDRESS_MAX],
			const struct daemon_options *options,
			const struct daemon_input *in)
{
	for (size_t i = in->head.field_nr; i > 0; i--) {
		const struct http1_field *f = &in->head.fields[i - 1];

		if (f->name.len != sizeof(HEADER) - 1 ||
		    strncasecmp(in->bytes + f->name.off, HEADER, f->name.len) !=
			    0)
			continue;
		if (!follow(address, options, in->bytes + f->value.off,
			    f->value.len))
			return;
	}
}

/*
 * Returns true if a trusted proxy has made the connection, and a complete and
 * valid head of an HTTP request has arrived on it.
 */
static bool is_of_proxy(const struct daemon_options *options,
			const struct daemon_conn *conn)
{
	return conn->protocol == DAEMON_HTTP && conn->input &&
	       !conn->input->head.status &&
	       trusted_has(options->proxies, options->proxy_nr, conn->address);
}

void daemon_client_address(char out[SYS_ADDRESS_MAX],
			   const struct daemon_options *options,
			   const struct daemon_conn *conn)
{
	snprintf(out, SYS_ADDRESS_MAX, "%s", conn->address);
	if (is_of_proxy(options, conn))
		find_client(out, options, conn->input);
}

const char *daemon_principal(const struct daemon_options *options,
			     struct daemon_conn *conn)
{
	char address[SYS_ADDRESS_MAX];
	const char *user = NULL;

	if (options->user_header && is_of_proxy(options, conn))
		user = daemon_field(conn->input, options->user_header);
	if (user && *user)
		return user;
	daemon_client_address(address, options, conn);
	trusted_client_name(conn->client, address);
	return conn->client;
}

uint64_t daemon_lane_key(const struct daemon_options *options,
			 struct daemon_conn *conn)
{
	char bytes[SSH_REQUEST_MAX];
	struct ssh_request request;
	char client[SYS_ADDRESS_MAX];
	size_t len = conn->protocol == DAEMON_SSH
			     ? sys_passing_peek(conn->stream.fd, bytes,
						sizeof(bytes))
			     : 0;

	if (!len || ssh_request_parse(&request, bytes, len, NULL) < 0)
		return lanes_key(daemon_principal(options, conn));
	trusted_client_name(client, request.address);
	return lanes_key(*request.user ? request.user : client);
}

bool daemon_may_refuse(const struct daemon_conn *conn)
{
	const struct daemon_input *in = conn->input;

	if (conn->protocol != DAEMON_HTTP || conn->is_admin)
		return conn->protocol == DAEMON_GIT;
	return !in->head.status && in->head.method.len == 3 &&
	       !memcmp(in->bytes + in->head.method.off, "GET", 3);
}

unsigned daemon_retry_after(void)
{
	return 5 + (unsigned)(sys_clock_ns() / 1000 % 10);
}

void daemon_turn_away(const struct daemon_options *options,
		      struct daemon_conn *conn, enum admission_refusal why)
{
	bool is_address = why == ADMISSION_ADDRESS;
	bool is_http = conn->protocol == DAEMON_HTTP;
	char text[128] = "";
	struct iovec iov = {text, 0};

	if (is_http)
		snprintf(text, sizeof(text),
			 "HTTP/1.1 %s\r\nRetry-After: %u\r\n"
			 "Content-Length: 0\r\nConnection: close\r\n\r\n",
			 is_address ? "429 Too Many Requests"
				    : "503 Service Unavailable",
			 daemon_retry_after());
	else if (conn->protocol == DAEMON_GIT)
		strcpy(text, "001cERR too many connections");
	iov.iov_len = strlen(text);
	daemon_log(options, conn,
		   !is_http     ? "too many connections"
		   : is_address ? "429 Too Many Requests: too many connections"
				: "503 Service Unavailable: too many "
				  "connections");
	daemon_stream_try_writev(&conn->stream, &iov, 1);
}

/*
 * Appends the first line of objects/info/alternates as an absolute path.
 * Returns whether it was appended.
 */
static bool add_alternate(struct buf *out, const char *objects)
{
	struct buf path = BUF_INIT, text = BUF_INIT;
	const char *line = NULL;
	char *real = NULL;

	if (!buf_printf(&path, "%s/info/alternates", objects) &&
	    !sys_read_any(&text, path.data, NULL) && text.len) {
		line = text.data;
		text.data[strcspn(text.data, "\n")] = '\0';
	}
	buf_reset(&path);
	if (line && *line && *line != '#' &&
	    !buf_printf(&path, "%s%s%s", *line == '/' ? "" : objects,
			*line == '/' ? "" : "/", line))
		real = sys_realpath(path.data, NULL);
	if (real && buf_append_str(out, real) < 0)
		buf_reset(out);
	free(real);
	buf_release(&path);
	buf_release(&text);
	return out->len;
}

void daemon_network_name(struct buf *out, const struct repo *repo)
{
	/*
	 * If memory runs out, the name of the fork network stays empty. All
	 * requests with an empty name count as requests of one fork network.
	 */
	if (!add_alternate(out, repo->object_dir) &&
	    buf_append_str(out, repo->object_dir) < 0)
		buf_reset(out);
}

static const char *text_of(const struct buf *name)
{
	return name->len ? name->data : "";
}

/* ---- packs */

static void put_line(const struct daemon_admit *ad, const char *end,
		     unsigned ahead)
{
	const struct progress_out *out = ad->outer;
	char line[96];
	int len = snprintf(line, sizeof(line),
			   "Waiting in the queue: %u before this request%s",
			   ahead, end);

	if (out && out->put && len > 0)
		out->put(out->ctx, line, (size_t)len);
}

static int tell(void *ctx, unsigned ahead, struct error *err)
{
	struct daemon_admit *ad = ctx;

	if (atomic_load(ad->is_lost))
		return error_set(err, ERR_PEER,
				 "lost the connection to the client");
	if (!ad->has_told || ahead != ad->ahead)
		put_line(ad, "\r", ahead);
	ad->has_told = true;
	ad->ahead = ahead;
	/*
	 * Send the client a message, so that it knows that the server is alive.
	 */
	return progress_ask(ad->outer, "Waiting in the queue", 0, err);
}

/*
 * Waits for admission of a request. The name of its fork network (the
 * repositories that share objects) is found only here: finding the name reads a
 * file, and most requests need no admission. Returns 0 or a negative error code
 * of admission_enter().
 */
static int enter(struct daemon_admit *ad, uint64_t price_us, struct error *err)
{
	const struct admission_listener listener = {tell, ad};
	struct admission_ask ask = {
		.principal = ad->principal,
		.price_us = price_us,
	};

	/*
	 * The buffer is reset, because a request that got no ticket calls this
	 * function again.
	 */
	buf_reset(&ad->network);
	daemon_network_name(&ad->network, ad->repo);
	ask.network = text_of(&ad->network);
	return admission_enter(&ad->pass, ad->shared->admission, &ask,
			       &listener, err);
}

static int admit(void *ctx, uint64_t price_us, unsigned *threads,
		 struct error *err)
{
	struct daemon_admit *ad = ctx;
	int ret = 0;

	if (ad->pass.a)
		admission_raise(&ad->pass, price_us);
	else
		ret = enter(ad, price_us, err);
	/*
	 * This function is called while objects are counted, and again when the
	 * pack is made. In the first case, no strategy is chosen yet, and
	 * report->count_ns includes the time spent waiting here. Record this
	 * time, so that it can be subtracted.
	 */
	if (!ad->report->strategy)
		ad->counted_ns = ad->pass.waited_ns;
	if (ad->has_told && !ret)
		put_line(ad, ", done.\n", 0);
	ad->has_told = false;
	*threads = ad->pass.tokens;
	/*
	 * Give the thread of an expensive request a lower priority, so that
	 * small requests of other clients run first. The thread gets its usual
	 * priority back after the request.
	 */
	if (!ret && ad->pass.price_us >= ADMISSION_CHEAP_US)
		sys_thread_set_nice(ad->work_nice);
	return ret;
}

/*
 * Callback of the progress meter, called while the pack is made.
 * admission_yield() may wait here, so that other requests can run.
 */
static int poll(void *ctx, const char *title, uint64_t done, uint64_t total)
{
	struct daemon_admit *ad = ctx;

	admission_yield(&ad->pass);
	return ad->outer->poll
		       ? ad->outer->poll(ad->outer->ctx, title, done, total)
		       : 0;
}

static void put(void *ctx, const char *text, size_t len)
{
	const struct daemon_admit *ad = ctx;

	ad->outer->put(ad->outer->ctx, text, len);
}

/*
 * Each thread has a heap of its own, which keeps the memory that an expensive
 * fetch has freed. Returns this memory to the system. Called before this thread
 * gives up its token (the permission to work on an expensive fetch), because
 * another fetch then gets the token and needs memory.
 */
static void trim_memory(const struct daemon_admit *ad)
{
	if (ad->pass.price_us >= ADMISSION_CHEAP_US &&
	    sys_memory_anonymous() > SPARE_MAX)
		sys_memory_trim();
}

void daemon_admit_init(struct daemon_admit *ad,
		       const struct daemon_options *options,
		       const struct daemon_shared *shared,
		       const char *principal, const atomic_bool *is_lost)
{
	*ad = (struct daemon_admit){
		.work_nice = options->work_nice,
		.shared = shared,
		.principal = principal,
		.is_lost = is_lost,
		.owner = pthread_self(),
	};
}

int daemon_admit_send(void *ctx, const struct odb *odb,
		      const struct packing_request *request,
		      const struct packing_send_options *options,
		      struct pack_sink sink, struct packing_report *report,
		      struct error *err)
{
	struct daemon_admit *ad = ctx;
	const struct packing_admission admission = {admit, ad};
	struct packing_send_options own = *options;
	const struct progress_out none = {.put = NULL};
	struct progress_out progress;
	int ret;

	ad->outer = options->progress ? options->progress : &none;
	progress = *ad->outer;
	progress.put = ad->outer->put ? put : NULL;
	progress.poll = poll;
	progress.ctx = ad;
	own.progress = &progress;
	own.admission = &admission;
	ad->report = report;
	ad->pass = (struct admission_pass){.a = NULL};
	ad->counted_ns = 0;
	ad->has_told = false;
	*report = (struct packing_report){.warning = ERROR_INIT};
	ad->repo = odb->repo;
	buf_init(&ad->network);
	ret = packing_send(odb, request, &own, sink, report, err);
	if (ad->pass.price_us)
		statistics_add_wait(ad->shared->statistics,
				    ad->pass.waited_ns / 1000);
	report->price_us = ad->pass.price_us;
	report->queue_ns = ad->pass.waited_ns;
	report->count_ns -= ad->counted_ns < report->count_ns
				    ? ad->counted_ns
				    : report->count_ns;
	trim_memory(ad);
	admission_leave(&ad->pass);
	buf_release(&ad->network);
	return ret;
}

void daemon_admit_rest(void *ctx, bool begins)
{
	struct daemon_admit *ad = ctx;

	if (!pthread_equal(pthread_self(), ad->owner))
		return;
	if (begins)
		admission_pause(&ad->pass);
	else
		admission_resume(&ad->pass);
}

/* ---- refusals and pushes */

bool daemon_is_busy(const struct daemon_shared *shared, const char *principal,
		    const struct repo *repo, bool is_push)
{
	struct buf network = BUF_INIT;
	struct admission_ask ask = {.principal = principal, .is_push = is_push};
	enum admission_refusal why;

	/*
	 * The name of the fork network is needed only if other requests wait.
	 * So if the queue is empty, do not read the files that contain the
	 * name.
	 */
	if (!is_push && !admission_has_queue(shared->admission))
		return false;
	if (is_push)
		buf_append_str(&network, repo->git_dir);
	else
		daemon_network_name(&network, repo);
	ask.network = text_of(&network);
	why = admission_judge(shared->admission, &ask);
	buf_release(&network);
	return why != ADMISSION_NO_REFUSAL;
}

/*
 * Counts a push that has lost its client, and returns true, unless such pushes
 * already occupy a quarter of the worker's threads.
 */
static bool count_lost(const struct daemon_options *options,
		       const struct daemon_conn *conn)
{
	unsigned max = (options->thread_nr + 3) / 4;
	bool is_counted = atomic_fetch_add(conn->lost_pushes, 1) < max;

	if (!is_counted)
		atomic_fetch_sub(conn->lost_pushes, 1);
	return is_counted;
}

void daemon_admit_end(struct admission_pass *pass,
		      const struct daemon_options *options,
		      const struct daemon_conn *conn, struct sys_child *child,
		      int fd)
{
	int grace_ms = (int)options->timeout * 1000;

	if (!pass->a || (fd >= 0 && sys_spawn_await(child, fd, -1)))
		return;
	do {
		if (sys_spawn_await(child, -1, grace_ms))
			return;
	} while (!count_lost(options, conn));
	daemon_log(options, conn,
		   "the client of a push is lost, but a hook still runs: "
		   "another push may begin");
	admission_leave(pass);
	sys_spawn_await(child, -1, -1);
	atomic_fetch_sub(conn->lost_pushes, 1);
}

int daemon_admit_push(struct admission_pass *pass,
		      const struct daemon_shared *shared, const char *principal,
		      const struct repo *repo, struct error *err)
{
	struct admission_ask ask = {
		.principal = principal,
		.network = repo->git_dir,
		.is_push = true,
	};

	return admission_enter(pass, shared->admission, &ask, NULL, err);
}
