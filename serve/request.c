/* SPDX-License-Identifier: MIT */
/*
 * Parses fetch requests, checks wants, and tells a negotiation which haves are
 * common, and when the common haves are enough.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/affix.h"
#include "base/mem.h"
#include "names/revname.h"
#include "prepared/prepared-wants.h"
#include "serve/request.h"
#include "walk/filter-walk.h"
#include "wire/request-text.h"

/*
 * Maximum number of deepen-not lines of a request. Each line costs the look-up
 * of a ref by its short name, which may open several files.
 */
#define NOTS_MAX 16384

/* Maximum number of wants that are stored before they are looked up. */
#define UNCHECKED_MAX 16384

/*
 * A prepared answer is a stored response to a frequent request. A file of the
 * repository lists the wants of prepared answers (prepared/prepared-wants.h). A
 * request with at least this number of unchecked wants opens this file. With
 * fewer wants, looking up each want among the refs costs less than opening the
 * file.
 */
#define MANY_WANTS 64

/*
 * Maximum size of the file that lists the wants of prepared answers, in bytes
 * for each want of the request. A larger file is not opened: reading the file
 * would cost more than looking up each want among the refs.
 */
#define BYTES_PER_WANT 128

void request_init(struct request *req, struct session *s)
{
	*req = (struct request){
		.s = s,
		.want_tips = WALK_TIPS_INIT,
	};
	filter_init(&req->filter);
	oidset_init(&req->wants, OIDSET_MAX);
	oidset_init(&req->common, OIDSET_MAX);
	oidset_init(&req->client_shallow, OIDSET_MAX);
	oidset_init(&req->nots, NOTS_MAX);
	oidset_init(&req->shallow, OIDSET_MAX);
	oidset_init(&req->edges, OIDSET_MAX);
}

void request_release(struct request *req)
{
	filter_release(&req->filter);
	free(req->uri_protocols);
	oidset_release(&req->wants);
	oidset_release(&req->common);
	oidset_release(&req->client_shallow);
	oidset_release(&req->nots);
	oidset_release(&req->shallow);
	oidset_release(&req->edges);
	walk_tips_release(&req->want_tips);
	if (req->reach_is_open)
		reach_release(&req->reach);
}

bool request_has_depth_limit(const struct request *req)
{
	return req->depth || req->has_since || req->nots.nr;
}

const char *request_parse_oid(const struct request *req, const char *line,
			      const char *word, struct oid *oid)
{
	const char *hex = after_word(line, word);

	return hex && oid_from_hex(oid, hex, strlen(hex), req->s->algo)
		       ? hex + hash_hex_len(req->s->algo)
		       : NULL;
}

static int bad_line(struct error *err, const char *what, const char *line)
{
	char quoted[PKTLINE_QUOTE_MAX];

	return error_set(err, ERR_PEER, "%s: %s", what,
			 pktline_quote(quoted, line));
}

static int take_shallow(struct request *req, const char *line,
			struct error *err)
{
	char hex[OID_MAX_HEX_LEN + 1];
	const char *rest;
	enum object_type type;
	struct oid oid;
	int ret;

	rest = request_parse_oid(req, line, "shallow", &oid);
	if (!rest || *rest)
		return bad_line(err, "invalid shallow line", line);
	ret = session_open_walk(req->s, err);
	if (!ret)
		ret = session_knows(req->s, &oid, err);
	if (ret < 0)
		return ret;
	/*
	 * Ignore a "shallow" line for an object that the server does not have.
	 * An object of a pack that is newer than the snapshot counts as
	 * missing. This is safe: such an object is not a common have either, so
	 * the server does not assume that the client has its parents.
	 */
	if (!ret || odb_info(req->s->walk.reader, &oid, &type, NULL, NULL) < 0)
		return 1;
	if (type != OBJ_COMMIT)
		return error_set(err, ERR_PEER, "invalid shallow object %s",
				 oid_to_hex(hex, &oid, req->s->algo));
	ret = oidset_add(&req->client_shallow, &oid, err);
	return ret < 0 ? ret : 1;
}

