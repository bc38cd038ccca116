/* SPDX-License-Identifier: MIT */
/* Makes the pack of a request and sends it. */
#include <stdlib.h>
#include <string.h>

#include "object/hash.h"
#include "refs/packed-refs.h"
#include "serve/send.h"
#include "sys/clock.h"
#include "sys/ticker.h"

/*
 * The thread that sends keep-alives is started as soon as one of these is true:
 * MUCH_DONE units of work are done, at least MUCH_AHEAD units are expected, or
 * SOON_NS nanoseconds have passed. A unit is what the progress counts: a
 * commit, an object or a byte.
 */
#define MUCH_DONE 1024
#define MUCH_AHEAD (1 << 20)
#define SOON_NS UINT64_C(20000000)

/*
 * Maximum number of tags in the hash that identifies a cached response. Hashing
 * more tags costs as much as making a small pack.
 */
#define TAGS_MAX 20000

/*
 * Context of a callback that gets each annotated tag that include-tag may add
 * to the pack.
 */
struct tag_visit {
	struct session *s;
	int (*fn)(void *ctx, const struct packing_tag *tag);
	void *ctx;
	struct error *err;
};

static int visit_tag(void *ctx, const struct ref *ref)
{
	struct tag_visit *visit = ctx;
	struct packing_tag tag = {.tag = ref->oid};
	int ret = session_peel_ref(visit->s, ref, &tag.target, visit->err);

	return ret <= 0 ? ret : visit->fn(visit->ctx, &tag);
}

static int each_tag(void *ctx,
		    int (*fn)(void *fn_ctx, const struct packing_tag *tag),
		    void *fn_ctx, struct error *err)
{
	const struct request *req = ctx;
	struct tag_visit visit = {req->s, fn, fn_ctx, err};
	int ret = session_open_refs(visit.s, err);

	if (ret < 0)
		return ret;
	return refview_each(&visit.s->refs, "refs/tags/", false, visit_tag,
			    &visit, NULL, err);
}

/*
 * Tells whether an object may be a tag. An object that cannot be read may be
 * one.
 */
static int may_be_tag(void *ctx, const struct oid *oid, struct error *err)
{
	struct session *s = ctx;
	enum object_type type;
	int ret = session_open_walk(s, err);

	if (ret < 0)
		return ret;
	return odb_info(s->walk.reader, oid, &type, NULL, NULL) < 0 ||
	       type == OBJ_TAG;
}

static int may_have_tag(void *ctx, const struct oidmap *targets,
			struct error *err)
{
	const struct request *req = ctx;
	const struct refs_peel_search search = {targets, may_be_tag, req->s};
	int ret = session_open_refs(req->s, err);

	return ret < 0 ? ret
		       : refview_may_peel(&req->s->refs, "refs/tags/", &search,
					  err);
}

/* Context of a visit that adds refs to a hash. */
struct identity {
	struct hash_ctx *hash;
	size_t len, left;
};

static int identify_tag(void *ctx, const struct ref *ref)
{
	struct identity *identity = ctx;

	if (!identity->left--)
		return 1;
	hash_update(identity->hash, ref->oid.bytes, identity->len);
	return 0;
}

/*
 * Adds the visible refs below refs/tags/ to a hash, because the pack may
 * contain their tags. The hash has only the ids of the refs, which identify the
 * tag objects. Returns 1 if the ids were added, 0 if there are too many tags,
 * or a negative error code.
 */
static int identify_tags(void *ctx, struct hash_ctx *hash, struct error *err)
{
	const struct request *req = ctx;
	struct identity identity = {hash, hash_len(req->s->algo), TAGS_MAX};
	int ret = session_open_refs(req->s, err);

	if (!ret)
		ret = refview_each(&req->s->refs, "refs/tags/", false,
				   identify_tag, &identity, NULL, err);
	return ret < 0 ? ret : !ret;
}

static bool is_want(void *ctx, const struct oid *oid)
{
	const struct request *req = ctx;

	return oidset_has(&req->wants, oid);
}

/*
 * Adds to the common haves the commits that were on the client's shallow
 * boundary and are no longer shallow. The client has these commits.
 */
static int add_edges(struct request *req, struct error *err)
{
	int ret = 0;

	for (size_t i = 0; ret >= 0 && i < req->edges.nr; i++)
		ret = oidset_add(&req->common, &req->edges.oids[i], err);
	return ret < 0 ? ret : 0;
}

/*
 * Returns true if each want is also a have. The client then has all objects, so
 * an empty pack is sent and no objects are read. A shallow client may lack
 * ancestors, so the function returns false for it.
 */
static bool wants_nothing_new(const struct request *req)
{
	if (req->shallow.nr || req->edges.nr || req->wants.nr > req->common.nr)
		return false;
	for (size_t i = 0; i < req->wants.nr; i++)
		if (!oidset_has(&req->common, &req->wants.oids[i]))
			return false;
	return true;
}

/*
 * Appends the last line of progress. The line is sent later, together with the
 * end of the pack.
 */
