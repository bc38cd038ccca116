/* SPDX-License-Identifier: MIT */
/*
 * A fetch request in any protocol version: wants, haves, the client's shallow
 * boundary, the depth limit, and the options of the pack. For use by one
 * thread.
 *
 * Memory is bounded: the sets keep only ids of objects that the repository has.
 * The exception is the last 16,384 wants, which may not have been looked up
 * yet.
 */
#ifndef SERVE_REQUEST_H
#define SERVE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "config/config.h"
#include "serve/negotiate.h"
#include "serve/session.h"
#include "walk/depth.h"
#include "walk/filter.h"
#include "walk/reach.h"
#include "wire/oidset.h"
#include "wire/sideband.h"

/* The depth that Git's clients send when they want the whole history. */
#define REQUEST_INFINITE 0x7fffffff

struct request {
	struct session *s; /* borrowed */
	struct oidset wants;
	/* number of wants at the start of the array that are known to exist */
	size_t checked_nr;
	/* The haves of the client that the server has too. */
	struct oidset common;
	/* number of haves that the client sent, common or not */
	uint64_t have_nr;
	/* the client's shallow boundary */
	struct oidset client_shallow;
	/*
	 * The depth limit. The request has no depth limit if `depth` is 0,
	 * `has_since` is false, and `nots` is empty.
	 */
	/* number of commits; DEPTH_INFINITE: the whole history */
	uint32_t depth;
	/* true: `depth` is counted from client_shallow, not from the wants */
	bool is_relative;
	/* true: commits older than `since` are left out */
	bool has_since;
	uint64_t since; /* seconds since 1970 */
	/* these commits and their ancestors are left out */
	struct oidset nots;
	/* number of deepen-not lines, with repetitions */
	uint32_t not_line_nr;
	/*
	 * The next two sets are filled by shallow_update() and shallow_keep().
	 */
	/* commits that the walk treats as having no parents */
	struct oidset shallow;
	/*
	 * commits on the client's old shallow boundary that are no longer
	 * shallow
	 */
	struct oidset edges;
	/* The pack: */
	enum sideband_mode sideband;
	bool thin, ofs_delta, include_tag, no_progress;
	/* The pack leaves out objects that do not pass this filter. */
	struct filter filter;
	/* owned: value of "packfile-uris", or NULL */
	char *uri_protocols;
	/* Negotiation: */
	/* the wants, sorted by object type */
	struct walk_tips want_tips;
	struct reach reach;
	bool reach_is_open;
	/*
	 * true: a pack was made for this request; `made` is the report about
	 * the pack
	 */
	bool has_pack;
	struct packing_report made;
	/*
	 * Number of ids at the start of `common` that were added to `reach` as
	 * targets.
	 */
	size_t target_nr;
};

/* Starts an empty request. `s` must outlive *req. */
void request_init(struct request *req, struct session *s);
void request_release(struct request *req);

/* Returns whether the client asked for a depth, a date or excluded refs. */
bool request_has_depth_limit(const struct request *req);

/*
 * Parses "<word> <hex id>" at the start of a line. Returns the text after the
 * id, or NULL if the line has another form.
 */
const char *request_parse_oid(const struct request *req, const char *line,
			      const char *word, struct oid *oid);

/*
 * Handles a line that v0 and v2 have in common: shallow, deepen, deepen-since
 * or deepen-not. Returns 1 if the line is one of these, 0 if not, or a negative
 * error code (ERR_PEER for a bad value).
 */
int request_take_line(struct request *req, const char *line, struct error *err);

/*
 * Handles a line "filter <spec>". Returns 0 or a negative error code. ERR_PEER:
 * the filter is malformed or not allowed, or the request already has a filter.
 */
int request_take_filter(struct request *req, const char *spec,
			struct error *err);

/*
 * Returns 0, or ERR_PEER if a request has "deepen" together with "deepen-since"
 * or "deepen-not".
 */
int request_check_depth_limit(const struct request *req, struct error *err);

/*
 * Parses the id of a "have <id>" line, and counts the have. Returns 0, or
 * ERR_PEER for a malformed id.
 */
int request_parse_have(struct request *req, const char *line, struct oid *oid,
		       struct error *err);

/*
 * Adds a want. Returns 0, ERR_PEER if the object does not exist, or another
 * negative error code.
 */
int request_add_want(struct request *req, const struct oid *oid,
		     struct error *err);

/*
 * Adds a want without looking it up. request_check_wants() looks up the want
 * later. If a prepared answer (a stored response to a frequent request) lists
 * the want, no look-up is needed.
 *
 * The wants are looked up at once if 16,384 of them are unchecked, or if
 * gitreach.reachableOnly is set. Returns 0, ERR_PEER if a want is missing, or
 * another negative error code.
 */
int request_add_want_later(struct request *req, const struct oid *oid,
			   struct error *err);

/*
 * Looks up the wants that were not checked yet. Returns 0, ERR_PEER if one is
 * missing, or another negative error code.
 */
int request_check_wants(struct request *req, struct error *err);

/*
 * Adds the object of a ref as a want, without looking it up. Before that, looks
 * up the wants that request_add_want_later() has left unchecked. Returns 0,
 * ERR_PEER if one of them is missing, or another negative error code.
 */
int request_add_ref(struct request *req, const struct oid *oid,
		    struct error *err);

/*
 * Sets the error message "not our ref" for a want that is refused. Returns
 * ERR_PEER.
 */
int request_not_our_ref(const struct request *req, const struct oid *oid,
			struct error *err);

/*
 * Sorts the wants by object type into want_tips; a second call does nothing.
 * Opens the walk. Returns 0 or a negative error code.
 */
int request_load_wants(struct request *req, struct error *err);

/*
 * Writes the request of the client, and how the server made the pack for it, to
 * the trace summary of the session.
 */
void request_summarize(struct request *req);

/*
 * Returns the callbacks by which a negotiation asks about this request. The
 * callbacks borrow `req`, and open objects and history when they are first
 * called.
 */
struct negotiate_ops request_ops(struct request *req);

/*
 * ---- filter-policy.c
 *
 * Which object filters the server accepts from clients. The configuration keys
 * are uploadpackfilter.allow, uploadpackfilter.<filter>.allow and
 * uploadpackfilter.tree.maxDepth.
 */

/*
 * Checks the filter of a client. For a combined filter, the kind "combine" and
 * each part must be allowed. Returns 0 if the filter is allowed, ERR_PEER with
 * stock Git's message if not, or ERR_INVALID if a configured value cannot be
 * parsed.
 */
int filter_policy_check(const struct config *config,
			const struct filter *filter, struct error *err);

/*
 * ---- wants.c
 *
 * Which objects a v0/v1 client may want:
 *
 *	always                        objects that visible refs name
 *	allowTipSHA1InWant            objects that hidden refs name
 *	allowReachableSHA1InWant      objects that any ref reaches
 *	allowAnySHA1InWant            any object
 *	--stateless-rpc               objects that visible refs reach
 *
 * The names with "allow" are configuration keys (uploadpack.*), --stateless-rpc
 * is an option. A stateless request comes on a new connection, and refs may
 * have moved since the advertisement; so reachable objects are allowed.
 */

/*
 * Checks all wants of a request. Returns 0 if all are allowed, ERR_PEER with
 * the message of request_not_our_ref() if one is refused, or another negative
 * error code.
 *
 * Cost: one pass over the visible refs. If a commit is wanted that is not a
 * tip, a walk over commits is added. The cost of another object that is not a
 * tip is in wire/visible.h.
 */
int wants_check(struct request *req, struct error *err);

#endif
