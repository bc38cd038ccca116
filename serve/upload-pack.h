/* SPDX-License-Identifier: MIT */
/*
 * Serves fetches and clones to a client that is connected by two functions, one
 * to read and one to write (wire/io.h).
 */
#ifndef SERVE_UPLOAD_PACK_H
#define SERVE_UPLOAD_PACK_H

#include <stdbool.h>

#include "base/error.h"
#include "odb/odb.h"
#include "packing/send.h"
#include "repo/repo.h"
#include "wire/io.h"
#include "wire/summary.h"

/* Makes and sends a pack as packing_send() does. */
typedef int (*serve_make_pack_fn)(void *ctx, const struct odb *odb,
				  const struct packing_request *request,
				  const struct packing_send_options *options,
				  struct pack_sink sink,
				  struct packing_report *report,
				  struct error *err);

/*
 * The settings that a caller of upload-pack chooses. All pointers are borrowed.
 */
struct serve_options {
	const struct repo *repo;
	int version; /* protocol 0, 1 or 2 */
	/* true: serve one request, without an advertisement before it */
	bool stateless_rpc;
	/* true: write only the advertisement */
	bool advertise_only;
	/*
	 * value of the capability agent: "<name>/<version>", printable, no
	 * spaces
	 */
	const char *agent;
	/*
	 * value of the capability session-id (transfer.advertiseSID); NULL:
	 * none
	 */
	const char *session_id;
	/* the value of GIT_NAMESPACE; NULL: none */
	const char *namespace;
	/*
	 * true: the repository is a local copy of a repository in a store, and
	 * had the store's newest state at most STORED_OFFERS_AGE_MAX seconds
	 * ago (copies/offers.h). So clients may download its packs from the
	 * store.
	 */
	bool is_fresh_copy;
	serve_make_pack_fn make_pack; /* NULL: packing_send() */
	void *make_pack_ctx;
	/*
	 * A callback that fetches missing objects of a partial clone
	 * (odb/odb.h); NULL: none.
	 */
	const struct odb_provider *provider;
	/*
	 * Sets *odb to a snapshot of the objects. Called at most once, when
	 * objects are first needed. NULL: the session opens its own snapshot.
	 *
	 * The snapshot must outlive the call of serve_upload_pack(). If packs
	 * of the snapshot are marked with is_pinned (pack/pack.h), io->emit()
	 * gets bytes of these packs, and may send them after the call. Then the
	 * snapshot must live until these bytes are sent. *warning and the
	 * return values are those of odb_open(). If `objects` is set,
	 * `provider` must be NULL.
	 */
	int (*objects)(void *ctx, struct odb **odb, struct error *warning,
		       struct error *err);
	void *objects_ctx;
	/* Called with the text of each warning. NULL: warnings are dropped. */
	void (*warn)(void *ctx, const char *message);
	void *warn_ctx;
	/*
	 * Called before a hook is started, to prepare the environment of child
	 * processes. Most requests start no hook, so the preparation is left to
	 * this callback. Returns 0 or a negative error code. NULL: no
	 * preparation.
	 */
	int (*before_hook)(struct error *err);
	const struct summary_about *about; /* NULL: nothing is known */
};

/*
 * Serves one connection, or one request if options->stateless_rpc. Returns 0,
 * ERR_PEER if the client broke the protocol or went away, or another negative
 * error code. A client that broke the protocol gets an "ERR" packet.
 */
int serve_upload_pack(const struct serve_options *options,
		      const struct serve_io *io, struct error *err);

/*
 * Returns the protocol version that a value of GIT_PROTOCOL asks for. The value
 * is a list of keys, separated by colons. The largest known "version=<n>" wins.
 * Returns 0 if there is no such key, or if the value is NULL.
 */
int serve_protocol_version(const char *git_protocol);

/* Writes the number of the protocol version to a trace. */
void serve_trace_version(struct trace *trace, int version);

#endif
