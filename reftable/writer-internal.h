/* SPDX-License-Identifier: MIT */
/*
 * Functions and types that the parts of the writer share: the table (writer.c),
 * one section (writer-section.c) and the section of objects (writer-objects.c).
 */
#ifndef REFTABLE_WRITER_INTERNAL_H
#define REFTABLE_WRITER_INTERNAL_H

#include "reftable/block.h"
#include "reftable/writer.h"

/* An entry of a future index: a finished block and its last key. */
struct reftable_index_entry {
	/* owned: the last key of the block */
	char *key;
	size_t key_len;
	uint64_t off;
};

/*
 * An object, and the offset of a block of refs that has a ref to this object.
 */
struct reftable_object {
	struct oid oid;
	uint64_t block_off;
};

struct reftable_writer {
	struct sys_tempfile *file; /* borrowed */
	struct reftable_writer_options options;
	struct reftable_footer footer;
	/* bytes that are not written to the file yet */
	struct buf out;
	uint64_t out_off; /* file offset of `out` */
	/* type of the current section; 0 before the first one */
	unsigned section;
	/* true: the header of the file is written */
	bool has_blocks;
	/*
	 * blocks of the current section are not aligned, because it holds
	 * reflogs
	 */
	bool is_unaligned;
	bool in_block; /* `block` is being filled */
	/*
	 * offset of the block that is being filled; if none is being filled,
	 * offset of the last block
	 */
	uint64_t block_off;
	struct reftable_block_writer block;
	struct buf last; /* last key in this section */
	/*
	 * scratch memory for the value of a record, and for the start of a
	 * block
	 */
	struct buf value, start;
	/* owned: finished blocks that the next level of the index will list */
	struct reftable_index_entry *index;
	size_t index_nr, index_alloc;
	/* maximum length of an index block in bytes */
	size_t index_limit;
	struct reftable_object *objects; /* owned */
	size_t object_nr, object_alloc;
};

/*
 * Writes the bytes in w->out to the file. Returns 0 or a negative error code.
 */
int reftable_writer_flush(struct reftable_writer *w, struct error *err);

/* Empties w->index. */
void reftable_writer_forget_index(struct reftable_writer *w);

/*
 * Adds a record to the current block. Begins a new block of this type if the
 * current block is full. Returns 1 if the record was added, 0 if it does not
 * fit even into an empty block, or a negative error code.
 */
int reftable_writer_add(struct reftable_writer *w,
			enum reftable_block_type type, const char *key,
			size_t key_len, unsigned extra, const void *value,
			size_t value_len, struct error *err);

/*
 * Ends the current block, and writes the index of the section if the section
 * needs one. In this case, sets *root_off to the offset of the index's top
 * level. Returns 0 or a negative error code.
 */
int reftable_writer_end_section(struct reftable_writer *w, uint64_t *root_off,
				struct error *err);

/*
 * Records that the current block has a ref to the object whose id is the value
 * of `ref`. For an annotated tag, also records this for the peeled object.
 * Returns 0 or a negative error code.
 */
int reftable_writer_note(struct reftable_writer *w,
			 const struct reftable_ref *ref, struct error *err);

/*
 * Writes the section that lists, for each object, the blocks with refs to the
 * object. Returns 0 or a negative error code.
 */
int reftable_writer_put_objects(struct reftable_writer *w, struct error *err);

#endif
