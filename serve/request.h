/* SPDX-License-Identifier: MIT */
/*
 * What a client asks for in a fetch, whichever protocol version it spoke:
 * wants, haves, its shallow boundary, and how the pack has to look.
 *
 * Ids kept are those of objects that we have, but for some thousands of wants
 * that were not looked for yet, so that a request cannot grow larger than the
 * repository.
 */
#ifndef SERVE_REQUEST_H
#define SERVE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "serve/negotiate.h"
#include "serve/session.h"
#include "walk/depth.h"
#include "walk/filter.h"
#include "walk/reach.h"
#include "wire/oidset.h"
#include "wire/sideband.h"

/* Git's clients ask for this depth when they want everything. */
#define REQUEST_INFINITE 0x7fffffff

struct request {
	struct session *s; /* borrowed */
	struct oidset wants;
	size_t checked_nr;            /* wants that there are, so many */
	struct oidset common;         /* haves that we have */
	uint64_t have_nr;             /* of all that were said */
	struct oidset client_shallow; /* where the client's history ends */
	/* The cut asked for; depth 0, no since and no nots: none. */
	uint32_t depth;   /* DEPTH_INFINITE: all there is */
	bool is_relative; /* depth counts from client_shallow */
	bool has_since;
	uint64_t since; /* seconds since 1970 */
	struct oidset nots;
	/* What shallow_update() makes of it: */
	struct oidset shallow; /* commits without parents, for the pack */
	struct oidset edges;   /* unshallowed: the client has these */
	/* The pack. */
	enum sideband_mode sideband;
	bool thin, ofs_delta, include_tag, no_progress;
	struct filter filter; /* what the client does without */
	char *uri_protocols;  /* owned: "packfile-uris"; NULL: none */
	/* Negotiation: */
	struct walk_tips want_tips; /* the wants, sorted by kind */
	struct reach reach;
	bool reach_is_open;
	bool has_pack; /* one was made; how, is in `made` */
	struct packing_report made;
	size_t target_nr; /* of `common` that are targets by now */
};

void request_init(struct request *req, struct session *s);
void request_release(struct request *req);

/* Whether a cut was asked for. */
bool request_has_depth_limit(const struct request *req);

/*
 * Parse "<word> <hex id>" up to the end of the id: returns what follows, or
 * NULL when the line does not have that form.
 */
const char *request_parse_oid(const struct request *req, const char *line,
			      const char *word, struct oid *oid);

/*
 * Take a line that v0 and v2 share: shallow, deepen, deepen-since,
 * deepen-not. Returns 1 when it was one, 0 when not, or negative.
 */
int request_take_line(struct request *req, const char *line, struct error *err);

/*
 * Take the filter of a "filter <spec>" line, once. 0, ERR_PEER for one that is
 * none, or is not allowed, or another error.
 */
int request_take_filter(struct request *req, const char *spec,
			struct error *err);

/* Refuse combinations that make no sense. 0 or ERR_PEER. */
int request_check_depth_limit(const struct request *req, struct error *err);

/* Parse the id of a "have <id>" line. 0 or ERR_PEER. */
int request_parse_have(struct request *req, const char *line, struct oid *oid,
		       struct error *err);

/* Add a want: 0, negative, or ERR_PEER when there is no such object. */
int request_add_want(struct request *req, const struct oid *oid,
		     struct error *err);

/*
 * The same, but whether there is such an object may be left to
 * request_check_wants(). Of a clone that is prepared it is known at once.
 */
int request_add_want_later(struct request *req, const struct oid *oid,
			   struct error *err);

/* Look for wants that were not: 0, ERR_PEER for the first that is not there. */
int request_check_wants(struct request *req, struct error *err);

/* Add the object of a ref, whether it is there or not. 0 or negative. */
int request_add_ref(struct request *req, const struct oid *oid,
		    struct error *err);

/* The error for a want that cannot be given: ERR_PEER. */
int request_not_our_ref(const struct request *req, const struct oid *oid,
			struct error *err);

/* Sort the wants into want_tips, once. 0 or negative. */
int request_load_wants(struct request *req, struct error *err);

/* Put what was asked for, and how it was answered, into the account. */
void request_summarize(struct request *req);

/* What a negotiation has to know; borrows req. Opens the repository. */
struct negotiate_ops request_ops(struct request *req);

#endif
