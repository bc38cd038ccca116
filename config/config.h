/* SPDX-License-Identifier: MIT */
/*
 * Configuration: the files, their includes, the environment and -c, in the
 * order of precedence that git-config(1) documents.
 *
 * Keys are "section.name" or "section.subsection.name" with section and name
 * in lower case. Immutable after loading; threads may share one.
 */
#ifndef CONFIG_CONFIG_H
#define CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum config_scope {
	CONFIG_SYSTEM,  /* /etc/gitconfig, GIT_CONFIG_SYSTEM */
	CONFIG_GLOBAL,  /* ~/.gitconfig and $XDG_CONFIG_HOME/git/config */
	CONFIG_LOCAL,   /* the repository's config (and config.worktree) */
	CONFIG_COMMAND, /* -c, GIT_CONFIG_COUNT, GIT_CONFIG_PARAMETERS */
};

struct config_entry {
	char *key;   /* owned, normalised */
	char *value; /* owned; NULL for a key without "=", which means true */
	enum config_scope scope;
};

struct config {
	struct config_entry *entries; /* owned; ascending precedence */
	size_t nr, alloc;
};

#define CONFIG_INIT                                                            \
	{                                                                      \
		NULL, 0, 0                                                     \
	}

/*
 * Where to load from. Any path may be NULL: not loaded. All are borrowed for
 * the call.
 */
struct config_sources {
	const char *git_dir;    /* for the local file and includeIf.gitdir */
	const char *common_dir; /* where the local file "config" lives */
	bool protected_only;    /* system, global and command only */
};

/*
 * Load everything that applies, in order. Environment honoured:
 * GIT_CONFIG_NOSYSTEM, GIT_CONFIG_SYSTEM, GIT_CONFIG_GLOBAL, HOME,
 * XDG_CONFIG_HOME, GIT_CONFIG_COUNT/KEY_n/VALUE_n, GIT_CONFIG_PARAMETERS.
 * A missing file is no error, nor is a system or global one that we may not
 * read; other unreadable or malformed ones are: ERR_IO, or ERR_CORRUPT with
 * stock Git's "bad config line <n> in file <path>", and ": <reason>" where
 * there is more to say. ERR_INVALID: a bad environment. include.path,
 * includeIf."gitdir:", "gitdir/i:", "onbranch:" and "hasconfig:remote.*.url:"
 * are followed (relative to the including file, at most 10 deep); other
 * conditions do not hold. config.worktree is read where
 * extensions.worktreeConfig asks for it. *config has to be empty, and is again
 * on failure.
 */
int config_load(struct config *config, const struct config_sources *sources,
		struct error *err);
void config_release(struct config *config);

/*
 * Parse one file's text into *config; `path` for messages and includes (NULL:
 * includes are ignored). The parser behind config_load(), and the target of
 * fuzzing.
 */
int config_parse(struct config *config, const char *text, size_t len,
		 enum config_scope scope, const char *path,
		 const struct config_sources *sources, struct error *err);

/*
 * The last (strongest) entry for a key; NULL when there is none. The pointer
 * lives as long as the config. Looks at all entries: not for hot paths.
 */
const struct config_entry *config_find(const struct config *config,
				       const char *key);

/* Value of the last entry ("" for a key without "="), or NULL. */
const char *config_string(const struct config *config, const char *key);

/*
 * Typed access: *out is set and 1 returned when the key is there; 0 and *out
 * untouched when not; ERR_INVALID with stock Git's words ("bad numeric config
 * value '..' for '..': invalid unit", "bad boolean config value ...") when it
 * does not parse. Integers take k, m and g (1024-based).
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
 * The boolean of one entry, where the order of several counts: 1, 0, or
 * ERR_INVALID as from config_bool().
 */
int config_entry_bool(const struct config_entry *entry, struct error *err);

/* Parse a boolean as git-config(1) says: 1, 0, or ERR_INVALID. NULL is true. */
int config_parse_bool(const char *value);

/*
 * Parse a number with an optional k, m or g, for variables of the environment
 * that stand in for a key. 0, or ERR_INVALID with *out untouched.
 */
int config_parse_u64(uint64_t *out, const char *value);

/*
 * Visit the entries whose key is `key`, or that start with it when it ends in
 * '.', weakest first. A nonzero return stops and is returned.
 */
int config_each(const struct config *config, const char *key,
		int (*fn)(void *ctx, const struct config_entry *entry),
		void *ctx);

/*
 * A path value with a leading "~/" or "~user/" expanded; malloc()ed, or NULL
 * when out of memory or the home directory is unknown (or for "%(prefix)/",
 * which is about an installation of stock Git).
 */
char *config_expand_path(const char *value);

#endif
