/* SPDX-License-Identifier: MIT */
/* The arguments and the configuration of git gc. */
#ifndef BUILTIN_GC_OPTIONS_H
#define BUILTIN_GC_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "builtin/child.h"
#include "repo/repo.h"

/* The arguments. An int is 1, 0, or -1 if the option is not given. */
struct gc_args {
	bool quiet, aggressive, automatic, force, background;
	/* the foreground steps on refs and reflogs are done */
	bool skip_foreground;
	int cruft, detach, keep_largest;
	/* a date; NULL: as configured; or option_negated */
	const char *prune;
	const char *expire_to;
	uint64_t max_cruft_size; /* UINT64_MAX: not given */
};

#define GC_ARGS_INIT                                                           \
	{                                                                      \
		.cruft = -1, .detach = -1, .keep_largest = -1,                 \
		.max_cruft_size = UINT64_MAX                                   \
	}

/*
 * The settings: arguments override the configuration. Strings are borrowed from
 * either.
 */
struct gc_settings {
	uint64_t auto_limit, pack_limit, big_pack, max_cruft_size;
	uint64_t depth, window;
	bool cruft, detach, pack_refs, commit_graph;
	/* dates; prune NULL: do not prune */
	const char *prune, *worktree_prune;
	const char *filter, *filter_to; /* NULL: not set */
	int64_t log_expiry;
};

/*
 * Parse the arguments. Returns 0, or prints an error and returns the exit code
 * 129.
 */
int gc_args_parse(struct gc_args *a, int argc, const char **argv);

/*
 * Load the settings. Returns 0, or ERR_INVALID with the message of stock Git.
 */
int gc_settings_load(struct gc_settings *s, const struct gc_args *a,
		     const struct repo *repo, struct error *err);

/*
 * Add the options of repack for unreachable objects. `expire_to` is NULL if it
 * is not given.
 */
void gc_add_unreachable(struct child_words *w, const struct gc_settings *s,
			const char *expire_to);

#endif
