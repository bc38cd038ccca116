/* SPDX-License-Identifier: MIT */
/* Fetching missing objects from promisor remotes. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "builtin/child.h"
#include "builtin/exec-path.h"
#include "builtin/lazy-fetch.h"
#include "check/promisor.h"

struct lazy_fetch {
	struct repo *repo; /* borrowed */
	struct odb_provider provider;
	/* owned array of owned strings: the names of the promisor remotes */
	char **remotes;
	size_t remote_nr, remote_alloc;
	enum lazy_fetch_mode mode;
	bool is_off; /* GIT_NO_LAZY_FETCH */
	/*
	 * true: our exec path is already in PATH, so that `git fetch` can be
	 * started
	 */
	bool is_ready;
};

/* ---- the promisor remotes */

static int add_remote(struct lazy_fetch *lazy, const char *name, size_t len)
{
	char **remotes;

	for (size_t i = 0; i < lazy->remote_nr; i++)
		if (strlen(lazy->remotes[i]) == len &&
		    !memcmp(lazy->remotes[i], name, len))
			return 0;
	if (*name == '/') {
		builtin_warn("promisor remote name cannot begin with '/': %.*s",
			     (int)len, name);
		return 0;
	}
	if (mem_grow(&lazy->remotes, &lazy->remote_alloc, lazy->remote_nr + 1,
		     sizeof(*lazy->remotes)) < 0)
		return ERR_NOMEM;
	remotes = lazy->remotes;
	remotes[lazy->remote_nr] = mem_strndup(name, len);
	return remotes[lazy->remote_nr++] ? 0 : ERR_NOMEM;
}

static int take_key(void *ctx, const struct config_entry *entry)
{
	const char *name = entry->key + strlen("remote.");
	const char *dot = strrchr(name, '.');

	if (!dot || (strcmp(dot, ".partialclonefilter") != 0 &&
		     (strcmp(dot, ".promisor") != 0 ||
		      config_parse_bool(entry->value) <= 0)))
		return 0;
	return add_remote(ctx, name, (size_t)(dot - name));
}

/*
 * Move the remote of extensions.partialClone to the end of the list, because it
 * is asked last.
 */
static int move_extension(struct lazy_fetch *lazy)
{
	const char *name = config_string(&lazy->repo->config,
					 "extensions.partialclone");
	size_t i = 0;
	char *last;

	if (!name)
		return 0;
	if (add_remote(lazy, name, strlen(name)) < 0)
		return ERR_NOMEM;
	while (i < lazy->remote_nr && strcmp(lazy->remotes[i], name) != 0)
		i++;
	if (i == lazy->remote_nr)
		return 0;
	last = lazy->remotes[i];
	memmove(lazy->remotes + i, lazy->remotes + i + 1,
		(lazy->remote_nr - i - 1) * sizeof(*lazy->remotes));
	lazy->remotes[lazy->remote_nr - 1] = last;
	return 0;
}

static int load_remotes(struct lazy_fetch *lazy, struct error *err)
{
	if (config_each(&lazy->repo->config, "remote.", take_key, lazy) < 0 ||
	    move_extension(lazy) < 0)
		return error_nomem(err);
	return 0;
}

/* ---- fetching */

/* The missing objects that one call fetches from promisor remotes. */
struct wanted {
	struct lazy_fetch *lazy;
	struct oid *oids; /* owned */
	size_t nr;
};

/*
 * Run `git fetch` for one remote. The child's standard output goes to our
 * standard error, so that it does not mix with our output. Returns the child's
 * exit code, or a negative error code.
 */
static int run_fetch(const struct wanted *w, const char *remote,
		     struct error *err)
{
	const char *words[] = {"-c", "fetch.negotiationAlgorithm=noop", "fetch",
			       NULL};
	const struct repo *repo = w->lazy->repo;
	char hex[OID_MAX_HEX_LEN + 1];
	struct buf input = BUF_INIT;
	struct child_words child = child_git(words);
	bool quiet = false;
	int ret = config_bool(&repo->config, "promisor.quiet", &quiet, err);