/*
 * Parses a decimal number. Returns false if `text` is not a decimal number or
 * is too large.
 */
static bool parse_number(uint64_t *out, const char *text)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*out = strtoumax(text, &end, 10);
	return !*end && !errno;
}

static int take_deepen(struct request *req, const char *line, const char *value,
		       struct error *err)
{
	uint64_t depth;

	if (!parse_number(&depth, value) || !depth || depth > REQUEST_INFINITE)
		return bad_line(err, "Invalid deepen", line);
	req->depth = depth == REQUEST_INFINITE ? DEPTH_INFINITE
					       : (uint32_t)depth;
	return 1;
}

static int take_since(struct request *req, const char *line, const char *value,
		      struct error *err)
{
	if (!parse_number(&req->since, value))
		return bad_line(err, "Invalid deepen-since", line);
	req->has_since = true;
	return 1;
}

static int take_not(struct request *req, const char *line, const char *value,
		    struct error *err)
{
	struct ref ref;
	int ret;

	if (req->not_line_nr++ == NOTS_MAX)
		return bad_line(err, "too many deepen-not lines", line);
	ret = session_open_refs(req->s, err);
	if (!ret)
		ret = refview_expand(&req->s->refs, value, &ref, err);
	if (ret < 0 && ret != ERR_CORRUPT)
		return ret;
	if (!ret)
		return bad_line(err, "git upload-pack: deepen-not is not a ref",
				line);
	if (ret != 1)
		return bad_line(err, "git upload-pack: ambiguous deepen-not",
				line);
	ret = oidset_add(&req->nots, &ref.oid, err);
	return ret < 0 ? ret : 1;
}

int request_take_line(struct request *req, const char *line, struct error *err)
{
	const char *value;

	if (after_word(line, "shallow"))
		return take_shallow(req, line, err);
	if ((value = after_word(line, "deepen")))
		return take_deepen(req, line, value, err);
	if ((value = after_word(line, "deepen-since")))
		return take_since(req, line, value, err);
	if ((value = after_word(line, "deepen-not")))
		return take_not(req, line, value, err);
	return 0;
}

/*
 * Finds the object that a revision names, if gitreach.reachableOnly is set. The
 * revision must be a full id or a visible ref; a path may follow after a colon.
 * Any other revision is refused. An abbreviated id, for example, would be
 * searched among all objects, including those that the client must not know of.
 * Returns 0, ERR_MISSING, or another negative error code.
 */
static int resolve_visible(struct session *s, const char *name, struct oid *oid)
{
	size_t len = strcspn(name, ":");
	struct buf spec = BUF_INIT;
	char hex[OID_MAX_HEX_LEN + 1];
	struct ref ref;
	int ret = 0;

	if (buf_append(&spec, name, len) < 0)
		return ERR_NOMEM;
	if (len == hash_hex_len(s->algo) &&
	    oid_from_hex(oid, spec.data, len, s->algo)) {
		ret = session_has(s, oid, NULL);
	} else if (refview_expand(&s->refs, spec.data, &ref, NULL) == 1) {
		*oid = ref.oid;
		ret = session_has(s, oid, NULL);
	}
	buf_reset(&spec);
	if (ret > 0 && buf_printf(&spec, "%s%s", oid_to_hex(hex, oid, s->algo),
				  name + len) < 0)
		ret = ERR_NOMEM;
	if (ret > 0)
		ret = revname_resolve(oid, spec.data, s->refs.refs,
				      s->walk.reader, s->odb, NULL);
	else if (!ret)
		ret = ERR_MISSING;
	buf_release(&spec);
	return ret;
}

static int resolve(void *ctx, const char *name, struct oid *oid)
{
	struct session *s = ctx;

	if (s->config.is_limit)
		return resolve_visible(s, name, oid);
	return revname_resolve(oid, name, s->refs.refs, s->walk.reader, s->odb,
			       NULL);
}

/*
 * Loads the sparse patterns from the blobs that the filter's sparse:oid parts
 * name.
 */
