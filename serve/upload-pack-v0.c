/* SPDX-License-Identifier: MIT */
/*
 * Protocol v0 and v1 after the advertisement, as a state machine:
 *
 *	state    input                     then
 *	-------  ------------------------  --------------------------------
 *	WANTS    flush, nothing wanted     END
 *	         want, shallow, deepen...  WANTS
 *	         flush                     check wants, answer depth; HAVES
 *	HAVES    have                      answer; HAVES
 *	         flush                     answer; HAVES, or PACK (no-done),
 *	                                   or END (stateless)
 *	         done                      answer; PACK
 *	PACK     -                         send the pack; END
 *
 * Delim and response-end packets end a list like a flush packet. The end of the
 * input is an error, except after the answer to a stateless request.
 */
#include <string.h>

#include "serve/negotiate.h"
#include "serve/protocol.h"
#include "serve/request.h"
#include "serve/send.h"
#include "serve/shallow.h"

enum state {
	STATE_WANTS,
	STATE_HAVES,
	STATE_PACK,
	STATE_END,
};

struct v0 {
	struct session *s;
	struct request req;
	struct negotiate negotiate;
	enum state state;
	bool can_filter; /* the client said "filter" */
	/* true: the server has sent the shallow boundary */
	bool answered;
};

/* Handles one capability of a want line. Unknown capabilities are ignored. */
static int take_capability(struct v0 *v, const char *word, size_t len,
			   struct error *err)
{
	static const char format[] = "object-format=";
	struct request *req = &v->req;
	const struct {
		const char *name;
		bool *flag;
	} flags[] = {
		{"thin-pack", &req->thin},
		{"ofs-delta", &req->ofs_delta},
		{"include-tag", &req->include_tag},
		{"no-progress", &req->no_progress},
		{"deepen-relative", &req->is_relative},
		{"no-done", &v->negotiate.no_done},
		{"filter", &v->can_filter},
	};

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (!strncmp(word, flags[i].name, len) && !flags[i].name[len])
			*flags[i].flag = true;
	if (len == 18 && !memcmp(word, "multi_ack_detailed", len))
		v->negotiate.mode = NEGOTIATE_DETAILED;
	else if (len == 9 && !memcmp(word, "multi_ack", len) &&
		 v->negotiate.mode == NEGOTIATE_PLAIN)
		v->negotiate.mode = NEGOTIATE_MULTI_ACK;
	else if (len == 13 && !memcmp(word, "side-band-64k", len))
		req->sideband = SIDEBAND_LARGE;
	else if (len == 9 && !memcmp(word, "side-band", len) &&
		 req->sideband == SIDEBAND_NONE)
		req->sideband = SIDEBAND_SMALL;
	else if (len >= sizeof(format) &&
		 !memcmp(word, format, sizeof(format) - 1)) {
		const char *name = hash_name(v->s->algo);

		word += sizeof(format) - 1;
		len -= sizeof(format) - 1;
		if (len != strlen(name) || memcmp(word, name, len))
			return error_set(err, ERR_PEER,
					 "git upload-pack: the repository's "
					 "object format is %s",
					 name);
	}
	return 0;
}

static int take_capabilities(struct v0 *v, const char *list, struct error *err)
{
	int ret = 0;

	while (!ret && *list) {
		size_t len = strcspn(list, " ");

		if (len)
			ret = take_capability(v, list, len, err);
		list += len;
		list += strspn(list, " ");
	}
	return ret;
}

static int take_want(struct v0 *v, const char *line, struct error *err)
{
	char quoted[PKTLINE_QUOTE_MAX];
	const char *rest;
	struct oid oid;
	int ret;

	rest = request_parse_oid(&v->req, line, "want", &oid);
	if (!rest || (*rest && *rest != ' '))
		return error_set(err, ERR_PEER,
				 "git upload-pack: protocol error, expected to "
				 "get object ID, not '%s'",
				 pktline_quote(quoted, line));
	ret = request_add_want(&v->req, &oid, err);
	return ret < 0 ? ret : take_capabilities(v, rest, err);
}

