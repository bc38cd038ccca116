/* SPDX-License-Identifier: MIT */
/* Reads and writes the header and footer of a reftable. */
#include <string.h>
#include <zlib.h>

#include "base/bytes.h"
#include "reftable/block.h"

#define HASH_ID_SHA1 UINT32_C(0x73686131)   /* "sha1" */
#define HASH_ID_SHA256 UINT32_C(0x73323536) /* "s256" */

static int corrupt(const char *name, struct error *err, const char *why)
{
	return error_set(err, ERR_CORRUPT, "%s: %s", name, why);
}

static int parse_header(struct reftable_footer *f, const uint8_t *p, size_t len,
			const char *name, struct error *err)
{
	uint32_t hash = HASH_ID_SHA1;

	memset(f, 0, sizeof(*f));
	if (len < reftable_header_len(1) || memcmp(p, "REFT", 4) != 0)
		return corrupt(name, err, "not a reftable");
	f->version = p[4];
	if (f->version != 1 && f->version != 2)
		return error_set(err, ERR_UNSUPPORTED,
				 "%s: reftable version %u is not known", name,
				 f->version);
	if (len <
	    reftable_header_len(f->version) + reftable_footer_len(f->version))
		return corrupt(name, err, "reftable is cut off");
	f->block_size = load_be32(p + 4) & 0xffffff;
	f->min_index = load_be64(p + 8);
	f->max_index = load_be64(p + 16);
	if (f->version == 2)
		hash = load_be32(p + 24);
	if (hash != HASH_ID_SHA1 && hash != HASH_ID_SHA256)
		return error_set(err, ERR_UNSUPPORTED,
				 "%s: hash %08x is not known", name, hash);
	f->algo = hash == HASH_ID_SHA1 ? HASH_SHA1 : HASH_SHA256;
	if (f->min_index > f->max_index)
		return corrupt(name, err, "update indexes are out of order");
	return 0;
}

/*
 * Checks the offset of a section in the footer. Sections are checked in the
 * order in which they lie in the file. An offset is valid if it is 0 (no such
 * section) or in [*least, end). Returns whether the offset is valid. If it is
 * valid and not 0, sets *least to the offset plus one.
 */
static bool take_off(uint64_t off, uint64_t *least, uint64_t end)
{
	if (!off)
		return true;
	if (off < *least || off >= end)
		return false;
	*least = off + 1;
	return true;
}

static int check_offsets(const struct reftable_footer *f, uint64_t end,
			 const char *name, struct error *err)
{
	uint64_t least = reftable_header_len(f->version);

	if (!take_off(f->ref_index_off, &least, end) ||
	    !take_off(f->obj_off, &least, end) ||
	    !take_off(f->obj_index_off, &least, end) ||
	    !take_off(f->log_off, &least, end) ||
	    !take_off(f->log_index_off, &least, end))
		return corrupt(name, err, "sections are out of order");
	if (f->obj_off &&
	    (f->obj_id_len < 2 || f->obj_id_len > hash_len(f->algo)))
		return corrupt(name, err, "bad length of object ids");
	return 0;
}

int reftable_footer_parse(struct reftable_footer *footer, const void *bytes,
			  size_t len, const char *name, struct error *err)
{
	const uint8_t *p = bytes, *tail;
	struct reftable_footer f;
	size_t header_len, footer_len;
	int ret = parse_header(&f, p, len, name, err);

	if (ret < 0)
		return ret;
	header_len = reftable_header_len(f.version);
	footer_len = reftable_footer_len(f.version);
	tail = p + len - footer_len;
	if (memcmp(p, tail, header_len) != 0)
		return corrupt(name, err, "header and footer differ");
	if (load_be32(tail + footer_len - 4) !=
	    crc32(0, tail, (uInt)footer_len - 4))
		return corrupt(name, err, "the footer's checksum is wrong");
	tail += header_len;
	f.ref_index_off = load_be64(tail);
	f.obj_off = load_be64(tail + 8) >> 5;
	f.obj_id_len = (unsigned)(load_be64(tail + 8) & 31);
	f.obj_index_off = load_be64(tail + 16);
	f.log_off = load_be64(tail + 24);
	f.log_index_off = load_be64(tail + 32);
	ret = check_offsets(&f, len - footer_len, name, err);
	if (!ret)
		*footer = f;
	return ret;
}

int reftable_header_append(struct buf *out,
			   const struct reftable_footer *footer)
{
	int ret = buf_append(out, "REFT", 4);

	ret |= buf_append_be32(out, footer->version << 24 | footer->block_size);
	ret |= buf_append_be64(out, footer->min_index);
	ret |= buf_append_be64(out, footer->max_index);
	if (footer->version == 2)
		ret |= buf_append_be32(out, footer->algo == HASH_SHA1
						    ? HASH_ID_SHA1
						    : HASH_ID_SHA256);
	return ret ? ERR_NOMEM : 0;
}

int reftable_footer_append(struct buf *out,
			   const struct reftable_footer *footer)
{
	size_t start = out->len;
	int ret = reftable_header_append(out, footer);

	ret |= buf_append_be64(out, footer->ref_index_off);
	ret |= buf_append_be64(out, footer->obj_off << 5 | footer->obj_id_len);
	ret |= buf_append_be64(out, footer->obj_index_off);
	ret |= buf_append_be64(out, footer->log_off);
	ret |= buf_append_be64(out, footer->log_index_off);
	if (ret)
		return ERR_NOMEM;
	return buf_append_be32(
		out, (uint32_t)crc32(0, (const uint8_t *)out->data + start,
				     (uInt)(out->len - start)));
}
