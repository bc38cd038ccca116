/* SPDX-License-Identifier: MIT */
/*
 * Writes the bytes of a pack to any sink: header, entries, trailer.
 *
 * The writer buffers small pieces and passes large spans on unchanged. It
 * computes the checksum and the offset of the next byte.
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
#include "sys/tempfile.h"

/*
 * The destination of bytes. `put` receives spans in order; they are valid only
 * during the call. It returns 0, or a negative error code that ends the pack.
 */
struct pack_sink {
	int (*put)(void *ctx, const void *bytes, size_t len, struct error *err);
	void *ctx;
	/*
	 * Receives bytes of a file, which need not pass through memory. NULL:
	 * put() receives them.
	 */
	int (*put_file)(void *ctx, const struct sys_file_span *span,
			struct error *err);
};

/* Puts bytes of a file into a sink, by put_file() or put(). */
int pack_sink_put_file(const struct pack_sink *sink,
		       const struct sys_file_span *span, struct error *err);

struct pack_writer {
	struct pack_sink sink;
	struct hash_ctx hash;
	enum hash_algo algo;
	/* bytes accepted so far: offset of the next byte */
	uint64_t off;
	/* of the bytes since pack_writer_begin_entry() */
	uint32_t crc;
	bool want_crc;
	/*
	 * may be set after init: bytes are only counted, neither hashed nor
	 * passed on, and large spans are not even read
	 */
	bool counts_only;
	/*
	 * may be set after init, with `checksum`: the trailer is known, so
	 * nothing is hashed
	 */
	bool has_checksum;
	struct oid checksum;
	/*
	 * may be set after init: pack_copy_put() compares entries with the CRCs
	 * of their index
	 */
	bool check_copies;
	/* owned; bytes not yet passed to the sink */
	uint8_t *buffer;
	size_t buffered;
};

/*
 * Starts a pack of `object_nr` objects; its header is the first output.
 * `want_crc` computes CRCs, for an index. Returns 0, ERR_NOMEM, or the sink's
 * error. The caller releases the writer in any case.
 */
int pack_writer_init(struct pack_writer *w, struct pack_sink sink,
		     uint32_t object_nr, enum hash_algo algo, bool want_crc,
		     struct error *err);
void pack_writer_release(struct pack_writer *w);

/* Starts an entry: resets the CRC and returns the offset. */
uint64_t pack_writer_begin_entry(struct pack_writer *w);

/* Writes bytes unchanged: entry headers, zlib streams, whole spans. */
int pack_writer_put(struct pack_writer *w, const void *bytes, size_t len,
		    struct error *err);

/* Writes bytes of a file. Large spans are passed on as parts of the file. */
int pack_writer_put_file(struct pack_writer *w,
			 const struct sys_file_span *span, struct error *err);

/*
 * Writes the trailer, flushes, and returns the checksum. Nothing may be written
 * afterwards.
 */
int pack_writer_finish(struct pack_writer *w, struct oid *checksum,
		       struct error *err);

/*
 * A sink for packs that are written to files. It collects bytes and writes them
 * in large aligned blocks.
 *
 * This speeds up later readers of the file. The page cache keeps written bytes
 * in pieces as large as the writes. Large pieces are mapped as a whole and cost
 * less to send. After writes of up to 64 KiB, hashing and sending 300 MiB of a
 * pack took 228 ms of CPU. After writes of whole blocks it took 190 ms.
 */

/* Bytes of a block. x86 and other processors map this size at once. */
#define PACK_FILE_BLOCK ((size_t)2 << 20)

/* For one thread. */
struct pack_file_sink {
	struct sys_tempfile *file; /* borrowed; empty at first */
	/* owned; PACK_FILE_BLOCK bytes */
	uint8_t *block;
	/* bytes of `block` that are not written yet */
	size_t gathered;
};

/* Returns 0 or ERR_NOMEM. The caller releases *fs in any case. */
int pack_file_sink_init(struct pack_file_sink *fs, struct sys_tempfile *file,
			struct error *err);
void pack_file_sink_release(struct pack_file_sink *fs);

/* Returns a sink for a pack writer. It borrows *fs. */
struct pack_sink pack_file_sink(struct pack_file_sink *fs);

/* Writes the remaining bytes of a complete pack. Returns 0 or ERR_IO. */
int pack_file_sink_flush(struct pack_file_sink *fs, struct error *err);

#endif
