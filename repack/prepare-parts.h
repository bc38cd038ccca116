/* SPDX-License-Identifier: MIT */
/* What the files that make up repack/prepare.h share. */
#ifndef REPACK_PREPARE_PARTS_H
#define REPACK_PREPARE_PARTS_H

#include "repack/prepare.h"
#include "repack/prepared.h"
#include "repack/send.h"
#include "repo/refs.h"

/* A request that many make. */
struct preparation {
	struct oid *wants; /* owned: one or more */
	size_t want_nr, want_alloc;
	bool is_cut; /* a clone of depth 1 */
	/* What comes of it; answer.request is there before: */
	bool is_done;
	struct ewah objects, tags; /* owned */
	struct prepared_answer answer;
};

/* Preparing the answers of one pack. */
struct preparing {
	const struct odb *odb;
	struct refs *refs;
	const struct odb_pack *pack; /* whose answers they are */
	struct odb_reader *reader;   /* owned: for who visits references */
	struct repack_send_options options;
	struct repack_tag *tags; /* owned */
	size_t tag_nr, tag_alloc;
	struct preparation *list; /* owned */
	size_t nr, alloc;
	struct error *err; /* of who visits references */
};

/*
 * List what many ask for, each request once, and the tags. 0 or negative with
 * p->err set.
 */
int prepare_list(struct preparing *p, const struct prepare_options *options);

#endif
