/* SPDX-License-Identifier: MIT */
/*
 * Writes and parses side bundles. A side bundle is one file with the content of
 * the small files of a generation.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/mem.h"
#include "object/hash.h"
#include "stored/side.h"
#include "sys/map.h"
#include "sys/tempfile.h"

#define MAGIC "GRSF"
#define VERSION 1
#define HEAD_LEN 12
#define ENTRY_LEN (GENERATION_SHA256_LEN + 8)

bool stored_side_is(const char *path)
{
	return !strcmp(path, STORED_SIDE_PATH);
}

bool stored_side_takes(const struct generation_file *file)
{
	const char *dot = strrchr(file->path, '.');

	return file->size <= STORED_SIDE_FILE_MAX &&
	       !stored_side_is(file->path) && (!dot || strcmp(dot, ".pack"));
}

/* ---- parsing */

void stored_side_release(struct stored_side *side)
{
	free(side->parts);
	*side = (struct stored_side){0};
}

static int corrupt(struct error *err, const char *what)
{
	return error_set(err, ERR_CORRUPT, "side bundle: %s", what);
}

/*
 * Parses the table of a side bundle, which has `nr` entries: the hash and the
 * size of each file.
 */
static int parse_table(struct stored_side *out, struct cursor *c, uint32_t nr,
		       struct error *err)
{
	if (cursor_left(c) / ENTRY_LEN < nr)
		return corrupt(err, "the table is incomplete");
	out->parts = mem_alloc(nr, sizeof(*out->parts));
	if (!out->parts)
		return error_nomem(err);
	for (; out->nr < nr; out->nr++) {
		struct stored_side_part *part = &out->parts[out->nr];
		const uint8_t *hash;

		if (!cursor_bytes(c, &hash, sizeof(part->sha256)) ||
		    !cursor_be64(c, &part->size))
			return corrupt(err, "the table is incomplete");
		memcpy(part->sha256, hash, sizeof(part->sha256));
		if (out->nr && memcmp(part[-1].sha256, part->sha256,
				      sizeof(part->sha256)) >= 0)
			return corrupt(err, "the table is not sorted");
	}
	return 0;
}

static int parse(struct stored_side *out, struct cursor *c, struct error *err)
{
	const uint8_t *magic;
	uint32_t version, nr;
	int ret;

	if (!cursor_bytes(c, &magic, strlen(MAGIC)) ||
	    memcmp(magic, MAGIC, strlen(MAGIC)) != 0)
		return corrupt(err, "wrong signature");
	if (!cursor_be32(c, &version) || !cursor_be32(c, &nr))
		return corrupt(err, "the header is incomplete");
	if (version != VERSION)
		return error_set(err, ERR_UNSUPPORTED,
				 "side bundle: unknown version %u",
				 (unsigned)version);
	ret = parse_table(out, c, nr, err);
	for (size_t i = 0; !ret && i < out->nr; i++) {
		struct stored_side_part *part = &out->parts[i];

		if (part->size > cursor_left(c) ||
		    !cursor_bytes(c, &part->bytes, (size_t)part->size))
			ret = corrupt(err, "the content is incomplete");
	}
	if (!ret && cursor_left(c))
		ret = corrupt(err, "bytes after the content");
	return ret;
}

int stored_side_parse(struct stored_side *out, const void *bytes, size_t len,
		      struct error *err)
{
	struct cursor c = cursor_make(bytes, len);
	int ret;

	*out = (struct stored_side){0};
	ret = parse(out, &c, err);
	if (ret)
		stored_side_release(out);
	return ret;
}

int stored_side_verify(const struct stored_side *side, struct error *err)
{
	struct hash_ctx hash;
	struct oid oid;
	int ret = 0;

	if (hash_init(&hash, HASH_SHA256) < 0)
		return error_nomem(err);
	for (size_t i = 0; !ret && i < side->nr; i++) {
		const struct stored_side_part *part = &side->parts[i];

		hash_reset(&hash);
		hash_update(&hash, part->bytes, (size_t)part->size);
		hash_final(&hash, &oid);
		if (memcmp(oid.bytes, part->sha256, sizeof(part->sha256)) != 0)
			ret = corrupt(err, "a file has another SHA-256 than "
					   "its generation says");
	}
	hash_release(&hash);
	return ret;
}

