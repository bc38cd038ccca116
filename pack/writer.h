/* SPDX-License-Identifier: MIT */
/*
 * Writing the bytes of a pack: header, entries, trailer, to any sink.
 *
 * The writer buffers small pieces and hands large spans through as they are,
 * keeps the running checksum, and knows the offset of what comes next.
 */
#ifndef PACK_WRITER_H
#define PACK_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "object/hash.h"
#include "pack/entry.h"
#include "sys/io.h"

/*
 * Where bytes go. `put` receives spans in order; they are valid during the
 * call only. Returns 0 or a negative error that ends the pack.
 */
struct pack_sink {
	int (*put)(void *ctx, const void *bytes, size_t len, struct error *err);
	void *ctx;
	/*
	 * The same for bytes of a file, which need not pass through memory;
	 * NULL: put() takes them.
	 */
	int (*put_file)(void *ctx, const struct sys_file_span *span,
			struct error *err);
};

/* Put bytes of a file into a sink, either way. */
int pack_sink_put_file(const struct pack_sink *sink,
		       const struct sys_file_span *span, struct error *err);

struct pack_writer {
	struct pack_sink sink;
	struct hash_ctx hash;
	enum hash_algo algo;
	uint64_t off; /* bytes accepted so far: offset of what comes next */
	uint32_t crc; /* of the bytes since pack_writer_begin_entry() */
	bool want_crc;
	bool counts_only;  /* may be set after init: bytes are counted, neither
			      hashed nor handed over, and not looked at where
			      they are many */
	bool has_checksum; /* may be set after init, with `checksum`: what the
			      pack ends with is known, nothing is hashed */
	struct oid checksum;
	uint8_t *buffer; /* owned; bytes not yet handed to the sink */
	size_t buffered;
};

/*
 * Start a pack of `object_nr` objects: the header is accepted at once.
 * `want_crc`: keep CRCs, for an index. 0, ERR_NOMEM, or the sink's error; the
 * writer must be released in any case.
 */
int pack_writer_init(struct pack_writer *w, struct pack_sink sink,
		     uint32_t object_nr, enum hash_algo algo, bool want_crc,
		     struct error *err);
void pack_writer_release(struct pack_writer *w);

/* Start an entry: returns its offset and resets the CRC. */
uint64_t pack_writer_begin_entry(struct pack_writer *w);

/* Accept bytes as they are: entry headers, zlib streams, whole spans. */
int pack_writer_put(struct pack_writer *w, const void *bytes, size_t len,
		    struct error *err);

/* The same for bytes of a file, which are handed on as such when many. */
int pack_writer_put_file(struct pack_writer *w,
			 const struct sys_file_span *span, struct error *err);

/*
 * Write the trailer, flush, and deliver the checksum. No more bytes after
 * this.
 */
int pack_writer_finish(struct pack_writer *w, struct oid *checksum,
		       struct error *err);

#endif
