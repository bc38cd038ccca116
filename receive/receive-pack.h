/* SPDX-License-Identifier: MIT */
/* Serves one push, on any connection that can read and write bytes. */
#ifndef RECEIVE_RECEIVE_PACK_H
#define RECEIVE_RECEIVE_PACK_H

#include <stdbool.h>

#include "base/error.h"
#include "refs-write/ref-transaction.h"
#include "repo/repo.h"
#include "wire/io.h"
#include "wire/summary.h"

/*
 * A place outside of the repository where a push stores its objects and refs.
 * Used if the repository is a local copy of a repository in a store
 * (copies/push.h). A push with a target differs from other pushes in these
 * points:
 * - Its objects are always kept as a pack in the quarantine, and are never
 *   moved into the repository. So later pushes cannot rely on objects of a
 *   refused push. Hooks read the new objects from the quarantine.
 * - The function publish() below changes the refs.
 * - A push that needs receive.shallowUpdate is refused.
 * - There is no maintenance, and no update of the server info.
 */
struct receive_target {
	/*
	 * Stores the objects of the push: the packs in "<dir>/pack", with .idx
	 * and .rev. All these files are durable. Called after the pre-receive
	 * hook has accepted the push, unless the push has no objects. After an
	 * error, all commands are refused, with the error message as reason.
	 */
	int (*store)(void *ctx, const char *dir, struct error *err);
	/*
	 * Makes the changes of refs, and brings the repository up to date. May
	 * be called twice for one push. See `publish` of struct
	 * ref_transaction_options. The message of an error is the reason that
	 * the client gets for each command.
	 */
	int (*publish)(void *ctx, struct ref_transaction *tx,
		       struct error *err);
	void *ctx;
	/*
	 * Called before the objects of the push are checked. Removes from the
	 * repository the objects of pushes that were not accepted. After an
	 * error, all commands are refused with the message of the error. NULL:
	 * the repository has no objects of pushes that were not accepted.
	 */
	int (*purge)(void *ctx, struct error *err);
};

/*
 * The settings that a caller of receive-pack chooses. All pointers are
 * borrowed.
 */
struct receive_options {
	/*
	 * The repository. Its git_dir must be the working directory of the
	 * process.
	 */
	const struct repo *repo;
	/*
	 * The path of the repository as the user gave it. Nonces of signed
	 * pushes are computed from this path.
	 */
	const char *path;
	/* The version of the protocol. Version 1 is announced to the client. */
	int version;
	/* Serve one request, without an advertisement before it. */
	bool stateless_rpc;
	/* Write the advertisement, and return. */
	bool advertise_only;
	/* Send no progress, even if the client asks for it. */
	bool quiet;
	/* Do not check whether objects are missing. */
	bool skip_connectivity;
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
	 * The identity of the client for reflogs: "Name <mail> <seconds>
	 * <zone>". NULL: unknown; commands on refs that have a reflog fail.
	 */
	const char *committer;
	/*
	 * Called with messages for the client if there is no side band, and
	 * with messages for the administrator. A message is one line with a
	 * prefix ("error: ..."). NULL: these messages are dropped.
	 */
	void (*tell)(void *ctx, const char *text, size_t len);
	void *tell_ctx;
	/* NULL: the push is stored in the repository itself */
	const struct receive_target *target;
	const struct summary_about *about; /* NULL: nothing is known */
};

/*
 * Serve one connection, or one request if stateless_rpc is true.
 *
 * Returns 0 if the client got the report, even if the report refuses all
 * commands. Returns ERR_PEER if the client breaks the protocol or goes away, or
 * another negative error code. A client that breaks the protocol gets an "ERR"
 * packet or a message on band 3.
 *
 * An error does not mean that the refs are unchanged: for example, the client
 * may go away after refs were updated. The hooks post-receive and post-update
 * still run for all refs that changed. After an error, each ref is in one of
 * two states, whether or not the client got the report. Either the ref has its
 * old value, or it has the new value that the report gives for it. Objects that
 * were not accepted are removed.
 */
int receive_pack_serve(const struct receive_options *options,
		       const struct serve_io *io, struct error *err);

#endif
