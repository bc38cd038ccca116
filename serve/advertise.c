/* SPDX-License-Identifier: MIT */
/* Writes the advertisements of protocols v0, v1 and v2. */
#include <string.h>

#include "serve/protocol.h"
#include "serve/shallow.h"
#include "wire/pktline.h"

struct advertisement {
	struct session *s;
	/* a NUL and the capabilities; written in the first line */
	struct buf capabilities;
	bool is_empty; /* no line was written yet */
	struct error *err;
};

static int add_capabilities(struct buf *out, const struct session *s,
			    const char *head_target)
{
	const struct serve_config *c = &s->config;
	const struct serve_options *o = s->options;
	int ret = buf_append_char(out, '\0');

	if (!ret)
		ret = buf_append_str(
			out,
			"multi_ack thin-pack side-band side-band-64k ofs-delta "
			"shallow deepen-since deepen-not deepen-relative "
			"no-progress include-tag multi_ack_detailed");
	if (!ret && c->allow.tip)
		ret = buf_append_str(out, " allow-tip-sha1-in-want");
	if (!ret && c->allow.reachable)
		ret = buf_append_str(out, " allow-reachable-sha1-in-want");
	if (!ret && (o->stateless_rpc || o->advertise_only))
		ret = buf_append_str(out, " no-done");
	if (!ret && head_target)
		ret = buf_printf(out, " symref=HEAD:%s", head_target);
	if (!ret && c->allow_filter)
		ret = buf_append_str(out, " filter");
	if (!ret && c->advertise_sid && o->session_id)
		ret = buf_printf(out, " session-id=%s", o->session_id);
	if (!ret)
		ret = buf_printf(out, " object-format=%s agent=%s",
				 hash_name(s->algo), o->agent);
	return ret;
}

/*
 * Writes the line of a ref. In the first line, the capabilities take the place
 * of `suffix`. Only the line of a peeled tag has a suffix, and such a line is
 * never the first one.
 */
static int write_ref(struct advertisement *a, const struct oid *oid,
		     const char *name, const char *suffix)
{
	const struct buf *c = &a->capabilities;
	bool is_first = a->is_empty;

	a->is_empty = false;
	return pktline_write_ref(&a->s->out, a->s->algo, oid, name,
				 is_first ? c->data : suffix,
				 is_first ? c->len : strlen(suffix), a->err);
}

static int write_with_peeled(void *ctx, const struct ref *ref)
{
	struct advertisement *a = ctx;
	struct oid peeled;
	int is_tag = session_peel_ref(a->s, ref, &peeled, a->err);
	int ret;

	if (is_tag < 0)
		return is_tag;
	ret = write_ref(a, &ref->oid, ref->name, "");
	if (!ret && is_tag)
		ret = write_ref(a, &peeled, ref->name, "^{}");
	return ret;
}

/*
 * Looks up HEAD and its branch. Returns 1 if HEAD names an object, 0 if HEAD is
 * unborn or broken (with a warning), or ERR_NOMEM.
 */
static int find_head(struct session *s, struct ref *head, const char **branch,
		     struct error *err)
{
	struct error why = ERROR_INIT;
	int ret = refview_head(&s->refs, head, branch, &why);

	if (ret >= 0)
		return ret;
	if (ret == ERR_NOMEM)
		return error_nomem(err);
	session_warn(s, &why);
	return 0;
}

static int write_head(struct advertisement *a)
{
	struct ref head;
	const char *branch;
	int ret = find_head(a->s, &head, &branch, a->err);

	if (ret < 0)
		return ret;
	if (add_capabilities(&a->capabilities, a->s, branch) < 0)
		return error_nomem(a->err);
	return ret ? write_with_peeled(a, &head) : 0;
}

int advertise_refs(struct session *s, struct error *err)
{
	static const struct oid zero = OID_ZERO_INIT;
	struct advertisement a = {s, BUF_INIT, true, err};
	struct error warning = ERROR_INIT;
	int ret = session_open_refs(s, err);

	if (!ret && s->options->version == 1)
		ret = pktline_printf(&s->out, err, "version 1\n");
	if (!ret)
		ret = write_head(&a);
	if (!ret)
		ret = refview_each(&s->refs, "", false, write_with_peeled, &a,
				   &warning, err);
	session_warn(s, &warning);
	if (!ret && a.is_empty)
		ret = write_ref(&a, &zero, "capabilities^{}", "");
	if (!ret)
		ret = shallow_advertise(s, err);
	if (!ret)
		ret = pktline_write_flush(&s->out, err);
	buf_release(&a.capabilities);
	return ret;
}

static int advertise_promisors(struct session *s, struct error *err)
{
	struct buf value = BUF_INIT;
	int ret;

	if (promisor_remotes_print(&value, &s->config.promisor_remotes) < 0)
		ret = error_nomem(err);
	else
		ret = pktline_printf(&s->out, err, "promisor-remote=%s\n",
				     value.data);
	buf_release(&value);
	return ret;
}

int advertise_v2(struct session *s, struct error *err)
{
	const struct serve_config *c = &s->config;
	struct pktline_writer *out = &s->out;
	int ret = pktline_printf(out, err, "version 2\n");

	if (!ret)
		ret = pktline_printf(out, err, "agent=%s\n", s->options->agent);
	if (!ret)
		ret = pktline_printf(
			out, err, "ls-refs%s\n",
			c->unborn == SERVE_UNBORN_ADVERTISE ? "=unborn" : "");
	if (!ret)
		ret = pktline_printf(
			out, err, "fetch=shallow wait-for-done%s%s%s%s\n",
			c->allow_filter ? " filter" : "",
			c->allow_ref_in_want ? " ref-in-want" : "",
			c->allow_sideband_all ? " sideband-all" : "",
			serve_config_has_uris(c) ? " packfile-uris" : "");
	if (!ret)
		ret = pktline_printf(out, err, "server-option\n");
	if (!ret)
		ret = pktline_printf(out, err, "object-format=%s\n",
				     hash_name(s->algo));
	if (!ret && c->advertise_sid && s->options->session_id)
		ret = pktline_printf(out, err, "session-id=%s\n",
				     s->options->session_id);
	if (!ret && c->advertise_object_info)
		ret = pktline_printf(out, err, "object-info\n");
	if (!ret && c->advertise_bundle_uris)
		ret = pktline_printf(out, err, "bundle-uri\n");
	if (!ret && c->promisor_remotes.nr)
		ret = advertise_promisors(s, err);
	return ret ? ret : pktline_write_flush(out, err);
}
