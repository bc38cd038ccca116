/* SPDX-License-Identifier: MIT */
/*
 * Reads and writes the file of kept deltas: stored deltas of newest versions
 * against older versions.
 */
#include <string.h>

#include "base/bytes.h"
#include "object/hash.h"
#include "pack/inflate.h"
#include "prepared/kept-deltas.h"
#include "prepared/prepared.h"

static const char magic[] = "KEPT";

enum { VERSION = 1, HEADER_LEN = 20, NUMBERS_LEN = 24, CRC_LEN = 4 };

static const struct oid no_base = OID_ZERO_INIT;

static size_t row_len(const struct kept_deltas *k)
{
	return 2 * hash_len(k->algo) + NUMBERS_LEN;
}

static const uint8_t *row_at(const struct kept_deltas *k, uint32_t row)
{
	return k->bytes + HEADER_LEN + row * row_len(k);
}

static int corrupt(const struct kept_deltas *k, const char *what,
		   struct error *err)
{
	return error_set(err, ERR_CORRUPT, "%s: %s", k->name.data, what);
}

static int parse(struct kept_deltas *k, struct error *err)
{
	size_t id_len = hash_len(k->algo);
	const uint8_t *p = k->bytes;

	if (k->len < HEADER_LEN + id_len)
		return corrupt(k, "ends within its header", err);
	if (memcmp(p, magic, 4) != 0)
		return corrupt(k, "not a file of kept deltas", err);
	if (p[4] != VERSION)
		return error_set(err, ERR_UNSUPPORTED,
				 "%s: unknown version %u of the format",
				 k->name.data, p[4]);
	if (p[5] != (uint8_t)k->algo)
		return corrupt(k, "wrong hash function", err);
	if (load_be16(p + 6))
		return corrupt(k, "unknown flags", err);
	if (load_be64(p + 12) != k->len)
		return corrupt(k, "wrong number of bytes", err);
	k->nr = load_be32(p + 8);
	if (k->nr > (k->len - HEADER_LEN - id_len) / row_len(k))
		return corrupt(k, "ends within its rows", err);
	return 0;
}

int kept_deltas_parse(struct kept_deltas *k, const void *bytes, size_t len,
		      enum hash_algo algo, const char *name, struct error *err)
{
	int ret;

	*k = (struct kept_deltas)KEPT_DELTAS_INIT;
	k->algo = algo;
	k->bytes = bytes;
	k->len = len;
	ret = buf_printf(&k->name, "%s", name) < 0 ? error_nomem(err)
						   : parse(k, err);
	if (ret < 0)
		kept_deltas_close(k);
	return ret;
}

int kept_deltas_open(struct kept_deltas *k, const struct odb *odb,
		     size_t dir_nr, struct error *err)
{
	struct sys_map map = SYS_MAP_INIT;
	struct buf path = BUF_INIT;
	int ret = prepared_map_file(&map, &path, odb, dir_nr, "deltas", err);

	*k = (struct kept_deltas)KEPT_DELTAS_INIT;
	if (ret > 0) {
		ret = kept_deltas_parse(k, map.data, map.len, odb->algo,
					path.data, err);
		k->map = map;
		ret = ret ? ret : 1;
	}
	buf_release(&path);
	if (ret < 0)
		kept_deltas_close(k);
	return ret;
}

void kept_deltas_close(struct kept_deltas *k)
{
	buf_release(&k->name);
	sys_map_close(&k->map);
	*k = (struct kept_deltas)KEPT_DELTAS_INIT;
}

