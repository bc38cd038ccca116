/* SPDX-License-Identifier: MIT */
/* Makes the environment of hooks. */
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "receive/receive-hooks.h"
#include "sys/process.h"

static int set(struct receive_environment *env, const char *name,
	       const char *value)
{
	struct buf b = BUF_INIT;

	if (mem_grow(&env->own, &env->own_alloc, env->own_nr + 1,
		     sizeof(*env->own)) < 0 ||
	    buf_printf(&b, "%s=%s", name, value) < 0)
		return ERR_NOMEM;
	env->own[env->own_nr++] = buf_detach(&b, NULL);
	return 0;
}

static int set_quarantine(struct receive_environment *env,
			  const struct quarantine *q)
{
	if (set(env, "GIT_QUARANTINE_PATH", q->dir.path) < 0 ||
	    set(env, "GIT_OBJECT_DIRECTORY", q->dir.path) < 0)
		return ERR_NOMEM;
	return set(env, "GIT_ALTERNATE_OBJECT_DIRECTORIES", q->alternates);
}

/*
 * For a hook that runs after the push: makes the quarantine an alternate of the
 * repository. The hook can then read the push certificate, which is in the
 * quarantine. Usually the pushed objects were moved from the quarantine into
 * the repository. But if the repository is a local copy of a repository in a
 * store, the push has stored its objects in the store (struct receive_target).
 * The hook then reads these objects from the quarantine, too.
 */
static int set_alternate(struct receive_environment *env,
			 const struct quarantine *q)
{
	char *dirs = quarantine_alternates(q->repo, q->dir.path);
	int ret = dirs ? set(env, "GIT_ALTERNATE_OBJECT_DIRECTORIES", dirs)
		       : ERR_NOMEM;

	free(dirs);
	return ret;
}

static int set_options(struct receive_environment *env,
		       const struct receive_request *req)
{
	char name[48], value[24];
	int ret;

	snprintf(value, sizeof(value), "%zu", req->option_nr);
	ret = set(env, "GIT_PUSH_OPTION_COUNT", value);
	for (size_t i = 0; !ret && i < req->option_nr; i++) {
		snprintf(name, sizeof(name), "GIT_PUSH_OPTION_%zu", i);
		ret = set(env, name, req->options[i]);
	}
	return ret;
}

static int set_nonce(struct receive_environment *env,
		     const struct receive_cert *cert)
{
	const struct push_nonce_check *nonce = &cert->nonce;
	char slop[24];
	int ret = set(env, "GIT_PUSH_CERT_NONCE",
		      nonce->was_slop ? cert->nonce_text : cert->issued.data);

	if (!ret)
		ret = set(env, "GIT_PUSH_CERT_NONCE_STATUS",
			  push_nonce_status_name(nonce->status));
	if (ret || nonce->status != PUSH_NONCE_SLOP)
		return ret;
	snprintf(slop, sizeof(slop), "%lld", (long long)nonce->slop);
	return set(env, "GIT_PUSH_CERT_NONCE_SLOP", slop);
}

static int set_cert(struct receive_environment *env,
		    const struct receive_cert *cert, enum hash_algo algo)
{
	const struct signature_check *sig = &cert->signature;
	char hex[OID_MAX_HEX_LEN + 1], status[] = {sig->status, '\0'};
	int ret = set(env, "GIT_PUSH_CERT", oid_to_hex(hex, &cert->oid, algo));

	if (!ret)
		ret = set(env, "GIT_PUSH_CERT_SIGNER",
			  sig->signer ? sig->signer : "");
	if (!ret)
		ret = set(env, "GIT_PUSH_CERT_KEY", sig->key ? sig->key : "");
	if (!ret)
		ret = set(env, "GIT_PUSH_CERT_STATUS", status);
	return ret ? ret : set_nonce(env, cert);
}

int receive_environment_init(struct receive_environment *env,
			     const struct receive *r, unsigned flags,
			     const struct receive_worktree *worktree,
			     struct error *err)
{
	int ret;

	*env = (struct receive_environment){0};
	ret = set(env, "GIT_DIR", worktree ? worktree->git_dir : ".");
	if (!ret && worktree)
		ret = set(env, "GIT_WORK_TREE", worktree->dir);
	if (!ret && (flags & RECEIVE_ENV_QUARANTINE) && r->quarantine.dir.path)
		ret = set_quarantine(env, &r->quarantine);
	if (!ret && (flags & RECEIVE_ENV_OPTIONS))
		ret = set_options(env, &r->request);
	if (!ret && (flags & RECEIVE_ENV_CERT) && r->cert.is_judged)
		ret = set_cert(env, &r->cert, r->repo->algo);
	if (!ret && (flags & RECEIVE_ENV_ALTERNATE) && r->quarantine.dir.path)
		ret = set_alternate(env, &r->quarantine);
	if (!ret)
		env->strings = sys_environ_with((const char *const *)env->own,
						env->own_nr);
	return env->strings ? 0 : error_nomem(err);
}

void receive_environment_release(struct receive_environment *env)
{
	for (size_t i = 0; i < env->own_nr; i++)
		free(env->own[i]);
	free(env->own);
	free(env->strings);
}
