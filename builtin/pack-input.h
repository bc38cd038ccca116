/* SPDX-License-Identifier: MIT */
/*
 * A pack on standard input, for index-pack and unpack-objects: the header that
 * a parent has read already, the pack, and what follows it.
 */
#ifndef BUILTIN_PACK_INPUT_H
#define BUILTIN_PACK_INPUT_H

#include "base/buf.h"
#include "object/fsck.h"
#include "pack/indexer.h"

struct pack_input {
	uint8_t header[12]; /* of the pack, when another has read it */
	size_t header_left; /* bytes of it that are to be dealt out yet */
	struct buf rest;    /* of standard input, after the pack */
};

#define PACK_INPUT_INIT                                                        \
	{                                                                      \
		{0}, 0, BUF_INIT                                               \
	}

/*
 * Take --pack_header=<version>,<objects>; NULL: it was not given. 0 or
 * ERR_INVALID.
 */
int pack_input_take_header(struct pack_input *in, const char *text,
			   struct error *err);

/* Where the pack comes from; borrows `in`. What follows it goes to in->rest. */
struct pack_source pack_input_source(struct pack_input *in);

void pack_input_release(struct pack_input *in);

/* Print what is wrong with an object: pack_check_options' `report`. */
int pack_input_report(enum hash_algo algo, const struct fsck_report *report);

#endif