/* Handles the flush packet that ends the list of wants. */
static int end_wants(struct v0 *v, struct error *err)
{
	struct request *req = &v->req;
	int ret;

	if (!req->wants.nr) {
		v->state = STATE_END;
		return 0;
	}
	v->state = STATE_HAVES;
	ret = wants_check(req, err);
	if (ret < 0)
		return ret;
	if (!request_has_depth_limit(req))
		return shallow_keep(req, err);
	ret = shallow_update(req, err);
	if (!ret)
		ret = pktline_write_flush(&v->s->out, err);
	if (!ret)
		ret = pktline_send(&v->s->out, err);
	v->answered = true;
	return ret;
}

static int step_wants(struct v0 *v, const struct pktline *pkt,
		      struct error *err)
{
	char quoted[PKTLINE_QUOTE_MAX];
	int ret;

	if (pkt->kind != PKTLINE_DATA)
		return end_wants(v, err);
	if (!strncmp(pkt->data, "filter ", 7) && v->can_filter &&
	    v->s->config.allow_filter)
		return request_take_filter(&v->req, pkt->data + 7, err);
	if (!strncmp(pkt->data, "filter ", 7))
		return error_set(err, ERR_PEER,
				 "git upload-pack: filtering capability not "
				 "negotiated");
	if (!strncmp(pkt->data, "want ", 5))
		return take_want(v, pkt->data, err);
	ret = request_take_line(&v->req, pkt->data, err);
	if (ret)
		return ret < 0 ? ret : 0;
	return error_set(err, ERR_PEER,
			 "git upload-pack: protocol error, expected to get "
			 "object ID, not '%s'",
			 pktline_quote(quoted, pkt->data));
}

static int end_round(struct v0 *v, struct error *err)
{
	int ret = negotiate_flush(&v->negotiate, err);

	if (ret < 0)
		return ret;
	if (ret)
		v->state = STATE_PACK;
	else if (v->s->options->stateless_rpc)
		v->state = STATE_END;
	return pktline_send(&v->s->out, err);
}

static int step_haves(struct v0 *v, const struct pktline *pkt,
		      struct error *err)
{
	char quoted[PKTLINE_QUOTE_MAX];
	struct oid oid;
	int ret;

	if (pkt->kind != PKTLINE_DATA)
		return end_round(v, err);
	if (!strncmp(pkt->data, "have ", 5)) {
		ret = request_parse_have(&v->req, pkt->data, &oid, err);
		return ret ? ret : negotiate_have(&v->negotiate, &oid, err);
	}
	if (!strcmp(pkt->data, "done")) {
		v->state = STATE_PACK;
		return negotiate_done(&v->negotiate, err);
	}
	return error_set(err, ERR_PEER,
			 "git upload-pack: expected SHA1 list, got '%s'",
			 pktline_quote(quoted, pkt->data));
}

static int step(struct v0 *v, struct error *err)
{
	struct pktline pkt;
	int ret = pktline_read(&v->s->in, &pkt, err);

	if (ret < 0)
		return ret;
	if (pkt.kind == PKTLINE_EOF) {
		if (!v->s->options->stateless_rpc || !v->answered)
			return pktline_hung_up(&v->s->in, err);
		v->state = STATE_END;
		return 0;
	}
	return v->state == STATE_WANTS ? step_wants(v, &pkt, err)
				       : step_haves(v, &pkt, err);
}

int upload_pack_v0_serve(struct session *s, struct error *err)
{
	struct v0 v = {.s = s, .state = STATE_WANTS};
	struct negotiate_ops ops;
	int ret = 0;

	session_begin(s, "fetch");
	request_init(&v.req, s);
	ops = request_ops(&v.req);
	negotiate_init(&v.negotiate, &ops, &v.req.common, &s->out, s->algo);
	while (!ret && v.state != STATE_PACK && v.state != STATE_END)
		ret = step(&v, err);
	if (!ret && v.state == STATE_PACK)
		ret = send_pack(&v.req, err);
	request_summarize(&v.req);
	if (!ret && !v.req.wants.nr)
		summary_drop(&s->summary);
	else if (!ret)
		session_end(s, NULL);
	request_release(&v.req);
	return ret;
}
