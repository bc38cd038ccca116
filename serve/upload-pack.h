/* SPDX-License-Identifier: MIT */
/*
 * upload-pack: serves fetches and clones over an interface of two functions,
 * read and write (wire/io.h).
 */
#ifndef SERVE_UPLOAD_PACK_H
#define SERVE_UPLOAD_PACK_H

#include <stdbool.h>

#include "base/error.h"
#include "odb/odb.h"
#include "packing/send.h"
#include "repo/repo.h"
#include "wire/io.h"

/* The type of packing_send(). Tests put another function in its place. */
typedef int (*serve_make_pack_fn)(const struct odb *odb,
				  const struct packing_request *request,
				  const struct packing_send_options *options,
				  struct pack_sink sink,
				  struct packing_report *report,
				  struct error *err);

/* All pointers are borrowed for the call. */
struct serve_options {
	const struct repo *repo;
	int version; /* protocol 0, 1 or 2 */
	/* serve one request, send no advertisement */
	bool stateless_rpc;
	/* send the advertisement and end */
	bool advertise_only;
	/* "<name>/<version>", printable, no spaces */
	const char *agent;
	/* for transfer.advertiseSID; NULL: none */
	const char *session_id;
	/* GIT_NAMESPACE; NULL: none */
	const char *namespace;
	serve_make_pack_fn make_pack; /* NULL: packing_send() */
	/* Makes missing objects available; NULL: none (odb/odb.h). */
	const struct odb_provider *provider;
	/* Gets the text of each warning. NULL: warnings are not wanted. */
	void (*warn)(void *ctx, const char *message);
	void *warn_ctx;
	/*
	 * Called before a hook is started, to prepare the environment of child
	 * processes. Most requests start none and do not pay for this. Returns
	 * 0 or a negative error code. NULL: no preparation.
	 */
	int (*before_hook)(struct error *err);
};

/*
 * Serve one connection, or one request with stateless_rpc. Returns 0, ERR_PEER
 * if the client broke the protocol or went away, or another negative error
 * code. A client that broke the protocol gets an "ERR" packet.
 */
int serve_upload_pack(const struct serve_options *options,
		      const struct serve_io *io, struct error *err);

/*
 * Returns the protocol version that the value of GIT_PROTOCOL asks for. The
 * value is a list of keys with colons between; the largest known "version=<n>"
 * counts. Returns 0 for a list without such a key, and for NULL.
 */
int serve_protocol_version(const char *git_protocol);

/* Write the protocol version to a trace. */
void serve_trace_version(struct trace *trace, int version);

#endif
