/* SPDX-License-Identifier: MIT */
/* Makes zlib streams from input that comes in pieces. */
#include <limits.h>
#include <stdint.h>
#define ZLIB_CONST
#include <zlib.h>

#include "base/error.h"
#include "base/mem.h"
#include "pack/inflate.h"

/* number of bytes by which the output buffer grows at a time */
enum { ROOM = 16 << 10 };

struct deflate_stream {
	z_stream stream;
};

struct deflate_stream *deflate_stream_new(int level)
{
	struct deflate_stream *ds = mem_calloc(1, sizeof(*ds));

	if (ds && deflateInit(&ds->stream, level) != Z_OK) {
		free(ds);
		return NULL;
	}
	return ds;
}

void deflate_stream_free(struct deflate_stream *ds)
{
	if (!ds)
		return;
	deflateEnd(&ds->stream);
	free(ds);
}

/*
 * Compresses the input that *z points to, and appends the output. Returns
 * zlib's last status.
 */
static int run(z_stream *z, struct buf *out, int flush)
{
	int status;

	do {
		if (buf_reserve(out, ROOM) < 0)
			return Z_MEM_ERROR;
		z->next_out = (uint8_t *)out->data + out->len;
		z->avail_out = ROOM;
		status = deflate(z, flush);
		buf_set_len(out, out->len + (ROOM - z->avail_out));
	} while (status == Z_OK && !z->avail_out);
	/*
	 * zlib reports Z_BUF_ERROR if there is no input left, which is not an
	 * error here.
	 */
	return status == Z_BUF_ERROR ? Z_OK : status;
}

int deflate_stream_feed(struct deflate_stream *ds, struct buf *out,
			const void *bytes, size_t len, bool end)
{
	z_stream *z = &ds->stream;
	int status = Z_OK;

	z->next_in = bytes;
	while (len && status == Z_OK) {
		z->avail_in = len < INT_MAX ? (uInt)len : INT_MAX;
		len -= z->avail_in;
		status = run(z, out, Z_NO_FLUSH);
	}
	if (end && status == Z_OK)
		status = run(z, out, Z_FINISH);
	return status == (end ? Z_STREAM_END : Z_OK) ? 0 : ERR_NOMEM;
}
