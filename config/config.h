/* SPDX-License-Identifier: MIT */
/*
 * Configuration from files, their includes, the environment and the option -c,
 * with the precedence that git-config(1) documents.
 *
 * Keys are "section.name" or "section.subsection.name", with section and name
 * in lower case. A configuration is immutable after loading, and threads may
 * share it.
 */
#ifndef CONFIG_CONFIG_H
#define CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

enum config_scope {
	/* etc/gitconfig, or the file named by GIT_CONFIG_SYSTEM */
	CONFIG_SYSTEM,
	/* ~/.gitconfig and $XDG_CONFIG_HOME/git/config */
	CONFIG_GLOBAL,
	/* the files "config" and "config.worktree" of the repository */
	CONFIG_LOCAL,
	/* the option -c, GIT_CONFIG_COUNT and GIT_CONFIG_PARAMETERS */
	CONFIG_COMMAND,
};

struct config_entry {
	char *key; /* owned, normalised */
	/* owned; NULL for a key without "=", which means true */
	char *value;
	enum config_scope scope;
};

struct config {
	/* owned array of variables, in ascending order of precedence */
	struct config_entry *entries;
	size_t nr, alloc;
};

#define CONFIG_INIT                                                            \
	{                                                                      \
		NULL, 0, 0                                                     \
	}

/*
 * The configuration files to load. A path that is NULL is not loaded. All paths
 * are borrowed during the call.
 */
struct config_sources {
	/*
	 * directory that contains config.worktree; conditions "gitdir:" of
	 * includeIf are compared with this path
	 */
	const char *git_dir;
	/* directory that contains the repository's file "config" */
	const char *common_dir;
	/* true: the repository's own files are not loaded */
	bool protected_only;
	/*
	 * Called with the path of each file, existing or missing, before the
	 * file is read. Not called for files that are read only to evaluate
	 * conditions of includeIf. NULL: no call.
	 */
	void (*look)(void *ctx, const char *path);
	void *look_ctx;
	/*
	 * Returns the full name of the ref to which HEAD points, malloc()ed, or
	 * NULL if HEAD points to no ref. Called for each condition "onbranch:"
	 * of includeIf. NULL: these conditions are false.
	 */
	char *(*branch)(void *ctx);
	void *branch_ctx;
};

/*
 * Loads all configuration, in order of precedence. These environment variables
 * are used: GIT_CONFIG_NOSYSTEM, GIT_CONFIG_SYSTEM, GIT_CONFIG_GLOBAL, HOME,
 * XDG_CONFIG_HOME, GIT_CONFIG_COUNT/KEY_n/VALUE_n, GIT_CONFIG_PARAMETERS.
 *
 * A missing file is not an error, and neither is a system or global file
 * without read permission. config.worktree is read if extensions.worktreeConfig
 * is set.
 *
 * Includes are followed, at most 10 deep: include.path, and includeIf with
 * "gitdir:", "gitdir/i:", "onbranch:" or "hasconfig:remote.*.url:". Paths are
 * relative to the including file. Other conditions are false.
 *
 * *config must be empty. Returns 0 or an error code: ERR_IO if a file cannot be
 * read, ERR_CORRUPT if a file is malformed ("bad config line <n> in file
 * <path>", sometimes with ": <reason>"), ERR_INVALID if the environment is
 * invalid, or ERR_NOMEM. After an error, *config is empty.
 */
int config_load(struct config *config, const struct config_sources *sources,
		struct error *err);
void config_release(struct config *config);

/*
 * Parses the text of one configuration file into *config. `path` is for
 * messages and relative includes; NULL: includes are ignored. config_load() and
 * the fuzz target use this parser. Returns 0 or a negative error code.
 */
int config_parse(struct config *config, const char *text, size_t len,
		 enum config_scope scope, const char *path,
		 const struct config_sources *sources, struct error *err);

/* A variable of a file. */
struct config_line {
	const char *key; /* borrowed, normalised */
	/* borrowed; NULL for a key without "=" */
	const char *value;
	/* number of the line on which the variable ends; the first line is 1 */
	unsigned line;
	/*
	 * bytes of the text: from the first letter of the name to the line feed
	 * after the value and its comment, inclusive, or to the end of the text
	 */
	size_t start_off, end_off;
};

typedef int config_line_fn(void *ctx, const struct config_line *line);

/*
 * Calls `fn` for each variable of the text of one configuration file, in order.
 * Includes are not followed. `name` is for messages; NULL: none. If fn()
 * returns a nonzero value, the visit stops and the function returns this value.
 * Otherwise returns 0, ERR_CORRUPT if a line is malformed, or ERR_NOMEM.
 */
int config_each_line(const char *text, size_t len, const char *name,
		     config_line_fn *fn, void *ctx, struct error *err);

/*
 * Returns the last entry of a key, which has the highest precedence, or NULL.
 * *config owns the entry. The function compares all entries, so do not call it
 * in a loop.
 */
const struct config_entry *config_find(const struct config *config,
				       const char *key);

