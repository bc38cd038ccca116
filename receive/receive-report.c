/* SPDX-License-Identifier: MIT */
/* The report of a push. */
#include "receive/receive-parts.h"

static int write_rewrite(struct pktline_writer *w,
			 const struct receive_rewrite *rewrite,
			 enum hash_algo algo, struct error *err)
{
	char hex[OID_MAX_HEX_LEN + 1];
	int ret = 0;

	if (rewrite->ref)
		ret = pktline_printf(w, err, "option refname %s\n",
				     rewrite->ref);
	if (!ret && rewrite->has_old)
		ret = pktline_printf(w, err, "option old-oid %s\n",
				     oid_to_hex(hex, &rewrite->old_oid, algo));
	if (!ret && rewrite->has_new)
		ret = pktline_printf(w, err, "option new-oid %s\n",
				     oid_to_hex(hex, &rewrite->new_oid, algo));
	if (!ret && rewrite->is_forced)
		ret = pktline_printf(w, err, "option forced-update\n");
	return ret;
}

static int write_command(struct pktline_writer *w,
			 const struct receive_request *req,
			 const struct receive_command *cmd, struct error *err)
{
	int ret;

	if (cmd->error)
		return pktline_printf(w, err, "ng %s %s\n", cmd->ref,
				      cmd->error);
	if (!req->report_v2 || !cmd->rewrite_nr)
		return pktline_printf(w, err, "ok %s\n", cmd->ref);
	for (size_t i = 0; i < cmd->rewrite_nr; i++) {
		ret = pktline_printf(w, err, "ok %s\n", cmd->ref);
		if (!ret)
			ret = write_rewrite(w, &cmd->rewrites[i], req->algo,
					    err);
		if (ret < 0)
			return ret;
	}
	return 0;
}

static int write_all(struct pktline_writer *w,
		     const struct receive_request *req, const char *failure,
		     struct error *err)
{
	int ret = pktline_printf(w, err, "unpack %s\n",
				 failure ? failure : "ok");

	for (size_t i = 0; !ret && i < req->nr; i++)
		ret = write_command(w, req, &req->commands[i], err);
	return ret ? ret : pktline_write_flush(w, err);
}

/* Write packets of the report as data of band 1. */
static int put_on_band(void *ctx, struct iovec *iov, size_t nr,
		       struct error *err)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < nr; i++)
		ret = sideband_put(ctx, SIDEBAND_DATA, iov[i].iov_base,
				   iov[i].iov_len, err);
	return ret;
}

int receive_report(struct receive *r, const char *failure, struct error *err)
{
	const struct serve_io io = {.writev = put_on_band,
				    .ctx = &r->peer.band};
	struct pktline_writer w;
	struct pktline_tap tap;
	int ret;

	if (!r->request.report && !r->request.report_v2)
		return 0;
	if (!receive_peer_has_band(&r->peer)) {
		ret = write_all(&r->peer.out, &r->request, failure, err);
		return ret ? ret : pktline_send(&r->peer.out, err);
	}
	pktline_writer_init(&w, &io);
	/*
	 * The packets of the report are traced here, but their bytes must not
	 * be counted twice: the side band counts them when it sends them. So
	 * this writer counts in a copy of the connection's counters.
	 */
	if (r->peer.out.tap) {
		tap = *r->peer.out.tap;
		w.tap = &tap;
	}
	ret = write_all(&w, &r->request, failure, err);
	if (!ret)
		ret = pktline_send(&w, err);
	pktline_writer_release(&w);
	return ret;
}
