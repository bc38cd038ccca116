/* SPDX-License-Identifier: MIT */
/* git cat-file in batch mode: many objects, named on standard input. */
#ifndef BUILTIN_CAT_FILE_BATCH_H
#define BUILTIN_CAT_FILE_BATCH_H

#include "builtin/store.h"
#include "walk/filter.h"

enum cat_file_batch_mode {
	CAT_FILE_BATCH_NONE,
	CAT_FILE_BATCH_CONTENTS, /* --batch */
	CAT_FILE_BATCH_INFO,     /* --batch-check */
	CAT_FILE_BATCH_COMMAND,  /* --batch-command */
};

struct cat_file_batch {
	enum cat_file_batch_mode mode;
	const char *format; /* NULL: the default */
	bool all_objects, unordered;
	bool buffered; /* do not flush after each object */
	bool nul;      /* input ends in NULs instead of newlines */
	bool nul_out;  /* ... and so does what is printed */
	const struct filter *filter; /* borrowed: of types and sizes */
};

/* Returns the exit code, or BUILTIN_NOT_OURS for a format of stock Git's. */
int cat_file_batch_run(const struct store *store,
		       const struct cat_file_batch *options);

#endif
