/* SPDX-License-Identifier: MIT */
/*
 * A pack on standard input, for index-pack and unpack-objects: the header,
 * which the parent process may have read already, the pack, and bytes after the
 * pack.
 */
#ifndef BUILTIN_PACK_INPUT_H
#define BUILTIN_PACK_INPUT_H

#include "base/buf.h"
#include "object/fsck.h"
#include "indexer/indexer.h"

struct pack_input {
	/* header of the pack, if the parent has read it */
	uint8_t header[12];
	/* bytes of the header that were not read yet */
	size_t header_left;
	/* bytes of standard input after the pack */
	struct buf rest;
};

#define PACK_INPUT_INIT                                                        \
	{                                                                      \
		{0}, 0, BUF_INIT                                               \
	}

/*
 * Parse the value of --pack_header, <version>,<objects>. NULL: not given.
 * Returns 0 or ERR_INVALID.
 */
int pack_input_take_header(struct pack_input *in, const char *text,
			   struct error *err);

/*
 * Returns the source of the pack, which borrows `in`. Bytes after the pack go
 * to in->rest.
 */
struct pack_source pack_input_source(struct pack_input *in);

void pack_input_release(struct pack_input *in);

/* Print a problem of an object; fits `report` of struct pack_check_options. */
int pack_input_report(enum hash_algo algo, const struct fsck_report *report);

#endif
