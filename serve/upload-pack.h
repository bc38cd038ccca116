/* SPDX-License-Identifier: MIT */
/*
 * upload-pack: serving fetches and clones, bytes in, bytes out.
 */
#ifndef SERVE_UPLOAD_PACK_H
#define SERVE_UPLOAD_PACK_H

#include <stdbool.h>

#include "base/error.h"
#include "odb/odb.h"
#include "packing/send.h"
#include "repo/repo.h"
#include "wire/io.h"

/* Makes the pack of a request; packing_send() is one. */
typedef int (*serve_make_pack_fn)(const struct odb *odb,
				  const struct packing_request *request,
				  const struct packing_send_options *options,
				  struct pack_sink sink,
				  struct packing_report *report,
				  struct error *err);

/* All pointers are borrowed for the call. */
struct serve_options {
	const struct repo *repo;
	int version;            /* protocol 0, 1 or 2 */
	bool stateless_rpc;     /* one request, without advertisement */
	bool advertise_only;    /* the advertisement, and nothing else */
	const char *agent;      /* "<name>/<version>", printable, no spaces */
	const char *session_id; /* for transfer.advertiseSID; NULL: none */
	const char *namespace;  /* GIT_NAMESPACE; NULL: none */
	serve_make_pack_fn make_pack; /* NULL: packing_send() */
	/* What went wrong without ending the service. NULL: not wanted. */
	void (*warn)(void *ctx, const char *message);
	void *warn_ctx;
	/*
	 * Called before a hook is started: what only a child needs, and a small
	 * request would pay for. NULL: nothing.
	 */
	int (*before_hook)(struct error *err);
};

/*
 * Serve one connection, or one request with stateless_rpc. A client that
 * breaks the rules is told in an "ERR" packet and makes this return ERR_PEER;
 * one that just goes away in the middle is ERR_PEER too.
 */
int serve_upload_pack(const struct serve_options *options,
		      const struct serve_io *io, struct error *err);

/*
 * The protocol version that the value of GIT_PROTOCOL (NULL: unset) asks for:
 * the highest known of its colon-separated "version=<n>"; else 0.
 */
int serve_protocol_version(const char *git_protocol);

/* Tell a trace which version is spoken. */
void serve_trace_version(struct trace *trace, int version);

#endif
