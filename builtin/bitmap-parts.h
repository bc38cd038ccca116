/* SPDX-License-Identifier: MIT */
/* The parts of git bitmap: its subcommands, and what they share. */
#ifndef BUILTIN_BITMAP_PARTS_H
#define BUILTIN_BITMAP_PARTS_H

#include "builtin/builtin.h"
#include "builtin/store.h"
#include "pack-bitmap.h"
#include "walk/walk.h"

/*
 * Subcommands: argv[0] is the subcommand's name. They return the exit code,
 * after printing what went wrong.
 */
int bitmap_show(int argc, const char **argv, struct builtin_env *env);
int bitmap_stats(int argc, const char **argv, struct builtin_env *env);
int bitmap_verify(int argc, const char **argv, struct builtin_env *env);
int bitmap_explain(int argc, const char **argv, struct builtin_env *env);

/* ---- bitmap-place.c */

/* What most of them work on. */
struct bitmap_place {
	struct store store;
	struct walk walk;
	bool has_walk;
	struct pack_bitmap *pb; /* owned: the index that queries use, or NULL */
};

/*
 * Open the repository, and the index that queries use unless `without_index`.
 * 0; or prints and returns the exit code: 1 when there is no index, or none
 * that can be used. Close in any case.
 */
int bitmap_place_open(struct bitmap_place *place, struct builtin_env *env,
		      bool without_index);
void bitmap_place_close(struct bitmap_place *place);

/* Print what an index is, without a newline. */
void bitmap_print_index(const struct pack_bitmap *pb, char separator);

#endif