static int load_sparse(struct request *req, struct error *err)
{
	struct session *s = req->s;
	int ret = session_open_refs(s, err);

	if (!ret)
		ret = session_open_walk(s, err);
	if (!ret)
		ret = filter_load_sparse(&req->filter, s->walk.reader, resolve,
					 s, err);
	return ret == ERR_INVALID ? error_recode(err, ERR_PEER) : ret;
}

int request_take_filter(struct request *req, const char *spec,
			struct error *err)
{
	int ret;

	if (!filter_is_empty(&req->filter))
		return error_set(err, ERR_PEER,
				 "multiple filter-specs cannot be combined");
	ret = filter_add(&req->filter, spec, err);
	if (ret == ERR_INVALID)
		return error_recode(err, ERR_PEER);
	if (!ret)
		ret = filter_policy_check(&req->s->options->repo->config,
					  &req->filter, err);
	return ret ? ret : load_sparse(req, err);
}

int request_check_depth_limit(const struct request *req, struct error *err)
{
	if (req->depth && (req->has_since || req->nots.nr))
		return error_set(err, ERR_PEER,
				 "git upload-pack: deepen and deepen-since "
				 "(or deepen-not) cannot be used together");
	return 0;
}

int request_parse_have(struct request *req, const char *line, struct oid *oid,
		       struct error *err)
{
	const char *rest = request_parse_oid(req, line, "have", oid);
	char quoted[PKTLINE_QUOTE_MAX];

	req->have_nr++;
	if (rest && !*rest)
		return 0;
	return error_set(err, ERR_PEER,
			 "git upload-pack: expected SHA1 object, got '%s'",
			 pktline_quote(quoted, line + strlen("have ")));
}

/*
 * If there are many wants to check, open a list of objects that exist: the
 * wants of prepared answers, which are stored responses to frequent requests. A
 * want in this list needs no look-up. Returns 0 or a negative error code.
 */
static int open_existing(struct prepared_wants *existing, struct request *req,
			 struct error *err)
{
	size_t nr = req->wants.nr - req->checked_nr;
	int ret;

	if (nr < MANY_WANTS || !req->s->config.use_bitmaps ||
	    req->s->config.is_limit)
		return 0;
	ret = session_open_odb(req->s, err);
	if (ret < 0)
		return ret;
	ret = prepared_wants_open_any(existing, req->s->odb,
				      nr * BYTES_PER_WANT);
	return ret < 0 ? error_nomem(err) : 0;
}

int request_check_wants(struct request *req, struct error *err)
{
	struct prepared_wants existing = PREPARED_WANTS_INIT;
	int ret = open_existing(&existing, req, err);
	uint32_t at;

	for (; ret >= 0 && req->checked_nr < req->wants.nr; req->checked_nr++) {
		const struct oid *oid = &req->wants.oids[req->checked_nr];

		if (prepared_wants_find(&existing, oid, &at))
			continue;
		ret = session_has(req->s, oid, err);
		if (!ret)
			ret = request_not_our_ref(req, oid, err);
	}
	prepared_wants_close(&existing);
	return ret < 0 ? ret : 0;
}

int request_add_want_later(struct request *req, const struct oid *oid,
			   struct error *err)
{
	int ret = oidset_add(&req->wants, oid, err);

	if (ret >= 0 && (req->s->config.is_limit ||
			 req->wants.nr - req->checked_nr >= UNCHECKED_MAX))
		ret = request_check_wants(req, err);
	return ret < 0 ? ret : 0;
}

int request_add_want(struct request *req, const struct oid *oid,
		     struct error *err)
{
	int ret = oidset_add(&req->wants, oid, err);

	if (ret >= 0)
		ret = request_check_wants(req, err);
	return ret < 0 ? ret : 0;
}

int request_add_ref(struct request *req, const struct oid *oid,
		    struct error *err)
{
	int ret = request_check_wants(req, err);

	if (!ret)
		ret = oidset_add(&req->wants, oid, err);
	req->checked_nr = req->wants.nr;
	return ret < 0 ? ret : 0;
}

int request_not_our_ref(const struct request *req, const struct oid *oid,
			struct error *err)
{
	char hex[OID_MAX_HEX_LEN + 1];

	return error_set(err, ERR_PEER, "git upload-pack: not our ref %s",
			 oid_to_hex(hex, oid, req->s->algo));
}

