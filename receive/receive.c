/* SPDX-License-Identifier: MIT */
/*
 * The state of one push: the configuration, the refs, and which objects the
 * client is allowed to know of.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "receive/receive.h"
#include "repo/hook.h"

/*
 * Disables settings that a push into a local copy does not support (struct
 * receive_target).
 */
static void limit_config(struct receive_config *config)
{
	config->unpack_limit = 0;
	config->shallow_update = false;
	config->server_info = false;
	config->auto_gc = false;
}

int receive_init(struct receive *r, const struct receive_options *options,
		 const struct serve_io *io, struct error *err)
{
	int ret;

	memset(r, 0, sizeof(*r));
	r->hook_advice = (struct buf)BUF_INIT;
	r->options = options;
	r->repo = options->repo;
	receive_request_init(&r->request, r->repo->algo);
	summary_init(&r->summary, r->repo, options->about, "receive-pack");
	ret = receive_peer_init(&r->peer, options, io, err);
	if (ret < 0)
		return ret;
	r->peer.in.tap = r->peer.out.tap = summary_tap(&r->summary);
	ret = receive_config_load(&r->config, &r->repo->config, err);
	if (!ret)
		ret = repo_hooks_check_path(r->repo, err);
	if (ret < 0)
		return ret;
	if (options->target)
		limit_config(&r->config);
	r->request.accept_atomic = r->config.advertise_atomic;
	r->request.accept_options = r->config.push_options;
	r->request.commands_max = r->config.commands_max;
	r->request.accept_cert = r->config.cert_nonce_seed != NULL;
	ret = refview_open(&r->refs, r->repo, "receive.hiderefs",
			   options->namespace, err);
	r->refs_are_open = true;
	return ret ? ret : visible_is_limit(&r->is_limit, r->repo, err);
}

void receive_discard(struct receive *r)
{
	struct error err = ERROR_INIT;
	struct buf text = BUF_INIT;

	if (quarantine_remove(&r->quarantine, &err) < 0 && r->options->tell &&
	    !buf_printf(&text, "warning: %s; git prune will remove it\n",
			err.msg))
		r->options->tell(r->options->tell_ctx, text.data, text.len);
	buf_release(&text);
	quarantine_release(&r->quarantine);
}

static void release_cert(struct receive_cert *cert)
{
	buf_release(&cert->issued);
	signature_check_release(&cert->signature);
	free(cert->nonce_text);
}

void receive_release(struct receive *r)
{
	visible_close(r->visible);
	odb_close(r->checked);
	receive_discard(r);
	release_cert(&r->cert);
	receive_request_release(&r->request);
	receive_config_release(&r->config);
	if (r->refs_are_open)
		refview_release(&r->refs);
	summary_release(&r->summary);
	receive_peer_release(&r->peer);
	buf_release(&r->hook_advice);
}

/*
 * Open r->visible, which decides which objects the client is allowed to know
 * of. The old values of the commands are passed as hints, because most delta
 * bases of a push are in the trees of these old values.
 */
static int open_visible(struct receive *r, struct error *err)
{
	int ret = visible_open(&r->visible, r->repo, r->options->namespace,
			       NULL, NULL, err);

	for (size_t i = 0; !ret && i < r->request.nr; i++)
		if (!oid_is_zero(&r->request.commands[i].old_oid))
			ret = visible_hint(r->visible,
					   &r->request.commands[i].old_oid,
					   err);
	return ret;
}

int receive_sees(struct receive *r, const struct oid *oid, struct error *err)
{
	int ret = r->visible ? 0 : open_visible(r, err);

	return ret < 0 ? ret : visible_has(r->visible, oid, err);
}

void receive_refresh(struct receive *r)
{
	refs_refresh(r->refs.refs);
	visible_close(r->visible);
	r->visible = NULL;
}
