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
 * The destination of a pack's bytes. `put` receives the bytes in order, and may
 * use them only during the call. It returns 0, or a negative error code that
 * ends the writing.
 */
struct pack_sink {
	int (*put)(void *ctx, const void *bytes, size_t len, struct error *err);
	void *ctx;
	/*
	 * Receives a range of a file, whose bytes need not pass through memory.
	 * NULL: put() receives the bytes instead.
	 */
	int (*put_file)(void *ctx, const struct sys_file_span *span,
			struct error *err);
	/*
	 * Receives a range of a pack that is pinned (pack/pack.h). The sink may
	 * use the bytes after the call. NULL: put() receives the bytes instead.
	 */
	int (*put_pinned)(void *ctx, const void *bytes, size_t len,
			  struct error *err);
};

/*
 * Puts bytes of a file into a sink, by put_file() or put(). Returns 0 or the
 * sink's error.
 */
int pack_sink_put_file(const struct pack_sink *sink,
		       const struct sys_file_span *span, struct error *err);

struct pack_writer {
	struct pack_sink sink;
	struct hash_ctx hash;
	enum hash_algo algo;
	/*
	 * number of bytes written so far, which is the offset of the next byte
	 */
	uint64_t off;
	/* CRC-32 of the bytes since pack_writer_begin_entry() */
	uint32_t crc;
	bool want_crc;
	/*
	 * true: bytes are only counted, neither hashed nor passed on, and large
	 * spans are not even read; may be set after init
	 */
	bool counts_only;
	/*
	 * true: the checksum of the pack is already known and set in
	 * `checksum`, so nothing is hashed; may be set after init
	 */
	bool has_checksum;
	struct oid checksum;
	/*
	 * true: pack_copy_put() compares entries with the CRCs of their index;
	 * may be set after init
	 */
	bool check_copies;
	/* owned; bytes that were not passed to the sink yet */
	uint8_t *buffer;
	size_t buffered;
};

/*
 * Starts a pack of `object_nr` objects and writes its header. If `want_crc`,
 * the CRC of each entry is computed, for an index. Returns 0, ERR_NOMEM, or the
 * sink's error. The caller releases the writer in any case.
 */
int pack_writer_init(struct pack_writer *w, struct pack_sink sink,
		     uint32_t object_nr, enum hash_algo algo, bool want_crc,
		     struct error *err);
void pack_writer_release(struct pack_writer *w);

/*
 * Passes all collected bytes to the sink now. Without this call, they wait for
 * more bytes. Returns 0 or the sink's error.
 */
int pack_writer_flush(struct pack_writer *w, struct error *err);

/*
 * Starts an entry of the pack: resets the CRC, and returns the offset of the
 * entry.
 */
uint64_t pack_writer_begin_entry(struct pack_writer *w);

/*
 * Writes bytes of the pack unchanged: a header of an entry, a zlib stream, or a
 * span of whole entries. Returns 0 or the sink's error.
 */
int pack_writer_put(struct pack_writer *w, const void *bytes, size_t len,
		    struct error *err);

/*
 * Writes bytes of a file. Large spans are passed on as parts of the file.
 * Returns 0 or the sink's error.
 */
int pack_writer_put_file(struct pack_writer *w,
			 const struct sys_file_span *span, struct error *err);

/*
 * Writes bytes of a pinned pack: a pack that stays open and mapped until the
 * response was sent (is_pinned in pack/pack.h). Large spans go to
 * sink.put_pinned(), which may keep pointers to them and must not be NULL.
 * Returns 0 or the sink's error.
 */
int pack_writer_put_pinned(struct pack_writer *w, const void *bytes, size_t len,
			   struct error *err);

/*
 * Writes the trailer, passes all bytes to the sink, and sets *checksum. Nothing
 * may be written afterwards. Returns 0 or the sink's error.
 */
int pack_writer_finish(struct pack_writer *w, struct oid *checksum,
		       struct error *err);

/*
 * A sink for packs that are written to files. It collects bytes and writes them
 * in large aligned blocks.
 *
 * Large blocks speed up later readers of the file. The page cache keeps written
 * bytes in pieces as large as the writes. Large pieces are mapped as a whole
 * and cost less to send. After writes of up to 64 KiB, hashing and sending 300
 * MiB of a pack took 228 ms of CPU. After writes of whole blocks it took 190
 * ms.
 */

/*
 * Length in bytes of a block. x86 and other processors map memory in pages of
 * this size.
 */
#define PACK_FILE_BLOCK ((size_t)2 << 20)

/*
 * The state of a sink that collects bytes in blocks. Only one thread may use
 * it.
 */
struct pack_file_sink {
	struct sys_tempfile *file; /* borrowed; empty at first */
	/* owned; PACK_FILE_BLOCK bytes */
	uint8_t *block;
	/* number of bytes in `block` that are not written yet */
	size_t gathered;
};

/*
 * Prepares to collect bytes for *file. Returns 0 or ERR_NOMEM. The caller
 * releases *fs in any case.
 */
int pack_file_sink_init(struct pack_file_sink *fs, struct sys_tempfile *file,
			struct error *err);
void pack_file_sink_release(struct pack_file_sink *fs);

/* Returns a sink for a pack writer. The sink borrows *fs. */
struct pack_sink pack_file_sink(struct pack_file_sink *fs);

/* Writes the remaining bytes of a complete pack. Returns 0 or ERR_IO. */
int pack_file_sink_flush(struct pack_file_sink *fs, struct error *err);

#endif