static void put_total(struct sideband *sb, const struct packing_report *report)
{
	struct buf line = BUF_INIT;

	if (!buf_printf(&line,
			"Total %u (delta %u), reused %u (delta %u), "
			"pack-reused %u (from %u)\n",
			report->objects, report->deltas, report->reused,
			report->reused_deltas, report->pack_reused,
			report->packs_reused))
		sideband_add(sb, SIDEBAND_PROGRESS, line.data, line.len, NULL);
	buf_release(&line);
}

/* State of sending one pack. */
struct sending {
	struct request *req;
	struct sideband sb;
	/*
	 * the packs on other servers that are offered to the client; NULL: none
	 */
	struct pack_offer *offer;
	/* the thread that sends keep-alives; NULL: none */
	struct sys_ticker *ticker;
	uint64_t begun_ns;
	/*
	 * true: the client already has all wanted objects, so the pack is empty
	 */
	bool is_empty;
};

/*
 * Writes the URIs that the client needs, and the line that begins the section
 * with the pack. Called when the objects of the pack are known. left_out[i]:
 * the pack does not have the blob p->offer->blobs[i], so the client needs its
 * URI. `pack`: checksum of the published pack whose objects are left out, or
 * NULL.
 */
static int tell_uris(void *ctx, const bool *left_out, const struct oid *pack,
		     struct error *err)
{
	struct sending *p = ctx;
	struct session *s = p->req->s;
	int ret = pack_offer_tell(p->offer, left_out, pack, &s->out, err);

	if (!ret)
		ret = pktline_printf(&s->out, err, "packfile\n");
	s->in_pack = !ret;
	sideband_hold(&p->sb, false);
	return ret;
}

static bool has_pack(void *ctx, const struct oid *checksum, uint64_t len)
{
	const struct sending *p = ctx;

	return pack_offer_has(p->offer, checksum, len);
}

static int identify_packs(void *ctx, struct hash_ctx *hash, struct error *err)
{
	const struct sending *p = ctx;

	return pack_offer_identify(p->offer, hash, err);
}

static void put_progress(void *ctx, const char *text, size_t len)
{
	struct sending *p = ctx;

	sideband_put(&p->sb, SIDEBAND_PROGRESS, text, len, NULL);
}

/*
 * Starts the keep-alive thread, but only when the request is known to be large
 * or slow: starting a thread costs a tenth of a small request. If the thread
 * cannot be started, the pack is sent without keep-alives.
 */
static int see_to_life(void *ctx, const char *title, uint64_t done,
		       uint64_t total)
{
	struct sending *p = ctx;

	if (done >= MUCH_DONE || total >= MUCH_AHEAD ||
	    sys_clock_ns() - p->begun_ns >= SOON_NS)
		sys_ticker_go(p->ticker, NULL);
	return 0;
}

static int make_pack(struct sending *p, struct error *err)
{
	struct request *req = p->req;
	struct sideband *sb = &p->sb;
	struct packing_elsewhere elsewhere = {.has_pack = has_pack,
					      .tell = tell_uris,
					      .identify = identify_packs,
					      .ctx = p};
	const struct serve_options *options = req->s->options;
	struct progress_out progress = {
		.put = req->no_progress ? NULL : put_progress,
		.ctx = p,
		.poll = p->ticker ? see_to_life : NULL,
	};
	struct packing_send_options send_options;
	struct packing_report *report = &req->made;
	struct packing_request request = {
		.wants = req->wants.oids,
		.want_nr = p->is_empty ? 0 : req->wants.nr,
		.haves = req->common.oids,
		.have_nr = req->common.nr,
		.shallow = req->shallow.oids,
		.shallow_nr = req->shallow.nr,
		.knows_shallow = true,
		.tags = {req->include_tag ? each_tag : NULL, req, may_have_tag,
			 is_want, identify_tags},
		.filter = &req->filter,
		.elsewhere = p->offer ? &elsewhere : NULL,
		.thin = req->thin,
		.ofs_delta = req->ofs_delta,
		.use_bitmap = req->s->config.use_bitmaps,
		.promised_missing = req->s->has_promisor,
	};
	int ret = packing_send_options_load(&send_options, options->repo, err);

	if (ret < 0)
		return ret;
	if (p->offer) {
		elsewhere.oids = p->offer->blobs;
		elsewhere.nr = p->offer->nr;
	}
	send_options.spare_search = true;
	if (progress.put || progress.poll)
		send_options.progress = &progress;
	if (options->make_pack)
		ret = options->make_pack(options->make_pack_ctx, req->s->odb,
					 &request, &send_options,
					 sideband_sink(sb), report, err);
	else
		ret = packing_send(req->s->odb, &request, &send_options,
				   sideband_sink(sb), report, err);
	req->has_pack = true;
	session_warn(req->s, &report->warning);
	if (!ret && !req->no_progress)
		put_total(sb, report);
	return ret;
}

/*
 * Tells the client that the server failed. If `code` is ERR_DENIED (the server
 * is busy), the client gets the message of *err. After any other error, the
 * client does not learn the reason, which is for the administrator only.
 */
