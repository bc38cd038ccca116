/* SPDX-License-Identifier: MIT */
/* Opening a repository's objects and refs for a command. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "builtin/lazy-fetch.h"
#include "builtin/child.h"
#include "builtin/store.h"
#include "names/revname.h"

/* default of core.deltaBaseCacheLimit, in bytes */
#define BASE_CACHE_DEFAULT (UINT64_C(96) << 20)
#define ABBREV_MIN 4

static int open_parts(struct store *store, struct error *err)
{
	struct error warning = ERROR_INIT;
	uint64_t cache_limit = BASE_CACHE_DEFAULT;
	int ret;

	ret = config_u64(&store->repo->config, "core.deltabasecachelimit",
			 &cache_limit, err);
	if (ret < 0)
		return ret;
	ret = revname_check_config(&store->repo->config, err);
	if (ret < 0)
		return ret;
	ret = refs_open(&store->refs, store->repo, err);
	if (ret < 0)
		return ret;
	ret = odb_open_held(&store->odb, store->repo, &warning, err);
	if (ret < 0)
		return ret;
	if (warning.code && strcmp(warning.msg, store->warning.msg) != 0)
		builtin_warn("%s", warning.msg);
	store->warning = warning;
	store->reader = odb_reader_new(store->odb, cache_limit);
	return store->reader ? 0 : error_nomem(err);
}

/*
 * Open the store. `warned`: a warning that was printed before, and that is not
 * printed again. NULL: no warning was printed.
 */
static int open_store(struct store *store, struct builtin_env *env,
		      const struct error *warned)
{
	struct error err = ERROR_INIT;
	int ret = builtin_open_repo(env);

	*store = (struct store){.warning = ERROR_INIT};
	if (ret)
		return ret;
	if (warned)
		store->warning = *warned;
	store->repo = env->repo;
	if (!open_parts(store, &err))
		return 0;
	store_close(store);
	return builtin_fail(&err);
}

int store_open(struct store *store, struct builtin_env *env)
{
	return open_store(store, env, NULL);
}

int store_fetch_missing(struct store *store, struct builtin_env *env)
{
	struct error err = ERROR_INIT;
	int ret = lazy_fetch_enable(store->odb, env, LAZY_FETCH_READ, &err);

	return ret < 0 ? builtin_fail(&err) : 0;
}

int store_reopen(struct store *store, struct builtin_env *env)
{
	const struct error warned = store->warning;

	store_close(store);
	return open_store(store, env, &warned);
}

int store_load_replaced(struct odb *odb, struct refs *refs, struct error *err)
{
	struct error warning = ERROR_INIT;
	int ret = refs_load_replaced(refs, odb, &warning, err);

	if (warning.code)
		builtin_warn("%s", warning.msg);
	return ret;
}

int store_open_replaced(struct store *store, struct builtin_env *env)
{
	struct error err = ERROR_INIT;
	int ret = store_open(store, env);

	if (ret || !store_load_replaced(store->odb, store->refs, &err))
		return ret;
	store_close(store);
	return builtin_fail(&err);
}

void store_close(struct store *store)
{
	odb_reader_free(store->reader);
	odb_close(store->odb);
	refs_close(store->refs);
	*store = (struct store){.warning = ERROR_INIT};
}

char *store_abbrev(char out[OID_MAX_HEX_LEN + 1], const struct store *store,
		   const struct oid *oid, size_t len)
{
	int unique;

	oid_to_hex(out, oid, store->odb->algo);
	if (len == STORE_FULL)
		return out;
	unique = odb_unique_len(store->odb, oid, len, NULL);
	if (unique >= 0)
		out[unique] = '\0';
	return out;
}

static int resolve(const struct store *store, struct oid *oid, const char *name,
		   enum revname_hint hint, bool quiet, struct error *err)
{
	struct buf notes = BUF_INIT;
	const struct revname_options options = {hint, quiet, &notes};
	int ret = revname_resolve_as(oid, name, &options, store->refs,
				     store->reader, store->odb, err);

	/*
	 * ERR_UNSUPPORTED: this program cannot resolve `name`, so stock Git is
	 * run to do it. Stock Git prints its own messages, so drop the messages
	 * of this program.
	 */
	if (ret == ERR_UNSUPPORTED)
		buf_reset(&notes);
	store_print_notes(&notes);
	return ret;
}

int store_resolve(const struct store *store, struct oid *oid, const char *name,
		  struct error *err)
{
	return resolve(store, oid, name, REVNAME_ANY, false, err);
}

int store_resolve_quietly(const struct store *store, struct oid *oid,
			  const char *name, struct error *err)
{
	return resolve(store, oid, name, REVNAME_ANY, true, err);
}

int store_resolve_commit(const struct store *store, struct oid *oid,
			 const char *name, struct error *err)
{
	return resolve(store, oid, name, REVNAME_COMMITTISH, false, err);
}