	child_add(&child, "%s", remote);
	child_add(&child, "--no-tags");
	child_add(&child, "--no-write-fetch-head");
	child_add(&child, "--recurse-submodules=no");
	child_add(&child, "--filter=blob:none");
	child_add(&child, "--stdin");
	if (quiet)
		child_add(&child, "--quiet");
	for (size_t i = 0; ret >= 0 && i < w->nr; i++)
		if (buf_printf(&input, "%s\n",
			       oid_to_hex(hex, &w->oids[i], repo->algo)) < 0)
			ret = error_nomem(err);
	if (ret >= 0)
		ret = child_feed(&child, repo, input.data, input.len, err);
	else
		child_words_release(&child);
	buf_release(&input);
	return ret;
}

/*
 * Remove from the list those objects that exist by now, because a fetch has
 * stored them.
 */
static int drop_fetched(struct wanted *w, struct error *err)
{
	struct odb *odb;
	size_t kept = 0;
	int ret = odb_open(&odb, w->lazy->repo, NULL, err);

	if (ret < 0)
		return ret;
	for (size_t i = 0; i < w->nr; i++)
		if (!odb_has(odb, &w->oids[i]))
			w->oids[kept++] = w->oids[i];
	w->nr = kept;
	odb_close(odb);
	return 0;
}

/*
 * Fetch the objects from one promisor remote after the other, until a fetch
 * succeeds or all objects exist. Returns 0 in these cases, 1 if objects are
 * still missing, or a negative error code.
 */
static int fetch_from_each(struct wanted *w, struct error *err)
{
	const struct lazy_fetch *lazy = w->lazy;
	int ret;

	for (size_t i = 0; i < lazy->remote_nr; i++) {
		/*
		 * If the name of a remote starts with a dash, `git fetch` would
		 * read the name as an option.
		 */
		if (*lazy->remotes[i] == '-') {
			builtin_warn("promisor remote name cannot begin with "
				     "'-': %s",
				     lazy->remotes[i]);
			continue;
		}
		ret = run_fetch(w, lazy->remotes[i], err);
		if (ret <= 0)
			return ret;
		ret = drop_fetched(w, err);
		if (ret < 0 || !w->nr)
			return ret;
	}
	return 1;
}

/* ---- objects that no promisor remote had */

static int find_promised(struct wanted *w, struct walk *walk, struct error *err)
{
	char hex[OID_MAX_HEX_LEN + 1];
	struct promisor promisor;
	uint32_t obj_pos;
	int ret = promisor_init(&promisor, walk, err);

	for (size_t i = 0; !ret && i < w->nr; i++) {
		if (objspace_add(&walk->space, w->oids[i].bytes, &obj_pos) < 0)
			ret = error_nomem(err);
		if (!ret)
			ret = promisor_promises(&promisor, obj_pos, err);
		if (ret > 0)
			ret = error_set(err, ERR_PEER,
					"could not fetch %s from promisor "
					"remote",
					oid_to_hex(hex, &w->oids[i],
						   w->lazy->repo->algo));
	}
	promisor_release(&promisor);
	return ret ? ret : ERR_MISSING;
}

/*
 * Called if all remotes were asked and objects are still missing. Returns
 * ERR_PEER if a remote has promised one of the missing objects, ERR_MISSING if
 * not, or another negative error code.
 */
static int check_promised(struct wanted *w, struct error *err)
{
	struct walk walk;
	struct odb *odb;
	int ret = odb_open(&odb, w->lazy->repo, NULL, err);

	if (ret < 0)
		return ret;
	ret = walk_open(&walk, odb, NULL, 0, err);
	if (!ret) {
		ret = find_promised(w, &walk, err);
		walk_close(&walk);
	}
	odb_close(odb);
	return ret;
}

