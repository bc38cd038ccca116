/* SPDX-License-Identifier: MIT */
/*
 * Negotiation: answering "have" lines until the common history is known
 * (gitprotocol-pack(5), "Packfile Negotiation"; the acknowledgments section
 * of gitprotocol-v2(5)).
 *
 * What is said, by the capability the client chose:
 *
 *	                 plain           multi_ack        multi_ack_detailed
 *	common have      ACK x (first)   ACK x continue   ACK x common
 *	unknown have,
 *	  enough known   -               ACK x continue   ACK x ready
 *	flush, round had
 *	  common ones
 *	  only, enough   -               -                ACK last ready
 *	flush            NAK (no common) NAK              NAK
 *	done             NAK (no common) ACK last         ACK last
 *
 * "Enough" means that every want has a common commit among its ancestors.
 * With no-done a flush after "ready" ends the negotiation by itself.
 */
#ifndef SERVE_NEGOTIATE_H
#define SERVE_NEGOTIATE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "object/oid.h"
#include "wire/oidset.h"
#include "wire/pktline.h"

enum negotiate_mode {
	NEGOTIATE_PLAIN,
	NEGOTIATE_MULTI_ACK,
	NEGOTIATE_DETAILED,
};

/* What negotiation has to know about the repository. */
struct negotiate_ops {
	/* Whether the repository has an object. */
	bool (*has)(void *ctx, const struct oid *oid);
	/*
	 * Whether the common haves so far are enough: 1, 0 or negative. Not
	 * asked while there are none.
	 */
	int (*enough)(void *ctx, const struct oidset *common,
		      struct error *err);
	void *ctx;
};

struct negotiate {
	struct negotiate_ops ops;
	struct pktline_writer *out; /* borrowed */
	struct oidset *common;      /* borrowed: haves that we have */
	enum hash_algo algo;
	enum negotiate_mode mode;
	bool no_done;
	struct oid last;   /* the last common have */
	bool round_common; /* this round had a common have, */
	bool round_other;  /*   or one that we do not have */
	bool sent_ready;
	bool is_enough;       /* once enough, always enough */
	size_t not_enough_nr; /* common->nr when it was last not enough */
};

/* Start; `mode` and `no_done` may be set afterwards, before the first have. */
void negotiate_init(struct negotiate *n, const struct negotiate_ops *ops,
		    struct oidset *common, struct pktline_writer *out,
		    enum hash_algo algo);

/* Protocol v0/v1: answer one have. 0 or negative. */
int negotiate_have(struct negotiate *n, const struct oid *have,
		   struct error *err);

/*
 * Protocol v0/v1: the end of a round. Returns 1 when the pack follows, 0 when
 * the client goes on, or negative.
 */
int negotiate_flush(struct negotiate *n, struct error *err);

/* Protocol v0/v1: the client said "done"; the pack follows. 0 or negative. */
int negotiate_done(struct negotiate *n, struct error *err);

/*
 * Protocol v2: write the acknowledgments section for all haves of a request,
 * common and unknown, in their order. With `wait_for_done` "ready" is never
 * said. Returns 1 when the pack follows ("ready" was said), 0 when not, or
 * negative. The packet that ends the section is the caller's.
 */
int negotiate_acknowledge(struct negotiate *n, bool wait_for_done,
			  struct error *err);

#endif