int request_load_wants(struct request *req, struct error *err)
{
	int ret = session_open_walk(req->s, err);

	if (ret < 0 || req->want_tips.commit_nr || req->want_tips.others.nr)
		return ret;
	for (size_t i = 0; !ret && i < req->wants.nr; i++)
		ret = walk_add_tip(&req->s->walk, &req->want_tips,
				   &req->wants.oids[i], false, err);
	return ret;
}

static bool has_object(void *ctx, const struct oid *oid)
{
	struct request *req = ctx;

	return session_knows(req->s, oid, NULL) > 0;
}

/*
 * Adds a have and its parents as targets of the reachability walk. The
 * negotiation ends when each want reaches a target (is_enough()). The client
 * has the targets: it has the have, and so also the have's parents.
 *
 * The parents are targets for the case that a wanted commit descends from a
 * parent of the have, but not from the have itself. No further round of the
 * negotiation is then needed.
 *
 * The older ancestors of the have are no targets. If all of them were, nearly
 * every want would reach a target as soon as the first have is known. The
 * negotiation would then end with few common commits known, and the pack would
 * have objects that the client already has.
 */
static int add_target(struct request *req, uint32_t commit_nr,
		      struct error *err)
{
	struct history *h = &req->s->walk.history;
	int ret = reach_add_target(&req->reach, commit_nr, err);

	for (uint32_t i = 0; !ret && i < h->commits[commit_nr].parent_nr; i++) {
		ret = reach_add_target(&req->reach,
				       history_parents(h, commit_nr)[i], err);
		/*
		 * Ignore a missing parent: a have that no ref reaches may lack
		 * ancestors.
		 */
		if (ret == ERR_MISSING)
			ret = 0;
	}
	return ret;
}

/*
 * Takes the common haves that arrived since the last call, and adds them to the
 * targets of the reachability walk. Returns 0 or a negative error code.
 */
static int add_targets(struct request *req, const struct oidset *common,
		       struct error *err)
{
	struct walk_tips tips = WALK_TIPS_INIT;
	int ret = 0;

	for (; !ret && req->target_nr < common->nr; req->target_nr++)
		ret = walk_add_tip(&req->s->walk, &tips,
				   &common->oids[req->target_nr], true, err);
	for (size_t i = 0; !ret && i < tips.commit_nr; i++)
		ret = add_target(req, tips.commits[i], err);
	walk_tips_release(&tips);
	return ret;
}

/*
 * Returns 1 if each wanted commit reaches a commit that the client certainly
 * has: a common have, or a parent of a common have (add_target()). Returns 0 if
 * not, or a negative error code. Wanted trees and blobs have no ancestors and
 * are ignored.
 */
static int is_enough(void *ctx, const struct oidset *common, struct error *err)
{
	struct request *req = ctx;
	int ret = request_load_wants(req, err);

	if (ret < 0)
		return ret;
	if (!req->reach_is_open) {
		reach_init(&req->reach, &req->s->walk.history);
		req->reach_is_open = true;
	}
	ret = add_targets(req, common, err);
	if (ret < 0)
		return ret;
	return reach_all(&req->reach, req->want_tips.commits,
			 req->want_tips.commit_nr, err);
}

struct negotiate_ops request_ops(struct request *req)
{
	return (struct negotiate_ops){has_object, is_enough, req};
}

/*
 * Writes to the trace why a bitmap index or a walk was chosen. An unknown cost
 * is left out.
 */
static void tell_plan(struct summary *s, const struct bitmap_plan *plan)
{
	if (!plan->reason)
		return;
	summary_string(s, SUMMARY_STRATEGY_REASON, plan->reason);
	summary_u64(s, SUMMARY_ESTIMATED_BITMAP, plan->bitmap_cost);
	if (plan->walk_cost != UINT64_MAX)
		summary_u64(s, SUMMARY_ESTIMATED_WALK, plan->walk_cost);
}

