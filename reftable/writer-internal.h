/* SPDX-License-Identifier: MIT */
/* What the parts of the writer share: sections (writer.c), objects
 * (writer-objects.c). */
#ifndef REFTABLE_WRITER_INTERNAL_H
#define REFTABLE_WRITER_INTERNAL_H

#include "reftable/block-write.h"
#include "reftable/writer.h"

/* A finished block, for the index. */
struct reftable_index_entry {
	char *key; /* owned: its last one */
	size_t key_len;
	uint64_t off;
};

/* That a block of refs names an object. */
struct reftable_object {
	struct oid oid;
	uint64_t block_off;
};

struct reftable_writer {
	struct sys_tempfile *file; /* borrowed */
	struct reftable_writer_options options;
	struct reftable_footer footer;
	struct buf out;     /* on its way to the file */
	uint64_t out_off;   /* where it goes */
	unsigned section;   /* a block type, or 0 */
	bool has_blocks;    /* the file's header is written */
	bool is_unaligned;  /* in the reflogs' section */
	bool in_block;      /* `block` is being filled */
	uint64_t block_off; /* its place; else that of the last one */
	struct reftable_block_writer block;
	struct buf last;         /* key in this section */
	struct buf value, start; /* scratch: of a record, of a block */
	struct reftable_index_entry *index; /* owned: blocks to be indexed */
	size_t index_nr, index_alloc;
	size_t index_limit;              /* bytes of an i-block */
	struct reftable_object *objects; /* owned */
	size_t object_nr, object_alloc;
};

/*
 * Add a record to the block, or to a new one of this type: 1; 0 when it does
 * not even fit an empty one; or negative.
 */
int reftable_writer_add(struct reftable_writer *w,
			enum reftable_block_type type, const char *key,
			size_t key_len, unsigned extra, const void *value,
			size_t value_len, struct error *err);

/* End the block, and write the section's index if it takes one. */
int reftable_writer_end_section(struct reftable_writer *w, uint64_t *root_off,
				struct error *err);

/* Note the objects that a ref in the current block names. */
int reftable_writer_note(struct reftable_writer *w,
			 const struct reftable_ref *ref, struct error *err);

/* Write the section of objects. */
int reftable_writer_put_objects(struct reftable_writer *w, struct error *err);

#endif
