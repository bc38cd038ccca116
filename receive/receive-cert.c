/* SPDX-License-Identifier: MIT */
/* Verifies and stores the certificates of signed pushes. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "object/hash.h"
#include "odb/loose-write.h"
#include "receive/push-cert.h"
#include "receive/receive-cert.h"
#include "receive/receive-hooks.h"
#include "receive/receive.h"
#include "sys/clock.h"

static struct push_nonce_maker maker_of(const struct receive *r)
{
	return (struct push_nonce_maker){
		r->repo->algo, r->config.cert_nonce_seed, r->options->path};
}

int receive_cert_init(struct receive *r, struct error *err)
{
	struct push_nonce_maker maker = maker_of(r);

	if (!maker.seed)
		return 0;
	r->cert.seconds = sys_clock_seconds();
	if (push_nonce_make(&r->cert.issued, &maker, r->cert.seconds) < 0)
		return error_nomem(err);
	return 0;
}

static int judge_nonce(struct receive *r, const struct push_cert *cert,
		       struct error *err)
{
	struct push_nonce_maker maker = maker_of(r);
	struct push_cert_line nonce;
	size_t at = 0;

	if (push_cert_header(&nonce, cert, "nonce", &at)) {
		r->cert.nonce_text = mem_strndup(nonce.p, nonce.len);
		if (!r->cert.nonce_text)
			return error_nomem(err);
	}
	if (push_nonce_check(&r->cert.nonce, &maker, r->cert.seconds,
			     r->cert.nonce_text, r->options->stateless_rpc,
			     r->config.cert_nonce_slop) < 0)
		return error_nomem(err);
	return 0;
}

static int judge_signature(struct receive *r, const struct push_cert *cert,
			   struct error *err)
{
	int ret = signature_verify(
		&r->cert.signature, &r->repo->config, r->quarantine.dir.path,
		cert->text, cert->signed_len, cert->text + cert->signed_len,
		cert->len - cert->signed_len, err);

	if (!ret && r->cert.signature.problem)
		receive_peer_tell(&r->peer, "error: %s\n",
				  r->cert.signature.problem);
	return ret;
}

static int store(struct receive *r, struct error *err)
{
	const struct buf *text = &r->request.cert;
	struct loose_writer writer;
	struct hash_ctx h;
	int ret;

	if (hash_init_checked(&h, r->repo->algo) < 0)
		return error_nomem(err);
	hash_object(&h, &r->cert.oid, OBJ_BLOB, text->data, text->len);
	ret = hash_refuse_attack(&h, &r->cert.oid, err);
	hash_release(&h);
	if (ret)
		return ret;
	ret = loose_writer_init(&writer, r->repo, r->quarantine.dir.path, err);
	if (!ret)
		ret = loose_writer_put(&writer, &r->cert.oid, OBJ_BLOB,
				       text->data, text->len, err);
	loose_writer_release(&writer);
	return ret < 0 ? ret : 0;
}

/*
 * Returns 1 if there is a pre-receive or post-receive hook, which reads
 * GIT_PUSH_CERT. Returns 0 if there is none, or a negative error code.
 */
static int has_listener(struct receive *r, struct error *err)
{
	static const char *const hooks[] = {"pre-receive", "post-receive"};
	int ret = 0;

	for (size_t i = 0; !ret && i < ARRAY_NR(hooks); i++)
		ret = receive_hook_is_there(r, hooks[i], err);
	return ret;
}

int receive_cert_judge(struct receive *r, struct error *err)
{
	struct push_cert cert;
	int ret;

	if (!r->request.cert.len)
		return 0;
	ret = has_listener(r, err);
	if (ret <= 0)
		return ret;
	ret = push_cert_parse(&cert, r->request.cert.data, r->request.cert.len,
			      err);
	if (!ret && !r->quarantine.dir.path)
		ret = quarantine_create(&r->quarantine, r->repo, err);
	if (!ret)
		ret = judge_nonce(r, &cert, err);
	if (!ret)
		ret = judge_signature(r, &cert, err);
	if (!ret)
		ret = store(r, err);
	r->cert.is_judged = !ret;
	return ret;
}

static bool has_same_options(const struct receive_request *req)
{
	struct push_cert cert;
	struct push_cert_line line;
	size_t at = 0, nr = 0;

	if (push_cert_parse(&cert, req->cert.data, req->cert.len, NULL) < 0)
		return false;
	for (; push_cert_header(&line, &cert, "push-option", &at); nr++)
		if (nr == req->option_nr ||
		    strlen(req->options[nr]) != line.len ||
		    memcmp(req->options[nr], line.p, line.len) != 0)
			return false;
	return nr == req->option_nr;
}

int receive_cert_check_options(struct receive *r, struct error *err)
{
	if (!r->request.cert.len || has_same_options(&r->request))
		return 0;
	if (receive_refuse_all(&r->request, "inconsistent push options") < 0)
		return error_nomem(err);
	return 1;
}
