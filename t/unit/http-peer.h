/* SPDX-License-Identifier: MIT */
/*
 * A server on 127.0.0.1 that answers requests from a script, for tests of HTTP
 * clients. The n-th request to the server gets the n-th answer, even if the
 * requests arrive on different connections. Each connection has a thread. The
 * requests are recorded.
 */
#ifndef HTTP_PEER_H
#define HTTP_PEER_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"

#define PEER_REQUESTS_MAX 32

struct peer_answer {
	/* The answer to send. NULL: the server sends no answer. */
	const char *text;
	/*
	 * What the server does after the answer. PEER_KEEP: it waits for the
	 * next request on the connection. PEER_CLOSE: it closes the connection.
	 * PEER_SILENT: it keeps the connection open, and sends nothing more.
	 */
	enum { PEER_KEEP, PEER_CLOSE, PEER_SILENT } then;
};

struct peer {
	int fd;
	char url[64]; /* http://127.0.0.1:<port> */
	const struct peer_answer *script;
	size_t script_nr;
	pthread_t acceptor, threads[PEER_REQUESTS_MAX];
	size_t thread_nr;
	pthread_mutex_t lock;                   /* guards the fields below */
	struct buf requests[PEER_REQUESTS_MAX]; /* head and body */
	size_t request_nr;
	size_t connection_nr;
};

struct peer_connection {
	struct peer *peer;
	int fd;
};

/* Reads one request into *out. Returns false at the end of the connection. */
static bool peer_read(struct buf *out, int fd)
{
	size_t want = 0;

	for (;;) {
		const char *end = strstr(out->data, "\r\n\r\n");
		char bytes[4096];
		ssize_t n;

		if (end && !want) {
			const char *len = strcasestr(out->data,
						     "content-length: ");

			want = (size_t)(end + 4 - out->data);
			if (len && len < end)
				want += strtoul(len + 16, NULL, 10);
		}
		if (want && out->len >= want)
			return true;
		n = read(fd, bytes, sizeof(bytes));
		if (n <= 0 || buf_append(out, bytes, (size_t)n) < 0)
			return false;
	}
}

static void peer_wait_for_end(int fd)
{
	char byte;

	while (read(fd, &byte, 1) > 0)
		;
}

static void *peer_serve(void *arg)
{
	struct peer_connection *c = arg;
	struct peer *p = c->peer;
	struct buf request = BUF_INIT;
	bool goes_on = true;

	while (goes_on && peer_read(&request, c->fd)) {
		struct peer_answer a = {NULL, PEER_CLOSE};

		pthread_mutex_lock(&p->lock);
		if (p->request_nr < p->script_nr)
			a = p->script[p->request_nr];
		p->requests[p->request_nr++] = request;
		pthread_mutex_unlock(&p->lock);
		buf_init(&request);
		if (a.text &&
		    send(c->fd, a.text, strlen(a.text), MSG_NOSIGNAL) < 0)
			break;
		if (a.then == PEER_SILENT)
			peer_wait_for_end(c->fd);
		goes_on = a.then == PEER_KEEP;
	}
	buf_release(&request);
	close(c->fd);
	free(c);
	return NULL;
}

static void *peer_accept(void *arg)
{
	struct peer *p = arg;
	int fd;

	while ((fd = accept(p->fd, NULL, NULL)) >= 0) {
		struct peer_connection *c = malloc(sizeof(*c));

		*c = (struct peer_connection){p, fd};
		p->connection_nr++;
		pthread_create(&p->threads[p->thread_nr++], NULL, peer_serve,
			       c);
	}
	return NULL;
}

/* Starts a server. */
static void peer_start(struct peer *p, const struct peer_answer *script,
		       size_t script_nr)
{
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof(at);

	memset(p, 0, sizeof(*p));
	p->script = script;
	p->script_nr = script_nr;
	pthread_mutex_init(&p->lock, NULL);
	for (size_t i = 0; i < PEER_REQUESTS_MAX; i++)
		buf_init(&p->requests[i]);
	p->fd = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(p->fd, (struct sockaddr *)&at, sizeof(at)) < 0 ||
	    listen(p->fd, 64) < 0 ||
	    getsockname(p->fd, (struct sockaddr *)&at, &len) < 0)
		perror("cannot listen");
	snprintf(p->url, sizeof(p->url), "http://127.0.0.1:%u",
		 ntohs(at.sin_port));
	pthread_create(&p->acceptor, NULL, peer_accept, p);
}

/*
 * Stops a server. The clients must have closed their connections. The recorded
 * requests stay in memory until peer_release().
 */
static void peer_stop(struct peer *p)
{
	shutdown(p->fd, SHUT_RDWR);
	pthread_join(p->acceptor, NULL);
	for (size_t i = 0; i < p->thread_nr; i++)
		pthread_join(p->threads[i], NULL);
	close(p->fd);
}

static void peer_release(struct peer *p)
{
	for (size_t i = 0; i < PEER_REQUESTS_MAX; i++)
		buf_release(&p->requests[i]);
	pthread_mutex_destroy(&p->lock);
}

/* Returns whether the recorded request `nr` contains this text. */
static inline bool peer_got(const struct peer *p, size_t nr, const char *text)
{
	return nr < p->request_nr && strstr(p->requests[nr].data, text);
}

#endif
