/* SPDX-License-Identifier: MIT */
/*
 * What the parts of config.c share: the parser (config-parse.c), the sources
 * (config-load.c), the environment (config-env.c) and the conditions of
 * includeIf (config-include.c).
 */
#ifndef CONFIG_CONFIG_INTERNAL_H
#define CONFIG_CONFIG_INTERNAL_H

#include "base/buf.h"
#include "config/config.h"

#define CONFIG_INCLUDE_DEPTH 10

/* A load in progress; one thread. */
struct config_loader {
	struct config *config;                /* borrowed: what is filled */
	const struct config_sources *sources; /* borrowed; NULL: none */
	enum config_scope scope;
	const char *path;     /* borrowed: the file at hand; NULL: none */
	unsigned depth;       /* includes that lead to it */
	bool no_includes;     /* include.path is a key like others */
	bool forbid_urls;     /* below an includeIf.hasconfig */
	bool scanning;        /* only looking for remote URLs */
	bool has_version;     /* core.repositoryformatversion was seen */
	bool worktree_config; /* extensions.worktreeConfig was seen, true */
	struct config urls;   /* owned: what the scan found */
	bool scanned;
};

/*
 * Called for each variable of a text, in order; `value` is NULL without "=".
 * A negative return ends the parse; ERR_INVALID says that the variable is
 * wrong, and gets the line and file put before its message.
 */
typedef int config_var_fn(void *ctx, const char *key, const char *value,
			  struct error *err);

/*
 * Parse a file's text; `name` for messages (NULL: none). 0, ERR_CORRUPT for a
 * bad line, ERR_NOMEM, or what `fn` returned.
 */
int config_parse_text(const char *text, size_t len, const char *name,
		      config_var_fn *fn, void *ctx, struct error *err);

/*
 * Append `key` (`len` bytes, as the user wrote it) with section and name in
 * lower case. 0, ERR_NOMEM, or ERR_INVALID for what cannot be a key.
 */
int config_normalise_key(struct buf *out, const char *key, size_t len,
			 struct error *err);

/* Append an entry; key and value are copied. 0 or ERR_NOMEM. */
int config_add(struct config *config, const char *key, const char *value,
	       enum config_scope scope);

/*
 * Add the file `path` and nothing else: no includes. Entries have the local
 * scope. ERR_MISSING when it does not exist, ERR_IO, or as config_parse_text().
 */
int config_load_plain(struct config *config, const char *path,
		      struct error *err);

/*
 * Hand over the variables of GIT_CONFIG_COUNT and what belongs to it, then
 * those of GIT_CONFIG_PARAMETERS. 0, ERR_INVALID, ERR_NOMEM, or what `fn`
 * returned.
 */
int config_parse_env(config_var_fn *fn, void *ctx, struct error *err);

/*
 * Whether the `condition` of an includeIf holds, one that asks about the
 * repository (gitdir:, gitdir/i:, onbranch:). Returns 1 if it holds, 0 if it
 * does not or is unknown, or ERR_NOMEM.
 */
int config_include_holds(const struct config_loader *loader,
			 const char *condition);

/*
 * A boolean environment variable, `dflt` when it is not set: 1, 0, or
 * ERR_INVALID with a message.
 */
int config_env_bool(const char *name, bool dflt, struct error *err);

#endif
