/* SPDX-License-Identifier: MIT */
/* The parts of git bitmap: its subcommands, and code that they share. */
#ifndef BUILTIN_BITMAP_PARTS_H
#define BUILTIN_BITMAP_PARTS_H

#include "builtin/builtin.h"
#include "builtin/store.h"
#include "pack-bitmap.h"
#include "walk/walk.h"

/*
 * Subcommands. argv[0] is the subcommand's name. Each prints its errors and
 * returns the exit code.
 */
int bitmap_show(int argc, const char **argv, struct builtin_env *env);
int bitmap_stats(int argc, const char **argv, struct builtin_env *env);
int bitmap_verify(int argc, const char **argv, struct builtin_env *env);
int bitmap_explain(int argc, const char **argv, struct builtin_env *env);

/* ---- bitmap-place.c */

/* The repository and index that most subcommands work on. */
struct bitmap_place {
	struct store store;
	struct walk walk;
	bool has_walk;
	/* owned: the bitmap index that queries use; NULL if there is none */
	struct pack_bitmap *pb;
};

/*
 * Open the repository and, unless `without_index`, the index that queries use.
 * Returns 0. On failure, prints an error and returns the exit code: 1 if there
 * is no usable index. The caller must close *place in all cases.
 */
int bitmap_place_open(struct bitmap_place *place, struct builtin_env *env,
		      bool without_index);
void bitmap_place_close(struct bitmap_place *place);

/* Print facts about a bitmap index, without a final newline. */
void bitmap_print_index(const struct pack_bitmap *pb, char separator);

#endif