bool store_base_is_damaged(const struct store *store, const char *name)
{
	size_t len = strcspn(name, "~^:");
	bool is_damaged = false;
	struct oid oid;
	char *base;

	if (!strncmp(name + len, "^{", 2))
		return false;
	base = mem_strndup(name, len);
	if (base && !store_resolve_quietly(store, &oid, base, NULL))
		is_damaged = odb_info(store->reader, &oid, NULL, NULL, NULL) ==
			     ERR_CORRUPT;
	free(base);
	return is_damaged;
}

/*
 * Find the line that starts with "fatal: " in the standard error of stock Git,
 * and print the lines before this line, which are warnings. Returns the rest of
 * the text after the prefix, without final newlines, or NULL if there is no
 * such line. The rest may have several lines, because a name in the message may
 * have several.
 */
static const char *cut_fatal(struct buf *errors)
{
	static const char start[] = "fatal: ";
	const char *line = errors->len ? errors->data : NULL;

	while (errors->len && errors->data[errors->len - 1] == '\n')
		errors->data[--errors->len] = '\0';
	while (line && strncmp(line, start, strlen(start))) {
		line = strchr(line, '\n');
		if (line)
			line++;
	}
	if (!line)
		return NULL;
	fflush(stdout);
	fwrite(errors->data, 1, (size_t)(line - errors->data), stderr);
	return line + strlen(start);
}

/*
 * Ask stock Git for the object of `full`, a name or "^<name>". Returns 0 with
 * *oid set. Returns ERR_MISSING if the name is unknown. Returns ERR_UNSUPPORTED
 * with the message of stock Git if stock Git fails with another fatal error.
 * Returns ERR_NOMEM if memory runs out. Prints the warnings of stock Git.
 */
static int ask_stock(const struct repo *repo, struct oid *oid, const char *full,
		     struct error *err)
{
	const char *words[] = {"rev-parse", "--verify", "--end-of-options",
			       full, NULL};
	struct buf answer = BUF_INIT, errors = BUF_INIT;
	struct child_words w = child_git(words);
	int ret = child_ask_both(&answer, &errors, &w, repo, err);
	const char *why = ret > 0 ? cut_fatal(&errors) : NULL;

	if (!ret)
		store_print_notes(&errors);
	/*
	 * Stock Git's output may be something other than an id, for example
	 * "^<id>".
	 */
	if (!ret && !oid_from_hex(oid, answer.data, answer.len, repo->algo))
		ret = ERR_MISSING;
	else if (ret > 0 && (!why || !strcmp(why, "Needed a single revision")))
		ret = ERR_MISSING;
	else if (ret > 0)
		ret = error_set(err, ERR_UNSUPPORTED, "%s", why);
	else if (ret < 0 && ret != ERR_NOMEM)
		ret = error_recode(err, ERR_UNSUPPORTED);
	buf_release(&answer);
	buf_release(&errors);
	return ret;
}

/*
 * Ask stock Git why it does not resolve a name that begins with "^". No object
 * has such a name, so this function never returns 0. Returns the same error
 * codes as ask_stock().
 */
static int ask_excluded(const struct repo *repo, struct oid *oid,
			const char *name, struct error *err)
{
	struct buf full = BUF_INIT;
	int ret;

	/*
	 * Stock Git takes a first "^" for the mark of an exclusion, so put one
	 * more before the name.
	 */
	if (buf_printf(&full, "^%s", name) < 0)
		return error_nomem(err);
	ret = ask_stock(repo, oid, full.data, err);
	buf_release(&full);
	return ret;
}

int store_resolve_by_stock(const struct repo *repo, struct oid *oid,
			   const char *name, struct error *err)
{
	/*
	 * If the error says that a reflog lacks an entry, do not ask stock Git:
	 * it would report the same.
	 */
	if (!builtin_has_stock() || (err && revname_error_is_log(err)))
		return ERR_UNSUPPORTED;
	return *name == '^' ? ask_excluded(repo, oid, name, err)
			    : ask_stock(repo, oid, name, err);
}

void store_print_notes(struct buf *notes)
{
	if (notes->len) {
		fflush(stdout);
		fputs(notes->data, stderr);
	}
	buf_release(notes);
}

bool store_parse_abbrev(size_t *len, const char *arg, enum hash_algo algo)
{
	char *end;
	long n = strtol(arg, &end, 10);

	if (end == arg || *end)
		return false;
	if (n && n < ABBREV_MIN)
		n = ABBREV_MIN;
	if (n > (long)hash_hex_len(algo))
		n = (long)hash_hex_len(algo);
	*len = (size_t)n;
	return true;
}

int store_default_abbrev(const struct store *store)
{
	struct error err = ERROR_INIT;
	int len = revname_default_len(store->odb, &err);

	if (len < 0)
		builtin_fail(&err);
	return len;
}
