/* SPDX-License-Identifier: MIT */
/*
 * Inflates and deflates zlib streams, with libdeflate or zlib.
 *
 * Whole buffers use libdeflate if it was present at build time; otherwise zlib
 * does the same work. If only the start of a stream is inflated, zlib is always
 * used. The state of zlib is made on first use, since most inflaters never need
 * it.
 */
#include <limits.h>
#include <stdbool.h>

/* makes zlib declare its input as const */
#define ZLIB_CONST
#include <zlib.h>
#ifdef HAVE_LIBDEFLATE
#include <libdeflate.h>
#endif

#include "base/mem.h"
#include "pack/inflate.h"

struct inflater {
	z_stream stream;
	bool stream_ready;
#ifdef HAVE_LIBDEFLATE
	struct libdeflate_decompressor *whole; /* owned */
#endif
};

struct inflater *inflater_new(void)
{
	struct inflater *inf = mem_calloc(1, sizeof(*inf));

	if (!inf)
		return NULL;
#ifdef HAVE_LIBDEFLATE
	inf->whole = libdeflate_alloc_decompressor();
	if (!inf->whole) {
		inflater_free(inf);
		return NULL;
	}
#endif
	return inf;
}

void inflater_free(struct inflater *inf)
{
	if (!inf)
		return;
	if (inf->stream_ready)
		inflateEnd(&inf->stream);
#ifdef HAVE_LIBDEFLATE
	libdeflate_free_decompressor(inf->whole);
#endif
	free(inf);
}

/*
 * Resets the zlib stream of an inflater before inflating new input. Returns 0
 * or ERR_NOMEM.
 */
static int start_stream(struct inflater *inf)
{
	if (inf->stream_ready) {
		inflateReset(&inf->stream);
		return 0;
	}
	if (inflateInit(&inf->stream) != Z_OK)
		return ERR_NOMEM;
	inf->stream_ready = true;
	return 0;
}

static uInt chunk_len(size_t len)
{
	return len < UINT_MAX ? (uInt)len : UINT_MAX;
}

/*
 * Runs the zlib stream until dst is full or the stream ends. zlib counts in 32
 * bits, so long buffers are fed in pieces. Returns 1 at the end of the stream,
 * 0 if dst is full before, or ERR_CORRUPT.
 */
static int run_stream(struct inflater *inf, uint8_t *dst, size_t dst_len,
		      const uint8_t *src, size_t src_len, size_t *used,
		      size_t *had)
{
	z_stream *z = &inf->stream;
	size_t in = 0, out = 0;
	int status = Z_OK;

	while (status == Z_OK) {
		uInt in_chunk = chunk_len(src_len - in);
		uInt out_chunk = chunk_len(dst_len - out);

		z->next_in = src + in;
		z->avail_in = in_chunk;
		z->next_out = dst + out;
		z->avail_out = out_chunk;
		status = inflate(z, Z_SYNC_FLUSH);
		in += in_chunk - z->avail_in;
		out += out_chunk - z->avail_out;
	}
	*used = in;
	*had = out;
	if (status == Z_STREAM_END)
		return 1;
	/*
	 * zlib reports Z_BUF_ERROR if it made no progress. If dst is full,
	 * Z_BUF_ERROR is no error.
	 */
	return status == Z_BUF_ERROR && out == dst_len ? 0 : ERR_CORRUPT;
}

#ifdef HAVE_LIBDEFLATE

int inflater_exact(struct inflater *inf, void *dst, size_t dst_len,
		   const void *src, size_t src_len, size_t *used)
{
	enum libdeflate_result result;
	size_t in;
	uint8_t none;

	/*
	 * The last argument is NULL: no pointer for the actual length. So
	 * libdeflate reports a result with fewer than dst_len bytes as an
	 * error.
	 */
	result = libdeflate_zlib_decompress_ex(inf->whole, src, src_len,
					       dst_len ? dst : &none, dst_len,
					       &in, NULL);
	if (result != LIBDEFLATE_SUCCESS)
		return ERR_CORRUPT;
	if (used)
		*used = in;
	return 0;
}

int inflater_up_to(struct inflater *inf, void *dst, size_t dst_len, size_t *had,
		   const void *src, size_t src_len, size_t *used)
{
	enum libdeflate_result result;

	result = libdeflate_zlib_decompress_ex(inf->whole, src, src_len, dst,
					       dst_len, used, had);
	if (result == LIBDEFLATE_INSUFFICIENT_SPACE)
		return 1;
	return result == LIBDEFLATE_SUCCESS ? 0 : ERR_CORRUPT;
}

#else

int inflater_exact(struct inflater *inf, void *dst, size_t dst_len,
		   const void *src, size_t src_len, size_t *used)
{
	uint8_t none;
	size_t in, had;

	if (start_stream(inf) < 0)
		return ERR_NOMEM;
	if (run_stream(inf, dst_len ? dst : &none, dst_len, src, src_len, &in,
		       &had) != 1 ||
	    had != dst_len)
		return ERR_CORRUPT;
	if (used)
		*used = in;
	return 0;
}

int inflater_up_to(struct inflater *inf, void *dst, size_t dst_len, size_t *had,
		   const void *src, size_t src_len, size_t *used)
{
	int ret = start_stream(inf);

	if (!ret)
		ret = run_stream(inf, dst, dst_len, src, src_len, used, had);
	return ret < 0 ? ret : !ret;
}

#endif

ssize_t inflater_prefix(struct inflater *inf, void *dst, size_t dst_len,
			const void *src, size_t src_len)
{
	uint8_t none;
	size_t in, had;

	if (start_stream(inf) < 0)
		return ERR_NOMEM;
	if (run_stream(inf, dst_len ? dst : &none, dst_len, src, src_len, &in,
		       &had) < 0)
		return ERR_CORRUPT;
	return (ssize_t)had;
}

