/* SPDX-License-Identifier: MIT */
/*
 * Reads pack indexes. Parsing verifies everything on which the memory safety of
 * lookups depends. If ids are out of order, lookups may miss ids.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "object/hash.h"
#include "pack/idx.h"

static const uint8_t idx_magic[4] = {0xff, 't', 'O', 'c'};

enum {
	IDX_V2_HEADER_LEN = 8,
};

/*
 * Sets the pointers to the tables in an index of version 1, which stores offset
 * and id of each object together. Returns false if the file has a wrong length.
 */
static bool lay_out_v1(struct pack_idx *idx)
{
	size_t id_len = hash_len(idx->algo);
	size_t tables = (size_t)idx->nr * (4 + id_len);

	if (idx->len != PACK_FANOUT_LEN + tables + 2 * id_len)
		return false;
	idx->ids.first = idx->ids.fanout + PACK_FANOUT_LEN + 4;
	idx->ids.stride = 4 + id_len;
	return true;
}

static bool lay_out_v2(struct pack_idx *idx)
{
	size_t id_len = hash_len(idx->algo);
	size_t fixed = IDX_V2_HEADER_LEN + PACK_FANOUT_LEN +
		       (size_t)idx->nr * (id_len + 8) + 2 * id_len;
	size_t off64_len;

	if (idx->len < fixed)
		return false;
	off64_len = idx->len - fixed;
	if (off64_len % 8 || off64_len / 8 > idx->nr)
		return false;
	idx->ids.first = idx->ids.fanout + PACK_FANOUT_LEN;
	idx->ids.stride = id_len;
	idx->crcs = idx->ids.first + (size_t)idx->nr * id_len;
	idx->off32 = idx->crcs + (size_t)idx->nr * 4;
	idx->off64 = idx->off32 + (size_t)idx->nr * 4;
	idx->off64_nr = (uint32_t)(off64_len / 8);
	return true;
}

/*
 * Reads the version of the index, and finds its fanout. Returns 0,
 * ERR_UNSUPPORTED or ERR_CORRUPT.
 */
static int read_header(struct pack_idx *idx, struct error *err)
{
	size_t header = 0;

	idx->version = 1;
	if (idx->len >= IDX_V2_HEADER_LEN &&
	    !memcmp(idx->bytes, idx_magic, 4)) {
		idx->version = load_be32(idx->bytes + 4);
		header = IDX_V2_HEADER_LEN;
		if (idx->version != 2)
			return error_set(err, ERR_UNSUPPORTED,
					 "%s: index version %u is not known",
					 idx->name, idx->version);
	}
	if (idx->len < header + PACK_FANOUT_LEN)
		return error_set(err, ERR_CORRUPT, "%s: index file too small",
				 idx->name);
	idx->ids.fanout = idx->bytes + header;
	return 0;
}

int pack_idx_parse(struct pack_idx *idx, const void *bytes, size_t len,
		   enum hash_algo algo, const char *name, struct error *err)
{
	struct pack_idx t = {.bytes = bytes, .len = len, .algo = algo};
	int ret;

	*idx = (struct pack_idx){0};
	t.name = mem_strdup(name);
	if (!t.name)
		return error_nomem(err);
	ret = read_header(&t, err);
	if (!ret)
		ret = pack_fanout_check(&t.nr, t.ids.fanout, name,
					(uint64_t)(t.ids.fanout - t.bytes),
					err);
	if (!ret && !(t.version == 1 ? lay_out_v1(&t) : lay_out_v2(&t)))
		ret = error_set(err, ERR_CORRUPT,
				"%s: wrong size for an index of %u objects",
				name, t.nr);
	if (ret < 0) {
		pack_idx_release(&t);
		return ret;
	}
	t.ids.nr = t.nr;
	t.ids.algo = algo;
	t.pack_checksum = t.bytes + t.len - 2 * hash_len(algo);
	*idx = t;
	return 0;
}

void pack_idx_release(struct pack_idx *idx)
{
	free(idx->name);
	*idx = (struct pack_idx){0};
}

uint64_t pack_idx_offset(const struct pack_idx *idx, uint32_t idx_pos)
{
	uint32_t off;

	if (!idx->off32)
		return load_be32(pack_idx_oid(idx, idx_pos) - 4);
	off = load_be32(idx->off32 + 4 * (size_t)idx_pos);
	if (!(off & 0x80000000))
		return off;
	off &= 0x7fffffff;
	if (off >= idx->off64_nr)
		return UINT64_MAX;
	return load_be64(idx->off64 + 8 * (size_t)off);
}

uint32_t pack_idx_crc(const struct pack_idx *idx, uint32_t idx_pos)
{
	return idx->crcs ? load_be32(idx->crcs + 4 * (size_t)idx_pos) : 0;
}

static int verify_object(const struct pack_idx *idx, uint32_t idx_pos,
			 struct error *err)
{
	/* Equal ids are valid, because a pack may contain an object twice. */
	int ret = pack_ids_check(&idx->ids, idx_pos, idx->bytes, idx->name,
				 err);

	if (ret < 0)
		return ret;
	if (pack_idx_offset(idx, idx_pos) == UINT64_MAX)
		return error_set_at(
			err, ERR_CORRUPT, idx->name,
			(uint64_t)(pack_idx_oid(idx, idx_pos) - idx->bytes),
			"no 64-bit offset for the id");
	return 0;
}

int pack_idx_verify(const struct pack_idx *idx, struct error *err)
{
	for (uint32_t i = 0; i < idx->nr; i++) {
		int ret = verify_object(idx, i, err);

		if (ret < 0)
			return ret;
	}
	return hash_check_trailer(idx->bytes, idx->len, idx->algo, idx->name,
				  err);
}
