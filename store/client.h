/* SPDX-License-Identifier: MIT */
/*
 * An HTTP client. The client uses libcurl. This library is loaded when the
 * first client is opened, so that commands without HTTP requests start faster.
 * Connections are kept and used again.
 *
 * A client sends a request once. If there is no answer, the client reports
 * whether the request may have reached the server. The caller decides whether
 * to repeat the request. Redirects are not followed.
 */
#ifndef STORE_CLIENT_H
#define STORE_CLIENT_H

#include "store/filestore.h"

/* How the sending of a request ended. */
enum client_outcome {
	/* the whole answer has arrived */
	CLIENT_ANSWERED,
	/* the request was not sent, so it has no effect */
	CLIENT_NOT_SENT,
	/* there is no whole answer; the request may have an effect */
	CLIENT_LOST,
};

struct client_request {
	const char *method;
	const char *url;
	/* lines "name: value", with all headers that the signature needs */
	const char *const *headers;
	size_t header_nr;
	const void *body;
	size_t body_len;
	/*
	 * true: libcurl must not send the request a second time over a new
	 * connection if the server has closed the first connection
	 */
	bool once;
	/* true: the server may work for a long time before it answers */
	bool is_slow;
	/*
	 * the sink that gets the body of an answer with status 200 or 206; or
	 * NULL
	 */
	const struct filestore_sink *sink;
	/* maximum size of a body that does not go to the sink */
	size_t answer_max;
};

struct client_answer {
	enum client_outcome outcome;
	/* HTTP status; 0 unless the outcome is CLIENT_ANSWERED */
	unsigned status;
	/*
	 * entity tag from the headers; valid before the sink gets the first
	 * byte
	 */
	char etag[STORE_ETAG_MAX + 1];
	/* Last-Modified; 0 if unknown */
	int64_t mtime;
	int64_t date; /* Date; 0 if unknown */
	/* Content-Length, or UINT64_MAX */
	uint64_t len;
	/* size in Content-Range, or UINT64_MAX */
	uint64_t total;
	/* offset in Content-Range, or UINT64_MAX */
	uint64_t first;
	/* seconds that the server asks clients to wait; 0: it did not ask */
	unsigned retry_after;
	/* the body, if it did not go to the sink */
	struct buf body; /* owned */
};

struct client_limits {
	/* time limit for a new connection with its TLS handshake */
	unsigned connect_ms;
	/*
	 * maximum time for which a transfer may be slower than 1 KiB/s; rounded
	 * up to seconds
	 */
	unsigned stall_ms;
	/*
	 * Whether libcurl is loaded at the first request instead of when the
	 * client is opened. Loading it takes longer than all other work of a
	 * process that sends no request.
	 */
	bool is_lazy;
};

struct client;

/*
 * Opens a client. `ca_file` names a file with CA certificates; NULL: the CA
 * certificates of the system are used. Several threads may open clients at the
 * same time if libcurl is version 7.84 or newer.
 *
 * Returns 0 with *out owned by the caller, ERR_UNSUPPORTED if libcurl is not
 * installed, or ERR_NOMEM. If limits->is_lazy is set, this function does not
 * load libcurl. If libcurl is not installed, client_send() then returns
 * ERR_UNSUPPORTED.
 */
int client_open(struct client **out, const struct client_limits *limits,
		const char *ca_file, struct error *err);
void client_close(struct client *client);

void client_answer_init(struct client_answer *answer);
void client_answer_release(struct client_answer *answer);

/*
 * Sends a request and receives the answer. Several threads may call this
 * function at the same time.
 *
 * Returns 0 with *answer filled. If answer->outcome is not CLIENT_ANSWERED,
 * *err has the reason; an answer that is too long counts as CLIENT_LOST.
 * Returns a negative result of the sink unchanged. Returns ERR_PEER if the
 * certificate of the server is not valid, or ERR_NOMEM; in both cases the
 * request was not sent.
 */
int client_send(struct client *client, struct client_answer *answer,
		const struct client_request *request, struct error *err);

#endif
