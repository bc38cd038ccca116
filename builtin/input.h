/* SPDX-License-Identifier: MIT */
/*
 * Reading standard input: lines of text, and packs for index-pack and
 * unpack-objects.
 */
#ifndef BUILTIN_INPUT_H
#define BUILTIN_INPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"
#include "object/fsck.h"
#include "indexer/indexer.h"

/* ---- lines */

/*
 * Lines of standard input. A read error is reported, because a
 * truncated list must not be taken for a complete one.
 */
struct stdin_lines {
	/* the line that was read last, without the byte that ends it */
	char *line;
	/* length of the line in bytes; the line may contain NULs */
	size_t len;
	/*
	 * true: the last line read ended with the byte `end`; false: it ended
	 * with the input
	 */
	bool ended;
	/* the byte that ends a line */
	int end;
	/* true: remove a carriage return at the end of a line */
	bool strip_cr;
	size_t alloc;
};

#define STDIN_LINES_INIT                                                       \
	{                                                                      \
		.end = '\n'                                                    \
	}

/*
 * Read the next line. Returns 1 if there was a line, 0 at the end of the input,
 * or a negative error code.
 */
int stdin_lines_next(struct stdin_lines *in, struct error *err);

void stdin_lines_release(struct stdin_lines *in);

/* ---- packs */

/*
 * A pack on standard input, for index-pack and unpack-objects. The parent
 * process may have read the pack's header already. Bytes may follow the pack.
 */
struct pack_input {
	/* the header of the pack, if the parent process has read it */
	uint8_t header[12];
	/*
	 * number of bytes at the end of `header` that the reader of the pack
	 * did not get yet
	 */
	size_t header_left;
	/* bytes of standard input that follow the pack */
	struct buf rest;
};

#define PACK_INPUT_INIT                                                        \
	{                                                                      \
		{0}, 0, BUF_INIT                                               \
	}

/*
 * Parse <version>,<objects>, the value of --pack_header. `text` is NULL if the
 * option is not given. Returns 0 or ERR_INVALID.
 */
int pack_input_take_header(struct pack_input *in, const char *text,
			   struct error *err);

/*
 * Returns the source of the pack, which borrows `in`. Bytes after the pack are
 * stored in in->rest.
 */
struct pack_source pack_input_source(struct pack_input *in);

void pack_input_release(struct pack_input *in);

/*
 * Print a problem of an object. Called by the callback `report` of struct
 * pack_check_options. Returns 0.
 */
int pack_input_report(enum hash_algo algo, const struct fsck_report *report);

#endif
