/* SPDX-License-Identifier: MIT */
/* What the files that make up packs/prepare.h share. */
#ifndef PACKS_PREPARE_PARTS_H
#define PACKS_PREPARE_PARTS_H

#include "packing/find.h"
#include "packing/prepared.h"
#include "packing/send.h"
#include "packs/prepare.h"
#include "refs/refs.h"

/* A request that many make. */
struct preparation {
	struct oid *wants; /* owned: one or more */
	size_t want_nr, want_alloc;
	bool is_cut; /* a clone of depth 1 */
	/* What comes of it; answer.request is there before: */
	bool is_done;
	struct prepared_answer answer;
	struct prepared_run *plain, *tagged; /* owned: runs of it, */
	struct ewah along;                   /* and the tags */
};

/* Preparing the answers of one pack. */
struct preparing {
	const struct odb *odb;
	struct refs *refs;
	const struct odb_pack *pack; /* whose answers they are */
	struct odb_reader *reader;   /* owned: for who visits references */
	struct packing_send_options options;
	struct packing_tag *tags; /* owned; by id, each once */
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

/*
 * How answers are made: as configured, but nothing is taken from what is
 * prepared already, since a mistake would go from file to file. 0 or negative.
 */
int prepare_load_options(struct packing_send_options *options,
			 const struct repo *repo, struct error *err);

/*
 * Find what an item is answered with, without tags; *request is filled in, and
 * has to stay until found_close(). Those come along that are then added to
 * request->tags. 0 or negative.
 */
int prepare_find(struct found *found, const struct preparing *p,
		 const struct preparation *item,
		 struct packing_request *request, struct error *err);

/*
 * Whether what was found has the history that is asked for. A repository that
 * is shallow has not, and may get it when its answers are there still.
 */
bool prepare_has_history(const struct preparation *item,
			 const struct found *found);

/*
 * What the pack of these objects ends with: 1; 0 when they cannot be copied as
 * they are; or negative. Of some of a pack, all is read.
 */
int prepare_hash(struct oid *checksum, const struct bitmap_space *space,
		 const struct bitset *objects, struct error *err);

/* Release what is owned. */
void preparing_release(struct preparing *p);

#endif
