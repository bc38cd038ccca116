/* SPDX-License-Identifier: MIT */
/*
 * The command fetch of protocol v2: one request of the client, one response of
 * the server.
 *
 * 	request                  answer
 * 	-----------------------  ------------------------------------------
 * 	no wants                 nothing; with "wait-for-done":
 * 	                           acknowledgments flush
 * 	wants and "done", or     [shallow-info delim] [wanted-refs delim]
 * 	  wants without haves    [packfile-uris delim] packfile flush
 * 	wants, haves, not        acknowledgments flush
 * 	  enough in common
 * 	wants, haves, enough     acknowledgments delim, then as for "done"
 * 	  in common
 *
 * serve/negotiate.h defines when the common haves are enough.
 */
#include <stdlib.h>
#include <string.h>

#include "base/affix.h"
#include "base/json.h"
#include "base/mem.h"
#include "object/hash.h"
#include "serve/negotiate.h"
#include "serve/request.h"
#include "serve/send.h"
#include "serve/shallow.h"
#include "serve/v2-command.h"

/* Maximum number of refs that one request may want by name. */
#define WANT_REFS_MAX (1 << 20)

struct wanted_ref {
	struct oid oid;
	char *name; /* owned */
};

struct fetch {
	struct session *s;
	struct request req;
	/* owned: the refs of "want-ref" arguments */
	struct wanted_ref *refs;
	size_t ref_nr, ref_alloc;
	/* hashes of the names in `refs`, to find a name that is sent twice */
	struct oidset ref_names;
	bool done, wait_for_done;
	/* true: the client sent at least one "have", common or not */
	bool has_haves;
};

static int take_want(struct fetch *f, const char *line, struct error *err)
{
	char quoted[PKTLINE_QUOTE_MAX];
	const char *rest;
	struct oid oid;

	rest = request_parse_oid(&f->req, line, "want", &oid);
	if (!rest || *rest)
		return error_set(err, ERR_PEER,
				 "git upload-pack: protocol error, expected to "
				 "get oid, not '%s'",
				 pktline_quote(quoted, line));
	return request_add_want_later(&f->req, &oid, err);
}

/*
 * Adds the name of a wanted ref to f->ref_names. Returns 0, ERR_PEER if the
 * request has named the ref before, or another negative error code.
 */
static int note_ref_name(struct fetch *f, const char *name, struct error *err)
{
	char quoted[PKTLINE_QUOTE_MAX];
	struct hash_ctx hash;
	struct oid oid;
	int ret;

	if (hash_init(&hash, f->s->algo) < 0)
		return error_nomem(err);
	hash_object(&hash, &oid, OBJ_BLOB, name, strlen(name));
	hash_release(&hash);
	ret = oidset_add(&f->ref_names, &oid, err);
	if (ret)
		return ret < 0 ? ret : 0;
	return error_set(err, ERR_PEER, "duplicate want-ref %s",
			 pktline_quote(quoted, name));
}

static int take_want_ref(struct fetch *f, const char *name, struct error *err)
{
	char quoted[PKTLINE_QUOTE_MAX];
	struct wanted_ref wanted;
	struct ref ref;
	int ret = session_open_refs(f->s, err);

	if (!ret)
		ret = refview_lookup(&f->s->refs, name, &ref, err);
	if (ret < 0 && ret != ERR_CORRUPT)
		return ret;
	if (ret <= 0 || f->ref_nr >= WANT_REFS_MAX)
		return error_set(err, ERR_PEER, "unknown ref %s",
				 pktline_quote(quoted, name));
	ret = note_ref_name(f, name, err);
	if (ret < 0)
		return ret;
	wanted.oid = ref.oid;
	if (mem_grow(&f->refs, &f->ref_alloc, f->ref_nr + 1, sizeof(wanted)) <
	    0)
		return error_nomem(err);
	wanted.name = mem_strdup(name);
	if (!wanted.name)
		return error_nomem(err);
	f->refs[f->ref_nr++] = wanted;
	return request_add_ref(&f->req, &wanted.oid, err);
}

