/* SPDX-License-Identifier: MIT */
/*
 * Internal declarations of config.c and its parts: the parser (config-parse.c),
 * the sources (config-load.c), the environment (config-env.c) and the
 * conditions of includeIf (config-include.c).
 */
#ifndef CONFIG_CONFIG_INTERNAL_H
#define CONFIG_CONFIG_INTERNAL_H

#include "base/buf.h"
#include "config/config.h"

#define CONFIG_INCLUDE_DEPTH 10

/* A running load of configuration, in one thread. */
struct config_loader {
	/* borrowed: receives the variables */
	struct config *config;
	const struct config_sources *sources; /* borrowed; NULL: none */
	enum config_scope scope;
	/* borrowed: path of the file that is being read; NULL: no file */
	const char *path;
	/* number of includes that are nested in each other at present */
	unsigned depth;
	/* true: files named by include.path are not read */
	bool no_includes;
	/*
	 * true: the file was included by includeIf.hasconfig, so it must not
	 * contain URLs of remotes
	 */
	bool forbid_urls;
	/*
	 * true: this load only collects URLs of remotes, for conditions of
	 * includeIf.hasconfig. It also reads the files of these conditions, to
	 * verify that they have no URLs of remotes
	 */
	bool scanning;
	/* true: core.repositoryformatversion was found */
	bool has_version;
	/* true: extensions.worktreeConfig was found, and its value is true */
	bool worktree_config;
	/* owned: the URLs of remotes in all sources; complete if `scanned` */
	struct config urls;
	bool scanned;
};

/*
 * Visits the text of a configuration file like config_each_line(). Also calls
 * `on_header` (NULL: no call) for each section header. The key of a header is
 * "section." or "section.subsection.", and its bytes are those from "[" to "]".
 */
int config_each_item(const char *text, size_t len, const char *name,
		     config_line_fn *on_header, config_line_fn *on_variable,
		     void *ctx, struct error *err);

/*
 * Appends `key` (`len` bytes, as the user wrote it) with section and name in
 * lower case. Returns 0, ERR_NOMEM, or ERR_INVALID if `key` is not a valid key.
 */
int config_normalise_key(struct buf *out, const char *key, size_t len,
			 struct error *err);

/*
 * Appends a variable to *config. Key and value are copied. Returns 0 or
 * ERR_NOMEM.
 */
int config_add(struct config *config, const char *key, const char *value,
	       enum config_scope scope);

/*
 * Calls `fn` with the variables of GIT_CONFIG_COUNT, then with the variables
 * of GIT_CONFIG_PARAMETERS. Returns 0, ERR_INVALID, ERR_NOMEM, or the result
 * of `fn`.
 */
int config_parse_env(config_var_fn *fn, void *ctx, struct error *err);

/*
 * Evaluates the `condition` of an includeIf if it is about the repository
 * (gitdir:, gitdir/i:, onbranch:). Returns 1 if the condition holds, 0 if it
 * does not hold or its kind is unknown, ERR_INVALID with a message if the
 * condition is relative to a file ("gitdir:./") and is not in a file, or
 * ERR_NOMEM.
 */
int config_include_holds(const struct config_loader *loader,
			 const char *condition, struct error *err);

#endif
