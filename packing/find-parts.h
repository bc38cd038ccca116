/* SPDX-License-Identifier: MIT */
/* Declarations for the files that implement packing/find.h. */
#ifndef PACKING_FIND_PARTS_H
#define PACKING_FIND_PARTS_H

#include <stdlib.h>

#include "packing/find.h"

/*
 * Remove the objects that were found so far, and release their memory: another
 * way to find objects will be tried.
 */
static inline void find_forget_objects(struct found *f)
{
	bitset_release(&f->packed);
	bitset_release(&f->packed_uninteresting);
	free(f->objects.items);
	free(f->walked.items);
	f->objects = f->walked = (struct walk_items){0};
	f->space = (struct bitmap_space){0};
	f->boundary_nr = 0;
	f->commits_walked = 0;
}

/*
 * Add `nr` commits (commit_nr) to the boundary. The receiver must have the
 * trees of these commits. Commits beyond a maximum number are ignored. Returns
 * 0 or ERR_NOMEM.
 */
int find_boundary_add(struct found *f, const uint32_t *commits, size_t nr);

/*
 * Collect the objects in the trees of the boundary commits. A bitmap index or a
 * full walk may already have found the receiver's objects. In this case the
 * collected objects are needed only as delta bases, so only the trees of the
 * newest boundary commits are read. If the objects were collected before, does
 * nothing. Returns 0 or a negative error code.
 */
int find_boundary_collect(struct found *f, struct error *err);

/*
 * Collect the objects in the trees of the boundary commits, for a list of
 * objects that a walk has found. Reads only boundary trees that may contain one
 * of two things: objects that are in the list although the receiver has them,
 * or delta bases for objects in the list. Returns 0 or a negative error code.
 */
int find_boundary_collect_near(struct found *f, const struct walk_tips *wants,
			       struct error *err);

/*
 * Returns whether a receiver that has a commit also has all objects of this
 * type in the commit's trees. Returns false if the filter may have left out
 * objects of this type.
 */
bool find_has_entries(const struct found *f, enum object_type type);

/*
 * Make tips from the wants of a client without haves. The types of the wants
 * come from the bitmap index. If the index was not verified, the types may be
 * wrong. Returns 0 or a negative error code.
 */
int find_wants(struct found *f, struct walk_tips *tips, struct error *err);

/*
 * Look for a prepared answer (a stored response) to a clone. If there is one,
 * f->content (the stored bytes to send) is set to the content of the answer. If
 * the client asked for tags (include-tag), each tag whose target is sent is
 * added.
 *
 * If no prepared answer fits, this function tries to use the answer to a
 * similar request: by find_near() for a clone of depth 1, by find_extended()
 * for a clone with full history.
 *
 * Call this function only if stored bytes may be copied and the receiver reads
 * OFS_DELTA. Returns 1 if an answer is used, 0 if not, or a negative error
 * code.
 */
int find_prepared(struct found *f, const struct packing_send_options *options,
		  struct error *err);

/*
 * For a clone with full history: choose a prepared answer (a stored response)
 * whose wants are older than the wants of the clone. Find the objects that the
 * answer lacks. They will be sent after the answer.
 *
 * Returns 1 if an answer is used; f->content is then the answer, and f->objects
 * has the objects that the answer lacks. Returns 0 if no answer can be extended
 * or a file cannot be used; *f is then unchanged. Otherwise returns ERR_NOMEM
 * or ERR_CANCELLED.
 *
 * Cost: the new history is walked, and the ids of the answer's wants are
 * hashed.
 */
int find_extended(struct found *f, const struct packing_send_options *options,
		  struct error *err);

/*
 * For a clone of depth 1 of one commit: find the objects with the help of a
 * prepared answer for another commit. The trees of both commits are compared.
 * The answer must be in the opened file f->prepared. If the client asked
 * for tags (include-tag), adds each tag whose target is sent.
 *
 * Returns 1 if the objects were found. f->near is then set to the answer. The
 * bits of f->packed are in the order of the stored pack from which the answer
 * is copied. f->walked and f->objects have the objects that the answer lacks.
 * Returns 0 if no answer helps; *f is then unchanged. Otherwise returns a
 * negative error code.
 *
 * Cost: the directories that differ are read.
 */
int find_near(struct found *f, struct error *err);

/*
 * Returns whether an object is sent as part of found->content, the prepared
 * pack content. Returns false if there is no content. This function is in
 * find-tags.c.
 */
bool find_is_prepared(const struct found *f, const struct oid *oid);

/*
 * Returns the order of a pack's objects (its reverse index). `wanted`: number
 * of objects that will be looked up. If this number is small compared with the
 * pack, the order is not verified. Returns NULL with *err set if there is no
 * memory.
 */
const struct pack_rev *find_order(struct pack *pack, size_t wanted,
				  struct error *err);

/* A kept delta (stored by a repack) of an object to send. */
struct kept_choice {
	/* delta.stream borrows from found->kept; NULL: there is no delta */
	struct kept_delta delta;
	uint32_t base_pos; /* obj_pos of the base */
	/*
	 * true: the receiver lacks the base of the delta, but gets it in a
	 * copied run of stored bytes
	 */
	bool base_is_sent;
};

/*
 * Open the first file of kept deltas (stored by a repack) that is found in the
 * object directories; later calls do nothing. A damaged file is not used.
 * *warning is then set to the damage, unless there is a warning already.
 * Returns 0 or ERR_NOMEM.
 */
int find_kept_open(struct found *f, struct error *warning, struct error *err);

/*
 * Value of old_pos: the receiver is not known to have an older version of the
 * object.
 */
#define KEPT_NO_VERSION UINT32_MAX

/*
 * Find the smallest usable kept delta of an object to send
 * (prepared/kept-deltas.h). A kept delta is usable if the receiver has or gets
 * the base of the delta. If there is none, choice->delta.stream is NULL. If the
 * file of kept deltas (f->kept) is damaged, *warning is set to the damage,
 * unless there is a warning already.
 *
 * `target` is the raw id of the object. `target_bit` is the object's bit in
 * f->packed, or UINT32_MAX. `old_pos` is the obj_pos of the older version of
 * the object that the receiver certainly has: the object that was at the same
 * path in an older commit. KEPT_NO_VERSION: none is known.
 */
void find_kept(struct kept_choice *choice, const struct found *f,
	       const uint8_t *target, uint32_t target_bit, uint32_t old_pos,
	       struct error *warning);

/*
 * Mark older versions of files and directories. They were replaced by the
 * newest commits of the receiver (`haves`, by commit_nr) or by ancestors of
 * these commits. The receiver has the older versions, so they can be delta
 * bases. Nothing is marked unless the receiver certainly has no shallow
 * boundary. Returns 0 or ERR_NOMEM. Cost: the trees of a limited number of
 * ancestors are compared.
 */
int find_older(struct found *f, const uint32_t *haves, size_t nr);

/* Returns whether `nr` objects are few compared with the objects of a pack. */
static inline bool find_is_few(const struct pack *pack, size_t nr)
{
	return nr < pack->idx.nr / 64;
}

#endif
