/* SPDX-License-Identifier: MIT */
/* Declarations for the files that implement packs/prepare.h. */
#ifndef PACKS_PREPARE_PARTS_H
#define PACKS_PREPARE_PARTS_H

#include "packing/find.h"
#include "prepared/prepared.h"
#include "packing/send.h"
#include "packs/prepare.h"
#include "refs/refs.h"

/* The description of an answer's tree, and the memory that it borrows. */
struct prepared_described {
	struct prepared_tree tree;
	struct prepared_place *places;   /* owned */
	struct prepared_repeat *repeats; /* owned */
};

/* A frequent request and its answer. */
struct preparation {
	/* owned: the ids that the request wants, one or more */
	struct oid *wants;
	size_t want_nr, want_alloc;
	/* whether the request is a clone of depth 1 */
	bool is_depth_1;
	/* true: the answer was made. false: only answer.request is valid. */
	bool is_done;
	struct prepared_answer answer;
	/*
	 * Owned: the byte ranges of the pack that are sent in the answer
	 * without tags, and in the answer with tags.
	 */
	struct prepared_run *plain, *tagged;
	struct prepared_described tree;
	/*
	 * Owned: the tags that the answer with tags has, and the answer without
	 * tags lacks. If bit i is set, tags[i] of struct preparing is such a
	 * tag.
	 */
	struct ewah along;
};

/* State of making prepared answers (stored responses) for one pack. */
struct preparing {
	const struct odb *odb;
	struct refs *refs;
	/* the pack from which the answers are copied */
	const struct odb_pack *pack;
	/* owned: reads objects while references are visited */
	struct odb_reader *reader;
	struct packing_send_options options;
	/* owned: the tags of the repository, sorted by id, each once */
	struct packing_tag *tags;
	size_t tag_nr, tag_alloc;
	struct preparation *list; /* owned */
	size_t nr, alloc;
	/* receives the error of a callback that visits references */
	struct error *err;
};

/*
 * List the frequent requests, each once, and the tags. Returns 0, or a negative
 * error code with p->err set.
 */
int prepare_list(struct preparing *p, const struct prepare_options *options);

/*
 * Load the options for making prepared answers from the configuration. The new
 * answers are not made from the existing prepared answers, because an error in
 * the old file would get into the new one. Returns 0 or a negative error code.
 */
int prepare_load_options(struct packing_send_options *options,
			 const struct repo *repo, struct error *err);

/*
 * Find the objects of the answer to a request, without tags. This function sets
 * *request to the request that `item` describes. The caller keeps *request
 * until found_close(). To include tags, the caller then sets request->tags and
 * calls found_include_tags(). Returns 0 or a negative error code.
 */
int prepare_find(struct found *found, const struct preparing *p,
		 const struct preparation *item,
		 struct packing_request *request, struct error *err);

/*
 * Returns whether the objects that were found have the whole history that the
 * request asks for. Returns false for a request with full history in a shallow
 * repository: the answer would be wrong after the history is deepened.
 */
bool prepare_has_history(const struct preparation *item,
			 const struct found *found);

/*
 * Describe the root tree of the wanted commit, for the prepared answer (stored
 * response) to a clone of depth 1. The description (struct prepared_tree) says
 * where the objects of the answer are in the pack, and which trees and blobs
 * are at several paths of the root tree.
 *
 * `found`: the objects of the answer, found by prepare_find(). `space`: the bit
 * space of the pack that has all objects. `plain`: the byte ranges of the pack
 * that the answer sends if it has no tags. `objects`: the bits of the objects
 * in these byte ranges.
 *
 * If the tree cannot be described, out->tree.is_known is false. One reason is
 * that too many objects are at several paths: the description would be too
 * long. Returns 0 or ERR_NOMEM. The caller releases *out in both cases.
 */
int prepare_tree(struct prepared_described *out, struct found *found,
		 const struct bitmap_space *space,
		 const struct prepared_content *plain,
		 const struct bitset *objects, struct error *err);
void prepare_tree_release(struct prepared_described *tree);

/*
 * Compute the checksum of a pack with these objects. All bytes of the objects
 * are read, unless the objects are a whole pack. Returns 1 with *checksum set,
 * 0 if the objects cannot be copied as they are stored, or a negative error
 * code.
 */
int prepare_hash(struct oid *checksum, const struct bitmap_space *space,
		 const struct bitset *objects, struct error *err);

/*
 * Append the content of the file of wants (prepared/prepared-wants.h) for the
 * answers in p->list that are done. `prepared_checksum` is the checksum of the
 * file of prepared answers. Appends nothing if no answer is a clone with full
 * history. Returns 0, or ERR_NOMEM with p->err set.
 */
int prepare_put_wants(struct buf *out, const struct preparing *p,
		      const struct oid *prepared_checksum);

/*
 * Replace a file in the object directory, such as "info/prepared". If `bytes`
 * is empty, remove the file. A new file is synced if core.fsync lists
 * "pack-metadata". Returns 0 or a negative error code.
 */
int prepare_store(const struct repo *repo, const char *name,
		  const struct buf *bytes, struct error *err);

/* Release all fields of *p that are owned. */
void preparing_release(struct preparing *p);

#endif
