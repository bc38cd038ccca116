/* SPDX-License-Identifier: MIT */
/* The arguments of git gc, and what is configured about it. */
#ifndef BUILTIN_GC_OPTIONS_H
#define BUILTIN_GC_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "builtin/child.h"
#include "repo/repo.h"

/* What was given; 1, 0, or -1 where it was not. */
struct gc_args {
	bool quiet, aggressive, automatic, force, background;
	bool skip_foreground; /* refs and reflogs have been seen to */
	int cruft, detach, keep_largest;
	const char *prune; /* a date, NULL: as configured, option_negated */
	const char *expire_to;
	uint64_t max_cruft_size; /* UINT64_MAX: not given */
};

#define GC_ARGS_INIT                                                           \
	{                                                                      \
		.cruft = -1, .detach = -1, .keep_largest = -1,                 \
		.max_cruft_size = UINT64_MAX                                   \
	}

/* What was given or is configured. Strings are the arguments' or config's. */
struct gc_settings {
	uint64_t auto_limit, pack_limit, big_pack, max_cruft_size;
	uint64_t depth, window;
	bool cruft, detach, pack_refs, commit_graph;
	const char *prune, *worktree_prune; /* dates; prune NULL: not */
	const char *filter, *filter_to;     /* or NULL */
	int64_t log_expiry;
};

/* 0; or prints and returns the exit code 129. */
int gc_args_parse(struct gc_args *a, int argc, const char **argv);

/* 0 or ERR_INVALID in Git's words. */
int gc_settings_load(struct gc_settings *s, const struct gc_args *a,
		     const struct repo *repo, struct error *err);

/*
 * The options of repack that say what becomes of objects that nothing reaches.
 * expire_to NULL: not given.
 */
void gc_add_unreachable(struct child_words *w, const struct gc_settings *s,
			const char *expire_to);

#endif
