/* SPDX-License-Identifier: MIT */
/* The parts of git bitmap: its subcommands, and code that they share. */
#ifndef BUILTIN_BITMAP_PARTS_H
#define BUILTIN_BITMAP_PARTS_H

#include "builtin/builtin.h"
#include "builtin/store.h"
#include "pack-bitmap.h"
#include "walk/walk.h"
#include "wire/request-text.h"

/*
 * Functions that run the subcommands. argv[0] is the name of the subcommand.
 * Each prints its own errors and returns the exit code.
 */
int bitmap_show(int argc, const char **argv, struct builtin_env *env);
int bitmap_stats(int argc, const char **argv, struct builtin_env *env);
int bitmap_verify(int argc, const char **argv, struct builtin_env *env);
int bitmap_explain(int argc, const char **argv, struct builtin_env *env);

struct filter;
struct rev_args;

/* ---- bitmap-place.c */

/* The repository and index that most subcommands work on. */
struct bitmap_place {
	struct store store;
	struct walk walk;
	bool has_walk;
	/*
	 * owned: the bitmap index that queries of the repository use; NULL:
	 * there is none, or it was not asked for
	 */
	struct pack_bitmap *pb;
};

/*
 * Open the repository and, unless `without_index`, the index that queries use.
 * Returns 0. On failure, prints an error, and returns 1 if there is no usable
 * index, otherwise 128. The caller must close *place in all cases.
 */
int bitmap_place_open(struct bitmap_place *place, struct builtin_env *env,
		      bool without_index);
void bitmap_place_close(struct bitmap_place *place);

/* ---- bitmap-repeat.c */

/*
 * A fetch from the log of requests. git bitmap repeats the fetch to show how
 * the server answers it. `text`: the description of the fetch in the log.
 * `request`: the request that was parsed from this description.
 */
struct bitmap_repeat {
	struct buf text; /* owned */
	struct request_text request;
};

/*
 * Parse a fetch from the log of requests. `text`: the description of the fetch,
 * as it is in the log. NULL: read a record of the log from standard input.
 * Prints a warning if the log has left out some ids of the fetch. Returns 0,
 * ERR_INVALID if the description is malformed, or another negative error code.
 */
int bitmap_repeat_load(struct bitmap_repeat *r, const struct repo *repo,
		       const char *text, struct error *err);
void bitmap_repeat_release(struct bitmap_repeat *r);

/*
 * Returns whether all wanted objects are among the client's haves, and the
 * client is not shallow. For such a request, the server sends an empty pack and
 * does not open the bitmap index.
 */
bool bitmap_repeat_is_empty(const struct bitmap_repeat *r);

/*
 * Repeats the fetch whose description was read from the log of requests: makes
 * the pack that answers it. Drops the bytes of the pack, and prints how the
 * pack was made. Returns 0 or a negative error code.
 */
int bitmap_repeat_pack(const struct bitmap_repeat *r,
		       struct bitmap_place *place, const struct filter *filter,
		       struct error *err);

/*
 * ---- bitmap-explain-plan.c
 *
 * A plan is a cached response to a fetch. Print whether the directory of plans
 * has a plan for the request that `revs` and `filter` describe. The request is
 * taken to have the options that a client of stock Git sends. Prints nothing if
 * no directory is configured. Returns 0 or a negative error code.
 */
int bitmap_explain_plan(const struct bitmap_place *place,
			const struct rev_args *revs,
			const struct filter *filter, struct error *err);

/*
 * Print facts about a bitmap index, such as its number of bitmaps. `separator`
 * is printed between two facts, and a newline at the end.
 */
void bitmap_print_index(const struct pack_bitmap *pb, char separator);

#endif
