/* SPDX-License-Identifier: MIT */
/* Loads configuration from all sources, with their includes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/wildmatch.h"
#include "config/config-internal.h"
#include "sys/io.h"

static int unreadable(const char *path, const struct error *why,
		      struct error *err)
{
	errno = why->sys_errno;
	return error_set_errno(err, "unable to access '%s'", path);
}

/*
 * Reads a whole configuration file. If reading fails, the message is that of
 * stock Git. Returns 0 or a negative error code.
 */
static int read_source(struct buf *text, const char *path, struct error *err)
{
	struct error why = ERROR_INIT;
	int ret = sys_read_any(text, path, &why);

	if (ret == ERR_IO)
		unreadable(path, &why, err);
	else if (ret < 0 && err)
		*err = why;
	return ret;
}

/*
 * The callback of the parser: receives each variable, and may read included
 * files. Returns 0 or a negative error code.
 */
static int load_var(void *ctx, const char *key, const char *value,
		    struct error *err);

static int parse_source(struct config_loader *loader, const struct buf *text,
			const char *path, struct error *err)
{
	const char *outer = loader->path;
	int ret;

	loader->path = path;
	ret = config_parse_text(text->data, text->len, path, load_var, loader,
				err);
	loader->path = outer;
	return ret;
}

/*
 * Loads one configuration file. Returns 0, ERR_MISSING if the file does not
 * exist, or another negative error code.
 */
static int load_file(struct config_loader *loader, const char *path,
		     struct error *err)
{
	struct buf text = BUF_INIT;
	int ret = read_source(&text, path, err);

	if (!ret)
		ret = parse_source(loader, &text, path, err);
	buf_release(&text);
	return ret;
}

/* ---- conditions of includeIf.hasconfig */

/* Returns whether `key` has the form remote.<name>.url. */
static bool is_remote_url(const char *key)
{
	size_t len = strlen(key);

	return !strncmp(key, "remote.", 7) && len >= strlen("remote..url") &&
	       !strcmp(key + len - strlen(".url"), ".url");
}

static int load_all(struct config_loader *loader, struct error *err);

/*
 * Reads all sources once to collect the URLs of remotes. As in stock Git, also
 * reads the files of each includeIf.hasconfig, whether its condition holds or
 * not; a file that has the URL of a remote is an error. Returns 0 or a negative
 * error code.
 */
static int scan_urls(struct config_loader *loader, struct error *err)
{
	struct config_loader scan = {.config = &loader->urls,
				     .sources = loader->sources,
				     .scanning = true};
	int ret;

	if (loader->scanned)
		return 0;
	loader->scanned = true;
	ret = load_all(&scan, err);
	/* The message names the source already, so the caller must not add it.
	 */
	return ret == ERR_INVALID ? ERR_CORRUPT : ret;
}

/*
 * Evaluates a condition "hasconfig:remote.*.url:". Returns the codes of
 * condition_holds(): 2 if the condition holds because the URL of a remote
 * matches, 0 if no URL matches, or a negative error code. Also returns 2 during
 * scan_urls(), the first pass, which collects the URLs: this pass must read the
 * files of all such conditions.
 */
static int hasconfig_holds(struct config_loader *loader, const char *p,
			   struct error *err)
{
	int ret;

	if (loader->scanning)
		return 2;
	if (!loader->sources)
		return 0;
	ret = scan_urls(loader, err);
	if (ret < 0)
		return ret;
	for (size_t i = 0; i < loader->urls.nr; i++) {
		const struct config_entry *entry = &loader->urls.entries[i];

		if (is_remote_url(entry->key) && entry->value &&
		    wildmatch(p, entry->value, WILDMATCH_PATHNAME))
			return 2;
	}
	return 0;
}

/*
 * Evaluates `condition`, the subsection of an includeIf. Returns 0 if the
 * condition does not hold, 1 if it holds, or a negative error code. Returns 2
 * if the condition holds and the included file must not have URLs of remotes.
 */
static int condition_holds(struct config_loader *loader, const char *condition,
			   size_t len, struct error *err)
{
	static const char hasconfig[] = "hasconfig:remote.*.url:";
	char *copy = mem_strndup(condition, len);
	int ret;

	if (!copy)
		return error_nomem(err);
	if (!strncmp(copy, hasconfig, strlen(hasconfig)))
		ret = hasconfig_holds(loader, copy + strlen(hasconfig), err);
	else
		ret = config_include_holds(loader, copy, err);
	free(copy);
	return ret == ERR_NOMEM ? error_nomem(err) : ret;
}