/*
 * Returns the value of the last entry of a key ("" if the key has no "="), or
 * NULL if the key is not set.
 */
const char *config_string(const struct config *config, const char *key);

/*
 * These functions read a typed value. They return 1 with *out set, 0 with *out
 * unchanged if the key is not set, or ERR_INVALID with stock Git's message
 * ("bad numeric config value '..' for '..': invalid unit", "bad boolean config
 * value ..."). Integers may end in k, m or g (powers of 1024).
 */
int config_bool(const struct config *config, const char *key, bool *out,
		struct error *err);
int config_int(const struct config *config, const char *key, int *out,
	       struct error *err);
int config_i64(const struct config *config, const char *key, int64_t *out,
	       struct error *err);
int config_u64(const struct config *config, const char *key, uint64_t *out,
	       struct error *err);

/*
 * Parses the boolean of one entry, for keys whose order of entries matters.
 * Returns 1 for true, 0 for false, or ERR_INVALID with the message of
 * config_bool().
 */
int config_entry_bool(const struct config_entry *entry, struct error *err);

/*
 * Parses a boolean as in git-config(1). NULL is true. Returns 1 for true, 0 for
 * false, or ERR_INVALID.
 */
int config_parse_bool(const char *value);

/*
 * Parses a boolean that is a word ("true", "off" etc.) and not a number. This
 * is for keys whose numbers have another meaning, or none. NULL is true.
 * Returns 1 for true, 0 for false, or ERR_INVALID.
 */
int config_parse_bool_word(const char *value);

/*
 * Parses a number that may end in k, m or g. This is for texts that do not come
 * from a configuration, such as the values of environment variables. Returns 0
 * or ERR_INVALID. After an error, *out is unchanged.
 */
int config_parse_u64(uint64_t *out, const char *value);

/*
 * Calls `fn` for each value of the variable `key`, lowest precedence first. If
 * `key` ends in '.', visits all keys with this prefix. If fn() returns a
 * nonzero value, the visit stops and the function returns this value.
 * Otherwise returns 0.
 */
int config_each(const struct config *config, const char *key,
		int (*fn)(void *ctx, const struct config_entry *entry),
		void *ctx);

/*
 * Expands "~/", "~user/" or "%(prefix)/" at the start of a path. The prefix is
 * the directory into which gitreach was configured to be installed, for example
 * "/usr/local": "%(prefix)/etc/x" becomes "/usr/local/etc/x". If an absolute
 * path follows "%(prefix)/", the prefix is dropped, as in stock Git:
 * "%(prefix)//etc/x" becomes "/etc/x". Returns a malloc()ed string, or NULL if
 * memory runs out or the home directory is unknown.
 */
char *config_expand_path(const char *value);

/*
 * Reads the value of a variable that names a path (git-config(1), "pathname").
 * If the value is ":(optional)<path>" and <path> does not exist, the variable
 * counts as not set. To find out whether a relative <path> exists, the function
 * looks in `dir` (NULL: the working directory); *path itself stays relative.
 * Returns 1 with *path malloc()ed, 0 if the variable counts as not set, or
 * ERR_INVALID if config_expand_path() fails.
 */
int config_path(char **path, const char *value, const char *dir);

/*
 * Sets the variable "<section>.<name>" in the text of a configuration file, or
 * removes the variable if `value` is NULL. The section has no subsection, and
 * the value needs no quotes. If the variable occurs several times, one
 * occurrence remains. A section that becomes empty and has no comment is
 * removed. The bytes of other variables and of comments stay unchanged. Returns
 * 0, ERR_CORRUPT if a line is malformed, or ERR_NOMEM. After an error, *text is
 * unchanged.
 */
int config_edit(struct buf *text, const char *section, const char *name,
		const char *value);

/*
 * Called for each variable of a configuration file, in order. `value` is NULL
 * for a variable without "=". A negative result ends the parse. ERR_INVALID
 * means that the variable is invalid; the parser then adds line and file to the
 * message.
 */
typedef int config_var_fn(void *ctx, const char *key, const char *value,
			  struct error *err);

/*
 * Parses the text of a configuration file, and calls `fn` for each variable.
 * `name` is for messages (NULL: none). Returns 0, ERR_CORRUPT if a line is
 * malformed, ERR_NOMEM, or the result of `fn`.
 */
int config_parse_text(const char *text, size_t len, const char *name,
		      config_var_fn *fn, void *ctx, struct error *err);

/*
 * Adds the variables of the file `path`, without includes. The entries have the
 * local scope. Returns 0, ERR_MISSING if there is no file, ERR_IO, ERR_CORRUPT
 * if a line is malformed, or ERR_NOMEM.
 */
int config_load_plain(struct config *config, const char *path,
		      struct error *err);

/*
 * Reads a boolean environment variable; `dflt` applies if it is not set.
 * Returns 1 if the value is true, 0 if it is false, or ERR_INVALID with a
 * message.
 */
int config_env_bool(const char *name, bool dflt, struct error *err);

#endif
