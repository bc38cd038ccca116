/* SPDX-License-Identifier: MIT */
/* Writes the advertisement before a push. */
#include <stdlib.h>
#include <string.h>

#include "odb/odb-alternates.h"
#include "receive/receive-advertise.h"
#include "repo/shallow.h"
#include "wire/pktline.h"

struct advertisement {
	struct receive *r;
	/* a NUL, then the capabilities; written in the first line */
	struct buf capabilities;
	bool is_empty; /* no line was written yet */
	/*
	 * true: ".have" lines are possible, because there are refs outside the
	 * namespace, or alternates
	 */
	bool has_others;
	/* If has_others: the ids that were already written. */
	struct oidset seen;
	struct error *err;
};

static int add_capabilities(struct buf *out, const struct receive *r)
{
	const struct receive_config *c = &r->config;
	const struct receive_options *o = r->options;
	int ret = buf_append_char(out, '\0');

	if (!ret)
		ret = buf_append_str(out, "report-status report-status-v2 "
					  "delete-refs side-band-64k quiet");
	if (!ret && c->advertise_atomic)
		ret = buf_append_str(out, " atomic");
	if (!ret && c->ofs_delta)
		ret = buf_append_str(out, " ofs-delta");
	if (!ret && c->push_options)
		ret = buf_append_str(out, " push-options");
	if (!ret && r->cert.issued.len)
		ret = buf_printf(out, " push-cert=%s", r->cert.issued.data);
	if (!ret && c->advertise_sid && o->session_id)
		ret = buf_printf(out, " session-id=%s", o->session_id);
	if (!ret)
		ret = buf_printf(out, " object-format=%s agent=%s",
				 hash_name(r->repo->algo), o->agent);
	return ret;
}

/* Write the line of a ref. The first line also gets the capabilities. */
static int write_line(struct advertisement *a, const struct oid *oid,
		      const char *name)
{
	size_t len = a->is_empty ? a->capabilities.len : 0;

	a->is_empty = false;
	return pktline_write_ref(&a->r->peer.out, a->r->repo->algo, oid, name,
				 a->capabilities.data, len, a->err);
}

/*
 * Remember that the id *oid is advertised, so that no ".have" line repeats it.
 * Returns 1 if the id was not advertised before, 0 if it was, or a negative
 * error code. If has_others is false, there are no ".have" lines: nothing is
 * remembered, and the function returns 1.
 */
static int see(struct advertisement *a, const struct oid *oid)
{
	return a->has_others ? oidset_add(&a->seen, oid, a->err) : 1;
}

static int write_have(void *ctx, const struct oid *oid)
{
	struct advertisement *a = ctx;
	int ret = see(a, oid);

	/*
	 * If clients may know only of reachable objects, write ".have" lines
	 * only for such objects.
	 */
	if (ret > 0 && a->r->is_limit)
		ret = receive_sees(a->r, oid, a->err);
	return ret > 0 ? write_line(a, oid, ".have") : ret;
}

static int write_ref(void *ctx, const struct ref *ref)
{
	struct advertisement *a = ctx;
	int ret;

	/* ref->name is NULL for a ref outside of the namespace. */
	if (!ref->name)
		return write_have(a, &ref->oid);
	ret = see(a, &ref->oid);
	return ret < 0 ? ret : write_line(a, &ref->oid, ref->name);
}

/* Set has_others if there is a namespace or an alternate. */
static int look_for_others(struct advertisement *a)
{
	char **dirs = NULL;
	size_t nr = 0;
	int ret = odb_alternates_list(&dirs, &nr, a->r->repo, NULL, a->err);

	a->has_others = nr > 1 || a->r->refs.prefix.len;
	for (size_t i = 0; i < nr; i++)
		free(dirs[i]);
	free(dirs);
	return ret;
}

static int write_shallow(void *ctx, const struct oid *oid)
{
	struct advertisement *a = ctx;
	char hex[OID_MAX_HEX_LEN + 1];

	return pktline_printf(&a->r->peer.out, a->err, "shallow %s\n",
			      oid_to_hex(hex, oid, a->r->repo->algo));
}

static int write_all(struct advertisement *a)
{
	static const struct oid zero = OID_ZERO_INIT;
	struct error warning = ERROR_INIT;
	struct receive *r = a->r;
	int ret = refview_each_with_others(&r->refs, write_ref, a, &warning,
					   a->err);

	if (!ret && a->has_others)
		ret = receive_haves_each(r->repo, write_have, a, &warning,
					 a->err);
	if (!ret && warning.code)
		receive_peer_tell(&r->peer, "warning: %s\n", warning.msg);
	if (!ret && a->is_empty)
		ret = write_line(a, &zero, "capabilities^{}");
	if (!ret)
		ret = repo_shallow_each(r->repo, write_shallow, a, a->err);
	return ret ? ret : pktline_write_flush(&r->peer.out, a->err);
}

int receive_advertise(struct receive *r, struct error *err)
{
	struct advertisement a = {
		.r = r, .capabilities = BUF_INIT, .is_empty = true, .err = err};
	int ret = 0;

	oidset_init(&a.seen, OIDSET_MAX);
	if (r->options->version == 1)
		ret = pktline_printf(&r->peer.out, err, "version 1\n");
	if (!ret && add_capabilities(&a.capabilities, r) < 0)
		ret = error_nomem(err);
	if (!ret)
		ret = look_for_others(&a);
	if (!ret)
		ret = write_all(&a);
	oidset_release(&a.seen);
	buf_release(&a.capabilities);
	return ret;
}