/* ---- includes */

static void tell_path(const struct config_loader *loader, const char *path)
{
	if (loader->sources && loader->sources->look)
		loader->sources->look(loader->sources->look_ctx, path);
}

/*
 * Returns the complete path of an included file, malloc()ed, or NULL with *err
 * set.
 */
static char *include_path(const struct config_loader *loader, const char *value,
			  struct error *err)
{
	char *path = config_expand_path(value);
	const char *slash;
	struct buf full = BUF_INIT;

	if (!path) {
		error_set(err, ERR_INVALID,
			  "could not expand include path '%s'", value);
		return NULL;
	}
	if (*path == '/')
		return path;
	if (!loader->path) {
		error_set(err, ERR_INVALID,
			  "relative config includes must come from files");
		free(path);
		return NULL;
	}
	slash = strrchr(loader->path, '/');
	if ((slash && buf_append(&full, loader->path,
				 (size_t)(slash - loader->path) + 1) < 0) ||
	    buf_append_str(&full, path) < 0) {
		buf_release(&full);
		error_nomem(err);
	}
	free(path);
	return full.len ? buf_detach(&full, NULL) : NULL;
}

static int too_deep(const struct config_loader *loader, const char *path,
		    struct error *err)
{
	return error_set(err, ERR_CORRUPT,
			 "exceeded maximum include depth (%d) while including\n"
			 "\t%.300s\nfrom\n\t%.300s\n"
			 "Does one of the files include itself?",
			 CONFIG_INCLUDE_DEPTH, path,
			 loader->path ? loader->path : "the command line");
}

static int follow_include(struct config_loader *loader, const char *value,
			  struct error *err)
{
	struct error why = ERROR_INIT;
	char *path;
	int ret;

	if (!value)
		return error_set(err, ERR_INVALID,
				 "missing value for 'include.path'");
	path = include_path(loader, value, &why);
	if (!path) {
		if (err)
			*err = why;
		return why.code;
	}
	tell_path(loader, path);
	if (!sys_exists(path)) {
		ret = 0;
	} else if (loader->depth >= CONFIG_INCLUDE_DEPTH) {
		ret = too_deep(loader, path, err);
	} else {
		loader->depth++;
		ret = load_file(loader, path, err);
		loader->depth--;
	}
	free(path);
	return ret == ERR_MISSING ? 0 : ret;
}

/*
 * Reads the file of an includeIf.<condition>.path if its condition holds.
 * Returns 0 (also if the condition does not hold) or a negative error code.
 */
static int follow_conditional(struct config_loader *loader, const char *key,
			      const char *value, struct error *err)
{
	bool outer = loader->forbid_urls;
	const char *condition = key + strlen("includeif.");
	size_t key_len = strlen(key);
	size_t rest = key_len - strlen("includeif.");
	int ret;

	if (rest < strlen(".path") ||
	    strcmp(key + key_len - strlen(".path"), ".path"))
		return 0;
	ret = condition_holds(loader, condition, rest - strlen(".path"), err);
	if (ret <= 0)
		return ret;
	if (ret == 2)
		loader->forbid_urls = true;
	ret = follow_include(loader, value, err);
	loader->forbid_urls = outer;
	return ret;
}

/*
 * Records two variables of the repository's own file that load_all() uses:
 * core.repositoryFormatVersion and extensions.worktreeConfig. Returns 0 or
 * ERR_INVALID.
 */
static int note_extensions(struct config_loader *loader, const char *key,
			   const char *value, struct error *err)
{
	int ret;

	if (!strcmp(key, "core.repositoryformatversion"))
		loader->has_version = true;
	if (strcmp(key, "extensions.worktreeconfig"))
		return 0;
	ret = config_parse_bool(value);
	if (ret < 0)
		return error_set(err, ERR_INVALID,
				 "bad boolean config value '%s' for '%s'",
				 value, key);
	loader->worktree_config = ret;
	return 0;
}

/*
 * Adds a variable, and reads another file if the variable is an include. `ctx`
 * is the loader. Returns 0 or a negative error code.
 */
static int load_var(void *ctx, const char *key, const char *value,
		    struct error *err)
{
	struct config_loader *loader = ctx;
	int ret;

