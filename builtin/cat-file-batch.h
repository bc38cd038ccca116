/* SPDX-License-Identifier: MIT */
/*
 * git cat-file in batch mode: information on many objects, whose names come
 * from standard input.
 */
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
	/* format of the printed lines; NULL: the default format */
	const char *format;
	bool all_objects, unordered;
	/* Apply the mailmap to commits and tags (builtin/mailmap-use.h). */
	bool use_mailmap;
	/* Collect output in a buffer; do not flush after each object. */
	bool buffered;
	/* input lines end with NUL instead of newline */
	bool nul;
	/* output lines end with NUL, too */
	bool nul_out;
	/*
	 * Borrowed: which objects to print. The filter depends on types and
	 * sizes only.
	 */
	const struct filter *filter;
};

/*
 * Run a batch. Returns the exit code, or BUILTIN_NOT_OURS if only stock Git
 * knows the format.
 */
int cat_file_batch_run(const struct store *store,
		       const struct cat_file_batch *options);

#endif
