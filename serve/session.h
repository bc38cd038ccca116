/* SPDX-License-Identifier: MIT */
/*
 * One connection: its input and output, and the repository as far as the
 * client's requests have needed it. Nothing is opened before it is asked for,
 * so that an empty request costs next to nothing.
 *
 * One thread.
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
	enum hash_algo algo;
	struct serve_config config;
	struct pktline_reader in;
	struct pktline_writer out;
	struct summary summary; /* of each request */
	bool in_pack;           /* a pack has begun: no "ERR" any more */
	bool has_promisor;      /* the client of this request gets what we miss
				   from a promisor remote of ours */
	/* Each NULL or not open until asked for: */
	struct odb *odb; /* owned */
	struct walk walk;
	bool walk_is_open;
	struct refview refs;
	bool refs_are_open;
	struct oid no_tag;       /* what was last looked at and is none, */
	bool knows_no_tag;       /* if anything was */
	struct visible *visible; /* owned: with config.is_limit */
	uint64_t refs_before;    /* looked at by earlier requests */
};

/* 0 or negative; release in any case. */
int session_init(struct session *s, const struct serve_options *options,
		 const struct serve_io *io, struct error *err);
void session_release(struct session *s);

/* Open what is needed, once. 0 or negative. */
int session_open_odb(struct session *s, struct error *err);
int session_open_walk(struct session *s, struct error *err);
int session_open_refs(struct session *s, struct error *err);

/*
 * Whether there is an object that a client names, and it may know so: 1, 0 or
 * negative. session_has() is for what it wants: an object that was packed
 * after the object database was opened is found as well; session_knows() for
 * what it says it has.
 */
int session_has(struct session *s, const struct oid *oid, struct error *err);
int session_knows(struct session *s, const struct oid *oid, struct error *err);

/* The account of a request: it begins, and has ended. */
void session_begin(struct session *s, const char *command);
void session_end(struct session *s, const struct error *error);

/* Report a warning, if there is one. */
void session_warn(struct session *s, const struct error *warning);

/*
 * What a ref peels to: 1 with *peeled set for a tag, 0 for anything else, or
 * negative. A ref to an object that is missing is 0 too, with a warning: it
 * is advertised like any other, since a client that prunes would take its
 * absence for its deletion. Costs nothing when packed-refs knows the answer, or
 * the ref before named the same.
 */
int session_peel_ref(struct session *s, const struct ref *ref,
		     struct oid *peeled, struct error *err);

#endif