static void tell_failure(struct sideband *sb, int code, const struct error *err)
{
	static const char text[] =
		"aborting due to possible repository corruption on the remote "
		"side.";

	if (code == ERR_DENIED && err)
		sideband_put(sb, SIDEBAND_ERROR, err->msg, strlen(err->msg),
			     NULL);
	else
		sideband_put(sb, SIDEBAND_ERROR, text, sizeof(text) - 1, NULL);
}

/*
 * Sends a keep-alive. A failed write is ignored, because the next write of pack
 * data reports the error.
 */
static void keep_alive(void *ctx)
{
	sideband_keep_alive_if_quiet(ctx, NULL);
}

static int run_hook(struct sending *p, struct error *err)
{
	struct request *req = p->req;
	const struct serve_options *options = req->s->options;
	int ret = p->ticker ? sys_ticker_go(p->ticker, err) : 0;

	if (!ret && options->before_hook)
		ret = options->before_hook(err);
	req->has_pack = true;
	req->made.strategy = "hook";
	return ret < 0 ? ret : hook_pack_objects(req, &p->sb, err);
}

static int send_to(struct sending *p, struct error *err)
{
	struct session *s = p->req->s;
	struct sideband *sb = &p->sb;
	int ret = 0;

	p->begun_ns = sys_clock_ns();
	p->is_empty = wants_nothing_new(p->req);
	/*
	 * An empty pack is tiny. But if uploadpack.packObjectsHook makes the
	 * pack, it may have any size.
	 */
	sb->is_tiny = p->is_empty && !s->config.pack_objects_hook;
	if (s->config.keep_alive && sb->mode != SIDEBAND_NONE && !p->is_empty)
		ret = sys_ticker_new(&p->ticker, s->config.keep_alive,
				     keep_alive, sb, err);
	if (!ret && s->config.pack_objects_hook)
		ret = run_hook(p, err);
	else if (!ret)
		ret = make_pack(p, err);
	sys_ticker_stop(p->ticker);
	if (ret < 0 && s->in_pack && !s->out.failed)
		tell_failure(sb, ret, err);
	if (!ret && sb->mode != SIDEBAND_NONE)
		ret = pktline_write_flush(&s->out, err);
	if (!ret)
		ret = session_send(s, err);
	return ret;
}

static int send_offering(struct request *req, struct pack_offer *offer,
			 struct error *err)
{
	struct sending p = {.req = req, .offer = offer};
	int ret;

	summary_phase(&req->s->summary, SUMMARY_PACK);
	ret = session_open_odb(req->s, err);
	if (!ret)
		ret = add_edges(req, err);
	if (!ret) {
		req->s->in_pack = !offer;
		sideband_init(&p.sb, &req->s->out, req->sideband);
		sideband_hold(&p.sb, offer != NULL);
		ret = send_to(&p, err);
		sideband_release(&p.sb);
		req->s->in_pack = req->s->in_pack && ret < 0;
	}
	return ret;
}

int send_pack(struct request *req, struct error *err)
{
	return send_offering(req, NULL, err);
}

/*
 * Returns whether the request may be answered with a published pack. Published
 * packs are made for clones. For other requests, looking for such a pack would
 * only cost time.
 */
static bool may_be_published(const struct request *req)
{
	return !req->common.nr && !req->edges.nr &&
	       filter_is_empty(&req->filter) &&
	       (!req->shallow.nr || req->s->config.published.shallow);
}

/* Finds packs that the client can download from other servers. */
static int find_offer(struct pack_offer *offer, struct request *req,
		      struct error *err)
{
	const struct serve_config *config = &req->s->config;
	struct error warning = ERROR_INIT;
	int ret = pack_offer_init(offer, &config->pack_uris, req->uri_protocols,
				  err);

	if (ret || offer->nr || !may_be_published(req))
		return ret;
	if (req->s->options->is_fresh_copy) {
		ret = pack_offer_stored(offer, &config->published,
					req->s->options->repo,
					req->uri_protocols, &warning, err);
		session_warn(req->s, &warning);
		return ret;
	}
	ret = session_open_odb(req->s, err);
	return ret ? ret
		   : pack_offer_published(offer, &config->published,
					  req->s->odb, req->uri_protocols, err);
}

int send_pack_section(struct request *req, struct error *err)
{
	const struct serve_config *config = &req->s->config;
	struct pack_offer offer = {.uri = BUF_INIT};
	int ret = 0;

	/*
	 * Offer no URIs if a hook makes the pack, because the server does not
	 * know which objects the hook sends.
	 */
	if (req->uri_protocols && !config->pack_objects_hook)
		ret = find_offer(&offer, req, err);
	if (!ret && (offer.nr || pack_offer_has_packs(&offer))) {
		ret = send_offering(req, &offer, err);
	} else if (!ret) {
		ret = pktline_printf(&req->s->out, err, "packfile\n");
		if (!ret)
			ret = send_pack(req, err);
	}
	pack_offer_release(&offer);
	return ret;
}
