/* SPDX-License-Identifier: MIT */
/*
 * Which objects a request asks for: by bitmap where there is one that can be
 * used, by walking otherwise.
 *
 * Either way those that are indexed, or else those of the largest pack, are a
 * set in that order, from which runs can be copied; all others are a list.
 */
#ifndef PACKING_FIND_H
#define PACKING_FIND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "pack-bitmap.h"
#include "packing/items.h"
#include "packing/prepared.h"
#include "packing/send.h"
#include "walk/walk.h"

/* An object to send, and one at the same path that the receiver has. */
struct found_version {
	size_t object; /* index into found->objects */
	struct walk_item old;
};

struct found {
	const struct packing_request *request; /* borrowed */
	struct walk walk;
	struct pack_bitmap *pb;         /* owned; NULL: found by walking */
	enum name_grouping grouping;    /* of all objects; none with pb, which
					   stores name hashes only */
	struct bitmap_space space;      /* in whose order `packed` is; odb NULL:
					   there is no pack */
	struct bitmap_space_table bits; /* owned: of `space`; empty: few are
					   asked for */
	struct bitset packed; /* by bit_pos: to send; no words: none */
	struct bitset packed_uninteresting; /* by bit_pos: the receiver has
				     these; no words: none */
	bool unnamed;              /* found by walking, but name hashes and
				      groups are not known */
	struct walk_items objects; /* owned: all others to send */
	struct walk_items walked;  /* owned: without pb, what `packed` stands
				      for */
	struct walk_items boundary_objects; /* owned: of the boundary's trees */
	struct found_version *versions;     /* owned: of some of `objects`,
					       those at its end were withheld
					       from `packed` */
	size_t version_nr;
	uint32_t *wants; /* owned: wanted commits (commit_nr) */
	size_t want_nr;
	uint32_t *walked_few; /* owned: commits to send of a history that is
				 cut, if they are few (commit_nr) */
	size_t walked_few_nr;
	struct bitset uninteresting;  /* by obj_pos: trees and blobs that the
			       receiver  has, without pb */
	bool knows_all_uninteresting; /* these are all of them */
	bool has_boundary;            /* boundary_objects are there */
	uint32_t *boundary;           /* owned: commit_nr whose trees the
					 receiver has */
	size_t boundary_nr;
	/* Sent as it is stored, besides what else was found; NULL: nothing: */
	const struct prepared_content *content;
	const struct odb_pack *content_pack;  /* where that is */
	struct prepared prepared;             /* where it is prepared, */
	const struct prepared_answer *answer; /* in answer to just this request;
						 NULL: it is not */
	struct prepared_content whole;        /* where it is a whole pack */
	struct prepared_run whole_run;
	/* For the report: */
	const char *no_bitmap; /* why none was asked; constant; NULL: one was */
	struct bitmap_plan plan;
	uint32_t bitmaps_used, pseudo_merges_used, commits_walked;
};

/*
 * Find everything. A bitmap index that cannot be used is described in
 * *warning, and the answer found by walking. 0 or negative with *found
 * released.
 */
int found_open(struct found *found, const struct odb *odb,
	       const struct packing_request *request,
	       const struct packing_send_options *options,
	       struct error *warning, struct error *err);
void found_close(struct found *found);

/*
 * Visit the objects of a subset of `packed`, in no promised order. ERR_NOMEM
 * from fn stops and is returned, with a message; ERR_CORRUPT is a
 * multi-pack-index that contradicts its packs.
 */
int found_each_packed(const struct found *found, const struct bitset *subset,
		      int (*fn)(void *ctx, const struct walk_item *object),
		      void *ctx, struct error *err);

/*
 * The bit of an object, by any of its copies; false: it has none. Threads may
 * ask together.
 */
bool found_bit(const struct found *found, uint32_t odb_pos, uint32_t *bit_pos);

/*
 * Add the tags whose target is sent, and those between the two, as the request
 * asks for it. 0 or negative; ERR_MISSING when one is not there. Cost: a look
 * at each tag; where much is sent, some look-ups.
 */
int found_include_tags(struct found *found, struct error *err);

/*
 * Whether what was found is a whole pack, or something that is prepared: then
 * that becomes its content, and `packed` is empty. Only for who copies what is
 * stored, and understands distances. Not asked about little. A file that is
 * broken has no answers. 0 or negative.
 */
int found_look_for_stored(struct found *found, bool use_prepared,
			  struct error *err);

/*
 * Leave objects out that would be sent, as the receiver gets them in another
 * way: left_out[i] says whether oids[i] was one. An id that is there twice is
 * left out once. Before versions are withheld. 0 or ERR_NOMEM. Cost: a look at
 * each object that is listed.
 */
int found_leave_out(struct found *found, const struct oid *oids, size_t nr,
		    bool *left_out, struct error *err);

/*
 * For a thin pack: note the versions that the receiver has, at the same path,
 * of objects that would be sent whole, so that they become deltas against
 * these; some at most. What is in `packed` moves to `objects`.
 */
int found_withhold_versions(struct found *found, struct error *err);

/* Commits of a side that are looked into for bases and versions. */
#define FOUND_NEWEST_MAX 4

/*
 * The same for bases where history is cut: what is next to what is sent are
 * then the edges of what the receiver has, one for each of its branches.
 */
#define FOUND_EDGES_MAX 16

/*
 * The newest parsed commits of a list, newest first, at most `max`, without
 * those that are parents of others, unless history ends or is cut there;
 * *out_nr: how many. 0 or ERR_NOMEM.
 */
int found_newest(uint32_t *out, size_t *out_nr, size_t max,
		 const struct history *h, const uint32_t *commits, size_t nr,
		 struct error *err);

/*
 * Find out the names of planned items that were found without, if any of them
 * could become a delta: from a bitmap index, else from the trees among them.
 */
int found_name_items(const struct found *found, struct packing_items *items,
		     struct error *err);

/* Whether the receiver is known to have an object (by odb_pos). */
bool found_is_uninteresting(const struct found *found, uint32_t odb_pos);

/*
 * Append what the receiver has to the items as external delta bases, with
 * sizes: versions of what was withheld and is no delta yet; and trees and blobs
 * at the boundary that share type and name with a planned item that will be
 * deflated anew, or is stored whole and may not stay so. Others would cost
 * their look-up and seldom be chosen.
 */
int found_add_bases(struct found *found, struct packing_items *items,
		    struct error *err);

/*
 * The same of what is in the newest wanted trees and is sent already, as
 * is_sent() says, where more than one commit is sent.
 */
int found_add_sent(struct found *found, struct packing_items *items,
		   bool (*is_sent)(void *ctx, uint32_t odb_pos), void *ctx,
		   struct error *err);

#endif
