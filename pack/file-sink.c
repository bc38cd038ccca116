/* SPDX-License-Identifier: MIT */
/* Collects bytes of a file in blocks. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pack/file-sink.h"

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
