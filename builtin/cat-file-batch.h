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
	/*
	 * true: apply the mailmap to commits and tags (builtin/mailmap-use.h)
	 */
	bool use_mailmap;
	/*
	 * true: collect output in a buffer; false: flush the output after each
	 * object
	 */
	bool buffered;
	/* true: NUL ends a line of the input; false: newline ends it */
	bool nul;
	/* true: NUL also ends a line of the output */
	bool nul_out;
	/*
	 * Borrowed: only objects that pass this filter are printed. The filter
	 * must depend on types and sizes only.
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
