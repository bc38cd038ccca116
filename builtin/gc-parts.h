/* SPDX-License-Identifier: MIT */
/*
 * The parts of `git gc`: gc-options.c reads arguments and configuration,
 * gc-need.c decides if there is work, and gc-lock.c keeps a second gc out.
 * `git maintenance` uses gc-need.c, too.
 */
#ifndef BUILTIN_GC_PARTS_H
#define BUILTIN_GC_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "builtin/child.h"
#include "repo/repo.h"
#include "sys/tempfile.h"

/* ---- gc-need.c */

/*
 * The functions of gc-need.c decide whether `git gc --auto` has something to
 * do. They also decide which packs are too large to be rewritten by gc
 * (git-gc(1), gc.auto and other keys).
 */

/* A pack of the repository itself, not a pack of an alternate. */
struct gc_pack {
	char *name;    /* owned: "<name>.pack" */
	uint64_t size; /* bytes */
	bool is_kept;  /* has a .keep */
	bool is_cruft; /* has a .mtimes */
	/*
	 * true: gc_packs_keep() has chosen the pack, so gc does not rewrite it
	 */
	bool stays;
};

struct gc_packs {
	struct gc_pack *packs; /* owned; unordered */
	size_t nr, alloc;
};

/*
 * List the packs. Returns 0 or a negative error code. The caller must release
 * *list in both cases.
 */
int gc_packs_list(struct gc_packs *list, const struct repo *repo,
		  struct error *err);
void gc_packs_release(struct gc_packs *list);

/* Returns the number of packs without .keep. */
size_t gc_packs_count(const struct gc_packs *list);

/*
 * Choose packs that gc does not rewrite: all packs of at least `threshold`
 * bytes, except cruft packs. If `threshold` is 0, only the largest pack is
 * chosen. Returns the number of chosen packs.
 */
size_t gc_packs_keep(struct gc_packs *list, uint64_t threshold);

/*
 * Find whether there are more than about `limit` loose objects. The number is
 * estimated from one of the 256 directories of loose objects. Returns 1 if so,
 * 0 if not, or a negative error code.
 */
int gc_has_many_loose(const struct repo *repo, uint64_t limit,
		      struct error *err);

/*
 * Find whether `git gc --auto` has work to do. There is work if there are more
 * than `auto_limit` loose objects (gc.auto), or more than `pack_limit` packs
 * (gc.autoPackLimit). If `auto_limit` is 0, there is never work to do. If
 * `pack_limit` is 0, any number of packs is allowed. Sets *all to true if there
 * are more than `pack_limit` packs: gc must then repack all packs. Returns 1 if
 * there is work, 0 if not, or a negative error code.
 */
int gc_is_needed(bool *all, const struct repo *repo, uint64_t auto_limit,
		 uint64_t pack_limit, struct error *err);

/*
 * Returns 1 if the repository borrows objects from a repository with a chain of
 * commit-graphs. In this case, gc must write only a new layer on top of the
 * chain. Returns 0 if not, or a negative error code.
 */
int gc_borrows_graph(const struct repo *repo, struct error *err);

/* ---- gc-lock.c */

/*
 * Locking for `git gc`, so that only one gc runs at a time, and the log of a gc
 * in the background.
 *
 *	<git dir>/gc.pid   "<process number> SP <host name>", while gc runs
 *	<git dir>/gc.log   standard error of a gc in the background; removed by
 *	                   the next gc that succeeds
 *
 * gc.pid is valid for twelve hours. On the host that gc.pid names, it is valid
 * only while the process exists.
 */

/*
 * Write gc.pid. The caller removes the file later with sys_tempfile_abort(pid).
 * If `force` is set, a running gc is ignored. Returns 0 if this process may run
 * gc. Returns 1 if another gc runs, with its process in *other ("machine
 * '<host>' pid <n>"). Returns a negative error code after a failure.
 */
int gc_lock_take(struct sys_tempfile *pid, const struct repo *repo, bool force,
		 struct buf *other, struct error *err);

/*
 * Append the content of the file gc.log to *text, unless the file is empty or
 * older than `expiry` (seconds since 1970; 0: no limit). Returns 1 if text was
 * appended, 0 if not, or a negative error code.
 */
int gc_log_read(struct buf *text, const struct repo *repo, int64_t expiry,
		struct error *err);

/*
 * Redirect standard error to gc.log.lock, the future gc.log. The caller must
 * hold gc.pid. Returns 0 or a negative error code.
 */
int gc_log_open(struct sys_tempfile *log, const struct repo *repo,
		struct error *err);

/*
 * Rename gc.log.lock to gc.log. If gc.log.lock is empty, remove it instead.
 * Returns 0 or a negative error code.
 */
int gc_log_close(struct sys_tempfile *log, const struct repo *repo,
		 struct error *err);

void gc_log_remove(const struct repo *repo);

/* ---- gc-options.c */

/* The arguments and the configuration of git gc. */

/*
 * The arguments of git gc. A field of type int is 1 if the option is given, 0
 * for its negation --no-<name>, and -1 if neither is given.
 */
struct gc_args {
	bool quiet, aggressive, automatic, force, background;
	/*
	 * true: skip the steps on refs and reflogs, because the process in the
	 * foreground has already done them
	 */
	bool skip_foreground;
	int cruft, detach, keep_largest;
	/*
	 * Value of --prune: a date; NULL if the configuration decides; or
	 * option_negated.
	 */
	const char *prune;
	const char *expire_to;
	/* value of --max-cruft-size in bytes; UINT64_MAX: not given */
	uint64_t max_cruft_size;
};

#define GC_ARGS_INIT                                                           \
	{                                                                      \
		.cruft = -1, .detach = -1, .keep_largest = -1,                 \
		.max_cruft_size = UINT64_MAX                                   \
	}

/*
 * The settings of git gc: arguments override the configuration. Strings are
 * borrowed from the arguments or the configuration.
 */
struct gc_settings {
	uint64_t auto_limit, pack_limit, big_pack, max_cruft_size;
	uint64_t depth, window;
	bool cruft, detach, pack_refs, commit_graph;
	/*
	 * The expiry dates as text, as the configuration or an option gives
	 * them. NULL: nothing is pruned.
	 */
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
 * Load the settings of git gc. Returns 0, or ERR_INVALID with the message of
 * stock Git.
 */
int gc_settings_load(struct gc_settings *s, const struct gc_args *a,
		     const struct repo *repo, struct error *err);

/*
 * Add the options about unreachable objects to `w`, the words of a call of git
 * repack. `expire_to` is the value of --expire-to; NULL: it was not given.
 */
void gc_add_unreachable(struct child_words *w, const struct gc_settings *s,
			const char *expire_to);

#endif
