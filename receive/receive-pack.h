/* SPDX-License-Identifier: MIT */
/*
 * receive-pack: taking pushes, bytes in, bytes out.
 */
#ifndef RECEIVE_RECEIVE_PACK_H
#define RECEIVE_RECEIVE_PACK_H

#include <stdbool.h>

#include "base/error.h"
#include "repo/repo.h"
#include "wire/io.h"

/* All pointers are borrowed for the call. */
struct receive_options {
	const struct repo *repo; /* the working directory is its git_dir */
	const char *path;        /* the repository as it was asked for */
	int version;             /* protocol; 1 announces itself, others not */
	bool stateless_rpc;      /* one request, without advertisement */
	bool advertise_only;     /* the advertisement, and nothing else */
	bool quiet;              /* no progress, whatever the client says */
	bool skip_connectivity;  /* trust the pusher to have sent everything */
	const char *agent;       /* "<name>/<version>", printable, no spaces */
	const char *session_id;  /* for transfer.advertiseSID; NULL: none */
	const char *namespace;   /* GIT_NAMESPACE; NULL: none */
	/*
	 * Who pushes, as reflogs have it: "Name <mail> <seconds> <zone>".
	 * NULL: not known, and no ref that has a reflog can be changed.
	 */
	const char *committer;
	/*
	 * What is meant for the pusher and has no side band to go by: lines
	 * with their prefix ("error: ..."). NULL: not wanted.
	 */
	void (*tell)(void *ctx, const char *text, size_t len);
	void *tell_ctx;
};

/*
 * Serve one connection, or one request with stateless_rpc. 0 when the client
 * has got its report, whatever that says; negative when the conversation
 * could not be held: ERR_PEER for a client that breaks the rules (it is told
 * in an "ERR" packet) or goes away. In all cases refs are as the report says
 * or as they were, and nothing is left of what was not accepted. Refs that have
 * changed have had their hooks run, whether the client was still there or not.
 */
int receive_pack_serve(const struct receive_options *options,
		       const struct serve_io *io, struct error *err);

#endif