bool kept_deltas_find(const struct kept_deltas *k, const uint8_t *target,
		      uint32_t *row)
{
	size_t id_len = hash_len(k->algo);
	uint32_t low = 0, high = k->nr;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (memcmp(row_at(k, mid), target, id_len) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	*row = low;
	return low < k->nr && !memcmp(row_at(k, low), target, id_len);
}

const uint8_t *kept_deltas_target(const struct kept_deltas *k, uint32_t row)
{
	return row_at(k, row);
}

bool kept_deltas_is_of(const struct kept_deltas *k, uint32_t row,
		       const uint8_t *target)
{
	return row < k->nr &&
	       !memcmp(kept_deltas_target(k, row), target, hash_len(k->algo));
}

int kept_deltas_get(struct kept_delta *out, const struct kept_deltas *k,
		    uint32_t row, struct error *err)
{
	size_t id_len = hash_len(k->algo);
	const uint8_t *p = row_at(k, row), *numbers = p + 2 * id_len;
	uint64_t off = load_be64(numbers), end = k->len - id_len;
	uint32_t len = load_be32(numbers + 16), crc;

	if (off > end || len > end - off)
		return corrupt(k, "a delta is outside of the file", err);
	crc = pack_crc32(0, p, row_len(k) - CRC_LEN);
	if (pack_crc32(crc, k->bytes + off, len) != load_be32(numbers + 20))
		return corrupt(k, "a delta has a wrong CRC", err);
	oid_from_raw(&out->target, p, k->algo);
	oid_from_raw(&out->base, p + id_len, k->algo);
	out->step = load_be32(numbers + 8);
	out->size = load_be32(numbers + 12);
	out->stream = k->bytes + off;
	out->len = len;
	return 0;
}

bool kept_delta_is_copy(const struct kept_delta *row)
{
	return oid_equal(&row->base, &no_base);
}

bool kept_deltas_row_is_copy(const struct kept_deltas *k, uint32_t row)
{
	size_t id_len = hash_len(k->algo);

	return !memcmp(row_at(k, row) + id_len, no_base.bytes, id_len);
}

int kept_deltas_get_copy(struct kept_delta *out, const struct kept_deltas *k,
			 const uint8_t *target, uint32_t *row,
			 struct error *err)
{
	int ret;

	if (!kept_deltas_find(k, target, row) ||
	    !kept_deltas_row_is_copy(k, *row))
		return 0;
	ret = kept_deltas_get(out, k, *row, err);
	return ret ? ret : out->len > 0;
}

int kept_deltas_check(const struct kept_deltas *k, struct error *err)
{
	struct kept_delta last, row;
	int ret = hash_check_trailer(k->bytes, k->len, k->algo, k->name.data,
				     err);

	for (uint32_t i = 0; i < k->nr && !ret; i++) {
		int order = -1;

		ret = kept_deltas_get(&row, k, i, err);
		if (!ret && i)
			order = oid_cmp(&last.target, &row.target);
		if (!ret && (order > 0 || (!order && last.step > row.step)))
			ret = corrupt(k, "rows are not in order", err);
		last = row;
	}
	return ret;
}

/*
 * Append a row whose zlib stream is at `off` of the file. Returns 0 or
 * ERR_NOMEM.
 */
static int put_row(struct buf *out, enum hash_algo algo,
		   const struct kept_delta *row, uint64_t off)
{
	size_t start = out->len, id_len = hash_len(algo);
	uint8_t numbers[NUMBERS_LEN - CRC_LEN];
	uint32_t crc;
	int ret;

	store_be64(numbers, off);
	store_be32(numbers + 8, row->step);
	store_be32(numbers + 12, row->size);
	store_be32(numbers + 16, row->len);
	ret = buf_append(out, row->target.bytes, id_len);
	if (!ret)
		ret = buf_append(out, row->base.bytes, id_len);
	if (!ret)
		ret = buf_append(out, numbers, sizeof(numbers));
	if (ret < 0)
		return ret;
	crc = pack_crc32(0, out->data + start, out->len - start);
	return buf_append_be32(out, pack_crc32(crc, row->stream, row->len));
}

int kept_deltas_write(struct buf *out, enum hash_algo algo,
		      const struct kept_delta *rows, uint32_t nr)
{
	const struct kept_deltas shape = {.algo = algo};
	size_t start = out->len;
	uint64_t off = HEADER_LEN + nr * (uint64_t)row_len(&shape), end = off;
	uint8_t header[HEADER_LEN] = {0};
	int ret;

	for (uint32_t i = 0; i < nr; i++)
		end += rows[i].len;
	memcpy(header, magic, 4);
	header[4] = VERSION;
	header[5] = (uint8_t)algo;
	store_be32(header + 8, nr);
	store_be64(header + 12, end + hash_len(algo));
	ret = buf_append(out, header, sizeof(header));
	for (uint32_t i = 0; i < nr && !ret; i++) {
		ret = put_row(out, algo, &rows[i], off);
		off += rows[i].len;
	}
	for (uint32_t i = 0; i < nr && !ret; i++)
		ret = buf_append(out, rows[i].stream, rows[i].len);
	return ret < 0 ? ret : hash_append_trailer(out, start, algo, NULL);
}
