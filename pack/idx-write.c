/* SPDX-License-Identifier: MIT */
/*
 * Writes pack indexes into a buffer. The caller decides where the bytes go and
 * when they become visible.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "object/hash.h"
#include "pack/idx.h"

#define OFF64_FLAG UINT32_C(0x80000000)

/*
 * Verifies that the entries of a new index are sorted by id and that the
 * version of the index can hold their offsets. Returns 0 or ERR_INVALID.
 */
static int check_entries(const struct pack_idx_entry *entries, uint32_t nr,
			 unsigned version, enum hash_algo algo,
			 struct error *err)
{
	if (version != 1 && version != 2)
		return error_set(err, ERR_INVALID,
				 "pack index version %u cannot be written",
				 version);
	for (uint32_t i = 0; i < nr; i++) {
		if (i && memcmp(entries[i - 1].oid, entries[i].oid,
				hash_len(algo)) > 0)
			return error_set(err, ERR_INVALID,
					 "pack index entries are not sorted");
		if (version == 1 && entries[i].offset > UINT32_MAX)
			return error_set(err, ERR_INVALID,
					 "pack too large for index version 1");
	}
	return 0;
}

/*
 * Computes the largest possible length of the index file. Returns false if it
 * overflows.
 */
static bool file_len_max(size_t *len, const struct pack_idx_entry *entries,
			 uint32_t nr, uint32_t off64_from, enum hash_algo algo)
{
	size_t off64_nr = 0;

	for (uint32_t i = 0; i < nr; i++)
		off64_nr += entries[i].offset >= off64_from;
	return mem_mul(len, nr, hash_len(algo) + 8) &&
	       mem_add(len, *len, 8 * off64_nr) &&
	       mem_add(len, *len, 8 + 256 * 4 + 2 * hash_len(algo));
}

/*
 * The put_*() functions below write into reserved memory, and return the end of
 * the written bytes.
 */
static uint8_t *put_fanout(uint8_t *p, const struct pack_idx_entry *entries,
			   uint32_t nr)
{
	uint32_t i = 0;

	for (unsigned byte = 0; byte < 256; byte++) {
		while (i < nr && entries[i].oid[0] <= byte)
			i++;
		store_be32(p, i);
		p += 4;
	}
	return p;
}

static uint8_t *put_v1(uint8_t *p, const struct pack_idx_entry *entries,
		       uint32_t nr, enum hash_algo algo)
{
	p = put_fanout(p, entries, nr);
	for (uint32_t i = 0; i < nr; i++) {
		store_be32(p, (uint32_t)entries[i].offset);
		memcpy(p + 4, entries[i].oid, hash_len(algo));
		p += 4 + hash_len(algo);
	}
	return p;
}

static uint8_t *put_v2(uint8_t *p, const struct pack_idx_entry *entries,
		       uint32_t nr, uint32_t off64_from, enum hash_algo algo)
{
	uint32_t off64_nr = 0;
	uint8_t *off64;

	memcpy(p, "\377tOc", 4);
	store_be32(p + 4, 2);
	p = put_fanout(p + 8, entries, nr);
	for (uint32_t i = 0; i < nr; i++) {
		memcpy(p, entries[i].oid, hash_len(algo));
		p += hash_len(algo);
	}
	for (uint32_t i = 0; i < nr; i++, p += 4)
		store_be32(p, entries[i].crc);
	off64 = p + 4 * (size_t)nr;
	for (uint32_t i = 0; i < nr; i++, p += 4) {
		if (entries[i].offset < off64_from) {
			store_be32(p, (uint32_t)entries[i].offset);
			continue;
		}
		store_be32(p, OFF64_FLAG | off64_nr);
		store_be64(off64 + 8 * (size_t)off64_nr++, entries[i].offset);
	}
	return p + 8 * (size_t)off64_nr;
}

/*
 * Returns the version of the index to write: format->version. Exception: if the
 * version is 1 and an offset reaches format->off64_from (0: no limit), returns
 * 2.
 */
static unsigned choose_version(const struct pack_idx_format *format,
			       const struct pack_idx_entry *entries,
			       uint32_t nr)
{
	if (format->version != 1 || !format->off64_from)
		return format->version;
	for (uint32_t i = 0; i < nr; i++)
		if (entries[i].offset >= format->off64_from)
			return 2;
	return 1;
}

int pack_idx_write_as(struct buf *out, const struct pack_idx_entry *entries,
		      uint32_t nr, const struct oid *pack_checksum,
		      const struct pack_idx_format *format, enum hash_algo algo,
		      struct error *err)
{
	unsigned version = choose_version(format, entries, nr);
	uint32_t off64_from = format->off64_from ? format->off64_from
						 : OFF64_FLAG;
	size_t room, start = out->len;
	uint8_t *p;
	int ret;

	ret = check_entries(entries, nr, version, algo, err);
	if (ret < 0)
		return ret;
	if (!file_len_max(&room, entries, nr, off64_from, algo) ||
	    buf_reserve(out, room) < 0)
		return error_nomem(err);
	p = (uint8_t *)out->data + start;
	p = version == 1 ? put_v1(p, entries, nr, algo)
			 : put_v2(p, entries, nr, off64_from, algo);
	buf_set_len(out, (size_t)(p - (uint8_t *)out->data));
	ret = buf_append(out, pack_checksum->bytes, hash_len(algo));
	if (!ret)
		ret = hash_append_trailer(out, start, algo, NULL);
	if (ret < 0) {
		buf_set_len(out, start);
		return error_nomem(err);
	}
	return 0;
}
