/* SPDX-License-Identifier: MIT */
/*
 * Prepared answers: a repack computes the responses to a few frequent requests,
 * which are clones, and stores them. A prepared answer stores which bytes of
 * the pack are sent, and the checksum of the sent pack. So the server sends the
 * answer without enumerating or hashing objects, and without reading the order
 * of the pack.
 *
 * The file is objects/info/prepared. All numbers are big-endian.
 * Documentation/format/prepared.md has an example byte by byte. A number after
 * a colon is the length of a field in bytes:
 *
 * "PREP" | version 3: 1 | hash id: 1 | number of answers: 2
 * number of tags: 4
 * checksum of the stored pack, from which the answers are copied
 * ids of tags, ascending
 * of each answer:
 *    the request: 1, and an id
 *    content without tags
 *    content with tags
 *    which of the listed tags the content with tags adds: a bitmap
 *    tree of the wanted commit, if the request has depth 1
 * checksum of all of the above
 *
 * content:
 *    checksum of the pack that is sent
 *    number of objects: 4 | number of runs: 4
 *    of each run, ascending: offset in the pack: 8 | length: 8
 *
 * These facts hold for each answer. A pack of version 2 with the bytes of the
 * runs has the stored number of objects and the stored checksum. The base of
 * each delta is at the distance that the delta says. The objects are all that
 * the request asks for. The content with tags also has the tags that a clone
 * with tags would add. This content can be sent as long as each added tag has a
 * ref, and no other tag points to an object of the content.
 *
 * The number of a request says its kind: a clone of all that one id reaches
 * (1), the same with depth 1 (2), and both for several ids (3, 4). Several ids
 * are stored as the hash of these ids, ascending, each once.
 *
 * tree:
 *    number of repeated objects: 4; 2^32 - 1: unknown, and nothing follows
 *    of each, ascending: position in the index: 4 | number of paths: 4
 *    of each run of the content without tags:
 *       position of its first object in the pack: 4 | number of objects: 4
 *    hash of positions in the index, 4 bytes each: of all objects of each run,
 *       and of the object that follows the run in the pack
 *
 * A *repeated* object is at several paths of the tree of the wanted commit. So
 * a similar tree, in which one of these paths has changed, still has the
 * object (packing/find-near.c).
 *
 * The file is an extension of this project; other implementations ignore it. It
 * can be deleted at any time. It is ignored when the stored pack is gone.
 */
#ifndef PREPARED_PREPARED_H
#define PREPARED_PREPARED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "ewah/bitset.h"
#include "ewah/ewah.h"
#include "object/oid.h"
#include "odb/odb.h"
#include "pack/rev.h"
#include "pack/writer.h"
#include "sys/map.h"
#include "sys/progress.h"

/* Maximum number of prepared answers in a file. */
#define PREPARED_MAX UINT16_MAX

enum prepared_kind {
	PREPARED_CLONE = 1,
	PREPARED_DEPTH_1 = 2,
	/* added to the kind of a request if the request has several wants */
	PREPARED_SEVERAL = 2,
};

struct prepared_request {
	/* enum prepared_kind, perhaps with PREPARED_SEVERAL added */
	uint8_t kind;
	/* the wanted id; or the hash of all ids, if there are several wants */
	struct oid id;
};

/* A run of bytes in a pack. The run consists of whole entries. */
struct prepared_run {
	uint64_t off, len;
};

/*
 * Prepared pack content: the entries of a pack that are sent as they are
 * stored.
 */
struct prepared_content {
	/* trailer (checksum) of the pack that is sent */
	struct oid checksum;
	uint32_t object_nr;
	/*
	 * Borrowed: runs of entries, with ascending offsets. No run is empty or
	 * touches the next run.
	 */
	const struct prepared_run *runs;
	size_t run_nr;
};

/* A tree or blob that occurs at several paths of the same root tree. */
struct prepared_repeat {
	uint32_t idx_pos; /* position of the object in the index of the pack */
	uint32_t paths;   /* number of paths, two or more */
};

/* The objects of a run: [first, first + nr), by pack_pos. */
struct prepared_place {
	uint32_t first, nr;
};