static int try_to_fetch(struct wanted *w, struct error *err)
{
	int ret = 0;

	if (w->lazy->is_off) {
		builtin_warn("lazy fetching disabled; some objects may not be "
			     "available");
		return check_promised(w, err);
	}
	if (!w->lazy->is_ready)
		ret = exec_path_prepend(err);
	w->lazy->is_ready = !ret;
	if (!ret)
		ret = fetch_from_each(w, err);
	return ret > 0 ? check_promised(w, err) : ret;
}

static int provide(void *ctx, const struct oid *oids, size_t nr,
		   struct error *err)
{
	struct wanted w = {.lazy = ctx, .oids = mem_alloc(nr, sizeof(*oids))};
	int ret;

	if (!w.oids)
		return error_nomem(err);
	for (size_t i = 0; i < nr; i++)
		if (!oid_is_zero(&oids[i]))
			w.oids[w.nr++] = oids[i];
	ret = w.nr ? try_to_fetch(&w, err) : ERR_MISSING;
	free(w.oids);
	if (ret == ERR_PEER && w.lazy->mode == LAZY_FETCH_SERVE) {
		/*
		 * The command serves a client, and would treat ERR_PEER as a
		 * fault of its client. So print the error as a warning, and
		 * report the object as missing.
		 */
		if (err)
			builtin_warn("%s", err->msg);
		ret = error_recode(err, ERR_MISSING);
	}
	return ret;
}

/* ---- setting up */

/*
 * Find whether GIT_NO_LAZY_FETCH turns fetches off. Returns 1 if so, 0 if not,
 * or ERR_INVALID if the value is no boolean.
 */
static int is_off(enum lazy_fetch_mode mode, struct error *err)
{
	const char *value = getenv("GIT_NO_LAZY_FETCH");
	int off = value ? config_parse_bool(value) : mode == LAZY_FETCH_SERVE;

	return off >= 0 ? off
			: error_set(err, ERR_INVALID,
				    "bad boolean environment value '%s' for "
				    "'GIT_NO_LAZY_FETCH'",
				    value);
}

void lazy_fetch_free(struct lazy_fetch *lazy)
{
	if (!lazy)
		return;
	for (size_t i = 0; i < lazy->remote_nr; i++)
		free(lazy->remotes[i]);
	free(lazy->remotes);
	free(lazy);
}

static int set_up(struct builtin_env *env, enum lazy_fetch_mode mode, bool off,
		  struct error *err)
{
	struct lazy_fetch *lazy = mem_calloc(1, sizeof(*lazy));

	if (!lazy)
		return error_nomem(err);
	env->lazy_fetch = lazy;
	lazy->repo = env->repo;
	lazy->mode = mode;
	lazy->is_off = off;
	/*
	 * main() has put our exec path in PATH for all commands except those
	 * that serve clients.
	 */
	lazy->is_ready = mode != LAZY_FETCH_SERVE;
	lazy->provider = (struct odb_provider){
		.provide = provide,
		.ctx = lazy,
		.batches_only = off || mode == LAZY_FETCH_LISTED,
	};
	return load_remotes(lazy, err);
}

int lazy_fetch_provider(const struct odb_provider **provider,
			struct builtin_env *env, enum lazy_fetch_mode mode,
			struct error *err)
{
	int ret = 0;

	*provider = NULL;
	if (!env->repo->has_promisor)
		return 0;
	if (!env->lazy_fetch) {
		int off = is_off(mode, err);

		if (off < 0)
			return off;
		if (off && mode != LAZY_FETCH_PACK && mode != LAZY_FETCH_LISTED)
			return 0;
		ret = set_up(env, mode, off, err);
	}
	if (!ret)
		*provider = &env->lazy_fetch->provider;
	return ret;
}

int lazy_fetch_enable(struct odb *odb, struct builtin_env *env,
		      enum lazy_fetch_mode mode, struct error *err)
{
	const struct odb_provider *provider;
	int ret = lazy_fetch_provider(&provider, env, mode, err);

	odb_set_provider(odb, provider);
	return ret;
}
