/* SPDX-License-Identifier: MIT */
/*
 * One connection to a client that fetches: its input, its output, and the
 * opened parts of the repository. Objects, history and refs are opened when a
 * request first needs them, so that small requests stay cheap. For use by one
 * thread.
 */
#ifndef SERVE_SESSION_H
#define SERVE_SESSION_H

#include <stdbool.h>

#include "base/error.h"
#include "odb/odb.h"
#include "serve/serve-config.h"
#include "serve/upload-pack.h"
#include "walk/walk.h"
#include "wire/pktline.h"
#include "wire/refview.h"
#include "wire/summary.h"
#include "wire/visible.h"

struct session {
	const struct serve_options *options; /* borrowed */
	const struct serve_io *io;           /* borrowed */
	enum hash_algo algo;
	struct serve_config config;
	struct pktline_reader in;
	struct pktline_writer out;
	struct summary summary; /* of the current request */
	/* true: a pack has begun; "ERR" packets must not be sent any more */
	bool in_pack;
	/*
	 * true: the client has accepted a promisor remote that the server
	 * advertised. From this remote, the client can fetch the objects that
	 * the server lacks.
	 */
	bool has_promisor;
	/* Opened on first use: */
	/* borrowed if options->objects is set; else owned */
	struct odb *odb;
	struct walk walk;
	bool walk_is_open;
	struct refview refs;
	bool refs_are_open;
	/*
	 * The object that session_peel_ref() has read last, if this object is
	 * no tag. Valid if knows_no_tag is set.
	 */
	struct oid no_tag;
	bool knows_no_tag; /* whether no_tag is set */
	/* number of refs whose object session_peel_ref() could not read */
	uint64_t unreadable_nr;
	/*
	 * owned: decides which objects clients may know of; used if
	 * config.is_limit
	 */
	struct visible *visible;
	/* the number of refs that were read before the current request */
	uint64_t refs_before;
};

/*
 * Starts a connection, and reads the configuration. If the namespace is bad,
 * this function fails, before anything is sent. *options must outlive the
 * session. Returns 0 or a negative error code. The caller calls
 * session_release() in each case.
 */
int session_init(struct session *s, const struct serve_options *options,
		 const struct serve_io *io, struct error *err);
void session_release(struct session *s);

/*
 * Sends all pending packets of a request. If the connection serves only one
 * request (options->stateless_rpc or options->advertise_only), the caller must
 * write nothing afterwards. The reason: the same write may send the end of the
 * response in the underlying protocol, such as HTTP's last chunk. Returns 0 or
 * the error of the output.
 */
int session_send(struct session *s, struct error *err);

/*
 * session_open_odb() opens the objects, session_open_walk() the history and the
 * objects, and session_open_refs() the refs. A second call of a function does
 * nothing. Each function returns 0 or a negative error code.
 */
int session_open_odb(struct session *s, struct error *err);
int session_open_walk(struct session *s, struct error *err);
int session_open_refs(struct session *s, struct error *err);

/*
 * Return 1 if the repository has an object that a client named, 0 if not, or a
 * negative error code. With config.is_limit, an object that visible refs do not
 * reach counts as missing.
 *
 * session_has() is for wants. It also looks into packs that are newer than the
 * snapshot. session_knows() is for haves. It looks only into the snapshot,
 * which is cheaper.
 */
int session_has(struct session *s, const struct oid *oid, struct error *err);
int session_knows(struct session *s, const struct oid *oid, struct error *err);

/*
 * Returns 1 if refs reach an object, 0 if not, or a negative error code: the
 * result of visible_has() for the refs of this session.
 */
int session_sees(struct session *s, const struct oid *oid, struct error *err);

/*
 * Begin and end the trace summary of a request. If the request succeeded,
 * `error` is NULL.
 */
void session_begin(struct session *s, const char *command);
void session_end(struct session *s, const struct error *error);

/*
 * Writes a warning to the trace, and passes it to options->warn. Nothing is
 * done if warning->code is 0.
 */
void session_warn(struct session *s, const struct error *warning);

/*
 * Peels a ref. Returns 1 with *peeled set if the ref names an annotated tag, 0
 * for any other object, or a negative error code.
 *
 * If the object is missing, the function warns and returns 0. The ref is
 * advertised nevertheless. Otherwise a client that prunes would delete its copy
 * of the ref. The object is not read if `ref` has the peeled value. The object
 * is also not read if it is s->no_tag: then an earlier call has found that this
 * object is no tag.
 */
int session_peel_ref(struct session *s, const struct ref *ref,
		     struct oid *peeled, struct error *err);

#endif