/*
 * Facts about a prepared answer (a stored response) to a clone of depth 1: they
 * describe the tree of the commit that this clone wants. A later clone of depth
 * 1 may want another commit, whose tree differs in a few paths. With these
 * facts, the server finds out which objects of the prepared answer are also in
 * the other tree (packing/find-near.c).
 */
struct prepared_tree {
	/*
	 * false: nothing is stored about the tree, and all other fields are
	 * empty
	 */
	bool is_known;
	/*
	 * borrowed: for each run of `plain` (the content without tags), the
	 * positions of its objects
	 */
	const struct prepared_place *places;
	/*
	 * Hash by which a reader detects a wrong order of the pack (a wrong
	 * .rev file). A run is a range of consecutive objects of the pack that
	 * is sent as it is stored. For each run, the hash covers the index
	 * positions (a be32 each) of all objects in the run and of the object
	 * after the run, in the order of the pack. The object after the run
	 * shows where the last object of the run ends.
	 */
	struct oid order;
	/*
	 * borrowed: trees and blobs at several paths of this tree, with
	 * ascending idx_pos
	 */
	const struct prepared_repeat *repeats;
	size_t repeat_nr;
};

struct prepared_answer {
	struct prepared_request request;
	struct prepared_content plain, tagged;
	/* Borrowed; bit i is set if `tagged` adds the i-th tag of the file. */
	struct ewah_view along;
	struct prepared_tree tree;
};

/* An opened file of prepared answers. Immutable; threads may share it. */
struct prepared {
	struct sys_map map;
	/*
	 * Borrowed from the snapshot: the pack that the answers are copied
	 * from.
	 */
	const struct odb_pack *pack;
	enum hash_algo algo;
	struct oid pack_checksum;
	/* borrowed: raw ids of tags, ascending */
	const uint8_t *tags;
	uint32_t tag_nr;
	/*
	 * Owned: the answers in the file. Their pointers point into the mapped
	 * file and into `runs`.
	 */
	struct prepared_answer *answers;
	/*
	 * Owned, for all answers: the runs (byte ranges of the pack to send),
	 * the positions of their objects, and the objects at several paths of a
	 * tree.
	 */
	struct prepared_run *runs;
	struct prepared_place *places;
	struct prepared_repeat *repeats;
	size_t nr;
};

#define PREPARED_INIT                                                          \
	{                                                                      \
		.map = SYS_MAP_INIT                                            \
	}

/*
 * Parse a file of prepared answers. *p borrows the bytes; p->map and p->pack
 * are not set. The checksum, and the order of the byte ranges to send (runs),
 * are checked. `name` is used in messages. Returns 0 or a negative error code:
 * ERR_UNSUPPORTED for another version, ERR_MISSING if the file is empty or
 * truncated, ERR_CORRUPT or ERR_NOMEM. After an error, *p is empty.
 */
int prepared_parse(struct prepared *p, const void *bytes, size_t len,
		   enum hash_algo algo, const char *name, struct error *err);

/*
 * Append the bytes of a file of prepared answers to *out. The file gets the
 * checksum of the stored pack (p->pack_checksum), the tags in p->tags, and the
 * answers in p->answers. There may be at most PREPARED_MAX answers. Returns 0
 * or ERR_NOMEM.
 */
int prepared_write(struct buf *out, const struct prepared *p);

/*
 * Returns the pack of `odb` that has this checksum, or NULL if there is none.
 */
const struct odb_pack *prepared_pack(const struct odb *odb,
				     const struct oid *checksum);

/*
 * Map the file objects/info/<name> of object directory `dir_nr`. *map and *path
 * must be initialised; *path receives the path, for messages. Returns 1 if the
 * file was mapped, 0 if there is no such file, or a negative error code: ERR_IO
 * or ERR_NOMEM.
 */
int prepared_map_file(struct sys_map *map, struct buf *path,
		      const struct odb *odb, size_t dir_nr, const char *name,
		      struct error *err);

/*
 * Open the file of prepared answers in the object directory with the number
 * `dir_nr` of `odb`. Returns 1 if the file was opened, 0 if there is no file or
 * `odb` lacks the pack of the answers, or a negative error code: ERR_IO or a
 * code of prepared_parse().
 */
int prepared_open(struct prepared *p, const struct odb *odb, size_t dir_nr,
		  struct error *err);
