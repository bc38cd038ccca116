/* SPDX-License-Identifier: MIT */
/* Index files of work trees that tests make by hand, entry by entry. */
#ifndef T_UNIT_INDEXFILE_H
#define T_UNIT_INDEXFILE_H

#include <string.h>

#include "base/buf.h"
#include "object/hash.h"

struct indexfile_entry {
	const char *path;
	uint32_t mode;
	uint16_t extended; /* flags of version 3 */
	struct oid oid;
};

static inline void indexfile_head(struct buf *out, uint32_t version,
				  uint32_t nr)
{
	buf_append_str(out, "DIRC");
	buf_append_be32(out, version);
	buf_append_be32(out, nr);
}

/*
 * Append an entry. `last` is the previous entry (NULL for the first entry).
 * Version 4 stores only the difference from the path of `last`.
 */
static inline void indexfile_put(struct buf *out, uint32_t version,
				 enum hash_algo algo,
				 const struct indexfile_entry *e,
				 const struct indexfile_entry *last)
{
	size_t start = out->len, len = strlen(e->path), same = 0;

	for (int i = 0; i < 6; i++)
		/* Times, device and inode. Tests do not read these fields. */
		buf_append_be32(out, 0x01020304);
	buf_append_be32(out, e->mode);
	for (int i = 0; i < 3; i++)
		/* Owner, group and size. Tests do not read these fields. */
		buf_append_be32(out, 7);
	buf_append(out, e->oid.bytes, hash_len(algo));
	buf_append_char(out, (char)((e->extended ? 0x40 : 0) | len >> 8));
	buf_append_char(out, (char)len);
	if (e->extended) {
		buf_append_char(out, (char)(e->extended >> 8));
		buf_append_char(out, (char)e->extended);
	}
	if (version < 4) {
		buf_append_str(out, e->path);
		do
			buf_append_char(out, '\0');
		while ((out->len - start) % 8);
		return;
	}
	while (last && last->path[same] && last->path[same] == e->path[same])
		same++;
	len = last ? strlen(last->path) - same : 0;
	/*
	 * Write the length as a variable-width integer, in the format of the
	 * distance in an OFS_DELTA entry.
	 */
	if (len > 127)
		buf_append_char(out, (char)(0x80 | (len / 128 - 1)));
	buf_append_char(out, (char)(len & 127));
	buf_append_str(out, e->path + same);
	buf_append_char(out, '\0');
}

static inline void indexfile_extension(struct buf *out, const char *name,
				       const char *data)
{
	buf_append_str(out, name);
	buf_append_be32(out, (uint32_t)strlen(data));
	buf_append_str(out, data);
}

static inline void indexfile_finish(struct buf *out, enum hash_algo algo)
{
	struct hash_ctx hash;
	struct oid sum;

	hash_init(&hash, algo);
	hash_update(&hash, out->data, out->len);
	hash_final(&hash, &sum);
	hash_release(&hash);
	buf_append(out, sum.bytes, hash_len(algo));
}

#endif
