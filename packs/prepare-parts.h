/* SPDX-License-Identifier: MIT */
/* Declarations shared by the files that implement packs/prepare.h. */
#ifndef PACKS_PREPARE_PARTS_H
#define PACKS_PREPARE_PARTS_H

#include "packing/find.h"
#include "packing/prepared.h"
#include "packing/send.h"
#include "packs/prepare.h"
#include "refs/refs.h"

/* A request that many clients make. */
struct preparation {
	struct oid *wants; /* owned: one or more */
	size_t want_nr, want_alloc;
	bool is_depth_1; /* a clone of depth 1 */
	/*
	 * Answer.request is set first; the other fields once the answer is
	 * worked out:
	 */
	bool is_done;
	struct prepared_answer answer;
	/* Owned: runs of the answer without and with tags. */
	struct prepared_run *plain, *tagged;
	/* Owned: the tags that the answer with tags adds. */
	struct ewah along;
};

/* The state of preparing the answers of one pack. */
struct preparing {
	const struct odb *odb;
	struct refs *refs;
	const struct odb_pack *pack; /* the pack of the answers */
	/* owned: for visiting references */
	struct odb_reader *reader;
	struct packing_send_options options;
	struct packing_tag *tags; /* owned; by id, each once */
	size_t tag_nr, tag_alloc;
	struct preparation *list; /* owned */
	size_t nr, alloc;
	struct error *err; /* for visiting references */
};

/*
 * List the frequent requests, each once, and the tags. Returns 0, or a negative
 * error code with p->err set.
 */
int prepare_list(struct preparing *p, const struct prepare_options *options);

/*
 * Load the options for making answers. They are those of the configuration, but
 * prepared answers are not used: an error in one file would be copied to the
 * next. Returns 0 or a negative error code.
 */
int prepare_load_options(struct packing_send_options *options,
			 const struct repo *repo, struct error *err);

/*
 * Find the objects of the answer to an item, without tags. *request is filled
 * in and must live until found_close(). Tags are included if the caller then
 * sets request->tags and calls found_include_tags(). Returns 0 or a negative
 * error code.
 */
int prepare_find(struct found *found, const struct preparing *p,
		 const struct preparation *item,
		 struct packing_request *request, struct error *err);

/*
 * Whether the found objects have the requested history. In a shallow repository
 * they do not. The history may be deepened while the answers still exist.
 */
bool prepare_has_history(const struct preparation *item,
			 const struct found *found);

/*
 * Compute the checksum of the pack of these objects. All of the objects' bytes
 * are read, unless they are a whole pack. Returns 1 if computed, 0 if the
 * objects cannot be copied as they are stored, or a negative error code.
 */
int prepare_hash(struct oid *checksum, const struct bitmap_space *space,
		 const struct bitset *objects, struct error *err);

/* Release all owned fields. */
void preparing_release(struct preparing *p);

#endif
