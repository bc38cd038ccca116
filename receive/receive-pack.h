/* SPDX-License-Identifier: MIT */
/*
 * receive-pack: serve a push on any connection that can read and write bytes.
 */
#ifndef RECEIVE_RECEIVE_PACK_H
#define RECEIVE_RECEIVE_PACK_H

#include <stdbool.h>

#include "base/error.h"
#include "repo/repo.h"
#include "wire/io.h"

/* All pointers are borrowed during the call. */
struct receive_options {
	/* the process must be in its git_dir */
	const struct repo *repo;
	/* path of the repository as given to the program: part of nonces */
	const char *path;
	/* protocol version; 1 is announced */
	int version;
	/* serve one request, no advertisement */
	bool stateless_rpc;
	/* write the advertisement and return */
	bool advertise_only;
	/* no progress, even if the client asks */
	bool quiet;
	/* do not check for missing objects */
	bool skip_connectivity;
	/* "<name>/<version>", printable, no spaces */
	const char *agent;
	/* for transfer.advertiseSID; NULL: none */
	const char *session_id;
	/* GIT_NAMESPACE; NULL: none */
	const char *namespace;
	/*
	 * The client's identity for reflogs: "Name <mail> <seconds> <zone>".
	 * NULL: not known; commands on refs with a reflog fail.
	 */
	const char *committer;
	/*
	 * Called with messages for the client if there is no side band, and
	 * with messages for the owner of the disk. A message is a line with a
	 * prefix ("error: ..."). NULL: drop these messages.
	 */
	void (*tell)(void *ctx, const char *text, size_t len);
	void *tell_ctx;
};

/*
 * Serve one connection, or one request if stateless_rpc is set.
 *
 * Returns 0 if the client got the report, even if the report refuses all
 * commands. Returns ERR_PEER if the client breaks the protocol or goes away, or
 * another negative error code. A client that breaks the protocol gets an "ERR"
 * packet or a message on band 3.
 *
 * After an error, each ref has its old value or the value in the report, and
 * objects that were not accepted are removed. The hooks post-receive and
 * post-update run for all refs that changed, even if the client went away.
 */
int receive_pack_serve(const struct receive_options *options,
		       const struct serve_io *io, struct error *err);

#endif
