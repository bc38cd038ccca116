/* SPDX-License-Identifier: MIT */
/*
 * Negotiation: answering "have" lines until enough common commits are known
 * (gitprotocol-pack(5), "Packfile Negotiation"; the acknowledgments section of
 * gitprotocol-v2(5)). For use by one thread.
 *
 * A have is common if the server has the object, else unknown. A round is a
 * list of haves up to a flush packet. "Enough" means that each wanted commit
 * has a common commit among its ancestors.
 *
 * The server's answers depend on the capability that the client chose:
 *
 *	                 plain           multi_ack        multi_ack_detailed
 *	common have      ACK x (first)   ACK x continue   ACK x common
 *	unknown have,
 *	  enough         -               ACK x continue   ACK x ready
 *	flush, round has
 *	  common haves
 *	  only, enough   -               -                ACK last ready
 *	flush            NAK (no common) NAK              NAK
 *	done             NAK (no common) ACK last         ACK last
 *
 * x is the have, `last` the last common have. (first): only the first common
 * have is acknowledged. (no common): NAK is sent only if there is no common
 * have. If the client chose no-done, the negotiation ends at the first flush
 * packet after "ready", and the pack follows.
 */
#ifndef SERVE_NEGOTIATE_H
#define SERVE_NEGOTIATE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "object/oid.h"
#include "wire/oidset.h"
#include "wire/pktline.h"

/*
 * The kind of acknowledgments: one column of the table at the top of this file.
 */
enum negotiate_mode {
	NEGOTIATE_PLAIN,
	NEGOTIATE_MULTI_ACK,
	NEGOTIATE_DETAILED,
};

/* The callbacks by which a negotiation asks about the repository. */
struct negotiate_ops {
	/* Returns whether the repository has an object. */
	bool (*has)(void *ctx, const struct oid *oid);
	/*
	 * Returns 1 if each wanted commit has an ancestor in `common`, 0 if
	 * not, or a negative error code. Called only if `common` has an id.
	 */
	int (*enough)(void *ctx, const struct oidset *common,
		      struct error *err);
	void *ctx;
};

struct negotiate {
	struct negotiate_ops ops;
	struct pktline_writer *out; /* borrowed */
	struct oidset *common;      /* borrowed: common haves */
	enum hash_algo algo;
	enum negotiate_mode mode;
	bool no_done;
	struct oid last; /* the last common have */
	/*
	 * true: in the current round, the client sent a have that the server
	 * has
	 */
	bool round_common;
	/*
	 * true: in the current round, the client sent a have that the server
	 * lacks
	 */
	bool round_other;
	bool sent_ready;
	/* true: ops.enough() has returned 1; stays true */
	bool is_enough;
	/* the value of common->nr when ops.enough() last returned 0 */
	size_t not_enough_nr;
};

/*
 * Starts a negotiation in plain mode. The caller may set n->mode and n->no_done
 * before the first have. *ops is copied; `common` and `out` must outlive *n.
 */
void negotiate_init(struct negotiate *n, const struct negotiate_ops *ops,
		    struct oidset *common, struct pktline_writer *out,
		    enum hash_algo algo);

/*
 * Protocol v0/v1: answers one have. `have` is the id that the client sent.
 * Returns 0 or a negative error code.
 */
int negotiate_have(struct negotiate *n, const struct oid *have,
		   struct error *err);

/*
 * Protocol v0/v1: answers the flush packet at the end of a round. Returns 1 if
 * the pack follows, 0 if the client will send more haves, or a negative error
 * code.
 */
int negotiate_flush(struct negotiate *n, struct error *err);

/*
 * Protocol v0/v1: answers "done". The pack follows. Returns 0 or a negative
 * error code.
 */
int negotiate_done(struct negotiate *n, struct error *err);

/*
 * Protocol v2: writes the acknowledgments section, with one ACK for each id in
 * n->common. "ready" is written if the common haves are enough and
 * `wait_for_done` is false. Returns 1 if "ready" was written (the pack
 * follows), 0 if not, or a negative error code. The caller writes the packet
 * that ends the section.
 */
int negotiate_acknowledge(struct negotiate *n, bool wait_for_done,
			  struct error *err);

#endif