void prepared_close(struct prepared *p);

/*
 * Set *request to a request for a clone of the `nr` ids in `wants` (at least
 * 1), with full history or with depth 1. Returns 0 or ERR_NOMEM.
 */
int prepared_request(struct prepared_request *request, enum hash_algo algo,
		     bool depth_1, const struct oid *wants, size_t nr);

static inline bool prepared_same_request(const struct prepared_request *a,
					 const struct prepared_request *b)
{
	return a->kind == b->kind && oid_equal(&a->id, &b->id);
}

/* Returns whether a request has one want, so that `id` is the wanted id. */
static inline bool prepared_is_of_one(const struct prepared_request *request)
{
	return request->kind <= PREPARED_DEPTH_1;
}

/* Returns the prepared answer to a request, or NULL if there is none. */
const struct prepared_answer *prepared_find(
	const struct prepared *p, const struct prepared_request *request);

/*
 * Finds a content whose list of runs is equal to `runs`. A run is a byte range
 * of the stored pack, and `runs` has `nr` of them. Each prepared answer has two
 * contents, one with and one without tags, and each content is a list of runs.
 * Returns a content of any prepared answer, or NULL if no content has the same
 * runs.
 */
const struct prepared_content *prepared_find_content(
	const struct prepared *p, const struct prepared_run *runs, size_t nr);

/*
 * Find a tag in the file's list of tags, and set *at to its index. Returns
 * false if the tag is not in the list.
 */
bool prepared_find_tag(const struct prepared *p, const struct oid *tag,
		       uint32_t *at);

/*
 * Returns whether the runs of `content` include the pack entry at the offset
 * `off`.
 */
bool prepared_has(const struct prepared_content *content, uint64_t off);

/*
 * Returns the number of paths at which a tree has the object with the index
 * position idx_pos. `tree` belongs to a prepared answer (a stored response).
 * The object must be one of the objects that this answer sends.
 */
uint32_t prepared_paths(const struct prepared_tree *tree, uint32_t idx_pos);

/*
 * Compute a hash of the sequence in which `rev` (the pack's reverse index)
 * lists the objects of a prepared answer, and set *order to the hash. The file
 * of prepared answers has stored the hash of the right sequence in tree->order.
 * The caller compares the two hashes: if they differ, `rev` lists these objects
 * in a wrong sequence.
 *
 * The objects are given as `run_nr` runs: ranges of consecutive objects of the
 * pack. tree->places has the first object and the number of objects of each
 * run. No other field of *tree is read, not even tree->order. The runs must be
 * inside the pack. Returns 0 or ERR_NOMEM.
 */
int prepared_hash_order(struct oid *order, const struct prepared_tree *tree,
			size_t run_nr, const struct pack_rev *rev);

/*
 * Returns the total number of bytes of the runs (byte ranges of the pack) of
 * `content`.
 */
uint64_t prepared_bytes(const struct prepared_content *content);

/*
 * Copy the runs of `content`, which are byte ranges of the stored pack `pack`,
 * to `writer`. The pack in `writer` must have been begun for at least
 * content->object_nr objects. `progress` counts objects. Returns 0 or a
 * negative error code.
 */
int prepared_send(const struct prepared_content *content,
		  const struct pack *pack, struct pack_writer *writer,
		  struct progress *progress, struct error *err);

/*
 * Find the byte ranges (runs) of a pack that contain the objects whose bits
 * (pack_pos) are set in `objects`. *runs receives an array of *nr runs that the
 * caller frees, also on failure. Returns 0, ERR_NOMEM, or ERR_CORRUPT if `rev`
 * does not list the objects in the order of their offsets.
 */
int prepared_runs(struct prepared_run **runs, size_t *nr,
		  const struct pack_rev *rev, const struct bitset *objects,
		  struct error *err);

/*
 * Set the bits (pack_pos) of the objects that `content` consists of: its runs
 * are byte ranges of the pack. `objects` must have room for all objects of the
 * pack. Returns false if the runs are not whole entries, or if the number of
 * objects is wrong.
 */
bool prepared_objects(struct bitset *objects, const struct pack_rev *rev,
		      const struct prepared_content *content);

#endif