	if (loader->forbid_urls && is_remote_url(key))
		return error_set(
			err, ERR_CORRUPT,
			"remote URLs cannot be configured in file directly or "
			"indirectly included by "
			"includeIf.hasconfig:remote.*.url");
	if (config_add(loader->config, key, value, loader->scope) < 0)
		return error_nomem(err);
	if (loader->no_includes)
		return 0;
	if (!loader->depth && loader->scope == CONFIG_LOCAL) {
		ret = note_extensions(loader, key, value, err);
		if (ret < 0)
			return ret;
	}
	if (!strcmp(key, "include.path"))
		return follow_include(loader, value, err);
	if (!strncmp(key, "includeif.", 10))
		return follow_conditional(loader, key, value, err);
	return 0;
}

/* ---- sources */

/*
 * Loads the configuration file "<dir><name>". A missing file is skipped. A
 * file without read permission is skipped too, unless it belongs to the
 * repository. Returns 0 or a negative error code.
 */
static int load_source(struct config_loader *loader, enum config_scope scope,
		       const char *dir, const char *name, struct error *err)
{
	struct buf path = BUF_INIT, text = BUF_INIT;
	struct error why = ERROR_INIT;
	int ret;

	if (buf_printf(&path, "%s%s", dir, name) < 0)
		return error_nomem(err);
	loader->scope = scope;
	tell_path(loader, path.data);
	ret = read_source(&text, path.data, &why);
	if (!ret)
		ret = parse_source(loader, &text, path.data, &why);
	else if (ret == ERR_MISSING ||
		 (why.sys_errno == EACCES && scope != CONFIG_LOCAL))
		ret = 0;
	if (ret < 0 && err)
		*err = why;
	buf_release(&text);
	buf_release(&path);
	return ret;
}

static int load_system(struct config_loader *loader, struct error *err)
{
	const char *path = getenv("GIT_CONFIG_SYSTEM");
	int skip = config_env_bool("GIT_CONFIG_NOSYSTEM", false, err);

	if (skip)
		return skip < 0 ? skip : 0;
	if (!path)
		path = "/etc/gitconfig";
	return load_source(loader, CONFIG_SYSTEM, path, "", err);
}

static int load_global(struct config_loader *loader, struct error *err)
{
	const char *path = getenv("GIT_CONFIG_GLOBAL");
	const char *xdg = getenv("XDG_CONFIG_HOME");
	const char *home = getenv("HOME");
	int ret = 0;

	if (path)
		return load_source(loader, CONFIG_GLOBAL, path, "", err);
	if (xdg && *xdg)
		ret = load_source(loader, CONFIG_GLOBAL, xdg, "/git/config",
				  err);
	else if (home)
		ret = load_source(loader, CONFIG_GLOBAL, home,
				  "/.config/git/config", err);
	if (!ret && home)
		ret = load_source(loader, CONFIG_GLOBAL, home, "/.gitconfig",
				  err);
	return ret;
}

static int load_local(struct config_loader *loader, struct error *err)
{
	const struct config_sources *sources = loader->sources;
	const char *common = sources->common_dir;
	int ret;

	if (!common)
		common = sources->git_dir;
	if (!common)
		return 0;
	ret = load_source(loader, CONFIG_LOCAL, common, "/config", err);
	if (!ret && sources->git_dir && loader->has_version &&
	    loader->worktree_config)
		ret = load_source(loader, CONFIG_LOCAL, sources->git_dir,
				  "/config.worktree", err);
	return ret;
}

static int load_all(struct config_loader *loader, struct error *err)
{
	int ret = load_system(loader, err);

	if (!ret)
		ret = load_global(loader, err);
	if (!ret && !loader->sources->protected_only)
		ret = load_local(loader, err);
	if (!ret) {
		loader->scope = CONFIG_COMMAND;
		ret = config_parse_env(load_var, loader, err);
	}
	return ret;
}

int config_load(struct config *config, const struct config_sources *sources,
		struct error *err)
{
	struct config_loader loader = {.config = config, .sources = sources};
	int ret = load_all(&loader, err);

	config_release(&loader.urls);
	if (ret < 0)
		config_release(config);
	return ret;
}

int config_load_plain(struct config *config, const char *path,
		      struct error *err)
{
	struct config_loader loader = {
		.config = config, .scope = CONFIG_LOCAL, .no_includes = true};

	return load_file(&loader, path, err);
}

int config_parse(struct config *config, const char *text, size_t len,
		 enum config_scope scope, const char *path,
		 const struct config_sources *sources, struct error *err)
{
	struct config_loader loader = {.config = config,
				       .sources = sources,
				       .scope = scope,
				       .path = path,
				       .no_includes = !path};
	int ret = config_parse_text(text, len, path, load_var, &loader, err);

	config_release(&loader.urls);
	return ret;
}