static int cmp_part(const void *key, const void *part)
{
	return memcmp(key, ((const struct stored_side_part *)part)->sha256,
		      GENERATION_SHA256_LEN);
}

const struct stored_side_part *stored_side_find(
	const struct stored_side *side,
	const uint8_t sha256[GENERATION_SHA256_LEN])
{
	return side->nr ? bsearch(sha256, side->parts, side->nr,
				  sizeof(*side->parts), cmp_part)
			: NULL;
}

/* ---- writing */

static int cmp_upload(const void *a, const void *b)
{
	const struct generation_upload *const *x = a, *const *y = b;

	return memcmp((*x)->file.sha256, (*y)->file.sha256,
		      GENERATION_SHA256_LEN);
}

/*
 * Fills `list` with the uploads that go into the side bundle, sorted by hash. A
 * side bundle (stored/side.h) is one file with the contents of many small files
 * of a generation; it is not a bundle of `git bundle`. stored_side_takes()
 * decides by the size and the path of a file. Of several uploads with equal
 * content, only one goes into the bundle. Returns the number of these uploads,
 * and the size of the bundle in *size.
 */
static size_t choose(const struct generation_upload **list, uint64_t *size,
		     const struct generation_upload *uploads, size_t nr)
{
	size_t taken = 0, kept = 0;

	for (size_t i = 0; i < nr; i++)
		if (stored_side_takes(&uploads[i].file))
			list[taken++] = &uploads[i];
	if (taken)
		qsort(list, taken, sizeof(struct generation_upload *),
		      cmp_upload);
	*size = HEAD_LEN;
	for (size_t i = 0; i < taken; i++) {
		if (kept && !cmp_upload(&list[kept - 1], &list[i]))
			continue;
		*size += ENTRY_LEN + list[i]->file.size;
		list[kept++] = list[i];
	}
	return kept;
}

static int append_table(struct buf *out, const struct generation_upload **list,
			size_t nr)
{
	int ret = buf_append(out, MAGIC, strlen(MAGIC));

	if (!ret)
		ret = buf_append_be32(out, VERSION);
	if (!ret)
		ret = buf_append_be32(out, (uint32_t)nr);
	for (size_t i = 0; !ret && i < nr; i++) {
		ret = buf_append(out, list[i]->file.sha256,
				 GENERATION_SHA256_LEN);
		if (!ret)
			ret = buf_append_be64(out, list[i]->file.size);
	}
	return ret;
}

static int append_content(struct buf *out, const struct generation_upload *up,
			  struct error *err)
{
	struct sys_map map;
	int ret = sys_map_open(&map, up->local_path, err);

	if (ret)
		return ret;
	if (map.len != up->file.size)
		ret = error_set(err, ERR_IO,
				"'%s' was changed while it was being uploaded",
				up->local_path);
	else if (buf_append(out, map.data, map.len) < 0)
		ret = error_nomem(err);
	sys_map_close(&map);
	return ret;
}

int stored_side_write(const char *path, const struct generation_upload *uploads,
		      size_t nr, struct error *err)
{
	const struct generation_upload **list = mem_alloc(
		nr, sizeof(struct generation_upload *));
	struct buf bytes = BUF_INIT;
	uint64_t size;
	int ret = 0;

	if (!list)
		return error_nomem(err);
	nr = choose(list, &size, uploads, nr);
	if (nr < 2 || size > STORED_SIDE_MAX)
		ret = 1;
	else if (buf_reserve(&bytes, (size_t)size) < 0 ||
		 append_table(&bytes, list, nr) < 0)
		ret = error_nomem(err);
	for (size_t i = 0; !ret && i < nr; i++)
		ret = append_content(&bytes, list[i], err);
	if (!ret)
		ret = sys_tempfile_replace(path, bytes.data, bytes.len,
					   SYS_FSYNC_NONE, err);
	buf_release(&bytes);
	free(list);
	return ret;
}
