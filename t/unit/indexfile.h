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
 * Append an entry. `last` is the previous entry, because version 4 stores only
 * the difference from its path; NULL for the first entry.
 */
static inline void indexfile_put(struct buf *out, uint32_t version,
				 enum hash_algo algo,
				 const struct indexfile_entry *e,
				 const struct indexfile_entry *last)
{
	size_t start = out->len, len = strlen(e->path), same = 0;

	for (int i = 0; i < 6; i++)
		/*
		 * this value stands for times, device and inode, which tests do
		 * not read
		 */
		buf_append_be32(out, 0x01020304);
	buf_append_be32(out, e->mode);
	for (int i = 0; i < 3; i++)
		buf_append_be32(out, 7); /* stands for user, group, size */
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
	 * write the length as a variable-width integer, as in the distance of
	 * an OFS_DELTA
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