int inflater_start(struct inflater *inf)
{
	return start_stream(inf);
}

int inflater_feed(struct inflater *inf, void *dst, size_t *dst_len,
		  const void *src, size_t *src_len)
{
	z_stream *z = &inf->stream;
	uInt in = chunk_len(*src_len), out = chunk_len(*dst_len);
	int status;

	z->next_in = src;
	z->avail_in = in;
	z->next_out = dst;
	z->avail_out = out;
	status = inflate(z, Z_SYNC_FLUSH);
	*src_len = in - z->avail_in;
	*dst_len = out - z->avail_out;
	if (status == Z_STREAM_END)
		return 1;
	if (status == Z_MEM_ERROR)
		return ERR_NOMEM;
	return status == Z_OK || status == Z_BUF_ERROR ? 0 : ERR_CORRUPT;
}

/*
 * Compresses the `len` bytes at `src`, and appends the zlib stream to *out. *z
 * is an initialised compressor, which may have been used before. Returns 0 or
 * ERR_NOMEM.
 */
static int append_stream(z_stream *z, struct buf *out, const void *src,
			 size_t len)
{
	size_t start = out->len, in = 0;
	int status = Z_OK;

	deflateReset(z);
	while (status != Z_STREAM_END) {
		uInt in_chunk = chunk_len(len - in);
		uInt room;

		if (buf_reserve(out, in_chunk / 2 + 256) < 0)
			goto nomem;
		room = chunk_len(out->alloc - out->len - 1);
		z->next_in = (const uint8_t *)src + in;
		z->avail_in = in_chunk;
		z->next_out = (uint8_t *)out->data + out->len;
		z->avail_out = room;
		status = deflate(z,
				 in_chunk == len - in ? Z_FINISH : Z_NO_FLUSH);
		if (status == Z_STREAM_ERROR)
			goto nomem;
		in += in_chunk - z->avail_in;
		buf_set_len(out, out->len + (room - z->avail_out));
	}
	return 0;
nomem:
	buf_set_len(out, start);
	return ERR_NOMEM;
}

#ifdef HAVE_LIBDEFLATE

/*
 * A libdeflate compressor touches and clears 192 KiB before each stream. This
 * is most of the cost of a small stream. So the first SMALL_NR inputs of at
 * most SMALL_LEN bytes use zlib with a small window. The response to a small
 * fetch needs no libdeflate compressor at all.
 */
#define SMALL_LEN 4096
/* binary logarithm of the window size: 2^12 bytes are SMALL_LEN */
#define SMALL_WINDOW_BITS 12
#define SMALL_MEM_LEVEL 5
#define SMALL_NR 256

struct deflater {
	int level;
	unsigned small_nr;
	/*
	 * compressor for small inputs; initialised if small_nr, the number of
	 * small inputs so far, is not 0
	 */
	z_stream small;
	/* owned; compressor for large inputs; NULL: not used yet */
	struct libdeflate_compressor *whole;
};

struct deflater *deflater_new(int level)
{
	struct deflater *def = mem_calloc(1, sizeof(*def));

	if (def)
		def->level = level;
	return def;
}

void deflater_free(struct deflater *def)
{
	if (!def)
		return;
	if (def->small_nr)
		deflateEnd(&def->small);
	libdeflate_free_compressor(def->whole);
	free(def);
}

static int append_small(struct deflater *def, struct buf *out, const void *src,
			size_t len)
{
	if (!def->small_nr &&
	    deflateInit2(&def->small, def->level, Z_DEFLATED, SMALL_WINDOW_BITS,
			 SMALL_MEM_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
		return ERR_NOMEM;
	def->small_nr++;
	return append_stream(&def->small, out, src, len);
}

static int append_whole(struct deflater *def, struct buf *out, const void *src,
			size_t len)
{
	size_t bound, n;

	if (!def->whole)
		def->whole = libdeflate_alloc_compressor(
			def->level < 0 ? 6 : def->level);
	if (!def->whole)
		return ERR_NOMEM;
	bound = libdeflate_zlib_compress_bound(def->whole, len);
	if (buf_reserve(out, bound) < 0)
		return ERR_NOMEM;
	n = libdeflate_zlib_compress(def->whole, src, len, out->data + out->len,
				     bound);
	if (!n)
		return ERR_NOMEM;
	buf_set_len(out, out->len + n);
	return 0;
}

int deflater_append(struct deflater *def, struct buf *out, const void *src,
		    size_t len)
{
	return len <= SMALL_LEN && def->small_nr < SMALL_NR
		       ? append_small(def, out, src, len)
		       : append_whole(def, out, src, len);
}

uint32_t pack_crc32(uint32_t crc, const void *bytes, size_t len)
{
	return libdeflate_crc32(crc, bytes, len);
}

#else

struct deflater {
	z_stream stream;
};

struct deflater *deflater_new(int level)
{
	struct deflater *def = mem_calloc(1, sizeof(*def));

	if (!def)
		return NULL;
	if (deflateInit(&def->stream, level) != Z_OK) {
		free(def);
		return NULL;
	}
	return def;
}

void deflater_free(struct deflater *def)
{
	if (!def)
		return;
	deflateEnd(&def->stream);
	free(def);
}

int deflater_append(struct deflater *def, struct buf *out, const void *src,
		    size_t len)
{
	return append_stream(&def->stream, out, src, len);
}

uint32_t pack_crc32(uint32_t crc, const void *bytes, size_t len)
{
	return (uint32_t)crc32_z(crc, bytes, len);
}

#endif