static int take_have(struct fetch *f, const char *line, struct error *err)
{
	struct oid oid;
	int ret = request_parse_have(&f->req, line, &oid, err);

	f->has_haves = true;
	if (!ret)
		ret = session_knows(f->s, &oid, err);
	if (ret > 0)
		ret = oidset_add(&f->req.common, &oid, err);
	return ret < 0 ? ret : 0;
}

static int take_uri_protocols(struct fetch *f, const char *protocols,
			      struct error *err)
{
	if (f->req.uri_protocols)
		return error_set(err, ERR_PEER,
				 "multiple packfile-uris lines forbidden");
	f->req.uri_protocols = mem_strdup(protocols);
	return f->req.uri_protocols ? 0 : error_nomem(err);
}

static bool take_flag(struct fetch *f, const char *line)
{
	const struct {
		const char *name;
		bool *flag;
	} flags[] = {
		{"done", &f->done},
		{"wait-for-done", &f->wait_for_done},
		{"thin-pack", &f->req.thin},
		{"ofs-delta", &f->req.ofs_delta},
		{"include-tag", &f->req.include_tag},
		{"no-progress", &f->req.no_progress},
		{"deepen-relative", &f->req.is_relative},
	};

	for (size_t i = 0; i < ARRAY_NR(flags); i++) {
		if (strcmp(line, flags[i].name))
			continue;
		*flags[i].flag = true;
		return true;
	}
	return false;
}

static int take_line(struct fetch *f, const char *line, struct error *err)
{
	const char *name, *spec;
	int ret;

	if (after_word(line, "want"))
		return take_want(f, line, err);
	if (after_word(line, "have"))
		return take_have(f, line, err);
	name = after_word(line, "want-ref");
	if (name && f->s->config.allow_ref_in_want)
		return take_want_ref(f, name, err);
	spec = after_word(line, "filter");
	if (spec && f->s->config.allow_filter)
		return request_take_filter(&f->req, spec, err);
	spec = after_word(line, "packfile-uris");
	if (spec && serve_config_has_uris(&f->s->config))
		return take_uri_protocols(f, spec, err);
	if (!strcmp(line, "sideband-all") && f->s->config.allow_sideband_all) {
		f->s->out.band = SIDEBAND_DATA;
		return 0;
	}
	if (take_flag(f, line))
		return 0;
	ret = request_take_line(&f->req, line, err);
	if (ret)
		return ret < 0 ? ret : 0;
	return v2_args_unexpected(line, err);
}

static int take_lines(struct fetch *f, struct v2_args *args, struct error *err)
{
	const char *line;
	int ret;

	while ((ret = v2_args_next(args, &line, err)) > 0) {
		ret = take_line(f, line, err);
		if (ret < 0)
			return ret;
	}
	return ret;
}

/*
 * Reads and checks the request. If a want is missing, the error is about this
 * want, even if a later part of the request cannot be parsed.
 */
static int parse(struct fetch *f, struct v2_args *args, struct error *err)
{
	struct error why = ERROR_INIT;
	int ret = take_lines(f, args, &why);
	int wants = request_check_wants(&f->req, err);

	if (wants < 0)
		return wants;
	if (ret < 0 && err)
		*err = why;
	return ret ? ret : request_check_depth_limit(&f->req, err);
}

/*
 * Writes acknowledgments, if the client sent haves. Returns 1 if the pack
 * follows, 0 if the answer is complete, or a negative error code.
 */
static int acknowledge(struct fetch *f, struct error *err)
{
	struct pktline_writer *out = &f->s->out;
	struct negotiate_ops ops = request_ops(&f->req);
	struct negotiate n;
	int ret;

	if (f->done || !f->has_haves)
		return 1;
	negotiate_init(&n, &ops, &f->req.common, out, f->s->algo);
	ret = negotiate_acknowledge(&n, f->wait_for_done, err);
	if (ret < 0)
		return ret;
	if (!ret)
		return pktline_write_flush(out, err);
	ret = pktline_write_delim(out, err);
	return ret ? ret : 1;
}

