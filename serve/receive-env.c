/* SPDX-License-Identifier: MIT */
/* Environment of hooks. */
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "serve/receive-env.h"
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
	if (set(env, "GIT_QUARANTINE_PATH", q->dir) < 0 ||
	    set(env, "GIT_OBJECT_DIRECTORY", q->dir) < 0)
		return ERR_NOMEM;
	return set(env, "GIT_ALTERNATE_OBJECT_DIRECTORIES", q->alternates);
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

int receive_environment_init(struct receive_environment *env,
			     const struct receive *r, unsigned flags,
			     struct error *err)
{
	int ret;

	*env = (struct receive_environment){0};
	/* Hooks run in the git directory. */
	ret = set(env, "GIT_DIR", ".");
	if (!ret && (flags & RECEIVE_ENV_QUARANTINE) && r->quarantine.dir)
		ret = set_quarantine(env, &r->quarantine);
	if (!ret && (flags & RECEIVE_ENV_OPTIONS) && r->config.push_options)
		ret = set_options(env, &r->request);
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
