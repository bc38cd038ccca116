/* SPDX-License-Identifier: MIT */
/*
 * The pack writer: a buffer in front of a sink.
 *
 * Bytes are hashed when they go to the sink, so that small pieces are hashed
 * together. The CRC is updated for each piece, because an entry may end
 * anywhere in the buffer.
 */
#include <string.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "pack/inflate.h"
#include "pack/writer.h"

enum {
	/* number of bytes to collect before they go to the sink */
	BUFFER_LEN = 64 << 10,
	/*
	 * ranges of at least this length go to the sink without a copy to the
	 * buffer
	 */
	SPAN_MIN = 16 << 10,
};

static int hand_over(struct pack_writer *w, const void *bytes, size_t len,
		     struct error *err)
{
	if (w->counts_only)
		return 0;
	if (!w->has_checksum)
		hash_update(&w->hash, bytes, len);
	return w->sink.put(w->sink.ctx, bytes, len, err);
}

int pack_sink_put_file(const struct pack_sink *sink,
		       const struct sys_file_span *span, struct error *err)
{
	return sink->put_file
		       ? sink->put_file(sink->ctx, span, err)
		       : sink->put(sink->ctx, span->bytes, span->len, err);
}

int pack_writer_flush(struct pack_writer *w, struct error *err)
{
	size_t len = w->buffered;

	w->buffered = 0;
	return len ? hand_over(w, w->buffer, len, err) : 0;
}

int pack_writer_init(struct pack_writer *w, struct pack_sink sink,
		     uint32_t object_nr, enum hash_algo algo, bool want_crc,
		     struct error *err)
{
	uint8_t header[12] = "PACK";

	memset(w, 0, sizeof(*w));
	w->sink = sink;
	w->algo = algo;
	w->want_crc = want_crc;
	if (hash_init(&w->hash, algo) < 0)
		return error_nomem(err);
	w->buffer = mem_alloc(BUFFER_LEN, 1);
	if (!w->buffer)
		return error_nomem(err);
	store_be32(header + 4, 2);
	store_be32(header + 8, object_nr);
	return pack_writer_put(w, header, sizeof(header), err);
}

void pack_writer_release(struct pack_writer *w)
{
	hash_release(&w->hash);
	free(w->buffer);
	memset(w, 0, sizeof(*w));
}

uint64_t pack_writer_begin_entry(struct pack_writer *w)
{
	w->crc = 0;
	return w->off;
}

int pack_writer_put(struct pack_writer *w, const void *bytes, size_t len,
		    struct error *err)
{
	int ret = 0;

	if (!len)
		return 0;
	w->off += len;
	if (w->want_crc)
		w->crc = pack_crc32(w->crc, bytes, len);
	if (len > BUFFER_LEN - w->buffered || len >= SPAN_MIN)
		ret = pack_writer_flush(w, err);
	if (ret < 0)
		return ret;
	if (len >= SPAN_MIN)
		return hand_over(w, bytes, len, err);
	memcpy(w->buffer + w->buffered, bytes, len);
	w->buffered += len;
	return 0;
}

/*
 * Counts and hashes a large span. The caller then passes the span to the sink
 * itself, without a copy in the buffer. Returns 0 or the sink's error.
 */
static int note_span(struct pack_writer *w, const void *bytes, size_t len,
		     struct error *err)
{
	int ret;

	w->off += len;
	if (w->want_crc)
		w->crc = pack_crc32(w->crc, bytes, len);
	ret = pack_writer_flush(w, err);
	if (!ret && !w->has_checksum)
		hash_update(&w->hash, bytes, len);
	return ret;
}

int pack_writer_put_file(struct pack_writer *w,
			 const struct sys_file_span *span, struct error *err)
{
	int ret;

	if (w->counts_only || span->len < SPAN_MIN)
		return pack_writer_put(w, span->bytes, span->len, err);
	ret = note_span(w, span->bytes, span->len, err);
	return ret < 0 ? ret : pack_sink_put_file(&w->sink, span, err);
}

int pack_writer_put_pinned(struct pack_writer *w, const void *bytes, size_t len,
			   struct error *err)
{
	int ret;

	if (w->counts_only || len < SPAN_MIN)
		return pack_writer_put(w, bytes, len, err);
	ret = note_span(w, bytes, len, err);
	return ret < 0 ? ret : w->sink.put_pinned(w->sink.ctx, bytes, len, err);
}

int pack_writer_finish(struct pack_writer *w, struct oid *checksum,
		       struct error *err)
{
	size_t len = hash_len(w->algo), buffered;
	int ret = w->buffered > BUFFER_LEN - len ? pack_writer_flush(w, err)
						 : 0;

	if (ret < 0)
		return ret;
	buffered = w->buffered;
	w->buffered = 0;
	w->off += len;
	if (!w->has_checksum && !w->counts_only)
		hash_update(&w->hash, w->buffer, buffered);
	if (w->has_checksum)
		*checksum = w->checksum;
	else
		hash_final(&w->hash, checksum);
	if (w->counts_only)
		return 0;
	memcpy(w->buffer + buffered, checksum->bytes, len);
	return w->sink.put(w->sink.ctx, w->buffer, buffered + len, err);
}

int pack_file_sink_init(struct pack_file_sink *fs, struct sys_tempfile *file,
			struct error *err)
{
	*fs = (struct pack_file_sink){
		.file = file,
		.block = mem_alloc(PACK_FILE_BLOCK, 1),
	};
	return fs->block ? 0 : error_nomem(err);
}

void pack_file_sink_release(struct pack_file_sink *fs)
{
	free(fs->block);
	*fs = (struct pack_file_sink){0};
}

int pack_file_sink_flush(struct pack_file_sink *fs, struct error *err)
{
	size_t len = fs->gathered;

	fs->gathered = 0;
	return len ? sys_tempfile_write(fs->file, fs->block, len, err) : 0;
}

static int put(void *ctx, const void *bytes, size_t len, struct error *err)
{
	struct pack_file_sink *fs = ctx;
	const uint8_t *p = bytes;
	int ret = 0;

	while (len && !ret) {
		size_t room = PACK_FILE_BLOCK - fs->gathered;
		size_t n = len < room ? len : room;

		memcpy(fs->block + fs->gathered, p, n);
		fs->gathered += n;
		p += n;
		len -= n;
		if (n == room)
			ret = pack_file_sink_flush(fs, err);
	}
	return ret;
}

struct pack_sink pack_file_sink(struct pack_file_sink *fs)
{
	return (struct pack_sink){.put = put, .ctx = fs};
}