static void summarize_pack(struct summary *s, const struct packing_report *r)
{
	const char *reason = r->warning.code ? r->warning.msg : r->no_bitmap;

	summary_string(s, SUMMARY_STRATEGY, r->strategy);
	summary_string(s, SUMMARY_NO_BITMAP_REASON, reason);
	tell_plan(s, &r->plan);
	if (r->response_plan)
		summary_string(s, SUMMARY_PLAN, r->response_plan);
	if (r->no_response_plan)
		summary_string(s, SUMMARY_NO_PLAN_REASON, r->no_response_plan);
	summary_u64(s, SUMMARY_BITMAPS_USED, r->bitmaps_used);
	summary_u64(s, SUMMARY_PSEUDO_MERGES_USED, r->pseudo_merges_used);
	summary_u64(s, SUMMARY_COMMITS_WALKED, r->commits_walked);
	summary_u64(s, SUMMARY_OBJECTS_SENT, r->objects);
	summary_u64(s, SUMMARY_OBJECTS_REUSED_IN_SPANS, r->pack_reused);
	summary_u64(s, SUMMARY_OBJECTS_REUSED, r->reused);
	summary_u64(s, SUMMARY_OBJECTS_RECOMPRESSED,
		    r->objects - r->pack_reused - r->reused);
	summary_u64(s, SUMMARY_BYTES_VERBATIM, r->bytes_verbatim);
	summary_u64(s, SUMMARY_BYTES_RECOMPRESSED, r->bytes_recompressed);
	if (r->bytes_elsewhere)
		summary_u64(s, SUMMARY_BYTES_ELSEWHERE, r->bytes_elsewhere);
	summary_u64(s, SUMMARY_COUNT_US, r->count_ns / 1000);
	summary_u64(s, SUMMARY_REUSE_US, r->reuse_ns / 1000);
	summary_u64(s, SUMMARY_SEARCH_US, r->search_ns / 1000);
	summary_u64(s, SUMMARY_WRITE_US, r->write_ns / 1000);
	if (r->price_us) {
		summary_u64(s, SUMMARY_QUEUE_US, r->queue_ns / 1000);
		summary_u64(s, SUMMARY_PRICE_US, r->price_us);
	}
}

/*
 * Writes to the trace the values that determine the content of the pack: wants,
 * haves and options.
 */
static void summarize_text(struct summary *s, const struct request *req,
			   const char *filter)
{
	struct request_text *text = mem_calloc(1, sizeof(*text));
	struct buf line = BUF_INIT;

	if (!text)
		return;
	request_text_ids_set(&text->wants, req->wants.oids, req->wants.nr);
	request_text_ids_set(&text->haves, req->common.oids, req->common.nr);
	request_text_ids_set(&text->shallow, req->shallow.oids,
			     req->shallow.nr);
	text->thin = req->thin;
	text->ofs_delta = req->ofs_delta;
	text->include_tag = req->include_tag;
	text->filter = filter;
	if (!request_text_print(&line, text, req->s->algo))
		summary_string(s, SUMMARY_REQUEST, line.data);
	buf_release(&line);
	free(text);
}

void request_summarize(struct request *req)
{
	struct summary *s = &req->s->summary;
	struct buf filter = BUF_INIT;

	if (!s->is_on)
		return;
	summary_u64(s, SUMMARY_WANTS, req->wants.nr);
	summary_u64(s, SUMMARY_HAVES, req->have_nr);
	summary_u64(s, SUMMARY_HAVES_COMMON, req->common.nr);
	summary_u64(s, SUMMARY_SHALLOW,
		    req->client_shallow.nr || request_has_depth_limit(req));
	summary_u64(s, SUMMARY_DEPTH, req->depth);
	if (!filter_is_empty(&req->filter) &&
	    !filter_print(&filter, &req->filter))
		summary_string(s, SUMMARY_FILTER, filter.data);
	else
		summary_string(s, SUMMARY_FILTER, NULL);
	buf_release(&filter);
	if (!req->has_pack)
		return;
	/*
	 * Only a trace shows the full text of the request, so do not build it
	 * for other summaries.
	 */
	if (s->trace)
		summarize_text(s, req, summary_text(s, SUMMARY_FILTER));
	summarize_pack(s, &req->made);
}