static int write_shallow_info(struct fetch *f, struct error *err)
{
	struct pktline_writer *out = &f->s->out;
	int ret = shallow_is_repo(f->s, err);

	if (ret < 0)
		return ret;
	if (!ret && !request_has_depth_limit(&f->req) &&
	    !f->req.client_shallow.nr)
		return 0;
	ret = pktline_printf(out, err, "shallow-info\n");
	if (!ret)
		ret = shallow_update(&f->req, err);
	return ret ? ret : pktline_write_delim(out, err);
}

static int write_wanted_refs(struct fetch *f, struct error *err)
{
	struct pktline_writer *out = &f->s->out;
	char hex[OID_MAX_HEX_LEN + 1];
	int ret;

	if (!f->ref_nr)
		return 0;
	ret = pktline_printf(out, err, "wanted-refs\n");
	for (size_t i = 0; !ret && i < f->ref_nr; i++)
		ret = pktline_printf(
			out, err, "%s %s\n",
			oid_to_hex(hex, &f->refs[i].oid, f->s->algo),
			f->refs[i].name);
	return ret ? ret : pktline_write_delim(out, err);
}

static int answer(struct fetch *f, struct error *err)
{
	int ret;

	/*
	 * A request without wants gets no answer. Exception: a client that
	 * sends "wait-for-done" without wants only asks which of its haves are
	 * common.
	 */
	if (!f->req.wants.nr && !f->wait_for_done)
		return 0;
	ret = acknowledge(f, err);
	if (ret <= 0)
		return ret;
	ret = write_shallow_info(f, err);
	if (!ret)
		ret = write_wanted_refs(f, err);
	return ret ? ret : send_pack_section(&f->req, err);
}

/*
 * Writes the request to the trace, as a JSON object with the same keys as in
 * stock Git.
 */
static void trace_fetch_info(const struct fetch *f)
{
	const struct request *req = &f->req;
	const struct filter *filter = &req->filter;
	const char *kind = filter->is_combined ? "combine"
			   : filter->nr
				   ? filter_kind_name(filter->parts[0].kind)
				   : NULL;
	struct buf json = BUF_INIT;
	uint64_t depth = req->depth == DEPTH_INFINITE ? REQUEST_INFINITE
						      : req->depth;

	if (!f->s->summary.trace)
		return;
	if (!buf_append_char(&json, '{') &&
	    !json_member_u64(&json, "haves", req->common.nr) &&
	    !json_member_u64(&json, "wants", req->wants.nr) &&
	    !json_member_u64(&json, "want-refs", f->ref_nr) &&
	    !json_member_u64(&json, "depth", depth) &&
	    !json_member_u64(&json, "shallows", req->client_shallow.nr) &&
	    !json_member_bool(&json, "deepen-since", req->has_since) &&
	    !json_member_u64(&json, "deepen-not", req->nots.nr) &&
	    !json_member_bool(&json, "deepen-relative", req->is_relative) &&
	    !json_member(&json, "filter", kind) && !buf_append_char(&json, '}'))
		trace_json(f->s->summary.trace, "upload-pack", "fetch-info",
			   json.data);
	buf_release(&json);
}

int fetch_v2_run(struct session *s, struct v2_args *args, struct error *err)
{
	struct fetch f = {.s = s};
	int ret;

	request_init(&f.req, s);
	oidset_init(&f.ref_names, WANT_REFS_MAX);
	f.req.sideband = SIDEBAND_LARGE;
	ret = parse(&f, args, err);
	if (!ret) {
		trace_fetch_info(&f);
		ret = answer(&f, err);
	}
	request_summarize(&f.req);
	for (size_t i = 0; i < f.ref_nr; i++)
		free(f.refs[i].name);
	free(f.refs);
	oidset_release(&f.ref_names);
	request_release(&f.req);
	if (!ret)
		s->out.band = 0;
	return ret;
}
