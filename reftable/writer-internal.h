/* SPDX-License-Identifier: MIT */
/*
 * Functions and types that the parts of the writer share: the table (writer.c),
 * one section (writer-section.c) and the section of objects (writer-objects.c).
 */
#ifndef REFTABLE_WRITER_INTERNAL_H
#define REFTABLE_WRITER_INTERNAL_H

#include "reftable/block.h"
#include "reftable/writer.h"

/* A finished block that the index will list. */
struct reftable_index_entry {
	/* owned: last key of the block */
	char *key;
	size_t key_len;
	uint64_t off;
};

/* A pair: an object, and a block of refs that point to it. */
struct reftable_object {
	struct oid oid;
	uint64_t block_off;
};

struct reftable_writer {
	struct sys_tempfile *file; /* borrowed */
	struct reftable_writer_options options;
	struct reftable_footer footer;
	/* bytes to be written to the file */
	struct buf out;
	uint64_t out_off; /* file offset of `out` */
	/* type of the present section, or 0 */
	unsigned section;
	/* the file's header is written */
	bool has_blocks;
	/* blocks are not aligned: reflogs */
	bool is_unaligned;
	bool in_block; /* `block` is being filled */
	/* offset of the present block, or of the last one */
	uint64_t block_off;
	struct reftable_block_writer block;
	struct buf last; /* last key in this section */
	/* scratch: for a record, for a block */
	struct buf value, start;
	/* owned: blocks to be indexed */
	struct reftable_index_entry *index;
	size_t index_nr, index_alloc;
	/* limit of bytes of an i-block */
	size_t index_limit;
	struct reftable_object *objects; /* owned */
	size_t object_nr, object_alloc;
};

/* Writes the bytes in w->out to the file. Returns 0 or a negative error. */
int reftable_writer_flush(struct reftable_writer *w, struct error *err);

/* Empties w->index. */
void reftable_writer_forget_index(struct reftable_writer *w);

/*
 * Adds a record to the present block, or to a new block of this type. Returns 1
 * if it was added, 0 if it does not even fit an empty block, or a negative
 * error code.
 */
int reftable_writer_add(struct reftable_writer *w,
			enum reftable_block_type type, const char *key,
			size_t key_len, unsigned extra, const void *value,
			size_t value_len, struct error *err);

/* Ends the block, and writes the index of the section if it needs one. */
int reftable_writer_end_section(struct reftable_writer *w, uint64_t *root_off,
				struct error *err);

/* Notes the objects to which a ref in the present block points. */
int reftable_writer_note(struct reftable_writer *w,
			 const struct reftable_ref *ref, struct error *err);

/* Writes the section of objects. */
int reftable_writer_put_objects(struct reftable_writer *w, struct error *err);

#endif
